"""Indices that nothing binds, and the brackets of a reduction that are meant to: what messages propose for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.diagnostics.suggest import listed
from opgen.ir import text
from opgen.ir.formula import CONSTANTS
from opgen.ir.program import Shape
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.ir.scalar import BATCH, Batch
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import integer, names_read, nodes, operands, transform
from opgen.lower import readings
from opgen.lower.contracted import Contraction, times
from opgen.lower.digits import put
from opgen.lower.scope import Frame, Scope
from opgen.lower.two_letters import for_shape

_KEEPING = tuple(name for name, row in (REDUCTIONS | ORDERS).items() if row.keeps_index)
_NONE: frozenset[str] = frozenset()


def over_all(f: Frame, e: Call) -> str | None:
    """`red(x[..., c])` as the reduction over all that nothing binds; None where nothing is left to reduce."""
    if len(e.args) != 1 or f.scope is None:
        return None
    body = spelled(f.decl.words, e.args[0])
    loose = [*_loose(f, body, _NONE)]
    names = {i.name for i in loose if isinstance(i, Name)}
    orders = ([i.name for i in a.items if isinstance(i, Name)] for a in nodes(body) if isinstance(a, Access))
    order = next((o for o in orders if names <= {*o}), [])  # of the first tensor that has them all
    loose.sort(key=lambda i: order.index(i.name) if isinstance(i, Name) and order else 0)
    over = _binders(loose, e.span)
    return unparse(Reduction(e.name, over, body, e.span, e.span)) if over else None


def bound_by(f: Frame, place: Span) -> tuple[str, ...]:
    """The reductions around all places of an index, the innermost first, each with all that is loose in its body."""
    shown = []
    spans = [n.span for n in _places(f, place)]
    for r in around(f, place):
        if all(r.body.span.start <= at.start and at.end <= r.body.span.end for at in spans):
            own = tuple(b for b in r.binders if not isinstance(b, Binder) or _has_place(f, r.body, b.name))
            over = _binders((*own, *_reduced(f, r.body)), place)
            shown.append(unparse(replace(r, binders=over, body=Name("…", place))))
    return tuple(shown)


def _has_place(f: Frame, body: Expr, index: str) -> bool:
    """Whether an index stands somewhere else than where tensors have batch dims, or nowhere."""
    at = [n for n in nodes(body) if isinstance(n, Access) and index in names_read(n)]
    return not at or not all(index in _at_batch(f, a) for a in at)


def _at_batch(f: Frame, a: Access) -> list[str]:
    """The indices that are too many, as they stand where a tensor has its batch dims."""
    known = f.state.tensors.get(a.name)
    shape = known.shape if known is not None and known.shape is not None else ()
    first = next((k for k, n in enumerate(shape) if isinstance(n, Batch)), None)
    if first is None or any(isinstance(i, Dots) for i in a.items):
        return []
    return [i.name for i in a.items[first : first + len(a.items) - len(shape) + 1] if isinstance(i, Name)]


def bound(f: Frame, place: Span, within: Sequence[str]) -> str:
    """How what is loose in the reductions around a place is bound: by these, as `bound_by` gives them, or by sums.

    A mean of sums is no mean over more, and terms that are loose in different indices have sums of their own.
    """
    r = next(iter(around(f, place)), None)
    apart = r is not None and _differ(f, r.body)
    if r is None or not _reduced(f, r.body) or not (apart or r.name == "mean"):
        return f"bind it: {listed(within)}"
    line = f"`{unparse(replace(r, body=_each_term(f, r.body)))}`"
    return (
        f"each term has a sum of its own: {line}" if apart else f"bind it: {listed(within)}, sum over it within, {line}"
    )


def _differ(f: Frame, body: Expr) -> bool:
    """Are there terms that are loose in different indices?"""
    terms = [e for _, e in body.terms] if isinstance(body, Sum) else [body]
    return len({frozenset(_names(f, e)) for e in terms}) > 1


def _names(f: Frame, e: Expr) -> list[str]:
    return ["..." if isinstance(i, Dots) else i.name for i in _reduced(f, e)]


def _each_term(f: Frame, body: Expr) -> Expr:
    """A body with a sum over what is loose in it, around each term where these differ."""
    if not isinstance(body, Sum) or not _differ(f, body):
        return _sum(f, body)
    return replace(body, terms=tuple((sign, _sum(f, e) if _reduced(f, e) else e) for sign, e in body.terms))


def _reduced(f: Frame, body: Expr) -> list[Name | Dots]:
    """What is loose in a body and not the target's, which is all batch dims where these are told by their use."""
    by_use = f.scope is not None and f.scope.root().batch is None
    return [i for i in _loose(f, body, _NONE) if not (by_use and isinstance(i, Dots))]


