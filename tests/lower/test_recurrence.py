"""Recurrences: what they become, what they compute, their derivatives in every order, and mistakes."""

from __future__ import annotations

import random

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import Array, array, run
from opgen.ir.program import Kind, Recurrence
from opgen.ir.text import statement
from opgen.ir.verify import verify

from .specs import attempt, elementwise, lines, mistakes, program
from .test_scatter import judge

AX = "{a: {shape: [..., T]}, x: {shape: [..., T]}, h0: {}}"
LINEAR = "h[..., t] = a[..., t]*h[..., t - 1] + x[..., t]"


def noise(*shape: int) -> Array:
    total = 1
    for n in shape:
        total *= n
    rng = random.Random(total)
    return Array(shape, [rng.uniform(-1, 1) for _ in range(total)])


ARRAYS = {"a": noise(2, 4), "x": noise(2, 4), "h0": noise(2)}


def test_a_scan_and_its_gradient() -> None:
    p = verify(program(elementwise(f"h[..., -1] = h0\n{LINEAR}", AX)))
    assert lines(p) == [
        "h_start[...] = h0[...]",
        "along t < T: h[..., t < T] = a[..., t]*where(t == 0, h_start[...], h[..., t - 1]) + x[..., t]",
    ]
    a, x, h = ARRAYS["a"].data, ARRAYS["x"].data, list(ARRAYS["h0"].data)
    want = []
    for row in range(2):
        for t in range(4):
            h[row] = a[4 * row + t] * h[row] + x[4 * row + t]
            want.append(h[row])
    assert run(p, ARRAYS)["h"].data == pytest.approx(want)
    backward = adjoint(p)
    (loop,) = (s for s in backward.statements if isinstance(s, Recurrence) and s.reverse)
    assert statement(loop) == (
        "along t < T down: grad_h_1[..., t < T] = "
        "grad_h[..., t] + where(t + 1 < T, grad_h_1[..., t + 1]*a[..., t + 1], 0)"
    )
    judge(p, ARRAYS)


def test_where_nothing_else_says_so_indices_run_as_far_as_the_start_does() -> None:
    p = verify(program(elementwise("x[-1, i, a] = x0[i, a]\nx[t, i, a] = w[t]*x[t - 1, i, a]",
                                   "{x0: {shape: [V, D]}, w: {shape: [T]}}")))  # fmt: skip
    found = run(p, {"x0": noise(2, 3), "w": Array((4,), [2.0, 0.5, 1.0, 3.0])})["x"]
    assert found.shape == (4, 2, 3)
    assert found.data[-6:] == pytest.approx([3 * x for x in noise(2, 3).data])


@pytest.mark.parametrize(
    ("formula", "inputs", "arrays"),
    [
        (LINEAR, AX, ARRAYS),
        ("h[..., T] = h0\nh[..., t] = a[..., t]*h[..., t + 1] + x[..., t]", AX, ARRAYS),
        ("h[..., -1] = 2*h0\nh[..., t] = tanh(a[..., t]*h[..., t - 1] + x[..., t])*h[..., t - 1]", AX, ARRAYS),
        (
            "u[..., -1] = h0\nu[..., t] = u[..., t - 1]*a[..., t] + v[..., t - 1]\n"
            "v[..., t] = sin(u[..., t])*x[..., t] + v[..., t - 1]",
            AX,
            ARRAYS,
        ),
        (
            "v[..., t] = exp(u[..., t - 1])*x[..., t]\nu[..., t] = u[..., t - 1]*a[..., t] + v[..., t]\n"
            "y[...] = sum[t](u[..., t]*h0)",
            AX,
            ARRAYS,
        ),
        (
            "h[-1, i] = b[i]\nh[t, i] = tanh(sum[j](w[i, j]*h[t - 1, j]) + x[t, i])",
            "{w: {shape: [N, N]}, x: {shape: [T, N]}, b: {shape: [N]}}",
            {"w": noise(3, 3), "x": noise(4, 3), "b": noise(3)},
        ),
        (
            "h[t, i] = softmax[i](h[t - 1, i]*w[i] + x[t, i])",
            "{w: {shape: [N]}, x: {shape: [T, N]}}",
            {"w": noise(3), "x": noise(4, 3)},
        ),
        ("m[t] = max(m[t - 1], x[t])\nm[-1] = -3\ny = m[T - 1]*m[0]", "{x: {shape: [T]}}", {"x": noise(5)}),
        (
            "g[t] = x[t] + f[t - 1]\nf[t] = x[t]*g[t - 1] - max[i < 2](w[i]*f[t - 1])",
            "{x: {shape: [T]}, w: {shape: [2]}}",
            {"x": noise(5), "w": noise(2)},
        ),
    ],
)
def test_every_order(formula: str, inputs: str, arrays: dict[str, Array]) -> None:
    more = "outputs: [u, v]" if "v[..., t - 1]" in formula else ""
    judge(verify(program(elementwise(formula, inputs, more))), arrays)


