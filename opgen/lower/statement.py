"""One assignment to statements of the program: the reductions taken out of it, then the assignment itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Bag, Label, Span
from opgen.ir.point import read_of
from opgen.ir.program import Compute, Kind, Shape
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.ir.scalar import BATCH, NAN, Batch, Index, Scalar, substitute
from opgen.lang.depth import MAX_NODES_DEPTH
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Reduction, Sum, Unary
from opgen.lang.unparse import unparse, unparse_assign, unparse_target
from opgen.lang.walk import nodes, transform
from opgen.lower.along import shape_of_target
from opgen.lower.call import MAX_SIZE
from opgen.lower.closed import closed_early
from opgen.lower.components import with_component
from opgen.lower.declare import Declarations, every
from opgen.lower.digits import one_of_several, read_backwards
from opgen.lower.expression import expression
from opgen.lower.extent import extent_of, lacks_extents_only, resolve
from opgen.lower.interleaved import interleaved, mirrored, rows_of
from opgen.lower.joined import joined
from opgen.lower.kept import kept_dims
from opgen.lower.kinds import ARTICLES
from opgen.lower.lazy import take_out
from opgen.lower.loose import without_indices
from opgen.lower.lost import is_lost_start
from opgen.lower.masks import mask_among, masked_write
from opgen.lower.parts import overwritten
from opgen.lower.range import check_ranges
from opgen.lower.readings import shape_text
from opgen.lower.recurrence_next import from_0, to_its_own
from opgen.lower.recurrence_slips import assigned
from opgen.lower.recurrence_starts import goes_on_nowhere
from opgen.lower.reduction import another, check_index_name, reduce
from opgen.lower.replaced import is_place, replaced
from opgen.lower.scatter_shape import is_read, proposals
from opgen.lower.scope import DECLARED, Frame, IndexInfo, Scope, Typed, Variation, loops_of, measure, same_extent
from opgen.lower.there import SAID, each_there, is_of_all, mean_there
from opgen.lower.two_letters import for_shape, hints_of_two
from opgen.lower.whole import rounded


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is declared about a target: its shape with where that stands, and its kind."""

    shape: Shape | None = None
    span: Span | None = None
    origin: str = ""
    kind: Kind | None = None
    at_least: bool = False  # the kind may also be complex
    batch: bool = False  # a bare target has batch dims whatever the right side has

    def without(self, places: Sequence[int]) -> Wanted:
        """The same without these positions."""
        if self.shape is None:
            return self
        return replace(self, shape=tuple(n for k, n in enumerate(self.shape) if k not in places))


def frame_of(d: Declarations, state: Variation, bag: Bag) -> Frame:
    """A frame without indices and tensors, for constants and local functions."""
    return Frame(d, bag, state, None, expression)


def lower_statement(d: Declarations, state: Variation, s: Assign, wanted: Wanted, bag: Bag) -> tuple[Compute, ...]:
    """The statements for `s` in one variant; empty after a mistake."""
    if s.target.padded:
        hint = "`pad(y[…]) += …` drops positions out of range; `=` has none"
        bag.error("OPG241", "`pad` stands left of `+=`, `*=`, `max=` and `min=` only", s.target.span, hints=(hint,))
        return ()
    if (loose := closed_early(s, (*state.tensors, *state.later, *d.params))) is not None:
        hints = (f"write `{loose.meant}`",)
        bag.error("OPG204", f"the index `{loose.index}` is not bound here", loose.span, label=loose.why, hints=hints)
        return ()
    value, appended = _without_none(d, state, s.value)
    frame = Frame(d, bag, state, None, expression, target=s.target.name)
    frame.index_names = index_names(s)
    scope = _scope(frame, s, appended, wanted)
    if scope is None:
        return ()
    frame.scope = scope
    before = len(bag.items)
    body, op, over = _right_side(frame, value)
    told = body.kind is not None or lacks_extents_only(frame, value, before)
    infos = [i for i in scope.loops if isinstance(i, IndexInfo)]
    good = every(resolve(frame, i, body=told) for i in infos)
    if body.kind is None or not good or not check_ranges(frame):
        return ()
    if scope.batch is None and not scope.batch_used:
        scope.loops = [i for i in scope.loops if i != BATCH]
    kind = declared_kind(frame, s, body.kind, wanted)
    if kind is None or not small(frame, s, body.scalar):
        return ()
    pending = tuple(p.compute() for p in frame.pending)
    last = Compute(s.target.name, loops_of(scope.loops), body.scalar, op, loops_of(over), kind, s.span)
    if op is not None and kind is not body.kind and not REDUCTIONS[op].differentiable:
        counted = replace(last, target=frame.state.fresh(f"{op}_{s.target.name}"), kind=body.kind)
        return (*pending, counted, replace(last, body=read_of(counted), op=None, over=()))
    return _without_copy(pending, last)


