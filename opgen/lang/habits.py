"""What people bring with them from other languages and libraries, and how the same is said in formulas: hints.

Words in, a line of help out. Nothing here changes what a formula means.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_LOOP = "there are no loops: an index on the left runs over its whole dim, and `sum[i](…)` adds up over one"
_CHOICE = 'a choice is a guard at the end, `y = a if mode == "fast"`, or inside of a formula `where(condition, a, b)`'
_FUNCTION = "a function of your own stands under `functions`: `swish(x): x*sigmoid(x)`"
_IMPORT = "nothing is imported; a function from elsewhere stands under `functions` with `extern`"

# The first words of statements of other languages.
STATEMENTS: Mapping[str, str] = MappingProxyType({
    "for": _LOOP,
    "while": _LOOP,
    "if": _CHOICE,
    "elif": _CHOICE,
    "else": _CHOICE,
    "def": _FUNCTION,
    "lambda": _FUNCTION,
    "import": _IMPORT,
    "from": _IMPORT,
    "return": "leave `return` away: the outputs are the names that nothing reads, or those listed under `outputs`",
})  # fmt: skip

_PRODUCT = "a product over an index is written with its indices: `sum[k](a[i, k] * b[k, j])`"
_ORDER = "an access names its indices in any order: `x[j, i]`"
_JOIN = "join by position: `where(i < N, a[i], b[i - N])`, with the extent on the left: `y[i < N + M] = …`"
_FILL = "write the number itself: it has whatever shape is needed"
_COUNT = "an index may be used as a number: `y[n] = n*x[n]`"
_SIZE = "the size of a dim is its name, such as `N`"

# Functions that are called otherwise, or that indices replace.
FUNCTIONS: Mapping[str, str] = MappingProxyType({
    "ln": "the natural logarithm is `log`",
    "arctan": "it is called `atan`",
    "arcsin": "it is called `asin`",
    "arccos": "it is called `acos`",
    "power": "write `x**y`",
    "fabs": "it is called `abs`",
    "logistic": "it is called `sigmoid`",
    "sgn": "it is called `sign`",
    "clip": "it is called `clamp`",
    "swish": "it is called `silu`",
    **dict.fromkeys(("maximum", "amax"), "it is called `max`"),
    **dict.fromkeys(("minimum", "amin"), "it is called `min`"),
    **dict.fromkeys(("average", "avg"), "it is called `mean`"),
    "std": "write `sqrt(var[k](…))`; `var` divides by the count, without a correction",
    **dict.fromkeys(("logical_and", "logical_or", "logical_not"), "write `a and b`, `a or b`, `not a`"),
    "reduce": "a choices param of reductions is written like one: `reduction[...](…)`",
    **dict.fromkeys(("einsum", "matmul", "bmm", "mm", "mv", "dot", "inner", "outer", "tensordot"), _PRODUCT),
    **dict.fromkeys(("transpose", "permute", "swapaxes", "movedim", "T", "t"), _ORDER),
    **dict.fromkeys(("reshape", "view", "flatten", "squeeze", "unsqueeze", "expand", "broadcast_to"),
                    "an access says which element is meant: `x[n, c*H + h]` reads a dim as two"),
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), _JOIN),
    **dict.fromkeys(("zeros", "ones", "full", "zeros_like", "ones_like", "full_like"), _FILL),
    **dict.fromkeys(("arange", "range", "linspace"), _COUNT),
    **dict.fromkeys(("size", "shape", "len", "numel"), _SIZE),
})  # fmt: skip
RANDOM = ("rand", "randn", "random", "dropout", "bernoulli", "normal", "uniform")

# Constants of other languages.
NAMES: Mapping[str, str] = MappingProxyType({
    "e": "the exponential function is `exp(x)`",
    "None": "what may be missing has `default: null`",
    "True": "write `true`",
    "False": "write `false`",
    "Inf": "write `inf`",
    "NaN": "write `nan`",
})  # fmt: skip

# What is read behind a dot.
ATTRIBUTES: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(("T", "mT", "H", "mH"), _ORDER),
    **dict.fromkeys(("shape", "ndim"), _SIZE),
})  # fmt: skip
NO_ATTRIBUTES = "there are no attributes"

TUPLE = "several results are several statements; several indices stand side by side: `sum[i, j](…)`"
SLICE = "an index runs over all of its dim: `x[n, 0]`, not `x[:, 0]`; for every second element `x[2*i]`"
UP_TO = "an extent is written `sum[i < N](…)`; for all up to `t` there are `cumsum[t](…)` and `cumprod[t](…)`"
ELEMENT = "only a tensor has elements: name the value in a statement of its own, and read that"
COLON = "a formula has no `:`; a guard begins with `if`"
AXES = ("dim", "dims", "axis", "axes", "keepdim", "keepdims")  # what other libraries say for indices
KEPT = "leave it away: an index says which dims line up, so that `x[..., k] - mean[k](x[..., k])` needs nothing kept"
