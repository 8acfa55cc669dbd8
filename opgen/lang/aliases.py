"""What functions of the language are called elsewhere, and calls that change nothing here."""

from __future__ import annotations

from types import MappingProxyType

ALIASES = MappingProxyType({
    "amax": "max", "amin": "min", "average": "mean", "absolute": "abs",
    **dict.fromkeys(("maximum", "fmax"), "max"), **dict.fromkeys(("minimum", "fmin"), "min"),
    "clip": "clamp", "arctan": "atan", "arctan2": "atan2", "arcsin": "asin", "arccos": "acos", "fabs": "abs",
    **dict.fromkeys(("stop_gradient", "stopgradient", "stop_grad", "stopgrad", "sg"), "detach"),
    **dict.fromkeys(("if", "ifelse", "if_else", "ifthenelse", "if_then_else", "iif", "iff", "cond", "select"), "where"),
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "fix": "trunc", "aint": "trunc", "ceiling": "ceil",
    "rint": "round", "nint": "round", "truncate": "trunc", "fract": "frac", "inversesqrt": "rsqrt", "mix": "lerp",
    "log_sigmoid": "logsigmoid", "logsoftmax": "log_softmax", "conjugate": "conj", "psi": "digamma", "expit": "sigmoid",
    **dict.fromkeys(("inv_logit", "invlogit", "ilogit"), "sigmoid"), "log_inv_logit": "logsigmoid",
    **dict.fromkeys(("multiply_log", "lmultiply"), "xlogy"),
    "sigm": "sigmoid", "square_root": "sqrt", "sqr": "square", "sq": "square", "is_nan": "isnan",
    "is_finite": "isfinite", "variance": "var", "stddev": "std", "std_dev": "std", "log_sum_exp": "logsumexp",
    "lse": "logsumexp", "cum_sum": "cumsum", "cum_prod": "cumprod", "gammaln": "lgamma", "loggamma": "lgamma",
    "mod": "remainder", "floormod": "remainder", "floor_mod": "remainder", "bitwise_and": "bitand",
    "bitwise_or": "bitor", "bitwise_xor": "bitxor", "true_divide": "div", "l2_norm": "norm", "l2norm": "norm",
    "vector_norm": "norm",
    "reduce_sum": "sum", "reduce_mean": "mean", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod",
    "reduce_logsumexp": "logsumexp", "reduce_any": "any", "reduce_all": "all", "reduce_std": "std",
    "reduce_variance": "var", "sgn": "sign", "logistic": "sigmoid", "swish": "silu", "int": "int", "long": "int",
    "ln": "log", "leakyrelu": "leaky_relu", "multiply": "mul", "divide": "div", "subtract": "sub", "mm": "matmul",
    "bmm": "matmul", "mv": "matmul", "dot": "matmul", "vdot": "matmul", "power": "pow",
})  # fmt: skip
SAME = (
    "float", "double", "half", "bfloat16", "asarray", "as_tensor", "from_numpy", "ascontiguousarray", "contiguous",
    "clone", "cpu", "cuda", "to", "type", "astype", "type_as", "numpy", "item", "squeeze", "requires_grad_",
    "float16", "float32", "float64", "tensor", "array", "copy", "deepcopy", "fp16", "fp32", "bf16",
)  # fmt: skip
