"""Updates as JAX writes them, `y = y0.at[ids].add(x)`: what adds up at computed positions is a scatter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType

from opgen.lang.layout import access_at, layout, spelled
from opgen.lang.lexer import T, Token
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Target
from opgen.lang.unparse import unparse_assign
from opgen.lang.vocabulary import Vocabulary

_UPDATES = MappingProxyType({"add": "+=", "mul": "*=", "multiply": "*=", "max": "max=", "min": "min="})
_SHAPE = re.compile(r"\bzeros\(\s*[\[(]?\s*(?P<dims>[A-Z\d]\w*(?:\s*,\s*[A-Z\d]\w*)*)")
_SCATTER = "what comes together at computed positions is a scatter"
GENERAL = f"{_SCATTER}, a statement of its own: `y[ids[n]] += x[n]`"
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


def scattered(
    words: Vocabulary, target: Target, of: str, items: Sequence[Expr | Dots], how: str, value: Expr
) -> tuple[str, ...]:
    """What to write for `target = of.at[items].how(value)`; `of` is the text of what is updated."""
    if how not in _UPDATES:
        return (_NOT_SET,)
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
    shape = _SHAPE.search(of)
    if target.name in words.results or shape is None:
        return (f"{_SCATTER}: write `{line}`",)
    dims = ", ".join(re.findall(r"\w+", shape["dims"]))
    return (f"{_SCATTER}: write `{line}`, with `outputs: {{{target.name}: {{shape: [{dims}]}}}}`",)


def _at(target: Target, items: Sequence[Binder | Dots | Expr]) -> Target:
    return Target(target.name, tuple(items), target.span, target.name_span)
