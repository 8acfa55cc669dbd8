"""Reductions and index operators: each becomes a statement of its own, read where it stood.

Two things need care. A reduction under a `where` must not evaluate its body where the branch is not taken, so the
conditions go into the body when that could matter. And an index that is bound anew inside its own scope needs a name
of its own, or those conditions would mean another index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir import text
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Kind
from opgen.ir.reductions import ORDERS, REDUCTIONS
from opgen.ir.reductions import Reduction as Row
from opgen.ir.scalar import (
    BATCH,
    Batch,
    Index,
    Scalar,
    substitute,
)
from opgen.lang import habits
from opgen.lang.nodes import Binder, Compare, Dots, Name, Reduction
from opgen.lang.unparse import respelled, unparse, unparse_assign, unparse_target
from opgen.lang.walk import names_read, nodes, statement_at, transform
from opgen.lower.along import size_of
from opgen.lower.bound_left import bound_on_the_left
from opgen.lower.complex import reduced
from opgen.lower.declare import check_lower, every
from opgen.lower.extent import extent_of, lacks_extents_only, resolve
from opgen.lower.kept_index import not_bound
from opgen.lower.kinds import condition, numeric
from opgen.lower.lazy import axes_of, risky, take_out, under
from opgen.lower.order import in_order, picked
from opgen.lower.proposals import one_index
from opgen.lower.readings import another_letter, with_letter
from opgen.lower.row_functions import of_numbers
from opgen.lower.scope import BAD, Frame, IndexInfo, Pending, Scope, Typed, free
from opgen.lower.unmoved import moved, read_in
from opgen.lower.words import stands


def reduction(f: Frame, e: Reduction) -> Typed:
    """A reduction inside a formula: taken out into a pending statement, and read."""
    if f.scope is None:
        hints = of_numbers(f.decl, f.calls[-1] if f.calls and f.place == "a local function" else "")
        return f.error("OPG206", f"{f.place} cannot reduce", e.span, *hints)
    if e.name in ORDERS:
        return _order(f, e)
    found = reduce(f, e)
    return BAD if found is None else take_out(f, found)


def _order(f: Frame, e: Reduction) -> Typed:
    """An order statistic: its body by the rules of reductions, or of index operators."""
    row = ORDERS[e.name]
    if row.takes and e.further is None:
        hint = f"write `{respelled(e).removesuffix(')')}, {row.takes})`"
        return f.error("OPG210", f"`{e.name}` takes two arguments, the elements and `{row.takes}`", e.span, hint)
    if row.keeps_index and len(e.binders) != 1:
        return f.error("OPG246", f"`{e.name}` takes one index", e.span)
    dots = next((b for b in e.binders if isinstance(b, Dots)), None)
    if dots is not None:
        hint = "name the dims that are put in order"
        return f.error("OPG246", f"`{e.name}` takes indices, not the batch dims", dots.span, hint)
    found = _kept(f, e, REDUCTIONS["cumsum"]) if row.keeps_index else _bound(f, e, REDUCTIONS["sum"])
    if found is None:
        return BAD
    if found.kind is Kind.COMPLEX:
        return f.error("OPG223", f"`{e.name}` is not defined for complex numbers", e.body.span, label="complex")
    if row.keeps_index:
        return in_order(f, found)
    return picked(f, e, found)


def reduce(f: Frame, e: Reduction) -> Pending | None:
    """The statement that a reduction stands for, without a target; extents of what it binds are known afterwards."""
    row = _row(f, e)
    if row is None:
        return None
    if row.single_index and (len(e.binders) != 1 or isinstance(e.binders[0], Dots)):
        f.error("OPG246", f"`{row.name}` takes one index", e.span, *one_index(f, e))
        return None
    return _kept(f, e, row) if row.keeps_index else _bound(f, e, row)


def _row(f: Frame, e: Reduction) -> Row | None:
    name = e.name
    if name not in REDUCTIONS and name in f.decl.params:
        choices = f.decl.params[name].choices
        if not choices and f.decl.params[name].type == "str":  # which is told where it is declared
            return None
        usable = [c for c in choices if stands(c)]
        if not choices or len(usable) != len(choices):
            wrong = [c for c in choices if c not in usable]
            why = f"its choices {listed(wrong, 'and')} are no reductions" if wrong else "it has no choices"
            more = [f"write a statement for each choice: {_for_each(f, e, choices)}"] if wrong else []
            f.error("OPG211", f"the param `{name}` cannot stand for a reduction", e.name_span, *more, label=why)
            return None
        name = str(f.state.chosen.get(name, ""))
        if name not in REDUCTIONS:
            f.error("OPG230", f"`{e.name}` may be missing here", e.name_span, f"add a guard `if given({e.name})`")
            return None
    row = REDUCTIONS.get(name)
    if row is None:
        if name in FUNCTIONS or name in f.decl.functions:
            message = f"`{name}` is a function of numbers, not a reduction"
            f.error("OPG211", message, e.name_span, f"write `{name}(…)`")
        elif name in f.state.tensors:
            f.error("OPG211", f"`{name}` is a tensor, not a reduction", e.name_span, "multiplication is written `*`")
        else:
            standing = (p.name for p in f.decl.params.values() if set(p.choices) & set(REDUCTIONS))
            known = (*REDUCTIONS, *ORDERS, *standing)
            hints = (habits.FUNCTIONS[name],) if name in habits.FUNCTIONS else did_you_mean(name, known)
            f.error("OPG211", f"there is no reduction `{name}`", e.name_span, *hints, label="unknown reduction")
        return None
    return row


def _for_each(f: Frame, e: Reduction, choices: Sequence[str]) -> str:
    """The statement with each choice of a param in place of the reduction that it names."""
    own = next((s for s in (*f.decl.forward, *f.decl.backward) if any(n is e for n in nodes(s.value))), None)
    first = next((b.name.upper() for b in e.binders if isinstance(b, Binder)), "")
    lines: list[str] = []
    for c in choices:
        asked = f'if {e.name} == "{c}"'
        made = unparse(replace(e, name=c)) if c in REDUCTIONS else ""
        if c == "batchmean" and first in f.decl.known_dims():
            made = f"{unparse(replace(e, name='sum'))}/{first}"
        target = own.target if own is not None and own.value is e else None
        if c == "none" and target is not None:
            target, made = replace(target, items=(*(target.items or ()), *e.binders)), unparse(e.body)
        lines.append(f"`{unparse_target(target)} = {made} {asked}`" if made and target is not None else f"`… {asked}`")
    return ", ".join(lines)


# --- reductions proper -----------------------------------------------------------------------------------------------


def _bound(f: Frame, e: Reduction, row: Row) -> Pending | None:
    if not e.binders:
        hint = f"write `{row.name}[k](…)` or `{row.name}[...](…)`"
        f.error("OPG246", f"`{row.name}[]` names no index", e.span, hint)
        return None
    outer, path = f.scope, f.path
    assert outer is not None
    loops: list[IndexInfo | Batch] = []
    for b in e.binders:
        if not _depends_on_none(f, e, b, row):
            return None
        loop = _bind(f, b, loops)
        if loop is None:
            return None
        loops.append(loop)
    inner = Scope(loops, batch=BATCH in loops, parent=outer)
    f.scope = inner
    before = len(f.bag.items)
    body = f.lower(e.body)
    body = condition(f, body, e.body) if row.takes_condition else numeric(body)
    body = reduced(f, row, body, e, loops)
    f.scope = outer
    told = body.kind is not None or lacks_extents_only(f, e.body, before)
    is_lost = any(isinstance(i, IndexInfo) and i.stated is None and not i.sites for i in loops)
    every_one = (*f.decl.forward, *f.decl.backward)
    where, instead = (moved(every_one, e), read_in(every_one, e)) if is_lost else ("", "")
    good = every(isinstance(i, Batch) or resolve(f, i, body=told, where=where, instead=instead) for i in loops)
    if body.kind is None or not good:
        return None
    scalar = body.scalar
    if path and risky(scalar):
        scalar = under(path, scalar, body.kind, forbidden=frozenset(), batch=BATCH in loops)
    names, batch = free(scalar)
    own = [i for i in loops if isinstance(i, IndexInfo)]
    axes = axes_of(outer, names - {i.unique for i in own}, batch and BATCH not in loops)
    scalar = _restore_names(f, scalar, own, axes)
    return Pending("", axes, scalar, row.name, loops, _kind(row, body.kind), e.span)


def _depends_on_none(f: Frame, e: Reduction, b: Binder | Dots, row: Row) -> bool:
    """Whether an extent reads no other index; says how such a condition is written."""
    if isinstance(b, Dots) or b.extent is None:
        return True
    assert f.scope is not None
    others = {o.name for o in e.binders if isinstance(o, Binder)} | {
        i.name for i in f.scope.visible() if isinstance(i, IndexInfo)
    }
    first = next((node for name, node in names_read(b.extent).items() if name in others), None)
    if first is None:
        return True
    if first.name == b.name:
        return check_index_name(f, b) and _limits_itself(f, e, b)
    own = ", ".join("..." if isinstance(o, Dots) else o.name for o in e.binders)
    condition = unparse(Compare((Name(b.name, b.span), b.extent), ("<",), b.span))
    hint = f"keep `{b.name}` below it by a condition: `where({condition}, …, …)` in the body"
    if row.name == "mean":
        hint = f"write `sum[{own}](where({condition}, {unparse(e.body)}, 0))/count[{own}]({condition})`"
    elif row.identity is not None:
        hint = f"write `{e.name}[{own}](where({condition}, {unparse(e.body)}, {text.scalar(row.identity)}))`"
    message = f"how far `{b.name}` runs cannot depend on the index `{first.name}`"
    f.error("OPG226", message, first.span, hint, label="an index")
    return False


def _limits_itself(f: Frame, e: Reduction, b: Binder) -> bool:
    """Says what `k < k` is without its extent, or with another letter where an index around it has the name."""
    assert f.scope is not None
    plain = replace(e, binders=tuple(replace(b, extent=None) if o is b else o for o in e.binders))
    hint = f"without one it runs along the dim at which it stands: `{unparse(plain)}`"
    if f.scope.find(b.name) is not None:
        hint = f"use another letter, such as `{another_letter(f, b.name)}`"
    f.error("OPG226", f"how far `{b.name}` runs cannot depend on `{b.name}` itself", b.span, hint)
    return False


def _bind(f: Frame, b: Binder | Dots, loops: list[IndexInfo | Batch]) -> IndexInfo | Batch | None:
    if isinstance(b, Dots):
        if BATCH in loops:
            f.error("OPG215", "a reduction holds at most one `...`", b.span, label="again here")
            return None
        return BATCH
    if not check_index_name(f, b):
        return None
    if any(isinstance(i, IndexInfo) and i.name == b.name for i in loops):
        f.error("OPG208", f"the index `{b.name}` is bound twice", b.span, label="again here")
        return None
    info = IndexInfo(b.name, b.name, b.span)
    if b.extent is not None:
        info.stated = extent_of(f, b.extent)
        info.origin = "written here"
        if info.stated is None:
            return None
    if f.scope is not None and f.scope.find(b.name) is not None:
        info.unique = another(f, b.name)
    return info


def check_index_name(f: Frame, b: Binder) -> bool:
    """Whether a name may be an index here."""
    if not check_lower(b.name, b.span, "index", f.bag):
        return False
    taken = "tensor" if b.name in f.state.tensors or b.name in f.state.later else None
    taken = "param" if b.name in f.decl.params else taken
    if taken is not None:
        letter = another_letter(f, b.name)
        own = statement_at(f.decl.forward, b.span) if b.extent is None else None
        along = own is not None and size_of(f.decl, own, b.name)
        shape = f.decl.shapes.get(b.name, ())
        given = next((s.target.items for s in f.decl.forward if s.target.name == b.name and s.target.items), ())
        alone = (shape != () and BATCH not in shape) or (given != () and not any(isinstance(i, Dots) for i in given))
        line = with_letter(own, b.name, letter, alone=alone) if own is not None and along else None
        hints = [f"use another letter, such as `{letter}`" + (f": `{line}`" if line else "")]
        if own is not None and line and "#" not in own.span.text:
            hints = [Hint(hints[0], own.span.text, line, own.span)]
        is_count = b.name in f.decl.params and f.decl.params[b.name].type == "int" and not along
        if is_count and b.extent in (None, Name(b.name, b.span)):
            hints = [*map(str, hints)]  # of two, none is certain
            hints.insert(0, f"to go over `{b.name}` places, write `{letter} < {b.name}`")
        named = "the tensor that this assigns" if taken == "tensor" and b.name == f.target else f"a {taken}"
        f.error("OPG207", f"the index `{b.name}` has the name of {named}", b.span, *hints)
        return False
    return True


def another(f: Frame, name: str) -> str:
    """A name for an index that no index of the statement has."""
    n = 2
    while f"{name}{n}" in f.index_names:
        n += 1
    f.index_names.add(f"{name}{n}")
    return f"{name}{n}"


def _restore_names(f: Frame, body: Scalar, own: list[IndexInfo], axes: list[IndexInfo | Batch]) -> Scalar:
    """Give an index its written name back where neither the outer index of that name nor a statement taken out of the
    body has a part in it."""
    taken = {a.unique for a in axes if isinstance(a, IndexInfo)}
    for info in own:
        if info.unique != info.name and info.name not in taken and not any(info in p.axes for p in f.pending):
            body = substitute(body, {Index(info.unique): Index(info.name)})
            info.unique = info.name
    return body


def _kind(row: Row, body: Kind) -> Kind:
    if body is Kind.COMPLEX:
        return Kind.FLOAT if row.name in ("norm", "var") else body
    match row.result:
        case "same":
            return body
        case "float":
            return Kind.FLOAT
        case "int":
            return Kind.INT
        case "bool":
            return Kind.BOOL


# --- index operators -------------------------------------------------------------------------------------------------


def _kept(f: Frame, e: Reduction, row: Row) -> Pending | None:
    assert f.scope is not None
    loops: list[IndexInfo | Batch] = []
    for b in e.binders:
        if isinstance(b, Dots):
            if BATCH in loops or not f.scope.use_batch():
                what = "stands twice" if BATCH in loops else "is not bound"
                hint = f"`{e.name}` keeps the batch dims, which stand on the left"
                f.error("OPG216", f"`...` {what}", b.span, hint)
                return None
            loops.append(BATCH)
            continue
        info = f.scope.find(b.name)
        if info is None:
            hints = bound_on_the_left(f, b.span) or not_bound(f, e, b)
            if b.name not in f.reported:
                f.error("OPG204", f"the index `{b.name}` is not bound", b.span, *hints, label="bound nowhere")
            f.reported.add(b.name)
            return None
        if info in loops:
            f.error("OPG208", f"the index `{b.name}` stands twice", b.span, label="again here")
            return None
        if b.extent is not None:
            message = f"`{e.name}` keeps its index and cannot give it an extent"
            f.error("OPG246", message, b.span, *_where_it_is_bound(f, e, b))
            return None
        loops.append(info)
    if not loops:
        f.error("OPG246", f"`{e.name}[]` names no index", e.span, f"write `{e.name}[k](…)`")
        return None
    path = f.path
    own = frozenset(i.unique for i in loops if isinstance(i, IndexInfo))
    # An element needs its body along the whole index, whatever holds for the element itself.
    joint = BATCH in loops
    f.path = tuple(c for c in path if not free(c)[0] & own and not (joint and free(c)[1]))
    body = reduced(f, row, numeric(f.lower(e.body)), e, loops)
    f.path = path
    if body.kind is None:
        return None
    scalar = body.scalar
    if path and risky(scalar):
        scalar = under(path, scalar, body.kind, forbidden=own, batch=joint)
    names, batch = free(scalar)
    axes = axes_of(f.scope, names | own, batch or joint)
    return Pending("", axes, scalar, row.name, loops, _kind(row, body.kind), e.span)


def _where_it_is_bound(f: Frame, e: Reduction, b: Binder) -> tuple[str, ...]:
    """The extent of an index that is kept stands where it is bound: in the whole line, if that is on the left."""
    plain = replace(e, binders=tuple(replace(i, extent=None) if i == b else i for i in e.binders))
    loose = replace(b, extent=None)
    for s in (s for s in f.decl.forward if s.target.name == f.target and e in nodes(s.value)):
        items = s.target.items or ()
        if loose in items:
            target = replace(s.target, items=tuple(b if i == loose else i for i in items))
            line = replace(s, target=target, value=transform(s.value, lambda n: plain if n == e else None))
            return (f"it stands where the index is bound: write `{unparse_assign(line)}`",)
    return (f"it stands where the index is bound: write `{unparse(plain)}` here",)
