"""Sizes that stand as a shape, `x: [2, 3]` or `[2, 3]`, where they are written by dims: `{N: 2, C: 3}`.

In go the items of a declared shape and what is given; out come the sizes of its dims, or a hint.
"""

from __future__ import annotations

from collections.abc import Mapping as Table
from collections.abc import Sequence as Items

from opgen.diagnostics.model import Hint
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence

_SHAPES = ("shapes", "shape", "input_shapes", "input_shape", "inputs", "input", "dims", "size")


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


def shown(sizes: Table[str, object]) -> str:
    return f"{{{', '.join(f'{n}: {v}' for n, v in sizes.items())}}}"


def stated_by_shape(root: Mapping, loc: Items[object], given: object) -> tuple[str, ...]:
    """A hint for `tests: {sizes: …}` with a list in it, or as a list; nothing where something else is wrong."""
    if tuple(loc[:2]) != ("tests", "sizes") or not isinstance(given, Sequence):
        return ()
    stated = _stated(root, "sizes")
    return (_written(root, _given(root, stated) if stated is not None else None),)


def fields_by_shape(root: Mapping, name: str, beside: Node) -> tuple[str, ...] | None:
    """What is said of a field of `tests` that gives inputs shapes, with the first of several; None for any other."""
    shapes, entries = shapes_of(root), beside.entries if isinstance(beside, Mapping) else ()
    own = [(k, v) for k, v in entries if k.text in shapes and isinstance(v, Sequence)]
    if name in (k.text for k, _ in own):
        if name != own[0][0].text:
            return ()
        given = _together([(shapes[k.text], v) for k, v in own])
        place = own[0][0].span.to(own[0][1].span)
    else:
        key, node = next(((k, v) for k, v in entries if k.text == name), (None, None))
        named = isinstance(node, Mapping) and any(_listed(v) is not None for _, v in node.entries)
        if key is None or node is None or not (named or (name in _SHAPES and isinstance(node, Sequence))):
            return None
        given, place = _given(root, node), key.span.to(node.span)
    told = _written(root, given)
    if len(own) > 1 or any(k.text == "sizes" for k, _ in entries) or given is None:
        return (told,)
    return (Hint(told, place.text, f"sizes: {shown(given)}", place),)


def _written(root: Mapping, sizes: Table[str, int] | None) -> str:
    """How sizes are written that stood as shapes, with those that stand right already."""
    stated = _stated(root, "sizes")
    right = stated.entries if isinstance(stated, Mapping) else ()
    if sizes:
        kept = {k.text: v.value for k, v in right if k.text[:1].isupper() and isinstance(v, Scalar)}
        whole: dict[str, object] = {**kept, **sizes}
        return f"sizes are written by dims: `sizes: {shown(whole)}`"
    dim = next((n for items in shapes_of(root).values() for n in items if n[:1].isupper()), None)
    if dim is None:
        return "leave it away: no dim of the inputs has a name, and the tests choose batch dims themselves"
    return f"sizes are written by dims, such as `sizes: {{{dim}: 2}}`"


def _given(root: Mapping, node: Node) -> dict[str, int] | None:
    """The sizes that are given as shapes: of inputs by name, of one input, or of all in their order."""
    shapes = shapes_of(root)
    if isinstance(node, Mapping):
        named = [(k.text, lists) for k, v in node.entries if (lists := _listed(v)) is not None]
        sizes = _together([(shapes.get(name, ()), lists) for name, lists in named])
        plain = {k.text: v.value for k, v in node.entries if k.text[:1].isupper() and isinstance(v, Scalar)}
        return None if sizes is None else sizes | {n: v for n, v in plain.items() if isinstance(v, int)}
    if isinstance(node, Sequence) and all(isinstance(i, Sequence) for i in node.items):
        return _together([*zip(shapes.values(), node.items, strict=False)]) if len(node.items) <= len(shapes) else None
    return _fitting(shapes, node) if isinstance(node, Sequence) else None


def _listed(node: Node) -> Sequence | None:
    """A shape, alone or as `{shape: [2, 3]}`."""
    inner = node.get("shape") if isinstance(node, Mapping) else node
    return inner if isinstance(inner, Sequence) else None


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
        if (shape := _listed(fields)) is not None:
            found[key.text] = tuple(i.text for i in shape.items if isinstance(i, Scalar))
    return found


def _list(node: Node) -> object:
    return [i.value if isinstance(i, Scalar) else None for i in node.items] if isinstance(node, Sequence) else None
