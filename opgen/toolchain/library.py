"""The shared libraries of an operator, each compiled once for what it is made of: one for the CPU, one for CUDA.

In goes the folder of a generated package, out comes the path of a library. A library lies in a cache folder named
after the hash of sources, flags, compiler and torch; a lock that dies with its process keeps two builds apart, and the
finished file is renamed into place, so that nobody ever loads half of one.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from opgen.diagnostics.model import Span
from opgen.package.notes import NO_CUDA_KERNELS, NO_KERNELS, SOURCES
from opgen.toolchain.blame import blamed
from opgen.toolchain.compiler import Toolchain, second_of, toolchain
from opgen.toolchain.cuda_toolchain import cuda_toolchain
from opgen.write.lock import locked
from opgen.write.paths import MANIFEST, inside
from opgen.write.user_cache import cache_folder
from opgen.write.writer import exclusive, replace_file

SHARED = "csrc"  # the folder of the sources and headers that all operators share
_HEAD = "opgen_host.h"  # what most bindings include first
_MANY = 8  # libraries from which on it saves more time than it takes to read that ahead

_NOTHING: Mapping[str, Path] = {}

_LOG = logging.getLogger("opgen.toolchain")


class CompileError(RuntimeError):
    """The compiler refused generated code. The message has the command and its output; `place` is where in the spec."""

    place: Span | None = None


class NoKernelsError(CompileError):
    """The operator has no kernels to compile and runs in plain torch; the message says why."""


def without_kernels(out: Path, op: str) -> str | None:
    """Why a generated operator has no kernels; None for one that has."""
    note = out / op / NO_KERNELS
    if not note.exists():
        return None
    return " ".join(line for line in note.read_text().splitlines() if not line.startswith("#"))


class Tools(Protocol):
    """What makes one kind of library: for the CPU, or for CUDA."""

    @property
    def library(self) -> str:
        """The name of the file beside the package."""

    @property
    def folder(self) -> str:
        """Where the operator's own sources are, in its package; an operator without has no library of this kind."""

    @property
    def reads(self) -> tuple[str, ...]:
        """The endings of the files that the build depends on."""

    @property
    def describe(self) -> str:
        """Everything else that it depends on."""

    def shared(self, source: Path, include: Sequence[Path], made: Path) -> list[str]:
        """The command that compiles what all operators share to `made`: a source, or a header that is read ahead."""

    def commands(self, sources: Sequence[Path], include: Sequence[Path], folder: Path, made: Path) -> list[list[str]]:
        """The commands that make the library `made`, in order; objects go to `folder`, and those in `sources` in."""


class Status(StrEnum):
    COMPILED = "compiled"
    CACHED = "taken from the cache"
    CURRENT = "up to date"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one operator: its libraries, or why there are none."""

    op: str
    status: Status
    libraries: Mapping[str, Path] = field(default_factory=dict)  # by the names that they have beside the package
    error: Exception | None = None


def compile_op(
    out: Path,
    op: str,
    tools: Tools | None = None,
    ran: list[str] | None = None,
    ahead: Mapping[str, Path] = _NOTHING,
) -> Path:
    """Compile a library of one generated operator (default: that for the CPU) and put it beside its package.

    `ran` gets the name of what the compiler had to be run for; `ahead` has the folders of headers that were read.
    """
    reason = without_kernels(out, op)
    if reason is not None:
        raise NoKernelsError(f"{op} has no kernels and runs in plain torch: {reason.removeprefix(f'{op}: ')}")
    tools = tools or toolchain()
    while True:
        wanted = generation(out, op)
        built = cached(out, op, tools, ran, ahead)
        with exclusive(out):
            if generation(out, op) == wanted:  # otherwise it was generated anew while the compiler ran
                return _install(built, inside(out, f"{op}/{tools.library}"), wanted)


def _install(built: Path, target: Path, generated: str) -> Path:
    """Put a library beside its package, and down which generation it is of."""
    stamp = _stamp(target)
    for half in target.parent.glob(f".{target.stem}.*.tmp"):  # of a process that was killed
        half.unlink()
    if not _same(built, target):
        target.unlink(missing_ok=True)  # first, so that at no time a library lies beside another's stamp
        stamp.unlink(missing_ok=True)
        replace_file(target, built.read_bytes())
    replace_file(stamp, generated.encode())
    return target


def generation(out: Path, op: str) -> str:
    """What tells the sources of one generation from those of another; the generated runtime asks for the same."""
    digest = hashlib.sha256()
    for folder in (out / op, out):
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        digest.update(repr(sorted((n, h) for n, h in files.items() if n.startswith("csrc/"))).encode())
    return digest.hexdigest()


def is_current(out: Path, op: str) -> bool:
    """Whether the operator's library for the CPU is there, compiled for what was generated last."""
    library = out / op / Toolchain.library
    stamp = _stamp(library)
    return library.exists() and stamp.exists() and stamp.read_text() == generation(out, op)