def _without_copy(pending: tuple[Compute, ...], last: Compute) -> tuple[Compute, ...]:
    """A reduction that turns out to be the whole right side (`sum[k](…) + bias[n]` without bias) is not copied."""
    made = pending[-1] if pending else None
    if made is None or last.op is not None or (made.axes, made.kind) != (last.axes, last.kind):
        return (*pending, last)
    copied = last.body == read_of(made)
    return (*pending[:-1], replace(made, target=last.target, span=last.span)) if copied else (*pending, last)


def _right_side(frame: Frame, value: Expr) -> tuple[Typed, str | None, list[IndexInfo | Batch]]:
    """Body, reduction and reduced loops; a reduction that is the whole right side is not taken out."""
    if not isinstance(value, Reduction) or value.name in ORDERS:
        return frame.lower(value), None, []
    found = reduce(frame, value)
    if found is None:
        return Typed(NAN, None), None, []
    scope = frame.scope
    assert scope is not None
    taken = {i.unique for i in scope.loops if isinstance(i, IndexInfo)}
    assert found.op is not None
    if REDUCTIONS[found.op].keeps_index:
        return Typed(found.body, found.kind), found.op, found.over
    if BATCH in found.over and BATCH in scope.loops and scope.batch:
        # Target and reduction have batch dims of their own: two loops, so the reduction is taken out after all.
        return take_out(frame, found), None, []
    for info in found.over:
        if isinstance(info, IndexInfo) and info.unique in taken:
            name = another(frame, info.name)
            found.body = substitute(found.body, {Index(info.unique): Index(name)})
            info.unique = name
    return Typed(found.body, found.kind), found.op, found.over


# --- the left side ---------------------------------------------------------------------------------------------------


def _scope(frame: Frame, s: Assign, appended: tuple[Binder | Dots, ...], wanted: Wanted) -> Scope | None:
    """The loops of the target, with what is declared about how far they run."""
    items = s.target.items
    if items is None and wanted.shape is not None and wanted.shape not in ((), (BATCH,)) and not appended:
        without_indices(frame, s, wanted.shape)
        return None
    if items is None and not any(isinstance(a, Dots) for a in appended):
        batch: bool | None = True if wanted.batch or wanted.shape == (BATCH,) else None
        loops: list[IndexInfo | Batch] = [BATCH]
        if wanted.shape == ():
            batch, loops = False, []
        scope = Scope(loops, batch)
        all_items: tuple[Binder | Dots | Expr, ...] = appended
    else:
        scope = Scope([], False)
        all_items = (*(items or ()), *appended)
    twice = _repeated(all_items)
    if twice is not None:
        hints = hints_of_two(frame, s, declared=wanted.shape is not None) if all_items == items else ()
        frame.error("OPG208", f"the index `{twice.name}` stands twice", twice.span, *hints, label="again here")
        return None
    for item in all_items:
        if not _bind(frame, scope, item, s):
            return None
    if wanted.shape is not None and (items is not None or appended):
        return scope if _declare(frame, s, scope, wanted) else None
    return scope


