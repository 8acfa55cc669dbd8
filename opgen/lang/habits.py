"""What people bring with them from other languages and libraries, and how the same is said in formulas: hints.

Words in, a line of help out. Nothing here changes what a formula means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from opgen.lang import densities, formulas
from opgen.schema.dtypes import FLOAT8, WHOLE

_LOOP = (
    "there are no loops: an index on the left runs over its whole dim, `sum[i](…)` adds up over one, and what goes on"
    " from the step before is a recurrence: `h[t] = a*h[t - 1] + x[t]`"
)
DOWNWARDS = _LOOP.replace("step before", "step behind").replace("h[t - 1]", "h[t + 1]")
_CHOICE = 'a choice is a guard at the end, `y = a if mode == "fast"`, or inside of a formula `where(condition, a, b)`'
FOR = "`for` is not part of the formula language"
ALONG = "an index on the left runs over its whole dim, and one that is reduced over stands in brackets: `sum[i](…)`"
CHOICE = "a choice is written `where(condition, a, b)`"
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
    "with": "leave this line away: a statement begins with the name that it assigns",
    "return": "name the result, `y = …`: the outputs are the names that nothing reads, or those listed under `outputs`",
})  # fmt: skip

SCATTER = "what comes together at computed positions is a scatter"
AT = f"{SCATTER}, a statement of its own: `y[ids[n]] += x[n]`"
PRODUCT = "a product over an index is written with its indices: `sum[k](a[i, k] * b[k, j])`"
TURNED = "an access names its indices in any order: `x[j, i]`"
JOIN = "join by position: `where(i < N, a[i], b[i - N])`, with the extent on the left: `y[i < N + M] = …`"
ALONG_EITHER = (
    "no axis is named, which elsewhere is the first one: {0}",
    "or, where the last one is meant: `{0}`",
)
_FILL = "write the number itself: it has whatever shape is needed"
_COUNT = "an index may be used as a number: `y[n] = n*x[n]`"
SIZE = "the size of a dim is its name, such as `N`"


WRITTEN = "write it out: "


def _written(formula: str) -> str:
    """The hint for a function that is another one's formula."""
    return f"{WRITTEN}`{formula}`"


def _transform(size: str, index: str, over: str, exponent: str, scale: str = "") -> str:
    """The hint for a Fourier transform."""
    line = f"z[..., {index} < {size}] = sum[{over}](x[..., {over}]*exp({exponent})){scale}"
    return (
        f"pass its result as an input of `dtype: complex`, or write the sum: `{line}`, where `N` is the last dim of `x`"
    )


def _long_names() -> dict[str, str]:
    """What functions are called in words, with how they are called here."""
    named = {
        **dict.fromkeys(("exponential", "exponent"), "exp"),
        **dict.fromkeys(("logarithm", "natural_log", "natural_logarithm"), "log"),
        **dict.fromkeys(("absolute", "absolute_value"), "abs"),
        **dict.fromkeys(("squareroot", "square_root", "root"), "sqrt"),
    }
    for word, short in (("sine", "sin"), ("cosine", "cos"), ("tangent", "tan")):
        named |= {word: short, f"hyperbolic_{word}": f"{short}h"}
        named |= dict.fromkeys((f"arc{word}", f"arc_{word}", f"inverse_{word}"), f"a{short}")
    return {word: f"it is called `{short}`" for word, short in named.items()}


def of_function(name: str) -> str:
    """What is said of a function that has no counterpart; nothing where nothing is known of it."""
    return FUNCTIONS.get(name, "") or (DRAWN.format(DRAWS[name]) if name in DRAWS else "")


def example(reduction: str) -> str:
    """A reduction as it is written here."""
    return f"`{reduction}[k](x[..., k])`"


# Functions of SciPy that no formula of a few others says, by their arguments.
_ELSEWHERE: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "x": ("erfi", "dawsn", "ellipk", "ellipe", "expi", "exp1", "spence"),
        "a, x": ("gammainc", "gammaincc", "zeta"),
        "v, x": ("jv", "yv", "iv", "kv", "ive", "kve"),
        "a, b, x": ("betainc", "hyp1f1"),
    }
)

