"""The shape that a scatter most likely fills, where nothing declares it: proposals that build as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.ir.program import Shape
from opgen.ir.scalar import BATCH, Dim
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import letters
from opgen.lang.walk import nodes, statement_names
from opgen.lower.digits import alone_at, alone_left, digits, extent_on_the_right
from opgen.lower.domain import end_of
from opgen.lower.idle import idle_param
from opgen.lower.scope import Frame

ENDS = (  # what the two ends of edges are called
    ("src", "dst"), ("source", "target"), ("row", "col"), ("rows", "cols"), ("senders", "receivers"),
    ("sender", "receiver"), ("u", "v"), ("i", "j"), ("idx_i", "idx_j"), ("head", "tail"),
)  # fmt: skip
PLACES = ("argmax", "argmin", "argsort")  # reductions that say where something stands
_STARTS = {"+=": "0", "*=": "1", "max=": "-inf", "min=": "inf"}


def proposals(f: Frame, s: Assign) -> tuple[str, ...]:
    """The output to declare or the statement to start with, and the dim that they need besides."""
    known, name = f.decl.known_dims(), s.target.name
    free = [d for d in (*"NMVSRQ", *(f"N{k}" for k in range(2, 99))) if d not in known]
    sizes = [_size(f, s, item) for item in s.target.items or ()]
    counted = [None if isinstance(item, Dots | Binder) else _counted_by(f, item) for item in s.target.items or ()]
    for k, size in enumerate(sizes):
        sizes[k] = _read_beside(f, name, k) if size is None and counted[k] is None else size
    own = {p: free[k] for k, p in enumerate(dict.fromkeys(p for p in counted if p is not None))}
    for p in (size for size in sizes if size in f.decl.params and size not in own):
        own[p] = next(d for d in (_initial(p), *free) if d not in (*known, *own.values()))
    for p in (size for size in sizes if size and "*" in size and size not in own):
        own[p] = next(d for d in free if d not in own.values())
    spare = (d for d in free if d not in own.values())
    sizes = [own.get(size, size) if size else size for size in sizes]
    shape = [own[p] if p else next(spare) if size is None else size for p, size in zip(counted, sizes, strict=True)]
    dims = {size: p for p, size in own.items()}
    new = {size: f"num_{size.lower()}" for size in shape if size.isalpha() and size not in (*known, *dims)}
    if len(new) == 1 and (idle := _idle_dim(f)) is not None:
        shape = [idle if size in new else size for size in shape]
        new = {}
    elif len(new) == 1 and (declared := idle_param(f.decl)) is not None:
        (size,) = new
        wish = _initial(declared)
        dim = wish if wish not in (*known, *dims) else size
        shape = [dim if item == size else item for item in shape]
        dims[dim] = declared
        new = {}
    dims |= new
    params = f"`params: {{{', '.join(f'{p}: int' for p in new.values())}}}`"
    start = _start(f, s, shape, dims) + (f", with {params}" if new else "")
    if is_read(f, name) or not all(size == "..." or size.isalnum() for size in shape):
        return (start,)
    output = f"declare it: `outputs: {{{name}: {{shape: [{', '.join(shape)}]}}}}`"
    if dims:
        output += f", with `dims: {{{', '.join(f'{d}: {p}' for d, p in dims.items())}}}`"
    return (output + (f" and {params}" if new else ""), f"or {start}")


def _idle_dim(f: Frame) -> str | None:
    """The one derived dim that no shape and no formula has."""
    shapes = (*f.decl.shapes.values(), *f.decl.output_shapes.values())
    read = {n for s in (*f.decl.forward, *f.decl.backward) for n in statement_names(s)}
    idle = [d for d in f.decl.derived if d not in read and not any(Dim(d) in shape for shape in shapes)]
    return idle[0] if len(idle) == 1 else None


def _initial(param: str) -> str:
    """A dim for what a param counts: `G` for `num_graphs`."""
    return next((word[:1].upper() for word in reversed(param.split("_")) if word[:1].isalpha()), "N")


def _value(f: Frame, name: str, so_far: tuple[str, ...] = ()) -> Expr | None:
    """What a step on the way is, where one statement says it, and it is not among the names looked through so far."""
    made = [s for s in f.decl.forward if s.target.name == name]
    return made[0].value if len(made) == 1 and made[0].op == "=" and name not in so_far else None


def _counted_by(f: Frame, e: Expr, *, scaled: bool = False, so_far: tuple[str, ...] = ()) -> str | None:
    """The int param that says how many places a position has: of `int(x*bins)`, `h % bins`, `min(i, bins - 1)`.

    `scaled`: it is rounded to an integer, so that what it is multiplied with is a share of all places. Steps on the way
    count as what they are; `so_far`: those that were looked through.
    """

    def is_count(e: Expr) -> bool:
        p = f.decl.params.get(e.name) if isinstance(e, Name) else None
        return p is not None and p.type == "int" and p.length is None

    match e:
        case Product(factors=(*_, ("%", Name(name=name) as size))) if is_count(size):
            return name
        case Product(factors=factors) if scaled:
            found = [x.name for op, x in factors if op == "*" and isinstance(x, Name) and is_count(x)]
            return found[0] if len(found) == 1 else None
        case Call(name="min" | "clamp", args=(first, *others)):
            ends = [t.terms for t in others if isinstance(t, Sum)]
            last = next((t[0][1] for t in ends if len(t) == 2 and t[1] == ("-", Number(1, e.span))), None)
            if isinstance(last, Name) and is_count(last):
                return last.name
            return _counted_by(f, first, scaled=scaled, so_far=so_far)
        case Call(name="int" | "floor" | "round" | "trunc", args=(inner,)):
            return _counted_by(f, inner, scaled=True, so_far=so_far)
        case Access(name=name) | Name(name=name) if (value := _value(f, name, so_far)) is not None:
            return _counted_by(f, value, scaled=scaled, so_far=(*so_far, name))
        case _:
            return None


def _start(f: Frame, s: Assign, shape: list[str], new: dict[str, str]) -> str:
    """The statement that a scatter starts from."""
    loops = ", ".join(
        "..." if size == "..." else f"{i} < {new.get(size, size)}"
        for i, size in zip(_letters(f, shape), shape, strict=True)
    )
    return f"start it: `{s.target.name}[{loops}] = {_STARTS[s.op]}`"


def begun(f: Frame, s: Assign) -> tuple[str, tuple[str, ...]] | None:
    """The statement that a scatter starts from, and its indices; None where it is not known how far they run."""
    found = [_size(f, s, item) for item in s.target.items or ()]
    shape = [size for size in found if size is not None and (size == "..." or size in f.decl.known_dims())]
    if len(shape) < len(found) or len({*shape}) < len(shape):
        return None
    return _start(f, s, shape, {}).partition("`")[2].rstrip("`"), tuple(_letters(f, shape))


def is_read(f: Frame, name: str) -> bool:
    """Whether a name is a step on the way, and no output."""
    return any(a.name == name for s in f.decl.forward for a in nodes(s.value) if isinstance(a, Access | Name))


def _letters(f: Frame, shape: list[str]) -> list[str]:
    """An index for each size that no tensor or param is called like."""
    taken = (*f.state.tensors, *f.state.later, *f.decl.params)
    plain = [size if size == "..." or size.isidentifier() else "1" for size in shape]
    return [i if i not in taken else f"{i}{i}" for i in letters(plain, {})]


def _size(f: Frame, s: Assign, item: Binder | Dots | Expr) -> str | None:
    """How far a position goes: by the domain of the tensor it is read from, or by where its index stands."""
    match item:
        case Dots():
            return "..."
        case Binder(name=name, extent=None) | Name(name=name):
            if name in f.decl.inputs:
                return _bound(f, name) or _alongside(f, name)
            return extent_on_the_right(f, s, name) or alone_left(f, s, name)
        case Binder(extent=extent) if extent is not None:
            return unparse(extent)
        case Access(name=name):
            made = _value(f, name)
            further = made.name if isinstance(made, Access) and made.name != name else name
            beside = _alongside(f, name) or _alongside(f, further)
            own = next((o for o in f.decl.forward if o.target.name == further), s)
            return _bound(f, further) or beside or _of_order(f, own, _value(f, further)) or _at_other_end(f, further)
        case Binder():
            return None
        case Reduction() if (size := _of_order(f, s, item)) is not None:
            return size
        case _:
            number = digits(f, s, item)
            return _at_same_place(f, s.target.name, item) or (None if number is None else number.size)


def _read_beside(f: Frame, name: str, place: int) -> str | None:
    """The one dim that the index runs over which stands at this place of a tensor, in all statements that read it."""
    found: list[str] = []
    for own in f.decl.forward:
        reads = [a.items for a in nodes(own.value) if isinstance(a, Access) and a.name == name]
        at = [items[place] for items in reads if place < len(items)]
        for index in dict.fromkeys(i.name for i in at if isinstance(i, Name)):
            found += _runs(f, own, index)
    sizes = [*dict.fromkeys(found)]
    return sizes[0] if len(sizes) == 1 else None


def _runs(f: Frame, s: Assign, index: str) -> list[str]:
    """The sizes over which an index runs in a statement: the dims it stands at, and dims that are its stated extent."""
    binders = [b for r in nodes(s.value) if isinstance(r, Reduction) for b in r.binders]
    bound = [b for b in (*binders, *(s.target.items or ())) if isinstance(b, Binder) and b.name == index]
    stated = [unparse(b.extent) for b in bound if b.extent is not None]
    at = (n for _, i, n in _dims_read(f, (s,)) if isinstance(i, Name | Binder) and i.name == index)
    return [*(n for n in stated if n in f.decl.known_dims()), *at]


def _of_order(f: Frame, s: Assign, e: Expr | None) -> str | None:
    """The dim over which a position is the place of something: of `argmax[k](x[n, k])` in a statement."""
    over = e.binders[0] if isinstance(e, Reduction) and e.name in PLACES and len(e.binders) == 1 else None
    if over is None or isinstance(over, Dots):
        return None
    if over.extent is not None:
        return unparse(over.extent)
    return alone_at(f, s, over.name) or alone_left(f, s, over.name)


def _bound(f: Frame, name: str) -> str | None:
    """The end of the domain of an input: `N` of `0 <= ids < N`."""
    spec = f.decl.inputs.get(name)
    return None if spec is None else end_of(spec.domain)


def _alongside(f: Frame, name: str) -> str | None:
    """The dim of another tensor at a position that the same tensor of positions says."""
    found = (n for _, i, n in _dims_read(f) if isinstance(i, Access | Name | Binder) and i.name == name)
    return next(found, None)


def _at_other_end(f: Frame, name: str) -> str | None:
    """The dim that the other ends of edges are read from: of `src` where `dst` is written to."""
    others = (b if a == name else a for a, b in ENDS if name in (a, b))
    other = next((n for n in others if n in f.decl.inputs and f.decl.shapes[n] == f.decl.shapes.get(name)), None)
    return None if other is None else _alongside(f, other)


def _at_same_place(f: Frame, name: str, place: Expr) -> str | None:
    """The dim of another tensor at the very position that is written here."""
    text_of = unparse(place)
    found = (n for t, i, n in _dims_read(f) if t != name and not isinstance(i, Binder) and unparse(i) == text_of)
    return next(found, None)


def _dims_read(f: Frame, within: Sequence[Assign] | None = None) -> Iterator[tuple[str, Expr | Binder, str]]:
    """Each tensor of a known shape, with a position where it is read or written and the dim that this is in.

    `within`: the statements that count, if not all.

    What starts with stated extents, as another scatter does, has a shape as well, as far as these are dims.
    """
    made = {name: t.shape for name, t in f.state.tensors.items() if t.shape is not None}
    shapes = {**_started(f), **made, **f.decl.shapes, **f.decl.output_shapes}
    statements = f.decl.forward if within is None else within
    written = [(s.target.name, s.target.items or ()) for s in statements]
    read = [(a.name, a.items) for s in statements for a in nodes(s.value) if isinstance(a, Access)]
    for tensor, items in (*read, *written):
        shape = shapes.get(tensor) or ()
        for item, size in zip(items, shape if len(shape) == len(items) else (), strict=False):
            if isinstance(size, Dim) and not isinstance(item, Dots):
                yield tensor, item, size.name


def _started(f: Frame) -> dict[str, Shape]:
    """The shapes of tensors by the extents that their own statements state."""
    found: dict[str, Shape] = {}
    for s in f.decl.forward:
        items = s.target.items or ()
        sizes = [i.extent if isinstance(i, Binder) else None for i in items]
        if s.op == "=" and any(isinstance(size, Name) for size in sizes):
            dims = (Dim(size.name) if isinstance(size, Name) else BATCH for size in sizes)
            found.setdefault(s.target.name, tuple(dims))
    return found
