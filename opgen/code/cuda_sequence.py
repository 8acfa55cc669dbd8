"""A sequence as the device function of a thread: all places of one sequence, one after the other."""

from __future__ import annotations

from opgen.code.cpp_layout import block
from opgen.code.cuda_body import (
    accumulator,
    added,
    decoded,
    is_rounded,
    let_lines,
    point_function,
    result,
    store_lines,
)
from opgen.code.cuda_layout import function
from opgen.code.cuda_scope import Scope
from opgen.code.long_values import hoisted
from opgen.ir.program import Axis, Kind, Loop
from opgen.plan.model import Chain, Task
from opgen.plan.sequence import Running, running


def sequence_lines(scope: Scope, step: Chain) -> list[str]:
    """`point`: what happens in the sequence of one outer point."""
    scope.chain = step
    before = scope.enter(step.outer)
    inner = scope.enter((step.along,))
    name, size = scope.loops[step.along.name], scope.size(step.along)
    carried: list[str] = []
    body = [line for t in step.tasks for line in _task(scope, t, carried)]
    head = f"for (int64_t {name} = 0; {name} < {size}; ++{name})"
    if step.reverse:
        head = f"for (int64_t {name} = {size} - 1; {name} >= 0; --{name})"
    scope.leave(inner, (step.along,))
    lines = decoded(scope, step.outer, "point", [*carried, *function(head, body)])
    scope.leave(before, step.outer)
    return point_function(lines)


def _task(scope: Scope, t: Task, carried: list[str]) -> list[str]:
    """What happens at a place; values that run along are declared in `carried`."""
    before = scope.enter(t.loops)
    body = let_lines(scope, t.lets)
    if t.fold is not None:
        fold = scope.fresh(f"{t.fold.name}_fold")
        inside = scope.enter(t.over)
        lines = [*let_lines(scope, t.inner), *added(scope, t.fold, fold, t.over)]
        body.append(f"{accumulator(scope, t.fold)} {fold};")
        if is_rounded(t.fold):
            body += [*summed(scope, t.over, lines, fold), f"{fold}.finish();"]
        else:
            body += _nested(scope, t.over, lines)
        scope.leave(inside, t.over)
        body.append(result(scope, t.fold, fold))
    assert scope.chain is not None
    run = running(scope.chain, t) if scope.plan.buffer(t.store.buffer).kind is Kind.FLOAT else None
    if run is None:
        body += store_lines(scope, t.store)
    else:
        name = scope.fresh(f"{scope.tensor(t.store.buffer)}_running")
        carried.append(f"double {name};")
        body += _running(scope, run, name)
        stored = f"static_cast<opmath_t>({name})"
        body.append(f"{scope.tensor(t.store.buffer)}.store({stored}, {scope.positions(t.store.at, t.store.buffer)});")
    lines = _nested(scope, t.loops, body)
    scope.leave(before, t.loops)
    return lines if t.loops else ["{", *(f"  {line}" for line in lines), "}"]


def summed(scope: Scope, loops: tuple[Loop, ...], body: list[str], *folds: str) -> list[str]:
    """Loops whose body adds once to sums of floats, which settle after a block of points and after every inner loop."""
    last = loops[-1]
    assert isinstance(last, Axis)
    settled = [f"{fold}.settle();" for fold in folds]
    due = f"if ({scope.loops[last.name]} % rt::block_adds == rt::block_adds - 1)"
    full = [f"{due} {settled[0]}"] if len(settled) == 1 else function(due, settled)
    lines = _nested(scope, (last,), [*body, *full])
    for a in reversed(loops[:-1]):
        lines = _nested(scope, (a,), [*lines, *settled])
    return lines


def _nested(scope: Scope, loops: tuple[Loop, ...], body: list[str]) -> list[str]:
    for a in reversed(loops):
        assert isinstance(a, Axis)
        name = scope.loops[a.name]
        body = function(f"for (int64_t {name} = 0; {name} < {scope.size(a)}; ++{name})", body)
    return body


def _running(scope: Scope, run: Running, carried: str) -> list[str]:
    """Takes a running value to the next place."""
    tests, first = hoisted(scope, run.first, len("if () {"))
    begun, start = hoisted(scope, run.start, len(f"  {carried} = ;"))
    parts, rest = hoisted(scope, run.rest, len(f"{carried} += ;"))
    reset = block(f"if ({first.text}) {{", [*begun, f"{carried} = {start.text};"])
    return [*tests, *reset, *parts, f"{carried} {'+' if run.op == 'add' else '*'}= {rest.text};"]