def _repeated(items: Sequence[Binder | Dots | Expr]) -> Binder | None:
    """The first index that stands left of `=` a second time."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, Binder):
            if item.name in seen:
                return item
            seen.add(item.name)
    return None


def _bind(frame: Frame, scope: Scope, item: Binder | Dots | Expr, s: Assign) -> bool:
    name = frame.target
    if is_lost_start(frame.decl, name, item):
        return False
    itself = isinstance(item, Binder) and item.name == name and name not in frame.decl.inputs
    if s.op == "=" and not itself and (mask := mask_among(frame, (item,))) is not None:
        hints = masked_write(frame, s, mask)
        frame.error("OPG241", "a position is an integer, and this is a condition", item.span, *hints)
        return False
    if is_place(frame.decl, item) and (hints := replaced(frame.decl, s)):
        if isinstance(item, Binder) and frame.decl.output_shapes.get(name) is not None:
            frame.error("OPG241", "this is no plain index", item.span, *hints)
        if isinstance(item, Binder) or name in frame.decl.inputs:
            return False
    match item:
        case Dots():
            if BATCH in scope.loops:
                frame.error("OPG215", "a target holds at most one `...`", item.span, label="again here")
                return False
            scope.loops.append(BATCH)
            scope.batch = True
            return True
        case Binder(name=dim) if dim in frame.decl.known_dims() and (hints := joined(frame, s)):
            frame.error("OPG241", "this is no plain index", item.span, *hints)
        case Binder():
            if not check_index_name(frame, item):
                return False
            info = IndexInfo(item.name, item.name, item.span)
            if item.extent is not None:
                info.stated, info.origin = extent_of(frame, item.extent), "written here"
                if info.stated is None:
                    return False
            scope.loops.append(info)
            return True
        case Number():
            hints = kept_dims(frame.decl, s) or (rows_of(s.target),)
            frame.error("OPG241", "a component is chosen by one integer", item.span, *hints)
        case Unary(operand=Number()):
            further = [o for o in frame.decl.forward if o.target.name == name and _reads(o, name)]
            if any(o.op == "=" for o in further):
                return False  # said where it reads itself, or goes on
            if further:
                message = f"`{name}` starts here and goes on nowhere"
                frame.error("OPG250", message, item.span, *assigned(frame.decl, further[0]))
            else:
                frame.bag.add(goes_on_nowhere(frame.decl, s, item))
        case _:
            hints = overwritten(frame.decl, s) or joined(frame, s) or interleaved(frame, s) or mirrored(frame, s)
            hints = hints or _computed(frame, s)
            frame.error(
                "OPG241", "this is no plain index", item.span, "left of `=` stand distinct plain indices and `...`",
                *hints,
            )  # fmt: skip
    return False


def _reads(s: Assign, name: str) -> bool:
    return any(isinstance(a, Access) and a.name == name for a in nodes(s.value))


def _computed(frame: Frame, s: Assign) -> tuple[str, ...]:
    """How elements at computed positions are written: the statement, and the shape that holds them."""
    if lines := mean_there(frame, s):
        return lines
    s = each_there(s)
    name, left = s.target.name, unparse_target(s.target)
    if (own := to_its_own(frame.decl, s)) is not None:
        return from_0(frame.decl, s) or own.hints
    if (backwards := read_backwards(frame, s)) is not None:
        return (f"a position of two digits is taken apart on the right: `{unparse_assign(backwards)}`",)
    if s.op != "=":
        return (f"at computed positions {SAID[s.op]} `{unparse_assign(s)}`", *_declared_or_begun(frame, s))
    match s.value:
        case Call(name="max" | "min" as fn, args=(a, b)) if left in (unparse(a), unparse(b)):
            other = b if unparse(a) == left else a
            which = "greatest" if fn == "max" else "least"
            return (f"at computed positions the {which} is `{left} {fn}= {unparse(other)}`",)
        case Sum(terms=(("+", first), *rest)) if unparse(first) == left and rest:
            added = unparse(Sum(tuple(rest), s.value.span))
            return (f"at computed positions `+=` adds up: `{left} += {added}`",)
        case _:
            pass
    line = f"at computed positions `+=` adds up: `{left} += {_short(s)}`"
    if (sparse := one_of_several(frame, s)) is not None:
        return (f"for one result of several places write `{sparse}`", line, *_declared_or_begun(frame, s))
    before = (o.target.items or () for o in frame.decl.forward if o.target.name == name and o.op == "=" and o is not s)
    if any(all(isinstance(i, Binder | Dots) for i in items) for items in before):
        adding = f"at computed positions `+=` adds to what `{name}` is so far: `{left} += {_short(s)}`"
        return (*replaced(frame.decl, s), adding)
    if frame.decl.output_shapes.get(name) is not None:
        return (line,)
    if is_read(frame, name):
        return (line, *_declared_or_begun(frame, s))
    alike = [a.name for a in nodes(s.value) if isinstance(a, Access) and unparse(replace(a, name=name)) == left]
    known = (frame.state.tensors.get(n) for n in alike)
    of = next((shape_text(t.shape) for t in known if t is not None and t.shape is not None), None)
    if of is None:
        return (line, *_declared_or_begun(frame, s))
    return (f"{line}, with the shape of all of it: `outputs: {{{name}: {{shape: {of}}}}}`",)


def _short(s: Assign) -> str:
    """What is added, where it is soon said."""
    text = unparse(s.value)
    return text if len(text) <= 30 and not is_of_all(s) else "…"


def _declare(frame: Frame, s: Assign, scope: Scope, wanted: Wanted) -> bool:
    """Match the target's indices with a declared shape and take the extents from it."""
    shape = wanted.shape
    assert shape is not None
    same = len(shape) == len(scope.loops) and all(
        isinstance(a, Batch) == isinstance(b, Batch) for a, b in zip(shape, scope.loops, strict=True)
    )
    if not same:
        related = () if wanted.span is None else (Label(wanted.span, f"{wanted.origin} {shape_text(shape)}"),)
        frame.bag.error(
            "OPG243", f"the indices of `{s.target.name}` do not fit its shape {shape_text(shape)}", s.target.span,
            label="other dims", related=related,
            hints=with_component(frame, s.span) or (_fitting(frame, s, wanted),),
        )  # fmt: skip
        return False
    for loop, extent in zip(scope.loops, shape, strict=True):
        if isinstance(loop, IndexInfo) and not isinstance(extent, Batch):
            if loop.stated is None:
                loop.stated, loop.origin = extent, wanted.origin
            elif not same_extent(loop.stated, extent, frame.state.dims):
                message = f"the extent of `{loop.name}` differs from the shape {shape_text(shape)}"
                frame.error("OPG243", message, loop.span)
                return False
    return True