def test_names_of_a_recurrence_have_indices_of_their_own_and_run_as_far_as_the_others() -> None:
    p = program(elementwise("y[t] = x[t] - d[t - 1]/2\nd[s] = y[s - 1]", "{x: {shape: [T]}}", "outputs: [y, d]"))
    found = run(verify(p), {"x": array([1.0, 2.0, 4.0, 8.0])})
    assert found["y"].data == [1.0, 2.0, 3.5, 7.0]
    assert found["d"].data == [0.0, 1.0, 2.0, 3.5]
    crossed = "a[t, s] = b[t - 1, s] + x[t, s]\nb[s, t] = a[s, t]*x[s, t]"
    q = program(elementwise(crossed, "{x: {shape: [T, D]}}", "outputs: [a, b]"))
    assert run(verify(q), {"x": array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])})["a"].data == [1, 2, 3, 3, 6, 11]
    judge(q, {"x": noise(3, 2)})


def test_reads_inside_do_not_count_and_declared_shapes_do() -> None:
    p = program(elementwise("f[t] = g[t - 1] + x[t]\ng[t] = f[t]", "{x: {shape: [T]}}"))
    assert [o.name for o in p.outputs] == ["f", "g"]
    q = program(elementwise("c[t] = c[t - 1] + x[0]", "{x: {shape: [N]}}", "outputs: {c: {shape: [N]}}"))
    assert run(q, {"x": array([2.0, 0.0, 0.0])})["c"].data == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(
    ("formula", "code", "marked"),
    [
        ("h[..., t] = h[..., t - 2] + h[..., 2*t] + x[..., t]", "OPG250", "h[..., 2*t]"),
        ("h[..., t] = h[..., t - 1] + h[..., t + 1] + x[..., t]", "OPG250", "h[..., t + 1]"),
        ("h[..., t] = h[..., t - 1] + h[..., 0] + x[..., t]", "OPG250", "h[..., 0]"),
        ("h[..., t] = h[..., t - 1] + h[..., t] + x[..., t]", "OPG219", "h[..., t]"),
        ("h[..., 0] = h0\nh[..., t] = h[..., t - 1] + x[..., t]", "OPG250", "h[..., 0]"),
        ("h[..., -1] = h0\nh[..., t] = h[..., t + 1] + x[..., t]", "OPG250", "h[..., -1]"),
        ("h[..., t] = h[..., t - 1] + x[..., t]\nh[..., t] += x[..., t]", "OPG250", "h[..., t]"),
        ("h[..., t] = h[..., t - 1] + q", "OPG205", "q"),
        ("h[t] = h[t - 1] + 1", "OPG214", "t"),
        ("u[..., t] = v[..., t - 1] + x[..., t]\nv[..., k] = u[..., 0]*x[..., k]", "OPG250", "u[..., 0]"),
        ("h[..., t] = cumsum[t](h[..., t - 1]) + x[..., t]", "OPG250", "h[..., t]"),
        ("h[..., t] = h[..., t - 1] + x[..., t]\nh[..., t] = x[..., t]", "OPG217", "h[..., t]"),
        ("h[..., -1] = x[..., 0]\nh[..., -1] = h0\nh[..., t] = h[..., t - 1] + x[..., t]", "OPG217", "h[..., -1]"),
        ("a2 = b2 + h0\nb2 = a2", "OPG219", "b2"),
    ],
)
def test_mistakes(formula: str, code: str, marked: str) -> None:
    assert mistakes(elementwise(formula, AX))[0] == (code, marked)


def test_a_circle_is_still_one() -> None:
    _, found = attempt(elementwise("a2 = c + h0\nb2 = a2\nc = b2", "[h0]"))
    assert [d.code for d in found] == ["OPG219"]


def test_a_stated_gradient_may_scatter_and_recur() -> None:
    text = elementwise(
        "y[t] = x[t] + w[ids[t]]",
        "{x: {shape: [T]}, w: {shape: [V]}, ids: {shape: [T], dtype: int}}",
        "backward: |\n  grad_w[ids[t]] += 2*grad_y[t]\n  grad_x[T] = 0\n  grad_x[t] = grad_y[t] + grad_x[t + 1]*0.5\n",
    )
    p = program(text)
    backward = verify(adjoint(p))
    given = {"w": noise(2), "ids": array([1, 0, 1]), "x": noise(3), "grad_y": array([1.0, 2.0, 4.0])}
    found = run(backward, {t.name: given[t.name] for t in backward.inputs})
    assert found["grad_w"].data == [4.0, 10.0]
    assert found["grad_x"].data == [3.0, 4.0, 4.0]


def test_other_positions_inside_a_recurrence() -> None:
    text = elementwise("h[t, i] = x[t, i] + h[t - 1, i//s]*h[t - 1, ids[i]]",
                       "{x: {shape: [T, N]}, ids: {shape: [N], dtype: int}}", "params: {s: {type: int}}")  # fmt: skip
    judge(verify(program(text)), {"x": noise(3, 3), "ids": array([2, 0, 2])}, {"s": 2})


