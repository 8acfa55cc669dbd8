"""Lines that are proposed with all that the spec says: in place of what is written, they build."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.lower.unused import unused
from opgen.schema.load import load
from tests.diagnostics.cures import built, diagnosed, follow, whole

SLOTS = (
    "inputs: {slot: {shape: [R, N], dtype: int, domain: slot >= 0}, count: {shape: [N]}}\n"
    "params: {width: {type: int, default: 64, domain: width > 0}}"
)
READ = (
    "inputs: {a: {shape: [N, M]}, b: {shape: [6]}, t: {shape: [N], dtype: int, domain: 0 <= t < M}}\n"
    "params: {w: {type: [float, float]}}"
)
SKETCH = "sketch[r, slot[r, n]] += count[n]"

FORMS = (
    "inputs: {x: {shape: [N]}, b: {shape: [N]}, c: {shape: [M]}, q: {shape: [N, N]}, a: {shape: [N, M]},"
    " z: {shape: [K, N]}}"
)

SPECS = [
    (
        whole(SLOTS, SKETCH),
        {"forward": "outputs: {sketch: {shape: [R, W]}}\ndims: {W: width}\nforward"},
    ),
    *(
        (whole(READ, f"y[n] = {wrong}"), {wrong: right})
        for wrong, right in (
            ("sum[m](a(n, m))", "sum[m](a[n, m])"),
            ("b(..., 3)*sum[m](a(n, :))", "b[3] * sum[m](a[n, m])"),
            ("w(1)*a(n, t(n)) + b(2)", "w[1] * a[n, t[n]] + b[2]"),
        )
    ),
    *(
        (whole(f"inputs: {{x: {{shape: [N]}}}}\nparams: {{red: {wrong}}}", *lines), {f"red: {wrong}": f"red: {right}"})
        for lines, wrong, right in (
            (["y = red[n](x[n])/N"], "{type: str, default: mean}", "{choices: [mean, sum, none], default: mean}"),
            (["h = red[n](x[n])", "y = 2*h"], "str", "{choices: [mean, sum]}"),
            (["y = red[n](x[n])"], "max", "{choices: [max, mean, sum, none], default: max}"),
            (["y = red[n](x[n])"], "{default: sum}", "{choices: [mean, sum, none], default: sum}"),
            (
                ["y = red[n](x[n])"],
                "{type: str, default: batchmean}",
                "{choices: [mean, sum, none], default: mean}",
            ),
        )
    ),
    (
        whole("inputs: [a, b]\nparams: {g: {type: [float, float]}}", "h = g[1]*a", "y = g[2]*b+h"),
        {"h = g[1]*a": "h = g[0]*a", "y = g[2]*b+h": "y = g[1]*b+h"},
    ),
    (whole("inputs: [a]\nparams: {g: {type: [float, float]}}", "y = g[0]*a + g[-1]"), {"g[-1]": "g[1]"}),
    *(
        (whole("inputs: {x: {shape: [..., H, W]}, w: {shape: [K]}}", *lines), {"\n  ".join(lines): right})
        for lines, right in (
            (
                ["p = pad(x, 1, 0)", "g[..., i, j] = p[..., i, j + 2] - p[..., i, j]"],
                "g[..., i, j < W] = pad(x[..., i, j + 1], 0) - pad(x[..., i, j - 1], 0)",
            ),
            (
                ["p = pad(x, K - 1)", "y[..., h, t] = sum[k](w[k]*p[..., h, t + k])"],
                "y[..., h, t < W + K - 1] = sum[k](w[k] * pad(x[..., h, t + k - K + 1], 0))",
            ),
            (
                ["p = pad(x, (2, 3), 1)", "y[..., h, t] = p[..., h + 1, t] + p[..., h, t + 2]"],
                "y[..., h < H + 4, t < W + 3] = pad(x[..., h - 1, t - 2], 1) + pad(x[..., h - 2, t], 1)",
            ),
        )
    ),
    *(
        (whole(FORMS, f"y{left} = {wrong}"), {f"y{left} = {wrong}": f"y{to} = {right}"})
        for left, wrong, to, right in (
            ("", "x' * q * x", "", "sum[n2](sum[n](x[n] * q[n, n2]) * x[n2])"),
            ("", "x.T @ q @ x", "", "sum[n2](sum[n](x[n] * q[n, n2]) * x[n2])"),
            ("", "-x'*q*x/2 + c'*c", "", "sum[n2](sum[n](-x[n] * q[n, n2]) * x[n2]) / 2 + sum[m](c[m] * c[m])"),
            ("", "(x - b)' @ q @ (x - b)", "", "sum[n2](sum[n]((x[n] - b[n]) * q[n, n2]) * (x[n2] - b[n2]))"),
            ("[k]", "z[k]' * q * z[k]", "[k]", "sum[n2](sum[n](z[k, n] * q[n, n2]) * z[k, n2])"),
            ("", "a'*x", "[m]", "sum[n](a[n, m] * x[n])"),
            ("", "x'*a*c", "", "sum[m](sum[n](x[n] * a[n, m]) * c[m])"),
            ("", "x'*x + a'[0, 1]", "", "sum[n](x[n] * x[n]) + a[1, 0]"),
            ("", "q*z'", "[n, k]", "sum[n2](q[n, n2] * z[k, n2])"),
        )
    ),
    (whole(SLOTS, SKETCH), {SKETCH: f"sketch[r < R, w < width] = 0\n  {SKETCH}"}),
]


@pytest.mark.parametrize(("text", "cure"), SPECS)
def test_what_is_proposed_builds(text: str, cure: dict[str, str]) -> None:
    follow(text, cure)


@pytest.mark.parametrize(
    ("fields", "statement", "unread"),
    [
        ("", "y = g[1]*x + g[2]", "g[0]"),
        ("", "y = g[1]*x", "g[0]` and `g[2]"),
        ("", "y = g[0]*x + g[1] + g[2]", ""),
        ('functions: {f(t): "g[0] + g[2]*t"}', "y = f(x)*g[1]", ""),
        ('  n: {type: int, default: 1, domain: "n > g[2]"}', "y = g[0]*x + g[1] + n", ""),
    ],
)
def test_an_element_of_a_list_that_nothing_reads_is_told(fields: str, statement: str, unread: str) -> None:
    text = whole(f"inputs: [x]\nparams:\n  g: {{type: [float, float, float]}}\n{fields}", statement)
    spec = load(Source("spec.yaml", text), Bag())
    assert spec is not None
    found = [w.message for w in unused(spec)]
    assert [m for m in found if f"`{unread}`" not in m] == []
    assert len(found) == (unread != "")


LOOPS = "inputs: {x: {shape: [...]}, w: {shape: [N]}}\nparams: {dt: float, n: {type: int, default: 3, domain: n > 0}}"


@pytest.mark.parametrize(
    ("lines", "cured"),
    [
        (
            ["k = x/9.81", "for i in range(5):", "    k = x/(9.81*tanh(k*dt))"],
            ["k[..., -1] = x/9.81", "k[..., i < 5] = x/(9.81*tanh(k[..., i - 1]*dt))", "y = k[..., 4]"],
        ),
        (
            ["y = x", "for i in range(10):", "    y = y + dt*sin(y)"],
            ["y[..., -1] = x", "y[..., i < 10] = y[..., i - 1] + dt*sin(y[..., i - 1])", "last = y[..., 9]"],
        ),
        (
            ["p = 2*x", "v = x - 1", "for _ in range(0, n):", "    v -= dt*p", "    p += dt*v", "z = p**2"],
            [
                "v[..., -1] = x - 1",
                "p[..., -1] = 2*x",
                "v[..., t < n] = v[..., t - 1] - dt*p[..., t - 1]",
                "p[..., t < n] = p[..., t - 1] + dt*v[..., t]",
                "z = p[..., n - 1]**2",
            ],
        ),
        (
            ["h[n1] = w[n1]", "for it in range(4):", "    g[n1] = 2*h[n1]", "    h[n1] = cos(g[n1]) + it  # a step"],
            [
                "h[n1, -1] = w[n1]",
                "g[n1, it < 4] = 2*h[n1, it - 1]",
                "h[n1, it < 4] = cos(g[n1, it]) + it",
                "y[n1] = h[n1, 3]",
            ],
        ),
        (
            ["h = 0", "for it in range(4):", "    h = h + sum[k](w[k])*h"],
            ["h[-1] = 0", "h[it < 4] = h[it - 1] + sum[k](w[k])*h[it - 1]", "y = h[3]"],
        ),
    ],
)
def test_a_loop_is_told_as_the_recurrence_that_it_is(lines: list[str], cured: list[str]) -> None:
    (found,) = diagnosed(whole(LOOPS, *lines))
    assert [line for line in cured if f"`{line}`" not in found.hints[0]] == []
    built(whole(LOOPS, *cured), warned=True)


@pytest.mark.parametrize(
    "lines",
    [
        ["h = x", "for i in range(1, 4):", "    h = cos(h)*i"],
        ["h = x", "for i in range(4):", "    h = cos(h) if i > 0 else h"],
        ["h = x", "for i in range(4):", "    h = w*h"],
        ["h = x", "for i in range(4):", "    h = cos(h)", "h = 2*h"],
        ["for i in range(4):", "    x = cos(x)"],
        ["p = 2*x", "v = p - 1", "for i in range(4):", "    v -= dt*p", "    p += dt*v"],
        ["h = x", "g = 2*h", "for i in range(4):", "    h = cos(h)*g"],
    ],
)
def test_a_loop_that_is_not_clear_is_told_in_general(lines: list[str]) -> None:
    assert "there are no loops" in diagnosed(whole(LOOPS, *lines))[0].hints[0]


@pytest.mark.parametrize("formula", ["x*b'", "x'*q[0, 0]*b'", "x*q'", "v'*v", "(a*c)'*x"])
def test_products_that_may_be_others_are_told_in_general(formula: str) -> None:
    fields = FORMS.replace("x: {", "v: {shape: [N], dtype: complex}, x: {") if "v" in formula else FORMS
    found = diagnosed(whole(fields, f"y = {formula}"))
    assert [h for d in found for h in d.hints if h.startswith("write")] == []
