"""Dtypes of fewer than 8 bits: torch computes with none, so that their values are packed, and unpacked in formulas.

In goes the name of such a dtype, as it is written in a spec; out comes what to declare and to write in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NARROW = re.compile(r"(?:\w+\.)?(?P<kind>u?int|[iu]|float|fp|f|nf)_?(?P<bits>[1-7])(?:_?e\dm\d\w*)?", re.IGNORECASE)
_BYTE = 8


@dataclass(frozen=True, slots=True)
class Narrow:
    """What is wrong with it, the dtype of one value in a byte, and what to do."""

    message: str
    whole: str
    hints: tuple[str, ...]


def narrow(text: str) -> Narrow | None:
    """What is meant by a dtype of fewer than 8 bits; None for any other."""
    found = _NARROW.fullmatch(text)
    if found is None:
        return None
    bits, kind = int(found["bits"]), found["kind"].lower()
    whole = "int8" if kind in ("int", "i") else "uint8"
    message = f"torch computes with no {bits}-bit dtype: there is no `{text}`"
    per_byte, count = _BYTE // bits, 2**bits
    alone = f"with one value in each byte, write `{whole}`"
    if kind not in ("int", "i", "uint", "u"):
        alone = "what they stand for is a `float`, `half` or `bfloat16`"
    if _BYTE % bits:
        return Narrow(message, whole, (alone,))
    field = f"w[n, k//{per_byte}] // {count}**(k % {per_byte})"
    if whole == "int8":
        said = f"is `({field} + {count // 2}) % {count} - {count // 2}`"
        said += f", or `{field} % {count} - {count // 2}` where {count // 2} is stored for 0"
    elif kind in ("uint", "u"):
        said = f"is `{field} % {count}`"
    else:
        said = f"is `table[{field} % {count}]`, of an input with what they stand for"
    packed = f"packed values, {per_byte} in a byte, are stored as `uint8` and unpacked in the formula"
    example = f"of `w: {{shape: [N, P], dtype: uint8}}` element `k < {per_byte}*P` {said}"
    return Narrow(message, whole, (f"{packed}: {example}", f"or, {alone}"))
