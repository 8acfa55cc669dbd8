"""Random formulas over a scope, tame by construction: bounds on values are carried along and kept small."""

from __future__ import annotations

from tests.random_programs import discrete, draws, reductions
from tests.random_programs.forms import LIMIT, call, literal, tamed
from tests.random_programs.positions import access
from tests.random_programs.scope import (
    ATOM,
    PLUS,
    POWER,
    TIMES,
    UNARY,
    Expr,
    Scope,
    Size,
    World,
)

SMOOTH = ("sin", "cos", "tanh", "sigmoid", "atan", "erf", "asinh", "softplus", "silu", "logsigmoid", "sinc", "erfc")
KINKED = ("relu", "abs", "sign", "floor", "ceil", "round", "trunc", "frac")
NARROW = ("exp", "expm1", "exp2", "sinh", "cosh", "square", "erfcx")  # of arguments in [-1.5, 1.5]
POSITIVE = (
    "log", "sqrt", "rsqrt", "reciprocal", "log2", "log10", "log1p", "cbrt", "lgamma", "digamma", "i0e", "i1e",
)  # fmt: skip
UNIT = ("asin", "acos", "atanh", "erfinv", "tan")
PAIRS = ("hypot", "logaddexp", "atan2", "copysign", "fmod", "remainder", "xlogy", "heaviside", "lerp")


def floats(w: World, scope: Scope, depth: int) -> Expr:
    """A float formula."""
    c = w.choose
    if depth <= 0:
        return leaf(w, scope)
    make = c.weighted(
        (
            (5, leaf_of), (10, _sum), (9, _product), (9, _unary), (8, reductions.reduced), (5, _where), (4, _quotient),
            (5, reductions.index_operator), (4, _extreme), (4, _number), (3, _power), (2, _pair), (2, _local),
            (2, _transparent), (2, _guarded), (2, draws.drawn), (4, draws.order_statistic), (2, draws.in_order),
            (2, draws.few_bits),
        )
    )  # fmt: skip
    return tamed(w, make(w, scope, depth))


def leaf_of(w: World, scope: Scope, depth: int) -> Expr:
    return leaf(w, scope)


def leaf(w: World, scope: Scope) -> Expr:
    c = w.choose
    if c.chance(85):
        fits = [t for t in w.tensors if t.kind == "float" and (scope.batch or not t.batched)]
        if fits:
            found = access(w, scope, c.pick(fits))
            assert found is not None
            return tamed(w, found)
    make = c.weighted(((3, _literal), (3, _param), (2, _index), (1, _dim), (1, _at_limit), (1, _index_power)))
    return make(w, scope)


def _literal(w: World, scope: Scope) -> Expr:
    c = w.choose
    if c.chance(25):
        w.mark("power of literals")
        return Expr(c.pick(("2**2", "0.5**3", "2**-1", "1.5**2", "(1/3)**2", "2.0**-2")), POWER, 0, 4)
    return literal(c.pick((0.5, 2, 1, 0.3, -1.2, 0)))


# Of a param that may be 0 or negative: most are infinite or not a number somewhere.
AT_LIMITS = (
    "log({0})", "1/{0}", "sqrt({0})", "{0}**0.5", "{0}**-2", "rsqrt({0})", "lgamma({0})", "asin(2 + {0})", "acosh({0})",
    "exp(1000 + {0})", "atanh({0})", "log1p({0} - 1)", "reciprocal({0})", "1/{1}", "fmod(1.5, {0})", "cosh(800 + {0})",
    "floor(1/{0})", "max(1/{0}, {0})",
)  # fmt: skip


def _at_limit(w: World, scope: Scope) -> Expr:
    """A function of a param, where that has a finite value."""
    c = w.choose
    w.mark("function of a param")
    w.params["edge"] = "{type: float}"
    w.values.setdefault("edge", c.pick((0.0, -1.0, 1.0, 0.7)))
    sizes = [s.text for s in w.sizes if s.text.isalpha()] or ["edge"]
    value = c.pick(AT_LIMITS).format("edge", c.pick(sizes))
    return tamed(w, Expr(f"where(isfinite({value}), {value}, 0.5)", ATOM, -4, 4))


def _index_power(w: World, scope: Scope) -> Expr:
    if not scope.indices:
        return _literal(w, scope)
    w.mark("power of an index")
    i = w.choose.pick(scope.indices).name
    return Expr(
        w.choose.pick((f"2**(-{i})", f"2.0**-{i}", f"0.3**{i}", f"({i} + 1)**-2", f"0.5**({i} - 1)")), POWER, 0, 2
    )


def _param(w: World, scope: Scope) -> Expr:
    c = w.choose
    name = c.pick(("scale", "shift", "pair"))
    if name == "pair":
        w.mark("list param")
        w.params[name] = "{type: [float, float], default: [0.5, -0.7]}"
        w.values[name] = (0.5, -0.7)
        return Expr(f"pair[{c.below(2)}]", low=-0.7, high=0.5)
    w.mark("float param")
    w.params[name] = "{type: float, default: 0.8}" if name == "scale" else "{type: float}"
    w.values[name] = 0.8 if name == "scale" else -0.4
    return Expr(name, low=-0.4, high=0.8)


