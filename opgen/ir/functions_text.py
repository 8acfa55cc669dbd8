"""How scalar functions are written in the languages that code comes out in, where that is not the regular spelling.

Regular is `torch.name(args)` and, in the native headers, `rt::name(args)`. Each table maps a function to a format
string over its printed arguments, which stand alone between commas or parentheses, so that no printer has to guess
precedences inside a spelling.
"""

from __future__ import annotations

TORCH: dict[str, str] = {
    "cbrt": "torch.copysign(torch.pow(torch.abs({0}), 1 / 3), {0})",
    "max": "torch.maximum({0}, {1})",
    "min": "torch.minimum({0}, {1})",
    "clamp": "torch.clamp({0}, min={1}).clamp(max={2})",
    "relu": "torch.relu({0})",
    # torch's own is nan at -inf
    "silu": "torch.nn.functional.silu(torch.clamp({0}, min=-1e4))",
    "logsigmoid": "torch.nn.functional.logsigmoid({0})",
    # The default threshold of 20 costs half of float64's digits.
    "softplus": "torch.nn.functional.softplus({0}, threshold=50.0)",
    "log1mexp": (
        "torch.where(torch.lt({0}, 0.7), torch.log(-torch.expm1(torch.neg({0}))), "
        "torch.log1p(-torch.exp(torch.neg({0}))))"
    ),
    "decay": "torch.exp(torch.neg({0}))",
    "modulus": "torch.hypot({0}, {1})",
    "magnitude": "torch.maximum(torch.abs({0}), torch.abs({1}))",
    # pi*x overflows for the largest numbers
    "sinc": "torch.sinc(torch.clamp({0}, -1e38, 1e38))",
    "sinpi": "torch.sin(math.pi * torch.sub({0}, torch.round(torch.mul({0}, 0.5)), alpha=2))",
    # An infinity counts as even, as all large numbers are.
    "cospi": (
        "torch.cos(math.pi * torch.sub(torch.clamp({0}, -1e38, 1e38), "
        "torch.round(torch.clamp(torch.mul({0}, 0.5), -5e37, 5e37)), alpha=2))"
    ),
    "polygamma": "polygamma({0}, {1})",
    "fmod": "wide_fmod({0}, {1})",
    "remainder": "wide_remainder({0}, {1})",
    "erfcx": "torch.special.erfcx({0})",
    "i0e": "torch.special.i0e({0})",
    "i1e": "torch.special.i1e({0})",
    "bitand": "torch.bitwise_and({0}, {1})",
    "bitor": "torch.bitwise_or({0}, {1})",
    "bitxor": "torch.bitwise_xor({0}, {1})",
    "philox": "philox({0}, {1}, {2})",
    "uniform_of": "uniform_of({0})",
    "normal_of": "normal_of({0})",
    "int": "torch.trunc({0}).long()",
    "to_float8_e4m3fn": "rounded_to({0}, torch.float8_e4m3fn)",
    "to_float8_e5m2": "rounded_to({0}, torch.float8_e5m2)",
    "tofloat": "{0}.to(torch.get_default_dtype())",
}

TORCH_NUMBER: dict[str, str] = {
    "max": "torch.clamp({0}, min={1})",
    "min": "torch.clamp({0}, max={1})",
    "clamp": "torch.clamp({0}, {1}, {2})",
    "atan2": "torch.atan2({0}, torch.full_like({0}, {1}))",
    "hypot": "torch.hypot({0}, torch.full_like({0}, {1}))",
    "modulus": "torch.hypot({0}, torch.full_like({0}, {1}))",
    "magnitude": "torch.clamp(torch.abs({0}), min=abs({1}))",
    "logaddexp": "torch.logaddexp({0}, torch.full_like({0}, {1}))",
    "heaviside": "torch.heaviside({0}, torch.full_like({0}, {1}))",
    "lerp": "torch.add({0}, torch.rsub({0}, {1}) * ({2}))",
}