# Functions that are called otherwise, or that indices replace.
FUNCTIONS: Mapping[str, str] = MappingProxyType({
    **{
        name: f"add it under `functions`: `{name}({args}): {{extern: {{numpy: scipy.special.{name}}}}}`"
        for args, names in _ELSEWHERE.items() for name in names
    },
    "percentile": "it is a quantile, whose share is between 0 and 1: `quantile[k](x[..., k], 0.9)`",
    **dict.fromkeys(("scan", "associative_scan", "fori_loop", "while_loop", "accumulate", "fold", "foldl"), _LOOP),
    **dict.fromkeys(("vmap", "pmap", "vectorize", "apply_along_axis"), f"a formula holds for each element: {ALONG}"),
    "ln": "the natural logarithm is `log`",
    "pad": "`pad` covers one access, whose positions say how far: `pad(x[n - 1], 0)`",
    "re": "the real part is `real(z)`",
    "im": "the imaginary part is `imag(z)`",
    **_long_names(),
    "arctan": "it is called `atan`",
    "arcsin": "it is called `asin`",
    "arccos": "it is called `acos`",
    "power": "write `x**y`",
    "fabs": "it is called `abs`",
    "logistic": "it is called `sigmoid`",
    "log_expit": "it is called `logsigmoid`",
    "sgn": "it is called `sign`",
    "clip": "it is called `clamp`",
    "swish": "it is called `silu`",
    **dict.fromkeys(("maximum", "amax"), "it is called `max`"),
    **dict.fromkeys(("minimum", "amin"), "it is called `min`"),
    **dict.fromkeys(("average", "avg"), "it is called `mean`"),
    "var": "`var[k](x[..., k])` divides by the count, without a correction",
    "std": "it is the root of `var`, which divides by the count, without a correction",
    **dict.fromkeys(("logical_and", "logical_or", "logical_not", "AND", "OR", "NOT"),
                    "write `a and b`, `a or b`, `not a`"),
    **dict.fromkeys(("stop_gradient", "stopgradient", "stop_grad", "stopgrad", "no_grad", "zero_grad", "sg", "freeze"),
                    "a value that is constant for derivatives is `detach(x)`"),
    **dict.fromkeys(("piecewise", "ifs", "IFS", "CHOOSE", "switch", "SWITCH", "case_when"),
                    f"{CHOICE}, one inside of another for more than two"),
    **dict.fromkeys(("IF", "If", "if", "IIF", "iif", "ifelse", "if_else"), CHOICE),
    "logaddexp2": _written("log2(exp2(a) + exp2(b))"),
    **dict.fromkeys(("fma", "addcmul"), "write `a*b + c`"),
    **dict.fromkeys(("nansum", "nanmean", "nanprod", "nanmax", "nanmin", "nanargmax", "nanargmin", "nanvar", "nanstd"),
                    "what is `nan` is left out by a choice, and a mean divides by the count of the others"),
    **dict.fromkeys(("nnz", "count_nonzero"), "count a condition: `count[k](x[k] != 0)`"),
    **dict.fromkeys(("sumsq", "SUMSQ", "sum_squares", "sum_of_squares"), "write `sum[k](x[k]**2)`"),
    **dict.fromkeys(("SUMPRODUCT", "sumproduct"), _written("sum[k](a[k]*b[k])")),
    **dict.fromkeys(("cov", "corrcoef", "corr"), "write it out: `mean[n]((x[n] - mx)*(y[n] - my))`"),
    "reduce": "a choices param of reductions is written like one: `reduction[...](…)`",
    **dict.fromkeys(("einsum", "matmul", "bmm", "mm", "mv", "dot", "inner", "outer", "tensordot"), PRODUCT),
    **dict.fromkeys(("transpose", "permute", "swapaxes", "movedim", "moveaxis", "adjoint", "T", "t"), TURNED),
    **dict.fromkeys(("reshape", "view", "flatten", "squeeze", "unsqueeze", "expand", "broadcast_to"),
                    "an access says which element is meant: `x[n, c*H + h]` reads a dim as two"),
    **dict.fromkeys(("cat", "concat", "concatenate", "stack", "hstack", "vstack"), JOIN),
    **dict.fromkeys(("chunk", "split", "tensor_split", "unbind"),
                    "a part of an axis is read by position: the second half is `y[n, d < D//2] = x[n, d + D//2]`, one"
                    " element `y[n] = x[n, 1]`"),
    **dict.fromkeys(("repeat", "tile", "expand_as", "repeat_interleave"),
                    "an index at which nothing is read repeats: `y[n, r < R, d] = x[n, d]`"),
    "rearrange": ("an access says which element is meant: of `'b t (h d) -> b h t d'` with `h=4` it is `y[b, h < 4, t,"
                  " d < D//4] = x[b, t, h*(D//4) + d]`; the size of one part of each group is given, such as `h=4`"),
    **dict.fromkeys(("zeros", "ones", "full", "zeros_like", "ones_like", "full_like"), _FILL),
    **dict.fromkeys(("arange", "range"), _COUNT),
    "linspace": "an index may be used as a number: from a to b in N steps it is `a + (b - a)*n/(N - 1)`",
    **dict.fromkeys(("size", "shape", "len", "numel"), SIZE),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "unfold"),
                    "a window is a sum: `y[d, n < N] = sum[c, r](pad(x[c, n + r - 1], 0)*w[d, c, r])`, of vectors "
                    "`y[n < N] = sum[r](pad(x[n + r - 1], 0)*w[r])`"),
    "convolve": _written("y[n < N + R - 1] = sum[r < R](pad(x[n - r], 0)*w[r])"),
    **dict.fromkeys(("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d", "max_pool", "avg_pool"),
                    "a window is a reduction: `y[c, p < N//2] = max[r < 2](x[c, 2*p + r])`"),
    "linear": "a product with its indices: `y[..., n] = sum[k](x[..., k]*w[n, k]) + b[n]`",
    **dict.fromkeys(("embedding", "gather", "index_select", "take", "take_along_dim"),
                    "read through the indices: `y[n, d] = table[ids[n], d]`"),
    **dict.fromkeys(("scatter", "scatter_add", "index_add", "segment_sum"),
                    "write through the indices: `y[ids[n]] += x[n]`, with the shape of `y` under `outputs`"),
    "bincount": "count: `y[b < B] = count[n](ids[n] == b)`",
    **dict.fromkeys(("searchsorted", "bucketize", "digitize"),
                    "count what is below: `y[n] = count[k](edges[k] < x[n])`"),
    "one_hot": "compare: `y[n, c < C] = where(c == t[n], 1, 0)`",
    **dict.fromkeys(("cross_entropy", "nll_loss"),
                    "`p[n, c] = log_softmax[c](x[n, c])`, then `loss = -mean[n](p[n, t[n]])`"),
    **dict.fromkeys(("argmax", "argmin"),
                    "a position counts along one index: over two dims it is `argmax[k < H*W](x[k//W, k%W])`"),
    **dict.fromkeys(("inv", "inverse", "pinv", "det", "logdet", "slogdet", "solve", "cholesky", "eig", "eigh",
                     "eigvalsh", "svd", "qr", "lstsq"),
                    "what takes a matrix as a whole is no formula: pass its result as an input, or let another library"
                    " compute the operator as a whole, `forward: {torch: package.function}`"),
    **{name: _written(formulas.plain(name)) for name in formulas.NAMES},
    "rfft": _transform("N//2 + 1", "k", "n", "complex(0, -2*pi*k*n/N)"),
    "fft": _transform("N", "k", "n", "complex(0, -2*pi*k*n/N)"),
    "ifft": _transform("N", "n", "k", "complex(0, 2*pi*k*n/N)", "/N"),
    "irfft": "pass its result as an input, or write the sum: `y[..., n < N] ="
             " real(sum[k](where(k == 0 or 2*k == N, 1, 2)*z[..., k]*exp(complex(0, 2*pi*k*n/N))))/N`, where `N` is the"
             " number of values, not of frequencies",
    **dict.fromkeys(("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn", "hfft", "ihfft",
                     "stft", "istft", "dct", "idct", "hilbert"),
                    "a transform of the whole is no formula: pass its result as an input, a spectrum as one of"
                    " `dtype: complex`, or write it as a sum of exponentials"),
    **dict.fromkeys(("gammaln", "loggamma"), "it is called `lgamma`"),
    **dict.fromkeys(("gamma", "tgamma"), "for positive numbers write `exp(lgamma(x))`"),
    **dict.fromkeys(("expit", "inv_logit", "invlogit", "ilogit"), "it is called `sigmoid`"),
    **dict.fromkeys(("log_inv_logit", "loginvlogit"), "it is called `logsigmoid`"),
    **dict.fromkeys(("multiply_log", "lmultiply"), "it is called `xlogy`"),
    "choose": f"{CHOICE}; the number of choices is `exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1))`",
    "log_mix": _written("logaddexp(log(p) + a, log1p(-p) + b)"),
    **dict.fromkeys(("rank", "rankdata"), "a rank, which equal values share, is"
                    " `y[n] = (count[m](x[m] < x[n]) + count[m](x[m] <= x[n]) + 1)/2`"),
    **dict.fromkeys((*densities.UNDRAWN, "poisson", "binomial", "negative_binomial"),
                    "no formula draws these numbers from a seed: pass them as an input"),
    "isinf": _written("abs(x) == inf"),
    **dict.fromkeys(("deg2rad", "radians"), _written("x*pi/180")),
    **dict.fromkeys(("rad2deg", "degrees"), _written("x*180/pi")),
    **dict.fromkeys(("mse_loss", "mse"), "write `mean[...]((x - t)**2)`"),
    "l1_loss": "write `mean[...](abs(x - t))`",
    **dict.fromkeys(("smooth_l1_loss", "huber_loss", "huber", "smooth_l1"),
                    _written("where(abs(x - t) < d, 0.5*(x - t)**2, d*(abs(x - t) - 0.5*d))")),
    **dict.fromkeys(("binary_cross_entropy_with_logits", "bce_with_logits", "bce_with_logits_loss",
                     "sigmoid_cross_entropy_with_logits", "sigmoid_binary_cross_entropy"),
                    _written("softplus(x) - x*t")),
    **dict.fromkeys(("binary_cross_entropy", "bce", "bce_loss"), _written("-(xlogy(t, p) + xlogy(1 - t, 1 - p))")),
    **dict.fromkeys(("kl_div", "kl_divergence", "kld"),
                    _written("sum[c](xlogy(t[n, c], t[n, c]) - t[n, c]*logp[n, c])")),
    **dict.fromkeys(("cosine_similarity", "cos_sim", "cosine_sim"),
                    _written("sum[d](x[n, d]*y[n, d])*rsqrt(sum[d](x[n, d]**2)*sum[d](y[n, d]**2))")),
    **dict.fromkeys(("pairwise_distance", "cdist", "pdist"), _written("sqrt(sum[d]((x[i, d] - y[j, d])**2))")),
    **dict.fromkeys(("scaled_dot_product_attention", "attention", "sdpa"),
                    "write it out: `p[..., i, j] = softmax[j](sum[d](q[..., i, d]*k[..., j, d])*scale)`, then"
                    " `y[..., i, e] = sum[j](p[..., i, j]*v[..., j, e])`"),
    **dict.fromkeys(("glu", "geglu", "swiglu"), "read both halves: `y[h < D//2] = sigmoid(x[h + D//2])*x[h]`"),
    "gumbel_softmax": _written("softmax[k]((x[n, k] - log(-log(uniform(seed))))/tau)"),
    "grid_sample": "a bilinear read is four reads with weights, at `int(floor(u[p]))` and one further",
    **dict.fromkeys(("rms_norm", "rmsnorm"), _written("x[..., k]*rsqrt(mean[k](x[..., k]**2) + eps)")),
    "roll": "a roll by `s` reads `x[(n - s) % N]`, which is `x[(n - 1) % N]` for 1",
    **dict.fromkeys(("flip", "fliplr", "flipud"), "write `x[N - 1 - n]`"),
    **dict.fromkeys(("tril", "triu"), "compare the indices: `where(j <= i, x[i, j], 0)`, and where a softmax leaves"
                    " something out `where(j <= i, x[i, j], -inf)`"),
    **dict.fromkeys(("diag", "diagonal"), "one index at both places: `x[i, i]`"),
    "cross": "component by component: `z[b, 0] = x[b, 1]*y[b, 2] - x[b, 2]*y[b, 1]`, and so on for 1 and 2",
    "trace": "it is the sum over one index at both places: `sum[i](x[i, i])`",
    "diff": "write `y[n < N - 1] = x[n + 1] - x[n]`",
    **dict.fromkeys(("trapz", "trapezoid"), "write `sum[n < N - 1]((y[n] + y[n + 1])/2*(x[n + 1] - x[n]))`"),
    **dict.fromkeys(("cumtrapz", "cumulative_trapezoid"),
                    "a recurrence: `s[n] = s[n - 1] + where(n > 0, (y[n - 1] + y[n])/2*(x[n] - x[n - 1]), 0)`"),
    "cummax": "a recurrence: `m[-1] = -inf`, then `m[t] = max(m[t - 1], x[t])`",
    "cummin": "a recurrence: `m[-1] = inf`, then `m[t] = min(m[t - 1], x[t])`",
    **dict.fromkeys(("cummean", "cum_mean", "cumulative_mean"), _written("cumsum[t](x[t])/(t + 1)")),
    **dict.fromkeys(("cumvar", "cum_var"), _written("(cumsum[t](x[t]**2)/(t + 1) - (cumsum[t](x[t])/(t + 1))**2)")),
    **dict.fromkeys(("cumstd", "cum_std"),
                    _written("sqrt(max(cumsum[t](x[t]**2)/(t + 1) - (cumsum[t](x[t])/(t + 1))**2, 0))")),
    **dict.fromkeys(("layer_norm", "batch_norm", "group_norm", "normalize"),
                    "write it out: `(x[..., k] - mean[k](x[..., k]))*rsqrt(var[k](x[..., k]) + eps)`"),
})  # fmt: skip
GRADIENTS = ("grad", "gradient", "jacobian", "jacrev", "jacfwd", "derivative", "nabla")
DRAWN = "random numbers are drawn from a seed: `{}`, with `inputs: {{seed: {{dtype: seed}}}}`"
SEEDED = "random numbers are drawn from a seed: `{}`"
DRAWS = MappingProxyType({
    **dict.fromkeys(("rand", "rand_like", "random"), "uniform(seed)"),
    **dict.fromkeys(("randn", "randn_like"), "normal(seed)"),
    "randint": "integer(seed, n)", "bernoulli": "uniform(seed) < p",
    "dropout": "where(uniform(seed) >= p, x/(1 - p), 0)",
    **{name: densities.draw_of(name, ["n"], {}) or family.drawn for name, family in densities.DRAWN.items()},
})  # fmt: skip
RANDOM = ("rand", "randn", "randint", "random", "dropout", "bernoulli", "rand_like", "randn_like", *densities.DRAWN)

