"""Names and accesses: what a name stands for, and how a tensor is read at positions.

Every access in which an index stands alone is noted at the index, because that is what says how far it runs.
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.diagnostics.model import Label, Span
from opgen.diagnostics.suggest import closest, counted, did_you_mean
from opgen.ir.formula import CONSTANTS
from opgen.ir.program import Kind
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import BATCH, Batch, Dim, Index, Lit, Param, Position, Read, Scalar
from opgen.lang.habits import COMMENT, NO_AXIS
from opgen.lang.nodes import Access, Dots, Expr, Name, Number
from opgen.lang.unparse import respelled, unparse_assign
from opgen.lower import bound_left, missing
from opgen.lower.along import as_batch, as_quotient, of_its_index
from opgen.lower.batch_left import left_over
from opgen.lower.batch_sums import over_batch
from opgen.lower.completed import completed
from opgen.lower.components import by_places, with_component
from opgen.lower.declare import CALLABLE
from opgen.lower.draw import refused
from opgen.lower.gradient_names import cotangent_by, cotangents_by
from opgen.lower.grown import grown, is_said
from opgen.lower.idle import idle_param
from opgen.lower.list_params import beyond, elements, no_list, not_chosen
from opgen.lower.loose import beside_implied, bound, bound_by, implied, in_round_brackets, loose_beside, summed
from opgen.lower.masks import mask_among, masked_read
from opgen.lower.proposals import WITHOUT_TENSORS, as_it_stays, assigned_float
from opgen.lower.range import note
from opgen.lower.readings import from_the_end, instead_of_dots, not_an_index, shape_text, spelled, without_last
from opgen.lower.recurrence_bare import read_along
from opgen.lower.recurrence_slips import too_early
from opgen.lower.recurrence_start import Unclear, or_start, steps_back
from opgen.lower.scattered import as_scattered
from opgen.lower.scope import BAD, UNKNOWN, Frame, Known, Site, Typed
from opgen.lower.shape import derived, named_within
from opgen.lower.split_dims import split_by
from opgen.lower.step_before import earlier
from opgen.lower.whole import declared_float, integer, is_told
from opgen.lower.window_count import counted_windows
from opgen.schema.model import ParamSpec

_KINDS = {"float": Kind.FLOAT, "int": Kind.INT, "bool": Kind.BOOL}
_CONSTANT_KINDS = {"true": Kind.BOOL, "false": Kind.BOOL}


# --- bare names ------------------------------------------------------------------------------------------------------


def bare_name(f: Frame, e: Name) -> Typed:
    """A name without brackets, innermost meaning first."""
    name = e.name
    if name in f.args:
        return f.args[name]
    info = f.scope.find(name) if f.scope is not None else None
    if info is not None:
        return Typed(Index(info.unique), Kind.INT)
    if name in f.state.tensors:
        return _bare_tensor(f, e, f.state.tensors[name])
    if name in f.state.later:
        return too_early(f, e, e.span)
    if f.scope is None and name in f.decl.inputs:
        return _no_tensors(f, name, e.span)
    if name in f.decl.params:
        return param(f, e.span, f.decl.params[name], None)
    if name in f.decl.known_dims():
        return Typed(Dim(name), Kind.INT)
    if name in CONSTANTS:
        return Typed(CONSTANTS[name], _CONSTANT_KINDS.get(name, Kind.FLOAT))
    return unknown_name(f, name, e.span, position=False)


def _bare_tensor(f: Frame, e: Name, known: Known) -> Typed:
    if f.scope is None:
        return _no_tensors(f, e.name, e.span)
    if known.shape is None or refused(f, e.name, e, known):
        return BAD
    if known.shape not in ((), (BATCH,)):
        if is_said(f, hints := grown(f, e)):
            return BAD
        hints = hints or (f"write `{read_along(f, e, known) or spelled(f, e.name, known.shape)}`",)
        message = f"`{e.name}` has named dims and is read without indices"
        return f.error("OPG242", message, e.span, *hints, label=f"has shape {shape_text(known.shape)}")
    if known.shape == (BATCH,) and not _use_batch(f, e.name, e.span):
        return BAD
    return Typed(known.absent if known.absent is not None else Read(e.name, known.shape), known.kind)


def _no_tensors(f: Frame, name: str, span: Span) -> Typed:
    hints = WITHOUT_TENSORS.get(f.place, ())
    return f.error("OPG206", f"{f.place} cannot read the tensor `{name}`", span, *hints)


def _use_batch(f: Frame, name: str, span: Span) -> bool:
    if f.scope is not None and f.scope.use_batch():
        return True
    if "..." not in f.reported:
        f.reported.add("...")
        f.error(
            "OPG216", f"`{name}` has batch dims, which are neither on the left nor reduced", span,
            *missing.one_number(f, name), *left_over(f, span),
            label="batch dims are left over",
        )  # fmt: skip
    return False


def param(f: Frame, span: Span, p: ParamSpec, item: int | None) -> Typed:
    """A param, or an element of one, as it is in this variant."""
    name = str(p.name)
    if p.choices:
        hint = f'test it in a guard: `… if {name} == "{p.choices[0]}"`'
        return f.error("OPG231", f"`{name}` is a string, which has no value in a formula", span, hint)
    if p.type == "str":  # without choices, which is told where it is declared
        return BAD
    kind = _KINDS[p.type]
    if f.state.given.get(name) is False:
        if name in f.state.defaults:
            return Typed(f.state.defaults[name], kind)
        if f"given({name})" not in f.reported:
            f.reported.add(f"given({name})")
            f.error(
                "OPG230", f"`{name}` may be missing here", span,
                f"exclude it with a guard `… if given({name})`, and say the other case, `… if not given({name})`",
                f"or write `where(given({name}), a, b)` with what holds in either case",
                label="no condition excludes that it is missing",
            )  # fmt: skip
        return BAD
    if (p.length is None) != (item is None):
        if item is None:
            hint = f"choose an element: {elements(p)}"
            return f.error("OPG206", f"`{name}` is a list of {p.length}", span, hint)
        return no_list(f, p, item, span)
    if item is not None and p.length is not None and not 0 <= item < p.length:
        return beyond(f, p, span)
    chosen = f.state.chosen.get(name)
    if isinstance(chosen, bool):
        return Typed(Lit(chosen), Kind.BOOL)
    return Typed(Param(name, item), kind)


def unknown_name(f: Frame, name: str, span: Span, *, position: bool) -> Typed:
    """An unbound index, an unknown dim or an unknown name: each with what to do about it."""
    if span.source.text[: span.start].rstrip().endswith("--"):
        return f.error("OPG205", f"there is no `{name}`", span, COMMENT, label="unknown name")
    if name.lower() in ("none", "null") and f.place == "`absent`":
        hint = "an input that was not passed reads as a number: `absent: 0`, or `absent: 1` for a factor"
        return f.error("OPG205", f"there is no `{name}`", span, hint, label="unknown name")
    if (told := missing.known_word(f, name)) and not position and name not in f.index_names:
        return f.error("OPG205", f"there is no `{name}`", span, told, label="unknown name")
    if name == "None" and name in f.index_names:
        return f.error("OPG205", f"there is no `{name}`", span, NO_AXIS, label="unknown name")
    if name in named_within(t.shape for t in f.decl.inputs.values()) or missing.is_respelt(f, name):
        return BAD
    if name[:1].isupper():
        idle = idle_param(f.decl)
        hints = (
            (split_by(f.decl, name) if idle is None else ())
            or of_its_index(f, name, span)
            or did_you_mean(name, (*f.decl.known_dims(), *CONSTANTS))
            or (counted_windows(f.decl, name) if idle is None else ())
            or derived(name, tuple(f.decl.params), idle)
        )
        if quotient := as_quotient(f, name, span):
            hints = (*quotient, *(f"or {hint}" for hint in hints))
        return f.error("OPG238", f"there is no dim `{name}`", span, *hints, label="unknown dim")
    visible = (*f.state.tensors, *f.decl.params, *f.args, *f.state.later)
    if f.scope is not None and (position or name in f.index_names):
        if name not in f.reported:
            f.reported.add(name)
            hints = did_you_mean(name, [i.name for i in f.scope.visible() if not isinstance(i, Batch)])
            near = did_you_mean(name, visible) if len(name) > 2 else ()
            fixed = f.target.removeprefix("grad_") in f.decl.inputs  # a gradient has the shape of its input
            within = bound_by(f, span)
            whole = "" if within else summed(f, span)
            line = f"write `{whole}`" if whole else "" if within else implied(f, span)
            way = bound(f, span, within) if within else line or f"sum over it with `sum[{name}](…)`"
            over: tuple[str, ...] = (f"{way}{'' if fixed else ', or write it on the left'}",)
            over = bound_left.as_meant(f, name, span) or as_scattered(f, name, span) or (*as_batch(f, span), *over)
            notes: tuple[str, ...] = ("nothing is summed implicitly",)
            if not position and name.upper() in f.decl.known_dims():
                hints, near, over, notes = (f"did you mean the size of the dim, `{name.upper()}`?",), (), (), ()
            beside = () if not over else beside_implied(f, span) if line and not whole else loose_beside(f, span)
            f.reported |= {n.name for n in beside}
            f.bag.error(
                "OPG204", f"the index `{name}` is not bound", span, hints=(*map(str, (*hints, *near)), *over),
                label="bound nowhere", notes=notes, related=[Label(n.span, "nor is this") for n in beside],
            )  # fmt: skip
        return BAD
    if _is_lost(f, name):
        return BAD
    constants = [c for c in CONSTANTS if name.lower() == c or len(name) <= 3]
    hints = cotangent_by(f, name) or (cotangents_by(f, name) if "grad" in name else ())
    hints = hints or (() if position else earlier(f.decl, Name(name, span)))
    known = (*visible, *f.decl.known_dims(), *constants)
    hints = hints or (did_you_mean(name, known) if closest(name, known) != f.target else ())  # what reads itself
    if name in CALLABLE or name in REDUCTIONS or name in f.decl.functions:
        shown = f"{name}(…)" if name not in REDUCTIONS or name in CALLABLE else f"{name}[k](…)"
        return f.error("OPG206", f"`{name}` is a function and needs an argument", span, f"write `{shown}`")
    hints = hints or cotangents_by(f, name)
    if not hints and not f.decl.inputs:
        hints = (f"declare it: `inputs: {{{name}: {{shape: [...]}}}}`, or under `params`",)
    elif not hints and len(name) == 1 and f.scope is not None:
        hints = (*missing.number(f, name), f"an index is bound left of `=` or by a reduction, `sum[{name} < N](…)`")
    if f.place == "a derivative" and name.startswith(("grad", "upstream", "cotangent")):
        hints = (
            f"a derivative is that of the value by its argument; opgen multiplies it with what comes from behind: leave"
            f" `{name}` out",
        )
    if not hints and f.place == "a default":
        hints = ("a default is a number, such as `0.5`, or a formula of dims and other params",)
    hints = hints or missing.of_function(f, name, span)
    hints = hints or missing.never_read(f, name, None) + missing.number(f, name)
    return f.error("OPG205", f"there is no `{name}`", span, *hints, label="unknown name")


def _is_lost(f: Frame, name: str) -> bool:
    """Whether a name is the gradient of what has a mistake of its own."""
    of = name.removeprefix("grad_")
    return f.bag.has_errors and of != name and (of in f.decl.targets() or of in f.decl.inputs)


# --- accesses --------------------------------------------------------------------------------------------------------


def access(f: Frame, e: Access, *, padded: bool = False) -> Typed:
    """`name[…]`: a tensor at positions, or an element of a list param. `padded`: it may leave the range."""
    if f.scope is None and (e.name in f.state.tensors or e.name in f.decl.inputs):
        return _no_tensors(f, e.name, e.span)
    known = f.state.tensors.get(e.name)
    if known is not None and e.name not in f.args:
        return _read(f, e, known, padded=padded)
    if e.name in f.state.later:
        return too_early(f, e, e.span)
    if e.name in f.decl.params and e.name not in f.args:
        item = e.items[0] if len(e.items) == 1 else None
        if isinstance(item, Dots) and f.decl.params[e.name].length is None:
            return f.error("OPG206", f"`{e.name}` is one number, and has no positions", e.span, f"write `{e.name}`")
        if not isinstance(item, Number) or not isinstance(item.value, int):
            return not_chosen(f, e)
        return param(f, e.span, f.decl.params[e.name], item.value)
    if e.name in f.decl.known_dims() or e.name in f.args or (f.scope is not None and f.scope.find(e.name)):
        return f.error("OPG206", f"`{e.name}` is a number and has no positions", e.name_span)
    if e.name in REDUCTIONS or e.name in CALLABLE:
        return f.error("OPG206", f"`{e.name}` is not a tensor", e.name_span, in_round_brackets(f, e))
    if _is_lost(f, e.name) or missing.is_respelt(f, e.name):
        return BAD
    if e.name in f.decl.targets() and (hint := as_it_stays(f.decl, e.name)):
        return f.error("OPG220", f"`{e.name}` is read where it has no statement", e.name_span, hint)
    hints = cotangent_by(f, e.name) or (cotangents_by(f, e.name) if "grad" in e.name else ())
    hints = hints or earlier(f.decl, e) or _near(f, e)
    hints = hints or cotangents_by(f, e.name) or missing.conditions(f, e)
    hints = hints or missing.never_read(f, e.name, len(e.items)) + missing.undeclared(f, e)
    return f.error("OPG205", f"there is no tensor `{e.name}`", e.name_span, *hints, label="unknown tensor")


def _near(f: Frame, e: Access) -> tuple[str, ...]:
    """The tensor that a misspelt name stands for: the statement's own only where it is read at another place."""
    known = (*f.state.tensors, *f.state.later)
    others = tuple(n for n in known if n != f.target)
    here = all(isinstance(i, Dots | Name) for i in e.items)
    return (did_you_mean(e.name, others) if here else ()) or did_you_mean(e.name, known)


