"""What there is to compile with, and what opgen has left in its caches: the facts behind `opgen doctor` and `clean`.

Nothing here imports torch or changes a file, except `clean`.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from opgen.diagnostics.suggest import counted
from opgen.toolchain.choice import by_itself, is_compiled
from opgen.toolchain.compiler import NoCompilerError, SecondToolchain, Toolchain, toolchain, version_of
from opgen.toolchain.cuda import nvcc
from opgen.toolchain.cuda_toolchain import CudaToolchain
from opgen.write.cache import records
from opgen.write.lock import unless_held
from opgen.write.paths import CACHE, LOCK, MANIFEST
from opgen.write.user_cache import cache_folder

_BUILD = re.compile(r"[0-9a-f]{20}")  # the folder of one build, named after what it was made from
_LOADED = re.compile(r"opgen_loaded_[0-9a-f]{16}(_torch)?")
_LARGE = 2**30
_TORCH = (2, 11)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: `advice` says what to do where something is not as it should be."""

    what: str
    fact: str
    advice: str = ""
    needed: bool = False  # generating and running needs it, rather than compiling


def findings(out: Path) -> Iterator[Finding]:
    """Everything that bears on whether opgen works here."""
    yield Finding("python", f"{platform.python_version()} ({sys.executable})")
    yield _torch()
    yield _compiler()
    yield _ninja()
    yield _nvcc()
    yield from _caches()
    yield from _operators(out)


def _operators(out: Path) -> Iterator[Finding]:
    """What runs of the operators in a folder."""
    ops = sorted(manifest.parent.name for manifest in out.glob(f"*/{MANIFEST}"))
    compiled = [op for op in ops if is_compiled(out, op)]
    if ops:
        left = "the others run in torch" if len(compiled) < len(ops) else ""
        told = f"{len(compiled)} of {counted(len(ops), 'operator')} in {out} compiled"
        yield Finding("operators", "; ".join(filter(None, (told, left))))
    for op in compiled:
        yield Finding(op, f"auto runs {by_itself(out, op)}")


def _torch_folder() -> Path | None:
    spec = find_spec("torch")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


def _torch() -> Finding:
    root = _torch_folder()
    if root is None:
        return Finding("torch", "not installed", "pip install torch", needed=True)
    version = version_of(root, "__version__") or "unknown"
    numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
    cuda = version_of(root, "cuda")
    fact = f"{version}, {f'built for CUDA {cuda}' if cuda else 'without CUDA'}"
    return Finding("torch", fact, "" if numbers >= _TORCH else "2.11 or later is needed", needed=numbers < _TORCH)


def _compiler() -> Finding:
    try:
        tools = toolchain()
    except NoCompilerError as e:
        return Finding("C++ compiler", str(e), "install g++, or name another one with CXX")
    return Finding("C++ compiler", f"{tools.version} ({tools.compiler}); kernels for {', '.join(tools.sets)}")


def _ninja() -> Finding:
    found = shutil.which("ninja")
    return Finding("ninja", f"{_told(found)} ({found})" if found else "not found; opgen compiles without it")


def _nvcc() -> Finding:
    compiler, root = nvcc(), _torch_folder()
    wanted = version_of(root, "cuda") if root is not None else None
    if compiler is None:
        return Finding("nvcc", "not found", "install the CUDA toolkit" if wanted else "")
    release = re.search(r"release (\d+\.\d+)", _told(compiler))
    have = release[1] if release else "unknown"
    differs = wanted is not None and have.split(".")[0] != wanted.split(".")[0]
    advice = f"torch was built for CUDA {wanted}: install that release" if differs else ""
    return Finding("nvcc", f"release {have} ({compiler})", advice)


def _told(program: str) -> str:
    """What a program says of its version."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _caches() -> Iterator[Finding]:
    builds = list(_builds("*"))
    size = sum(p.stat().st_size for folder in builds for p in folder.rglob("*") if p.is_file())
    advice = "opgen clean --all empties it" if size > _LARGE else ""
    yield Finding("cache", f"{counted(len(builds), 'build')}, {size / 2**20:.1f} MiB in {cache_folder()}", advice)
    held = [folder for folder in builds if _is_held(folder / "lock")]
    if held:
        yield Finding("locks", f"{counted(len(held), 'build')} under way: {', '.join(str(f) for f in held)}")
    halves = [f for f in builds if f not in held and any(f.glob("build-*"))]
    if halves:
        yield Finding("unfinished builds", ", ".join(map(str, halves)), "opgen clean --all removes them")


def _is_held(lock: Path) -> bool:
    """Whether a process is building there."""
    with unless_held(lock) as free:
        return not free


def _builds(op: str) -> Iterator[Path]:
    """The folders of compiled libraries of an operator, or of all; their cache may hold other things as well."""
    for folder in sorted(cache_folder().glob(f"libraries/{op}/*")):
        if _BUILD.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
            yield folder


def clean(out: Path, *, everything: bool = False) -> Iterator[Path]:
    """Remove what can be made again without the generator: compiled libraries and caches. Yields what was removed.

    Of the cache that all projects share, it is what was compiled of operators of these names, or `everything`.
    """
    kinds = (Toolchain, SecondToolchain, CudaToolchain)
    names = [n for kind in kinds for n in (kind.library, str(Path(kind.library).with_suffix(".stamp")))]
    ops = sorted(manifest.parent.name for manifest in out.glob(f"*/{MANIFEST}"))
    for path in (out / op / name for op in ops for name in names):
        if path.is_file():
            path.unlink()
            yield path
    for folder in [f for op in (["*"] if everything else ops) for f in _builds(op)]:
        with unless_held(folder / "lock") as free:
            if free:
                shutil.rmtree(folder)
        if free:
            yield folder
            _prune(folder.parent)
    for folder in sorted(cache_folder().glob("loaded/*")) if everything else ():
        if _LOADED.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
            yield folder
            _prune(folder.parent)
    for folder in sorted(cache_folder().glob("outputs/*")) if everything else [records(out)]:
        if _BUILD.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
            yield folder
            _prune(folder.parent)
    _prune(cache_folder())
    yield from _removed(out / CACHE)


def _removed(left: Path) -> Iterator[Path]:
    """Remove what a build that was killed has left in its output folder."""
    ours = (left / "CACHEDIR.TAG").is_file() and not left.is_symlink()
    with unless_held(left / LOCK) as free:
        if ours and free:
            shutil.rmtree(left)
    if ours and free:
        yield left


def _prune(folder: Path) -> None:
    """Remove a folder that is empty now."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
