"""Random specs as text, with the shapes and values of their calls: the Hypothesis strategy of this folder."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import assume
from hypothesis import strategies as st

from tests.random_programs import joined, recurrences, statements, waves
from tests.random_programs.scope import BATCH, Draw, Size, Tensor, World

DIMS = ("N", "M", "K")
BATCHES = ((2,), (), (2, 2), (1,), (3, 1), (0,))


@dataclass(frozen=True)
class Case:
    """A spec and how it is called. `ranges` are those of integer inputs; `marks` the constructs it holds."""

    text: str
    shapes: dict[str, tuple[int, ...]]
    ranges: dict[str, tuple[int, int]]
    values: dict[str, object]
    marks: tuple[str, ...]

    def __repr__(self) -> str:
        return f"\n{self.text}# called with {self.shapes}, {self.values}\n"


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Specs that are written to the language page and in range for the sizes they are called with."""
    w = World(Draw(draw))
    c = w.choose
    inputs, shapes = _inputs(w)
    _derived(w)
    lines: list[str] = []
    for _ in range(c.weighted(((6, 1), (5, 2), (2, 3)))):
        lines += _statement(w)
    if w.pair is not None:
        lines += (statements.of_a_slope if w.kinked else statements.of_a_sum)(w, w.pair)
    if c.chance(8):
        lines += statements.chosen_reduction(w)
    if w.factor is not None and c.chance(80):
        lines += statements.of_a_factor(w, w.factor)
    backward = _override(w, lines) if c.chance(5) else ""
    ranges = {t.name: (int(t.low), int(t.high)) for t in w.tensors if t.kind == "int" and t.name in shapes}
    if w.seeded:
        inputs.append("  seed: {dtype: seed}")
        shapes["seed"], ranges["seed"] = (), (-(2**60), 2**60)
    text = _text(w, inputs, lines, backward)
    assume(_variants(text) <= 64)
    made = Case(text, shapes, ranges, dict(w.values), tuple(w.marks))
    return _under_other_names(w, made) if w.choose.chance(10) else made


def _variants(text: str) -> int:
    """The most variants that optional inputs and params can make of a spec."""
    of_two = sum(map(text.count, ("optional: true", "type: bool", "default: null")))
    return 2**of_two * 3 ** text.count("choices:")


# what printed code calls values of its own
_ODD = (
    *("batch", "steps", "rows", "start", "size", "mask", "position", "total", "point"),
    *("value", "each", "share", "part", "first", "place", "condition", "product"),
)


def _under_other_names(w: World, made: Case) -> Case:
    """The same spec; its tensors have names that code is tempted to use."""
    w.mark("odd names")
    own = [*(n for n in made.shapes if n != "seed"), *dict.fromkeys(re.findall(r"\bt\d+\b", made.text))]
    turn = w.choose.below(len(_ODD))
    names = dict(zip(own, _ODD[turn:] + _ODD[:turn], strict=False))
    pattern = re.compile(rf"\b(grad_)?({'|'.join(names)})\b")
    return Case(
        pattern.sub(lambda m: (m[1] or "") + names[m[2]], made.text),
        {names.get(n, n): s for n, s in made.shapes.items()},
        {names.get(n, n): r for n, r in made.ranges.items()},
        made.values,
        tuple(w.marks),
    )


def _statement(w: World) -> list[str]:
    make = w.choose.weighted(
        (
            (11, statements.assign), (2, statements.components), (5, statements.scatter), (4, recurrences.recurrence),
            (2, statements.variants), (3, joined.joined), (2, joined.counted), (2, waves.waved), (1, statements.stored),
        )
    )  # fmt: skip
    return make(w) or statements.assign(w)