def _read(f: Frame, e: Access, known: Known, *, padded: bool) -> Typed:
    if known.shape is None or refused(f, e.name, e, known):
        return BAD
    if (mask := mask_among(f, e.items)) is not None:
        message = "a position is an integer, and this is a condition"
        return f.error("OPG223", message, mask.span, *masked_read(f, e, mask))
    if not check_rank(f, e, known):
        return BAD
    at: list[Position] = []
    good = True
    back = {} if padded else steps_back(e, known)
    for k, (item, dim) in enumerate(zip(e.items, known.shape, strict=True)):
        if isinstance(item, Dots) or isinstance(dim, Batch):
            good = _use_batch(f, e.name, item.span) and good
            at.append(BATCH)
            continue
        p = position(f, item, dim, Site(dim, e.name, e.span, padded or k in back or k in known.running))
        good = p is not None and good
        at.append(Lit(0) if p is None else p)
    if not good:
        return BAD
    read = Read(e.name, tuple(at))
    if back and known.outside is not None:
        found = or_start(known.outside, read, back, known.shape, known.kind)
        return (
            f.error("OPG250", found.message, e.span, found.hint)
            if isinstance(found, Unclear)
            else Typed(found, known.kind)
        )
    return Typed(known.absent if known.absent is not None else read, known.kind)


