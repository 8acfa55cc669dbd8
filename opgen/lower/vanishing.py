"""Results that are 0 wherever an optional input is missing, because it is a factor that is then read as 0: a warning.

In: what is declared, and the variants. A spec that names the case, by `absent` or by `given(w)`, means what it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.ir.operator import Variant
from opgen.ir.program import Compute, Given, Program, statement_reads, targets
from opgen.ir.scalar import ZERO, Apply, Lit, Read, Scalar
from opgen.lang.nodes import Call, Name
from opgen.lang.walk import nodes
from opgen.lower.declare import Declarations

_HOMOGENEOUS = ("neg", "abs", "square", "sqrt", "sin", "tan", "tanh", "relu", "expm1", "log1p", "cast")


def vanishing(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each optional input without which all that depends on another input is lost."""
    formulas = [e for s in d.forward for e in (s.value, s.guard) if e is not None]
    asked = [c for e in formulas for c in nodes(e) if isinstance(c, Call) and c.name == "given"]
    named = {a.name for c in asked for a in c.args if isinstance(a, Name)}
    zero = {v.conditions: _zeros(v.program) for v in variants}
    programs = {v.conditions: v.program for v in variants}
    for name, t in d.inputs.items():
        if not t.optional or t.absent is not None or name in named or t.dtype == "bool":
            continue
        there, missing = Given(name, present=True), Given(name, present=False)
        for v in variants:
            whole = tuple(there if c == missing else c for c in v.conditions)
            if missing not in v.conditions or whole not in zero:
                continue
            lost = [n for n in zero[v.conditions] - zero[whole] if _inputs_of(programs[whole], n) - {name}]
            if lost:
                yield _warning(name, sorted(lost)[0], t.span)
                break


def _warning(name: str, output: str, span: Span) -> Diagnostic:
    message = f"without `{name}`, `{output}` is 0 everywhere"
    factor = f"a factor that changes nothing where it is missing: `{name}: {{…, absent: 1}}`"
    hints = (factor, "or `absent: 0` if 0 is meant")
    return Diagnostic("OPG251", message, span, "a missing input reads as 0", hints=hints, severity=Severity.WARNING)


def _inputs_of(p: Program, output: str) -> set[str]:
    """The inputs that an output depends on."""
    found = {o.value for o in p.outputs if o.name == output}
    for s in reversed(p.statements):
        if found & {*targets(s)}:
            found |= {r.tensor for r in statement_reads(s)}
    return found & {t.name for t in p.inputs}


def _zeros(p: Program) -> frozenset[str]:
    """The outputs that are 0 at every element."""
    found: set[str] = set()
    for s in p.statements:
        if isinstance(s, Compute) and s.op in (None, "sum", "mean", "max", "min") and _is_zero(s.body, found):
            found.add(s.target)
    return frozenset(o.name for o in p.outputs if o.value in found)


def _is_zero(e: Scalar, zero: set[str]) -> bool:
    match e:
        case Lit(value):
            return value == 0
        case Read(tensor, _, fill):
            return tensor in zero and fill in (None, ZERO)
        case Apply("mul", args):
            return any(_is_zero(a, zero) for a in args)
        case Apply("div", (a, _)):
            return _is_zero(a, zero)
        case Apply("add" | "sub", args):
            return all(_is_zero(a, zero) for a in args)
        case Apply("where", (_, a, b)):
            return _is_zero(a, zero) and _is_zero(b, zero)
        case Apply(fn, (a,)):
            return fn in _HOMOGENEOUS and _is_zero(a, zero)
        case _:
            return False
