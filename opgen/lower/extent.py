"""How far an index runs: what is written, else what the output declares, else the dims at which it stands alone."""

from __future__ import annotations

from opgen.diagnostics.model import Label, Span
from opgen.ir import text
from opgen.ir.scalar import BATCH, ONE, Dim, Lit, Scalar
from opgen.lang.nodes import Expr
from opgen.lang.walk import names_read
from opgen.lower.access import shape_text
from opgen.lower.kinds import integer
from opgen.lower.range import before_the_start, furthest, windows
from opgen.lower.scope import Frame, IndexInfo, Site, same_extent


def extent_of(f: Frame, e: Expr) -> Scalar | None:
    """A written extent: an integer expression of dims and int params."""
    for name, node in names_read(e).items():
        if name in f.state.tensors or (f.scope is not None and f.scope.find(name) is not None):
            f.error(
                "OPG226", "an extent is made of dims and int params", node.span, label="neither",
                notes=("shapes that depend on data are reserved for later",),
            )  # fmt: skip
            return None
    outer = f.scope, f.place
    f.scope, f.place = None, "an extent"
    typed = integer(f, f.lower(e), e.span, "an extent")
    f.scope, f.place = outer
    if typed.kind is None:
        return None
    if isinstance(typed.scalar, Lit) and typed.scalar.value < 0:
        f.error("OPG232", "an extent cannot be negative", e.span, "an index runs from 0 to its extent")
        return None
    return typed.scalar


def resolve(f: Frame, info: IndexInfo, *, body: bool) -> bool:
    """Settle the extent of an index whose accesses are all known; False after a mistake.

    `body`: the formula was understood, so that an index without accesses is a mistake of its own.
    """
    if info.stated is not None:
        info.extent = info.stated
        return True
    if not info.sites:
        if body and info.name not in f.reported:
            f.reported.add(info.name)
            hint = _likely(f, info)
            size = next((c for c in f.checks if c.position == Dim(info.name.upper())), None)
            if size is not None:
                hint = f"`{size.span.text}` is the size of a dim; its index is written `{info.name}`"
            message = f"nothing says how far `{info.name}` runs"
            f.error("OPG214", message, info.span, hint, label="stands alone in no access")
        return False
    sites = [s for s in info.sites if not s.padded] or info.sites
    first = sites[0]
    info.extent = first.extent
    for site in sites[1:]:
        if not same_extent(first.extent, site.extent, f.state.dims):
            _clash(f, info, first, site)
            return False
    return True


def _likely(f: Frame, info: IndexInfo) -> str:
    """The extent to state: how far an index goes with what is read at it, or the dim that one of this name is likely
    to run over; no dim where the index stands in a position that does not say."""
    inside = [c for c in f.checks if any(i is info for _, i in c.indices)]
    dims, index = f.decl.known_dims(), info.name
    for c in inside:
        if (first := before_the_start(f, c, info)) is not None and isinstance(c.extent, Dim):
            shown = f"pad({c.site.span.text}, 0)"
            return (
                f"`{c.site.tensor}` is read from {first} on: write `{shown}`, or another value for what is outside,"
                f" and state the extent: `{index} < {c.extent.name}`"
            )
    for c in inside:
        if (end := furthest(f, c, info)) is not None:
            return f"state its extent: `{index} < {end}`"
        if (end := windows(f, c, info)) is not None:
            size = next(n for n in (index.upper(), "Out", "Steps", f"Num{index.upper()}") if n not in dims)
            return f"state its extent: write `{index} < {size}`, with `dims: {{{size}: {end}}}`"
    if inside:
        return f"state its extent where it is introduced, `{index} < …`: a dim, or an expression of dims and int params"
    if info.beside is not None:
        return f"state its extent: `{index} < {info.beside.name}`"
    if info.padded and index.upper() not in dims:
        size, other = index.upper(), next(iter(dims), "N")
        return f"state its extent: `{index} < {size}`, with a formula under `dims` such as `{size}: {other}//2`"
    likely = index.upper() if index.upper() in dims else next(iter(dims), "N")
    return f"state its extent: `{index} < {likely}`"