def summed(f: Frame, place: Span) -> str:
    """The statement with a sum around all places of an index, some of which are in a reduction that ends before others.

    Empty where no place is in one, and where that leaves something loose.
    """
    own, places = statement_of(f, place), _places(f, place)
    if own is None or len(places) < 2 or not any(around(f, n.span) for n in places):
        return ""
    whole, within, loose = own.value, own.value, {id(n) for n in places}
    while len(parts := [p for p in operands(within) if any(id(n) in loose for n in nodes(p))]) == 1:
        within = parts[0]
    made: Expr
    match within:
        case Product(factors=factors) if all(sign in "*/" for sign, _ in factors):
            read = [k for k, (_, e) in enumerate(factors) if any(e is p for p in parts)]
            first, last = read[0], read[-1] + 1
            inner = replace(within, factors=(("*", factors[first][1]), *factors[first + 1 : last]))
            if factors[first][0] != "*":
                return ""
            made = replace(within, factors=(*factors[:first], ("*", _sum(f, inner)), *factors[last:]))
            made = made.factors[0][1] if len(made.factors) == 1 else made
        case Sum(terms=terms) if len(parts) == len(terms):
            made = _sum(f, within)
        case _:
            return ""
    whole = _instead(whole, within, made)
    return "" if _reduced(f, whole) else unparse_assign(replace(own, value=whole))


def without_indices(f: Frame, s: Assign, shape: Shape) -> None:
    """A target with named dims that names none of them; a value without indices, as a loss has, is one number."""
    name, line = s.target.name, f"write `{readings.spelled(f, s.target.name, shape)} = …`"
    own = {b.name for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)}
    items = [i for a in nodes(s.value) if isinstance(a, Access) for i in a.items]
    names = {n.name for i in items if not isinstance(i, Dots) for n in nodes(i) if isinstance(n, Name)}
    free = {n for n in names - own if not f.decl.words.knows(n) and not n[:1].isupper()}
    hints = (line,) if free or not names or any(isinstance(i, Dots) for i in items) else (
        f"its value is one number: declare it so, `{name}: {{shape: []}}`", f"or {line}, the same for all"
    )  # fmt: skip
    if pairs := for_shape(f, s, shape):
        hints = (f"write `{pairs}`",)
    message = f"`{name}` has named dims and is assigned without indices"
    f.error("OPG242", message, s.target.span, *hints, label=f"has shape {readings.shape_text(shape)}")


def implied(f: Frame, place: Span) -> str:
    """What to write where sums are implied over what stands in no reduction: over indices that a product has twice.

    Under a power or a function it may be the sum of what is made of each that is meant, which is another line.
    """
    own, places = statement_of(f, place), _places(f, place)
    if own is None or any(around(f, n.span) for n in places):
        return ""
    if line := _along_axis(f, own, places):
        return line
    terms = [e for _, e in own.value.terms] if isinstance(own.value, Sum) else [own.value]
    loose = {id(n) for n in places}
    if any(times(e, place.text) < 2 for e in terms if any(id(n) in loose for n in nodes(e))):
        return ""
    last = _each_term(f, own.value)
    if _reduced(f, last):
        return ""
    line = f"`{unparse_assign(replace(own, value=last))}`"
    first, within = _each_twice(f, own.value)
    if not within:
        return f"write {line}"
    shown = f"`{unparse_assign(replace(own, value=first))}`"
    return f"write {shown}, or {line} where the sum is taken last" if not _reduced(f, first) else ""


def _along_axis(f: Frame, own: Assign, places: Sequence[Name]) -> str:
    """What to write for `max(x[i, a], -1)`, where the number is an axis: that of the one index that is loose in it."""
    for e in (n for n in nodes(own.value) if isinstance(n, Call) and n.name in REDUCTIONS and len(n.args) == 2):
        body, axis = e.args[0], integer(e.args[1])
        order, free = layout(f.decl.words, body), {*_names(f, body)}
        inside = {id(n) for n in nodes(body)}
        fits = axis is not None and (-len(order) <= axis < 0 or order[axis : axis + 1] == (places[0].name,))
        if fits and free == {places[0].name} and all(id(n) in inside for n in places):
            whole = Reduction(e.name, _binders(_reduced(f, body), e.span), body, e.span, e.name_span)
            line = unparse_assign(replace(own, value=_instead(own.value, e, whole)))
            return f"an axis is named by its index: write `{line}`"
    return ""


