"""Parameters of a module that nothing trains, since conditions and roundings alone read them: a warning.

In: what is declared, and the variants. A value passes on what it depends on except where it is rounded, detached, asked
for or read at as a position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.ir.functions import FUNCTIONS
from opgen.ir.operator import Variant
from opgen.ir.program import Compute, Kind, Program, Recurrence, Scatter
from opgen.ir.scalar import Apply, Read, Scalar, children
from opgen.lower.declare import Declarations


def untrained(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each parameter whose gradient is 0 in every variant."""
    module = d.spec.module
    if module is None or d.backward or any(f.partials for f in d.functions.values()):
        return
    read = {r.tensor for v in variants for s in v.program.statements for e in _bodies(s) for r in _all_reads(e)}
    for name, f in module.parameters:
        given = d.inputs.get(str(name))
        if given is None or given.kind != "float" or str(name) not in read:
            continue
        if not any(_reaches(v.program, str(name)) for v in variants):
            hint = (
                f"conditions and roundings have no slope: weigh by a smooth step such as `sigmoid(x - {name})`, or keep"
                f" it under `buffers`"
            )
            message = f"nothing trains `{name}`: its gradient is 0 everywhere"
            yield Diagnostic("OPG278", message, f.whole, "no parameter", hints=(hint,), severity=Severity.WARNING)


def _bodies(s: Compute | Scatter | Recurrence) -> tuple[Scalar, ...]:
    match s:
        case Recurrence(steps=steps):
            return tuple(c.body for c in steps)
        case Scatter(body=body, base=base):
            return (body, base)
        case _:
            return (s.body,)


def _all_reads(e: Scalar) -> Iterator[Read]:
    stack = [e]
    while stack:
        node = stack.pop()
        stack.extend(children(node))
        if isinstance(node, Read):
            yield node


def _reaches(p: Program, name: str) -> bool:
    """Whether an output changes with a tensor as it does a little."""
    found = {name}
    for s in p.statements:
        steps = s.steps if isinstance(s, Recurrence) else (s,)
        for _ in steps:
            found |= {
                c.target for c in steps
                if c.kind in (Kind.FLOAT, Kind.COMPLEX) and any(_carries(e, found) for e in _bodies(c))
            }  # fmt: skip
    return any(o.value in found and o.differentiable for o in p.outputs)


def _carries(e: Scalar, found: set[str]) -> bool:
    stack = [e]
    while stack:
        node = stack.pop()
        match node:
            case Read(tensor=tensor, fill=fill):
                if tensor in found:
                    return True
                if fill is not None:
                    stack.append(fill)
            case Apply(fn="where", args=(_, a, b)):
                stack += (a, b)
            case Apply(fn=fn) if fn in FUNCTIONS and FUNCTIONS[fn].derivatives is None and fn != "magnitude":
                pass
            case _:
                stack.extend(children(node))
    return False