def _clash(f: Frame, info: IndexInfo, first: Site, second: Site) -> None:
    a, b = text.scalar(first.extent), text.scalar(second.extent)
    notes = [f"`{info.name}` would need {a} = {b}"]
    for site in (first, second):
        known = f.state.tensors.get(site.tensor)
        if known is not None and known.shape is not None:
            notes.append(f"`{site.tensor}` has shape {shape_text(known.shape)}")
    hints = _of_size_one(f, info, first, second) or _swapped(f, info, first, second)
    f.bag.error(
        "OPG213", f"the index `{info.name}` runs over `{a}` and over `{b}`", second.span,
        label=f"here it runs over `{b}`",
        related=(Label(first.span, f"here it runs over `{a}`"), *_declared(f, first, second)),
        notes=tuple(dict.fromkeys(notes)),
        hints=hints or ("use two indices, or give the dims one name if they are always equal",),
    )  # fmt: skip


def _by_letters(f: Frame, site: Site) -> str | None:
    """The access with its indices in the order of the dims, where each is called like one of them."""
    known = f.state.tensors.get(site.tensor)
    items = [i.strip() for i in site.span.text.partition("[")[2].rpartition("]")[0].split(",")]
    if known is None or known.shape is None or any(not isinstance(s, Dim) for s in known.shape):
        return None
    wanted = [s.name.lower() for s in known.shape if isinstance(s, Dim)]
    other = items != wanted and sorted(items) == sorted(wanted) and len({*wanted}) == len(wanted)
    return f"{site.tensor}[{', '.join(wanted)}]" if other else None


def _of_size_one(f: Frame, info: IndexInfo, *sites: Site) -> tuple[str, ...]:
    """A hint where one of them is read along a dim of size 1, as if that broadcast."""
    site = next((s for s in sites if s.extent == ONE), None)
    known = None if site is None else f.state.tensors.get(site.tensor)
    if site is None or known is None or known.shape is None:
        return ()
    items = [i.strip() for i in site.span.text.partition("[")[2].rpartition("]")[0].split(",")]
    if len(items) != len(known.shape):
        return ()
    at = ["0" if i == info.name and size == ONE else i for i, size in zip(items, known.shape, strict=True)]
    return (f"a size of 1 does not broadcast: read it at 0, `{site.tensor}[{', '.join(at)}]`",)


def _declared(f: Frame, *sites: Site) -> tuple[Label, ...]:
    """Where the dims come from, for inputs."""
    spans: dict[Span, str] = {}
    for site in sites:
        known = f.state.tensors.get(site.tensor)
        if known is not None and known.declared and known.shape is not None:
            spans.setdefault(known.span, f"`{site.tensor}` is declared with shape {shape_text(known.shape)}")
    return tuple(Label(span, said) for span, said in spans.items())


def _swapped(f: Frame, info: IndexInfo, first: Site, second: Site) -> tuple[str, ...]:
    """A hint where the clash goes away by exchanging two positions of an access."""
    known = f.state.tensors.get(second.tensor)
    if known is None or known.shape is None:
        return ()
    for site in (first, second):
        if (lettered := _by_letters(f, site)) is not None:
            return (f"did you mean `{lettered}`?",)
    inside = second.span.text.partition("[")[2].rpartition("]")[0]
    items = [i.strip() for i in inside.split(",")]
    if len(items) != len(known.shape) or any(c in inside for c in "()["):
        return ()
    here = [k for k, i in enumerate(items) if i == info.name]
    there = [k for k, s in enumerate(known.shape) if s != BATCH and s == first.extent]
    if len(here) != 1 or len(there) != 1:
        return ()
    items[here[0]], items[there[0]] = items[there[0]], items[here[0]]
    return (f"did you mean `{second.tensor}[{', '.join(items)}]`?",)