def check_rank(f: Frame, e: Access, known: Known, *, verb: str = "read") -> bool:
    """As many positions as dims, and `...` where the shape has it."""
    assert known.shape is not None
    dots = [k for k, i in enumerate(e.items) if isinstance(i, Dots)]
    if len(dots) > 1:
        f.error("OPG215", "an access holds at most one `...`", e.items[dots[1]].span, label="again here")
        return False
    where = known.shape.index(BATCH) if BATCH in known.shape else None
    if dots and where is None:
        f.error(
            "OPG216", f"`{e.name}` has no batch dims", e.items[dots[0]].span, *instead_of_dots(f, e, known.shape),
            label=f"has shape {shape_text(known.shape)}",
        )  # fmt: skip
        return False
    if len(e.items) == len(known.shape) and (dots[0] if dots else None) == where:
        return True
    needed, found = _count(known.shape), _count(e.items)
    besides = " besides its batch dims" if where is not None else ""
    message = f"`{e.name}` has {needed}{besides} and is {verb} at {found}"
    if needed == found:
        message = f"the batch dims of `{e.name}` stand elsewhere"
        if not dots:
            message = f"`{e.name}` is {verb} without its batch dims"
    related = (Label(known.span, f"declared with shape {shape_text(known.shape)}"),) if known.declared else ()
    whole = over_batch(f, e, known) or grown(f, e) or by_places(f, e) or with_component(f, e.span)
    if is_said(f, whole):
        return False
    f.bag.error(
        "OPG212", message, e.span, label=f"has shape {shape_text(known.shape)}", related=related,
        hints=whole or without_last(f, e, known) or completed(f, e, known),
    )  # fmt: skip
    return False


