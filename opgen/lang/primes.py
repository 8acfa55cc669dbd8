"""Names with a prime, `s'`, as papers write another index or the value after a step.

Tokens in, tokens out: such a name is read as the one that is proposed for it, so that the rest of its line is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from opgen.lang.lexer import T, Token
from opgen.lang.notes import Notes
from opgen.schema.spelling import is_declared, without_primes

_NAMES = "names and indices are made of letters, digits and `_`"


def without_primes_behind_names(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with such names in place of what turns a matrix round.

    A prime belongs to the name in front of it where that is declared or assigned so, and inside brackets, where no
    matrix stands as a whole; a name that has one there has one in all of its statement.
    """
    made: list[Token] = []
    firsts = [k for k in range(len(tokens)) if k == 0 or tokens[k - 1].kind is T.NEWLINE]
    assigned = [_written(tokens, k) for k in firsts]
    indices: tuple[str, ...] = ()
    k = 0
    while k < len(tokens):
        token = tokens[k]
        if not made or made[-1].kind is T.NEWLINE:
            indices = _indices(tokens[k:])
        end = _behind(tokens, k)
        if end > k + 1:
            span = token.span.to(tokens[end - 1].span)
            own, text = _written(tokens, k), span.source.text
            index = token.text in indices and not _is_read(tokens, k)
            if index or own in assigned or is_declared(own, text):
                made.append(Token(T.NAME, without_primes(own, text), span))
                k = end
                continue
        made.append(token)
        k += 1
    return made


def note_primes(notes: Notes, tokens: Sequence[Token]) -> None:
    """Note the indices of a statement that have one; what is declared with one has been told there."""
    told: list[str] = []
    for token in tokens:
        written = token.span.text
        if token.kind is T.NAME and written.endswith("'") and token.text != "'" and written not in told:
            told.append(written)
            if not is_declared(written, token.span.source.text):
                notes.note(token.span, f"`{written}` is not part of the formula language", _NAMES)


def _behind(tokens: Sequence[Token], at: int) -> int:
    """Where a name ends with the primes directly behind it."""
    end = at + 1
    while tokens[at].kind is T.NAME and end + 1 < len(tokens) and _is_prime(tokens[end], tokens[end + 1]):
        end += 2
    return end


def _is_read(tokens: Sequence[Token], at: int) -> bool:
    """Whether positions follow a name with primes, as those of a matrix do."""
    return any(t.is_op("[") for t in tokens[_behind(tokens, at) :][:1])


def _written(tokens: Sequence[Token], at: int) -> str:
    """A name with the primes behind it."""
    return tokens[at].text + "'" * ((_behind(tokens, at) - at) // 2)


def _is_prime(dot: Token, mark: Token) -> bool:
    return dot.is_op(".") and mark.is_word("'") and dot.span.text == "'"


def _indices(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The names in a statement that have a prime inside brackets."""
    found: dict[str, None] = {}
    opened: list[str] = []
    own = [*takewhile(lambda t: t.kind is not T.NEWLINE, tokens)]
    for k, token in enumerate(own):
        if token.is_op("(", "["):
            opened.append(token.text)
        elif token.is_op(")", "]"):
            opened = opened[:-1]
        elif opened[-1:] == ["["] and _behind(own, k) > k + 1 and not _is_read(own, k):
            found[token.text] = None
    return (*found,)
