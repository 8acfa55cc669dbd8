"""Sums and softmaxes of which something else is meant, as far as their indices tell: warnings.

A mask of 0 before a softmax hides nothing, since `exp(0)` is 1; the weights of a softmax add up to 1 in front of what
lacks their index; a bias inside a sum is added once per element; a small number behind a quotient keeps no divisor from
0; nothing equals nan; and an index bound anew is another one. In: the statements as they are written. What a name holds
is looked up where it is assigned once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.unparse import respelled, unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.along import size_of
from opgen.lower.assigned import assigned_once
from opgen.lower.bound_anew import apart, diagonal_of, either
from opgen.lower.declare import Declarations
from opgen.lower.zeroed import zeroed

_EXPONENTIAL = ("softmax", "log_softmax", "logsumexp")
_SMALL = Fraction(1, 1000)


def not_numbers(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each comparison with nan."""
    return (w for a in d.forward for w in _not_a_number(d, a))


def doubts(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each of them."""
    once = assigned_once(d)
    told: set[int] = set()
    for a in d.forward:
        found = [_quotient(d, a), *_not_a_number(d, a)]
        for r in (n for n in nodes(a.value) if isinstance(n, Reduction)):
            if r.name in _EXPONENTIAL:
                found += (
                    _mask(d, a, r, once) or _zeroed(d, a, r, once),
                    _emptied(d, a, r, once),
                    _of_shares(a, r, once),
                )
            else:
                found.append(_likelihood(d, a, r, once) or _weights(a, r, once) or _bias(a, r))
            found.append(_diagonal(d, a, r))
        for w in found:
            if w is not None and w.span is not None and w.span.start not in told:
                told.add(w.span.start)
                yield w


def _names(r: Reduction) -> set[str]:
    return {b.name for b in r.binders if isinstance(b, Binder)}


def _written(a: Assign, old: Expr, new: Expr) -> str:
    """The statement with one part replaced."""
    return unparse_assign(replace(a, value=transform(a.value, lambda n: new if n is old else None)))


def doubt(code: str, message: str, e: Expr, label: str, *hints: str) -> Diagnostic:
    """A warning at an expression."""
    return Diagnostic(code, message, e.span, label, hints=hints, severity=Severity.WARNING)


# --- a mask of 0 -----------------------------------------------------------------------------------------------------


def _mask(d: Declarations, a: Assign, r: Reduction, once: Mapping[str, Assign]) -> Diagnostic | None:
    """`softmax[j](where(j <= i, s[i, j], 0))`, perhaps by a name."""
    found = _chosen(a, r, once)
    if found is None:
        return None
    a, body, indices = found
    condition, *sides = body.args
    zeros = [s for s in sides if s == Number(0, s.span)]
    asked = {n.name for n in nodes(condition) if isinstance(n, Name)}
    if len(zeros) != 1 or not indices & asked or not _is_mask(d, condition, once):
        return None
    zero = zeros[0]
    hidden = Unary("-", Name("inf", zero.span), zero.span)
    meant = replace(body, args=tuple(hidden if s is zero else s for s in body.args))
    message = f"a score of 0 counts in a {r.name}: `exp(0)` is 1"
    return doubt("OPG268", message, zero, "hides nothing", f"write `{_written(a, body, meant)}`")


def _zeroed(d: Declarations, a: Assign, r: Reduction, once: Mapping[str, Assign]) -> Diagnostic | None:
    """`softmax[j](near[i, j]*s[i, j])` of a condition `near`, perhaps by a name."""
    found = zeroed(d, a, r.body, _names(r), once)
    if found is None:
        return None
    line = (
        "`where(…, …, -inf)` around the scores"
        if found.new is None
        else f"`{_written(found.of, found.old, found.new)}`"
    )
    message = f"a score of 0 counts in a {r.name}: `exp(0)` is 1"
    return doubt("OPG268", message, found.at, "hides nothing", f"write {line}")


def _chosen(a: Assign, r: Reduction, once: Mapping[str, Assign]) -> tuple[Assign, Call, set[str]] | None:
    """The `where` under a reduction, perhaps by a name, with its statement and the indices that are reduced there."""
    body, indices = r.body, _names(r)
    if isinstance(body, Access) and body.name in once:
        a = once[body.name]
        items = a.target.items or ()
        if len(items) != len(body.items):
            return None
        pairs = zip(items, body.items, strict=True)
        indices = {t.name for t, i in pairs if isinstance(t, Binder) and isinstance(i, Name) and i.name in indices}
        body = a.value
    return (a, body, indices) if isinstance(body, Call) and body.name == "where" and len(body.args) == 3 else None


def _emptied(d: Declarations, a: Assign, r: Reduction, once: Mapping[str, Assign]) -> Diagnostic | None:
    """`softmax[j](where(j < i, s[i, j], -inf))`, of which nothing is left where `i` is 0."""
    found = _chosen(a, r, once)
    if found is None or r.name == "logsumexp" or _is_decided(d, a, r):
        return None
    own, body, indices = found
    asked, hidden = body.args[0], body.args[2]
    if not (isinstance(hidden, Unary) and hidden.operand == Name("inf", hidden.span)):
        return None
    left = {i.name for i in own.target.items or () if isinstance(i, Binder)}
    for c in asked.operands if isinstance(asked, Logic) and asked.op == "and" else (asked,):
        match c:
            case Compare(operands=(Name(name=low), Name(name=high)), ops=("<",)):
                pass
            case Compare(operands=(Name(name=high), Name(name=low)), ops=(">",)):
                pass
            case _:
                continue
        if low in indices and high in left - indices:
            line = _written(own, c, replace(c, ops=(f"{c.ops[0]}=",)))
            message = f"nothing meets `{unparse(c)}` where `{high}` is 0, and the {r.name} of nothing is nan"
            there = f"or say what holds there: `where({high} > 0, {r.name}[{low}](…), 0)`"
            return doubt("OPG280", message, c, "leaves out its own element", f"write `{line}`", there)
    return None


def _of_shares(a: Assign, r: Reduction, once: Mapping[str, Assign]) -> Diagnostic | None:
    """`log_softmax[c](p[n, c])`, where `p` is a softmax over `c`."""
    inner = r.body
    if isinstance(inner, Access) and inner.name in once:
        made = once[inner.name]
        target = [i.name if isinstance(i, Binder) else "..." for i in made.target.items or ()]
        read = [i.name if isinstance(i, Name) else "..." if isinstance(i, Dots) else "" for i in inner.items]
        inner = made.value if target == read else inner
    if not isinstance(inner, Reduction) or r.name == "logsumexp" or inner.name not in ("softmax", "log_softmax"):
        return None
    if _names(inner) != _names(r):
        return None
    hint = f"write `{_written(a, r, replace(r, body=inner.body))}`"
    return doubt("OPG282", f"a {r.name} of what is a {inner.name} already", r.body, f"a {inner.name}", hint)


def _is_decided(d: Declarations, a: Assign, r: Reduction) -> bool:
    """Whether a choice stands around a reduction, or around what reads the tensor that it makes."""
    choices = [c for s in d.forward for c in nodes(s.value) if isinstance(c, Call) and c.name == "where"]
    return any(n is r or (isinstance(n, Access) and n.name == a.target.name) for c in choices for n in nodes(c))


def _is_mask(d: Declarations, condition: Expr, once: Mapping[str, Assign]) -> bool:
    """Does a condition ask for places and labels alone, not for the scores themselves?"""

    def labels(name: str) -> bool:
        if name in d.inputs:
            return d.inputs[name].kind in ("int", "bool")
        return name not in once or isinstance(once[name].value, Compare | Logic)

    return all(map(labels, names_read(condition)))


# --- weights without an index ----------------------------------------------------------------------------------------


def _weights(a: Assign, r: Reduction, once: Mapping[str, Assign]) -> Diagnostic | None:
    """`sum[j](softmax[j](s[i, j])*v[i, d])`, in which nothing but the weights has the index."""
    if r.name != "sum" or not all(isinstance(b, Binder) for b in r.binders):
        return None
    if _adds_up(r.body, r, once):
        message = f"the weights of a softmax add up to 1: `{respelled(r)}` is 1 wherever it is a number"
        hint = f"for the greatest of them write `max{respelled(r).removeprefix('sum')}`"
        return doubt("OPG269", message, r, "whatever they are", hint)
    if len(r.binders) != 1 or not isinstance(r.binders[0], Binder):
        return None
    index = r.binders[0].name
    if not isinstance(r.body, Product) or any(op != "*" for op, _ in r.body.factors):
        return None
    factors = [f for _, f in r.body.factors]
    of_index = [f for f in factors if index in names_read(f)]
    others = [f for f in factors if f is not of_index[0]] if len(of_index) == 1 else []
    if not others or not _adds_up(of_index[0], r, once):
        return None
    rest = Product(tuple(("*", f) for f in others), r.span) if len(others) > 1 else others[0]
    message = f"the weights of a softmax add up to 1: the sum is `{unparse(rest)}`, whatever they are"
    moved = _moved(r, of_index[0], others, index)
    if moved is None:
        hint = f"a factor beside the weights has to have the index `{index}`"
    else:
        hint = f"write `{_written(a, r, moved)}`"
    return doubt("OPG269", message, r, f"nothing else has `{index}`", hint)


def _likelihood(d: Declarations, a: Assign, r: Reduction, once: Mapping[str, Assign]) -> Diagnostic | None:
    """`log(sum[k](p[n, k]))` of a softmax, in which the weight of a given class is meant."""
    logs = (n for n in nodes(a.value) if isinstance(n, Call) and n.name == "log" and n.args == (r,))
    log = next((n for n in logs if n.args[0] is r), None)
    if log is None or r.name != "sum" or not _adds_up(r.body, r, once):
        return None
    message = f"the weights of a softmax add up to 1: `{respelled(log)}` is 0 but for rounding, and so is its gradient"
    return doubt("OPG269", message, r, "1 whatever they are", *_picked(d, a, r))


def _picked(d: Declarations, a: Assign, r: Reduction) -> Iterator[str]:
    """How one of the weights is read, at an input that says which."""
    index, of = next(iter(_names(r))), r.body
    rest = [i for i in of.items if i != Name(index, r.span)] if isinstance(of, Access) else []
    sizes = ["..." if isinstance(i, Dots) else size_of(d, a, i.name) if isinstance(i, Name) else "" for i in rest]
    if not isinstance(of, Access) or len(r.binders) != 1 or len(rest) + 1 != len(of.items) or not all(sizes):
        return
    target = next((n for n in ("target", "label", "picked") if not d.words.knows(n) and n not in d.targets()), None)
    if target is not None:
        which = Access(target, tuple(rest), r.span, r.span) if rest else Name(target, r.span)
        read = replace(of, items=tuple(which if i == Name(index, r.span) else i for i in of.items))
        declared = f"`{target}: {{shape: [{', '.join(sizes)}], dtype: int}}` under `inputs`"
        yield f"for the weight of a given one write `{_written(a, r, read)}`, with {declared}"


def _adds_up(f: Expr, r: Reduction, once: Mapping[str, Assign]) -> bool:
    """Is it a softmax over the indices of a sum, all along them?"""
    indices = _names(r)
    if isinstance(f, Reduction):
        return f.name == "softmax" and len(f.binders) == len(indices) and _names(f) == indices
    if not isinstance(f, Access) or f.name not in once or any(isinstance(b, Binder) and b.extent for b in r.binders):
        return False
    value, items = once[f.name].value, once[f.name].target.items or ()
    if not isinstance(value, Reduction) or value.name != "softmax" or len(items) != len(f.items):
        return False
    at = [(t, i) for t, i in zip(items, f.items, strict=True) if not isinstance(i, Dots) and indices & {*names_read(i)}]
    there = {t.name for t, i in at if isinstance(t, Binder) and isinstance(i, Name)}
    return len(there) == len(at) == len(indices) == len(value.binders) and _names(value) == there


def _moved(r: Reduction, weights: Expr, others: Sequence[Expr], index: str) -> Reduction | None:
    """The sum with the index in place of the other one of the weights, where just one access has that."""
    beside = {n.name for n in nodes(weights) if isinstance(n, Name)} - {index}
    at = [f for f in others if isinstance(f, Access) and any(isinstance(i, Name) and i.name in beside for i in f.items)]
    if len(at) != 1:
        return None
    own = [k for k, i in enumerate(at[0].items) if isinstance(i, Name) and i.name in beside]
    if len(own) != 1:
        return None
    items = list(at[0].items)
    items[own[0]] = Name(index, at[0].span)
    meant = replace(at[0], items=tuple(items))
    return replace(r, body=transform(r.body, lambda n: meant if n is at[0] else None))


# --- a bias in a sum, a small number behind a quotient ---------------------------------------------------------------


def _bias(a: Assign, r: Reduction) -> Diagnostic | None:
    """`sum[i](w[o, i]*x[i] + b[o])`."""
    indices = _names(r)
    if r.name != "sum" or not isinstance(r.body, Sum) or not indices:
        return None
    alone = [t for sign, t in r.body.terms if sign == "+" and isinstance(t, Access) and not indices & {*names_read(t)}]
    rest = [(sign, t) for sign, t in r.body.terms if t not in alone]
    if len(alone) != 1 or not rest:
        return None
    if not all(isinstance(t, Product) and len(t.factors) > 1 and indices <= {*names_read(t)} for _, t in rest):
        return None
    body = rest[0][1] if len(rest) == 1 and rest[0][0] == "+" else replace(r.body, terms=tuple(rest))
    meant = Sum((("+", replace(r, body=body)), ("+", alone[0])), r.span)
    shown = " and ".join(f"`{i}`" for i in sorted(indices))
    message = f"`{unparse(alone[0])}` is added once for each {shown}"
    hint = f"add it to the sum: `{_written(a, r, meant)}`"
    return doubt("OPG270", message, alone[0], f"does not have {shown}", hint)


def _quotient(d: Declarations, a: Assign) -> Diagnostic | None:
    """`x[n]/norm[n](x[n]) + eps`, where the divisor is to be kept from 0."""
    if not isinstance(a.value, Sum) or len(a.value.terms) != 2:
        return None
    (first, quotient), (second, small) = a.value.terms
    if first != "+" or second != "+" or not isinstance(quotient, Product) or not _is_small(d, small):
        return None
    divisors = [f for op, f in quotient.factors if op == "/"]
    if len(divisors) != 1 or not any(isinstance(n, Reduction | Access) for n in nodes(divisors[0])):
        return None
    divisor = divisors[0]
    kept = Sum((("+", divisor), ("+", small)), divisor.span)
    factors = tuple((op, kept if f is divisor else f) for op, f in quotient.factors)
    message = f"`{unparse(small)}` is added to the quotient, and keeps no divisor from 0"
    hint = f"write `{_written(a, a.value, replace(quotient, factors=factors))}`"
    return doubt("OPG271", message, small, "behind the division", hint)


def _not_a_number(d: Declarations, a: Assign) -> Iterator[Diagnostic]:
    """`x[t] == nan`, which is never true."""
    if d.words.knows("nan"):
        return
    for c in (n for n in nodes(a.value) if isinstance(n, Compare)):
        of = [e for e in c.operands if e != Name("nan", e.span)]
        if len(c.operands) == 2 and len(of) == 1 and c.ops[0] in ("==", "!="):
            always, sign = ("never", "") if c.ops[0] == "==" else ("always", "not ")
            hint = f"write `{sign}isnan({unparse(of[0])})`"
            yield doubt("OPG274", f"nothing equals `nan`: this is {always} true", c, "compared with `nan`", hint)


# --- an index bound anew ---------------------------------------------------------------------------------------------


def _diagonal(d: Declarations, a: Assign, r: Reduction) -> Diagnostic | None:
    """`x[t, i] = sum[i](a[i, i]*x[t - 1, i])`, which reads a diagonal."""
    left = {i.name for i in a.target.items or () if isinstance(i, Binder)}
    for name in (n for n in _names(r) if n in left):
        diagonal, meant = diagonal_of(r, name), apart(d, a, r, name)
        if diagonal is None or not meant:
            continue
        message = f"`{r.name}[{name}]` binds `{name}` anew, and `{unparse(diagonal)}` is read along its diagonal"
        hints = (either(meant, name), "or bind another letter if the diagonal is meant")
        return doubt("OPG273", message, r, f"not the `{name}` of the left side", *hints)
    return None


def _is_small(d: Declarations, e: Expr) -> bool:
    """A literal or a param that is used to keep divisors from 0."""
    if isinstance(e, Number):
        return 0 < e.value <= _SMALL
    return isinstance(e, Name) and e.name in d.params and e.name.startswith("eps")
