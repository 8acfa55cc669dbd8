"""What a call of another library means here: a reduction over indices for one over axes, a product with its indices.

Nodes in, nodes out; None where nothing here is meant by it for certain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from opgen.diagnostics.model import Hint, Span
from opgen.lang import formulas, habits
from opgen.lang.aliases import ALIASES, SAME
from opgen.lang.aligned import in_order, is_crossed
from opgen.lang.beside import norm_of
from opgen.lang.by_library import corrected
from opgen.lang.conversions import as_condition, as_integer, as_mask, as_number, logical
from opgen.lang.einsum import contraction
from opgen.lang.habits import CASTS
from opgen.lang.layout import indices_of, layout, spelled, stated, transposed
from opgen.lang.nodes import (
    Access,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Name,
    Number,
    Power,
    Product,
    Reduction,
    Sum,
    Text,
    Unary,
)
from opgen.lang.not_nan import NAMES as NOT_NAN
from opgen.lang.not_nan import over_all, without_nan
from opgen.lang.permuted import PERMUTING, permuted
from opgen.lang.products import Factor, by_elements, product, reindexed
from opgen.lang.taken import TAKING, axis_at, by_target, element_of, from_0, past_batch_dims, taken, trace, unbound
from opgen.lang.targets import order_of
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import integer, nodes

Named = Mapping[str, Expr | tuple[Expr, ...]]
Turned = tuple[Expr, tuple[str, ...]]

TURNED = ("T", "mT", "H", "mH")  # attributes of a matrix whose indices change places
_OTHERWISE = ("var[", "median[", "quantile[")  # of which torch gives another value by itself
_ORDERS = ("p", "ord")  # of a norm
_NORMS = ("norm", "vector_norm")  # which take an order
_LITERAL = re.compile(r"(?P<sign>[+-]?)(?P<name>inf|infinity|nan)")  # what Python's `float` reads
_ARITHMETIC = MappingProxyType({"add": "+", "sub": "-"})
_QUOTIENTS = MappingProxyType({"div": "/", "mul": "*", "floor_divide": "//", "floordiv": "//"})
_COMPARISONS = MappingProxyType({
    "greater": ">", "gt": ">", "less": "<", "lt": "<", "equal": "==", "eq": "==", "greater_equal": ">=", "ge": ">=",
    "less_equal": "<=", "le": "<=", "not_equal": "!=", "ne": "!=",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Meant:
    """A translation; `order` is the order of its indices where that is not the order in which they stand."""

    node: Expr
    order: tuple[str, ...] | None = None
    axes: tuple[str, ...] = ()  # of a reduction over axes: the indices of its body, empty for those that go


def called(
    words: Vocabulary, name: str, args: tuple[Expr, ...], named: Named, left: Sequence[str],
    turned: Sequence[Turned] = (),
) -> Meant | None:  # fmt: skip
    """`name(*args, **named)` of another library; the indices on the `left` stay, and `turned` are nodes whose axes have
    another order than their indices, with that order.
    """
    known = (*words.functions, *words.reductions)
    plain = name if name in known else ALIASES.get(name.lower(), name.lower())
    as_called, less = named, named.get("correction")
    named = {k: v for k, v in named.items() if k not in habits.WITHOUT_MEANING}
    if not args:
        return None
    span, crossed = args[0].span, any(is_crossed(words, turned, a) for a in args)
    match plain, args:
        case "max" | "min", (_, _) if name not in ("max", "min", "amax", "amin"):  # maximum, MAX
            return Meant(Call(plain, args, span, span))
        case "pow", (base, exponent):
            return Meant(Power(base, exponent, span))
        case _, (of, _, _, *_) if plain in PERMUTING and (lined_up := in_order(words, turned, of)):
            orders = (*turned, (lined_up[0], lined_up[1])) if lined_up[1] else turned
            order = permuted(words, plain, (lined_up[0], *args[1:]), orders)
            return None if order is None else Meant(spelled(words, lined_up[0]), order)
        case "t" | "transpose" | "adjoint", (of,) if plain != "adjoint" or not words.complexes:
            swapped = transposed(words, of, None if plain == "adjoint" else 2, turned)
            return None if swapped is None else Meant(*swapped)
        case "zeros_like" | "ones_like", (_,):
            return Meant(Number(int(plain == "ones_like"), span))
        case "zeros" | "ones", (_, *_) if any(integer(a) == 1 for a in args):
            return Meant(Number(int(plain == "ones"), span))
        case "trace", (of,) if not named and (summed := trace(words, of)) is not None:
            return Meant(summed)
        case _ if not named and name not in known and (condition := logical(plain, args)) is not None:
            return Meant(condition)
        case "matmul", (a, b):
            return _product(words, a, b, left, turned)
        case "einsum", (Text(value=text), *tensors) | (*tensors, Text(value=text)):
            contracted = None if crossed else contraction(text, tensors)
            return None if contracted is None else Meant(*contracted)
        case "cdist", (a, b, *more) if {*named} <= {"p"} and len(more) + len(named) < 2:
            return _distances(words, a, b, next(iter((*more, *named.values())), Number(2, span)), left, turned)
        case _, (x, *given) if plain in TAKING and not crossed and (read := taken(words, plain, x, given, named)):
            return Meant(*read)
        case _, _ if name == "select" and not named and (read := element_of(words, args, turned)) is not None:
            return Meant(*read)
        case "masked_fill", (x, mask, value):
            return Meant(Call("where", (as_mask(mask), value, x), span, span))
        case ("add" | "sub", (a, b)) if not named:
            return Meant(Sum((("+", a), (_ARITHMETIC[plain], b)), span))
        case _, (a, b) if plain in _QUOTIENTS and plain not in known and not named:
            return Meant(Product((("*", a), (_QUOTIENTS[plain], b)), span))
        case _, (a, b) if plain in _COMPARISONS and plain not in known:
            return Meant(Compare((a, b), (_COMPARISONS[plain],), span))
        case "neg" | "negative" | "negate", (a,) if plain not in known:
            return Meant(Unary("-", a, span))
        case "saturate" | "clamp01", (a,) if plain not in known:
            return Meant(Call("clamp", (a, Number(0, span), Number(1, span)), span, span))
        case "to" | "type" | "astype", (_, Name(name=dtype)) if dtype in CASTS:
            return Meant(Call("cast", args, span, span))
        case "to" | "type" | "astype", (x, Name(name=dtype)) if (whole := as_integer(x, dtype)) is not None:
            return Meant(whole)
        case _, (x,) if name not in known and not named and (whole := as_integer(x, name)) is not None:
            return Meant(whole)
        case _, (x,) if name in CASTS and name not in known and not named:
            return Meant(Call("cast", (x, Name(name, span)), span, span))
        case "bool", (x,):
            return Meant(as_condition(x), next((order for node, order in turned if node is x), None))
        case "float", (Text(value=text),) if literal := _LITERAL.fullmatch(text.strip().lower()):
            number = Name("nan" if literal["name"] == "nan" else "inf", span)
            return Meant(Unary("-", number, span) if literal["sign"] == "-" else number)
        case "tensor" | "array", (Call(name="[]"), *_):
            return None
        case _, (x, *_) if plain in SAME and plain not in known:
            return Meant(as_number(x) if plain in habits.CONVERTING else x)
        case _, (x, *_) if plain in NOT_NAN and plain not in known:
            all_of = called(words, over_all(plain), args, named, left, turned)
            return _changed(all_of, lambda r: without_nan(plain, r))
        case ("std", (x, *_)) if "std" not in known:
            inner = called(words, "var", args, as_called, left, turned)
            return None if inner is None else replace(inner, node=Call("sqrt", (inner.node,), span, span))
        case "var", _ if less is not None and {*named} <= {*habits.AXES}:
            return _changed(_known(words, plain, args, named, left, turned), lambda r: corrected(words, r, less))
        case "quantile", (x, share, *axis) if {*named} <= {*habits.AXES}:
            made = _known(words, plain, (x, *axis), named, left, turned)
            return _changed(made, lambda r: replace(r, further=share))
        case "norm", (x, *more) if name in _NORMS and (more or {*named} & {*_ORDERS}):
            return _length(words, x, more, named, left, turned)
        case _:
            return _known(words, plain, args, named, left, turned)


def _changed(made: Meant | None, change: Callable[[Reduction], Expr | None]) -> Meant | None:
    """What is meant, with something else in place of its reduction."""
    node = change(made.node) if made and isinstance(made.node, Reduction) else None
    return None if made is None or node is None else replace(made, node=node)


def _length(
    words: Vocabulary, of: Expr, more: Sequence[Expr], named: Named, left: Sequence[str], turned: Sequence[Turned]
) -> Meant | None:
    """`norm(x, 1, -1)`, whose second argument is its order, unless that is an index or, alone, below 0."""
    rest = {k: v for k, v in named.items() if k not in _ORDERS}
    order = next((v for k, v in named.items() if k in _ORDERS), None)
    index = bool(more) and isinstance(more[0], Name) and more[0].name in layout(words, spelled(words, of))
    if index or (len(more) == 1 and not named and (integer(more[0]) or 0) < 0):
        return None if order is not None else _known(words, "norm", (of, *more), rest, left, turned)
    given = [*more] if order is not None else [*more[1:]]
    order = more[0] if order is None else order
    if len(given) > 1 or isinstance(order, tuple) or (isinstance(order, Text) and order.value != "fro"):
        return None
    made = _known(words, "norm", (of,), {**rest, **({"dim": given[0]} if given else {})}, left, turned)
    if made is None or not isinstance(made.node, Reduction):
        return None
    return replace(made, node=norm_of(made.node, order))


def renamed(words: Vocabulary, e: Reduction) -> Expr | None:
    """A reduction over indices under the name that it has here."""
    if e.name.lower() in NOT_NAN:
        return without_nan(e.name, e)
    if e.name == "std":
        return Call("sqrt", (replace(e, name="var"),), e.span, e.name_span)
    name = ALIASES.get(e.name.lower(), e.name.lower())
    return replace(e, name=name) if name in words.reductions else None


def _known(
    words: Vocabulary, name: str, args: tuple[Expr, ...], named: Named, left: Sequence[str], turned: Sequence[Turned]
) -> Meant | None:
    span = args[0].span
    axes = next((from_0(v) if k == "dims" else v for k, v in named.items() if k in habits.AXES), None)
    if name in words.reductions and {*named} - {*habits.AXES}:
        return None
    if name in words.reductions and (name not in words.functions or len(args) == 1 or _is_axis(args[1])):
        if axes is None and len(args) == 2 and _is_axis(args[1]):
            axes = args[1]
        elif len(args) > 1:
            return _over(words, name, args[0], args[1:])
        return _reduced(words, name, args[0], axes, left, turned)
    if name not in words.functions or axes is not None:
        return None
    if name == "clamp" and (named or len(args) == 2) and {*named} <= {"min", "max", "a_min", "a_max"}:
        named = {key.removeprefix("a_"): value for key, value in named.items()}
        low, high = named.get("min", dict(enumerate(args)).get(1)), named.get("max")
        infinity = Name("inf", span)
        bounds = (Unary("-", infinity, span) if low is None else low, infinity if high is None else high)
        return Meant(Call(name, (args[0], *(b for b in bounds if not isinstance(b, tuple))), span, span))
    other = named or formulas.otherwise(name, args) or (name == "where" and len(args) < 3)
    return None if other else Meant(Call(name, args, span, span))


def _is_axis(e: Expr) -> bool:
    return isinstance(e, Number) or (isinstance(e, Unary) and isinstance(e.operand, Number))


# --- indices for axes ------------------------------------------------------------------------------------------------


def _reduced(
    words: Vocabulary, name: str, body: Expr, axes: Expr | tuple[Expr, ...] | None, left: Sequence[str],
    turned: Sequence[Turned],
) -> Meant | None:  # fmt: skip
    if (lined_up := in_order(words, turned, body)) is None:
        return None
    (body, own), as_written = lined_up, body
    whole = spelled(words, body)
    within = [t for t in turned if any(n is t[0] for n in nodes(body))]
    found = own or (order_of(words, within, whole) if axes is not None and within else layout(words, whole))
    if found is None:
        return None
    found = found if own or within else by_target(as_written, found, left)
    chosen: list[str] = []
    if axes is None and words.reductions[name]:
        chosen = [i for i in found if i != "..."][-1:]
    elif axes is None:
        written_out = stated(body)
        chosen = [i for i in found if i not in left] or [i for i in found if i not in written_out]
    else:
        each = axes if isinstance(axes, tuple) else (axes,)
        places = [axis_at(axis, found) or past_batch_dims(axis, found, left) for axis in each]
        rest = () if words.reductions[name] else unbound(as_written, found, left, places)
        if None in places and not rest:
            return None
        chosen = [*(rest or (place for place in places if place is not None))]
    chosen = chosen or [i for i in found if i != "..."][-1:]
    if not chosen or (name in ("argmax", "argmin") and len(chosen) > 1):
        return None
    binders = tuple(Dots(body.span) if i == "..." else Binder(i, None, body.span) for i in chosen)
    kept = tuple("" if i in chosen and not words.reductions[name] else i for i in found)
    return Meant(Reduction(name, binders, whole, body.span, body.span), axes=kept)


def _over(words: Vocabulary, name: str, body: Expr, indices: Sequence[Expr]) -> Meant | None:
    """`sum(x[k]*w[k], k)`, with the indices as arguments."""
    whole = spelled(words, body)
    named = [i for i in indices if isinstance(i, Name) and not words.knows(i.name) and i.name in layout(words, whole)]
    if len(named) < len(indices):
        return None
    return Meant(Reduction(name, tuple(Binder(i.name, None, i.span) for i in named), whole, body.span, body.span))


def lettered(node: Expr, order: tuple[str, ...], left: tuple[str, ...]) -> tuple[Expr, tuple[str, ...]]:
    """A result with the indices of a target in place of its own, where it has others and as many."""
    same = [i == "..." for i in left] == [i == "..." for i in order]
    if not left or not same or set(left) == set(order):
        return node, order
    inner = [b.name for r in nodes(node) if isinstance(r, Reduction) for b in r.binders if isinstance(b, Binder)]
    spare = (c for c in SPARE if c not in (*left, *order, *inner))
    names = {**{i: next(spare) for i in inner if i in left}, **dict(zip(order, left, strict=True))}
    return reindexed(node, names), left


# --- products --------------------------------------------------------------------------------------------------------


def is_product(name: str) -> bool:
    """Whether a function of another library is a product of two matrices."""
    return ALIASES.get(name.lower(), name.lower()) == "matmul"


def product_of(words: Vocabulary, name: str, args: Sequence[Expr]) -> str | None:
    """How a product of two tensors is written whose shapes are not known, as if they were matrices."""
    of = [e for e in args if isinstance(e, Name) and words.letters.get(e.name, ()) in ((), ("...",))]
    if not is_product(name) or len(of) != len(args) or len(of) != 2:
        return None
    turned = [e.span.source.text.startswith(tuple(f".{word}" for word in TURNED), e.span.end) for e in of]
    a, b = (
        f"{e.name}[{y}, {x}]" if t else f"{e.name}[{x}, {y}]" for e, t, x, y in zip(of, turned, "ik", "kj", strict=True)
    )
    return f"of two matrices it is `y[i, j] = sum[k]({a}*{b})`"


def _product(words: Vocabulary, a: Expr, b: Expr, left: Sequence[str], turned: Sequence[Turned]) -> Meant | None:
    first, second = _factor(words, a, turned), _factor(words, b, turned)
    if first is None or second is None:
        return None
    made = product(first, second, left)
    if made is None and second.pairs_rows_of(first) and (other := transposed(words, b, None, turned)) is not None:
        made = product(first, second, left) if (second := _factor(words, other[0], (*turned, other))) else None
    return None if made is None else Meant(made[0], made[1] or None)


def _factor(words: Vocabulary, e: Expr, turned: Sequence[Turned]) -> Factor | None:
    """An operand of a product; one that was made of another notation may have its indices in another order."""
    whole = spelled(words, e)
    order = next((order for node, order in turned if node is e), None)
    if not isinstance(e, Name | Access | Reduction):
        if (lined_up := in_order(words, turned, e)) is None:
            return None
        whole, order = spelled(words, lined_up[0]), lined_up[1]
    if isinstance(whole, Reduction) and (order is not None or words.reductions.get(whole.name)):
        own = layout(words, whole)
        inner = (o for node, o in turned if sorted(o) == sorted(own) and any(n is node for n in nodes(whole)))
        return Factor(whole, order or next(inner, own), False, {})
    if order is not None and not isinstance(whole, Access):
        return Factor(whole, order, False, {})
    if not isinstance(whole, Access):
        return by_elements(words, e, whole)
    items, shape = _read_at(words, whole), words.shapes.get(whole.name, ())
    known = zip(items, shape, whole.items, strict=True) if len(items) == len(shape) else ()
    sizes = {i: size for i, size, written in known if isinstance(written, Name)}
    is_row = isinstance(e, Access) and len(e.items) == len(items) - 1
    return Factor(whole, order or items, order is None and isinstance(e, Access), sizes, is_row)


def _read_at(words: Vocabulary, e: Access) -> tuple[str, ...]:
    """The index of each item of an access, and `...`; nothing where an item has none or several."""
    found = [
        ["..."] if isinstance(i, Dots) else [i.name] if isinstance(i, Name) else indices_of(words, i) for i in e.items
    ]
    return tuple(i for (i,) in found) if all(len(indices) == 1 for indices in found) else ()


def _distances(
    words: Vocabulary, a: Expr, b: Expr, by: Expr | tuple[Expr, ...], left: Sequence[str], turned: Sequence[Turned]
) -> Meant | None:
    """The norms of the differences of all rows, `by` some order, which are paired as in a product of matrices."""
    other = transposed(words, b, None, turned)
    made = None if other is None else _product(words, a, other[0], left, (*turned, other))
    match made:
        case Meant(node=Reduction(body=Product(factors=((_, first), (_, second)))) as e) if not isinstance(by, tuple):
            apart = Sum((("+", first), ("-", second)), e.span)
            return replace(made, node=norm_of(replace(e, name="norm", body=apart), by))
        case _:
            return None


def written(text: str, whole: Span, above: Sequence[str] = (), *, together: bool = False) -> str:
    """A hint to write this in place of a whole statement; `above`: what those further up become with it.

    No replacement where that would lose a comment or a value. `together`: it is said of all of them.
    """
    lines = ", ".join(f"`{line}`" for line in above)
    if above and together:
        return f"each value has a name of its own: write {lines} and `{text}`"
    if above:
        return f"write {lines} further up, and `{text}` here: each value has a name of its own"
    hint = f"write `{text}`"
    exact = "#" not in whole.text and not any(name in text for name in _OTHERWISE)
    return Hint(hint, whole.text, text, whole) if exact else hint


def by_steps(text: str, above: Sequence[str], index: str) -> str:
    """A hint to write a recurrence in place of a statement; `above`: its start."""
    lines = ", ".join(f"`{line}`" for line in (*above, text))
    return f"it goes on step by step along `{index}`: write {lines}"
