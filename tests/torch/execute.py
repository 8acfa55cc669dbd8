"""Printed torch functions as callables, for tests."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from opgen.code.names import DRAWS
from opgen.code.templates import fill
from opgen.ir.operator import Operator
from opgen.torch.elsewhere import Slopes, as_operator, slopes, torch_function_name
from opgen.torch.functions import TorchFunction, torch_function

_RUNTIME = Path(__file__).parents[2] / "templates" / "runtime_math.py.j2"
_PACKAGE = "runtime_of_printed_functions"


def source(f: TorchFunction) -> str:
    """The function as the text of a `def`."""
    body = [f"    {line}" for line in (*f.lines, f"return {', '.join(f.returns)}")]
    return "\n".join((f"def {f.name}({', '.join(f.arguments)}):", *body)) + "\n"


@cache
def runtime() -> dict[str, Any]:
    """What printed functions call: a module of a package, which imports others of it."""
    package = sys.modules.setdefault(_PACKAGE, ModuleType(_PACKAGE))
    package.__path__ = []
    for name in ("private", "graphs", "reduced"):
        module = sys.modules.setdefault(f"{_PACKAGE}.{name}", ModuleType(f"{_PACKAGE}.{name}"))
        module.__package__ = _PACKAGE
        exec(fill(f"runtime/{name}.py.j2", header=""), vars(module))
    drawn: dict[str, Any] = {}
    exec(fill("runtime/draws.py.j2", header=""), drawn)
    scope: dict[str, Any] = {n: drawn[n] for n in DRAWS} | {
        "torch": torch,
        "math": math,
        "numbers": numbers(),
        "__package__": _PACKAGE,
    }
    exec(compile(_RUNTIME.read_text(encoding="utf-8"), str(_RUNTIME), "exec"), scope)
    return scope


def numbers() -> ModuleType:
    """What they call on Python numbers."""
    made = ModuleType("numbers")
    exec(fill("runtime/numbers.py.j2", header=""), vars(made))
    return made


def function(f: TorchFunction, operator: Operator | None = None) -> Callable[..., Any]:
    """The function itself; `operator`: whose local functions it may call."""
    if operator is None:
        return _defined(f.name, source(f))
    formulas = (s for s in slopes(operator) if s.value is not None)
    scope = runtime() | {torch_function_name(s.function.name): _values(s) for s in formulas}
    for called in scope.values():
        if isinstance(called, _Values):
            called.scope = scope
    exec(compile(source(f), f"<{f.name}>", "exec"), scope)
    made: Callable[..., Any] = scope[f.name]
    return made


@dataclass
class _Values:
    """A local function as it is called: on tensors that broadcast, or numbers."""

    text: str
    count: int
    scope: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *args: Any) -> Any:
        own = dict(self.scope)
        exec(compile(self.text, "<value>", "exec"), own)
        tensors = [a for a in args[: self.count] if isinstance(a, torch.Tensor)]
        like = tensors[0] if tensors else torch.zeros((), dtype=torch.float64)
        given = [a if isinstance(a, torch.Tensor) else like.new_full((), a) for a in args[: self.count]]
        found = own["value"](*torch.broadcast_tensors(*given), *args[self.count :])
        return found if tensors else found.item()


def _values(s: Slopes) -> _Values:
    program = s.value
    assert program is not None, f"{s.function.name} has no formula"
    operator, variant = as_operator(program)
    return _Values(source(torch_function("value", [(variant, program)], operator)), len(s.function.params))


@lru_cache(maxsize=1000)
def _defined(name: str, text: str) -> Callable[..., Any]:
    scope = dict(runtime())
    exec(compile(text, f"<{name}>", "exec"), scope)
    made: Callable[..., Any] = scope[name]
    return made