def _instead(value: Expr, old: Expr, new: Expr) -> Expr:
    """A value with another part in the place of one."""
    return transform(value, lambda n: new if n is old else None)


def _each_twice(f: Frame, body: Expr) -> tuple[Expr, bool]:
    """A body with sums over what a product has twice, and whether one is under a power or a function of a term."""
    made, within = list[tuple[str, Expr]](), False
    for sign, e in body.terms if isinstance(body, Sum) else (("+", body),):
        own = Contraction()
        term = own.of(e, [i for i in dict.fromkeys(_names(f, e)) if i != "..."])
        term, within = term if own.within else e, within or own.within
        made.append((sign, _sum(f, term) if _reduced(f, term) else term))
    return replace(body, terms=tuple(made)) if isinstance(body, Sum) else made[0][1], within


def beside_implied(f: Frame, place: Span) -> tuple[Name, ...]:
    """The other indices that are loose in the statement of one, each where it stands first."""
    own = statement_of(f, place)
    names = [] if own is None else [n for n in _loose(f, own.value, _NONE) if isinstance(n, Name)]
    return tuple({n.name: n for n in reversed(names) if n.name != place.text}.values())


def _sum(f: Frame, body: Expr) -> Expr:
    return Reduction("sum", _binders(_reduced(f, body), body.span), body, body.span, body.span)


def statement_of(f: Frame, place: Span) -> Assign | None:
    """The statement at hand which holds a place."""
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    return next((s for s in own if s.value.span.start <= place.start and place.end <= s.value.span.end), None)


def _places(f: Frame, place: Span) -> list[Name]:
    """Where the index at a place is loose in its statement."""
    own = statement_of(f, place)
    found = [] if own is None else _loose(f, own.value, _NONE)
    return [n for n in found if isinstance(n, Name) and n.name == place.text]


def loose_in(f: Frame, e: Expr) -> tuple[Name | Dots, ...]:
    """The indices in positions, and batch dims, that nothing binds."""
    return tuple(_loose(f, e, _NONE))


def loose_beside(f: Frame, place: Span) -> tuple[Name, ...]:
    """The other indices that are loose in the innermost reduction around a place, each where it stands first."""
    inside = around(f, place)[:1]
    names = [n for r in inside for n in _loose(f, r.body, _NONE) if isinstance(n, Name) and n.name != place.text]
    return tuple({n.name: n for n in reversed(names)}.values())


def around(f: Frame, place: Span) -> list[Reduction]:
    """The reductions of the statement at hand whose body holds a place, the innermost first."""
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    found = [r for s in own for r in nodes(s.value) if isinstance(r, Reduction) and r.name not in _KEEPING]
    inside = [r for r in found if r.body.span.start <= place.start and place.end <= r.body.span.end]
    return [replace(r, further=None) for r in reversed(inside)]


def _at_the_end(f: Frame, name: str, place: Span) -> tuple[str, ...]:
    """`x[end]`, the last element, by the size of that dim."""
    if name not in ("end", "last"):
        return ()
    own = (s.value for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target)
    for a in (n for e in own for n in nodes(e) if isinstance(n, Access)):
        known = f.state.tensors.get(a.name)
        shape = () if known is None or known.shape is None or len(known.shape) != len(a.items) else known.shape
        for item, size in zip(a.items, shape, strict=False):
            if isinstance(item, Dots) or not (item.span.start <= place.start and place.end <= item.span.end):
                continue
            if isinstance(size, Batch):
                return ()
            last = total([(1, Name(text.scalar(size), place)), (-1, Number(1, place))], place)
            items = tuple(transform(i, put({name: last})) if i is item else i for i in a.items)
            return (f"the last one is at {unparse(last)}: `{unparse(replace(a, items=items))}`",)
    return ()


