"""The value of a number that stands in a formula."""

from __future__ import annotations

from fractions import Fraction

from opgen.diagnostics.model import Bag
from opgen.lang.lexer import Token

_MAX_DIGITS = 400


def number_value(token: Token, bag: Bag) -> int | Fraction:
    """The exact value of a literal: an int where it is written as one, a fraction otherwise."""
    text = token.text.lower()
    mantissa, _, exponent = text.partition("e")
    if len(mantissa) > _MAX_DIGITS or len(exponent) > 5 or (exponent and abs(int(exponent)) > _MAX_DIGITS):
        bag.error("OPG245", "this number is out of range", token.span, hints=("write `inf` if infinity is meant",))
        return 1
    if "." in mantissa or exponent:
        value = Fraction(text if mantissa != "." else "0")
        if value > Fraction(2) ** 1024:
            bag.error("OPG245", "this number is out of range", token.span, hints=("write `inf` if infinity is meant",))
        return value
    value_int = int(mantissa)
    if value_int >= 2**63:
        bag.error(
            "OPG245",
            "this integer does not fit in 64 bits",
            token.span,
            hints=("write it as a decimal (`1e30`) if a real number is meant",),
        )
        return 1
    return value_int
