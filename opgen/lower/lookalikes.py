"""Calls that look like one thing and are another: functions of other libraries, params under their names, gradients.

Calls in, hints out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from opgen.ir.program import Kind
from opgen.ir.scalar import Index, Read, Scalar, walk
from opgen.lang import habits
from opgen.lang.formulas import declared, logarithm, written_out
from opgen.lang.nodes import Access, Call, Expr, Name, Power, Product, Sum, Unary
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes, operands
from opgen.lower.scope import Frame, Typed
from opgen.lower.spectra import spectrum

_CALLED = re.compile(r"it is called `(\w+)`")


def of_a_param(e: Call) -> str:
    """What a call of a param means: a function that has its name, or a product."""
    known = _CALLED.fullmatch(habits.FUNCTIONS.get(e.name, ""))
    if known is not None and len(e.args) > 1:
        return f"the function is called `{known[1]}`: `{known[1]}({', '.join(map(unparse, e.args))})`"
    if len(e.args) != 1:
        return "a function has a name of its own, other than that of a param"
    return "multiplication is written `*`"


def gradient(e: Call) -> str:
    """Where the gradient of one tensor with respect to another comes from."""
    shown = [a.name if isinstance(a, Name) else f"{a.name}.sum()" for a in e.args[:1] if isinstance(a, Name | Access)]
    by = [a.name for a in e.args[1:] if isinstance(a, Name | Access)]
    of, by = (shown[0], by) if len(shown) + len(by) == len(e.args) == 2 else ("y.sum()", ["x"])
    return (
        "gradients are derived, and no statement asks for them: leave this out, and take"
        f" `torch.autograd.grad({of}, {by[0]}, create_graph=True)` of what the operator returns"
    )


def by_formula(f: Frame, e: Call) -> tuple[str, ...]:
    """What a function of other libraries is with its arguments, and as one of the spec's own if it is called again."""
    own = declared(e.name, len(e.args))
    if own is None:
        return spectrum(f, e)
    values = [s.value for s in (*f.decl.forward, *f.decl.backward)]
    values += [g.value for g in f.decl.functions.values() if g.value is not None]
    calls = [n for v in values for n in nodes(v) if isinstance(n, Call)]
    again = sum(n.name == e.name and len(n.args) == len(e.args) for n in calls) > 1
    log = next((c for c in calls if c.name == "log" and len(c.args) == 1 and c.args[0] is e), None)
    if log is not None and (found := logarithm(e.name, e.args)) is not None:
        line, is_sum = found
        within = [n for v in values for n in nodes(v) if any(x is log for x in operands(n))]
        grouped = is_sum and any(isinstance(n, Sum | Product | Power | Unary) for n in within)
        return (f"write `{f'({line})' if grouped else line}` in place of `{unparse(log)}`",)
    add, written = f"add it under `functions`: `{own}`", written_out(e.name, e.args)
    if written is None:
        return (add,)
    shown = f"({written})" if _stays_together(e, written, values) else written
    return (f"write it out: `{shown}`", *([f"or {add}"] if again else ()))


def _stays_together(e: Call, written: str, values: Sequence[Expr]) -> bool:
    """Whether a formula in the place of a call needs parentheses: a sum in a product, anything in a power."""
    around = next((n for v in values for n in nodes(v) if any(x is e for x in operands(n))), None)
    outside = written
    while (less := re.sub(r"[(\[][^()\[\]]*[)\]]", "", outside)) != outside:
        outside = less
    is_sum = re.search(r"(?<!^)[-+]", outside) is not None
    match around:
        case Power():
            return re.search(r"[-+*/]", outside) is not None
        case Product(factors=factors):
            divides = any(x is e and sign != "*" for sign, x in factors)
            return is_sum or outside.startswith("-") or (divides and re.search(r"[*/]", outside) is not None)
        case Unary():
            return is_sum or outside.startswith("-")
        case Sum(terms=terms):
            return any(t is e and sign == "-" for sign, t in terms) and (is_sum or outside.startswith("-"))
        case _:
            return False


def order_first(orders: int, e: Call, args: Sequence[Typed]) -> tuple[str, ...]:
    """The call with its one order in front, where it stands at another place."""
    whole = [k for k, a in enumerate(args) if a.kind is Kind.INT and not any(map(is_place, walk(a.scalar)))]
    if orders != 1 or len(whole) != 1:
        return ()
    others = (a for k, a in enumerate(e.args) if k != whole[0])
    return (f"the order stands first: write `{unparse(replace(e, args=(e.args[whole[0]], *others)))}`",)


def is_place(s: Scalar) -> bool:
    """Whether a value is another one at another place."""
    return isinstance(s, Index | Read)
