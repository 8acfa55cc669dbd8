"""Reductions of values that stand beside one another: `logsumexp(a, b)`, `mean(a, b)`, `any([p, q])`.

The name and the values in, the formula of these values out; None where one of them is an axis, or nothing is meant for
certain.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.aliases import ALIASES
from opgen.lang.beside import Arguments
from opgen.lang.joins import LIST
from opgen.lang.lexer import Token
from opgen.lang.nodes import Access, Call, Expr, Name, Number, Reduction
from opgen.lang.notes import Notes
from opgen.lang.several import OF_TWO, of
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

MESSAGE = "`{}` reduces over an index, and these are single values"


def of_values(notes: Notes, token: Token, arguments: Arguments) -> Expr | None:
    """What a call of a reduction means whose arguments are values, which is noted; None for any other call."""
    words, called, given = notes.words, token.text, arguments.given
    name = called if words.has(called) else ALIASES.get(called.lower(), called)
    if arguments.at is not None or name not in words.reductions or called in words.signatures or words.knows(called):
        return None
    listed = len(given) == 1 and isinstance(given[0], Call) and given[0].name == LIST
    values = given[0].args if listed and isinstance(given[0], Call) else tuple(given)
    if (name in words.functions and (not listed or called == name)) or not _are_values(words, values, listed=listed):
        return None
    meant = of(name, values)
    if meant is None:
        return None
    notes.note(token.span, MESSAGE.format(called), code="OPG206", otherwise=f"of these it is `{unparse(meant)}`")
    if name in OF_TWO:
        other = of(name, values[::-1])
        assert other is not None
        notes.alternatives.append(f"or, where the second of both is meant, with `{unparse(other)}`")
    return meant


def _are_values(words: Vocabulary, values: Sequence[Expr], *, listed: bool) -> bool:
    """Whether all of them are values, so that none is the number or the name of an axis."""
    if any(isinstance(v, Name | Access) and v.name in (*words.integers, *words.masks) for v in values):
        return False  # which say what belongs together, or what is left out
    single = [_is_value(words, v) for v in values]
    numbers = [isinstance(v, Number) for v in values]
    whole = all(a or b for a, b in zip(single, numbers, strict=True)) and sum(single) > 0
    return len(values) > 1 and whole and (listed or sum(single) > 1)


def _is_value(words: Vocabulary, e: Expr) -> bool:
    if isinstance(e, Name):
        return e.name in words.letters or e.name in words.assigned
    return not (isinstance(e, Call) and e.name == LIST) and any(
        isinstance(n, Access | Reduction) or (isinstance(n, Name) and n.name in words.letters) for n in nodes(e)
    )
