"""What statements compute though it is hardly meant: warnings, with an example of each."""

from __future__ import annotations

from opgen.diagnostics.catalogue.row import Code

ROWS = (
    Code(
        "OPG257",
        "A power of one that is divided",
        "`**` binds tighter than `/`, so that `x**1/2` is `(x**1)/2`, half of `x`. A root is a power whose exponent"
        " stands in brackets. A warning; the spec builds all the same.",
        "y = (x**2 + 1)**1/2",
        "y = (x**2 + 1)**(1/2)",
        given="inputs: [x]",
    ),
    Code(
        "OPG258",
        "Deviations that add up to 0",
        "A mean is the number from which deviations of either sign cancel: their sum and their mean are 0, but for"
        " rounding. How far values are from their mean is said by squares, as `var` does, or by magnitudes. A warning;"
        " the spec builds all the same.",
        "y[n] = mean[d](x[n, d] - mean[d](x[n, d]))",
        "y[n] = mean[d](square(x[n, d] - mean[d](x[n, d])))",
        given="inputs: {x: {shape: [N, D]}}",
    ),
    Code(
        "OPG259",
        "The imaginary part of what is real",
        "What is real has no imaginary part. Magnitudes and parts of complex numbers are real, and so is the product of"
        " a number and its conjugate. A warning; the spec builds all the same.",
        "p[d] = imag(conj(psi[d])*psi[d])",
        "p[d] = real(conj(psi[d])*psi[d])",
        given="inputs: {psi: {shape: [D], dtype: complex}}",
    ),
    Code(
        "OPG260",
        "In range for the least sizes only",
        "A position such as `i - j` over one dim, or `n - padding`, is in its tensor where the dim is 1 or the param"
        " 0, and outside for all others: such a call fails. So does each in which `x[t - d[t]]` is read where"
        " `d >= 1`, as `t` begins at 0. A warning; the spec builds all the same.",
        "y[i < N] = sum[j](x[i - j]*x[j])",
        "y[i < N] = sum[j](pad(x[i - j], 0)*x[j])",
        given="inputs: {x: {shape: [N]}}",
    ),
    Code(
        "OPG261",
        "A pair of an element with itself",
        "Where two indices run over one dim, they are equal somewhere: the difference is 0 there, and so is the"
        " distance. What divides by it is nan or infinite, and so is a sum over all pairs. `where` is lazy and leaves"
        " such pairs out, also in derivatives. A warning; the spec builds all the same.",
        "r[i, j] = norm[a](x[i, a] - x[j, a])\ny = sum[i, j](1/r[i, j])",
        "r[i, j] = norm[a](x[i, a] - x[j, a])\ny = sum[i, j](where(i != j, 1/r[i, j], 0))",
        given="inputs: {x: {shape: [N, 3]}}",
    ),
    Code(
        "OPG262",
        "Division by an index",
        "An index counts from 0: the first element is divided by 0 and is infinite or nan. The mean of the first"
        " `t + 1` elements is their sum divided by `t + 1`. A warning; the spec builds all the same.",
        "y[n, t] = cumsum[t](x[n, t]) / t",
        "y[n, t] = cumsum[t](x[n, t]) / (t + 1)",
        given="inputs: {x: {shape: [N, T]}}",
    ),
    Code(
        "OPG263",
        "The root of a squared sum",
        "The root of the square of a sum is its magnitude: elements of either sign cancel. The length of a vector is"
        " the root of the sum of squares, which `norm` is, too. A warning; the spec builds all the same.",
        "y[n] = sqrt(sum[d](x[n, d])**2)",
        "y[n] = sqrt(sum[d](x[n, d]**2))",
        given="inputs: {x: {shape: [N, D]}}",
    ),
    Code(
        "OPG264",
        "A divisor of one factor that looks like more",
        "`/` and `*` bind alike and from the left, so that `a / 2*b` is `(a/2)*b`, whatever the spaces say. A divisor"
        " of several factors stands in brackets. A warning; the spec builds all the same.",
        "y = exp(-x**2 / 2*s**2)",
        "y = exp(-x**2 / (2*s**2))",
        given="inputs: [x]\nparams: {s: float}",
    ),
    Code(
        "OPG265",
        "Division by a sum that is scattered",
        "A node without edges gets nothing: a sum that is scattered is 0 there, and the quotient nan or infinite. A"
        " warning; the spec builds all the same.",
        "degree[v < V] = 0\ndegree[to[e]] += 1\ny[v] = x[v] / degree[v]",
        "degree[v < V] = 0\ndegree[to[e]] += 1\ny[v] = x[v] / max(degree[v], 1)",
        given="inputs: {x: {shape: [V]}, to: {shape: [E], dtype: int, domain: 0 <= to < V}}",
    ),
    Code(
        "OPG266",
        "A domain past the end",
        "The domain of an integer input goes on where the tensor ends that it is a place of: places count from 0, and"
        " the last of `V` is `V - 1`. A call with the greatest value fails. A warning; the spec builds all the same.",
        "y[n, d] = table[ids[n], d]",
        "y[n, d] = table[ids[n] - 1, d]",
        given="inputs: {ids: {shape: [N], dtype: int, domain: 1 <= ids <= V}, table: {shape: [V, D]}}",
    ),
    Code(
        "OPG267",
        "A scatter that starts from what it cannot change",
        "What is multiplied into a tensor of zeros stays 0: a product starts at 1. `max=` leaves `inf` as it is, or 0"
        " beside what is never above it, and starts from `-inf`, as `min=` does from `inf`. A warning; the spec builds"
        " all the same.",
        "belief[v < V] = 0\nbelief[target[e]] *= message[e]",
        "belief[v < V] = 1\nbelief[target[e]] *= message[e]",
        given="inputs: {message: {shape: [E]}, target: {shape: [E], dtype: int, domain: 0 <= target < V},"
        " prior: {shape: [V]}}",
    ),
    Code(
        "OPG268",
        "A mask of 0 before a softmax",
        "`exp(0)` is 1, so that a score of 0 has a weight like any other: what is to be left out has the score `-inf`,"
        " whose weight is 0. A warning; the spec builds all the same.",
        "y[i, j] = softmax[j](where(j <= i, s[i, j], 0))",
        "y[i, j] = softmax[j](where(j <= i, s[i, j], -inf))",
        given="inputs: {s: {shape: [T, T]}}",
    ),
    Code(
        "OPG269",
        "Weights in front of what lacks their index",
        "The weights of a softmax add up to 1. Where nothing else in the sum has their index, the sum is what stands"
        " beside them, or 1, and the scores count for nothing. A warning; the spec builds all the same.",
        "y[i, d] = sum[j](softmax[j](s[i, j])*v[i, d])",
        "y[i, d] = sum[j](softmax[j](s[i, j])*v[j, d])",
        given="inputs: {s: {shape: [T, T]}, v: {shape: [T, D]}}",
    ),
    Code(
        "OPG270",
        "A bias inside a sum",
        "What does not have the index of a sum is added once for each of its elements. A bias stands behind the sum."
        " A warning; the spec builds all the same.",
        "y[o] = sum[i](w[o, i]*x[i] + b[o])",
        "y[o] = sum[i](w[o, i]*x[i]) + b[o]",
        given="inputs: {w: {shape: [O, I]}, x: {shape: [I]}, b: {shape: [O]}}",
    ),
    Code(
        "OPG271",
        "A small number behind a quotient",
        "A small number keeps a divisor from 0 where it is added to the divisor: `/` binds tighter than `+`. A warning;"
        " the spec builds all the same.",
        "y[d] = x[d] / norm[d](x[d]) + eps",
        "y[d] = x[d] / (norm[d](x[d]) + eps)",
        given="inputs: {x: {shape: [D]}}\nparams: {eps: {type: float, default: 1e-6}}",
    ),
    Code(
        "OPG272",
        "A missing input as a divisor",
        "An optional input that is not passed reads as 0, unless `absent` says otherwise: a quotient of it, or its"
        " logarithm, is infinite then. A warning; the spec builds all the same.",
        "y[n] = x[n] / w[n]",
        "y[n] = x[n] / w[n] if given(w)\ny[n] = x[n] if not given(w)",
        given="inputs: {x: {shape: [N]}, w: {shape: [N], optional: true}}",
    ),
    Code(
        "OPG273",
        "A diagonal along an index bound anew",
        "A reduction that binds an index of the left side hides that one: inside, the index is its own, and what has"
        " it twice is read along the diagonal. A warning; the spec builds all the same.",
        "y[i] = sum[i](a[i, i]*x[i]) + b[i]",
        "y[i] = sum[j](a[i, j]*x[j]) + b[i]",
        given="inputs: {a: {shape: [N, N]}, x: {shape: [N]}, b: {shape: [N]}}",
    ),
    Code(
        "OPG274",
        "A comparison with nan",
        "Nothing equals `nan`, not even itself: `isnan` asks for it. A warning; the spec builds all the same.",
        "y = where(x == nan, 0, x)",
        "y = where(isnan(x), 0, x)",
        given="inputs: [x]",
    ),
    Code(
        "OPG275",
        "A quotient, remainder or rounded number that is 0",
        "`//` rounds down, and an index is less than its extent: their quotient is 0 everywhere, as that of two numbers"
        " of which the lesser is above, and 1 divided by a size that is more. `/` makes a fraction; of a whole number"
        " `% 1` leaves nothing, either, and `int(uniform(seed))` is 0, too. A warning; the spec builds all the same.",
        "y[t, i < D] = p[t]*10**(-(i // D))",
        "y[t, i < D] = p[t]*10**(-(i / D))",
        given="inputs: {p: {shape: [T]}, x: {shape: [D]}}",
    ),
    Code(
        "OPG276",
        "Bounds the wrong way round",
        "`clamp(x, low, high)` with a lower bound above the upper one is the upper bound, whatever `x` is. Of bounds"
        " that are no numbers, such as `1 + eps` and `1 - eps`, domains may say so, or the defaults of params. What"
        " is bounded stands first: `clamp(0, 1, x)` bounds 0. A warning; the spec builds all the same.",
        "y = clamp(x, 240, -160)",
        "y = clamp(x, -160, 240)",
        given="inputs: [x]",
    ),
    Code(
        "OPG277",
        "Bounds beyond what a dtype holds",
        "A result that is stored as an integer ends where its dtype does: `int8` at 127, whatever greater bound its"
        " formula states. A warning; the spec builds all the same.",
        "y = clamp(round(x), 0, 255)",
        "y = clamp(round(x), -128, 127)",
        given="inputs: [x]\noutputs: {y: {dtype: int8}}",
    ),
    Code(
        "OPG278",
        "A parameter that nothing trains",
        "Conditions and roundings have no slope, so that the gradient of what they alone read is 0 everywhere: as a"
        " parameter of a module it stays what it was, as one does that says `differentiable: false`. A warning; the"
        " spec builds all the same.",
        "y = where(abs(x) > limit, x, 0)",
        "y = x*sigmoid(100*(abs(x) - limit))",
        given="inputs: {x: {shape: [...]}, limit: {shape: []}}\nmodule: {parameters: {limit: constant(0.1)}}",
    ),
    Code(
        "OPG279",
        "Fractions in a dtype of whole numbers",
        "What lies between -1 and 1 is rounded when it is stored as an integer, and next to nothing is left of it. A"
        " warning; the spec builds all the same.",
        "y = sigmoid(x)",
        "y = 255*sigmoid(x)",
        given="inputs: [x]\noutputs: {y: {dtype: uint8}}",
    ),
    Code(
        "OPG280",
        "A softmax of nothing",
        "Where a mask hides all of a row, its softmax is nan: as `j < i` does where `i` is 0. A warning; the spec"
        " builds all the same.",
        "y[i, j] = softmax[j](where(j < i, x[i, j], -inf))",
        "y[i, j] = softmax[j](where(j <= i, x[i, j], -inf))",
        given="inputs: {x: {shape: [N, N]}}",
    ),
    Code(
        "OPG281",
        "A recurrence that stays 0",
        "Where no start is given, a recurrence starts at 0; one whose steps are multiples of the one before stays"
        " there. A warning; the spec builds all the same.",
        "y[t] = y[t - 1]*(1 + x[t])",
        "y[-1] = 1\ny[t] = y[t - 1]*(1 + x[t])",
        given="inputs: {x: {shape: [T]}}\noutputs: [y]",
    ),
    Code(
        "OPG282",
        "A softmax of a softmax",
        "What a softmax gives are weights, and no scores: a second one makes them almost equal. A warning; the spec"
        " builds all the same.",
        "y[n, c] = log_softmax[c](softmax[c](x[n, c]))",
        "y[n, c] = log_softmax[c](x[n, c])",
        given="inputs: {x: {shape: [N, C]}}",
    ),
    Code(
        "OPG283",
        "A condition that is never true",
        "What no values meet always chooses the same: `j <= i and j > i`, or a value that is to be above itself. A"
        " warning; the spec builds all the same.",
        "y = sum[i, j](where(r[i] > r[i], x[i] - x[j], 0))",
        "y = sum[i, j](where(r[i] > r[j], x[i] - x[j], 0))",
        given="inputs: {x: {shape: [N]}, r: {shape: [N]}}",
    ),
    Code(
        "OPG284",
        "A value that is 0 because of a sign",
        "What is never above 0, such as `sigmoid(x) - 1`, has no positive part, no square root and no logarithm, and"
        " `x - x` is 0. A warning; the spec builds all the same.",
        "y = sign(x)*relu(-abs(x) - 1)",
        "y = sign(x)*relu(abs(x) - 1)",
        given="inputs: [x]",
    ),
    Code(
        "OPG285",
        "A term that a softmax cancels",
        "A softmax is the same whatever is added to all of its scores: a term without its index changes nothing, and"
        " has no gradient. What keeps `exp` in range, such as a maximum, is not told. A warning; the spec builds all"
        " the same.",
        "y[i, j] = softmax[j](x[i, j] - a*i)",
        "y[i, j] = softmax[j](x[i, j] - a*abs(i - j))",
        given="inputs: {x: {shape: [N, N]}, a: {shape: []}}",
    ),
    Code(
        "OPG286",
        "A condition that is always true",
        "A number is not 0 or not 9, whichever it is: where both are to hold they are joined by `and`. What all values"
        " meet always chooses the same, as `k >= 0` of an index does. A warning; the spec builds all the same.",
        "y = where(x != 0 or x != 9, x, -1)",
        "y = where(x != 0 and x != 9, x, -1)",
        given="inputs: {x: {dtype: int}}",
    ),
    Code(
        "OPG287",
        "Zero times infinity",
        "`0*inf` is nan: a mask of 0 and 1 times infinity hides nothing and spoils what it is added to. `where` chooses"
        " between infinity and 0. A warning; the spec builds all the same.",
        "y[n] = x[n] + (1 - m[n])*(-inf)",
        "y[n] = x[n] + where(m[n] != 1, -inf, 0)",
        given="inputs: {x: {shape: [N]}, m: {shape: [N], domain: 0 <= m <= 1}}",
    ),
    Code(
        "OPG288",
        "The sine of whole half turns",
        "The sine of a whole number times pi is 0, and what is left is rounding: a part of a turn is divided by how"
        " many parts there are. A warning; the spec builds all the same.",
        "y[k] = sum[n](x[n]*sin(pi*k*n))",
        "y[k] = sum[n](x[n]*sin(pi*k*n/N))",
        given="inputs: {x: {shape: [N]}}\noutputs: {y: {shape: [N]}}",
    ),
    Code(
        "OPG289",
        "A number that is 0 in float32",
        "Operators run in float32 by default, whose least number is 1.4e-45: `1e-50` adds nothing, is a bound of 0, and"
        " makes a product 0. Nothing is said where a `dtype` is `float64`. A warning; the spec builds all the same.",
        "y[n] = log(x[n] + 1e-50)",
        "y[n] = log(x[n] + 1e-12)",
        given="inputs: {x: {shape: [N], domain: x >= 0}}",
    ),
    Code(
        "OPG291",
        "A last element that is only a start",
        "A recurrence that goes down begins just outside of its extent: what stands at `T - 1` is none of the elements"
        " where the index runs below `T - 1`. Told where it reads what all elements read. A warning; the spec builds"
        " all the same.",
        "y[T - 1] = x[T - 1]\ny[t < T - 1] = 0.5*y[t + 1] + x[t]",
        "y[t < T] = where(t == T - 1, x[T - 1], 0.5*y[t + 1] + x[t])",
        given="inputs: {x: {shape: [T]}}",
    ),
)
