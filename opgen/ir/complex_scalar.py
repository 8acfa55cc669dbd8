"""A complex scalar expression as the pair of its real and imaginary part.

In goes an expression as it was lowered, whose reads of complex tensors stand for complex numbers; out come expressions
over reads of their parts. An operand of a product, a quotient or a function is used several times, so what is not a
plain read gets a name first, under the conditions at which it is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from opgen.ir.complex_functions import (
    ARGUMENTS,
    FORMULAS,
    ROTATED,
    RULES,
    Pair,
    is_zero,
    modulus,
    polar,
    product,
    quotient,
)
from opgen.ir.formula import scalar
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Batch,
    Cast,
    Const,
    Dim,
    Index,
    Lit,
    Param,
    Read,
    Scalar,
    add,
    both,
    call,
    div,
    mul,
    neg,
    rebuild,
    sub,
    where,
)

MAX_POWER = 32  # whole powers up to here are products
Parts = tuple[Scalar, Scalar | None]  # None: the number is real


@dataclass(frozen=True, slots=True)
class Held:
    """The tensors that hold a complex one. `real`: its values are known to be real and read as such."""

    re: str
    im: str
    real: bool = False


class Namer:
    """Puts parts of one statement into statements of their own; this one never does."""

    def __call__(self, _: str, e: Scalar) -> Scalar:
        return e

    def under(self, _: Scalar) -> Namer:
        """The same inside a branch that is taken where a condition holds."""
        return self


@dataclass(slots=True)
class Splitter:
    """Splits the expressions of one statement; `name` gives a part a statement of its own, where that may be."""

    held: Mapping[str, Held]
    name: Namer
    bound: dict[str, Parts] = field(default_factory=dict)  # arguments of the table formula at hand

    def real(self, e: Scalar) -> Scalar:
        """An expression whose value is real."""
        re, im = self.split(e)
        assert im is None, f"{e} is complex"
        return re

    def both(self, e: Scalar) -> Pair:
        """The parts of an expression, 0 where there is no imaginary one."""
        re, im = self.split(e)
        return re, ZERO if im is None else im

    def split(self, e: Scalar) -> Parts:
        match e:
            case Read():
                return self._read(e)
            case Apply("where", (condition, a, b)):
                return self._where(condition, a, b)
            case Apply("square", (Apply("abs", (z,)),)) | Apply("pow", (Apply("abs", (z,)), Lit(2))):
                return self._squared_modulus(z), None
            case Apply(fn, args):
                return self._apply(fn, tuple(self.split(a) for a in args))
            case Cast(arg, like):
                re, im = self.split(arg)
                like = self.held[like].re if like in self.held else like
                return Cast(re, like), None if im is None else Cast(im, like)
            case Param(name) if name in self.bound:
                return self.bound[name]
            case Lit() | Const() | Param() | Dim() | Index():
                return e, None

    def _squared_modulus(self, z: Scalar) -> Scalar:
        """|z|**2 without a root."""
        parts = self.split(z)
        if parts[1] is None:
            return call("square", parts[0])
        a, b = self.named((parts[0], parts[1]))
        return add(call("square", a), call("square", b))

    def _read(self, e: Read) -> Parts:
        held = self.held.get(e.tensor)
        if held is None:
            return rebuild(e, self.real), None
        at = tuple(p if isinstance(p, Batch) else self.real(p) for p in e.at)
        fill, other = (None, None) if e.fill is None else self.both(e.fill)
        return Read(held.re, at, fill), None if held.real else Read(held.im, at, other)

    def _where(self, test: Scalar, yes: Scalar, no: Scalar) -> Parts:
        condition = self.real(test)
        with_yes, with_no = self.name.under(condition), self.name.under(call("not", condition))
        outer, self.name = self.name, with_yes
        a, a_im = self.split(yes)
        self.name = with_no
        b, b_im = self.split(no)
        self.name = outer
        if a_im is None and b_im is None:
            return where(condition, a, b), None
        return where(condition, a, b), where(condition, a_im or ZERO, b_im or ZERO)

    def _apply(self, fn: str, args: tuple[Parts, ...]) -> Parts:
        if fn == "complex":
            return args[0][0], args[1][0]
        if all(im is None for _, im in args):
            return Apply(fn, tuple(re for re, _ in args)), None
        whole: tuple[Pair, ...] = tuple((re, ZERO if im is None else im) for re, im in args)
        a, b = whole[0]
        match fn:
            case "real":
                return a, None
            case "imag":
                return b, None
            case "conj":
                return a, neg(b)
            case "abs":
                return modulus(*self.named(whole[0])), None
            case "angle":
                return call("atan2", b, a), None
            case "add":
                return add(*(re for re, _ in whole)), add(*(im for _, im in whole))
            case "sub":
                return sub(a, whole[1][0]), sub(b, whole[1][1])
            case "neg":
                return neg(a), neg(b)
            case "mul":
                return self._product(args)
            case "div":
                return self._quotient(args[0], args[1])
            case "pow":
                return self._power(args[0], args[1])
            case "eq":
                return both(call("eq", a, whole[1][0]), call("eq", b, whole[1][1])), None
            case "ne":
                return call("or", call("ne", a, whole[1][0]), call("ne", b, whole[1][1])), None
            case "isnan":
                return call("or", call("isnan", a), call("isnan", b)), None
            case "isfinite":
                return both(call("isfinite", a), call("isfinite", b)), None
            case _:
                return self.function(fn, whole)

    def function(self, fn: str, args: tuple[Pair, ...]) -> Pair:
        """A function of the table of complex functions."""
        if fn in ROTATED:
            a, b = args[0]
            re, im = self.function(ROTATED[fn], ((neg(b), a),))
            return im, neg(re)
        if fn in FORMULAS:
            names = ARGUMENTS.get(fn, ("z",))
            outer, self.bound = self.bound, dict(zip(names, map(self.named, args), strict=True))
            result = self.both(scalar(FORMULAS[fn], names))
            self.bound = outer
            return result
        return RULES[fn](self.name, *self.named(args[0]))

    def named(self, p: Pair) -> Pair:
        return self.name("part_real", p[0]), self.name("part_imag", p[1])

    def _product(self, args: tuple[Parts, ...]) -> Pair:
        """Real factors go into the first complex one, so that sums of products stay sums of products."""
        factors = [(re, im) for re, im in args if im is not None]
        outside = mul(*(re for re, im in args if im is None))
        if not all(map(is_light, outside.args if isinstance(outside, Apply) and outside.fn == "mul" else (outside,))):
            outside = self.name("factor", outside)
        if len(factors) == 1:
            return mul(outside, factors[0][0]), mul(outside, factors[0][1])
        first, *rest = [self.named(f) for f in factors]
        result: Pair = (mul(outside, first[0]), mul(outside, first[1]))
        for k, factor in enumerate(rest):
            result = product(*(self.named(result) if k else result), *factor)
        return result

    def _quotient(self, over: Parts, under: Parts) -> Pair:
        a, b = over[0], over[1] or ZERO
        if under[1] is None:
            return div(a, under[0]), div(b, under[0])
        return quotient(self.name, *self.named((a, b)), *self.named((under[0], under[1])))

    def _power(self, base: Parts, exponent: Parts) -> Pair:
        a, b = self.named((base[0], base[1] or ZERO))
        if exponent[1] is None:
            return self._real_power((a, b), exponent[0])
        c, d = self.named((exponent[0], exponent[1]))
        if base[1] is None and isinstance(a, Lit) and a.value > 0:
            log: Pair = (call("log", a), ZERO)
        else:
            log = RULES["log"](self.name.under(call("not", is_zero(a, b))), a, b)
        result = RULES["exp"](self.name, *self.named(product(*self.named(log), c, d)))
        if isinstance(a, Lit) and a != ZERO:
            return result
        at_zero = where(is_zero(c, d), ONE, ZERO)
        return where(is_zero(a, b), at_zero, result[0]), where(is_zero(a, b), ZERO, result[1])

    def _real_power(self, z: Pair, exponent: Scalar) -> Pair:
        if isinstance(exponent, Lit) and Fraction(exponent.value).denominator == 1:
            n = int(exponent.value)
            if abs(n) <= MAX_POWER:
                size = self._whole_power(z, abs(n))
                return size if n >= 0 else RULES["reciprocal"](self.name, *self.named(size))
        if exponent == Lit(Fraction(1, 2)):
            return RULES["sqrt"](self.name, *z)
        return polar(self.name, *z, exponent)

    def _whole_power(self, z: Pair, n: int) -> Pair:
        if n == 0:
            return ONE, ZERO
        if n == 1:
            return z
        half = self.named(self._whole_power(z, n // 2))
        square = RULES["square"](self.name, *half)
        return square if n % 2 == 0 else product(*self.named(square), *z)


def is_light(e: Scalar) -> bool:
    """Whether an expression costs nothing to repeat."""
    if isinstance(e, Apply):
        return e.fn == "neg" and is_light(e.args[0])
    return not isinstance(e, Cast)
