"""Specs that several processes share: the same files and the same words as from one."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from opgen.project import BuildResult, build
from opgen.write.compare import Status

SPECS = {f"op{k}": f"op: op{k}\ninputs: [x]\nforward: y = {k + 2}*sin(x)\n" for k in range(7)}
MISTAKEN = {
    "op3": "op: op3\ninputs: [x]\nforward: y = xx\n",
    "op5": "op: op5\ninputs: [x, unused]\nforward: y = 2*x\n",
}


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "specs"
    folder.mkdir()
    for name, text in (SPECS | MISTAKEN).items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def written(out: str) -> dict[str, str]:
    files = (p for p in Path(out).rglob("*") if p.is_file())
    return {p.relative_to(out).as_posix(): p.read_text().replace(f"--out {out}", "") for p in files}


def words(result: BuildResult) -> list[tuple[str, str]]:
    return [(d.code, d.message) for d in result.diagnostics]


def test_several_processes_do_what_one_does(specs: Path) -> None:
    seen: list[tuple[str, int]] = []
    one = build("specs", "one", namespace="n", jobs=1)
    two = build("specs", "two", namespace="n", jobs=2, progress=lambda *told: seen.append(told))
    assert one.ops == two.ops == tuple(n for n in SPECS if n != "op3")
    told = [("OPG205", "there is no `xx`"), ("OPG240", "the input `unused` is never used")]
    assert words(one) == words(two) == told
    assert {n for n in written("one") if not n.endswith(".json")} <= set(written("two"))
    same = [n for n in written("one") if n.endswith((".py", ".cpp", ".cu"))]
    assert [written("one")[n] for n in same] == [written("two")[n] for n in same]
    assert seen == [(f"{name}.yaml", len(SPECS)) for name in SPECS]


class Dying(concurrent.futures.ThreadPoolExecutor):
    """A pool of which a process dies with the third spec, as one does that gets no memory."""

    def __init__(self, jobs: int, *_: object) -> None:
        super().__init__(jobs)

    def map(self, fn: Callable[..., object], *of: object, **more: object) -> Iterator[object]:
        yield from list(super().map(fn, *of, **more))[:2]
        raise BrokenProcessPool("a process ended")


def test_what_a_process_that_died_left_is_done_here(specs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", Dying)
    result = build("specs", "out", jobs=2)
    assert result.ops == tuple(n for n in SPECS if n != "op3")
    assert {c.status for c in result.changes} == {Status.CREATED}
