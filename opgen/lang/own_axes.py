"""Calls of other libraries whose result has axes of its own, of whatever kind."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.lang.diagonals import Turned, on_diagonals
from opgen.lang.nodes import Expr
from opgen.lang.norms import normed
from opgen.lang.repeated import repeated
from opgen.lang.replaced import replaced
from opgen.lang.running import directed
from opgen.lang.spread import Named, Spread, spread
from opgen.lang.tensordots import tensordot
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.windows import windowed


def with_own_axes(words: Vocabulary, name: str, args: Sequence[Expr], named: Named, turned: Turned) -> Spread | None:
    """What a call means; `turned` are nodes whose axes have another order than their indices, with that order."""
    found = spread(words, name, args, named, turned) or on_diagonals(words, name, args, named, turned)
    found = found or repeated(words, name, args, named) or windowed(words, name, args, named)
    found = found or tensordot(words, name, args, named) or replaced(words, name, args, named)
    return found or normed(words, name, args, named) or directed(words, name, args, named)