# Constants of other languages.
_MISSING = (
    "what may be missing has `default: null`, and a formula says what holds without it: `where(given(p), a*p, a)`"
)
ABSENT = ("None", "null")
CONSTANTS = MappingProxyType({"True": "true", "False": "false", "Inf": "inf", "INF": "inf", "NaN": "nan", "PI": "pi"})
NAMES: Mapping[str, str] = MappingProxyType({
    "e": "the exponential function is `exp(x)`",
    **dict.fromkeys(ABSENT, _MISSING),
    **dict.fromkeys(("yes", "on"), "write `true`"),
    **dict.fromkeys(("no", "off"), "write `false`"),
    **{name: f"write `{meant}`" for name, meant in CONSTANTS.items()},
    "training": "declare it: `params: {training: {type: bool, default: true}}`",
})  # fmt: skip

# What stands in front of a dot.
MODULES = (
    "torch", "np", "numpy", "nn", "F", "math", "Math", "cmath", "jnp", "jax", "tf", "keras", "scipy", "special",
    "functional", "linalg", "fft", "autograd", "lax", "tfp", "cp", "cupy", "sp", "mx", "paddle", "xp",
)  # fmt: skip

# What is read behind a dot.
ATTRIBUTES: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(("T", "mT", "H", "mH"), TURNED),
    **dict.fromkeys(("shape", "ndim"), SIZE),
    "at": AT,
})  # fmt: skip
_BEFORE = ("prev", "previous", "old")
_LIKELY = "tslki"  # what the index is called that a recurrence goes along, the likeliest first


