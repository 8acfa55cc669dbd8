"""What the kernels of all native back ends share: the types of values, and where a call has its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from opgen.code.names import member
from opgen.code.printer import NATIVE, Printer, Text
from opgen.ir.program import Kind
from opgen.ir.scalar import Batch, Dim, Param, Read, Scalar
from opgen.plan.model import Buffer, Storage

_VALUE = {Kind.FLOAT: "opmath_t", Kind.INT: "int64_t", Kind.BOOL: "bool"}


@dataclass(frozen=True, slots=True)
class Spot:
    """Where in memory a read is; the read itself, as a position, is the number that stands there."""

    read: Read


def value_type(kind: Kind) -> str:
    """The C++ type a value of a kind is computed in."""
    return _VALUE[kind]


def stored_type(buffer: Buffer) -> str:
    """The C++ type of an element in memory, where the floats of a call may be stored in fewer bits."""
    scalar = buffer.kind is Kind.FLOAT and buffer.storage is Storage.SCALAR
    return "scalar_t" if scalar else value_type(buffer.kind)


def lanes_type(kind: Kind) -> str:
    """The C++ type of an element where a processor holds a value of a kind for each lane."""
    return "rt::Flag<opmath_t>" if kind is Kind.BOOL else value_type(kind)


def layout(buffer: Buffer) -> tuple[int, int]:
    """Rank (the batch counted as one) and the position of the batch, -1 for none."""
    at = next((i for i, s in enumerate(buffer.shape) if isinstance(s, Batch)), -1)
    return len(buffer.shape), at


def wish(e: Scalar, axis: str = "") -> str:
    """What a number of a call may be called: what the plan calls it, or the size of the axis that is so long."""
    match e:
        case Dim("..."):
            return "elements"
        case Dim(name):
            return member(name)
        case Param(name, item):
            return name if item is None else f"{name}_{item}"
        case _:
            return f"{axis}_size"


def outside(printer: Printer, fill: Scalar | None, kind: Kind) -> Text:
    """What a read of a kind is where it is out of range: its fill, else zero."""
    if fill is None and kind is not Kind.FLOAT:
        return Text("int64_t{0}" if kind is Kind.INT else "false", NATIVE.atom, kind)
    text = Text("0", NATIVE.atom, Kind.INT) if fill is None else printer.text(fill)
    return NATIVE.as_float(text) if kind is Kind.FLOAT and text.kind is not Kind.FLOAT else text


def mentions(name: str, lines: Sequence[str]) -> bool:
    """Whether a name stands in printed code."""
    return any(re.search(rf"\b{name}\b", line) for line in lines)
