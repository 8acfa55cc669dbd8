"""Dtypes that values are stored in, other than that of the call: what each holds, and what it is called elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

from opgen.ir.program import Kind


@dataclass(frozen=True, slots=True)
class Stored:
    """One dtype. Integers and 8-bit floats are quantised: rounded to the nearest even, saturated, never trained."""

    name: str
    kind: Kind
    torch: str  # the attribute of torch
    letter: str  # among the kinds of operands
    least: int = 0  # of integers
    most: int = 0

    @property
    def quantised(self) -> bool:
        return self.kind is Kind.INT or self.name.startswith("float8")

    @property
    def rounding(self) -> str:
        """The function that rounds a float to it."""
        return f"to_{self.name}"


def _whole(name: str, letter: str, bits: int, *, signed: bool = True) -> Stored:
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return Stored(name, Kind.INT, name, letter, least, most)


STORED: dict[str, Stored] = {
    t.name: t
    for t in (
        _whole("int8", "1", 8),
        _whole("uint8", "u", 8, signed=False),
        _whole("int16", "2", 16),
        _whole("int32", "4", 32),
        _whole("int64", "8", 64),
        Stored("float8_e4m3fn", Kind.FLOAT, "float8_e4m3fn", "e"),
        Stored("float8_e5m2", Kind.FLOAT, "float8_e5m2", "m"),
        Stored("half", Kind.FLOAT, "float16", "h"),
        Stored("bfloat16", Kind.FLOAT, "bfloat16", "g"),
        Stored("float32", Kind.FLOAT, "float32", "s"),
        Stored("float64", Kind.FLOAT, "float64", "d"),
    )
}


# Of floats: binary digits behind the point, the exponent of the least normal number, the largest number.
_FORMATS = {
    "float8_e4m3fn": (3, -6, 448.0),
    "float8_e5m2": (2, -14, 57344.0),
}


def nearest(value: float, name: str) -> float:
    """A number rounded to the nearest of an 8-bit float, ties to even; the largest where it is beyond all."""
    digits, least, most = _FORMATS[name]
    if math.isnan(value) or value == 0:
        return value
    if abs(value) >= most:
        return math.copysign(most, value)
    unit = 2.0 ** (max(math.frexp(value)[1] - 1, least) - digits)
    return math.copysign(min(round(abs(value) / unit) * unit, most), value)
