"""The header that bindings include first: read once where many of them are compiled."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from opgen.toolchain import library
from opgen.toolchain.compiler import Toolchain, toolchain
from opgen.write.user_cache import CACHE_VARIABLE
from tests.compilers import available

ROOT = Path(__file__).resolve().parents[2]
HEAD = "opgen_host.h"


class Recorder:
    """Tools that write down in which folders each binding finds the header read."""

    library, folder, reads, describe = Toolchain.library, Toolchain.folder, Toolchain.reads, "recorder"

    def __init__(self, refused: str = "") -> None:
        self.found: list[list[Path]] = []
        self.refused = refused

    def shared(self, source: Path, include: Sequence[Path], made: Path) -> list[str]:
        del include
        return ["false"] if source.name == self.refused else ["touch", str(made)]

    def commands(self, sources: Sequence[Path], include: Sequence[Path], folder: Path, made: Path) -> list[list[str]]:
        del sources, folder
        self.found.append([p for p in include if (p / f"{HEAD}.gch").exists()])
        assert self.found[-1] == [*include[:1]] * len(self.found[-1])  # in front of the header itself
        return [["touch", str(made)]]


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight operators that have sources."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    folder = tmp_path / "out"
    (folder / "csrc").mkdir(parents=True)
    (folder / "csrc" / HEAD).write_text("// shared\n")
    for k in range(8):
        (folder / f"op{k}" / "csrc").mkdir(parents=True)
        (folder / f"op{k}" / "csrc" / f"op{k}.cpp").write_text(f"// {k}\n")
    return folder


def test_many_bindings_find_their_header_read_and_few_read_it(out: Path) -> None:
    ops, tools = [f"op{k}" for k in range(8)], Recorder()
    library.compile_for(out, ops[:7], [tools])
    assert tools.found == [[]] * 7
    library.compile_for(out, ops, [tools])  # one is left
    assert tools.found[7:] == [[]]
    (out / "csrc" / HEAD).write_text("// another\n")
    library.compile_for(out, ops, [tools])
    assert [len(found) for found in tools.found[8:]] == [1] * 8
    assert not {p for found in tools.found for p in found if p.exists()}


def test_a_header_that_cannot_be_read_ahead_is_read_by_each_binding(out: Path) -> None:
    tools = Recorder(refused=HEAD)
    outcomes = library.compile_for(out, [f"op{k}" for k in range(8)], [tools])
    assert {o.error for o in outcomes} == {None}
    assert tools.found == [[]] * 8


@pytest.mark.thorough
@pytest.mark.skipif(not available() or "clang" in toolchain().version, reason="not for this compiler")
def test_a_compiler_takes_what_was_read(tmp_path: Path) -> None:
    tools, csrc = toolchain(), ROOT / "generated" / "csrc"
    made, binding = tmp_path / "ahead" / f"{HEAD}.gch", ROOT / "generated" / "silu" / "csrc" / "silu.cpp"
    made.parent.mkdir()
    subprocess.run(tools.shared(csrc / HEAD, (csrc,), made), check=True, capture_output=True)
    line = [*tools.binding(binding, (made.parent, binding.parent, csrc), tmp_path / "silu.o"), "-H"]
    told = subprocess.run(line, check=True, capture_output=True, text=True).stderr
    assert f"! {made}" in told.splitlines()
