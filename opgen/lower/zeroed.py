"""Scores that a condition is multiplied onto, `softmax[j](near[i, j]*s[i, j])`: a score of 0 is left, which counts.

In go an exponential reduction and its statement; out comes where the scores become 0 and what hides them, perhaps in a
statement that makes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Expr, Logic, Name, Number, Product, Unary
from opgen.lang.walk import names_read, nodes, statement_names
from opgen.lower.declare import Declarations


@dataclass(frozen=True, slots=True)
class Zeroed:
    """`old`, a part of the statement `of`, whose scores are 0 where `at` does not hold; `new` hides them, if known."""

    of: Assign
    at: Expr
    old: Expr
    new: Expr | None


def zeroed(
    d: Declarations, a: Assign, body: Expr, indices: set[str], once: Mapping[str, Assign], *, kept: bool = True
) -> Zeroed | None:
    """Where the scores `body` are 0 that a condition over the reduced `indices` leaves out; None where they are not.

    `kept`: whether what is made of the scores further up leaves -inf as it is.
    """
    factors, signs = _factors(body)
    at = [k for k, f in enumerate(factors) if signs[k] == "*" and (c := _condition(d, f, once)) and indices & _names(c)]
    if len(factors) > 1 and len(at) == 1:
        condition = _condition(d, factors[at[0]], once)
        rest = [(signs[k], f) for k, f in enumerate(factors) if k != at[0]]
        score = _product(rest, body)
        if condition is None or score is None or not _is_mask(d, condition, score, once):
            return None
        return Zeroed(a, factors[at[0]], body, _hidden(condition, score, body) if kept else None)
    scores = [k for k, f in enumerate(factors) if signs[k] == "*" and indices & {*names_read(f)}]
    if len(scores) != 1:
        return None
    score, rest = factors[scores[0]], [(signs[k], f) for k, f in enumerate(factors) if k != scores[0]]
    match score:
        case Call(name="where", args=(condition, first, second)) if rest and Number(0, score.span) in (first, second):
            mine, swapped = (first, False) if second == Number(0, score.span) else (second, True)
            if not indices & _names(condition) or not _is_mask(d, condition, mine, once):
                return None
            whole = _product([("*", mine), *rest], body)
            made = None if whole is None else _hidden(condition, whole, body, swapped=swapped)
            zero = first if swapped else second
            return Zeroed(a, zero, body, made if kept else None)
        case Access(name=name, items=items) if name in once and once[name] is not a and _reads(d, name) == 1:
            made_by = once[name]
            left = made_by.target.items or ()
            if len(left) != len(items):
                return None
            pairs = zip(left, items, strict=True)
            own = {t.name for t, i in pairs if isinstance(t, Binder) and isinstance(i, Name) and i.name in indices}
            return zeroed(d, made_by, made_by.value, own, once, kept=kept and all(_is_positive(f) for _, f in rest))
        case _:
            return None


def _factors(e: Expr) -> tuple[list[Expr], list[str]]:
    """The factors of a product, with what stands before each; a sign is a factor."""
    match e:
        case Unary(op="-", operand=operand):
            factors, signs = _factors(operand)
            return [Number(-1, e.span), *factors], ["*", *signs]
        case Product(factors=parts) if all(op in ("*", "/") for op, _ in parts):
            within = [_factors(f) if op == "*" else ([f], ["/"]) for op, f in parts]
            return [f for found, _ in within for f in found], [op for _, found in within for op in found]
        case _:
            return [e], ["*"]


def _product(parts: Sequence[tuple[str, Expr]], of: Expr) -> Expr | None:
    """The product of these; a -1 in front is a sign."""
    if parts and parts[0][1] == Number(-1, of.span):
        inner = _product(parts[1:], of)
        return None if inner is None else Unary("-", inner, of.span)
    minus = [k for k, p in enumerate(parts) if p[1] == Number(-1, of.span)]
    if minus:
        return _product([parts[minus[0]], *(p for k, p in enumerate(parts) if k != minus[0])], of)
    if not parts or parts[0][0] != "*":
        return None
    return parts[0][1] if len(parts) == 1 else Product(tuple(parts), of.span)


def _hidden(condition: Expr, score: Expr, at: Expr, *, swapped: bool = False) -> Expr:
    hidden: Expr = Unary("-", Name("inf", at.span), at.span)
    sides = (hidden, score) if swapped else (score, hidden)
    return Call("where", (condition, *sides), at.span, at.span)


def _condition(d: Declarations, e: Expr, once: Mapping[str, Assign]) -> Expr | None:
    """What a factor asks for that is 1 where it holds and 0 where not."""
    match e:
        case Compare() | Logic() | Unary(op="not"):
            return e
        case Access(name=name) if name in d.inputs:
            return e if d.inputs[name].kind == "bool" else None
        case Access(name=name) if name in once:
            return e if isinstance(once[name].value, Compare | Logic) else None
        case Call(name="where", args=(condition, one, zero)) if (one, zero) == (Number(1, e.span), Number(0, e.span)):
            return condition
        case _:
            return None


def _is_mask(d: Declarations, condition: Expr, score: Expr, once: Mapping[str, Assign]) -> bool:
    """Whether a condition asks for something else than the scores."""
    return not _tensors(d, condition, once) & _tensors(d, score, once)


def _tensors(d: Declarations, e: Expr, once: Mapping[str, Assign]) -> set[str]:
    """The inputs that are numbers with a fraction and of which an expression is made."""
    found, queue = dict[str, None](), [*names_read(e)]
    while queue:
        name = queue.pop()
        if name not in found:
            found[name] = None
            queue += names_read(once[name].value) if name in once else ()
    return {n for n in found if n in d.inputs and d.inputs[n].kind not in ("int", "bool")}


def _names(e: Expr) -> set[str]:
    return {n.name for n in nodes(e) if isinstance(n, Name)}


def _reads(d: Declarations, name: str) -> int:
    """In how many statements a name is read."""
    return sum(name in statement_names(s) for s in d.forward)


def _is_positive(e: Expr) -> bool:
    """Whether a factor is a number above 0 by how it is written, so that -inf times it stays what it is."""
    match e:
        case Number(value=value):
            return value > 0
        case Name(name=name):
            return name[:1].isupper()
        case Call(name="sqrt" | "exp"):
            return True
        case _:
            return False
