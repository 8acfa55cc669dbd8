"""The guard of a case that is written as in Python: what `elif c` and `else` mean behind the cases above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.diagnostics.model import Span
from opgen.lang.nodes import Compare, Expr, Logic, Name, Text, Unary

WORDS = ("elif", "else", "otherwise")
GUARD = "each case is a statement with a guard of its own, and they exclude one another"


def following(
    above: Sequence[Expr | None], own: Expr | None, choices: Mapping[str, Sequence[str]], at: Span
) -> Expr | None:
    """The guard of the case behind those with the guards `above`; None where it is not known for certain.

    `own` is what `elif` asks, and None for the last case.
    """
    before = [guard for guard in above if guard is not None]
    if not before or len(before) < len(above):
        return own if not above else None
    asked = [_asked(guard) for guard in before]
    said = [word for found in asked if found is not None for word in (found[1],)]
    names = {found[0] if found is not None else None for found in asked}
    if len(names) == 1 and (name := names.pop()) is not None:
        mine = None if own is None else _asked(own)
        if mine is not None and mine[0] == name and mine[1] not in said:
            return own
        left = [word for word in choices.get(name, ()) if word not in said]
        if own is None and choices.get(name) and len(left) == 1:
            return Compare((Name(name, at), Text(left[0], at)), ("==",), at)
    parts = (*(_denied(guard, at) for guard in before), *(() if own is None else (own,)))
    return parts[0] if len(parts) == 1 else Logic("and", parts, at)


def _asked(guard: Expr) -> tuple[str, str] | None:
    """The param and the word of `mode == "soft"`."""
    match guard:
        case Compare(operands=(Name(name=name), Text(value=word)), ops=("==",)):
            return name, word
        case _:
            return None


def _denied(guard: Expr, at: Span) -> Expr:
    match guard:
        case Unary(op="not", operand=operand):
            return operand
        case Compare(operands=operands, ops=("==",)):
            return Compare(operands, ("!=",), at)
        case _:
            return Unary("not", guard, at)
