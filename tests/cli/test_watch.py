"""`opgen build --watch`: builds, and again after every change; a person's mistakes do not end it, an interrupt does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Queue

import pytest

from opgen.cli import INTERRUPTED, watch

Opgen = Callable[..., tuple[int, str, str]]
Step = Callable[[], object]
_LONG = 300.0  # seconds until something is taken for stuck


def rest() -> None:
    """Nothing happens: what was written has come to rest."""


def play(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> None:
    """Let the steps happen, one for each time that is waited; then it is interrupted."""
    left = iter(steps)

    def wait() -> None:
        step = next(left, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(watch, "wait", wait)


def one(text: str) -> Step:
    return lambda: Path("specs/one.yaml").write_text(text)


def test_each_change_is_built(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, rest, one("one\nx = 3\n"), rest, rest, rest)
    code, out, err = opgen("build", "--watch")
    assert code == INTERRUPTED
    assert out.splitlines()[-1] == "updated   generated/one (2 files)"
    assert out.count("generated/two") == 1
    assert err.count("changed: specs/one.yaml\n") == 1
    assert err.endswith("watching; Ctrl-C ends it\n\ninterrupted\n")
    assert (project / "generated/one/function.py").read_text() == "x = 3\n"


def test_mistakes_are_told_and_do_not_end_it(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, one("one\nwrong\n"), rest, one("one\nx = 4\n"), rest)
    code, _, err = opgen("build", "--watch")
    assert code == INTERRUPTED
    assert "error[OPG201]" in err
    assert err.index("error[OPG201]") < err.rindex("2 operators in generated")
    assert (project / "generated/one/function.py").read_text() == "x = 4\n"


def test_specs_that_come_and_go_are_noticed(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    three = project / "specs/three.yaml"
    play(
        monkeypatch,
        lambda: three.write_text("three\nx = 3\n"), rest,
        (project / "specs/one.yaml").unlink, rest,
    )  # fmt: skip
    code, out, err = opgen("build", "--watch")
    assert code == INTERRUPTED
    assert "created   generated/three" in out
    assert "removed   generated/one" in out
    assert err.count("changed: specs/") == 2
    assert sorted(p.name for p in (project / "generated").iterdir() if (p / "function.py").exists()) == ["three", "two"]


def test_what_is_being_replaced_is_not_gone(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = project / "specs/one.yaml"
    play(monkeypatch, lambda: spec.rename("aside"), lambda: spec.write_text("one\nx = 5\n"), rest, rest)
    _, out, err = opgen("build", "--watch")
    assert "removed" not in out
    assert err.count("changed: ") == 1
    assert (project / "generated/one/function.py").read_text() == "x = 5\n"


def test_the_same_text_again_is_no_change(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    same = (project / "specs/one.yaml").read_text()
    play(monkeypatch, one(same), rest, one("half"), one(same), rest)
    assert "changed" not in opgen("build", "--watch")[2]


@pytest.mark.parametrize("other", ["--check", "--diff", "--format=json"])
def test_it_talks_to_a_person(project: Path, opgen: Opgen, other: str) -> None:
    code, out, err = opgen("build", "--watch", other)
    assert (code, out) == (2, "")
    assert "--watch" in err


def test_quiet_it_tells_changes_and_mistakes(project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    play(monkeypatch, one("one\nx = 6\n"), rest)
    assert opgen("build", "--watch", "-q") == (INTERRUPTED, "", "\ninterrupted\n")


# of Ctrl-C, which what runs in the background ignores
HEEDFUL = """
import signal
from opgen.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="interrupted as on POSIX")
def test_a_process_that_watches_builds_and_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    spec = tmp_path / "specs/wave.yaml"
    spec.write_text("op: wave\ninputs: [x]\nforward: y = sin(x)\n")
    around = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    child = subprocess.Popen(
        [sys.executable, "-c", HEEDFUL, "build", "--watch"], cwd=tmp_path, env=around, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    told: Queue[str] = Queue()
    assert child.stderr is not None
    reader = threading.Thread(target=lambda lines: [told.put(line) for line in lines], args=(child.stderr,))
    reader.start()

    def until(text: str) -> None:
        while text not in told.get(timeout=_LONG):
            pass

    try:
        until("watching")
        spec.write_text("op: wave\ninputs: [x]\nforward: y = cos(x)\n")
        until("changed: specs/wave.yaml")
        until("watching")
        child.send_signal(signal.SIGINT)
        assert child.wait(_LONG) == INTERRUPTED
    finally:
        child.kill()
        child.wait()
        reader.join()
        child.stderr.close()
    assert "cos" in (tmp_path / "generated/wave/function.py").read_text()
