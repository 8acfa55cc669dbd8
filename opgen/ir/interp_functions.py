"""What the interpreter computes for each scalar function, reduction and index operator, one Python number at a time.

Written independently of every back end: the standard library where it has the function, mpmath where it has not.
IEEE behaviour at the edges (poles give inf, invalid arguments nan) instead of Python's exceptions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from opgen.ir import philox
from opgen.ir.functions import FUNCTIONS, ScalarFunction
from opgen.ir.numbers import is_beyond
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import Apply, Const, Lit, Param, Scalar
from opgen.ir.storage import nearest

Value = float | int | bool
INF, NAN = math.inf, math.nan


def _quiet(f: Callable[..., float], *, overflow: float = INF) -> Callable[..., float]:
    """Turn Python's exceptions into IEEE results: invalid gives nan, overflow gives the stated infinity."""

    def g(*args: Value) -> float:
        if any(math.isnan(a) for a in args):
            return NAN
        try:
            return float(f(*args))
        except OverflowError:
            return overflow
        except (ValueError, ZeroDivisionError):
            return NAN

    return g


def _special(name: str) -> Callable[..., float]:
    """A function of mpmath at double precision and some guard digits; imported at the first call."""

    def g(*args: Value) -> float:
        import mpmath  # heavy, and only the oracle needs it

        if any(math.isnan(a) for a in args):
            return NAN
        with mpmath.workdps(30):
            try:
                value = getattr(mpmath, name)(*(mpmath.mpf(a) for a in args))
            except (ValueError, ZeroDivisionError, ArithmeticError):
                return NAN
        return float(value.real) if value.imag == 0 else NAN

    return g


def _div(a: Value, b: Value) -> float:
    if b == 0:
        return NAN if a == 0 or math.isnan(a) else math.copysign(INF, a) * math.copysign(1.0, b)
    return a / b