def test_recurrences_may_be_written_into_one_another() -> None:
    formula = "p[t] = g[t - 1]/2 + x[t]\ng[t] = p[t]**2\nm[t] = m[t - 1]*g[t] + x[t]\ng2[t] = g[t] + m[t]"
    later = "p[t] = q[t - 1]/2 + x[t]\ng[t] = p[t]**2\nm[t] = m[t - 1]*g[t] + x[t]\nq[t] = g[t]\ng2[t] = g[t] + m[t]"
    x = array([1.0, 0.5, -1.0])
    apart, into = (program(elementwise(f, "{x: {shape: [T]}}", "outputs: [g2]")) for f in (formula, later))
    assert run(verify(into), {"x": x})["g2"].data == run(verify(apart), {"x": x})["g2"].data
    judge(into, {"x": noise(4)})


def test_a_start_runs_as_far_as_what_goes_on_from_it() -> None:
    formula = "h[b, -1, j] = where(j == 0, 1, -inf)\nh[b, t, j] = max(h[b, t - 1, j], x[b, t, j])"
    p = program(elementwise(formula, "{x: {shape: [B, T, J]}}"))
    assert run(verify(p), {"x": array([[[0.0, 3.0], [2.0, 1.0]]])})["h"].data == [1.0, 3.0, 2.0, 3.0]


@pytest.mark.parametrize("start", ["h[-1, i] = 0", "h[-1, i] = x[0, i]", ""])
def test_what_is_padded_is_padded_at_the_start_too(start: str) -> None:
    formula = f"{start}\nh[t, i] = pad(h[t - 1, i - 1], 5) + x[t, i]".strip()
    p = program(elementwise(formula, "{x: {shape: [T, N]}}"))
    first = [6.0, 3.0] if "x[0" in start else [6.0, 2.0]
    assert run(verify(p), {"x": array([[1.0, 2.0], [0.0, 1.0]])})["h"].data == [*first, 5.0, 7.0]
    judge(p, {"x": noise(3, 2)})
    q = program(elementwise(formula.replace("5)", "5*x[t, 0]/x[t, 0])"), "{x: {shape: [T, N]}}"))
    assert run(verify(q), {"x": array([[1.0, 2.0], [1.0, 1.0]])})["h"].data == [*first, 6.0, 7.0]


# --- kinds -----------------------------------------------------------------------------------------------------------

EACH = "{x: {shape: [T], dtype: int}, on: {shape: [T], dtype: bool}, r: {shape: [T]}}"


@pytest.mark.parametrize(
    ("formula", "kinds"),
    [
        ("h[t] = h[t - 1] + x[t]", "int"),
        ("h[-1] = 2\nh[t < 5] = 3*h[t - 1] + 1", "int"),
        ("h[t] = h[t - 1] or on[t]", "bool"),
        ("h[t] = where(on[t], t, h[t - 1])", "int"),
        ("h[-1] = 1\nh[t] = x[h[t - 1] + 0*x[t]]", "int"),
        ("h[-1] = true\nh[t] = h[t - 1] + x[t]", "int"),
        ("h[-1] = 0\nh[t] = 0.5*h[t - 1] + x[t]", "float"),
        ("h[t] = h[t - 1]/2 + x[t]", "float"),
        ("h[t] = max(h[t - 1], r[t])", "float"),
        ("h[t] = c[t - 1] + x[t]\nc[t] = h[t] > 3", "int bool"),
        ("h[t] = where(c[t - 1], r[t], h[t - 1])\nc[t] = h[t] > 3 and not c[t - 1]", "float bool"),
    ],
)
def test_the_kind_is_the_smallest_that_holds_starts_and_bodies(formula: str, kinds: str) -> None:
    names = ("h", "c")[: len(kinds.split())]
    p = verify(program(elementwise(formula, EACH, f"outputs: [{', '.join(names)}]")))
    assert [str(o.kind) for o in p.outputs] == kinds.split()


def test_sums_of_integers_are_exact() -> None:
    p = program(elementwise("h[t] = h[t - 1] + x[t]", "{x: {shape: [T], dtype: int}}"))
    found = run(p, {"x": array([2**60, 1, 1])})["h"].data
    assert found == [2**60, 2**60 + 1, 2**60 + 2]
    assert all(isinstance(v, int) for v in found)


def test_a_declared_float_stays_one() -> None:
    p = program(elementwise("h[t] = h[t - 1] + x[t]", EACH, "outputs: {h: {dtype: float}}"))
    assert p.kind_of("h") is Kind.FLOAT


@pytest.mark.parametrize(
    ("formula", "code", "marked"),
    [
        ("h[t] = not h[t - 1]", "OPG214", "t"),
        ("h[t] = h[t - 1] + q[t]", "OPG205", "q"),
        ("h[-1] = 0.5\nh[t] = h[t - 1] and on[t]", "OPG223", "h[t - 1]"),
        ("h[t] = r[h[t - 1]] + x[t]", "OPG223", "h[t - 1]"),
    ],
)
def test_mistakes_are_those_of_the_likeliest_kinds(formula: str, code: str, marked: str) -> None:
    assert mistakes(elementwise(formula, EACH, "outputs: [h]")) == [(code, marked)]
