"""Every block of code of every page runs, or says why it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compilers import available

from . import shell
from .blocks import COMPILES, LONG, blocks, blocks_of, pages
from .running import run, runs, unclassified

WITH_BLOCKS = [page for page in pages() if blocks(page)]
NOW = [page for page in WITH_BLOCKS if any(runs(b, thorough=False, compiles=False) for b in blocks(page))]
LATER = [page for page in WITH_BLOCKS if any(b.mark in (LONG, COMPILES) for b in blocks(page))]


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_every_block_is_classified(page: str) -> None:
    assert [f"{b.place}: {wrong}" for b in blocks(page) if (wrong := unclassified(b))] == []


@pytest.mark.parametrize("page", NOW)
def test_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(blocks(page), tmp_path, thorough=False, compiles=False)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch.export about itself
@pytest.mark.parametrize("page", LATER)
def test_blocks_run_that_take_long(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not any(runs(b, thorough=True, compiles=available()) for b in blocks(page)):
        pytest.skip("no C++ compiler")
    monkeypatch.chdir(tmp_path)
    assert run(blocks(page), tmp_path, thorough=True, compiles=available())


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("```\nx\n```\n", "no language of"),
        ("```ruby\nx\n```\n", "no language of"),
        ("<!-- not run: -->\n\n```python\nx\n```\n", "says why"),
        ("```cpp\nint x;\n```\n", "which test compiles it"),
        ("```sh\ncurl -O x\n```\n", "curl: not among those that are run"),
        ("```sh\nopgen biuld\n```\n", "no such command: biuld; did you mean build?"),
        ("<!-- not run: a checkout -->\n\n```sh\nopgen build --sheck\n```\n", "No such option"),
        ("```sh\nmake lnit\n```\n", "no target lnit"),
    ],
)
def test_a_new_block_that_nobody_classified_is_found(text: str, wrong: str) -> None:
    assert wrong in unclassified(blocks_of("page.md", text)[0])


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("```python\nassert 1 == 2\n```\n", AssertionError),
        ("```yaml\nop: wrong_here\ninputs: [x]\nforward: y = x +\n```\n", AssertionError),
        ("```console\n$ opgen explain OPG204\nOPG205: …\n```\n", AssertionError),
        ("```toml\n[tool\n```\n", ValueError),
        ("```sh\nopgen build nowhere.yaml\n```\n", AssertionError),
    ],
)
def test_a_block_that_is_wrong_is_found(
    text: str, wrong: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(wrong):
        run(blocks_of("page.md", text), tmp_path, thorough=False, compiles=False)


def test_programs_that_no_test_runs_are_named_somewhere() -> None:
    found = {
        c.program for p in WITH_BLOCKS for b in blocks(p) if b.language in ("sh", "console") for c in shell.commands(b)
    }
    assert set(shell.OTHERS) <= found
