"""The functions `opgen.compile` and `opgen.load`.

`compile` makes the libraries of generated operators; `load` goes from a spec to the imported operator in one call, with
compiled kernels where there is a compiler.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from opgen.toolchain.compiler import NoCompilerError, toolchain
from opgen.toolchain.library import Outcome, compile_ops, is_current, without_kernels
from opgen.write.user_cache import cache_folder

PathLike = str | os.PathLike[str]


class LoadError(RuntimeError):
    """A spec with mistakes, or an operator that cannot be had as it is wanted; the message says why."""


class Operator(Protocol):
    """The function of an operator: it takes tensors and params, and returns a tensor or a tuple of them."""

    __name__: str
    backend: str  # what runs, forward and backward: docs/backends.md

    def __call__(self, *operands: Any, **params: Any) -> Any: ...


def compile(
    ops: str | Sequence[str] = (),
    out: PathLike = "generated",
    *,
    jobs: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Compile the libraries of generated operators (default: all that have kernels); their paths, in order.

    An error of one is raised when all others are compiled.
    """
    folder = Path(out)
    wanted = [ops] if isinstance(ops, str) else list(ops)
    found = sorted(p.parent.name for p in folder.glob("*/manifest.json"))
    names = wanted or [op for op in found if without_kernels(folder, op) is None]
    toolchain()
    outcomes = compile_ops(folder, names, jobs, progress)
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return tuple(path for outcome in outcomes for path in outcome.libraries)


def load(spec: PathLike, *, compiled: bool | None = None) -> Operator:
    """The operator of a spec, generated, compiled if possible and imported.

    With `compiled=True` it has compiled kernels, or there is an error; with `compiled=False` it runs in plain torch. Of
    kernels that it has, those run that are expected to be as fast as plain torch; its `backend` says which.
    Nothing is done twice: what was generated and compiled before is taken from the cache, where processes that this
    one starts find it, too.
    """
    path = Path(spec)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    name = f"opgen_loaded_{digest}{'_torch' if compiled is False else ''}"
    folder = cache_folder() / "loaded" / name
    op = _generated(path, folder)
    outcome = None if compiled is False else _compiled(folder, op, must=bool(compiled))
    function, runtime = _imported(folder, op)
    if outcome is not None and runtime.kernel(op, "forward") is None:  # imported before it was compiled
        _hand_over(runtime, outcome)
    if compiled and runtime.kernel(op, "forward") is None:
        raise LoadError(f"{path}: the compiled library of {op} cannot be loaded; a warning says why")
    return function


def _generated(path: Path, folder: Path) -> str:
    from opgen.diagnostics.crash import Crash
    from opgen.diagnostics.text import render_all
    from opgen.project import build

    result = build(path, folder, namespace=folder.name)
    if result.failed or not result.ops:
        stacks = (d.stack for d in result.diagnostics if isinstance(d, Crash))
        told = "\n".join((render_all(result.diagnostics, color=False), *stacks))
        raise LoadError(f"{path} cannot be generated\n{told}")
    return result.ops[0]


def _compiled(folder: Path, op: str, *, must: bool) -> Outcome | None:
    """Compile an operator; None, and a warning, where that cannot be and need not be."""
    try:
        (outcome,) = compile_ops(folder, [op])
        error = outcome.error
    except NoCompilerError as e:
        if is_current(folder, op):
            return None
        error = e
    if error is None:
        return outcome
    if must:
        raise error
    warnings.warn(f"{op} runs in plain torch: {str(error).splitlines()[0]}", stacklevel=3)
    return None


def _imported(folder: Path, op: str) -> tuple[Operator, ModuleType]:
    """Import an operator from the package in `folder`, and what its operators share.

    The folder around it stays where Python looks for packages: processes that are spawned inherit that, and find there
    what functions are pickled by, which is their names.
    """
    place = str(folder.parent)
    if place not in sys.path:
        sys.path.append(place)
    importlib.invalidate_caches()
    function: Operator = getattr(importlib.import_module(f"{folder.name}.{op}"), op)
    return function, importlib.import_module(f"{folder.name}._runtime")


def _hand_over(runtime: ModuleType, outcome: Outcome) -> None:
    import torch

    for library in outcome.libraries[: 1 + torch.cuda.is_available()]:
        runtime.load_library(library)
