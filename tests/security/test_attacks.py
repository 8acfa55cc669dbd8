"""Spec text is data: attacks are refused, or come out inert, and nothing is ever run or written elsewhere."""

from __future__ import annotations

import ast
import importlib
import json
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
import yaml

from opgen import build
from tests.security.attacks import INERT, PLACES, REFUSED

_CPP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_SPLICED = re.compile(r"\\[ \t]*\n")  # a compiler joins these lines before it looks for comments
_HARMLESS = "some harmless words"


@cache
def code_of(text: str, *, python: bool) -> str:
    """What is left of a source without comments and the contents of strings."""
    if python:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                node.value = ""
        return ast.dump(tree)
    return " ".join(_CPP.sub('""', _SPLICED.sub("", text)).split())


def built(folder: Path, text: str) -> dict[str, str]:
    """The code of all files that a spec yields, by name."""
    spec, out = folder / "victim.yaml", folder / "generated"
    folder.mkdir()
    spec.write_bytes(text.encode())
    result = build(spec, out)
    assert not result.failed, result.diagnostics
    files = [p for p in sorted(out.rglob("*")) if p.is_file() and ".opgen_cache" not in p.parts]
    for path in (p for p in files if p.suffix == ".json"):
        json.loads(path.read_text())
    kinds = (".py", ".cpp", ".cu", ".h", ".cuh")
    return {
        p.relative_to(out).as_posix(): code_of(p.read_text(encoding="utf-8"), python=p.suffix == ".py")
        for p in files
        if p.suffix in kinds
    }


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    folder = tmp_path_factory.mktemp("harmless")
    return {
        place: built(folder / str(k), spec.format(text=_HARMLESS)) for k, (place, spec) in enumerate(PLACES.items())
    }


def quoted(text: str) -> str:
    """A text as a YAML scalar that stands for exactly it."""
    return yaml.safe_dump(text, default_style='"', width=10**6, allow_unicode=False).strip()


def pairs() -> list[object]:
    """Every attack in one place, and one attack in every place; all of them everywhere in the slow tier."""
    quick = [("description", a) for a in INERT] + [(p, "ends of everything") for p in PLACES]
    return [
        pytest.param(p, a, id=f"{a} in {p}", marks=() if (p, a) in quick else pytest.mark.slow)
        for p in PLACES
        for a in INERT
    ]


@pytest.mark.parametrize(("place", "attack"), pairs())
def test_prose_stays_prose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harmless: dict[str, dict[str, str]], place: str, attack: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = built(tmp_path / "work", PLACES[place].format(text=quoted(INERT[attack])))
    assert found.keys() == harmless[place].keys()
    for name, code in found.items():
        assert code == harmless[place][name], name
    assert not list(tmp_path.rglob("pwned*"))


def test_a_module_with_hostile_prose_is_imported_without_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "\n".join(INERT.values())
    spec = "op: hostile_prose\n" + PLACES["description"].format(text=quoted(text)).partition("\n")[2]
    (tmp_path / "hostile_prose.yaml").write_text(spec)
    assert not build("hostile_prose.yaml", "generated_hostile").failed
    package = importlib.import_module("generated_hostile.hostile_prose")
    assert "pwned" in (package.hostile_prose.__doc__ or "")
    assert not list(tmp_path.rglob("pwned*"))
    for name in [n for n in sys.modules if n.startswith("generated_hostile")]:
        del sys.modules[name]


@contextmanager
def ends(*, seconds: int) -> Iterator[None]:
    """What is done within ends; if not, it is stopped after so much CPU time, which nothing beside it changes."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"not done after {seconds} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("attack", REFUSED)
def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("victim.yaml").write_bytes(REFUSED[attack].encode())
    with ends(seconds=30):
        result = build("victim.yaml", "generated")
    assert result.failed
    assert all(d.span is not None for d in result.diagnostics)
    assert [p.name for p in tmp_path.iterdir()] == ["victim.yaml"]


def test_there_are_fifty() -> None:
    assert len(INERT) + len(REFUSED) >= 50