def _inputs(w: World) -> tuple[list[str], dict[str, tuple[int, ...]]]:
    c = w.choose
    batch = c.pick(BATCHES)
    if 0 in batch:
        w.mark("empty batch")
    if len(batch) > 1:
        w.mark("several batch dims")
    sizes = [
        Size(d, c.weighted(((6, 2), (6, 3), (2, 1), (2, 4), (1, 0))))
        for d in DIMS[: c.weighted(((3, 1), (4, 2), (1, 3)))]
    ]
    if c.chance(15):
        w.mark("element-wise")
        sizes = []
    declared, shapes = [], {}
    for k, name in enumerate(("x", "y", "z")[: c.weighted(((3, 1), (4, 2), (2, 3)))]):
        shape = _shape(w, sizes, first=k == 0)
        if k == 0:
            w.sizes += [s for s in dict.fromkeys(shape) if isinstance(s, Size)]
        t = Tensor(name, shape)
        fields = [f"shape: {_shown(shape)}"]
        known = all(s in w.sizes or s.text.isdigit() for s in t.dims)
        if k and known and c.chance(15):
            w.mark("optional input", f"optional {name}")
            fields.append("optional: true")
            if c.chance(40):
                w.mark("absent value")
                fields.append("absent: 0.7")
            else:
                w.factor = t
        if k and c.chance(8):
            w.mark("input without gradient")
            fields.append("differentiable: false")
        declared.append(f"  {name}: {{{', '.join(fields)}}}")
        w.sizes += [s for s in t.dims if s not in w.sizes]
        shapes[name] = _sizes(w, shape, batch, whole=k == 0)
        w.tensors.append(t)
    for size in w.sizes:
        if size.value == 0:
            w.mark("empty dim")
        if size.value == 1:
            w.mark("dim of one")
    if c.chance(45):
        declared.append(_positions_input(w, shapes, batch))
    if c.chance(20):
        shape = _shape(w, w.sizes, first=False)
        w.tensors.append(Tensor("on", shape, "bool"))
        maybe = ""
        if c.chance(40):
            w.mark("optional input", "optional on")
            maybe = f", optional: true{', absent: true' * c.chance(50)}"
        declared.append(f"  on: {{shape: {_shown(shape)}, dtype: bool{maybe}}}")
        shapes["on"] = _sizes(w, shape, batch, whole=False)
    if w.sizes and c.chance(4):
        w.mark("many optional inputs")
        for k in range(5):
            shape = (c.pick(w.sizes),)
            w.tensors.append(Tensor(f"o{k}", shape))
            declared.append(f"  o{k}: {{shape: {_shown(shape)}, optional: true}}")
            shapes[f"o{k}"] = _sizes(w, shape, batch, whole=False)
        w.mark("optional o0")
    if c.chance(20):
        w.mark("sum of inputs")
        w.pair = _shape(w, w.sizes, first=False)
        w.kinked = c.chance(30)
        if w.kinked:
            w.mark("slope")
        for name in ("u", "v"):
            fixed = ", differentiable: false" if w.kinked and name == "v" else ""
            declared.append(f"  {name}: {{shape: {_shown(w.pair)}{fixed}}}")
            shapes[name] = _sizes(w, w.pair, batch, whole=False)
    return declared, shapes


def _positions_input(w: World, shapes: dict[str, tuple[int, ...]], batch: tuple[int, ...]) -> str:
    """An int input, in range for one of the sizes."""
    c = w.choose
    w.mark("int input")
    shape = _shape(w, w.sizes, first=False, most=1)
    fits = [s for s in w.sizes if s.value > 0] or [Size("3", 3)]
    bound = c.pick(fits)
    w.tensors.append(Tensor("ids", shape, "int", 0, bound.value))
    domain = ""
    if c.chance(40):
        w.mark("domain of an int input")
        limit = bound.text
        if BATCH not in shape:
            w.mark("domain of a derived dim")
            w.dims["S"], limit = limit, "S"
        domain = f', domain: "0 <= ids < {limit}"'
    shapes["ids"] = _sizes(w, shape, batch, whole=False)
    return f"  ids: {{shape: {_shown(shape)}, dtype: int{domain}}}"