def _misnamed(f: Frame, name: str, place: Span) -> tuple[str, ...]:
    """An index with another name on the left, or in the brackets of a sum: the one there that stands nowhere else."""
    own = [s for s in (*f.decl.forward, *f.decl.backward) if s.target.name == f.target]
    if len(own) != 1 or own[0].op != "=":
        return ()
    right = [n for n in nodes(own[0].value) if isinstance(n, Name)]
    bound = [b for r in nodes(own[0].value) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
    used = {*(n.name for n in right), *(b.name for b in bound)}
    idle = [i.name for i in own[0].target.items or () if isinstance(i, Binder) and not i.extent and i.name not in used]
    read = [a for a in nodes(own[0].value) if isinstance(a, Access) and any(i == Name(name, place) for i in a.items)]
    if len(read) != 1 or sum(n.name == name for n in right) != 1:
        return ()
    around = [r for r in nodes(own[0].value) if isinstance(r, Reduction) and any(n is read[0] for n in nodes(r.body))]
    told = {i: f"`{i}` stands on the left and nowhere on the right" for i in idle} or {
        b.name: f"`{r.name}` binds `{b.name}`, which it reads nowhere"
        for r in around
        for b in r.binders
        if isinstance(b, Binder) and all(n != Name(b.name, n.span) for n in nodes(r.body))
    }
    if len(told) != 1:
        return ()
    ((meant, why),) = told.items()
    items = tuple(Name(meant, place) if i == Name(name, place) else i for i in read[0].items)
    return (f"{why}: did you mean `{unparse(replace(read[0], items=items))}`?",)


def as_read(f: Frame, name: str, place: Span) -> tuple[str, ...]:
    """An index that a target lacks at which other statements read it, `s[i, j]` of `s[i] = …`, or calls otherwise."""
    if meant := _at_the_end(f, name, place) or _misnamed(f, name, place):
        return meant
    for s in (s for s in f.decl.forward if s.target.name == f.target and s.op == "="):
        own = s.target.items or ()
        known = {"..." if isinstance(i, Dots) else i.name for i in own if isinstance(i, Dots | Binder)}
        others = (o for o in f.decl.forward if o.target.name != f.target)
        for a in (n for o in others for n in nodes(o.value) if isinstance(n, Access) and n.name == f.target):
            read = ["..." if isinstance(i, Dots) else i.name for i in a.items if isinstance(i, Dots | Name)]
            if name in read and len(known) == len(own) and known <= {*read} and len(read) == len(a.items) > len(own):
                return (f"it is read with that index: write `{unparse(a)} = …`",)
    return ()


def in_round_brackets(f: Frame, e: Access) -> str:
    """What is meant by the brackets of `min[a, b]` and of `sum[k]`: values, or indices without a body."""
    if any(not isinstance(i, Name | Dots) or (isinstance(i, Name) and i.name in f.state.tensors) for i in e.items):
        return f"write `{e.name}({', '.join('...' if isinstance(i, Dots) else unparse(i) for i in e.items)})`"
    return f"the body follows: `{e.name}[…](…)`"


def _binders(over: Iterable[Binder | Name | Dots], at: Span) -> tuple[Binder | Dots, ...]:
    """Each of these once, `...` in front."""
    found: dict[str, Binder | Dots] = {}
    for i in over:
        made = Binder(i.name, None, at) if isinstance(i, Name) else i
        found.setdefault("..." if isinstance(i, Dots) else i.name, made)
    return tuple(sorted(found.values(), key=lambda b: not isinstance(b, Dots)))


def _loose(f: Frame, e: Expr, inner: frozenset[str], *, position: bool = False) -> Iterator[Name | Dots]:
    """The indices in positions, and batch dims, that nothing binds."""
    match e:
        case Name(name=name) if position and name not in inner and _is_free(f, name):
            yield e
        case Name(name=name) if not position and "..." not in inner and _is_free(f, "..."):
            known = f.state.tensors.get(name)
            if known is not None and known.shape is not None and BATCH in known.shape:
                yield Dots(e.span)
        case Access(items=items):
            for i in items:
                if not isinstance(i, Dots):
                    yield from _loose(f, i, inner, position=True)
                elif "..." not in inner and _is_free(f, "..."):
                    yield i
        case Reduction(name=name, binders=binders) if name not in _KEEPING:
            own = frozenset("..." if isinstance(b, Dots) else b.name for b in binders)
            for part in operands(e):
                yield from _loose(f, part, inner | own, position=position)
        case _:
            for part in operands(e):
                yield from _loose(f, part, inner, position=position)


def _is_free(f: Frame, name: str) -> bool:
    scope: Scope | None = f.scope
    if name != "...":
        names = (*f.state.tensors, *f.state.later, *f.decl.params, *f.decl.known_dims(), *f.args, *CONSTANTS)
        return name not in names and scope is not None and scope.find(name) is None
    while scope is not None:
        if scope.batch:
            return False
        scope = scope.parent
    return True