def _declared_or_begun(frame: Frame, s: Assign) -> tuple[str, ...]:
    """What says how large a scatter is; a gradient has the shape of its input."""
    return () if s in frame.decl.backward else proposals(frame, s if s.op != "=" else replace(s, op="+="))


def _fitting(frame: Frame, s: Assign, wanted: Wanted) -> str:
    """The declared shape that the indices of a statement have."""
    shape = shape_of_target(frame.decl, s) if wanted.origin == DECLARED else ""
    if wanted.shape is not None and (line := for_shape(frame, s, wanted.shape)):
        return f"write `{line}`, or declare `{s.target.name}: {{shape: {shape}}}`"
    if shape:
        return f"its indices have the shape {shape}: write `{s.target.name}: {{shape: {shape}}}`, or other indices"
    return "write one index for each dim, and `...` where the shape has it"


def declared_kind(frame: Frame, s: Assign, kind: Kind, wanted: Wanted) -> Kind | None:
    """The kind of the result: what the formula gives, or the declared one where it can be that."""
    if wanted.kind is None or wanted.kind is kind or (wanted.at_least and kind is Kind.COMPLEX):
        return kind
    if wanted.kind is Kind.COMPLEX or (wanted.kind is Kind.FLOAT and kind is not Kind.COMPLEX):
        return wanted.kind
    if wanted.kind is Kind.INT and kind is Kind.BOOL:
        return Kind.INT
    hint = f"write `{rounded(frame, s.value)}`" if wanted.kind is Kind.INT else "compare it, for example `e != 0`"
    if kind is Kind.COMPLEX:
        hint = "take `real(…)`, `imag(…)` or `abs(…)` of it"
    message = f"`{s.target.name}` is declared of dtype {wanted.kind} and assigned {ARTICLES[kind]}"
    frame.error("OPG243", message, s.value.span, hint)
    return None


def small(frame: Frame, s: Assign, body: Scalar) -> bool:
    size, depth = measure(body, frame.state.sizes)
    if size <= MAX_SIZE and depth <= MAX_NODES_DEPTH:
        return True
    hint = "name a part of it in a statement of its own"
    frame.error("OPG227", "this formula is too large", s.value.span, hint)
    return False


def index_names(s: Assign) -> set[str]:
    """Names that a statement uses as indices: bound, or standing alone in brackets."""
    names = {i.name for i in s.target.items or () if isinstance(i, Binder)}
    for n in nodes(s.value):
        match n:
            case Access(items=items):
                names.update(i.name for i in items if isinstance(i, Name))
            case Reduction(binders=binders):
                names.update(b.name for b in binders if isinstance(b, Binder))
            case _:
                pass
    return names


# --- a choices param that stands for no reduction --------------------------------------------------------------------


def _without_none(d: Declarations, state: Variation, e: Expr) -> tuple[Expr, tuple[Binder | Dots, ...]]:
    """The formula without the reductions that are `none` in this variant, and the indices these leave to the target."""
    if not any(state.chosen.get(n.name) == "none" for n in nodes(e) if isinstance(n, Reduction)):
        return e, ()
    appended: dict[Binder | Dots, None] = {}

    def step(node: Expr) -> Expr | None:
        if not isinstance(node, Reduction) or node.name in REDUCTIONS or state.chosen.get(node.name) != "none":
            return None
        appended.update(dict.fromkeys(node.binders))
        return transform(node.body, step)

    return transform(e, step), tuple(appended)
