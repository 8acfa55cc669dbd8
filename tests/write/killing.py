"""Kill builds and compilations at random moments, look at what is left, and let the next run repair it.

A program of its own: it forks a process for every kill, which must not happen in one with threads. The counts go to
stdout as JSON; the first mixture ends it with an error.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from opgen import build
from opgen.toolchain.compiler import toolchain
from opgen.toolchain.library import cached, compile_op, generation
from opgen.write.user_cache import CACHE_VARIABLE

FORMULAS = ("2*x", "sin(x)*x", "exp(-x)")
OP = "gone_soon"
Files = dict[str, bytes]


class Project:
    """A spec with one of several formulas, and the folder it is built into."""

    def __init__(self, folder: Path) -> None:
        self.spec, self.out = folder / "spec.yaml", folder / "generated"
        folder.mkdir(parents=True)

    def build(self, formula: str) -> None:
        temporary = self.spec.with_suffix(".tmp")
        temporary.write_text(f"op: {OP}\ninputs: [x]\nforward: y = {formula}\n")
        os.replace(temporary, self.spec)
        result = build(self.spec, self.out)
        assert not result.failed, result.diagnostics

    def files(self) -> Files:
        folder = self.out / OP
        return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def killed(work: Callable[[], None], seconds: float) -> None:
    """Do work in a process that is killed after a while, if it has not ended by then."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def builds(folder: Path, count: int) -> Counter[str]:
    """Kill what builds one version after the other; the folder must be one of them, and the next build must succeed."""
    wholes: list[Files] = []
    for k, formula in enumerate(FORMULAS):
        whole = Project(folder / f"whole_{k}")
        whole.build(formula)
        wholes.append(whole.files())
    found: Counter[str] = Counter()
    for n in range(count):
        project = Project(folder / str(n))
        if n % 4:
            project.build(FORMULAS[0])

        def forever(project: Project = project) -> None:
            for formula in itertools.cycle(FORMULAS[1:]):
                project.build(formula)

        killed(forever, random.uniform(0.0, 0.6))
        files = project.files()
        state = f"formula {wholes.index(files)}" if files in wholes else "nothing" if not files else "mixture"
        assert state != "mixture", (n, sorted(files))
        assert state != "nothing" or not n % 4, n
        found[state] += 1
        found["left to clear away"] += any(project.out.glob(".opgen_cache/staged/*"))
        project.build(FORMULAS[n % 3])
        assert project.files() == wholes[n % 3], n
        assert not any(project.out.glob(".opgen_cache/staged/*")), n
    return found


def installs(folder: Path, count: int) -> Counter[str]:
    """Kill what builds and installs one compiled version after the other; no library may lie under another's stamp."""
    os.environ[CACHE_VARIABLE] = str(folder / "cache")
    project = Project(folder / "installed")
    libraries: dict[str, bytes] = {}
    for formula in FORMULAS[:2]:
        project.build(formula)
        libraries[generation(project.out, OP)] = compile_op(project.out, OP).read_bytes()
    found: Counter[str] = Counter()

    def forever() -> None:
        for formula in itertools.cycle(FORMULAS[:2]):
            project.build(formula)
            compile_op(project.out, OP)

    for n in range(count):
        killed(forever, random.uniform(0.0, 0.5))
        found[_installed(project, libraries)] += 1
        project.build(FORMULAS[n % 2])
        compile_op(project.out, OP)
        assert _installed(project, libraries) == "library of its stamp", n
        left = [p.name for p in (project.out / OP).iterdir() if p.name.startswith(".")]
        assert not left, left
    return found


def _installed(project: Project, libraries: dict[str, bytes]) -> str:
    library, stamp = project.out / OP / "_native.so", project.out / OP / "_native.stamp"
    if not library.exists():
        return "no library"
    known = [g for g, data in libraries.items() if data == library.read_bytes()]
    assert known, "half of a library"
    if not stamp.exists():
        assert known == [generation(project.out, OP)], "an old library without a stamp"
        return "library of what is there, no stamp yet"
    assert stamp.read_text() in known, "a library under another's stamp"
    return "library of its stamp"


def compilations(folder: Path, count: int) -> Counter[str]:
    """Kill the compiler's caller; the cache must hold a whole library or none, and the next call must succeed."""
    found: Counter[str] = Counter()
    project = Project(folder / "compiled")
    project.build(FORMULAS[0])
    whole, seconds = b"", 0.0
    for n in range(count + 1):
        os.environ[CACHE_VARIABLE] = str(folder / f"cache_{n}")
        if n:
            killed(lambda: void(compile_op(project.out, OP)), random.uniform(0.0, 1.2 * seconds))
            halves = list((folder / f"cache_{n}").rglob(f"{OP}.so"))
            halves = [p for p in halves if "build-" not in p.parent.name]
            assert all(p.read_bytes() == whole for p in halves), n
            found["whole" if halves else "none"] += 1
        started = time.monotonic()
        library = cached(project.out, OP, toolchain()).read_bytes()
        if not n:
            whole, seconds = library, time.monotonic() - started
        assert library == whole, n
    return found


def void(_: object) -> None:
    """Nothing, of anything."""


def main(arguments: Sequence[str]) -> Iterator[tuple[str, Counter[str]]]:
    folder, seed, *counts = arguments
    random.seed(int(seed))
    for what, count in zip((builds, installs, compilations), map(int, counts), strict=True):
        if count:
            yield what.__name__, what(Path(folder) / what.__name__, count)


if __name__ == "__main__":
    print(json.dumps({name: dict(sorted(found.items())) for name, found in main(sys.argv[1:])}))
