"""Declared shapes: their items as sizes, and what is wrong with those that are none."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass

from opgen.diagnostics.model import Bag, Hint, Span
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir import text
from opgen.ir.program import Shape
from opgen.ir.scalar import BATCH, Batch, Dim, Lit, Scalar
from opgen.lang.vocabulary import UNCLEAR
from opgen.lower.one_longer import ending_before
from opgen.schema.formula import Formula
from opgen.schema.model import OpSpec

_DIM = re.compile(r"[A-Z][A-Za-z0-9_]*")
_WITHIN = re.compile(rf"\b{_DIM.pattern}\b")
_COMPUTED = re.compile(r"\w+(?:\s*(?://|[*+-])\s*\w+)+")
_LONGER = re.compile(rf"({_DIM.pattern})\s*\+\s*(\d+)")
_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_UNCLEAR = Dim(UNCLEAR)
_SIZES = ("Both", "All", *(f"Size{n}" for n in range(1, 1000)))


@dataclass(frozen=True, slots=True)
class NamedSize:
    """A name for a computed size of an input, what `dims` say of it, and the dims that follow from it."""

    name: str
    stated: dict[str, str]
    parts: dict[str, str]
    besides: str = ""


def named_size(
    written: str, taken: Container[str], params: Container[str] = (), idle: str | None = None
) -> NamedSize | None:
    """What is meant by `2*L - 1`, `2*H`, `G*C` or `groups*C` in a shape, by a name that no dim has.

    `idle`: the int param that nothing has for another size.
    """
    if _COMPUTED.fullmatch(written) and (within := _WITHIN.findall(written)) and all(n in taken for n in within):
        size = next(n for n in ("R", "S", *_SIZES) if n not in taken)
        return NamedSize(size, {size: written}, {size: written})  # of dims that other shapes tell
    if longer := _LONGER.fullmatch(written):
        size = next(n for n in ("R", "S", *_SIZES) if n not in taken and n != longer[1])
        shorter = {longer[1]: f"{size} - {longer[2]}"}
        return NamedSize(size, shorter, shorter)
    if multiple := re.fullmatch(r"(\d+)\s*\*\s*([A-Z]\w*)", written):
        part = multiple[2]
        size = next(n for n in ("D", "E", *_SIZES) if n not in taken and n != part)
        besides = f" with `{part.lower()} < {part}` for a part of it"
        return NamedSize(size, {size: f"{multiple[1]}*{part}"}, {part: f"{size} // {multiple[1]}"}, besides)
    if product := re.fullmatch(r"(\w+)\s*\*\s*(\w+)", written):
        first, second = product.groups()
        count, part = (second, first) if second in params else (first, second)
        if _DIM.fullmatch(first) and _DIM.fullmatch(second):
            return _in_parts(first, second, taken, idle)
        if count in params and _DIM.fullmatch(part):
            size = next(n for n in ("E", "C", *_SIZES) if n not in taken and n != part)
            return NamedSize(size, {size: f"{first}*{second}"}, {part: f"{size} // {count}"}, _runs(count, part))
    return None


def _in_parts(first: str, second: str, taken: Container[str], idle: str | None) -> NamedSize:
    """What is meant by a product of two dims: one of them is told elsewhere, by a param if one is plainly meant."""
    size = next(n for n in ("C", "S", *_SIZES) if n not in taken and n not in (first, second))
    alike = [n for n in (first, second) if idle and _name_of(idle)[:1] == n[0]]
    other, part = (second, first) if second in taken and first not in taken else (first, second)
    stated = {size: f"{first}*{second}"}
    if other in taken:
        return NamedSize(size, stated, {part: f"{size} // {other}"}, _runs(first, second))
    if idle and len(alike) == 1:
        other, part = (first, second) if alike == [first] else (second, first)
        return NamedSize(size, {other: idle} | stated, {other: idle, part: f"{size} // {other}"}, _runs(first, second))
    shown = idle or f"num_{other.lower()}"
    besides = f", where `{other}` is the size of another input or of a param: `{other}: {shown}`"
    besides += "" if idle else f", with `params: {{{shown}: int}}`"
    return NamedSize(size, stated, {part: f"{size} // {other}"}, besides)


def _runs(*ends: str) -> str:
    """How far the parts of a size run, each by a letter of its own."""
    letters = [ends[0][0].lower(), ends[1][0].lower()]
    if letters[0] == letters[1]:
        letters = ["i", "j"]
    shown = " and ".join(f"`{letter} < {end}`" for letter, end in zip(letters, ends, strict=True))
    return f"; where nothing else says how far its parts run, {shown}"


def is_clear(shape: Shape) -> bool:
    """Whether it could be read, so that what is said by it is worth comparing."""
    return _UNCLEAR not in shape


_GROUP = re.compile(r"[(\[]\s*(\w+(?:(?:\s+|\s*,\s*)\w+)+)\s*[)\]]")
_NO_SIZES = ("None", "null", "~", "?", "_")  # what other libraries say for a size of any kind


def shape_of(
    items: Sequence[Formula] | None,
    params: Sequence[str],
    bag: Bag,
    known: tuple[str, ...] | None = None,
    taken: set[str] | None = None,
    idle: str | None = None,
    proposed: dict[str, str] | None = None,
    ending: Callable[[int, str], Sequence[str]] = lambda _place, _dim: (),
    read: Container[str] | None = None,
) -> Shape:
    """A shape as declared; without one, all dims are batch dims.

    `known`: the dims it may use; `taken`: all of them, and later those that are proposed; `idle`: the int param that
    is the size of nothing else; `proposed`: names for computed sizes, by their formulas, of this shape and of those
    before it; `ending`: the statements in which an index ends at a dim where the axis at a place is longer; `read`: the
    names that stand anywhere outside of groups, where that is known.
    """
    if items is None:
        return (BATCH,)
    proposed = {} if proposed is None else proposed
    names = {*(known or ())} if taken is None else taken
    shape: list[Scalar | Batch] = []
    small: list[tuple[str, str, Span]] = []
    for k, item in enumerate(items):
        written = item.text.strip()
        if written in ("...", "\u2026"):
            if BATCH in shape:
                notes = ("several groups of variadic dims are reserved for later",)
                bag.error(
                    "OPG215", "a shape holds at most one `...`", item.whole, label="again here", notes=notes,
                    hints=("name the dims of all groups but one: `[N, C, ...]`",),
                )  # fmt: skip
                continue
            shape.append(BATCH)
        elif written.isascii() and written.isdigit() and len(written) < 19:
            shape.append(Lit(int(written)))
        elif _DIM.fullmatch(written) and written not in _NO_SIZES:
            if known is not None and written not in known:
                hints = did_you_mean(written, known) or derived(written, params, idle)
                bag.error("OPG238", f"there is no dim `{written}`", item.whole, label="unknown dim", hints=hints)
            shape.append(Dim(written))
        elif _NAME.fullmatch(written):
            alike = next((k for k in known or () if k.lower() == written.lower()), written[0].upper() + written[1:])
            small.append((written, alike, item.whole))
            shape.append(Dim(alike))
        else:
            among = known is None
            longer = _LONGER.fullmatch(written)
            lines = ending(k - len(items), longer[1]) if longer is not None else ()
            shape += _refused(
                item, written, bag, among=among, taken=names, proposed=proposed, params=params, idle=idle, lines=lines,
                read=read,
            )  # fmt: skip
    if small:
        _spelt_small(small, shape, params, bag)
    return tuple(shape)


def input_shapes(spec: OpSpec, params: Sequence[str], bag: Bag, taken: set[str]) -> dict[str, Shape]:
    """The declared shapes of inputs; `taken`: their dims, and later those that are proposed."""
    idle, proposed = idle_in(spec), dict[str, str]()
    formulas = spec.forward.text if isinstance(spec.forward, Formula) else ""
    read = _names_outside_of_groups(spec)

    def ending(name: str) -> Callable[[int, str], Sequence[str]]:
        return lambda place, dim: ending_before(formulas, name, place, dim)

    return {
        str(t.name): ()
        if t.dtype == "seed"
        else shape_of(
            t.shape, params, bag, taken=taken, idle=idle, proposed=proposed, ending=ending(str(t.name)), read=read
        )
        for t in spec.inputs
    }


def shapes_of_outputs(spec: OpSpec, params: Sequence[str], known: tuple[str, ...], bag: Bag) -> dict[str, Shape]:
    """The shapes that are declared of outputs and can be read; `known`: the dims that they may use."""
    idle, proposed = idle_in(spec), dict[str, str]()
    shapes = {
        str(o.name): shape_of(o.shape, params, bag, known, idle=idle, proposed=proposed)
        for o in spec.outputs or ()
        if o.shape is not None
    }
    return {name: shape for name, shape in shapes.items() if is_clear(shape)}


def named_within(shapes: Iterable[Sequence[Formula] | None]) -> frozenset[str]:
    """The names of dims anywhere in declared shapes, those of items included that are refused, which is told there."""
    return frozenset(n for items in shapes for item in items or () for n in _WITHIN.findall(item.text))


def derived(name: str, params: Sequence[str], idle: str | None = None) -> tuple[str, ...]:
    """How there comes to be a size of this name: from a param where one is meant, else by some formula.

    `idle`: the int param that nothing reads.
    """
    likely = next((p for p in params if p.lower() == name.lower()), idle)
    shown = likely or f"num_{name.lower()}"
    besides = "" if likely else f", with `params: {{{shown}: int}}`, or a formula of other dims"
    return (f"derive it under `dims`: `dims: {{{name}: {shown}}}`{besides}",)


def idle_in(spec: OpSpec) -> str | None:
    """The int param that stands nowhere but in its declaration, or as the end of an index, `< groups`, if it is one."""
    texts = [b.text for b in (spec.forward, *(dim.value for dim in spec.dims)) if isinstance(b, Formula)]
    idle = [str(p.name) for p in spec.params if p.type == "int" and p.length is None]
    idle = [n for n in idle if not any(re.search(rf"\b{n}\b", re.sub(rf"<\s*{n}\s*[,\])]", "", t)) for t in texts)]
    return idle[0] if len(idle) == 1 else None


def _refused(
    item: Formula,
    written: str,
    bag: Bag,
    *,
    among: bool,
    taken: set[str],
    proposed: dict[str, str],
    params: Sequence[str],
    idle: str | None,
    lines: Sequence[str],
    read: Container[str] | None,
) -> list[Scalar]:
    """What stands for an item that is none: the dims that it holds, or an unclear one.

    `lines`: the statements that go with a name for it.
    """
    hints = ("give a computed size a name under `dims`",)
    words = written.split()
    several = len(words) > 1 and all(_DIM.fullmatch(word) for word in words)
    if several:
        hints = (f"dims are separated by commas: `{', '.join(words)}`",)
    elif re.fullmatch(r"-?\d*\.?\d+", written) or written in _NO_SIZES:
        hints = ("a size is a name such as `N`, or a whole number such as `3`; any number of batch dims is `...`",)
    elif fixed := re.fullmatch(r"[A-Za-z]\w*\s*[=:]+\s*(\d+)", written):
        hints = (f"a fixed size is its number alone: `{fixed[1]}`",)
    elif written == "*":
        hints = ("any number of batch dims is written `...`",)
    elif among and (known := proposed.get(re.sub(r"\s", "", written))) is not None:
        hints = (f"write `{known}` here, too",)
    elif among and read is not None and _GROUP.fullmatch(written) and _are_idle(_WITHIN.findall(written), read):
        size = next(n for n in ("S", "R", *_SIZES) if n not in taken)
        taken.add(size)
        proposed[re.sub(r"\s", "", written)] = size
        hints = (Hint(f"an axis has one name, whatever it is made of: write `{size}`", written, size),)
    elif among and (meant := named_size(_in_groups(written), taken, params, idle)) is not None:
        taken.add(meant.name)
        proposed[re.sub(r"\s", "", written)] = meant.name
        with_lines = f", with {listed(lines, 'and')}" if lines else ""
        part = ", ".join(f"{name}: {formula}" for name, formula in meant.stated.items())
        hints = (
            f"write a name of its own here, such as `{meant.name}`, and `dims: {{{part}}}`{meant.besides}{with_lines}",
        )
    elif not among and re.search(r"[-+*/]", size := _in_groups(written)):
        free = (n for n in ("P", "Q", *_SIZES) if n not in taken and n not in proposed.values())
        name = proposed.setdefault(re.sub(r"\s", "", written), next(free))
        hints = (f"write a name here, such as `{name}`, and `dims: {{{name}: {size}}}`",)
    elif among:
        hints = ("the dims of an input are names such as `N`; other sizes follow under `dims`: `H: D//2`",)
    bag.error("OPG224", f"`{written}` is not an item of a shape", item.whole, hints=hints)
    return [Dim(word) for word in words] if several else [_UNCLEAR]


def _are_idle(parts: Sequence[str], read: Container[str]) -> bool:
    """Whether none of the names of a group is read, and its parts have no indices of their own, `h` and `w`."""
    return not any(part in read for part in parts) and not all(part.lower() in read for part in parts)


def _names_outside_of_groups(spec: OpSpec) -> frozenset[str]:
    """The names that formulas read, indices among them, or that other items of shapes are made of."""
    formulas = [spec.forward, spec.backward, *(d.value for d in spec.dims)]
    shapes = (*(t.shape for t in spec.inputs), *(o.shape for o in spec.outputs or ()))
    items = [i.text for shape in shapes for i in shape or () if not _GROUP.fullmatch(i.text.strip())]
    module = () if spec.module is None else (str(n) for n in spec.module.dims)
    return frozenset(
        n
        for t in (*(f.text for f in formulas if isinstance(f, Formula)), *items, *module)
        for n in re.findall(r"\w+", t)
    )


def _in_groups(written: str) -> str:
    """The group `(H P)` of an einops pattern, also as `(H, P)` or `[H, P]`, as a product."""
    group = _GROUP.fullmatch(written)
    return "*".join(re.findall(r"\w+", group[1])) if group else written


def _spelt_small(
    small: Sequence[tuple[str, str, Span]], shape: Sequence[Scalar | Batch], params: Sequence[str], bag: Bag
) -> None:
    names, alike = [name for name, _, _ in small], [dim for _, dim, _ in small]
    are = "is not an item" if len(names) == 1 else "are not items"
    values = {dim: _name_of(name) for name, dim in zip(names, alike, strict=True) if name in params}
    items = [text.position(s) for s in shape]
    dims = ", ".join(values.get(i, i) for i in items)
    made = ", ".join(f"{values[dim]}: {name}" for name, dim in zip(names, alike, strict=True) if dim in values)
    hint = f"dims start with a capital: `[{dims}]`" if len(shape) > 1 else f"dims start with a capital: `{dims}`"
    exact = Hint(hint, names[0], alike[0]) if len(small) == 1 else hint
    hints = (f"{hint}, and the value of a param is one under `dims`: `dims: {{{made}}}`" if made else exact,)
    span = small[0][2].to(small[-1][2])
    bag.error("OPG224", f"{listed(names, 'and')} {are} of a shape", span, hints=hints)


def _name_of(param: str) -> str:
    """The name of a dim that is the value of a param: `Nodes` of `num_nodes`."""
    stem = re.sub(r"^(?:num|n)_", "", param)
    return "".join(word[:1].upper() + word[1:] for word in stem.split("_"))
