"""The type of a param: one word, or a list with the type of each element; what stands for either, and what is meant."""

from __future__ import annotations

import re

from pydantic_core import PydanticCustomError

from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import listed
from opgen.schema.annotations import of_list
from opgen.schema.flow import words_of
from opgen.schema.leaves import expected, guessed, one_of, refused, respelt, truth
from opgen.schema.nodes import Node, Scalar, Sequence
from opgen.schema.yaml_words import LIST_OF_TYPES

PARAM_TYPES = ("float", "int", "bool")
_ASSIGNED = re.compile(rf"({'|'.join(PARAM_TYPES)})\s*=\s*(\S+)")


_NUMBER = re.compile(r"-?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?")
_SEVERAL = re.compile(r"\(?\s*\w+(?:\s*,\s*\w+)+\s*,?\s*\)?")


def param_type(node: object) -> str:
    if isinstance(node, str):  # inferred by spread_param
        return node
    if isinstance(node, Scalar) and (written := _with_default(node)):
        kind, value = written
        message = f"expected {listed(PARAM_TYPES)}, found {node.kind}"
        hint = Hint(
            f"write `{{type: {kind}, default: {value}}}`", node.span.text, f"{{type: {kind}, default: {value}}}"
        )
        raise refused("OPG114", message, label="expected a type", hints=(hint,), meant=respelt(node, kind))
    node, count, kind = node if isinstance(node, tuple) else (node, None, "")
    if isinstance(node, Scalar) and (listed_type := of_list(node.text) or (kind and (kind, None))):
        raise _of_elements(node, respelt(node, listed_type[0]), listed_type[1] or count)
    if isinstance(node, Scalar) and _SEVERAL.fullmatch(node.text) and all(map(_kind, items := words_of(node))):
        right = f"[{', '.join(item.text for item in items)}]"
        hint = Hint(f"a list has square brackets: write `type: {right}`", node.span.text, right, node.span)
        meant = Sequence(items, node.span, node.key)
        raise refused("OPG114", f"expected {listed(PARAM_TYPES)}, found {node.kind}", hints=(hint,), meant=meant)
    if not isinstance(node, Sequence):
        return one_of(*PARAM_TYPES, "str", unnamed="str")(node)
    if (counted := _counted(node)) is not None:
        raise _of_elements(node, *counted)
    if not node.items:
        raise expected("a type for each element", node, "such as `[int, int]`")
    return _of_each(node)


def _of_each(node: Sequence) -> str:
    """The type that the elements of a list have; what is wrong with several of them is told at once."""
    kinds = [_kind(item) for item in node.items]
    wrong = [item for item in node.items if not isinstance(item, Scalar) or item.text not in PARAM_TYPES]
    words = [item.text for item in wrong if isinstance(item, Scalar)]
    if len(words) == len(kinds) and not any(kinds) and all(w.isidentifier() for w in words):
        told = f"a param of a few words has `choices: [{', '.join(words)}]`, and no `type`"
        raise refused("OPG112", "expected a type, found a list of words", node, hints=(told,))
    known = sorted({kind for kind in kinds if kind}, key=PARAM_TYPES.index)
    if not wrong and len(known) == 1:
        return known[0]
    one = "float" if known[:1] == ["float"] and "bool" not in known else known[0] if len(known) == 1 else ""
    right = f"[{', '.join([one] * len(kinds))}]"
    hints: tuple[str, ...] = (Hint(f"write `type: {right}`", node.span.text, right, node.span),) if one else ()
    apart = listed(known, "and")
    hints = hints or ((f"what is of several types is a param for each: of types {apart}",) if apart else ())
    meant = Sequence(tuple(Scalar(one, one, item.span) for item in node.items), node.span, node.key) if one else None
    message = "the elements of a list param have one type"
    if (values := _values(node)) and str(node.key) != "type":
        fields = f"{{type: [{', '.join([values] * len(kinds))}], default: {node.span.text}}}"
        hints, meant = (Hint(f"write `{fields}`", node.span.text, fields),), None
    if wrong:
        message = f"expected {listed(PARAM_TYPES)}, found {' and '.join(item.kind for item in wrong)}"
    raise refused("OPG112", message, node, label="one type for all elements", hints=hints, meant=meant)


def _values(node: Sequence) -> str:
    """The type of numbers that stand in the place of types; empty where something else stands there."""
    each = [item.value for item in node.items if isinstance(item, Scalar)]
    if len(each) < len(node.items) or not all(isinstance(v, int | float) for v in each):
        return ""
    if all(isinstance(v, bool) for v in each):
        return "bool"
    return "" if any(isinstance(v, bool) for v in each) else "int" if all(isinstance(v, int) for v in each) else "float"


def _kind(item: Node) -> str:
    """The type that an element states or means; empty for none."""
    return guessed(item.text, PARAM_TYPES) or "" if isinstance(item, Scalar) else ""


LONGEST_LIST = 16  # elements that are written out one by one


def _counted(node: Sequence) -> tuple[Scalar, int] | None:
    """`[float, 3]` and `[3, float]`: the type of the elements, and how many there are; None for any other list."""
    match sorted(node.items, key=lambda item: isinstance(item, Scalar) and isinstance(item.value, int)):
        case [Scalar(text=kind) as of, Scalar(text=count)] if kind in PARAM_TYPES and count.isdecimal() and int(count):
            return of, int(count)
        case _:
            return None


def _of_elements(node: Scalar | Sequence, kind: Scalar, count: int | None) -> PydanticCustomError:
    """`float[3]`: a list of elements of a kind, whose type is written in another way."""
    found = node.kind if isinstance(node, Scalar) else "a type and a count"
    wanted = listed(PARAM_TYPES) if isinstance(node, Scalar) else "the type of each element"
    message, meant = f"expected {wanted}, found {found}", None
    hint = LIST_OF_TYPES
    if count is not None and count > LONGEST_LIST:
        hint = f"that many numbers are an input: declare it there, with `shape: [{count}]`"
    elif count:
        right = f"[{', '.join([kind.text] * count)}]"
        hint = Hint(f"a list says the type of each element: write `{node.key}: {right}`", node.span.text, right)
        meant = Sequence((kind,) * count, node.span, node.key)
    return refused("OPG114", message, node, label="the type of a list", hints=(hint,), meant=meant)


def _with_default(node: Scalar) -> tuple[str, str] | None:
    """Type and default where one or both stand in place of the type: `1e-5`, `int = 2`."""
    match node.value:
        case bool():
            return "bool", node.text
        case int():
            return "int", node.text
        case float():
            return "float", node.text
        case str() if node.text.lower() in ("yes", "no", "on", "off"):
            return "bool", truth(node.text) or "true"
        case str() if _NUMBER.fullmatch(node.text):  # in quotes
            return "int" if node.text.lstrip("-").isdecimal() else "float", node.text
        case _:
            found = _ASSIGNED.fullmatch(node.text)
            return (found[1], found[2]) if found else None