def _pow(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        power: int = int(a) ** int(b)
        return power
    if a == 0 and b < 0:
        return math.copysign(INF, a) if float(b).is_integer() and int(b) % 2 else INF
    if math.isnan(b) or (math.isnan(a) and b != 0):
        return NAN if a != 1 else 1.0
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INF if a < 0 and float(b).is_integer() and int(b) % 2 else INF
    except ValueError:
        return NAN


def _log(a: Value) -> float:
    return -INF if a == 0 else _quiet(math.log)(a)


def _log1p(a: Value) -> float:
    return -INF if a == -1 else _quiet(math.log1p)(a)


def _rounding(f: Callable[[float], int]) -> Callable[[Value], Value]:
    def g(a: Value) -> Value:
        return a if isinstance(a, int) or not math.isfinite(a) else float(f(a))

    return g


def _sign(a: Value) -> Value:
    if isinstance(a, int):
        return (a > 0) - (a < 0)
    return NAN if math.isnan(a) else float((a > 0) - (a < 0))


def _sigmoid(a: Value) -> float:
    if a >= 0:
        return 1.0 / (1.0 + math.exp(-a))
    return _quiet(lambda x: math.exp(x) / (1.0 + math.exp(x)))(a)


def _softplus(a: Value) -> float:
    return NAN if math.isnan(a) else max(float(a), 0.0) + math.log1p(math.exp(-abs(a)))


def _logaddexp(a: Value, b: Value) -> float:
    if math.isnan(a) or math.isnan(b):
        return NAN
    top, low = max(a, b), min(a, b)
    return float(top) if math.isinf(top) else top + math.log1p(math.exp(low - top))


def _extreme(pick: Callable[..., Value]) -> Callable[..., Value]:
    def g(*args: Value) -> Value:
        return NAN if any(math.isnan(a) for a in args) else pick(args)

    return g


def _clamp(a: Value, low: Value | None = None, high: Value | None = None) -> Value:
    if any(math.isnan(v) for v in (a, low, high) if v is not None):
        return NAN
    if low is not None:
        a = max(a, low)
    return a if high is None else min(a, high)


def _xlogy(a: Value, b: Value) -> float:
    return NAN if math.isnan(b) else 0.0 if a == 0 else a * _log(b)


def _half_turns(f: Callable[[float], float]) -> Callable[[Value], float]:
    """A function of period 2 of `pi` times its argument."""
    return lambda a: f(math.pi * math.remainder(a, 2)) if math.isfinite(a) else NAN


def _sinc(a: Value) -> float:
    return 1.0 if a == 0 else 0.0 if math.isinf(a) else _half_turns(math.sin)(a) / (math.pi * a)


def _lgamma(a: Value) -> float:
    return INF if a <= 0 and float(a).is_integer() else _quiet(math.lgamma)(a)


def _heaviside(a: Value, at_zero: Value) -> float:
    return NAN if math.isnan(a) else float(at_zero) if a == 0 else float(a > 0)


def _mod(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int):
        return int(a) % int(b)
    return NAN if b == 0 or math.isinf(a) or math.isnan(b) else a - b * math.floor(a / b)


def _erfinv(a: Value) -> float:
    return math.copysign(INF, a) if abs(a) == 1 else _special("erfinv")(a)


def _polygamma(n: Value, a: Value) -> float:
    return _special("polygamma")(n, a) if n >= 0 else NAN


def _scaled_bessel(order: int) -> Callable[[Value], float]:
    def g(a: Value) -> float:
        import mpmath

        if math.isnan(a) or math.isinf(a):
            return NAN if math.isnan(a) else 0.0
        with mpmath.workdps(30):
            return float(mpmath.besseli(order, a) * mpmath.exp(-abs(mpmath.mpf(a))))

    return g


_BEYOND = 2**63


def _int(a: Value) -> int:
    """Rounded towards 0; what is no number, or beyond all integers, is what processors make of it."""
    return math.trunc(a) if math.isfinite(a) and abs(a) < _BEYOND else -_BEYOND


def _log1mexp(a: Value) -> float:
    """log(1 - exp(-a)) of a positive number."""
    return _log(-math.expm1(-a))


def _erfcx(a: Value) -> float:
    if math.isnan(a) or math.isinf(a):
        return NAN if math.isnan(a) else 0.0 if a > 0 else INF
    import mpmath  # heavy, and only the oracle needs it

    with mpmath.workdps(40):
        x = mpmath.mpf(a)
        return float(mpmath.exp(x * x) * mpmath.erfc(x))


def _sum(*args: Value) -> Value:
    total = args[0]
    for a in args[1:]:
        total = total + a
    return total


def _prod(*args: Value) -> Value:
    total = args[0]
    for a in args[1:]:
        total = total * a
    return total


SCALARS: dict[str, Callable[..., Value]] = {
    "add": _sum, "mul": _prod, "sub": lambda a, b: a - b, "neg": lambda a: -a, "div": _div, "pow": _pow,
    "floordiv": lambda a, b: a // b if b else NAN, "mod": _mod,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "not": lambda a: not a,
    "exp": _quiet(math.exp), "exp2": _quiet(lambda a: 2.0**a), "expm1": _quiet(math.expm1),
    "log": _log, "log2": lambda a: -INF if a == 0 else _quiet(math.log2)(a),
    "log10": lambda a: -INF if a == 0 else _quiet(math.log10)(a), "log1p": _log1p,
    "sqrt": _quiet(math.sqrt), "rsqrt": lambda a: INF if a == 0 else _div(1.0, _quiet(math.sqrt)(a)),
    "cbrt": _quiet(lambda a: math.copysign(math.cbrt(abs(a)), a)), "square": lambda a: a * a,
    "reciprocal": lambda a: _div(1.0, a), "abs": abs, "sign": _sign, "copysign": math.copysign,
    "floor": _rounding(math.floor), "ceil": _rounding(math.ceil), "round": _rounding(round),
    "trunc": _rounding(math.trunc), "frac": lambda a: a - math.trunc(a) if math.isfinite(a) else NAN,
    "sin": _quiet(math.sin), "cos": _quiet(math.cos), "tan": _quiet(math.tan),
    "asin": _quiet(math.asin), "acos": _quiet(math.acos), "atan": _quiet(math.atan), "atan2": _quiet(math.atan2),
    "sinh": lambda a: _quiet(math.sinh, overflow=math.copysign(INF, a))(a), "cosh": _quiet(math.cosh),
    "tanh": _quiet(math.tanh), "asinh": _quiet(math.asinh), "acosh": _quiet(math.acosh),
    "atanh": lambda a: math.copysign(INF, a) if abs(a) == 1 else _quiet(math.atanh)(a),
    "sigmoid": _sigmoid, "logsigmoid": lambda a: -_softplus(-a), "softplus": _softplus,
    "relu": lambda a: NAN if math.isnan(a) else max(a, 0), "silu": lambda a: a * _sigmoid(a) if not a <= -745 else -0.0,
    "erf": _quiet(math.erf), "erfc": _quiet(math.erfc), "erfinv": _erfinv, "erfcx": _erfcx,
    "lgamma": _lgamma, "digamma": lambda a: -INF if a == 0 else _special("digamma")(a), "polygamma": _polygamma,
    "i0e": _scaled_bessel(0), "i1e": _scaled_bessel(1),
    "min": _extreme(min), "max": _extreme(max), "clamp": _clamp, "hypot": _quiet(math.hypot),
    "modulus": _quiet(math.hypot), "magnitude": lambda a, b: _extreme(max)(abs(a), abs(b)),
    "logaddexp": _logaddexp, "xlogy": _xlogy, "heaviside": _heaviside, "fmod": _quiet(math.fmod), "remainder": _mod,
    "lerp": lambda a, b, w: a + w * (b - a), "sinc": _sinc,
    "sinpi": _half_turns(math.sin), "cospi": _half_turns(math.cos),
    "isnan": math.isnan, "isfinite": math.isfinite,
    "bitand": lambda a, b: int(a) & int(b), "bitor": lambda a, b: int(a) | int(b),
    "bitxor": lambda a, b: int(a) ^ int(b),
    "philox": philox.bits, "uniform_of": philox.uniform, "normal_of": philox.normal,
    "to_float8_e4m3fn": partial(nearest, name="float8_e4m3fn"), "to_float8_e5m2": partial(nearest, name="float8_e5m2"),
    "detach": lambda a: a, "tofloat": float, "int": _int, "log1mexp": _log1mexp,
    "decay": lambda a: _quiet(math.exp)(-a),
}  # fmt: skip


def _by_formula(row: ScalarFunction) -> Callable[..., Value]:
    """What a row computes that is a formula of others."""

    def f(*given: Value) -> Value:
        from opgen.ir.formula import scalar  # which is read with the help of this table

        return _value(scalar(row.value, row.args), dict(zip(row.args, given, strict=True)))

    return f


def _value(e: Scalar, given: Mapping[str, Value]) -> Value:
    match e:
        case Lit(value=value):
            return value if isinstance(value, int) else float(value)
        case Const(name=name):
            return _CONSTANTS[name]
        case Param(name=name):
            return given[name]
        case Apply("where", (condition, a, b)):
            return _value(a if _value(condition, given) else b, given)
        case Apply("and" | "or" as fn, args):
            return (all if fn == "and" else any)(_value(a, given) for a in args)
        case Apply(fn, args):
            return SCALARS[fn](*(_value(a, given) for a in args))
        case _:
            raise ValueError(f"a formula of the table holds {e}")


_CONSTANTS = {"pi": math.pi, "inf": INF, "nan": NAN}
SCALARS |= {row.name: _by_formula(row) for row in FUNCTIONS.values() if row.value}


def constant_value(e: Scalar) -> float | None:
    """What a formula without parameters and sizes is worth, where that is a finite number."""
    match e:
        case Lit(value):
            return None if is_beyond(value) else float(value)
        case Const("pi"):
            return math.pi
        case Apply(fn, args) if fn in SCALARS:
            known = [constant_value(a) for a in args]
            found = SCALARS[fn](*known) if None not in known else math.nan
            return float(found) if math.isfinite(found) else None
        case _:
            return None


def reduce_values(op: str, values: Sequence[Value], *, whole: bool = False) -> Value:
    """One element of a reduction over values (`whole`: of integers), over none of them as the language states."""
    of_none = REDUCTIONS[op].of_integers if whole and not values else None
    return _REDUCERS[op](values) if of_none is None else int(of_none.value)


def _mean(values: Sequence[Value]) -> Value:
    return math.fsum(values) / len(values) if values else NAN


def _var(values: Sequence[Value]) -> Value:
    return _mean([(v - _mean(values)) ** 2 for v in values])


def _most(values: Sequence[Value], empty: float) -> Value:
    if not values:
        return empty
    pick: Callable[[Sequence[Value]], Value] = max if empty < 0 else min
    return NAN if any(math.isnan(v) for v in values) else pick(values)


def _logsumexp(values: Sequence[Value]) -> Value:
    top = _most(values, -INF)
    if math.isinf(top) or math.isnan(top):
        return top
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def _first(values: Sequence[Value], *, largest: bool) -> int:
    best = 0
    for k, v in enumerate(values):
        current = values[best]
        if math.isnan(current):
            break
        if math.isnan(v) or (v > current if largest else v < current):
            best = k
    return best


def _total(values: Sequence[Value]) -> Value:
    return sum(values) if all(isinstance(v, int) for v in values) else float(_sum(0.0, *values))


_REDUCERS: dict[str, Callable[[Sequence[Value]], Value]] = {
    "sum": _total,
    "prod": lambda v: _prod(1, *v),
    "mean": _mean,
    "var": _var,
    "max": lambda v: _most(v, -INF),
    "min": lambda v: _most(v, INF),
    "norm": lambda v: math.hypot(*v),
    "logsumexp": _logsumexp,
    "any": any,
    "all": all,
    "count": lambda v: sum(1 for x in v if x),
    "argmax": lambda v: _first(v, largest=True),
    "argmin": lambda v: _first(v, largest=False),
}


def _log_softmax(values: list[Value], k: int) -> Value:
    return values[k] - _logsumexp(values)


INDEX_OPERATORS: dict[str, Callable[[list[Value], int], Value]] = {
    "softmax": lambda v, k: _quiet(math.exp)(_log_softmax(v, k)),
    "log_softmax": _log_softmax,
    "cumsum": lambda v, k: _total(v[: k + 1]),
    "cumprod": lambda v, k: _prod(1, *v[: k + 1]),
    "logcumsumexp": lambda v, k: _logsumexp(v[: k + 1]),
    "argsort": lambda v, k: sorted(range(len(v)), key=lambda i: v[i])[k],
}
