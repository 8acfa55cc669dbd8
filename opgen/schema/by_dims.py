"""Sizes that stand as a shape, `x: [2, 3]`, where they are written by dims: `{N: 2, C: 3}`.

In go the items of a declared shape and what is given; out come the sizes of its dims, or a hint.
"""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence as Items

from opgen.schema.nodes import Mapping, Node, Scalar, Sequence

_EXAMPLE = "sizes are written by dims, such as `sizes: {N: 2}`"


def sizes_by_dims(items: Items[str], given: object) -> dict[str, int] | None:
    """The dims of a shape with what is given as their sizes; None where that is no shape of this kind."""
    if not isinstance(given, list) or not all(isinstance(v, int) and not isinstance(v, bool) for v in given):
        return None
    at = items.index("...") if "..." in items else len(items)
    behind = len(items[at + 1 :])
    if len(given) < at + behind or (at == len(items) != len(given)) or any(v < 0 for v in given):
        return None
    last = zip(items[len(items) - behind :], given[len(given) - behind :], strict=True)
    pairs = [*zip(items[:at], given, strict=False), *last]
    found = {n: v for n, v in pairs if n[:1].isupper()}
    return found if found and all(found.get(n, n) == v or n == str(v) for n, v in pairs) else None


def shown(sizes: Table[str, int]) -> str:
    return f"{{{', '.join(f'{n}: {v}' for n, v in sizes.items())}}}"


def stated_by_shape(root: Mapping, loc: Items[object], given: object) -> tuple[str, ...]:
    """A hint for `tests: {sizes: …}` with a list in it, or as a list; nothing where something else is wrong."""
    if tuple(loc[:2]) != ("tests", "sizes") or not isinstance(given, Sequence):
        return ()
    shapes = _shapes(root)
    tests = root.get("tests")
    stated = tests.get("sizes") if isinstance(tests, Mapping) else None
    if isinstance(stated, Mapping):
        each = [sizes_by_dims(shapes.get(k.text, ()), _list(v)) for k, v in stated.entries if isinstance(v, Sequence)]
    else:
        fits = [s for items in shapes.values() if (s := sizes_by_dims(items, _list(given))) is not None]
        each = [*fits[:1]] if all(s == fits[0] for s in fits) else []
    whole: dict[str, int] = {}
    for one in each:
        if one is None or any(whole.get(n, v) != v for n, v in one.items()):
            return (_EXAMPLE,)
        whole |= one
    return (f"sizes are written by dims: `sizes: {shown(whole)}`",) if whole else (_EXAMPLE,)


def _shapes(root: Mapping) -> dict[str, tuple[str, ...]]:
    """The declared shapes of the inputs."""
    inputs = root.get("inputs")
    found: dict[str, tuple[str, ...]] = {}
    for key, fields in inputs.entries if isinstance(inputs, Mapping) else ():
        shape = fields.get("shape") if isinstance(fields, Mapping) else None
        if isinstance(shape, Sequence):
            found[key.text] = tuple(i.text for i in shape.items if isinstance(i, Scalar))
    return found


def _list(node: Node) -> object:
    return [i.value if isinstance(i, Scalar) else None for i in node.items] if isinstance(node, Sequence) else None