def _index(w: World, scope: Scope) -> Expr:
    if not scope.indices:
        return _literal(w, scope)
    w.mark("index as a number")
    return Expr(w.choose.pick(scope.indices).name, low=0, high=4)


def _dim(w: World, scope: Scope) -> Expr:
    named = [s for s in w.sizes if s.text.isalpha()]
    if not named:
        return _literal(w, scope)
    w.mark("dim as a number")
    size = w.choose.pick(named)
    return Expr(size.text, low=0, high=size.value)


def _sum(w: World, scope: Scope, depth: int) -> Expr:
    a, b = floats(w, scope, depth - 1), floats(w, scope, depth - 2)
    if w.choose.chance(40):
        return Expr(f"{a.at(PLUS)} - {b.at(TIMES)}", PLUS, a.low - b.high, a.high - b.low)
    return Expr(f"{a.at(PLUS)} + {b.at(PLUS)}", PLUS, a.low + b.low, a.high + b.high)


def _product(w: World, scope: Scope, depth: int) -> Expr:
    a, b = floats(w, scope, depth - 1), floats(w, scope, depth - 2)
    ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Expr(f"{a.at(TIMES)}*{b.at(UNARY)}", TIMES, min(ends), max(ends))


def _quotient(w: World, scope: Scope, depth: int) -> Expr:
    a, b = floats(w, scope, depth - 1), positive(w, scope, depth - 2)
    return Expr(f"{a.at(TIMES)}/{b.at(UNARY)}", TIMES, -a.width / b.low, a.width / b.low)


def positive(w: World, scope: Scope, depth: int) -> Expr:
    """A value in [0.4, 3]."""
    c = w.choose
    inner = floats(w, scope, depth)
    shape = c.pick(("1.5 + sin({0})", "0.5 + square({0})", "0.4 + sigmoid({0})", "exp(0.5*tanh({0}))"))
    if shape.startswith("0.5") and inner.width > 1.5:
        shape = "0.5 + square(tanh({0}))"
    return Expr(shape.format(inner.text), ATOM if shape.startswith("exp") else PLUS, 0.4, 3)


