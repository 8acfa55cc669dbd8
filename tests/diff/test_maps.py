"""The transpose of accesses: random ones against brute force, and the forms that well-known ones take."""

from __future__ import annotations

import random

import pytest

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import run
from opgen.ir.program import Program, Scatter
from opgen.ir.text import statement
from opgen.ir.verify import verify
from tests.diff.random_maps import check, noise, random_case
from tests.lower.specs import elementwise, program

CONV = """
op: f
inputs: {x: {shape: [N, C, L]}, w: {shape: [O, C, K]}}
params: {stride: {type: int}, padding: {type: int}, dilation: {type: int}}
dims: {P: (L + 2*padding - dilation*(K - 1) - 1)//stride + 1}
outputs: {y: {shape: [N, O, P]}}
forward: "y[n, o, p] = sum[c, k](pad(x[n, c, p*stride + dilation*k - padding], 0)*w[o, c, k])"
"""


def judge(seeds: range) -> list[tuple[bool, bool]]:
    found = []
    for seed in seeds:
        rng = random.Random(seed)
        found.append(check(random_case(rng, symbolic=seed % 2 == 1), rng))
    return found


def test_random_maps_in_both_orders() -> None:
    found = judge(range(200))
    assert sum(second for _, second in found) < 40  # most need no scatter in either order


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 4000, 500))
def test_many_random_maps_in_both_orders(start: int) -> None:
    judge(range(start, start + 500))


def shown(p: Program, name: str) -> str:
    (s,) = (s for s in p.statements if s.target == name)
    return statement(s).partition(" = ")[2]


def test_convolution_needs_no_scatter_in_any_order() -> None:
    backward = adjoint(program(CONV))
    assert shown(backward, "grad_x") == (
        "sum[o < O, k < K](where((padding + l - k*dilation)%stride == 0 and ((padding + l - k*dilation)//stride >= 0 "
        "and (padding + l - k*dilation)//stride < P), grad_y[n, o, (padding + l - k*dilation)//stride]*w[o, c, k], 0))"
    )
    second = adjoint(backward)
    assert not any(isinstance(s, Scatter) for s in second.statements)
    assert shown(second, "grad_grad_y_grad_x") == (
        "sum[c < C, k < K](where(k*dilation + p*stride - padding >= 0 and k*dilation + p*stride - padding < L, "
        "grad_grad_x[n, c, k*dilation + p*stride - padding]*w[o, c, k], 0))"
    )


def test_a_maximum_over_windows_compares_the_element_itself() -> None:
    text = elementwise(
        "y[..., p < P] = max[r < size](pad(x[..., p*stride + r], -inf))",
        "{x: {shape: [..., K]}}",
        "params: {size: {type: int}, stride: {type: int}}\ndims: {P: (K - size)//stride + 1}",
    )
    assert "where(x[..., k] == y[..., (k - r)//stride]" in shown(adjoint(program(text)), "grad_x")


@pytest.mark.parametrize(
    ("formula", "inputs", "expected"),
    [
        (
            "y[..., k] = square(x[..., K - 1 - k])*s[k]",
            "{x: {shape: [..., K]}, s: {shape: [K]}}",
            "2*grad_y[..., K - 1 - k_1]*x[..., k_1]*s[K - 1 - k_1]",
        ),
        ("y[i] = exp(x[i, i])", "{x: {shape: [N, N]}}", "where(n == i, grad_y[i]*exp(x[i, i]), 0)"),
        (
            "y[c < D, h < 2*H] = x[2*c + h % 2, h//2]",
            "{x: {shape: [C, H]}}",
            "where(c_1//2 < D, grad_y[c_1//2, 2*h_1 + c_1%2], 0)",
        ),
        (
            "y[i < N - 1] = x[i + 1] - x[i]",
            "{x: {shape: [N]}}",
            "where(n - 1 >= 0, grad_y[n - 1], 0) + where(n < N - 1, -grad_y[n], 0)",
        ),
        ("y[p < P, r < 2] = x[2*p + r]", "{x: {shape: [N]}}", "where(n//2 < P, grad_y[n//2, n%2], 0)"),
        ("y[j < 2*N] = x[j//2]", "{x: {shape: [N]}}", "sum[r < 2](grad_y[2*n + r])"),
        ("y[j < m] = x[j % 3]", "{x: {shape: [3]}}", "sum[q < (m + 2)//3](where(i + 3*q < m, grad_y[i + 3*q], 0))"),
        ("y[i < 3] = x[0]", "{x: {shape: [N]}}", "sum[i < 3](where(0 == n, grad_y[i], 0))"),
    ],
)
def test_forms(formula: str, inputs: str, expected: str) -> None:
    dims = "dims: {D: C//2}" if "D" in formula else "dims: {P: N//2}" if "P" in formula else ""
    more = "params: {m: {type: int}}" if "< m" in formula else dims
    assert shown(adjoint(program(elementwise(formula, inputs, more))), "grad_x") == expected


def test_gathers_of_large_tables_scatter() -> None:
    p = program(elementwise("y[b, d] = w[ids[b], d]", "{w: {shape: [V, D]}, ids: {shape: [B], dtype: int}}"))
    assert isinstance(adjoint(p).statements[0], Scatter)


@pytest.mark.parametrize("position", ["i % clamp(n[...], 1, 3)", "i // clamp(n[...], 1, 3)"])
def test_digits_to_a_base_that_varies_are_no_loops(position: str) -> None:
    inputs = "{w: {shape: [3]}, x: {shape: [..., M]}, n: {shape: [...], dtype: int}}"
    backward = adjoint(program(elementwise(f"y[..., i] = w[{position}]*x[..., i]", inputs)))
    verify(adjoint(backward))
    assert isinstance(backward.statements[0], Scatter)


def test_pads_are_dropped_by_a_scatter() -> None:
    p = program(elementwise("y[b] = pad(w[ids[b]], 0)", "{w: {shape: [V]}, ids: {shape: [B], dtype: int}}"))
    (s,) = adjoint(p).statements
    assert statement(s) == "grad_w[v < V] = 0; pad(grad_w[ids[b]]) sum= over [b < B] of grad_y[b]"
    t = adjoint(adjoint(p)).statements[0]
    assert statement(t) == "grad_grad_y[b < B] = pad(grad_grad_w[ids[b]], 0)"


def test_pixel_shuffle_is_a_permutation_in_both_orders() -> None:
    text = """
    op: f
    inputs: {x: {shape: [N, C, H, W]}}
    params: {r: {type: int, domain: r >= 1}}
    dims: {D: C//(r*r), P: H*r, Q: W*r}
    outputs: {y: {shape: [N, D, P, Q]}}
    forward: "y[n, c, h, w] = x[n, c*r*r + (h % r)*r + w % r, h//r, w//r]"
    """
    p = program(text)
    backward = adjoint(p)
    assert shown(backward, "grad_x") == (
        "where(c_1//r//r < D, grad_y[n, c_1//r//r, h_1*r + c_1//r%r, w_1*r + c_1%r], 0)"
    )
    assert not any(isinstance(s, Scatter) for s in adjoint(backward).statements)
    rng = random.Random(3)
    x = noise(rng, (1, 9, 2, 1))
    found = run(backward, {"x": x, "grad_y": run(p, {"x": x}, {"r": 3})["y"]}, {"r": 3})
    assert found["grad_x"] == x
