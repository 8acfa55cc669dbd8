"""Values that a program has anyway, read instead of computed again inside derivative bodies.

The derivative of `y = tanh(x)` is `1 - tanh(x)**2`; here it becomes `1 - y**2`, so that keeping `y` is enough.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from opgen.diff.contribution import rename
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Axis, Compute, Program, Statement, definitions, statement_reads, targets
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import BATCH, Apply, Batch, Index, Position, Read, Scalar, rebuild, walk


def reuse(p: Program, primal: Program) -> Program:
    """Bodies of the primal program are replaced by their result wherever they occur in other statements.

    A result that the derivative had no use for so far comes back only if it is an output and costs more than
    arithmetic: it is alive anyway, and keeping it is all that the derivative then needs.
    """
    own = {t: s for s in primal.statements for t in targets(s)}
    present = {s.target for s in definitions(p)} | {t.name for t in p.inputs}
    outputs = {o.value for o in primal.outputs}
    known: _Known = {}
    roots: dict[tuple[str, ...], None] = {}
    for s in primal.statements:
        if isinstance(s, Compute) and (s.target in present or (s.target in outputs and _is_dear(s.body))):
            _remember(s, known, roots)
    if not known:
        return p
    done: list[Statement] = []
    later = dict.fromkeys(s.target for s in definitions(p))
    for s in p.statements:
        changed = s if s.target in own else map_scalars(s, lambda e: _replaced(e, known, roots, later))
        for r in statement_reads(changed):
            if r.tensor in own and r.tensor not in present:
                present.update(targets(own[r.tensor]))
                done.append(own[r.tensor])
        done.append(changed)
        for t in targets(s):
            del later[t]
    return replace(p, statements=tuple(done))


def _is_dear(e: Scalar) -> bool:
    return any(n.fn not in FUNCTIONS or not FUNCTIONS[n.fn].infix for n in walk(e) if isinstance(n, Apply))


_Known = dict[tuple[str, ...], dict[Scalar, "_Made"]]  # by the shape of the body, to look closely only at likely ones
_Made = tuple[str, tuple[str | Batch, ...]]  # the tensor, and which numbered index stands at each of its axes


def _remember(s: Compute, known: _Known, roots: dict[tuple[str, ...], None]) -> None:
    if s.op is not None or not isinstance(s.body, Apply):
        return
    order = _order(s.body)
    batch = any(isinstance(n, Read) and BATCH in n.at for n in walk(s.body))
    names = [a.name for a in s.axes if isinstance(a, Axis)]
    if sorted(order) != sorted(names) or batch != (BATCH in s.axes):
        return
    numbers = {name: f"#{k}" for k, name in enumerate(order)}
    at = tuple(numbers[a.name] if isinstance(a, Axis) else a for a in s.axes)
    roots[_root(s.body)] = None
    known.setdefault(_outline(s.body), {}).setdefault(rename(s.body, numbers), (s.target, at))


def _root(e: Apply) -> tuple[str, ...]:
    """What a scalar calls first, and what its arguments are."""
    return (e.fn, *(a.fn if isinstance(a, Apply) else a.tensor if isinstance(a, Read) else "" for a in e.args))


def _outline(e: Scalar) -> tuple[str, ...]:
    """What a scalar calls and reads, in order."""
    return tuple(n.fn if isinstance(n, Apply) else n.tensor for n in walk(e) if isinstance(n, Apply | Read))


def _order(e: Scalar) -> list[str]:
    """The indices of a scalar in order of appearance."""
    return list(dict.fromkeys(n.name for n in walk(e) if isinstance(n, Index)))


def _replaced(e: Scalar, known: _Known, roots: Container[tuple[str, ...]], later: Container[str]) -> Scalar:
    if isinstance(e, Apply) and _root(e) in roots:
        likely = known.get(_outline(e), {})
        order = _order(e) if likely else []
        found = likely and likely.get(rename(e, {name: f"#{k}" for k, name in enumerate(order)}))
        if found and found[0] not in later:
            tensor, at = found
            back = {f"#{k}": name for k, name in enumerate(order)}
            positions: list[Position] = [q if isinstance(q, Batch) else Index(back[q]) for q in at]
            return Read(tensor, tuple(positions))
    return rebuild(e, lambda a: _replaced(a, known, roots, later))
