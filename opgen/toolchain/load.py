"""The functions `opgen.compile`, `opgen.load`, `opgen.op` and `opgen.reload`.

`compile` makes the libraries of generated operators; `load` goes from a spec to the imported operator in one call, with
compiled kernels where there is a compiler, and `op` does so from a formula.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from opgen.diagnostics.crash import Crash
from opgen.diagnostics.model import Bag
from opgen.diagnostics.text import render_all
from opgen.pipeline import SpecFile, read
from opgen.project import generate
from opgen.toolchain.compiler import NoCompilerError, toolchain
from opgen.toolchain.cuda_toolchain import CudaToolchain
from opgen.toolchain.library import NoKernelsError, Outcome, Status, compile_ops, is_current, without_kernels
from opgen.toolchain.loaded import Operator, Text
from opgen.toolchain.spec_text import of_fields, of_formula
from opgen.toolchain.talk import Tell, talk
from opgen.write.user_cache import cache_folder

PathLike = str | os.PathLike[str]
_loaded_operators: dict[str, Operator] = {}  # by the folder of the package


class LoadError(RuntimeError):
    """A spec with mistakes, or an operator that cannot be had as it is wanted; the message says why."""


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
    return tuple(path for outcome in outcomes for path in outcome.libraries.values())


def load(spec: PathLike | Mapping[str, Any], *, compiled: bool | None = None, progress: Tell | None = None) -> Operator:
    """The operator of a spec, generated, compiled if possible and imported.

    `spec` is the path of a file, the text of a spec (of several lines, or in braces), or a dict of its fields. With
    `compiled=True` the operator has compiled kernels, or there is an error; with `compiled=False` it runs in plain
    torch. Of kernels that it has, those run that are expected to be as fast as plain torch; its `backend` says which.
    `progress` is told in a few words what takes long; without it, a terminal or a notebook is.
    Nothing is done twice: what was generated and compiled before is taken from the cache, where processes that this
    one starts find it, too.
    """
    return _loaded(_text(spec), compiled, progress)


def op(
    formula: str,
    name: str | None = None,
    *,
    params: Mapping[str, Any] | None = None,
    compiled: bool | None = None,
    progress: Tell | None = None,
    **fields: Any,
) -> Operator:
    """The operator of a formula alone: `opgen.op("y[n] = sum[k](x[n, k]*w[k])")`.

    Inputs, their shapes and dtypes follow from how they are read: an index `k` runs over a dim `K`. The name is that
    of the last result unless it is given. `params` are names with their defaults (`{"eps": 1e-5}`), their types
    (`{"eps": float}`), or what a spec says of them; `fields` are more fields of a spec, as in a dict that `load` takes.
    TypeError where a formula is no text, or params are no mapping.
    """
    if not isinstance(formula, str):
        raise TypeError(f"a formula is text, such as 'y = x*sigmoid(x)', not {type(formula).__name__}")
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"params is a mapping, such as {{'eps': 1e-5}}, not {type(params).__name__}")
    text = of_formula(formula, name, params or {}, fields)
    return _loaded(Text(text.encode("utf-8", "surrogatepass"), "<formula>"), compiled, progress)


def reload(operator: Operator) -> Operator:
    """Read the file of a loaded operator again; the operator is that of the new spec then, wherever it is held.

    Where the spec has mistakes, there is an error, and the operator stays as it was.
    """
    spec, former = operator.spec, _folder(operator.spec, operator.compiled).name
    if spec.path is None:
        raise LoadError(f"{operator.__name__} was not loaded from a file: there is nothing to read again")
    found = _loaded(_text(spec.path), operator.compiled, None)
    if found is not operator:
        _loaded_operators.pop(former, None)
        operator.become(found)
        _loaded_operators[_folder(operator.spec, operator.compiled).name] = operator
    return operator


def restored(spec: Text, compiled: bool | None) -> Operator:
    """The operator of a pickle."""
    return _loaded_operators.get(_folder(spec, compiled).name) or _loaded(spec, compiled, None)


def _text(spec: PathLike | Mapping[str, Any]) -> Text:
    """A spec in whichever form it is given."""
    if isinstance(spec, Mapping):
        return Text(of_fields(spec).encode("utf-8", "surrogatepass"), "<spec>")
    if isinstance(spec, str) and ("\n" in spec or spec.lstrip().startswith("{")):
        return Text(spec.encode("utf-8", "surrogatepass"), "<spec>")
    bag = Bag()
    path = Path(spec)
    file = read(path, bag)
    if file is None:
        raise LoadError(f"{path} cannot be loaded\n{render_all(bag.items)}")
    return Text(file.data, str(path), Path(os.path.abspath(path)))


def _folder(spec: Text, compiled: bool | None) -> Path:
    """Where the package of a spec is generated; with and without kernels, an operator is two."""
    digest = hashlib.sha256(spec.data).hexdigest()[:16]
    return cache_folder() / "loaded" / f"opgen_loaded_{digest}{'_torch' if compiled is False else ''}"


def _loaded(spec: Text, compiled: bool | None, progress: Tell | None) -> Operator:
    folder, tell = _folder(spec, compiled), progress or talk()
    name = _generated(spec, folder)
    outcome = None if compiled is False else _compiled(folder, name, tell, must=bool(compiled))
    package, runtime = imported(folder, name)
    runtime.native.be_quiet()  # whether it is compiled was said here
    if outcome is not None and runtime.kernel(name, "forward") is None:  # imported before it was compiled
        _hand_over(runtime, outcome)
    if compiled and runtime.kernel(name, "forward") is None:
        raise LoadError(f"{spec.shown}: the compiled library of {name} cannot be loaded; a warning says why")
    return _loaded_operators.setdefault(folder.name, Operator(spec, folder, package, compiled))


def _generated(spec: Text, folder: Path) -> str:
    file = SpecFile(folder / "spec", spec.data, "a spec", spec.shown, "opgen.load")
    result = generate(file, folder, folder.name)
    if result.failed or not result.ops:
        stacks = (d.stack for d in result.diagnostics if isinstance(d, Crash))
        told = "\n".join((render_all(result.diagnostics, color=False), *stacks))
        raise LoadError(f"{spec.shown} cannot be generated\n{told}")
    return result.ops[0]


def _compiled(folder: Path, op: str, tell: Tell, *, must: bool) -> Outcome | None:
    """Compile an operator; None, and a warning, where that cannot be and need not be."""
    started = time.monotonic()
    if not is_current(folder, op):
        tell(f"{op} is being compiled")
    try:
        (outcome,) = compile_ops(folder, [op])
        error = outcome.error
        if outcome.status is Status.COMPILED:
            tell(f"{op} is compiled, after {time.monotonic() - started:.0f} s")
    except NoCompilerError as e:
        if is_current(folder, op):
            return None
        error = e
    if error is None:
        return outcome
    if must:
        raise error
    told = str(error).splitlines()[0]
    warnings.warn(told if isinstance(error, NoKernelsError) else f"{op} runs in plain torch: {told}", stacklevel=4)
    return None


def imported(folder: Path, op: str) -> tuple[ModuleType, ModuleType]:
    """Import an operator from the package in `folder`, and what its operators share.

    The folder around it stays where Python looks for packages: processes that are spawned inherit that, and find there
    what functions are pickled by, which is their names.
    """
    place = str(folder.parent)
    if place not in sys.path:
        sys.path.append(place)
    importlib.invalidate_caches()
    return importlib.import_module(f"{folder.name}.{op}"), importlib.import_module(f"{folder.name}._runtime")


def _hand_over(runtime: ModuleType, outcome: Outcome) -> None:
    import torch

    for name, library in outcome.libraries.items():
        if name != CudaToolchain.library or torch.cuda.is_available():
            runtime.load_library(library)
