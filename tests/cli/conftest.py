"""A project in a temporary folder whose generator is a stand-in: these tests are about what goes on around it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from opgen import pipeline
from opgen.cli import run
from opgen.diagnostics.model import Bag, Source, Span
from opgen.pipeline import SpecFile, Stage, Target
from opgen.write.cache import records


@dataclass(frozen=True)
class File:
    path: str
    text: str


def fake_run(
    spec: SpecFile,
    until: Stage = Stage.FILES,
    target: Target | None = None,
    doing: Callable[[str], None] = lambda _: None,
) -> SimpleNamespace:
    """The first line of a spec is its operator, the rest its only file; one that says `wrong` is, `slow` takes long."""
    text = spec.data.decode()
    doing("differentiated")
    if "slow" in text:
        time.sleep(0.3)
    name, body = text.split("\n", 1)
    bag = Bag()
    if "wrong" in body:
        start = text.index("wrong")
        bag.error("OPG201", "this is wrong", Span(Source(str(spec.path), text), start, start + 5), hints=["say right"])
        return SimpleNamespace(diagnostics=bag.items, operator=None, files=None)
    files = (File("__init__.py", f'"""From {spec.label}."""\n'), File("function.py", body))
    return SimpleNamespace(diagnostics=(), operator=SimpleNamespace(name=name), files=files)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/one.yaml").write_text("one\nx = 1\n")
    (tmp_path / "specs/two.yaml").write_text("two\nx = 2\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pipeline, "run", fake_run)
    monkeypatch.setattr(
        pipeline, "shared_files", lambda namespace: (File("__init__.py", f"# {namespace}\n"),), raising=False
    )
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def opgen(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command line: exit code, stdout, stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def forget(project: Path) -> None:
    """As in a fresh checkout: there is no record of what was built."""
    found = list(records(project / "generated").glob("*.json"))
    assert found
    for path in found:
        path.unlink()
