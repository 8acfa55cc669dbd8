"""Terms of scores that a softmax cancels, since they do not depend on its index: a warning.

`softmax[j](s[i, j] - a*i)` is `softmax[j](s[i, j])`. What keeps `exp` in range, such as a maximum, is there on purpose,
and what may be infinite is a mask; neither is told. In: the statements as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Expr, Logic, Name, Product, Reduction, Sum, Unary
from opgen.lang.unparse import respelled, unparse_assign
from opgen.lang.walk import names_read, nodes, transform
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt

_FINITE = ("abs", "square", "exp", "sin", "cos", "tanh", "sigmoid", "softplus", "relu", "float")  # calls that are told


def cancelled(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each softmax with a term of its scores that has none of its indices."""
    once = assigned_once(d)
    for a in d.forward:
        for r in (n for n in nodes(a.value) if isinstance(n, Reduction) and n.name in ("softmax", "log_softmax")):
            indices = {b.name for b in r.binders if isinstance(b, Binder)}
            if len(indices) < len(r.binders):
                continue
            made = _made_by(d, a, r, once)
            whole = next(_sums(made.value if made is not a else r.body, indices), None)
            if whole is None:
                continue
            alone = [t for _, t in whole.terms if _is_constant(d, t, indices, once)]
            if alone and len(alone) < len(whole.terms):
                yield _told(made, r, whole, alone, sorted(indices))


def _told(made: Assign, r: Reduction, whole: Sum, alone: list[Expr], indices: list[str]) -> Diagnostic:
    over = f"{r.name}[{', '.join(indices)}]"
    rest = tuple(t for t in whole.terms if t[1] not in alone)
    first = rest[0][1] if rest[0][0] == "+" else Unary("-", rest[0][1], rest[0][1].span)
    left = replace(whole, terms=rest) if len(rest) > 1 else first
    line = unparse_assign(replace(made, value=transform(made.value, lambda n: left if n is whole else None)))
    shown = respelled(alone[0])
    message = f"`{shown}` is the same for each `{indices[0]}`, and `{over}` cancels it"
    hints = (f"what it should change has to have the index `{indices[0]}`", f"without it: `{line}`")
    return doubt("OPG285", message, alone[0], "changes nothing", *hints)


def _made_by(d: Declarations, a: Assign, r: Reduction, once: Mapping[str, Assign]) -> Assign:
    """The statement that holds the scores: that of a name that nothing else reads, or the one of the softmax."""
    body = r.body
    if not isinstance(body, Access) or body.name not in once or written_out(body, once) is body:
        return a
    reads = [n for s in d.forward for n in nodes(s.value) if isinstance(n, Name | Access) and n.name == body.name]
    listed = d.spec.outputs is not None and body.name in d.outputs
    return a if len(reads) > 1 or listed or once[body.name].guard is not None else once[body.name]


def _sums(e: Expr, indices: set[str]) -> Iterator[Sum]:
    """The sum whose terms are added to the scores, scaled by nothing but what is the same for all of them."""
    match e:
        case Sum():
            yield e
        case Unary(op="-", operand=inner):
            yield from _sums(inner, indices)
        case Call(name="where", args=(_, inner, Unary(op="-", operand=Name(name="inf")))):
            yield from _sums(inner, indices)
        case Product(factors=factors):
            moving = [(op, f) for op, f in factors if indices & {*names_read(f)}]
            if len(moving) == 1 and moving[0][0] == "*":
                yield from _sums(moving[0][1], indices)
        case _:
            return


def _is_constant(d: Declarations, t: Expr, indices: set[str], once: Mapping[str, Assign]) -> bool:
    """Whether a term has none of the indices, and is neither a mask nor there to keep `exp` in range."""
    return not indices & {*names_read(t)} and all(_is_plain(d, n, once, frozenset()) for n in nodes(t))


def _is_plain(d: Declarations, e: Expr, once: Mapping[str, Assign], seen: frozenset[str]) -> bool:
    match e:
        case Call(name=name):
            return name in _FINITE and name not in d.functions
        case Reduction(name=name):
            return name == "sum"  # of the scores, all others may be there to centre them
        case Compare() | Logic() | Name(name="inf" | "nan"):
            return False
        case Name(name=name) | Access(name=name) if name in d.targets():
            known = name in once and name not in seen and once[name].guard is None
            return known and all(_is_plain(d, n, once, seen | {name}) for n in nodes(once[name].value))
        case _:
            return True
