"""Printed torch functions as callables, for tests."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from opgen.code.names import DRAWS
from opgen.code.templates import fill
from opgen.torch.functions import TorchFunction

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
    for name in ("private", "graphs"):
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


def function(f: TorchFunction) -> Callable[..., Any]:
    """The function itself."""
    return _defined(f.name, source(f))


@lru_cache(maxsize=1000)
def _defined(name: str, text: str) -> Callable[..., Any]:
    scope = dict(runtime())
    exec(compile(text, f"<{name}>", "exec"), scope)
    made: Callable[..., Any] = scope[name]
    return made
