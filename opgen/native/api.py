"""The functions `opgen.compile` and `opgen.load`.

`compile` makes the libraries of generated operators; `load` goes from a spec to the imported operator in one call, with
compiled kernels where there is a compiler.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

from opgen.native.library import CompileError, cache_folder, compile_ops, is_current, without_kernels
from opgen.native.toolchain import NoCompilerError, toolchain

PathLike = str | os.PathLike[str]


class LoadError(RuntimeError):
    """A spec with mistakes; the message shows them."""


def compile(
    ops: str | Sequence[str] = (),
    out: PathLike = "generated",
    *,
    jobs: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Compile the libraries of generated operators (default: all that have kernels); their paths, in order."""
    folder = Path(out)
    wanted = [ops] if isinstance(ops, str) else list(ops)
    found = sorted(p.parent.name for p in folder.glob("*/manifest.json"))
    names = wanted or [op for op in found if without_kernels(folder, op) is None]
    toolchain()
    return compile_ops(folder, names, jobs, progress)


def load(spec: PathLike, *, compiled: bool | None = None) -> object:
    """The operator of a spec, generated, compiled if possible (`compiled=True`: or an error) and imported.

    Nothing is done twice: what was generated and compiled before is taken from the cache.
    """
    path = Path(spec)
    key = hashlib.sha256(str(path.absolute()).encode() + b"\0" + path.read_bytes()).hexdigest()[:16]
    name = f"opgen_loaded_{key}"
    folder = cache_folder(path.absolute().parent) / "loaded" / name
    op = _generated(path, folder)
    if compiled is not False and f"{name}.{op}" not in sys.modules:
        _compiled(folder, op, must=bool(compiled))
    package = _imported(name, folder, op)
    return getattr(package, op)


def _generated(path: Path, folder: Path) -> str:
    from opgen.diagnostics.text import render_all
    from opgen.project import build

    result = build(path, folder)
    if result.failed or not result.ops:
        raise LoadError(f"{path} has mistakes\n{render_all(result.diagnostics, color=False)}")
    return result.ops[0]


def _compiled(folder: Path, op: str, *, must: bool) -> None:
    try:
        compile_ops(folder, [op])
    except (NoCompilerError, CompileError) as e:
        if isinstance(e, NoCompilerError) and is_current(folder, op):
            return
        if must:
            raise
        warnings.warn(f"{op} runs in plain torch: {str(e).splitlines()[0]}", stacklevel=3)


def _imported(name: str, folder: Path, op: str) -> ModuleType:
    """Import `folder` as the package `name`, and the operator's package in it."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return importlib.import_module(f"{name}.{op}")
