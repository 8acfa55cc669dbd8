"""The code of pages runs: the blocks of one page in order, as somebody would type them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parent.parent / "docs"
COMPILES = "<!-- compiles -->\n\n"  # stands before a block that is for a machine with a compiler


def blocks(page: str) -> list[tuple[bool, str]]:
    """The Python of a page: whether a compiler is needed, and the code."""
    text = (PAGES / page).read_text(encoding="utf-8")
    found = re.finditer(rf"({COMPILES})?```python\n(.*?)```", text, re.DOTALL)
    return [(m[1] is not None, m[2]) for m in found]


def run(code: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for block in code:
        exec(compile(block, block.partition("\n")[0], "exec"), names)


def test_the_python_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = blocks("python.md")
    assert len(found) > 5
    run([code for compiles, code in found if not compiles], tmp_path, monkeypatch)


@pytest.mark.thorough
def test_the_python_page_runs_with_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from opgen.toolchain.compiler import available

    if not available():
        pytest.skip("no C++ compiler")
    run([code for _, code in blocks("python.md")], tmp_path, monkeypatch)
