"""Limits in the brackets of a reduction, `sum[j <= i](x[j])`, as the conditions that they are."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from opgen.diagnostics.model import Span
from opgen.lang import ranges
from opgen.lang.binders import as_binder
from opgen.lang.conversions import is_condition
from opgen.lang.habits import ENDLESS
from opgen.lang.layout import CONSTANTS, is_open
from opgen.lang.nodes import (
    Access,
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
from opgen.lang.products import reindexed
from opgen.lang.reach import reached_under, reads_data, stands_alone
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import names_read, nodes, transform

NOTHING: Mapping[str, Callable[[Span], Expr]] = MappingProxyType({  # what adds nothing to a reduction
    "sum": lambda at: Number(0, at),
    "prod": lambda at: Number(1, at),
    "max": lambda at: Unary("-", Name("inf", at), at),
    "min": lambda at: Name("inf", at),
    **dict.fromkeys(("logsumexp", "softmax", "log_softmax"), lambda at: Unary("-", Name("inf", at), at)),
    "any": lambda at: Name("false", at),
    "all": lambda at: Name("true", at),
    "count": lambda at: Name("false", at),
})  # fmt: skip


_TURNED = MappingProxyType({"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="})


@dataclass(frozen=True, slots=True)
class Limited:
    """A reduction whose brackets hold a condition on `index`, as it is written here."""

    span: Span
    index: Name
    limits: tuple[Expr, ...]
    reduction: Expr
    clear: bool  # nothing in it is left unbound
    told: str = "a limit is a condition"
    otherwise: str = ""  # what is said in place of a statement that is not clear


@dataclass(frozen=True, slots=True)
class _Limit:
    """A condition on an index, or none, and where it ends beside that."""

    index: Name
    limits: tuple[Expr, ...]
    condition: Compare | None
    extent: Expr | None = None


def under_limit(
    words: Vocabulary, name: str, items: Sequence[Expr | Dots], body: Expr, bound: Sequence[str], span: Span
) -> Limited | None:
    """The reduction over the places that meet the one item that is a condition; None where that is not so.

    `bound` are the indices of the target and of the reductions around it: `i < n` states an extent, unless it reads
    one of them. Indices of the condition that the body reads and nothing binds are bound beside its own.
    """
    moved = ranges.reduced(name, items, body)
    if moved is not None and not any(_is_taken(words, run.index.name, bound) for run in moved[0]):
        runs, whole = moved
        known = {*bound, *CONSTANTS, *(b.name for b in whole.binders if isinstance(b, Binder))}
        read = [n for run in runs for e in (run.first, run.size) for n in names_read(e)]
        clear = not is_open(words, whole, frozenset(bound)) and all(
            n in known or words.knows(n) or n in words.letters for n in read
        )
        return Limited(runs[0].index.span, runs[0].index, (), whole, clear, ranges.FROM_0)
    if (together := _together(words, name, items, body, bound, span)) is not None:
        return together
    limited = [i for i in items if isinstance(i, Compare)]
    plain = all(isinstance(i, Compare | Dots | Name) for i in items)
    own = _indices(words, body)
    beside = {i.name for i in items if isinstance(i, Name)}
    limit = _limit(words, limited[0], {*own} - beside, bound) if len(limited) == 1 and plain else None
    if not (name in NOTHING or name == "mean"):
        return None
    if limit is None or (limit.index.name in bound and _reads(limited[0], {*own, *beside}.difference(bound))):
        return _such_that(words, name, items, body, bound)
    if limit is not None and any(limit.index.name in names_read(e) for e in limit.limits):
        limit, body = _apart(words, limit, body, bound)
    if limit is None:
        return None
    index = limit.index.name
    end = limit.extent or reached_under(words, index, limit.condition, body)
    endless = end is None and not (stands_alone(body, index) or _follows(words, limit, bound))
    end = Name(f"num_{index}", span) if endless else end
    names = dict.fromkeys(
        i.name if isinstance(i, Name) else "..." for i in (limit.index if isinstance(i, Compare) else i for i in items)
    )
    loose = [i for i in own if i not in names and i not in bound and any(_reads(e, (i,)) for e in limit.limits)]
    over = tuple(Dots(span) if i == "..." else Binder(i, end if i == index else None, span) for i in (*names, *loose))
    made: Expr = Reduction(name, over, body, span, span)
    if limit.condition is not None:
        chosen = Call("where", (limit.condition, body, NOTHING["sum" if name == "mean" else name](span)), span, span)
        made = Reduction("sum" if name == "mean" else name, over, chosen, span, span)
        if name == "mean":
            count = Reduction("count", tuple(_sized(words, b, body) for b in over), limit.condition, span, span)
            made = Product((("*", made), ("/", count)), span)
    known = {*bound, *names, *loose, *CONSTANTS}
    clear = not is_open(words, made, frozenset(bound)) and all(
        n.name in known or words.knows(n.name) or n.name in words.letters
        for e in limit.limits
        for n in nodes(e)
        if isinstance(n, Name)
    )
    bare = tuple(e for e in limit.limits if not reads_data(words, e) and not any(_scaled(p, bound) for p in nodes(e)))
    told = ENDLESS.format(index, unparse(made)) if clear and endless else ""
    return Limited(limited[0].span, limit.index, bare, made, clear and not endless, otherwise=told)


def _follows(words: Vocabulary, limit: _Limit, bound: Sequence[str]) -> bool:
    """Whether an index goes as far as the one that limits it, or less far: `j` of `j <= i` or `j < i - 1`."""
    match limit.condition:
        case Compare(operands=(Name(), end), ops=(sign,)) if sign in ("<", "<="):
            pass
        case Compare(operands=(_, Name(), end), ops=(_, sign)):
            pass
        case condition:
            return condition is None
    if reads_data(words, end):
        return False
    more = 1 if sign == "<" else 0
    terms = end.terms if isinstance(end, Sum) else (("+", end),)
    match [t for t in terms if not isinstance(t[1], Number)]:
        case [("+", Name(name=name))]:
            return name not in bound or sum(_signed(t) for t in terms if isinstance(t[1], Number)) <= more
        case _:
            return False


def _scaled(e: Expr, bound: Sequence[str]) -> bool:
    """Whether an index is multiplied, so that its own size is another one than that of what it limits."""
    return isinstance(e, Product) and any(i in bound for i in names_read(e))


def _signed(term: tuple[str, Expr]) -> Fraction | int:
    sign, e = term
    return 0 if not isinstance(e, Number) else e.value if sign == "+" else -e.value


def _is_taken(words: Vocabulary, name: str, bound: Sequence[str]) -> bool:
    """Whether a name is that of a tensor, or of an index that is bound further out."""
    return name in bound or words.knows(name) or name in words.letters


def _together(
    words: Vocabulary, name: str, items: Sequence[Expr | Dots], body: Expr, bound: Sequence[str], span: Span
) -> Limited | None:
    """Conditions together, `sum[j < i and j > 0](…)`: over what the body reads of them."""
    match [i for i in items if not isinstance(i, Name)]:
        case [Logic(op="and", operands=parts) as item] if all(isinstance(p, Compare) for p in parts):
            read = names_read(item)
            over = [i for i in _indices(words, body) if i in read and i not in bound]
        case _:
            return None
    over += [i.name for i in items if isinstance(i, Name)]
    if name not in NOTHING or not over or len({*over}) < len(over):
        return None
    chosen = Call("where", (item, body, NOTHING[name](span)), span, span)
    made = Reduction(name, tuple(Binder(i, None, span) for i in over), chosen, span, span)
    clear = not is_open(words, made, frozenset(bound))
    return Limited(item.span, Name(over[0], item.span), (item,), made, clear)


def _such_that(
    words: Vocabulary, name: str, items: Sequence[Expr | Dots], body: Expr, bound: Sequence[str]
) -> Limited | None:
    """Conditions on what is read, `sum[e, to[e] == v](…)`: over the indices beside them, or those they read alone."""
    over, reaching = list[Binder | Dots](), list[Binder]()
    conditions, limited = list[Expr](), list[str]()
    for item in items:
        binder = as_binder(item)
        limit = _limit(words, item, (), bound) if isinstance(item, Compare) else None
        if binder is not None and limit is None:
            over.append(binder)
        elif not isinstance(item, Dots):
            conditions.append(item)
        if limit is not None and limit.index.name not in bound:
            limited.append(limit.index.name)
            others = (i for i in items if i is not item and not isinstance(i, Dots))
            reaching += [] if any(limit.index.name in names_read(i) for i in others) else _reaching(words, limit, body)
    if not conditions or not all(is_condition(c) or _is_mask(words, c) for c in conditions):
        return None
    first, read = conditions[0].span, [n for c in conditions for n in names_read(c)]
    over = over or [Binder(i, None, first) for i in _indices(words, body) if i in read and i not in bound]
    unsaid = [i for i in _indices(words, body) if not any(stands_alone(c, i) for c in conditions)]
    sized = (_sized(words, b, body) if isinstance(b, Binder) and b.name in unsaid else b for b in over)
    over = [*reaching, *(sized if name == "mean" else over)]
    made = over_picked(name, over, body, conditions)
    if not over or made is None or not {*limited} <= {b.name for b in over if isinstance(b, Binder)}:
        return None
    clear = not is_open(words, made, frozenset(bound))
    return Limited(first, Name(name, first), (), made, clear, "a condition stands in the body")


def _reaching(words: Vocabulary, limit: _Limit, body: Expr) -> list[Binder]:
    """The index of a limit with how far it reaches, where it stands alone nowhere; none where nothing says it."""
    end = reached_under(words, limit.index.name, limit.condition, body)
    return [] if end is None else [Binder(limit.index.name, end, limit.index.span)]


def _sized(words: Vocabulary, b: Binder | Dots, body: Expr) -> Binder | Dots:
    return b if isinstance(b, Dots) or b.extent is not None else replace(b, extent=_size(words, b, body))


def _is_mask(words: Vocabulary, e: Expr) -> bool:
    return isinstance(e, Access) and e.name in words.masks


def _apart(words: Vocabulary, limit: _Limit, body: Expr, bound: Sequence[str]) -> tuple[_Limit | None, Expr]:
    """`sum[k < k](x[k])` with another letter for its own index, which the body reads; None where there is no other."""
    name, c = limit.index.name, limit.condition
    known = words.knows(name)
    if c is None or not (known or name in bound) or (known and _counts(body, name)):
        return None, body
    read = {i for e in (c, body) for i in names_read(e)}
    index = Name(next(i for i in SPARE if i not in {*bound, *read} and not words.knows(i)), limit.index.span)
    condition = replace(c, operands=tuple(index if o is limit.index else o for o in c.operands))
    return replace(limit, index=index, condition=condition), reindexed(body, {name: index.name})


def _counts(body: Expr, name: str) -> bool:
    """Whether a name stands anywhere but alone in a position."""
    named = (n for n in nodes(body) if isinstance(n, Name) and n.name == name)
    places = {id(i) for a in nodes(body) if isinstance(a, Access) for i in a.items}
    return any(id(n) not in places for n in named)


def _limit(words: Vocabulary, item: Compare, own: Container[str], bound: Sequence[str]) -> _Limit | None:
    """What a condition limits; None where it is an extent, or says something else."""

    def is_data(n: Name | Access) -> bool:
        return bool(words.shapes.get(n.name)) and (isinstance(n, Access) or "..." in bound)

    def moves(e: Expr) -> bool:
        """Whether a limit depends on other indices."""
        return any(
            isinstance(n, Name | Access)
            and (is_data(n) or (n.name in bound and n.name not in words.names) or n.name in own)
            for n in nodes(e)
        )

    match item:
        case Compare(operands=(Name(name=name) as index, limit), ops=(sign,)) if not (
            isinstance(limit, Name)
            and limit.name in own
            and limit.name not in bound
            and (name in bound or words.knows(name))
        ):
            if sign not in ("<=", "!=", ">", ">=") and not (sign == "<" and moves(limit)):
                return None
            if sign == "<" and (first := _beginning(limit, bound)) is not None:
                return _Limit(index, (first, limit), Compare((first, index, limit), ("<=", "<"), item.span))
            return _Limit(index, (limit,), item)
        case Compare(operands=(limit, Name() as index), ops=(sign,)) if sign in _TURNED:
            if sign == ">" and not moves(limit):
                return _Limit(index, (limit,), None, limit)
            return _Limit(index, (limit,), Compare((index, limit), (_TURNED[sign],), item.span))
        case Compare(operands=(least, Name() as index, end), ops=("<" | "<=" as first, "<" | "<=" as second)):
            if second == "<=" or moves(end):
                return _Limit(index, (least, end), item)
            return _Limit(index, (least, end), Compare((index, least), (_TURNED[first],), item.span), end)
        case _:
            return None


def _beginning(limit: Expr, bound: Sequence[str]) -> Expr | None:
    """Where a row begins that ends at a limit: `ptr[i]` for `ptr[i + 1]`."""
    match limit:
        case Access(items=(Sum(terms=(("+", Name(name=name) as index), ("+", Number(value=1)))),)) if name in bound:
            return replace(limit, items=(index,))
        case _:
            return None


def _indices(words: Vocabulary, body: Expr) -> dict[str, None]:
    """What stands alone as a position in the body and is the name of nothing."""
    items = (i for a in nodes(body) if isinstance(a, Access) for i in a.items)
    return dict.fromkeys(
        i.name for i in items if isinstance(i, Name) and not words.knows(i.name) and i.name not in words.letters
    )


def _reads(e: Expr, names: Container[str]) -> bool:
    return any(isinstance(n, Name) and n.name in names for n in nodes(e))


def over_picked(name: str, binders: Sequence[Binder | Dots | None], body: Expr, by: Sequence[Expr]) -> Expr | None:
    """`mean[v if c](x)`, the reduction over the places that meet all conditions; a mean of none of them is 0."""
    over = tuple(b for b in binders if b is not None)
    if len(over) < len(binders) or (name not in NOTHING and name != "mean"):
        return None
    span = by[0].span
    condition = by[0] if len(by) == 1 else Logic("and", tuple(by), span.to(by[-1].span))
    nothing = NOTHING["sum" if name == "mean" else name](span)
    chosen = Call("where", (condition, body, nothing), span, span)
    if name in ("any", "all", "count"):
        both = Logic("and", (condition, body), span)
        return Reduction(name, over, both if name != "all" else chosen, span, span)
    if name != "mean":
        return Reduction(name, over, chosen, span, span)
    count = Call("max", (Reduction("count", over, condition, span, span), Number(1, span)), span, span)
    return Product((("*", Reduction("sum", over, chosen, span, span)), ("/", count)), span)


def bounded(
    words: Vocabulary, limits: Mapping[str, str], item: Binder | Dots | Expr, value: Expr
) -> Binder | Dots | Expr:
    """An index of the target that only limits another one, with the extent of that one, which `limits` names."""
    if not isinstance(item, Binder) or item.extent is not None or item.name not in limits:
        return item
    alone = {i.name for a in nodes(value) if isinstance(a, Access) for i in a.items if isinstance(i, Name)}
    return (
        item if item.name in alone else replace(item, extent=_size(words, replace(item, name=limits[item.name]), value))
    )


def limited_by(words: Vocabulary, limits: Mapping[str, str], value: Expr) -> Expr:
    """A value with an extent for the index that a limit is of, where no access has it alone: that of its limit."""
    of = {index: limit for limit, index in limits.items()}
    alone = {i.name for a in nodes(value) if isinstance(a, Access) for i in a.items if isinstance(i, Name)}

    def sized(b: Binder | Dots) -> Binder | Dots:
        if not isinstance(b, Binder) or b.extent is not None or b.name in alone or b.name not in of:
            return b
        return replace(b, extent=_size(words, replace(b, name=of[b.name]), value))

    def step(e: Expr) -> Expr | None:
        if not isinstance(e, Reduction) or (own := tuple(map(sized, e.binders))) == e.binders:
            return None
        return replace(e, binders=own, body=transform(e.body, step))

    return transform(value, step)


def _size(words: Vocabulary, index: Binder, e: Expr) -> Name | None:
    return size_of(words, index.name, e)


def size_of(words: Vocabulary, index: str, e: Expr) -> Name | None:
    """The dim that an index goes over in what an expression reads; None where that is not known."""
    for a in nodes(e):
        shape = words.shapes.get(a.name, ()) if isinstance(a, Access) else ()
        if isinstance(a, Access) and len(shape) == len(a.items):
            for size, i in zip(shape, a.items, strict=True):
                if isinstance(i, Name) and i.name == index:
                    return Name(size, i.span)
    return None
