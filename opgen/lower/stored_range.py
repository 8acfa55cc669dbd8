"""Results whose values and whose integer dtype do not fit each other: warnings.

Bounds beyond what the dtype holds have no effect, and of what lies between 0 and 1 an integer keeps next to nothing.
In: the statements as they are written. What a name holds is looked up where it is assigned once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from opgen.diagnostics.model import Diagnostic
from opgen.ir.program import Kind
from opgen.ir.storage import STORED, Stored
from opgen.lang.nodes import Access, Assign, Call, Compare, Expr, Logic, Name, Number, Power, Product, Reduction, Unary
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import literal, names_read
from opgen.lower.assigned import assigned_once
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt

_ROUNDED = ("int", "round", "floor", "ceil", "trunc")
_SHARES = ("sigmoid", "tanh", "sin", "cos", "erf")  # whose values lie between -1 and 1
_AVERAGES = ("mean", "max", "min", "median", "quantile")  # no further out than the least and the greatest of them


def stored_ranges(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each result that does not fit its dtype."""
    once = {name: a.value for name, a in assigned_once(d).items()}
    for o in d.spec.outputs or ():
        to, a = STORED.get(o.dtype or ""), next((a for a in d.forward if a.target.name == str(o.name)), None)
        if to is None or to.kind is not Kind.INT or a is None or str(o.name) not in once:
            continue
        found = _beyond(a, to) or _too_little(d, a, to, once)
        if found is not None:
            yield found


def _unrounded(e: Expr) -> Expr:
    while isinstance(e, Call) and e.name in _ROUNDED and len(e.args) == 1:
        e = e.args[0]
    return e


def _beyond(a: Assign, to: Stored) -> Diagnostic | None:
    """`clamp(round(x), 0, 255)` as a result that is stored as `int8`, which ends at 127."""
    clamp = _unrounded(a.value)
    if not isinstance(clamp, Call) or clamp.name != "clamp":
        return None
    ends = [(e, n) for e in clamp.args[1:] if (n := literal(e)) is not None]
    first = next((e for e, n in ends if not to.least <= n <= to.most), None)
    if first is None:
        return None
    fits = [s.name for s in STORED.values() if s.most and all(s.least <= n <= s.most for _, n in ends)]
    hints = [f"`{fits[0]}` holds both: `outputs: {{{a.target.name}: {{dtype: {fits[0]}}}}}`"] if fits else []
    message = f"`{a.target.name}` is stored as {to.name}, which ends at {to.least} and {to.most}"
    return doubt("OPG277", message, first, "beyond that", *hints)


def _too_little(d: Declarations, a: Assign, to: Stored, once: Mapping[str, Expr]) -> Diagnostic | None:
    """`sigmoid(x)` as a result that is stored as `uint8`."""
    value = _unrounded(a.value)
    if not _is_share(value, once) or not _is_float(d, value, once):
        return None
    most = Number(min(to.most, 255), a.value.span)
    scaled = replace(a, value=Product((("*", most), ("*", a.value)), a.value.span))
    message = f"no value of `{a.target.name}` is beyond 1, and {to.name} holds whole numbers"
    hint = f"scale it: `{unparse_assign(scaled)}`"
    return doubt("OPG279", message, a.value, "rounded to 0 or 1", hint)


def _is_float(d: Declarations, e: Expr, once: Mapping[str, Expr]) -> bool:
    """Whether a value is made of floats, as far as that is plain to see."""
    if isinstance(e, Compare | Logic) or (isinstance(e, Reduction) and e.name in ("count", "argmax", "argmin")):
        return False
    rest = dict(once)
    for name in names_read(e):
        if name in d.inputs and d.inputs[name].kind == "float":
            return True
        if name in rest and _is_float(d, rest.pop(name), rest):
            return True
    return False


def _is_share(e: Expr, once: Mapping[str, Expr]) -> bool:
    """Whether values lie between -1 and 1 and are no whole numbers there."""
    match e:
        case Call(name="clamp", args=(x, low, high)):
            ends = literal(low), literal(high)
            return x == _unrounded(x) and all(n is not None and -1 <= n <= 1 for n in ends)
        case Call(name="where", args=(_, a, b)):
            sides = [s for s in (a, b) if (n := literal(s)) is None or not -1 <= n <= 1]
            return bool(sides) and all(_is_share(s, once) for s in sides)
        case Call(name=name) if name in _SHARES:
            return True
        case Reduction(name="softmax"):
            return True
        case Reduction(name=name, body=body) if name in _AVERAGES:
            return _is_share(body, once)
        case Power(base=base, exponent=exponent):
            return _is_share(base, once) and not (isinstance(exponent, Unary) or (literal(exponent) or 1) < 0)
        case Product(factors=factors):
            return all(op == "*" and _is_share(f, once) for op, f in factors)
        case Access(name=name) | Name(name=name) if name in once:
            return _is_share(once[name], {n: v for n, v in once.items() if n != name})
        case _:
            return False
