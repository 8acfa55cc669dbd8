"""Sizes that stand as a shape, `x: [2, 3]` or `[2, 3]`, where they are written by dims: `{N: 2, C: 3}`.

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
    shapes = shapes_of(root)
    stated = _stated(root, "sizes")
    if isinstance(stated, Mapping):
        each = [sizes_by_dims(shapes.get(k.text, ()), _list(v)) for k, v in stated.entries if isinstance(v, Sequence)]
    else:
        fits = _fitting(shapes, given)
        each = [] if fits is None else [fits]
    whole: dict[str, int] = {}
    for one in each:
        if one is None or any(whole.get(n, v) != v for n, v in one.items()):
            return (_EXAMPLE,)
        whole |= one
    return (f"sizes are written by dims: `sizes: {shown(whole)}`",) if whole else (_EXAMPLE,)


def cases_by_shape(root: Mapping, loc: Items[object], given: object) -> tuple[str, ...]:
    """A hint for `tests: {cases: …}` with shapes, numbers or words in the place of cases; the same for each of them."""
    cases = _stated(root, "cases")
    if tuple(loc[:2]) != ("tests", "cases") or (isinstance(given, Mapping) and given is not cases):
        return ()
    shapes = shapes_of(root)
    found: list[dict[str, int] | None] = [None]
    match cases:
        case Mapping(entries=entries):
            named = [(shapes.get(key.text, ()), value) for key, value in entries]
            if not any(len(items) > 1 and "..." not in items for items, _ in named):  # they may be values
                return ()
            found = [_together(named)]
            if found == [None]:
                return ()
        case Sequence(items=items) if all(isinstance(i, Sequence) for i in items):
            one = _together([*zip(shapes.values(), items, strict=True)]) if len(items) == len(shapes) else None
            found = [_fitting(shapes, i) for i in items if isinstance(i, Sequence)] if one is None else [one]
        case Sequence():
            found = [_fitting(shapes, cases)]
        case _:
            pass
    sizes = [s for s in found if s]
    if len(sizes) < len(found) or not sizes:
        dim = next((n for items in shapes.values() for n in items if n[:1].isupper()), "N")
        each = f"a case gives dims, params or inputs a value by name: `cases: [{{{dim}: 3}}]`"
        return (f"{each}; sizes of all tests stand beside the cases: `sizes: {{{dim}: 3}}`",)
    written = f"`cases: [{', '.join(map(shown, sizes))}]`"
    return (f"write {written}: a case gives dims their sizes; those of all tests are `sizes: {shown(sizes[0])}`",)


def _stated(root: Mapping, field: str) -> Node | None:
    tests = root.get("tests")
    return tests.get(field) if isinstance(tests, Mapping) else None


def _fitting(shapes: Table[str, Items[str]], given: Sequence) -> dict[str, int] | None:
    """The sizes that a list gives the dims of an input; None where it fits none, or several in different ways."""
    fits = [s for items in shapes.values() if (s := sizes_by_dims(items, _list(given))) is not None]
    return fits[0] if fits and all(s == fits[0] for s in fits) else None


def _together(given: Items[tuple[Items[str], Node]]) -> dict[str, int] | None:
    """The sizes that lists give the dims of the shapes that they stand for; None where two of them differ."""
    whole: dict[str, int] = {}
    for items, value in given:
        sizes = sizes_by_dims(items, _list(value))
        if sizes is None or any(whole.get(n, v) != v for n, v in sizes.items()):
            return None
        whole |= sizes
    return whole or None


def shapes_of(root: Mapping) -> dict[str, tuple[str, ...]]:
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
