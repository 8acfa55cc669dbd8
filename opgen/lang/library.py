"""Functions of other libraries as their own notation says them, with the arguments of a call in place of the names.

Names and arguments in, a formula out that is read once more as if it had been written there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from opgen.lang.densities import by_name
from opgen.lang.formulas import CALLS, SECOND, declared, otherwise
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Call, Expr, Name, Number, Reduction, Text
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

_AFFINE = (("weight", "1", "({})*{}"), ("bias", "0", "{} + {}"))  # of norms, where they are given
_MANY = 9  # factors that nobody writes out
_ATOMS = (Name, Number, Access, Call, Reduction)


def takes_shape(name: str) -> bool:
    """Whether the second argument is the shape of what is normalised."""
    row = CALLS.get(name)
    return row is not None and ", shape" in row.arguments


def formula(
    words: Vocabulary, name: str, args: Sequence[Expr], named: Mapping[str, Expr | tuple[Expr, ...]], *, each: bool
) -> str | None:
    """The formula of a call; None where an argument has no place in it. `each`: of an element, for a loss."""
    if not named and (factors := _factors(name, args)):
        return " @ ".join(map(_written, factors))
    row = CALLS.get(name)
    if row is None and named and not any(isinstance(v, tuple) for v in named.values()):
        values = {key: _written(v) for key, v in named.items() if not isinstance(v, tuple)}
        return by_name(name, [*map(_written, args)], values)
    if row is None or (not named and declared(name, len(args)) is not None):
        return None if named else otherwise(name, args)
    shared = _shared(words, args) if row.arguments.startswith("x, y") else None
    if row.arguments.startswith("x, y") and shared is None and not _side_by_side(words, args):
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
    if any(default in ("True", "False") and values[key].title() != default for key, _, default in wanted):
        return None
    if "" in values.values():
        return None
    said = [key for key, _ in given]
    if shared is not None and "dim" in values:
        values["dim"] = shared
    elif values.get("dim") == SECOND and "dim" not in said and not _has_second(words, args[0]):
        values["dim"] = "-1"
    of_value = row.of_value and not isinstance(args[0], Name)
    text = row.of_value if of_value else row.formula
    for key in (key for key, _, default in wanted if default == "1" and key not in said):
        text = re.sub(rf"\b{key}\*", "", text)
    text = re.sub(r"\b[a-z_]\w*\b", lambda word: values.get(word[0], word[0]), text)
    for key, neutral, more in _AFFINE:
        if (key, "=", neutral) in wanted and values[key] not in (neutral, "None"):
            text = more.format(text, values[key])
    return _reduced(words, args[0], text, reduction) if row.is_loss and not each else text


def _factors(name: str, args: Sequence[Expr]) -> Sequence[Expr]:
    """The matrices whose product a call is; none for any other, and for a power that is no small number."""
    match name, args:
        case (("multi_dot" | "chain_matmul"), (Call(name="[]", args=factors),)):
            return factors
        case "chain_matmul", (_, _, *_):
            return args
        case "matrix_power", (of, Number(value=int(times))) if 0 < times < _MANY:
            return [of] * times
        case _:
            return ()


def _has_second(words: Vocabulary, of: Expr) -> bool:
    """Whether the second axis of a value is known."""
    own = layout(words, spelled(words, of))
    return len(own) > 1 and "..." not in own[:2]


def _shared(words: Vocabulary, args: Sequence[Expr]) -> str | None:
    """The one index that two tensors share, each of which has others, too, or the one that is all of the other."""
    own = [layout(words, spelled(words, a)) for a in args[:2]]
    both = [i for i in own[0] if i in own[-1]]
    return both[0] if len(own) == 2 and len(both) == 1 and {*own[0]} != {*own[1]} else None


def _side_by_side(words: Vocabulary, args: Sequence[Expr]) -> bool:
    """Whether the axes of all tensors are the last ones of that with the most."""
    own = sorted((words.letters.get(a.name, ()) for a in args if isinstance(a, Name)), key=len)
    return all(letters == own[-1][len(own[-1]) - len(letters) :] for letters in own)


def _reduced(words: Vocabulary, of: Expr, text: str, reduction: Expr | tuple[Expr, ...] | None) -> str | None:
    match reduction:
        case None:
            return f"mean({text})"
        case Text(value="mean" | "sum" as how):
            return f"{how}({text})"
        case Text(value="none"):
            return text
        case Text(value="batchmean"):
            shapes = (words.shapes.get(n.name, ()) for n in nodes(of) if isinstance(n, Name | Access))
            first = next((shape[0] for shape in shapes if shape and shape[0] != "..."), None)
            return None if first is None else f"sum({text})/{first}"
        case _:
            return None


def _written(e: Expr) -> str:
    text = unparse(e)
    return text if isinstance(e, _ATOMS) else f"({text})"
