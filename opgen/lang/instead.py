"""What to write for a statement of another language: a choice, a `return`, a function, a call that assigns nothing.

Tokens and names in, hints out, or the target that a call changes in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from opgen.lang.habits import STATEMENTS
from opgen.lang.lexer import T, Token
from opgen.lang.loops import downwards
from opgen.lang.modes import in_block, of_mode
from opgen.lang.nodes import Target
from opgen.lang.results import returned
from opgen.lang.slips import guarded, own_function
from opgen.lang.updates import free_name
from opgen.lang.vocabulary import Vocabulary

ASSIGNS_NOTHING = "this line assigns nothing"
_NO_NAME = "a statement is `name = expression`; an expression goes on over lines only inside open brackets"


def instead_of(words: Vocabulary, first: Token, end: Token) -> tuple[str, ...]:
    """What to write for a statement that begins with a word of another language."""
    text = first.span.source.text[first.span.start : end.span.start]
    if first.text == "if" and (lines := guarded(text, words.settings)):
        return (f"a choice is a guard at the end: {', '.join(f'`{line}`' for line in lines)}",)
    if first.text == "return" and words.gradients:
        values = [v.strip() for v in text.removeprefix("return").split(",")]
        plain = len(values) == len(words.gradients) and all(v.count("(") == v.count(")") for v in values)
        lines = tuple(
            f"`{n} = {v if plain else '…'}`" for n, v in zip_longest(words.gradients, values[: len(words.gradients)])
        )
        return (f"a statement for each gradient: {', '.join(lines)}",)
    if first.text == "return" and (instead := returned(words, text)):
        return (instead,)
    return (own_function(text) or downwards(text) or in_block(text) or STATEMENTS[first.text],)


def of_call(line: str) -> str:
    """What is said of a call that assigns nothing."""
    return of_mode(line) or _NO_NAME


def changed_in_place(words: Vocabulary, tokens: Sequence[Token], at: int) -> Target | None:
    """The target that `x.fill_diagonal_(0)` means as a statement, of an input under a new name; None for any other.

    What is called with a tensor in front of the others, `np.fill_diagonal(x, 0)`, changes that one.
    """
    first, dot, method, opener, given, behind = [*tokens[at : at + 6], *[tokens[-1]] * 6][:6]
    if first.kind is not T.NAME or not dot.is_op(".") or method.kind is not T.NAME or not opener.is_op("("):
        return None
    of = first if first.text in words.letters else given
    changes = method.text.endswith("_") if of is first else behind.is_op(",", ")")
    if of.kind is not T.NAME or of.text not in words.letters or not changes:
        return None
    name = free_name(words, of.text) if of.text in words.inputs else of.text
    return Target(name, None, of.span, of.span)