def is_loadable(out: Path, op: str) -> bool:
    """Whether the generated runtime would take the operator's library: one without a stamp it takes as it is."""
    library = out / op / Toolchain.library
    return is_current(out, op) or (library.exists() and not _stamp(library).exists())


def _stamp(library: Path) -> Path:
    """Where the generation that a library was compiled for is written down."""
    return library.with_suffix(".stamp")


def compile_ops(
    out: Path, ops: Sequence[str], jobs: int | None = None, progress: Callable[[str], None] = lambda _: None
) -> tuple[Outcome, ...]:
    """Compile every library of several operators: that for the CPU and, where torch has CUDA, that for CUDA.

    One that fails does not keep the others from being compiled. `progress` is told the name of each as it is done.
    """
    cuda = cuda_toolchain()
    host = toolchain()
    kinds: tuple[Tools, ...] = (host, second_of(host), *(() if cuda is None else (cuda,)))

    def one(op: str) -> Outcome:
        chosen = _possible(out, op, kinds)
        places = tuple(out / op / tools.library for tools in chosen)
        before, ran = [_identity(p) for p in places], list[str]()
        try:
            paths = {tools.library: compile_op(out, op, tools, ran, ahead) for tools in chosen}
        except Exception as e:
            return Outcome(op, Status.FAILED, error=e)
        finally:
            progress(op)
        same = [_identity(p) for p in places] == before
        return Outcome(op, Status.COMPILED if ran else Status.CURRENT if same else Status.CACHED, paths)

    with _read_ahead(out, ops, kinds) as ahead:
        return _at_once(one, ops, jobs)