def _unary(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    names = c.weighted(
        ((8, SMOOTH), (3, KINKED), (4, NARROW), (4, POSITIVE), (2, UNIT), (1, ("polygamma",)), (2, ("-",)))
    )
    name = c.pick(names)
    w.mark(f"function {name}")
    if names is POSITIVE:
        return call(name, positive(w, scope, depth - 1))
    if name == "polygamma":
        return Expr(f"polygamma(1, {positive(w, scope, depth - 1).text})", low=0, high=LIMIT)
    inner = floats(w, scope, depth - 1)
    if name == "-":
        return Expr(f"-{inner.at(UNARY)}", UNARY, -inner.high, -inner.low)
    if name == "sinc":  # at whole numbers rounding alone decides whether it is 0
        inner = Expr(f"{inner.at(PLUS)} + 0.37", PLUS, inner.low + 0.37, inner.high + 0.37)
    if names is NARROW:
        return call(name, tamed(w, inner, 1.6))
    if names is UNIT:
        return Expr(f"{name}(0.8*{call('tanh', inner).text})", low=-2, high=2)
    return call(name, inner, low=-inner.width - 1, high=inner.width + 1)


def _pair(w: World, scope: Scope, depth: int) -> Expr:
    name = w.choose.pick(PAIRS)
    w.mark(f"function {name}")
    a, b = floats(w, scope, depth - 1), positive(w, scope, depth - 2)
    if name == "lerp":
        return call(name, a, b, floats(w, scope, 0))
    if name in ("heaviside", "xlogy"):
        return call(name, a, b)
    return call(name, b, a) if name == "atan2" else call(name, a, b)


def _power(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    w.mark("**")
    if c.chance(50):
        inner = positive(w, scope, depth - 1)
        power = c.pick(("0.5", "-1", "1.5", "(-0.5)", "scale"))
        if power == "scale":
            w.params["scale"], w.values["scale"] = "{type: float, default: 0.8}", 0.8
        return Expr(f"{inner.at(ATOM)}**{power}", POWER, 0.1, 5.5)
    inner = tamed(w, floats(w, scope, depth - 1), 2)
    return Expr(f"{inner.at(ATOM)}**{c.pick((2, 3))}", POWER, -(inner.width**3), inner.width**3)


def _extreme(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    name = c.pick(("max", "min", "clamp"))
    w.mark(f"function {name}")
    a = floats(w, scope, depth - 1)
    if name == "clamp" and c.chance(70):
        return call(name, a, literal(-1), literal(1), low=-1, high=1)
    b = floats(w, scope, depth - 2)
    width = max(a.width, b.width, 1)
    if name == "clamp":
        return call(name, a, b, Expr(f"{b.at(PLUS)} + 1", PLUS), low=-width - 1, high=width + 1)
    return call(name, a, b, low=-width, high=width)


def _where(w: World, scope: Scope, depth: int) -> Expr:
    w.mark("where")
    condition = discrete.conditions(w, scope, depth - 1)
    a, b = floats(w, scope, depth - 1), floats(w, scope, depth - 2)
    return Expr(
        f"where({condition.text}, {a.text}, {b.text})", ATOM, min(a.low, b.low), max(a.high, b.high)
    )  # fmt: skip


def _guarded(w: World, scope: Scope, depth: int) -> Expr:
    """What may only be evaluated where a condition holds: an access, or a function outside of its domain."""
    c = w.choose
    w.mark("lazy where")
    other = floats(w, scope, depth - 2)
    fits = [
        (t, k, i)
        for t in w.tensors
        if t.kind == "float" and (scope.batch or not t.batched)
        for k, s in enumerate(t.shape)
        for i in scope.indices
        if isinstance(s, Size) and s.text == i.size.text and s.value > 0
    ]
    if fits and c.chance(60):
        t, k, i = c.pick(fits)
        items = ["..." if isinstance(s, str) else str(c.below(s.value)) if s.value else "" for s in t.shape]
        if all(items):
            size = i.size
            shift = c.pick((1, 2))
            if size.text.isdigit():  # an access that is out of range everywhere is a mistake, whatever guards it
                shift = min(shift, size.value - 1)
            if c.chance(50):
                items[k], test = f"{i.name} + {shift}", f"{i.name} + {shift} < {size.text}"
            else:
                items[k], test = f"{i.name} - {shift}", f"{i.name} >= {shift}"
            inner = f"{t.name}[{', '.join(items)}]"
            return Expr(f"where({test}, {inner}, {other.text})", ATOM, min(t.low, other.low), max(t.high, other.high))
    inner_ = leaf(w, scope)
    if not any(t.name in inner_.text for t in w.tensors):
        inner_ = Expr("shift", low=-0.4, high=-0.4)
        w.params["shift"], w.values["shift"] = "{type: float}", -0.4
    name = c.pick(("sqrt", "log"))
    return Expr(
        f"where({inner_.at(PLUS)} > 0.3, {name}({inner_.text}), {other.text})", ATOM, -2 - other.width, 3 + other.width
    )


def _number(w: World, scope: Scope, depth: int) -> Expr:
    """A condition or an integer in arithmetic."""
    c = w.choose
    if c.chance(50):
        w.mark("condition as a number")
        test = discrete.conditions(w, scope, depth - 1)
        a = floats(w, scope, depth - 2)
        return Expr(f"{a.at(TIMES)}*{test.at(ATOM)}", TIMES, -a.width, a.width)
    w.mark("integer as a number")
    whole = discrete.integers(w, scope, depth - 1)
    return Expr(f"0.5*{whole.at(UNARY)}", TIMES, -whole.width / 2, whole.width / 2)


def _local(w: World, scope: Scope, depth: int) -> Expr:
    """A local function: plain, with its true derivative stated, or with a surrogate."""
    c = w.choose
    made = {
        "plain": ("swish(v)", "v*sigmoid(v)"),
        "two": ("mix(v, u)", '{value: "v*exp(0.5*tanh(u))", derivative: {v: "exp(0.5*tanh(u))", '
                'u: "0.5*v*exp(0.5*tanh(u))*(1 - square(tanh(u)))"}}'),
        "true": ("bump(v)", '{value: "exp(-square(v))", derivative: "-2*v*exp(-square(v))"}'),
        "surrogate": ("spike(v)", '{value: "where(v > 0, 1, 0)", derivative: "1/(1 + abs(v))**2"}'),
    }  # fmt: skip
    which = c.pick(tuple(made))
    head, body = made[which]
    w.functions[head] = body
    w.mark("local function", *(() if which == "plain" else ("stated derivative",)))
    if which == "surrogate":
        w.mark("surrogate")
    a = floats(w, scope, depth - 1)
    args = (a, floats(w, scope, depth - 2)) if which == "two" else (a,)
    width = a.width * 1.7 if which == "two" else a.width if which == "plain" else 1
    return call(head.partition("(")[0], *args, low=-width, high=width)


def _transparent(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    inner = floats(w, scope, depth - 1)
    tensors = [t for t in w.tensors if t.kind == "float" and t.name.startswith(("x", "y", "z"))]
    if c.chance(50) and tensors:
        w.mark("cast")
        return Expr(f"cast({inner.text}, {c.pick(tensors).name})", ATOM, inner.low, inner.high)
    w.mark("detach")
    return Expr(f"detach({inner.text})", ATOM, inner.low, inner.high)