def along(index: str) -> int:
    """How late an index comes among those that a recurrence likely goes along."""
    return _LIKELY.find(index) % (len(_LIKELY) + 1)


def of_attribute(word: str, name: str, left: Sequence[str]) -> tuple[str, ...]:
    """What is said of an attribute of a tensor of this name, in a statement with such indices on the left."""
    if word in _BEFORE and name.isidentifier() and left:
        at = min((k for k, i in enumerate(left) if i != "..."), key=lambda k: along(left[k]), default=0)
        return (f"the step before is `{name}[{', '.join(f'{i} - 1' if k == at else i for k, i in enumerate(left))}]`",)
    return (ATTRIBUTES[word],) if word in ATTRIBUTES else ()


SLIDING: Mapping[str, Sequence[str]] = MappingProxyType({  # windows along an axis, with what is said behind the tensor
    "unfold": ("dim", "size", "step"),
    "sliding_window_view": ("size", "dim"),
})  # fmt: skip
METHODS: Mapping[str, str] = MappingProxyType({  # of data frames and of distributions
    "rolling": "windows are read from their first place on: `y[t < T - 2] = mean[r < 3](x[t + r])`",
    "ewm": "a recurrence: `y[-1] = x[0]`, then `y[t] = (1 - alpha)*y[t - 1] + alpha*x[t]`",
    "expanding": "what there is so far is a running sum or a recurrence: `y[t] = cumsum[t](x[t])/(t + 1)`",
    "cdf": "of the normal distribution it is `erfc(-x/sqrt(2))/2`",
    "pdf": "of the normal distribution it is `exp(-x**2/2)/sqrt(2*pi)`",
    **dict.fromkeys(("ppf", "icdf"), "of the normal distribution it is `sqrt(2)*erfinv(2*p - 1)`"),
    **dict.fromkeys(("log_prob", "logpdf"), "of the normal distribution it is `-x**2/2 - log(2*pi)/2`"),
})  # fmt: skip
LATEX: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys(("cdot", "times", "odot"), "a product is written `*`"),
    "frac": "a quotient is written `a/b`",
    "sum": "a sum over an index is written `sum[j](…)`",
    "prod": "a product over an index is written `prod[j](…)`",
    "sqrt": "a root is written `sqrt(x)`",
    **dict.fromkeys(("leq", "le"), "write `<=`"), **dict.fromkeys(("geq", "ge"), "write `>=`"),
    **dict.fromkeys(("neq", "ne"), "write `!=`"), "infty": "write `inf`", "pi": "write `pi`",
    **dict.fromkeys(("exp", "log", "sin", "cos", "tan", "tanh", "max", "min"), "a function is written without `\\`"),
})  # fmt: skip
PREFIXED = "a function stands before what it is applied to"
CONVERTING = ("float", "double", "half", "bfloat16", "to", "type", "astype", "type_as")
WIDER = "leave it away: half and bfloat16 are computed in float32 anyway, and rounded when they are stored"
DEFINED = "a definition is a statement of its own, above those that read it"
NO_ATTRIBUTES = "there are no attributes"
DTYPE = re.compile(r"(?P<whole>u?int\d+|int|long|short|byte)|(float|bfloat|complex)\d*|half|double|bool")
CASTS = (*WHOLE, *FLOAT8)  # dtypes that a value is rounded to by name
NO_DTYPES = (
    "no dtype of torch stands in a formula: `cast(e, t)` rounds to that of the tensor `t`, `cast(e, int8)` to 8 bits, "
    "`int(e)` gives an integer"
)
EACH = "operators and functions are applied to each element anyway: leave the `.` away"
DOTS = "an index runs from 0: `sum[i < 3](…)`, and a position may subtract: `x[n + i - 1]`"

