"""Whatever a pass is given or gives, as text: programs, plans and kernels in their own notation, the rest by fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, get_args

from opgen.ir import text
from opgen.ir.operator import Operator
from opgen.ir.program import Axis, Loop, Program, Statement
from opgen.ir.scalar import Batch, Scalar
from opgen.kernel import text as kernel_text
from opgen.kernel.model import Kernel
from opgen.opt.stabilize import Rewrite, describe
from opgen.plan import text as plan_text
from opgen.plan.group import Group, Member
from opgen.plan.model import KernelPlan, Step


def shown(x: object) -> str:
    """The text of a value, without an end of its last line."""
    return (_own(x) or _flat(x) or "\n".join(_lines(x))).rstrip("\n")


def _own(x: object) -> str | None:
    """The text of what has a notation of its own."""
    match x:
        case Program():
            return text.program(x)
        case KernelPlan():
            return plan_text.plan(x)
        case Kernel():
            return kernel_text.kernel(x)
        case Rewrite():
            return describe(x)
        case Operator():
            return "\n".join(text.program(v.program) for v in x.variants)
        case Batch() | Axis():
            return _loop(x)
        case _ if isinstance(x, get_args(Statement)):
            return text.statement(x)
        case _ if isinstance(x, get_args(Step)):
            return plan_text.step(x)
        case _ if isinstance(x, get_args(Scalar)):
            return text.position(x).replace("[]", "")
        case _:
            return None


def _loop(a: Loop) -> str:
    return "..." if isinstance(a, Batch) else f"{a.name} < {text.scalar(a.extent)}"


def _lines(x: object) -> list[str]:
    if isinstance(x, Group):
        return [f"group over [{', '.join(map(_loop, x.outer))}]", *(f"  {_member(m)}" for m in x.members)]
    if isinstance(x, Mapping):
        return [line for k, v in x.items() for line in _entry(shown(k), v)]
    if isinstance(x, tuple | list):
        return [line for part in x if not _is_nothing(part) for line in shown(part).split("\n")]
    if is_dataclass(x):
        return [type(x).__name__, *(f"  {line}" for line in _fields(x))]
    return [str(x)]


def _fields(x: Any) -> Iterator[str]:
    """The fields that say something; a program that stands there under two names is shown once."""
    seen: dict[Program, str] = {}
    for f in fields(x):
        value = getattr(x, f.name)
        if f.repr and f.name != "span" and not _is_nothing(value):
            if isinstance(value, Program) and value in seen:
                yield f"{f.name}: the same as {seen[value]}"
            else:
                yield from _entry(f.name, value)
            if isinstance(value, Program):
                seen.setdefault(value, f.name)


def _member(m: Member) -> str:
    renamed = ", ".join(f"{own} is {other}" for own, other in m.bindings.items() if own != other)
    return f"{text.statement(m.statement)}{f' where {renamed}' if renamed else ''}"


def _is_nothing(x: object) -> bool:
    return x is None or x is False or (isinstance(x, tuple | list | Mapping | Set | str) and not x)


def _entry(name: str, value: object) -> list[str]:
    flat = _flat(value)
    return [f"{name}:", *(f"  {line}" for line in shown(value).split("\n"))] if flat is None else [f"{name}: {flat}"]


def _flat(x: object) -> str | None:
    """What has its place on a line with others."""
    if isinstance(x, (Batch, Axis, *get_args(Scalar))):
        return _own(x)
    if isinstance(x, Enum | str | int):
        return str(x)
    if isinstance(x, float):
        return f"{x:.4g}"
    if isinstance(x, tuple | list | Set):
        parts = [f"({_flat(v)})" if isinstance(v, tuple) and _flat(v) is not None else _flat(v) for v in x]
        found = [part for part in parts if part is not None]
        if len(found) == len(parts):
            return ", ".join(sorted(found) if isinstance(x, Set) else found)
    return None
