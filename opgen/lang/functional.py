"""Updates as JAX writes them, `y = y0.at[ids].add(x)`: what adds up at computed positions is a scatter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType

from opgen.diagnostics.model import Span
from opgen.lang.beside import Arguments
from opgen.lang.habits import AT, MODULES, SCATTER
from opgen.lang.layout import access_at, layout, spelled
from opgen.lang.lexer import T, Token
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Target, Text
from opgen.lang.targets import remember
from opgen.lang.unparse import unparse_assign
from opgen.lang.vocabulary import SPARE, UNCLEAR, Vocabulary
from opgen.lang.vocabulary import letters as letters_of
from opgen.lang.walk import integer, nodes

_UPDATES = MappingProxyType({"add": "+=", "mul": "*=", "multiply": "*=", "max": "max=", "min": "min="})
_SHAPE = re.compile(r"\bzeros\(\s*[\[(]?\s*(?P<dims>[A-Z\d]\w*(?:\s*,\s*[A-Z\d]\w*)*)")
_ZEROS = re.compile(r"(?:\w+\.)*(?:zeros|zeros_like|ones|empty|full)\((?:[^()]|\([^()]*\))*\)")  # nothing beside it
_FILLED = re.compile(
    r"(?:\w+\.)*(?P<how>zeros|ones|full)\(\s*[\[(]?\s*(?P<dims>\w+(?:\s*,\s*\w+)*)\s*,?\s*[\])]?"
    r"(?:,\s*(?P<value>-?[\w.]+))?\s*\)"
)
_LIKE = re.compile(r"\bzeros_like\(\s*(?P<like>\w+)")
_ADDING = ("index_add", "index_add_", "scatter_add", "scatter_add_")
_REDUCING = ("scatter_reduce", "scatter_reduce_", "index_reduce", "index_reduce_")
_HOW = MappingProxyType({"sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "amax": "max", "amin": "min"})
_KEYS = ("dim", "index", "src", "reduce")
_UFUNCS = MappingProxyType({"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "subtract": "sub"})
_SCATTER = SCATTER
GENERAL = AT
_NOT_SET = (
    "positions that are computed may be the same: they add up, `y[ids[n]] += x[n]`, or the greatest stays, `max=`; of"
    " one place write `where(i == k, value, x[i])`"
)


def place_of(tokens: Sequence[Token], at: int) -> int | None:
    """The dot of `.at[…]` behind the whole of what stands in front of it on this line; None where there is none."""
    depth = 0
    while tokens[at].kind not in {T.NEWLINE, T.END}:
        depth += tokens[at].is_op("(", "[") - tokens[at].is_op(")", "]")
        if depth == 0 and tokens[at].is_op(".") and tokens[at + 1].is_word("at") and tokens[at + 2].is_op("["):
            return at
        at += 1
    return None


def added_at(tokens: Sequence[Token], at: int) -> int | None:
    """The dot of `.index_add(…)` or `.scatter_reduce(…)` behind the whole of what stands in front of it on this line;
    None where there is none.
    """
    depth = 0
    while tokens[at].kind not in {T.NEWLINE, T.END}:
        depth += tokens[at].is_op("(", "[") - tokens[at].is_op(")", "]")
        if depth == 0 and tokens[at].is_op(".") and tokens[at + 1].is_word(*_ADDING, *_REDUCING):
            return at if tokens[at + 2].is_op("(") else None
        at += 1
    return None


def added(of: Span, name: str, arguments: Arguments) -> tuple[str, tuple[Expr, ...], str]:
    """What such a call adds to, its axis, positions and values, and how what comes together is combined; nothing of
    these where that is not certain.
    """
    given = arguments.given
    if of.text in MODULES and len(given) > 1:
        of, given = given[0].span, given[1:]
    named = {"src" if k == "source" else k: v for k, v in arguments.named.items()}
    values = {**dict(zip(_KEYS, given, strict=False)), **named}
    how, own = values.pop("reduce", None), values.pop("include_self", None)
    whole = tuple(e for k in _KEYS if (e := values.get(k)) is not None and not isinstance(e, tuple))
    if {*values} != {*_KEYS[:-1]} or len(whole) < len(values) or not (own is None or own == Name("True", of)):
        return of.text, (), ""
    if name in _ADDING:
        return of.text, whole, "add" if how is None else ""
    return of.text, whole, _HOW.get(how.value, "") if isinstance(how, Text) else ""


def ufunc_at(tokens: Sequence[Token], at: int) -> str | None:
    """How `np.add.at(…)` combines, which begins here; None for any other statement."""
    dots = tokens[at + 1 : at + 2] and [t for t in tokens[at + 1 : at + 5 : 2] if t.is_op(".")]
    if len(dots) < 2 or not tokens[at + 4].is_word("at") or not tokens[at + 5].is_op("("):
        return None
    return _UFUNCS.get(tokens[at + 2].text)


def places_along(words: Vocabulary, given: Sequence[Expr]) -> tuple[Expr | Dots, ...]:
    """The positions of `x.index_add(axis, ids, e)`; none where it is not known which axis that is."""
    axis = integer(given[0]) if len(given) == len(("axis", "ids", "e")) else None
    order = layout(words, spelled(words, given[2])) if axis is not None else ()
    if axis is None or not -len(order) <= axis < len(order):
        return (given[1],) if axis == 0 else ()
    at = axis % len(order)
    if "..." in (order[at:] if axis < 0 else order[: at + 1]):
        return ()
    span = given[1].span
    items = [Dots(span) if i == "..." else Name(i, span) for i in order]
    return (*items[:at], given[1], *items[at + 1 :])


def scattered(
    words: Vocabulary, target: Target, of: str, items: Sequence[Expr | Dots], how: str, value: Expr
) -> tuple[str, ...]:
    """What to write for `target = of.at[items].how(value)`; `of` is the text of what is updated."""
    if how not in _UPDATES:
        return (_NOT_SET,)
    if not (of.isidentifier() or _ZEROS.fullmatch(of)):
        return (GENERAL,)
    value = spelled(words, value)
    places = [i if isinstance(i, Dots) else spelled(words, i) for i in items]
    used = layout(words, Access("", tuple(places), target.span, target.span))
    reads = any(isinstance(i, Access) for i in places)
    rest = [i for i in layout(words, value) if i not in used] if reads else []
    letters = words.letters.get(of, ())
    dots = any(isinstance(i, Dots) for i in places)
    if not dots and len(places) + len(rest) < len(letters):
        rest = [*letters[len(places) :]]
    whole = (*places, *(Dots(value.span) if i == "..." else Name(i, value.span) for i in rest))
    line = unparse_assign(Assign(_at(target, whole), _UPDATES[how], value, None, value.span))
    if letters and of != target.name:
        copied = access_at(of, letters, Name(of, value.span))
        own = [Dots(value.span) if i == "..." else Binder(i, None, value.span) for i in letters]
        first = unparse_assign(Assign(_at(target, own), "=", copied, None, value.span))
        return (f"{_SCATTER} into a copy: write `{first}`, then `{line}`",)
    if (start := _start(words, target, of, whole)) is not None:
        return (f"{_SCATTER}: write `{unparse_assign(start)}`, then `{line}`",)
    shape, like = _SHAPE.search(of), _LIKE.search(of)
    sizes = words.shapes.get(like["like"], ()) if like else re.findall(r"\w+", shape["dims"]) if shape else ()
    if target.name in words.results or not sizes:
        return (f"{_SCATTER}: write `{line}`",)
    if target.name not in words.outputs and UNCLEAR not in sizes:  # it is read further down
        at = target.span
        ours = zip(letters_of(sizes, words.instead), sizes, strict=True)
        own = [Dots(at) if i == "..." else Binder(i, Name(n, at), at) for i, n in ours]
        begun = Assign(_at(target, own), "=", Number(0, at), None, at)
        remember(words, begun)
        return (f"{_SCATTER}: write `{unparse_assign(begun)}`, then `{line}`",)
    dims = ", ".join(sizes)
    return (f"{_SCATTER}: write `{line}`, with `outputs: {{{target.name}: {{shape: [{dims}]}}}}`",)


def _start(words: Vocabulary, target: Target, of: str, places: Sequence[Expr | Dots]) -> Assign | None:
    """What `zeros(num_nodes)` is as a statement, for sizes that no shape holds, or numbers that are none to begin with.

    None where a shape says it: `zeros(V)`.
    """
    made = _FILLED.fullmatch(of)
    sizes = re.findall(r"\w+", made["dims"]) if made else []
    in_shape = made is not None and made["how"] == "zeros" and not any(n[:1].islower() for n in sizes)
    known = all(n.isdigit() or words.knows(n) for n in sizes)
    if made is None or in_shape or target.name in words.results or not known or len(sizes) != len(places):
        return None
    at, used = target.span, [i.name for p in places if not isinstance(p, Dots) for i in nodes(p) if isinstance(i, Name)]
    free = iter([c for c in ("n", *SPARE) if c not in used and not words.knows(c)])
    letters = [p.name if isinstance(p, Name) else next(free) for p in places]
    own = [Binder(c, Name(size, at), at) for c, size in zip(letters, sizes, strict=True)]
    value = made["value"] or {"zeros": "0", "ones": "1"}.get(made["how"], "")
    return Assign(_at(target, own), "=", Name(value, at), None, at) if value else None


def _at(target: Target, items: Sequence[Binder | Dots | Expr]) -> Target:
    return Target(target.name, tuple(items), target.span, target.name_span)