MASKED = (
    "a mask is a condition for each element, and no position: `sum[n](where(m[n], x[n], 0))/count[n](m[n])` is the mean"
    " of what it keeps"
)
NO_AXIS = "an access holds what the tensor has, no place for a new axis: an index lines up by its name"
TUPLE = "several results are several statements; several indices stand side by side: `sum[i, j](…)`"
RESULTS = "the value and the place of a maximum are `v[n] = max[k](x[n, k])` and `i[n] = argmax[k](x[n, k])`"
ORDERED = (
    "the greatest of a row are read through its order: `order[n, e] = argsort[e](-x[n, e])`, then"
    " `indices[n, i < K] = order[n, i]` and `values[n, i < K] = x[n, order[n, i]]`"
)
COUNTED = "and say how many numbers there are: `params: {num_classes: int}`"
UNSAID = "and state how far `{0}` runs, `{0} < num_{0}` with `params: {{num_{0}: int}}`, say"
ENDLESS = (
    "nothing says how far `{0}` runs at most: state it, with `params: {{num_{0}: int}}`, say, and the limit in the"
    " body: `{1}`"
)
PLAIN = "a reduction binds plain indices"
NO_IF = "`if` is not part of the formula language"
OTHER_THAN = "`<>` is not an operator of the formula language"
POSITION = "a position is one integer, and how far an index runs is written where it is bound"
SLICE = (
    "`x[..., H:]` is `x[..., d + H]` with `d < D - H`; `x[:H]` is `y[h < H] = x[h]`, `x[1:]` is"
    " `y[t < T - 1] = x[t + 1]`, `x[::2]` is `y[p < N//2] = x[2*p]`"
)
ELEMENT = "only a tensor has elements: name the value in a statement of its own, and read that"