def compile_for(
    out: Path,
    ops: Sequence[str],
    kinds: Sequence[Tools],
    jobs: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    """Compile the libraries of several operators with given tools; they stay in the cache, in the order of the tools.

    One that fails does not keep the others from being compiled.
    """

    def one(op: str) -> Outcome:
        ran: list[str] = []
        try:
            paths = {tools.library: cached(out, op, tools, ran, ahead) for tools in _possible(out, op, kinds)}
        except Exception as e:
            return Outcome(op, Status.FAILED, error=e)
        finally:
            progress(op)
        return Outcome(op, Status.COMPILED if ran else Status.CACHED, paths)

    with _read_ahead(out, ops, kinds) as ahead:
        return _at_once(one, ops, jobs)


def _possible(out: Path, op: str, kinds: Sequence[Tools]) -> tuple[Tools, ...]:
    """The tools that an operator has sources for; those for the CPU come first."""
    left = ".cu" if (out / op / NO_CUDA_KERNELS).exists() else ""
    there = (t for t in kinds if t.folder == SOURCES or (out / op / t.folder).is_dir())
    return tuple(t for t in there if left not in t.reads)


@contextmanager
def _read_ahead(out: Path, ops: Sequence[str], kinds: Sequence[Tools]) -> Iterator[Mapping[str, Path]]:
    """The folders in which the header of bindings lies as its compiler has read it, by the key of all that is shared.

    There are none for few libraries. A compiler that can't use what it finds there reads the header.
    """
    with tempfile.TemporaryDirectory(prefix="opgen-") as name:
        found: dict[str, Path] = {}
        for tools in kinds:
            if sum(_is_missing(out, op, tools) for op in ops) >= _MANY and (out / SHARED / _HEAD).exists():
                key = _shared_key(out, tools)
                made = Path(name) / key / f"{_HEAD}.gch"
                made.parent.mkdir()
                with suppress(CompileError, OSError):  # each binding has the same one
                    _told(tools.shared(out / SHARED / _HEAD, (out / SHARED,), made))
                if _shared_key(out, tools) == key:
                    found[key] = made.parent
        yield found


def _is_missing(out: Path, op: str, tools: Tools) -> bool:
    """Whether a library is to be compiled; one that can't be isn't."""
    try:
        return without_kernels(out, op) is None and not _library(op, _key(_sources(out, op, tools), tools)).exists()
    except OSError:
        return False


def _library(op: str, key: str) -> Path:
    return cache_folder() / "libraries" / op / key / f"{op}.so"


def _at_once(one: Callable[[str], Outcome], ops: Sequence[str], jobs: int | None) -> tuple[Outcome, ...]:
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        return tuple(pool.map(one, ops))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def cached(
    out: Path, op: str, tools: Tools, ran: list[str] | None = None, ahead: Mapping[str, Path] = _NOTHING
) -> Path:
    """The library in the cache, compiled if it is not there; `ran` is told where the compiler ran."""
    while True:
        sources = _sources(out, op, tools)
        key = _key(sources, tools)
        library = _library(op, key)
        if library.exists():
            return library
        if _compiled(out, op, sources, key, tools, ahead):
            if ran is not None:
                ran.append(key)
            return library


def _compiled(out: Path, op: str, sources: dict[str, Path], key: str, tools: Tools, ahead: Mapping[str, Path]) -> bool:
    """Compile a library into the cache; False, and nothing made, where the sources changed under the compiler."""
    files = [p for p in sources.values() if p.parent != out / SHARED or p.suffix != ".cpp"]
    read = ahead.get(_shared_key(out, tools))
    include = (*([read] if read is not None else ()), *dict.fromkeys(p.parent for p in files))
    for source in sources.values():
        if source not in files:
            made = _object(out, source, tools)
            if made is None:
                return False
            files.append(made)
    try:
        return _made(
            _library(op, key),
            lambda folder, made: tools.commands(files, include, folder, made),
            lambda: _key(_sources(out, op, tools), tools) == key,
        )
    except CompileError as e:
        e.place = blamed(out, op, str(e))
        raise


def _object(out: Path, source: Path, tools: Tools) -> Path | None:
    """What a source that all operators share is compiled to, once for all; None where it changed under the compiler."""
    folder = out / SHARED
    key = _shared_key(out, tools)
    target = cache_folder() / "libraries" / SHARED / key / f"{source.stem}.o"
    same = _made(
        target,
        lambda _, made: [tools.shared(source, (folder,), made)],
        lambda: _shared_key(out, tools) == key,
    )
    return target if same else None


def _made(target: Path, commands: Callable[[Path, Path], list[list[str]]], unchanged: Callable[[], bool]) -> bool:
    """Run the commands that make a file of the cache, unless it is there; they are told a folder and what to make.

    False, and nothing made, where the sources changed meanwhile.
    """
    with locked(target.parent / "lock"):
        if target.exists():
            return True
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="build-") as name:
            made = Path(name) / target.name
            try:
                for command in commands(Path(name), made):
                    _told(command)
            except CompileError:
                if unchanged():
                    raise
                return False
            if not unchanged():
                return False
            made.replace(target)
            return True


def _sources(out: Path, op: str, tools: Tools) -> dict[str, Path]:
    """Everything the build reads, by a name that does not depend on where the folder lies."""
    own = out / op / tools.folder
    found = _files(out, (own, out / SHARED), tools.reads)
    if not any(p.suffix == ".cpp" and p.parent == own for p in found.values()):
        raise FileNotFoundError(f"{out / op} has no C++ sources")
    return found


def _files(out: Path, folders: Sequence[Path], reads: tuple[str, ...]) -> dict[str, Path]:
    found = [p for folder in folders if folder.is_dir() for p in sorted(folder.iterdir()) if p.suffix in reads]
    return {str(p.relative_to(out)): p for p in found}


def _key(sources: dict[str, Path], tools: Tools) -> str:
    digest = hashlib.sha256(tools.describe.encode())
    for name, path in sources.items():
        text = path.read_bytes()
        digest.update(f"\0{name}\0{len(text)}\0".encode())
        digest.update(text)
    return digest.hexdigest()[:20]


def _shared_key(out: Path, tools: Tools) -> str:
    return _key(_files(out, (out / SHARED,), tools.reads), tools)


def _told(command: list[str]) -> None:
    """Run a command that is told of."""
    _LOG.info("%s", shlex.join(command))
    _run(command)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _same(a: Path, b: Path) -> bool:
    return b.exists() and a.stat().st_size == b.stat().st_size and a.read_bytes() == b.read_bytes()
