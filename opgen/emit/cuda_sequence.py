"""A sequence as the device function of a thread: all places of one sequence, one after the other."""

from __future__ import annotations

from opgen.emit.cuda_body import accumulator, added, decoded, let_lines, point_function, result, store_lines
from opgen.emit.cuda_layout import function
from opgen.emit.cuda_scope import Scope
from opgen.ir.program import Axis, Loop
from opgen.plan.model import Chain, Task


def sequence_lines(scope: Scope, step: Chain) -> list[str]:
    """`point`: what happens in the sequence of one outer point."""
    scope.chain = step
    before = scope.enter(step.outer)
    inner = scope.enter((step.along,))
    name, size = scope.loops[step.along.name], scope.size(step.along)
    body = [line for t in step.tasks for line in _task(scope, t)]
    head = f"for (int64_t {name} = 0; {name} < {size}; ++{name})"
    if step.reverse:
        head = f"for (int64_t {name} = {size} - 1; {name} >= 0; --{name})"
    scope.leave(inner, (step.along,))
    lines = decoded(scope, step.outer, "point", function(head, body))
    scope.leave(before, step.outer)
    return point_function(lines)


def _task(scope: Scope, t: Task) -> list[str]:
    before = scope.enter(t.loops)
    body = let_lines(scope, t.lets)
    if t.fold is not None:
        fold = scope.fresh(f"{t.fold.name}_fold")
        inside = scope.enter(t.over)
        lines = [*let_lines(scope, t.inner), *added(scope, t.fold, fold, t.over)]
        body.append(f"{accumulator(scope, t.fold)} {fold};")
        body += _nested(scope, t.over, lines)
        scope.leave(inside, t.over)
        body.append(result(scope, t.fold, fold))
    body += store_lines(scope, t.store)
    lines = _nested(scope, t.loops, body)
    scope.leave(before, t.loops)
    return lines if t.loops else ["{", *(f"  {line}" for line in lines), "}"]


def _nested(scope: Scope, loops: tuple[Loop, ...], body: list[str]) -> list[str]:
    for a in reversed(loops):
        assert isinstance(a, Axis)
        name = scope.loops[a.name]
        body = function(f"for (int64_t {name} = 0; {name} < {scope.size(a)}; ++{name})", body)
    return body