def _shape(w: World, sizes: list[Size], first: bool, most: int = 2) -> tuple[Size | str, ...]:
    c = w.choose
    if not sizes:
        return (BATCH,)
    count = c.weighted(((4, 1), (3, most), (1, 1 if first else 0)))
    shape: list[Size | str] = [c.pick(sizes) for _ in range(count)]
    if len(shape) == 2 and shape[0] == shape[1]:
        w.mark("repeated dim")
    if c.chance(8):
        w.mark("literal dim")
        shape.append(Size("2", 2))
    if c.chance(60):
        shape.insert(c.pick((0, len(shape), len(shape) // 2)), BATCH)
    return tuple(shape)


def _sizes(w: World, shape: tuple[Size | str, ...], batch: tuple[int, ...], whole: bool) -> tuple[int, ...]:
    """The shape in calls: batch dims may be fewer, or ones."""
    c = w.choose
    own = list(batch)
    if not whole and own and c.chance(40):
        w.mark("broadcast batch")
        own = own[1:] if c.chance(50) else [1, *own[1:]]
    out: list[int] = []
    for s in shape:
        out.extend(own if isinstance(s, str) else [s.value])
    return tuple(out)


def _derived(w: World) -> None:
    """Sizes besides those of the inputs: derived dims, and expressions for stated extents."""
    c = w.choose
    named = [s for s in w.sizes if s.text.isalpha()]
    if not named or not c.chance(35):
        return
    a, b = c.pick(named), c.pick(named)
    forms = [
        (f"{a.text} + 1", a.value + 1),
        (f"2*{a.text}", 2 * a.value),
        (f"({a.text} + 1)//2", (a.value + 1) // 2),
        (f"{a.text}*{b.text}", a.value * b.value),
        (f"({a.text} + 2 - 2)//2 + 1", a.value // 2 + 1),
    ]
    text, value = c.pick([f for f in forms if f[1] <= 6])
    if c.chance(60):
        w.mark("derived dim")
        w.dims["P"] = text
        w.sizes.append(Size("P", value))
    else:
        w.mark("computed extent")
        w.sizes.append(Size(text, value))


def _shown(shape: tuple[Size | str, ...]) -> str:
    return f"[{', '.join(s if isinstance(s, str) else s.text for s in shape)}]"


def _override(w: World, lines: list[str]) -> str:
    """A stated gradient, linear in the cotangent, for an element-wise operator."""
    x = w.tensors[0]
    if x.shape != (BATCH,) or not lines:
        return ""
    w.mark("override")
    lines[:] = ["t0 = x*sin(x)" + (" + y" if any(t.name == "y" and t.shape == (BATCH,) for t in w.tensors) else "")]
    w.required.clear()
    w.stored.clear()
    return "backward: grad_x = -0.5*grad_t0*cos(x)\n"


def _text(w: World, inputs: list[str], lines: list[str], backward: str) -> str:
    c = w.choose
    block = ["op: made", "inputs:", *inputs]
    read = " ".join((*lines, *inputs, *w.dims.values()))
    params = {k: v for k, v in w.params.items() if re.search(rf"\b{k}\b", read)}
    for field, entries in (("params", params), ("dims", w.dims)):
        if entries:
            block += [f"{field}:", *(f"  {k}: {v}" for k, v in entries.items())]
    used = {k: v for k, v in w.functions.items() if f"{k.partition('(')[0]}(" in "\n".join(lines)}
    if used:
        block += ["functions:", *(f"  {k}: {v}" for k, v in used.items())]
    block += _outputs(w, lines)
    if c.chance(8):
        w.mark("exact")
        block.append("exact: true")
    if c.chance(5):
        w.mark("once_differentiable")
        block.append("once_differentiable: true")
    return "\n".join([*block, "forward: |", *(f"  {line}" for line in lines), ""]) + backward


def _outputs(w: World, lines: list[str]) -> list[str]:
    """Nothing, a list, or shapes where a scatter needs them."""
    c = w.choose
    names = list(dict.fromkeys(re.match(r"(?:pad\()?(\w+)", line).group(1) for line in lines))  # type: ignore[union-attr]
    bodies = [re.split(r" (?:\+|\*|max|min)?= ", line, maxsplit=1) for line in lines]
    read = {
        n for n in names for left, right in bodies
        if re.search(rf"\b{n}\b", right) and not re.match(rf"(?:pad\()?{n}\b", left)
    }  # fmt: skip
    unread = [n for n in names if n not in read]
    kept = [n for n in names if n in unread or n in w.required or n in w.stored or (c.chance(20) and n != "t0")]
    if w.required or w.stored:
        known = {t.name: t.shape for t in w.tensors}
        entries = []
        for n in kept:
            shape = w.required.get(n) or known.get(n)
            plain = shape is not None and all(isinstance(x, str) or x.text.isalnum() for x in shape)
            fields = [f"shape: {_shown(shape)}"] if plain and shape else ["doc: made"]
            fields += [f"dtype: {w.stored[n]}"] if n in w.stored else []
            entries.append(f"  {n}: {{{', '.join(fields)}}}")
        w.mark("declared outputs")
        return ["outputs:", *entries]
    recurrent = "recurrence" in w.marks or "discrete recurrence" in w.marks
    if kept != unread or recurrent or not unread or c.chance(20):
        w.mark("listed outputs", *(("read and an output",) if kept != unread else ()))
        return [f"outputs: [{', '.join(kept or names[-1:])}]"]
    return []
