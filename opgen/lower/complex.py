"""Which functions and reductions take complex numbers, and what they give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.diagnostics.suggest import counted, listed
from opgen.ir.complex_functions import COMPLEX, angle_of_float
from opgen.ir.program import Kind
from opgen.ir.reductions import Reduction as Row
from opgen.ir.scalar import ZERO, Apply, Batch, call, power
from opgen.lang.nodes import Access, Call, Compare, Expr, Logic, Name, Reduction, Sum, Unary
from opgen.lang.unparse import respelled
from opgen.lang.walk import operands
from opgen.lower.kinds import numeric, real_number
from opgen.lower.scope import BAD, Frame, IndexInfo, Typed

_KINDS = {"complex": Kind.COMPLEX, "float": Kind.FLOAT, "bool": Kind.BOOL}
_REDUCTIONS = ("sum", "mean", "prod", "norm", "var", "cumsum", "cumprod")
_ALONG_ONE = ("prod", "cumprod")
_PARTS = ("abs", "real", "imag")
_REAL = (*_PARTS, "angle", "isnan", "isfinite", "norm", "var", "count", "any", "all")  # of complex numbers, too


def complex_call(f: Frame, e: Call) -> Typed:
    """`real`, `imag`, `conj`, `angle`, `complex`; a float is its own real part."""
    count = 2 if e.name == "complex" else 1
    if len(e.args) != count:
        shown = "complex(re, im)" if count == 2 else f"{e.name}(z)"
        message = f"`{e.name}` takes {counted(count, 'argument')}, not {len(e.args)}"
        return f.error("OPG210", message, e.span, f"it is written `{shown}`")
    args = [numeric(f.lower(a)) for a in e.args]
    if e.name == "complex":
        args = [real_number(f, t, a.span, "`complex`") for t, a in zip(args, e.args, strict=True)]
    if any(t.kind is None for t in args):
        return BAD
    z = args[0]
    if e.name == "complex":
        return Typed(call("complex", z.scalar, args[1].scalar), Kind.COMPLEX)
    if z.kind is Kind.COMPLEX:
        return Typed(call(e.name, z.scalar), Kind.COMPLEX if e.name == "conj" else Kind.FLOAT)
    if e.name == "imag":
        return Typed(ZERO, z.kind)
    return Typed(angle_of_float(z.scalar), Kind.FLOAT) if e.name == "angle" else z


def complex_row(f: Frame, e: Call, args: Sequence[Typed]) -> Typed:
    """A function of the table with a complex argument."""
    result = COMPLEX.get(e.name)
    if result is None:
        message = f"`{e.name}` is not defined for complex numbers"
        return f.error("OPG223", message, e.span, _in_real_numbers(f, e, e.args), label="complex")
    scalars = [a.scalar for a in args]
    whole = power(*scalars) if e.name == "pow" else Apply(e.name, tuple(scalars))
    return Typed(whole, _KINDS[result])


def reduced(f: Frame, row: Row, body: Typed, e: Reduction, loops: Sequence[IndexInfo | Batch]) -> Typed:
    """The body of a reduction, or a mistake where it is complex and the reduction is for real numbers."""
    if body.kind is not Kind.COMPLEX:
        return body
    if row.name not in _REDUCTIONS:
        return f.error(
            "OPG223", f"`{row.name}` is not defined for complex numbers", e.body.span,
            _in_real_numbers(f, e, (e.body,)), label="complex", notes=(f"{listed(_REDUCTIONS, 'and')} are",),
        )  # fmt: skip
    running = any(t.running for t in f.state.tensors.values())
    if row.name in _ALONG_ONE and (running or len(loops) != 1 or isinstance(loops[0], Batch)):
        message = f"`{row.name}` of complex numbers takes one index" + " outside recurrences" * running
        return f.error("OPG246", message, e.span, f"write one `{row.name}[…]` inside the other")
    return body


def _in_real_numbers(f: Frame, e: Call | Reduction, of: Sequence[Expr]) -> str:
    """How a function of real numbers is written with a part of what is complex in its arguments."""
    found = [part for a in of for part in _complex_parts(f, a)]
    lines = [respelled(e, *((part, f"{name}({respelled(part)})") for part in found)) for name in _PARTS]
    return f"write {listed(lines)}" if found else "take `real(…)`, `imag(…)` or `abs(…)` of it"


def _complex_parts(f: Frame, e: Expr) -> Iterator[Expr]:
    """The complex terms of a sum, or all of it where there is more than one."""
    match e:
        case Sum(terms=terms) if sum(_is_complex(f, t) for _, t in terms) == 1:
            yield from (part for _, t in terms for part in _complex_parts(f, t))
        case Unary(op="-", operand=a):
            yield from _complex_parts(f, a)
        case _ if _is_complex(f, e):
            yield e


def _is_complex(f: Frame, e: Expr) -> bool:
    """Whether there are complex numbers in an expression of which it takes no part that is real."""
    match e:
        case Name(name=name) | Access(name=name):
            known = f.args.get(name) or f.state.tensors.get(name)
            return known is not None and known.kind is Kind.COMPLEX
        case Call(name=name) | Reduction(name=name) if name in _REAL:
            return False
        case Compare() | Logic():
            return False
        case _:
            return (isinstance(e, Call) and e.name == "complex") or any(_is_complex(f, part) for part in operands(e))
