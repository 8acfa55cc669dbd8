"""Statements of vectors without the letter of the component: `acc[i] = sum[j](m[j]*(pos[j] - pos[i]))`, `pos: [N, D]`.

In goes such a statement; out comes the whole of it with one more index, on the left and in each access that lacks it.
The components of a square, `d2[i, j] = square(r[i] - r[j])`, are summed. Nothing is proposed where an index in reach
may run along the component, where vectors are multiplied otherwise, which may be meant to be summed, or where others
read the result as one without components.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.ir import text
from opgen.ir.scalar import ONE, Batch, Dim
from opgen.lang.circles import shift_of
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Power, Product, Reduction
from opgen.lang.picks import picked
from opgen.lang.unparse import respelled, unparse, unparse_target
from opgen.lang.walk import nodes, statement_at
from opgen.lower.completed import runs_over
from opgen.lower.loose import around
from opgen.lower.readings import letters_of
from opgen.lower.scope import Frame


def with_component(f: Frame, place: Span) -> tuple[str, ...]:
    """The hint with the statement around a place; none where something else is lacking, or meant."""
    s = statement_at(f.decl.forward, place)
    short = [] if s is None else [n for n in nodes(s.value) if isinstance(n, Access) and _is_short(f, n)]
    if s is None or not short or s.op != "=":
        return ()
    square = None if _is_linear(s.value, short) else _square_of(s.value, short)
    if not (_is_linear(s.value, short) and _is_free(f, s)) and square is None:
        return ()
    shape = f.state.tensors[short[0].name].shape or ()
    size, wish = text.position(shape[-1]), letters_of(f, shape)[-1]
    own = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    bound = [b.name for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
    read = [n.name for n in nodes(s.value) if isinstance(n, Access | Name)]
    outside = [b.name for a in short for r in around(f, a.span) for b in r.binders if isinstance(b, Binder)]
    reach = [*dict.fromkeys((*own, *outside))]
    if any(_sizes(f, a)[-1] != size or not _leads(f, a) for a in short) or not all(n in read for n in reach):
        return ()
    again = any(_sizes(f, a).count(size) > 1 for a in short)
    if again or not all(_is_sure(f, short, n) for n in reach):
        return ()
    if (square is None and not _agrees(f, s, size)) or any(size in runs_over(f, short[0], n) for n in reach):
        return ()
    taken = {*f.index_names, *own, *bound, *read, *f.state.tensors, *f.state.later, *f.decl.params}
    letter = next((c for c in (wish if isinstance(shape[-1], Dim) else "c", *"dcakmnpqruvw") if c not in taken), None)
    if letter is None:
        return ()
    parts = [(a, f"{respelled(a).removesuffix(']').rstrip()}, {letter}]") for a in short]
    parts.sort(key=lambda part: part[0].span.start)
    left = ", ".join([*(i.span.text for i in s.target.items or ()), letter])
    guard = "" if s.guard is None else f" if {respelled(s.guard)}"
    line = f"{s.target.name}[{left}] = {respelled(s.value, *parts)}{guard}"
    kept = _is_free(f, s) and _agrees(f, s, size) and not (square is not None and around(f, square.span))
    if square is None or (kept and _is_said_elsewhere(f, s)):
        return (f"write `{line}`, with an index for the component",)
    summed = respelled(s.value, (square, f"sum[{letter}]({respelled(square, *parts)})"))
    over_all = f"write `{unparse_target(s.target)} = {summed}{guard}`, with the sum over the components"
    return (over_all, *((f"or keep each: `{line}`",) if kept else ()))


def by_places(f: Frame, e: Access) -> tuple[str, ...]:
    """The hints for an access at integers that may pick an element for each index, or list rows."""
    s = statement_at((*f.decl.forward, *f.decl.backward), e.span)
    reach = [i.name for i in (f.scope.visible() if f.scope is not None else ()) if not isinstance(i, Batch)]
    one = picked(f.decl.words, e, reach)
    if one is None or s is None:
        return ()
    rows = with_component(f, e.span) if one.doubtful else ()
    return (f"write `{unparse(one.read)}`", *(f"or, where `{one.by}` lists rows, {row}" for row in rows))


def _is_short(f: Frame, a: Access) -> bool:
    """Whether an access lacks the last of its positions, as far as their number tells."""
    known = f.state.tensors.get(a.name)
    shape = () if known is None or known.shape is None else known.shape
    if (
        len(shape) < 2
        or len(a.items) != len(shape) - 1
        or isinstance(shape[-1], Batch)
        or shape[-1] == ONE
        or known is None
        or known.running
    ):
        return False
    return all(isinstance(i, Dots) == isinstance(n, Batch) for i, n in zip(a.items, shape, strict=False))


def _sizes(f: Frame, a: Access) -> list[str]:
    return [text.position(size) for size in f.state.tensors[a.name].shape or ()]


def _names(a: Access) -> list[Name]:
    """The indices that stand at positions alone, or moved by a number."""
    shifts = ((i, shift_of(i)) for i in a.items if not isinstance(i, Dots))
    found = (i if isinstance(i, Name) else Name(s.index, i.span) if s is not None else None for i, s in shifts)
    return [n for n in found if n is not None]


def _leads(f: Frame, a: Access) -> bool:
    """Whether each position may stand where it does, in front of the component."""
    names = [i for i in a.items if not isinstance(i, Dots)]
    sizes = [size for size in _sizes(f, a)[:-1] if size != "..."]
    shape = f.state.tensors[a.name].shape or ()
    last = letters_of(f, shape)[-1] if isinstance(shape[-1], Dim) else ""
    for i, size in zip(names, sizes, strict=True):
        own = _names(replace(a, items=(i,)))
        runs = runs_over(f, a, own[0].name) if own else []
        if own and ((runs and size not in runs) or (not runs and own[0].name == last)):
            return False
    return True


def _is_sure(f: Frame, short: list[Access], name: str) -> bool:
    """Whether something but its place says over what an index runs: a read elsewhere, its letter, or one beside it."""
    at = [(a, k) for a in short for k, i in enumerate(a.items) if isinstance(i, Name) and i.name == name]
    lettered = any(letters_of(f, f.state.tensors[a.name].shape or ())[k] == name for a, k in at)
    beside = any(o.name == a.name and o.items[k] != a.items[k] for a, k in at for o in short)
    return not at or lettered or beside or bool(runs_over(f, at[0][0], name))


def _is_free(f: Frame, s: Assign) -> bool:
    """Whether a target may have one more index: each reader has it, and there is no other statement of it."""
    every, name = (*f.decl.forward, *f.decl.backward), s.target.name
    items = s.target.items or ()
    if s not in f.decl.forward or not all(isinstance(i, Binder | Dots) for i in items):
        return False
    if s.target.items is None and any(
        isinstance(n, Access) and any(isinstance(i, Dots) for i in n.items) for n in nodes(s.value)
    ):
        return False
    read = [n for o in every for n in nodes(o.value) if isinstance(n, Access | Name) and n.name == name]
    alone = sum(o.target.name == name for o in every) == 1
    return alone and all(isinstance(n, Access) and len(n.items) == len(items) + 1 for n in read)


def _is_said_elsewhere(f: Frame, s: Assign) -> bool:
    """Whether a declared shape or a read of the result tells how many dims it has."""
    read = (n for o in (*f.decl.forward, *f.decl.backward) for n in nodes(o.value) if isinstance(n, Access | Name))
    return s.target.name in f.decl.output_shapes or any(n.name == s.target.name for n in read)


def _agrees(f: Frame, s: Assign, size: str) -> bool:
    """Whether the shape that is declared of a result, if there is one, has the component."""
    shape = f.decl.output_shapes.get(s.target.name)
    return shape is None or (len(shape) == len(s.target.items or ()) + 1 and text.position(shape[-1]) == size)


def _square_of(e: Expr, short: list[Access]) -> Expr | None:
    """The square of one vector that all of these stand in, whose components are meant to be summed."""
    found = None
    for n in nodes(e):
        match n:
            case Call(name="square", args=(of,)) | Power(base=of, exponent=Number(value=2)):
                found = n if all(any(a is x for x in nodes(of)) for a in short) and _is_linear(of, short) else found
            case _:
                pass
    return found


def _is_linear(e: Expr, short: list[Access]) -> bool:
    """Whether vectors are nowhere multiplied, divided by, raised to a power, or given to a function of several."""

    def held(x: Expr) -> int:
        return sum(1 for n in nodes(x) if any(n is a for a in short))

    for n in nodes(e):
        match n:
            case Power(base=base, exponent=exponent) if held(base) or held(exponent):
                return False
            case Product(factors=factors):
                vectors = [op for op, x in factors if held(x)]
                if len(vectors) > 1 or any(op != "*" for op in vectors):
                    return False
            case Call(name="sqrt" | "abs" | "hypot" | "square", args=args) if any(held(x) for x in args):
                return False
            case Reduction(name="norm") if held(n.body):
                return False
            case _:
                pass
    return True
