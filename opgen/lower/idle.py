"""Indices on the left that are read at nothing: what messages propose for how far they run."""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.suggest import listed
from opgen.ir.reductions import REDUCTIONS
from opgen.lang.nodes import Access, Assign, Binder, Compare, Dots, Expr, Name, Product, Reduction
from opgen.lang.unparse import unparse, unparse_target
from opgen.lang.walk import names_read, nodes, statement_at, statement_names, transform
from opgen.lower.bound_anew import apart, either, is_diagonal_alone
from opgen.lower.declare import Declarations
from opgen.lower.domain import end_of
from opgen.lower.scope import IndexInfo

_RUNNING = {"sum": "cumsum", "prod": "cumprod", "logsumexp": "logcumsumexp"}


def bound_again(d: Declarations, info: IndexInfo) -> str | None:
    """What to write where a reduction on the right binds an index of the left anew: `y[n] = sum[n](x[n])`."""
    s = _statement(d, info)
    if s is None:
        return None
    found = [r for r in nodes(s.value) if isinstance(r, Reduction) and info.name in _bound(r)]
    if not found:
        return None
    again = [i.name for i in s.target.items or () if isinstance(i, Binder) and i.name in _bound(found[0])]
    rest = tuple(i for i in s.target.items or () if not (isinstance(i, Binder) and i.name in again))
    left, red = unparse_target(replace(s.target, items=rest or None)), f"{found[0].name}[{', '.join(again)}]"
    names = listed(again, "and")
    own = f"`{red}(…)` binds {names} anew, so that `{unparse_target(s.target)}` is the"
    lines = apart(d, s, found[0], info.name)
    if lines and not is_diagonal_alone(found[0], info.name):
        return f"`{red}(…)` binds {names} anew: {either(lines, info.name)}"
    running = {_RUNNING[r.name] for r in found if r.name in _RUNNING}
    kept = f"`{running.pop()}[{again[0]}](…)` for a running one, " if len(again) == len(running) == 1 else ""
    other = f"; a row or a column has a letter of its own: {listed([*lines], 'or')}" if lines else ""
    return f"{own} same everywhere: write `{left} = …`, {kept}or leave the reduction over {names} out{other}"


def bound_within(d: Declarations, info: IndexInfo) -> str | None:
    """What to write where a reduction within binds the index of another anew: `mean[n](mean[n, q](x[n, q]))`."""
    r = _reduction(d, info)
    again = None if r is None else next((n for n in nodes(r.body) if info.name in _bound_of(n)), None)
    if r is None or not isinstance(again, Reduction):
        return None
    inner = f"`{again.name}[{', '.join(_bound(again))}](…)`"
    outer, kept = unparse(_without(r, info.name)), _without(again, info.name)
    made = unparse(transform(r, lambda n: kept if n is again else None))
    left = f"leave one out, `{outer}` or `{made}`"
    return f"{inner} binds `{info.name}` anew, so that nothing is left of it for this one: {left}"


def read_nowhere(d: Declarations, info: IndexInfo) -> str | None:
    """What to write where one of several indices of a reduction stands nowhere in it: the reduction over the others."""
    r = _reduction(d, info)
    if r is None or len(r.binders) < 2 or any(info.name in names_read(e) for e in (r.body, r.further) if e is not None):
        return None
    others = ", ".join(
        "..." if isinstance(b, Dots) else b.name for b in r.binders if isinstance(b, Dots) or b.name != info.name
    )
    return f"`{info.name}` is read nowhere: leave it out, `{r.name}[{others}](…)`"


def _without(r: Reduction, index: str) -> Expr:
    """A reduction without one of its indices."""
    rest = tuple(b for b in r.binders if isinstance(b, Dots) or b.name != index)
    return replace(r, binders=rest) if rest else r.body


def _reduction(d: Declarations, info: IndexInfo) -> Reduction | None:
    """The reduction in whose brackets an index stands."""
    s = statement_at((*d.forward, *d.backward), info.span)
    found = (r for r in nodes(s.value) if isinstance(r, Reduction)) if s is not None else ()
    return next((r for r in found if any(isinstance(b, Binder) and b.span == info.span for b in r.binders)), None)


def _bound_of(e: Expr) -> tuple[str, ...]:
    return _bound(e) if isinstance(e, Reduction) else ()


def _bound(r: Reduction) -> tuple[str, ...]:
    row = REDUCTIONS.get(r.name)
    kept = row is not None and row.keeps_index
    return () if kept else tuple(b.name for b in r.binders if isinstance(b, Binder))


def counted_by(d: Declarations, info: IndexInfo) -> str | None:
    """The extent of an index that numbers what no dim does, as the classes of `ids[n] == c` are."""
    s = _statement(d, info)
    if s is None:
        return None
    compared = [n for n in nodes(s.value) if isinstance(n, Compare) and n.ops == ("==",)]
    values = [b for n in compared for a, b in (n.operands, n.operands[::-1]) if _is(a, info.name)]
    read = [d.inputs[v.name] for v in values if isinstance(v, Access | Name) and v.name in d.inputs]
    ends = [e for t in read if t.kind == "int" and (e := end_of(t.domain)) is not None]
    end = ends[0] if ends else idle_param(d)
    if end is not None:
        return f"state its extent: `{info.name} < {end}`"
    if not any(t.kind == "int" for t in read):
        return None
    return f"state its extent: `{info.name} < num_{info.name}`, with `params: {{num_{info.name}: int}}`"


def divided_by(d: Declarations, info: IndexInfo) -> str | None:
    """The extent of an index that is divided by an int param, as the bounds of `bins` bins are."""
    s = _statement(d, info)
    found = {
        e.name
        for p in nodes(s.value if s is not None else Name(info.name, info.span))
        if isinstance(p, Product) and any(op == "*" and info.name in names_read(x) for op, x in p.factors)
        for op, e in p.factors
        if op == "/" and isinstance(e, Name) and e.name in d.params and d.params[e.name].type == "int"
    }
    return f"state its extent: `{info.name} < {found.pop()}`" if len(found) == 1 else None


def _is(e: Expr, name: str) -> bool:
    return isinstance(e, Name) and e.name == name


def idle_param(d: Declarations) -> str | None:
    """The int param that no formula reads: what it counts is most likely this."""
    formulas = [*d.derived.values(), *(e for es in d.defaults.values() for e in es), *d.absent.values()]
    formulas += [e for s in (*d.forward, *d.backward) for e in (s.value, s.guard) if e is not None]
    read = {n for e in formulas for n in names_read(e)}
    read |= {n for s in d.forward for n in statement_names(s)}
    idle = [n for n, p in d.params.items() if p.type == "int" and p.length is None and n not in read]
    return idle[0] if len(idle) == 1 else None


def _statement(d: Declarations, info: IndexInfo) -> Assign | None:
    """The statement on whose left an index stands."""
    spans = ((s, s.target.span) for s in d.forward)
    return next((s for s, at in spans if at.start <= info.span.start and info.span.end <= at.end), None)