NATIVE: dict[str, str] = {
    "modulus": "rt::hypot({0}, {1})",
    "magnitude": "rt::max(rt::abs({0}), rt::abs({1}))",
    "int": "static_cast<int64_t>({0})",
    "detach": "({0})",
    "tofloat": "({0})",
    # `bitand` and its like are alternative tokens of C++, no names
    "bitand": "rt::bit_and({0}, {1})",
    "bitor": "rt::bit_or({0}, {1})",
    "uniform_of": "rt::uniform_of<opmath_t>({0})",
    "normal_of": "rt::normal_of<opmath_t>({0})",
    "bitxor": "rt::bit_xor({0}, {1})",
}

PYTHON: dict[str, str] = {
    "exp": "numbers.exp({0})",
    "exp2": "numbers.exp2({0})",
    "expm1": "numbers.expm1({0})",
    "log": "numbers.log({0})",
    "log2": "numbers.log2({0})",
    "log10": "numbers.log10({0})",
    "log1p": "numbers.log1p({0})",
    "sqrt": "numbers.sqrt({0})",
    "rsqrt": "numbers.rsqrt({0})",
    "cbrt": "math.cbrt({0})",
    "square": "numbers.square({0})",
    "reciprocal": "numbers.reciprocal({0})",
    "abs": "abs({0})",
    "hypot": "math.hypot({0}, {1})",
    "modulus": "math.hypot({0}, {1})",
    "magnitude": "numbers.larger(abs({0}), abs({1}))",
    "sin": "numbers.sin({0})",
    "cos": "numbers.cos({0})",
    "tan": "numbers.tan({0})",
    "asin": "numbers.asin({0})",
    "acos": "numbers.acos({0})",
    "atan": "math.atan({0})",
    "atan2": "math.atan2({0}, {1})",
    "sinh": "numbers.sinh({0})",
    "cosh": "numbers.cosh({0})",
    "tanh": "math.tanh({0})",
    "asinh": "math.asinh({0})",
    "acosh": "numbers.acosh({0})",
    "atanh": "numbers.atanh({0})",
    "relu": "numbers.larger({0}, 0.0)",
    "erf": "math.erf({0})",
    "erfc": "math.erfc({0})",
    "lgamma": "numbers.lgamma({0})",
    "copysign": "math.copysign({0}, {1})",
    "floor": "numbers.floor({0})",
    "ceil": "numbers.ceil({0})",
    "round": "numbers.nearest({0})",
    "trunc": "numbers.trunc({0})",
    "frac": "numbers.frac({0})",
    "int": "int({0})",
    "fmod": "numbers.fmod({0}, {1})",
    "remainder": "numbers.remainder({0}, {1})",
    "max": "numbers.larger({0}, {1})",
    "min": "numbers.smaller({0}, {1})",
    "clamp": "numbers.clamp({0}, {1}, {2})",
    "isnan": "math.isnan({0})",
    "isfinite": "math.isfinite({0})",
    "bitand": "(({0}) & ({1}))",
    "bitor": "(({0}) | ({1}))",
    "bitxor": "(({0}) ^ ({1}))",
    "detach": "({0})",
}

# What stands for the same where every argument is a whole number, which no rule of tensors is special about.
PYTHON_WHOLE: dict[str, str] = {
    "relu": "max({0}, 0)",
    "floor": "({0})",
    "ceil": "({0})",
    "round": "({0})",
    "trunc": "({0})",
    "int": "({0})",
    "remainder": "(({0}) % ({1}))",
    "max": "max({0}, {1})",
    "min": "min({0}, {1})",
    "clamp": "min(max({0}, {1}), {2})",
}

# ... and where the arguments are constants for which the function of the standard library is defined.
PYTHON_CONSTANT: dict[str, str] = {
    **{name: f"math.{name}({{0}})" for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin", "acos", "sinh",
        "cosh", "acosh", "atanh", "lgamma",
    )},
    "rsqrt": "(1 / math.sqrt({0}))",
    "square": "math.pow({0}, 2)",
    "reciprocal": "(1 / ({0}))",
    "relu": "max({0}, 0.0)",
    "max": "max({0}, {1})",
    "min": "min({0}, {1})",
    "clamp": "min(max({0}, {1}), {2})",
}  # fmt: skip

# In formulas of plain numbers alone (domains, initialisers), where Python's own errors say enough.
PLAIN: dict[str, str] = {
    **{f: f"math.{f}" for f in ("sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "floor", "ceil", "hypot")},
    **{f: f for f in ("abs", "min", "max", "int")},
}