def _count(items: Iterable[object]) -> str:
    return counted(sum(1 for i in items if not isinstance(i, Dots | Batch)), "dim")


def position(f: Frame, item: Expr, dim: Scalar, site: Site) -> Scalar | None:
    """One position: an index that stands alone says how far it runs; any other integer expression is checked."""
    if isinstance(item, Name) and item.name not in f.args:
        info = f.scope.find(item.name) if f.scope is not None else None
        if info is not None:
            if dim != Dim(UNKNOWN):
                info.sites.append(site)
            note(f, Index(info.unique), dim, site, item.span)
            return Index(info.unique)
        if not _means_something(f, item.name):
            unknown_name(f, item.name, item.span, position=True)
            return None
    if isinstance(item, Name) and _is_of_floats(f, item.name):
        not_an_index(f, item, site)
        return None
    typed = f.lower(item)
    if typed.kind is Kind.BOOL:
        hint = "an extent is stated where the index is introduced: on the left, or in the brackets of a reduction"
        f.error("OPG223", "a position is an integer, and this is a condition", item.span, hint)
        return None
    if typed.kind is Kind.FLOAT and (name := missing.only_float(f, item)):
        if not is_told(f, name):
            hints = (*declared_float(f, name), f"or round it here: `int(round({respelled(item)}))`")
            f.error("OPG223", "a position is an integer, and this is a float", item.span, *hints)
        return None
    if typed.kind is Kind.FLOAT and (rounded := assigned_float(f, item)) is not None:
        message = f"a position is an integer, and `{rounded.target.name}` is a float"
        if not any(told.message == message for told in f.bag.items):
            related = (Label(rounded.target.span, "assigned here"),)
            hints = (f"write `{unparse_assign(rounded)}`",)
            f.bag.error("OPG223", message, item.span, related=related, hints=hints)
        return None
    typed = integer(f, typed, item, "a position")
    if typed.kind is None:
        return None
    if isinstance(typed.scalar, Lit) and typed.scalar.value < 0 and not site.padded:
        message = f"`{site.tensor}` has no position {typed.scalar.value} there"
        f.error(
            "OPG232",
            message,
            item.span,
            *from_the_end(item, int(typed.scalar.value), dim, site),
            notes=("negative positions do not wrap",),
        )
        return None
    note(f, typed.scalar, dim, site, item.span)
    return typed.scalar


def _is_of_floats(f: Frame, name: str) -> bool:
    """Whether a tensor has named dims and floats: bare, it is no position in any case."""
    known = f.state.tensors.get(name)
    if known is None or known.shape in (None, (), (BATCH,)):
        return False
    return known.kind is Kind.FLOAT and name not in f.args


def _means_something(f: Frame, name: str) -> bool:
    return (
        name in f.state.tensors or name in f.state.later or name in f.decl.params
        or name in f.decl.known_dims() or name in CONSTANTS or name[:1].isupper()
    )  # fmt: skip
