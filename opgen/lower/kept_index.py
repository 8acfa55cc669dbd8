"""What is said of the index of an operator that keeps it, `softmax[k](x[t, e])`, where nothing binds the index.

In goes the operator with its index; out come the hints: the index that is meant, the left side that has it, or the
names that a running sum of what is assigned has.
"""

from __future__ import annotations

from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.lang.nodes import Access, Binder, Dots, Name, Reduction
from opgen.lang.past import of_its_past
from opgen.lang.unparse import respelled, unparse
from opgen.lang.walk import names_read, nodes, statement_at
from opgen.lower.grown import with_kept
from opgen.lower.scope import Frame, IndexInfo


def not_bound(f: Frame, e: Reduction, b: Binder) -> tuple[str, ...]:
    """The hints for an index of an index operator that is not bound."""
    return _of_itself(f, e) or _unread(f, e, b) or _kept(f, e, b)


def _kept(f: Frame, e: Reduction, b: Binder) -> tuple[str, ...]:
    """Where the index may be bound."""
    assert f.scope is not None
    hints = did_you_mean(b.name, [i.name for i in f.scope.visible() if isinstance(i, IndexInfo)])
    line = with_kept(f, e)
    left = f"which stands on the left: `{line}`," if line else "so that it stands on the left"
    hint = f"`{e.name}` keeps its index, {left} or is bound by a reduction around it"
    return (*hints, hint, *_element(f, e))


def _unread(f: Frame, e: Reduction, b: Binder) -> tuple[str, ...]:
    """The operator along the indices that are read, the last one first, where its own one is not."""
    if len(e.binders) != 1 or f.scope is None or b.name in names_read(e.body) or _element(f, e):
        return ()
    alone = [i.name for a in nodes(e.body) if isinstance(a, Access) for i in a.items if isinstance(i, Name)]
    read = [i for i in dict.fromkeys(reversed(alone)) if isinstance(f.scope.find(i), IndexInfo)]
    meant = [f"{e.name}[{i}]({respelled(e.body)})" for i in read]
    return (f"`{b.name}` is read nowhere: did you mean {listed(meant)}?",) if meant else ()


def _of_itself(f: Frame, e: Reduction) -> tuple[str, ...]:
    """A running sum of what the statement assigns, as a name of its own; of other operators what recurrences read."""
    s = statement_at(f.decl.forward, e.span)
    if s is None or s.target.name != f.target or f.target not in names_read(e.body) or not of_its_past(s):
        return ()
    own, binders = s.target.items or (), e.binders
    match e.body, own, binders:
        case Access(items=(Name(name=read),)), (Binder(name=index, extent=None),), (Binder(name=along),) if (
            e.name == "cumsum" and read == along
        ):
            taken = (*f.state.tensors, *f.state.later, *f.decl.params)
            total = next(n for n in ("total", f"{f.target}_total") if n not in taken)
            first = f"{total}[{index}] = {total}[{index} - 1] + {f.target}[{index} - 1]"
            then = f"{f.target}[{index}] = {respelled(s.value, (e, f'{total}[{index}]'))}"
            outputs = "" if f.decl.spec.outputs else f", with `outputs: [{f.target}]`"
            told = "what is added up before an element has a name of its own"
            return (f"{told}: write `{first}` and `{then}`{outputs}",)
        case _:
            return of_its_past(s)


def _element(f: Frame, e: Reduction) -> tuple[str, ...]:
    """What to write where an element of an index operator is meant: `log_softmax[c](x[n, t[n]])`."""
    body, binder = e.body, e.binders[0]
    if not isinstance(body, Access) or isinstance(binder, Dots):
        return ()
    computed = [k for k, i in enumerate(body.items) if not isinstance(i, Name | Dots)]
    if len(computed) != 1 or any(isinstance(i, Name) and i.name == binder.name for i in body.items):
        return ()
    written = ["..." if isinstance(i, Dots) else unparse(i) for i in body.items]
    whole = ", ".join(binder.name if k in computed else i for k, i in enumerate(written))
    name = f"{e.name}_{body.name}"
    shown = f"`{name}[{whole}] = {e.name}[{binder.name}]({body.name}[{whole}])`"
    return (f"for one element, name them all, {shown}, and read `{name}[{', '.join(written)}]`",)