def over_lines(first: str, last: str) -> str:
    """The hint for a formula whose lines these are."""
    left, _, value = re.sub(r"^\s*(\w+:\s+)?", "", first).partition("=")
    end, guard, asked = last.strip().partition(" if ")
    shown = f": `{left}= ({value.strip()}` … `{end}){guard}{asked}`" if value.strip() else ""
    return f"a formula goes on over the end of a line only inside open brackets{shown}"


WHOLE_AXIS = "an element stands in brackets, and all of an axis is an index: `y[n] = sum[m](a[m, n])`"
COMMENT = "a comment begins with `#`"
COLON = "a formula has no `:`; a guard begins with `if`"
AXES = ("dim", "dims", "axis", "axes", "keepdim", "keepdims")  # what other libraries say for indices
KEPT = "leave it away: an index says which dims line up, so that `x[..., k] - mean[k](x[..., k])` needs nothing kept"
PICKING = ("where", "initial")  # names of arguments of reductions, whose values are formulas
KEYWORDS = (  # names of arguments
    *AXES, "beta", "alpha", "eps", "a_min", "a_max",
    "min", "max", "input", "other", "exponent", "p", "ord", "dtype", "unbiased", "correction", "ddof", "out",
    "descending", "stable", "inplace", "decimals", "base", "threshold", "negative_slope", "approximate",
    "weight", "weights", "reverse", "exclusive", *PICKING,
)  # fmt: skip
KEEPING = ("keepdim", "keepdims")  # axes with one element where they are reduced over
WITHOUT_MEANING = (*KEEPING, "unbiased", "correction", "dtype", "inplace", "out")
BY_INDEX = "an axis is named by its index: {0}"
NUMBERED = "axes are named by indices, not by numbers"
NO_SUCH = "`{0}` has no such argument: leave it away, or write out what it stands for"
