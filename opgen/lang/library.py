"""Functions of other libraries as their own notation says them, with the arguments of a call in place of the names.

Names and arguments in, a formula out that is read once more as if it had been written there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from opgen.lang.formulas import CALLS, declared
from opgen.lang.nodes import Access, Call, Expr, Name, Number, Reduction, Text
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary

_AFFINE = (("weight", "1", "({})*{}"), ("bias", "0", "{} + {}"))  # of norms, where they are given
_ATOMS = (Name, Number, Access, Call, Reduction)


def takes_shape(name: str) -> bool:
    """Whether the second argument is the shape of what is normalised."""
    row = CALLS.get(name)
    return row is not None and ", shape" in row.arguments


def formula(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]], *, each: bool
) -> str | None:
    """The formula of a call; None where an argument has no place in it. `each`: of an element, for a loss."""
    row = CALLS.get(name)
    if row is None or (not named and declared(name, len(args)) is not None):
        return None
    if row.arguments.startswith("x, y") and not _side_by_side(words, args):
        return None
    wanted = [part.strip().partition("=") for part in row.arguments.split(",")]
    values = {key: default for key, _, default in wanted}
    rest = dict(named)
    reduction = rest.pop("reduction", None) if row.is_loss else None
    given = [*zip([key for key, _, _ in wanted], args, strict=False), *rest.items()]
    if len(args) > len(wanted) or not {key for key, _ in given} <= {*values}:
        return None
    if any(isinstance(v, tuple) and key != "shape" for key, v in given):
        return None
    values |= {key: _written(v) for key, v in given if not isinstance(v, tuple)}
    if "" in values.values() or (values.get("p", "2") != "2" and "dim" in values):
        return None
    text = re.sub(r"\b[a-z_]\w*\b", lambda word: values.get(word[0], word[0]), row.formula)
    for key, neutral, more in _AFFINE:
        if values.get(key, neutral) not in (neutral, "None"):
            text = more.format(text, values[key])
    return _reduced(text, reduction) if row.is_loss and not each else text


def _side_by_side(words: Vocabulary, args: Sequence[Expr]) -> bool:
    """Whether the axes of all tensors are the last ones of that with the most."""
    own = sorted((words.letters.get(a.name, ()) for a in args if isinstance(a, Name)), key=len)
    return all(letters == own[-1][len(own[-1]) - len(letters) :] for letters in own)


def _is_other(values: Mapping[str, str]) -> bool:
    """Whether the formula is that of another value of `approximate`."""
    return values.get("approximate", "'tanh'").strip("'\"") != "tanh"


def _reduced(text: str, reduction: Expr | tuple[Expr, ...] | None) -> str | None:
    match reduction:
        case None:
            return f"mean({text})"
        case Text(value="mean" | "sum" as how):
            return f"{how}({text})"
        case Text(value="none"):
            return text
        case _:
            return None


def _written(e: Expr) -> str:
    text = unparse(e)
    return text if isinstance(e, _ATOMS) else f"({text})"
