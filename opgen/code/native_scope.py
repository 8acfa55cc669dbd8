"""What the kernels of all native back ends share: the types of values, and where a call has its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.code.printer import NATIVE, Leaf, Printer, Text
from opgen.ir.program import Kind
from opgen.ir.scalar import Batch, Dim, Param, Scalar
from opgen.plan.model import Buffer, KernelPlan

_VALUE = {Kind.FLOAT: "opmath_t", Kind.INT: "int64_t", Kind.BOOL: "bool"}
_ATOM = NATIVE.atom


def value_type(kind: Kind) -> str:
    """The C++ type a value of a kind is computed in."""
    return _VALUE[kind]


def layout(buffer: Buffer) -> tuple[int, int]:
    """Rank (the batch counted as one) and the position of the batch, -1 for none."""
    at = next((i for i, s in enumerate(buffer.shape) if isinstance(s, Batch)), -1)
    return len(buffer.shape), at


def host_number(plan: KernelPlan, leaf: Dim | Param) -> Text:
    """A dim or parameter as the host finds it in the call."""
    if isinstance(leaf, Dim):
        if leaf.name == "...":
            return Text("rt::batch_count(call)", _ATOM, Kind.INT)
        position = [d.name for d in plan.dims].index(leaf.name)
        return Text(f"call.dims[{position}]", _ATOM, Kind.INT)
    reals = ints = 0
    for p in plan.params:
        if p.type == "str":
            continue
        real = p.type == "float"
        if p.name == leaf.name:
            number = (reals if real else ints) + (leaf.item or 0)
            kind = Kind.FLOAT if real else Kind.BOOL if p.type == "bool" else Kind.INT
            text = f"call.reals[{number}]" if real else f"call.ints[{number}]"
            return Text(f"{text} != 0" if kind is Kind.BOOL else text, _ATOM, kind)
        reals, ints = reals + (p.length or 1) * real, ints + (p.length or 1) * (not real)
    raise AssertionError(f"{plan.name}: no parameter {leaf.name!r}")


def host_scalar(plan: KernelPlan, e: Scalar) -> str:
    """An integer of dims and int params, in host code."""

    def leaf(x: Leaf) -> Text:
        assert isinstance(x, Dim | Param)
        return host_number(plan, x)

    return Printer(NATIVE, leaf)(e)


def mentions(name: str, lines: Sequence[str]) -> bool:
    """Whether a name stands in printed code."""
    return any(re.search(rf"\b{name}\b", line) for line in lines)


def needed(lines: Sequence[str]) -> list[str]:
    """The lines without those constants, and values chosen by a condition, that no later line mentions."""
    kept: list[str] = []
    for lump in reversed(_lumps(lines)):
        name = re.match(r"const \w+ (\w+) = " if len(lump) == 1 else r"\w+ (\w+);", lump[0])
        if name is None or mentions(name[1], kept):
            kept = [*lump, *kept]
    return kept


def _lumps(lines: Sequence[str]) -> list[list[str]]:
    """Single lines, and declarations together with the `if` that follows and assigns what they declare."""
    out: list[list[str]] = []
    i = 0
    while i < len(lines):
        end = i + 1
        if re.fullmatch(r"\w+ \w+;", lines[i]) and lines[end : end + 1] and lines[end].startswith("if ("):
            end = next(k for k in range(end, len(lines)) if lines[k] == "}") + 1
        out.append(list(lines[i:end]))
        i = end
    return out
