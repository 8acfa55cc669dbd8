"""Complex numbers as pairs: every rule against Python's complex numbers, values and derivatives."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.complex_functions import COMPLEX
from opgen.ir.interp import Array, run
from opgen.ir.operator import Operator, Pair
from opgen.ir.text import program as text
from opgen.ir.verify import verify
from tests.lower.specs import attempt

POINTS = (0.3 + 0.4j, -1.2 + 0.7j, 1.5 - 2.1j, -0.6 - 0.9j, 0.2 - 0.1j, 2.5 + 0.1j, -2.2 - 0.2j)


def _sigmoid(z: complex) -> complex:
    return 1 / (1 + cmath.exp(-z))


PYTHON: dict[str, Callable[[complex], complex]] = {
    "exp": cmath.exp,
    "exp2": lambda z: 2**z,
    "expm1": lambda z: cmath.exp(z) - 1,
    "log": cmath.log,
    "log2": lambda z: cmath.log(z) / math.log(2),
    "log10": cmath.log10,
    "log1p": lambda z: cmath.log(1 + z),
    "sqrt": cmath.sqrt,
    "rsqrt": lambda z: 1 / cmath.sqrt(z),
    "square": lambda z: z * z,
    "reciprocal": lambda z: 1 / z,
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
    "asin": cmath.asin,
    "acos": cmath.acos,
    "atan": cmath.atan,
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "asinh": cmath.asinh,
    "acosh": cmath.acosh,
    "atanh": cmath.atanh,
    "sigmoid": _sigmoid,
    "silu": lambda z: z * _sigmoid(z),
}
BINARY: dict[str, Callable[[complex, complex], complex]] = {
    "z*w": lambda z, w: z * w,
    "z/w": lambda z, w: z / w,
    "z**w": lambda z, w: z**w,
    "z - w + 2": lambda z, w: z - w + 2,
    "z*conj(w)": lambda z, w: z * w.conjugate(),
    "z**3 - w**-2": lambda z, w: z**3 - w**-2,
    "z**1.5": lambda z, w: z**1.5,
    "2**w": lambda z, w: 2**w,
    "-z*w*z": lambda z, w: -z * w * z,
    "lerp(z, w, 0.25)": lambda z, w: z + 0.25 * (w - z),
    "where(z == w, 0, z/w)": lambda z, w: z / w,
    "complex(real(z), imag(w))": lambda z, w: complex(z.real, w.imag),
    "abs(z) + angle(w)": lambda z, w: abs(z) + cmath.phase(w),
    "square(abs(z*w))": lambda z, w: abs(z * w) ** 2,
    "sign(z)": lambda z, w: z / abs(z),
}


def operator(formula: str, inputs: str = "{z: {dtype: complex}, w: {dtype: complex}}", more: str = "") -> Operator:
    made, found = attempt(f"op: f\ninputs: {inputs}\n{more}forward: |\n  {formula}\n")
    assert made is not None, [d.message for d in found]
    for v in made.variants:
        verify(v.program)
    return made


def parts(name: str, values: tuple[complex, ...], shape: tuple[int, ...] | None = None) -> dict[str, Array]:
    shape = (len(values),) if shape is None else shape
    return {
        f"{name}_real": Array(shape, [v.real for v in values]),
        f"{name}_imag": Array(shape, [v.imag for v in values]),
    }


def whole(found: dict[str, Array], name: str) -> list[complex]:
    if f"{name}_real" not in found:
        return [complex(v) for v in found[name].data]
    pairs = zip(found[f"{name}_real"].data, found[f"{name}_imag"].data, strict=True)
    return [complex(re, im) for re, im in pairs]


def close(a: complex, b: complex, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(1.0, abs(b))


def test_every_function_is_compared() -> None:
    others = {"pow", "lerp", "sign", "detach", "abs", "isnan", "isfinite"}
    assert set(COMPLEX) == set(PYTHON) | others


@pytest.mark.parametrize("name", sorted(PYTHON))
def test_functions_and_their_gradients(name: str) -> None:
    p = operator(f"y = {name}(z)", "{z: {dtype: complex}}").variants[0].program
    arrays = parts("z", POINTS)
    f = PYTHON[name]
    for z, y in zip(POINTS, whole(run(p, arrays), "y"), strict=True):
        assert close(y, f(z), 1e-13), (z, y, f(z))
    cotangent = 0.7 - 0.3j
    found = run(verify(adjoint(p)), arrays | parts("grad_y", (cotangent,) * len(POINTS)))
    for z, g in zip(POINTS, whole(found, "grad_z"), strict=True):
        h = 1e-5
        slope = (f(z + h) - f(z - h)) / (2 * h)
        assert close(g, cotangent * slope.conjugate(), 1e-8), (z, g, slope)


@pytest.mark.parametrize("formula", sorted(BINARY))
def test_arithmetic_and_its_gradients(formula: str) -> None:
    p = operator(f"y = {formula} + 0*w + 0*z").variants[0].program
    second = POINTS[1:] + POINTS[:1]
    arrays = parts("z", POINTS) | parts("w", second)
    f = BINARY[formula]
    values = run(p, arrays)
    for z, w, y in zip(POINTS, second, whole(values, "y"), strict=True):
        assert close(y, f(z, w), 1e-12)
    cotangent = 0.7 - 0.3j
    found = run(verify(adjoint(p)), arrays | parts("grad_y", (cotangent,) * len(POINTS)))
    for k, name in enumerate(("z", "w")):
        for z, w, g in zip(POINTS, second, whole(found, f"grad_{name}"), strict=True):
            slopes = []
            for step in (1e-5, 1e-5j):
                high = f(z + step * (k == 0), w + step * (k == 1))
                low = f(z - step * (k == 0), w - step * (k == 1))
                change = (high - low) / 2e-5
                slopes.append(cotangent.real * complex(change).real + cotangent.imag * complex(change).imag)
            assert close(g, complex(*slopes), 1e-7)


@pytest.mark.parametrize(
    ("formula", "z", "w", "value"),
    [
        ("z/w", 3e200 + 3e200j, 1e200 + 1e200j, 3),
        ("z/w", 1e-300 + 1e-300j, 1e-300 - 1e-300j, 1j),
        ("abs(z)", 3e200 + 4e200j, 1, 5e200),
        ("tanh(z)", 800 + 1j, 1, 1),
        ("sigmoid(z)", -800 + 1j, 1, 0),
        ("sqrt(z)", complex(-4, 0.0), 1, 2j),
        ("sqrt(z)", complex(-4, -0.0), 1, -2j),
        ("sqrt(z)", 0j, 1, 0),
        ("log1p(z)", 1e-18 + 1e-20j, 1, 1e-18 + 1e-20j),
        ("expm1(z)", 1e-18 + 1e-20j, 1, 1e-18 + 1e-20j),
        ("sign(z)", 0j, 1, 0),
        ("z**w", 0j, 0j, 1),
    ],
)
def test_extremes(formula: str, z: complex, w: complex, value: complex) -> None:
    p = operator(f"y = {formula} + 0*w").variants[0].program
    (y,) = whole(run(p, parts("z", (complex(z),)) | parts("w", (complex(w),))), "y")
    assert abs(y - value) <= 1e-14 * max(abs(value), 1e-300)


@pytest.mark.parametrize("formula", ["abs(z)", "angle(z)", "sign(z)", "square(abs(z))", "abs(z)**3*z", "norm[...](z)"])
def test_gradients_at_zero_are_zero(formula: str) -> None:
    p = operator(f"y = {formula}", "{z: {dtype: complex}}").variants[0].program
    made = adjoint(p)
    cotangents = {t.name: Array((), [1.0]) if t.shape == () else Array((1,), [1.0]) for t in made.inputs}
    found = run(made, cotangents | parts("z", (0j,)))
    assert whole(found, "grad_z") == [0]


def test_reductions() -> None:
    z = POINTS[:6]
    arrays = parts("z", z, (2, 3))
    inputs = "{z: {shape: [..., K], dtype: complex}}"
    block = "\n  ".join(
        f"{name}[...] = {op}[k](z[..., k])" for name, op in (("s", "sum"), ("m", "mean"), ("p", "prod"), ("v", "var"))
    )
    block += "\n  n[...] = norm[k](z[..., k])\n  q[..., k] = cumprod[k](z[..., k])\n  c[..., k] = cumsum[k](z[..., k])"
    p = operator(block, inputs, "outputs: [s, m, p, v, n, q, c]\n").variants[0].program
    found = run(p, arrays)
    rows = (z[:3], z[3:])
    products = [[r[0], r[0] * r[1], r[0] * r[1] * r[2]] for r in rows]
    means = [sum(r) / 3 for r in rows]
    expected: dict[str, list[complex]] = {
        "s": [sum(r) for r in rows],
        "m": means,
        "p": [r[2] for r in products],
        "v": [sum(abs(x - m) ** 2 for x in r) / 3 for r, m in zip(rows, means, strict=True)],
        "n": [math.sqrt(sum(abs(x) ** 2 for x in r)) for r in rows],
        "q": [x for r in products for x in r],
        "c": [x for r in rows for x in (r[0], r[0] + r[1], sum(r))],
    }
    for name, values in expected.items():
        assert all(close(a, b, 1e-12) for a, b in zip(whole(found, name), values, strict=True)), name


def test_a_product_with_a_zero_has_a_gradient() -> None:
    p = operator("y = prod[k](z[k])", "{z: {shape: [K], dtype: complex}}").variants[0].program
    z = (0j, 1 + 2j, 3 - 1j)
    one = {"grad_y_real": Array((), [1.0]), "grad_y_imag": Array((), [0.0])}
    found = run(adjoint(p), parts("z", z) | one)
    assert whole(found, "grad_z") == [((1 + 2j) * (3 - 1j)).conjugate(), 0, 0]


def test_surface() -> None:
    o = operator(
        'y = z*b if kind == "full"\n  y = abs(z)*x if kind == "size"',
        "{z: {dtype: complex}, z_real: {}, b: {dtype: complex, optional: true, absent: 2}, x: {}}",
        "params: {kind: {choices: [full, size]}}\n",
    )
    assert o.pairs == (Pair("z", "z_real_2", "z_imag"), Pair("b", "b_real", "b_imag"), Pair("y", "y_real", "y_imag"))
    assert [t.name for t in o.operands] == ["z", "z_real", "b", "x"]
    assert o.maybe_none == ("b",)
    assert o.outputs == ("y_real", "y_imag")
    assert [c.name for c in o.variants[0].conditions] == ["b_real", "kind"]
    assert all([out.name for out in v.program.outputs] == ["y_real", "y_imag"] for v in o.variants)


def test_sums_of_products_stay_contractions() -> None:
    o = operator(
        "y[..., n] = sum[k](z[..., k]*conj(w[n, k]))",
        "{z: {shape: [..., K], dtype: complex}, w: {shape: [N, K], dtype: complex}}",
    )
    shown = text(o.variants[0].program)
    assert "sum[k < K](z_real[..., k]*w_real[n, k] + z_imag[..., k]*w_imag[n, k])" in shown
    assert shown.count(" = ") == shown.count("output") + 2


def test_recurrences_scatters_and_components() -> None:
    inputs = "{a: {dtype: complex, shape: [N]}, x: {shape: [T, N]}, i: {shape: [T], dtype: int}}"
    block = "h[t, n] = a[n]*h[t - 1, n] + x[t, n]\n  s[i[t], n] += a[n]*x[t, n]\n  c[n, 0] = a[n]\n  c[n, 1] = 1"
    p = operator(block, inputs, "outputs: {h: {}, s: {shape: [T, N]}, c: {shape: [N, 2]}}\n").variants[0].program
    a, x = (0.5 + 0.5j, -1j), [1.0, 2.0, 3.0, 4.0]
    found = run(p, parts("a", a) | {"x": Array((2, 2), list(x)), "i": Array((2,), [1, 1])})
    assert whole(found, "h") == [1, 2, a[0] + 3, 2 * a[1] + 4]
    assert whole(found, "s") == [0, 0, 4 * a[0], 6 * a[1]]
    assert whole(found, "c") == [a[0], 1, a[1], 1]


def test_stated_gradients() -> None:
    made, _ = attempt(
        "op: f\ninputs: {z: {dtype: complex}}\nforward: y = abs(z)*z\nbackward: grad_z = 2*conj(z)*grad_y\n"
    )
    assert made is not None
    p = made.variants[0].program
    assert p.override.inputs == ("z_real", "z_imag")
    found = run(adjoint(p), parts("z", (1 + 2j,)) | parts("grad_y", (3 - 1j,)))
    assert whole(found, "grad_z") == [2 * (1 - 2j) * (3 - 1j)]
