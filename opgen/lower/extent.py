"""How far an index runs: what is written, else what the output declares, else the dims at which it stands alone."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic, Hint, Label, Severity
from opgen.ir import text
from opgen.ir.polynomial import slope
from opgen.ir.scalar import BATCH, ONE, Apply, Batch, Dim, Index, Lit, Scalar, walk
from opgen.lang.nodes import Access, Binder, Compare, Dots, Expr, Name, Number, Product, Sum
from opgen.lang.unparse import unparse
from opgen.lang.walk import names_read, nodes
from opgen.lower.clash import clash
from opgen.lower.counts import as_param, new_param
from opgen.lower.furthest import (
    before_the_start,
    block_of,
    furthest,
    is_guarded,
    of_quotient,
    padded_windows,
    place_value,
    tightest,
    windows,
)  # fmt: skip
from opgen.lower.idle import bound_again, bound_within, counted_by, divided_by, idle_param, read_nowhere
from opgen.lower.in_dims_order import in_dims_order
from opgen.lower.no_middle import neighbours_only
from opgen.lower.outside import left_out
from opgen.lower.scope import DECLARED, OF_GRADIENT, OF_SHAPE, Check, Frame, IndexInfo, same_extent
from opgen.lower.whole import integer
from opgen.lower.window import window_size

_ANY = ": a dim, or an expression of dims and int params"
_NO_ACCESS = "stands alone in no access"


def extent_of(f: Frame, e: Expr) -> Scalar | None:
    """A written extent: an integer expression of dims and int params."""
    for name, node in names_read(e).items():
        if name in f.state.tensors or (f.scope is not None and f.scope.find(name) is not None):
            shape = f.decl.shapes.get(name, ())
            sizes = [text.position(size) for size in shape] if BATCH not in shape else []
            counted = (f"`{name}` has as many elements as its dim: write `{sizes[0]}`",) if len(sizes) == 1 else ()
            f.error(
                "OPG226", "an extent is made of dims and int params", node.span, *as_param(f.decl, name), *counted,
                label="neither", notes=("shapes that depend on data are reserved for later",),
            )  # fmt: skip
            return None
    outer = f.scope, f.place
    f.scope, f.place = None, "an extent"
    typed = integer(f, f.lower(e), e, "an extent")
    f.scope, f.place = outer
    if typed.kind is None:
        return None
    if isinstance(typed.scalar, Lit) and typed.scalar.value < 0:
        f.error("OPG232", "an extent cannot be negative", e.span, "an index runs from 0 to its extent")
        return None
    return typed.scalar


def resolve(f: Frame, info: IndexInfo, *, body: bool, where: str = "", instead: str = "") -> bool:
    """Settle the extent of an index whose accesses are all known; False after a mistake.

    `body`: the formula was understood, so that an index without accesses is a mistake of its own. `where`: a hint
    where an extent can be written, if not at the index; `instead`: one for another index that is meant.
    """
    if info.stated is not None:
        info.extent = info.stated
        if info.origin == DECLARED or info.origin.startswith(OF_SHAPE):
            _other_dims(f, info)
        return info.origin != f"{OF_GRADIENT}`{f.target}`" or _along_its_input(f, info)
    if not info.sites:
        if body and info.name not in f.reported and not f.is_loose(info):
            f.reported.add(info.name)
            if (either := neighbours_only(f, info)) and not instead:
                f.error("OPG214", f"nothing says how far `{info.name}` runs", info.span, *either, label=_NO_ACCESS)
                return False
            hint = _likely(f, info)
            size = next((c for c in f.checks if c.position == Dim(info.name.upper())), None)
            if size is not None:
                hint = f"`{size.span.text}` is the size of a dim; its index is written `{info.name}`"
            hints = (hint, where) if where else (hint,)
            if instead:
                hints = (instead, f"or {hint}") if info.name.upper() in f.decl.known_dims() else (instead,)
            message = f"nothing says how far `{info.name}` runs"
            f.error("OPG214", message, info.span, *hints, label=_NO_ACCESS)
        return False
    sites = [s for s in info.sites if not s.padded] or info.sites
    first = sites[0]
    info.extent = first.extent
    for site in sites[1:]:
        if not same_extent(first.extent, site.extent, f.state.dims):
            clash(f, info, first, site)
            return False
    return True


def lacks_extents_only(f: Frame, e: Expr, before: int) -> bool:
    """Whether all that is wrong with an expression is that indices in it have no extent: those around it may be told.

    `before`: how many messages there were before it was looked at.
    """
    found = f.bag.items[before:]
    known = f.state.tensors
    unclear = any(n in f.decl.lost or (n in known and known[n].shape is None) for n in names_read(e))
    return not unclear and bool(found) and all(d.code == "OPG214" for d in found)


def _along_its_input(f: Frame, info: IndexInfo) -> bool:
    """Whether an index of a stated gradient is read along the dim that the input has there, if along any."""
    sites = [s for s in info.sites if not s.padded]
    assert info.stated is not None
    if not sites or any(same_extent(s.extent, info.stated, f.state.dims) for s in sites):
        return True
    over, first = text.scalar(info.stated), sites[0]
    message = f"`{info.name}` runs over `{over}`, and is read along `{text.scalar(first.extent)}` of `{first.tensor}`"
    of = f.target.removeprefix("grad_")
    shape = f.decl.shapes[of]
    loops = [x for x in (f.scope.loops if f.scope else ()) if isinstance(x, IndexInfo) and x.sites]
    order = [next((x.name for x in loops if x.sites[0].extent == size), "") for size in shape]
    hint = f"`{of}` has shape {text.shape(shape)}, and so has its gradient"
    if all(order) and len({*order}) == len(order):
        hint += f": write `{f.target}[{', '.join(order)}]`"
    if not any(d.code == "OPG228" and d.hints == (hint,) for d in f.bag.items):
        f.error("OPG228", message, first.span, hint, label="along another dim")
    return False


def _both_ways(a: Scalar | None, b: Scalar) -> tuple[tuple[Dim, Dim], ...]:
    return ((a, b), (b, a)) if isinstance(a, Dim) and isinstance(b, Dim) else ()


def _other_dims(f: Frame, info: IndexInfo) -> None:
    """Warn of an index that runs over the dim of a declared output, and stands alone at other dims of inputs only.

    In a scatter any named dims count, unless one of them is worked out of the other.
    """
    sites = [s for s in info.sites if not (s.padded or s.written)]
    own = {size for name in f.decl.inputs for size in f.decl.shapes[name] if isinstance(size, Dim)}
    if info.origin != DECLARED:
        own = {Dim(name) for name in f.decl.known_dims()}
        made = [(f.state.dims.get(a.name), b) for s in sites for a, b in _both_ways(info.stated, s.extent)]
        if any(e is not None and b in walk(e) for e, b in made):
            return
    moved = any(i is info and c.position != Index(i.unique) for c in f.checks for _, i in c.indices)
    if (
        moved
        or not sites
        or info.stated not in own
        or any(s.extent == info.stated or s.extent not in own for s in sites)
    ):
        return
    over, first = text.scalar(info.extent or ONE), sites[0]
    message = f"`{info.name}` runs over `{over}`, and is read along `{text.scalar(first.extent)}` of `{first.tensor}`"
    part = f"write `{info.name} < {over}` where the first places are meant"
    hints, at, related = _in_order(f) or (f"declare that dim, or {part}",), first.span, tuple[Label, ...]()
    shape = _as_read(f) if info.origin == DECLARED and not _in_order(f) else ""
    place = next((o.span for o in f.decl.spec.outputs or () if o.name == f.target), None)
    if shape and place is not None:
        hints = (f"write `{f.target}: {{shape: {shape}}}`", f"or {part}")
        at, related = place, (Label(first.span, f"`{info.name}` runs along `{text.scalar(first.extent)}` here"),)
    order = next(((s, meant) for s in sites if (meant := in_dims_order(f, s)) is not None), None)
    if order is not None:
        at, related = order[0].span, ()
        read = Hint(f"write `{order[1]}`: its dims stand in that order", at.text, order[1])
        hints = (read, f"or {hints[0]}", *hints[1:])
    warning = Diagnostic("OPG253", message, at, "as long as another dim", related, (), hints, Severity.WARNING)
    f.bag.add(warning)


def _as_read(f: Frame) -> str:
    """The shape that the indices of a target have where they are read; empty where that is not clear."""
    loops = f.scope.root().loops if f.scope is not None else []
    sizes: list[str] = []
    for x in loops:
        read = [] if isinstance(x, Batch) else [s.extent for s in x.sites if not (s.padded or s.written)]
        if not isinstance(x, Batch) and x.stated is not None and not read:
            read = [x.stated]
        if any(e != read[0] for e in read) or (not read and not isinstance(x, Batch)):
            return ""
        sizes.append("..." if isinstance(x, Batch) else text.scalar(read[0]))
    return f"[{', '.join(sizes)}]"


def _in_order(f: Frame) -> tuple[str, ...]:
    """The shape of an output, and its indices, where one of them has the order of the other turned round."""
    loops = [x for x in (f.scope.root().loops if f.scope else ()) if isinstance(x, IndexInfo)]
    declared = [text.scalar(x.stated) for x in loops if x.stated is not None]
    read = [text.scalar(next((s.extent for s in x.sites if not s.written), ONE)) for x in loops]
    if declared == read or sorted(declared) != sorted(read) or len({*read}) < len(read):
        return ()
    names = ", ".join(loops[read.index(size)].name for size in declared)
    shape = f"write `{f.target}: {{shape: [{', '.join(read)}]}}`"
    return (f"{shape}, or `{f.target}[{names}]` on the left: shape and indices have one order",)


def _is_compared(f: Frame, index: str, extent: Scalar) -> bool:
    """Whether a statement asks itself where it is along a dim, as `where(t + 1 < T, …)` does, or `where(e % 2 == 0, …)`
    for partners within pairs, or in which half, as `where(k < H, …)` does with `H: K//2`.
    """
    size = extent.name if isinstance(extent, Dim) else ""
    made_of = {name for name, e in f.decl.derived.items() if size in names_read(e)}  # also where one has a mistake
    own = (s for s in f.decl.forward if s.target.name == f.target)
    compared = (n for s in own for n in nodes(s.value) if isinstance(n, Compare))
    return any(
        (index in names_read(n) and not names_read(n).keys().isdisjoint({size, *made_of})) or _divided(n, index)
        for n in compared
    )


def _is_round(c: Check) -> bool:
    """Whether a position begins again behind the end: `x[(k + 1) % K]`."""
    return isinstance(c.position, Apply) and c.position.fn == "mod" and c.position.args[1] == c.extent


def _is_shifted_by_branch(f: Frame, inside: Sequence[Check], info: IndexInfo) -> bool:
    """Whether the branches of a choice read one dim at several distances, so that none of them says where it ends."""
    ends = {(furthest(f, c, info), c.extent) for c in inside if is_guarded(c, info)}
    return len({extent for _, extent in ends}) == 1 and len(ends) > 1


def _is_thinned(c: Check, info: IndexInfo) -> bool:
    """Whether every second element of a dim is read, say, wherever the index is."""
    steps = [slope(c.position, name) or 0 for name, i in c.indices if i is info]
    return any(step > 1 for step in steps) and not is_guarded(c, info)


def _divided(e: Expr, index: str) -> bool:
    """Whether the remainder of an index is asked for."""
    products = (n for n in nodes(e) if isinstance(n, Product))
    return any("%" in dict(p.factors) and index in names_read(p) for p in products)


def _likely(f: Frame, info: IndexInfo) -> str:
    """The extent to state: how far an index goes with what is read at it, or the dim that one of this name is likely
    to run over; no dim where the index stands in a position that does not say."""
    inside = [c for c in f.checks if any(i is info for _, i in c.indices)]
    dims, index = f.decl.known_dims(), info.name
    for c in inside:
        if (first := before_the_start(f, c, info)) is not None and isinstance(c.extent, Dim):
            of_0 = f"write `pad({c.site.span.text}, 0)`, or another value for what is outside"
            beside = [slope(c.position, name) for name, i in c.indices if i is not info]  # what may lead past the end
            written = left_out(f, c, below=True, above=any(k is None or k > 0 for k in beside), of_0=of_0)
            end = furthest(f, tightest(f, c, inside, info), info) if _is_thinned(c, info) else None
            return (
                f"`{c.site.tensor}` is read from {first} on: {written}, and state the extent:"
                f" `{index} < {end or c.extent.name}`"
            )
    for c in (*inside, *([info.around] if info.around is not None else [])):
        if (end := window_size(f, c, info)) is not None:
            return f"state its extent: `{index} < {end}`"
    wanted = {name for e in f.decl.derived.values() for name in names_read(e) if name not in dims}  # each is told
    if inside and (index.upper() in wanted or any(index.upper() == d.name for d in f.decl.spec.dims)):  # made for it
        return f"state its extent: `{index} < {index.upper()}`"
    for c in inside:
        if (windows_of := padded_windows(f, c, info)) is not None:
            size = _new_size(index, dims)
            written = left_out(f, c, below=True, above=True, of_0=f"write `pad({c.site.span.text}, 0)`")
            return (
                f"`{c.site.tensor}` is read in front of its start: {written}, and state the extent:"
                f" `{index} < {size}`, with `dims: {{{size}: {windows_of}}}`"
            )
    for c in inside:
        goes_on = _is_round(c) or _is_shifted_by_branch(f, inside, info) or _is_compared(f, index, c.extent)
        if isinstance(c.extent, Dim) and goes_on and not any(_is_thinned(o, info) for o in inside):
            return f"state its extent: `{index} < {c.extent.name}`"
        last = tightest(f, c, inside, info)
        if (end := block_of(f, c, info) or place_value(f, c, info) or furthest(f, last, info)) is not None:
            beyond = isinstance(c.extent, Dim) and end.startswith(f"{c.extent.name} + ")
            namesake = of_namesakes(f, index) if beyond else ""
            return f"state its extent: `{index} < {namesake or end}`"
        if (end := windows(f, last, info)) is not None:
            size = _new_size(index, dims)
            return f"state its extent: write `{index} < {size}`, with `dims: {{{size}: {end}}}`"
        if (end := of_quotient(c, info)) is not None:
            return f"state its extent: `{index} < {end}`"
    if inside:
        return f"state its extent where it is introduced, `{index} < …`{_ANY}"
    if info.around is not None and (windows_of := padded_windows(f, info.around, info)) is not None:
        size = _new_size(index, dims)
        every = f"`{index} < {size}` with `dims: {{{size}: {windows_of}}}`"
        kept = f", or `{index} < {info.beside.name}` for as many as there are without" if info.beside else ""
        reduced = f.scope is None or info not in f.scope.root().loops
        return f"state its extent: {every} for all {'places' if reduced else 'windows'} of what is padded{kept}"
    if info.beside is not None:
        return f"state its extent: `{index} < {info.beside.name}`"
    if info.padded and (f.scope is None or info not in f.scope.root().loops):
        return f"state its extent where it is introduced, `{index} < …`{_ANY}"
    if info.padded and index.upper() not in dims and (count := idle_param(f.decl)) is not None:
        return f"state its extent: `{index} < {count}`"
    if info.padded and index.upper() not in dims:
        size, other = index.upper(), next(iter(dims), "N")
        return f"state its extent: `{index} < {size}`, with a formula under `dims` such as `{size}: {other}//2`"
    if (end := _read_last(f, index)) is not None:
        return f"state its extent: `{index} < {end}`"
    if (bound := bound_again(f.decl, info) or bound_within(f.decl, info)) is not None:
        return bound
    likely = of_namesakes(f, index)
    if not likely and index.upper() not in dims and (count := counted_by(f.decl, info)) is not None:
        return count
    if not likely and index.upper() not in dims and (bins := divided_by(f.decl, info)) is not None:
        return bins
    if not likely and index.upper() in dims:
        likely = index.upper()
    elif not likely and not dims and (size := _only_size(f)):
        likely = size
    elif not likely and (len(dims) != 1 or _is_of_another(f, info, dims[0])):
        length, declared = new_param(f.decl, "length", 64)
        other = f", or `{index} < {dims[0]}` to go as far as that" if len(dims) == 1 else f", or `{index} < …`{_ANY}"
        return _or_without(f, info, f"state its extent: `{index} < {length}`, {declared}{other}")
    return _or_without(f, info, f"state its extent: `{index} < {likely or dims[0]}`")


def _only_size(f: Frame) -> str:
    """The one size of all dims, where that is a number; else empty."""
    sizes = {text.scalar(n): None for shape in f.decl.shapes.values() for n in shape if isinstance(n, Lit)}
    return next(iter(sizes)) if len(sizes) == 1 else ""


def _or_without(f: Frame, info: IndexInfo, stated: str) -> str:
    """An extent to state, and before it the reduction without an index that it reads nowhere."""
    without = read_nowhere(f.decl, info)
    return stated if without is None else f"{without}; or {stated}"


def _is_of_another(f: Frame, info: IndexInfo, dim: str) -> bool:
    """Whether another index of the statement runs along a dim."""
    return any(c.extent == Dim(dim) and any(i is not info for _, i in c.indices) for c in f.checks)


def _read_last(f: Frame, index: str) -> str | None:
    """How far an index of the target runs if others read its last element: `n` of `h[n - 1]`."""
    own = (i for s in f.decl.forward if s.target.name == f.target for i in (s.target.items or (),))
    places = {k for items in own for k, i in enumerate(items) if isinstance(i, Binder) and i.name == index}
    sizes = {*f.decl.known_dims(), *(n for n, p in f.decl.params.items() if p.type == "int" and p.length is None)}
    found: dict[str, None] = {}
    for a in (n for s in f.decl.forward for n in nodes(s.value) if isinstance(n, Access) and n.name == f.target):
        for item in (a.items[k] for k in places if k < len(a.items)):
            if isinstance(item, Sum) and item.terms[-1] == ("-", Number(1, item.span)) and len(item.terms) > 1:
                rest = item.terms[:-1]
                end = rest[0][1] if len(rest) == 1 else replace(item, terms=rest)
                if names_read(end).keys() <= sizes:
                    found[unparse(end)] = None
    return next(iter(found)) if len(found) == 1 else None


def of_namesakes(f: Frame, index: str) -> str:
    """The dim of the inputs that indices of this name stand at in the other statements, if it is one."""
    found: set[str] = set()
    for access in (n for s in f.decl.forward for n in nodes(s.value) if isinstance(n, Access)):
        items, shape = access.items, f.decl.shapes.get(access.name, ())
        places = dict(enumerate(items))
        if any(isinstance(i, Dots) for i in items):  # those behind the dots are counted from the end
            dots = next(k for k, i in enumerate(items) if isinstance(i, Dots))
            places = {k if k < dots else k - len(items): i for k, i in enumerate(items)}
        elif len(items) != len(shape):
            continue
        at = (k for k, i in places.items() if isinstance(i, Name) and i.name == index)
        found |= {d.name for k in at if -len(shape) <= k < len(shape) and isinstance(d := shape[k], Dim)}
    return found.pop() if len(found) == 1 else ""


def _new_size(index: str, dims: Container[str]) -> str:
    """A name for the extent of an index that no dim has."""
    return next(n for n in (index.upper(), "Out", "Steps", f"Num{index.upper()}") if n not in dims)
