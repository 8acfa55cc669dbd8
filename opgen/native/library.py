"""One shared library per operator, compiled once for what it is made of.

In goes the folder of a generated package, out comes the path of its library. The library lies in a cache folder named
after the hash of sources, flags, compiler and torch; a lock that dies with its process keeps two builds apart, and the
finished file is renamed into place, so that nobody ever loads half of one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from opgen.native.toolchain import Toolchain, toolchain

CACHE_VARIABLE = "OPGEN_CACHE_DIR"
LIBRARY = "_native.so"  # beside the package of the operator, where the generated runtime looks for it


class CompileError(RuntimeError):
    """The compiler refused generated code: our bug. The message has its output."""


def cache_folder(out: Path) -> Path:
    """Where libraries are kept: `OPGEN_CACHE_DIR`, or `.opgen_cache` beside the folder of the operators."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else out.absolute().parent / ".opgen_cache"


def compile_op(out: Path, op: str) -> Path:
    """Compile the library of one generated operator and put it beside its package."""
    built = cached(out, op, toolchain())
    target = out / op / LIBRARY
    if not _same(built, target):
        _install(built, target)
    return target


def compile_ops(
    out: Path, ops: Sequence[str], jobs: int | None = None, progress: Callable[[str], None] = lambda _: None
) -> tuple[Path, ...]:
    """Compile several; `progress` is told the name of each as it is done."""

    def one(op: str) -> Path:
        path = compile_op(out, op)
        progress(op)
        return path

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        return tuple(pool.map(one, ops))


def cached(out: Path, op: str, tools: Toolchain) -> Path:
    """The library in the cache, compiled if it is not there."""
    sources = _sources(out, op)
    folder = cache_folder(out) / op / _key(sources, tools)
    library = folder / f"{op}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / "lock"):
            if not library.exists():
                _build(op, sources, tools, library)
    return library


def _include(out: Path, op: str) -> tuple[Path, ...]:
    return tuple(p for p in (out / op / "csrc", out / "csrc") if p.is_dir())


def _sources(out: Path, op: str) -> dict[str, Path]:
    """Everything the build reads, by a name that does not depend on where the folder lies."""
    found = [p for folder in _include(out, op) for p in sorted(folder.iterdir()) if p.suffix in (".cpp", ".h")]
    if not any(p.suffix == ".cpp" for p in found):
        raise FileNotFoundError(f"{out / op} has no C++ sources")
    return {str(p.relative_to(out)): p for p in found}


def _key(sources: dict[str, Path], tools: Toolchain) -> str:
    digest = hashlib.sha256(tools.describe.encode())
    for name, path in sources.items():
        text = path.read_bytes()
        digest.update(f"\0{name}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()[:20]


def _build(op: str, sources: dict[str, Path], tools: Toolchain, library: Path) -> None:
    include = tuple(dict.fromkeys(p.parent for p in sources.values()))
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as name:
        folder = Path(name)
        objects: list[Path] = []
        for path in (p for p in sources.values() if p.suffix == ".cpp"):
            if path.stem.endswith("_kernels"):
                for isa in ("baseline", *tools.sets):
                    objects.append(folder / f"{path.stem}.{isa}.o")
                    _run(tools.kernels(path, include, objects[-1], isa))
            else:
                objects.append(folder / f"{path.stem}.o")
                _run(tools.binding(path, include, objects[-1]))
        made = folder / f"{op}.so"
        _run(tools.link(objects, made))
        made.replace(library)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _same(a: Path, b: Path) -> bool:
    return b.exists() and a.stat().st_size == b.stat().st_size and a.read_bytes() == b.read_bytes()


def _install(built: Path, target: Path) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".native-", suffix=".so")
    os.close(handle)
    try:
        shutil.copy(built, name)
        os.replace(name, target)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
