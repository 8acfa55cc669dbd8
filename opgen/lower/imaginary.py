"""Imaginary parts of what is real, which are 0 everywhere: a warning.

A product of a number and its conjugate is real, and so is all that does not change if each number in it is replaced by
its conjugate. In: the statements as they are written. What a name holds is looked up where it is assigned once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field

from opgen.diagnostics.model import Diagnostic
from opgen.lang.nodes import (
    Access,
    Assign,
    Call,
    Compare,
    Expr,
    Logic,
    Name,
    Power,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.unparse import respelled
from opgen.lang.walk import integer, nodes, operands
from opgen.lower.assigned import assigned_once, written_out
from opgen.lower.declare import Declarations
from opgen.lower.doubts import doubt

_REAL = ("real", "imag", "abs", "angle")  # functions whose results are
_ALIKE = ("exp", "square", "reciprocal", "detach")  # whose results are conjugate where their arguments are
_SUMS = ("sum", "mean", "prod")


def imaginary_parts(d: Declarations) -> Iterator[Diagnostic]:
    """A warning for each `imag` of what is real."""
    parts = _Parts(d, assigned_once(d))
    for c in (n for a in d.forward for n in nodes(a.value) if isinstance(n, Call)):
        if c.name == "imag" and len(c.args) == 1 and parts.is_real(c.args[0]):
            (of,) = c.args
            yield doubt("OPG259", f"`{respelled(c)}` is 0 everywhere", c, "of what is real", *_meant(parts, of))


def _meant(parts: _Parts, of: Expr) -> Iterator[str]:
    """What may be meant by the imaginary part of what is real."""
    inner = written_out(of, parts.once)
    if isinstance(inner, Call) and inner.name in _REAL and not parts.is_real(inner.args[0]):
        yield f"for the imaginary part of `{respelled(inner.args[0])}` write `imag({respelled(inner.args[0])})`"
        yield f"or `{respelled(of)}` alone, if that is meant"
    elif isinstance(of, Name | Access) and of.name in parts.d.inputs:
        yield f"declare what it holds: `{of.name}: {{…, dtype: complex}}`"
    elif all(map(parts.holds_real, (n for n in nodes(of) if isinstance(n, Name | Access)))):
        yield f"write `{respelled(of)}`, if that is meant"
    else:
        yield f"write `real({respelled(of)})`"
        if any(isinstance(n, Call) and n.name == "conj" for n in nodes(inner)):
            yield "or `conj` of another value is meant: beside its own, no imaginary part of a number is left"


@dataclass(frozen=True, slots=True)
class _Parts:
    """Which expressions are real, as far as that is plain to see."""

    d: Declarations
    once: Mapping[str, Assign]
    known: dict[Expr, bool] = field(default_factory=dict)

    def is_real(self, e: Expr) -> bool:
        """Whether an expression is real wherever it stands: it is its own conjugate."""
        found = self.known.get(e)
        if found is None:
            found = self.known[e] = self.form(e, turned=False) == self.form(e, turned=True)
        return found

    def form(self, e: Expr, *, turned: bool) -> Hashable:
        """An expression, or its conjugate, without the order of terms and factors."""
        e = written_out(e, self.once)
        match e:
            case Name() | Access():
                return e, turned and not self.holds_real(e)
            case Call(name=name) if name in self.d.functions:
                return e, turned
            case Call(name="conj", args=(z,)):
                return self.form(z, turned=not turned)
            case Call(name=name) if name in _REAL:
                return e
            case Call(name="where", args=(asked, a, b)):
                return "where", asked, self.form(a, turned=turned), self.form(b, turned=turned)
            case Call(name=name, args=args) if name in _ALIKE:
                return name, tuple(self.form(a, turned=turned) for a in args)
            case Unary(op="-", operand=a):
                return "-", self.form(a, turned=turned)
            case Sum(terms=parts) | Product(factors=parts):
                counts = Counter((op, self.form(a, turned=turned)) for op, a in parts)
                return type(e).__name__, frozenset(counts.items())
            case Power(base=base, exponent=exponent) if integer(exponent) is not None:
                return "**", self.form(base, turned=turned), exponent
            case Reduction(name=name, binders=binders, body=body) if name in _SUMS:
                return name, binders, self.form(body, turned=turned)
            case _:
                real = not (isinstance(e, Call) and e.name == "complex") and all(map(self.is_real, operands(e)))
                return e, turned and not real and not isinstance(e, Compare | Logic) and not _is_size(e)

    def holds_real(self, e: Name | Access) -> bool:
        """Whether a name stands for real numbers: a param, a dim or an index does."""
        if e.name in self.d.inputs:
            return self.d.inputs[e.name].kind != "complex"
        if e.name in self.once:
            others = {n: a for n, a in self.once.items() if n != e.name}
            return _Parts(self.d, others).is_real(self.once[e.name].value)
        return e.name not in self.d.targets()


def _is_size(e: Expr) -> bool:
    """Whether it is real whatever is in it."""
    return isinstance(e, Reduction) and e.name in ("norm", "var", "count", "any", "all", "argmax", "argmin")
