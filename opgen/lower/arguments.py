"""Calls of a local function, and of `where`, with more or fewer arguments than they take: what is said of them."""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.suggest import counted, listed
from opgen.lang.nodes import Call, Compare, Expr, Logic, Name
from opgen.lang.unparse import unparse
from opgen.lang.walk import names_read
from opgen.lower.declare import LocalFunction
from opgen.lower.scope import Frame


def in_its_place(f: Frame, e: Call, function: LocalFunction) -> tuple[str, ...]:
    """What was meant where that is certain, then the line that declares the function."""
    head = f"{function.name}({', '.join(function.params)})"
    declared = head if function.value is None else f"{head}: {unparse(function.value)}"
    more = _lacking(f, e, function) if len(e.args) < len(function.params) else _beyond(f, e, function)
    return (*more, f"it is declared as `{declared}`")


def _lacking(f: Frame, e: Call, function: LocalFunction) -> tuple[str, ...]:
    """Names of arguments that are not given, and are names of numbers of the spec, are likely these."""
    missing = function.params[len(e.args) :]
    if not e.args or not all(p in f.decl.params or p in f.decl.inputs for p in missing):
        return (f"a call gives all of them: {listed(missing, 'and')} {'is' if len(missing) == 1 else 'are'} missing",)
    return (f"write `{_called(e, *e.args, *(Name(p, e.span) for p in missing))}`",)


def _beyond(f: Frame, e: Call, function: LocalFunction) -> tuple[str, ...]:
    """What the function reads by itself is not given to it; another value of this needs an argument of its own."""
    count = len(function.params)
    kept, others = e.args[:count], e.args[count:]
    read = {} if function.value is None else names_read(function.value)
    own = [name for name in read if name not in function.params and name in (*f.decl.params, *f.decl.known_dims())]
    if all(isinstance(a, Name) and a.name in own for a in others):
        return (f"the function reads {listed(map(unparse, others), 'and')} by itself: write `{_called(e, *kept)}`",)
    left_away = f"write `{_called(e, *kept)}`"
    if len(others) != len(own):
        return (f"{left_away}, or give the function {counted(len(others), 'further argument')}",)
    values = listed((f"{name} = {unparse(a)}" for name, a in zip(own, others, strict=True)), "and")
    return (f"{left_away}; for {values} the function needs {counted(len(own), 'further argument')} in place of what it"
            " reads by itself",)  # fmt: skip


def _called(e: Call, *args: Expr) -> str:
    return unparse(replace(e, args=args))


def of_conditions(e: Call) -> tuple[str, ...]:
    """`where(c, d, a, b)`: conditions that hold together."""
    *conditions, yes, no = e.args if len(e.args) > 3 else (e, e)
    if not conditions or not all(isinstance(c, Compare | Logic) for c in conditions):
        return ()
    both = Logic("and", tuple(conditions), e.span)
    return (f"write `{unparse(replace(e, args=(both, yes, no)))}`",)
