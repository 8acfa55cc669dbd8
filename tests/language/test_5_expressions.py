"""Section 5 of the language page: literals, operators, positions, reductions, index operators."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from .sections import Build, Refused, Works, ints, pointwise, randn, refused, works

V = randn(4, 5)
INF, NAN = torch.inf, torch.nan


def along(construct: str, formula: str, expected: Any, x: torch.Tensor = V, *, keeps: bool = False) -> Works:
    """A reduction or an index operator along the last dim."""
    target = "y[..., k]" if keeps else "y[...]"
    spec = f"op: a\ninputs: {{x: {{shape: [..., K]}}}}\nforward: |\n  {target} = {formula}\n"
    return Works(construct, spec, expected, (x,), gradients=x.numel() > 0 and expected(x).is_floating_point())


N7, N3 = ints(-7, -3, 0, 3, 7), ints(2, -2, 5, 2, -4)


@works(
    pointwise("literals", "x*1.5 + 2e-1 + where(true, 1, 0)", lambda x: x * 1.5 + 1.2, randn(3)),
    pointwise("constants", "min(max(x*pi, -inf), inf)", lambda x: x * math.pi, randn(3)),
    pointwise("nan", "where(x > 0, nan, x)", lambda x: torch.where(x > 0, NAN, x), randn(5), gradients=False),
    pointwise("precedence", "-x**2 + 3*x - x/2", lambda x: -(x**2) + 3 * x - x / 2, randn(3)),
    pointwise("floor_division_of_integers", "x//z", lambda x, z: x // z, N7, N3, gradients=False),
    pointwise("remainder_takes_the_sign_of_the_divisor", "x % z", lambda x, z: x % z, N7, N3, gradients=False),
    pointwise("floor_division_of_floats", "x//0.3", lambda x: torch.floor(x / 0.3), randn(9), gradients=False),
    pointwise("remainder_of_floats", "x % 0.3", lambda x: torch.remainder(x, 0.3), randn(9)),
    pointwise("division_of_integers_is_a_float", "x/z", lambda x, z: x / z, N7, N3, gradients=False),
    pointwise("comparison_gives_a_bool", "x > 0", lambda x: x > 0, randn(5), gradients=False),
    pointwise("chained_comparison", "-1 < x <= 0.5", lambda x: (x > -1) & (x <= 0.5), randn(9), gradients=False),
    pointwise(
        "logic",
        "not (x > 0 and z > 0 or x < -1)",
        lambda x, z: ~((x > 0) & (z > 0) | (x < -1)),
        randn(9),
        randn(9, seed=1),
        gradients=False,
    ),
    pointwise("bool_in_arithmetic", "x*(x > 0) + (x < 0)", lambda x: x * (x > 0) + (x < 0).double(), randn(9)),
    pointwise(
        "where_is_lazy_in_every_derivative",
        "where(x > 0, sqrt(x), 0)*where(x == 0, 1, sin(x)/x)",
        lambda x: torch.where(x > 0, x.clamp(min=1e-300).sqrt(), 0) * torch.sinc(x / math.pi),
        torch.tensor([1.0, 2.0, 0.5]).double(),
    ),
    pointwise(
        "bit_operations",
        "bitand(x, 6) + bitor(x, 1)*bitxor(x, 3)",
        lambda x: (x & 6) + (x | 1) * (x ^ 3),
        N7,
        gradients=False,
    ),
    pointwise("detach", "x*detach(x)", lambda x: x * x.detach(), randn(3)),
    Works(
        "integers_keep_the_precision_of_floats",
        "op: a\ninputs: {x: {}, z: {dtype: int}}\nparams: {p: {type: float, default: 0.1}}\n"
        "forward: y = p*z*x + (p + z)*x\n",
        lambda x, z: 0.1 * x * z + (0.1 + z.double()) * x,
        (randn(5), N7),
    ),
)
def test_elements(build_operator: Build, case: Works) -> None:
    case.check(build_operator)


def test_nothing_leaks_from_the_branch_not_taken(build_operator: Build) -> None:
    op = build_operator(
        "op: lazy\ninputs: [x]\nforward: y = where(x > 0, sqrt(x)*log(x), 0) + where(x == 0, 1, 1/x)\n"
    ).lazy
    x = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(op(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.isfinite().all()
    assert second.isfinite().all()
    assert (first[0], second[0]) == (0, 0)


@pytest.mark.parametrize(
    "formula",
    ["where(N == 0, s, square(x[..., N - 1]))", "where(N > 0, square(x[..., 0]), s)", "where(N < 2, s, x[..., 1]**2)"],
)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_size_chooses_lazily_in_every_derivative(build_operator: Build, formula: str, n: int) -> None:
    op = build_operator(
        f"op: chosen\ninputs: {{x: {{shape: [..., N]}}, s: {{shape: [...]}}}}\nforward: y = {formula}\n"
    ).chosen
    x, s = randn(2, n).requires_grad_(), randn(2).requires_grad_()
    assert torch.autograd.gradcheck(op, (x, s), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(op, (x, s), check_fwd_over_rev=True)


def test_nothing_leaks_through_a_statement_that_the_branch_reads(build_operator: Build) -> None:
    op = build_operator(
        "op: pairs\ninputs: {x: {shape: [N]}}\nparams: {s: {type: float, default: 1.1}}\nforward: |\n"
        "  r2[i, j] = (x[i] - x[j])**2\n  s6[i, j] = (s**2/r2[i, j])**3\n"
        "  e = sum[i, j](where(i < j and r2[i, j] < 9, 4*(s6[i, j]**2 - s6[i, j]), 0))\n"
    ).pairs
    x = torch.tensor([0.0, 1.0, 2.5], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(op, (x,))


def test_nothing_comes_from_two_impossible_paths(build_operator: Build) -> None:
    op = build_operator("op: paths\ninputs: [x, z]\nforward: y = logaddexp(x, z)\n").paths
    x = torch.tensor([-INF, 0.0, 1.0], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([-INF, -INF, 1.0], dtype=torch.float64, requires_grad=True)
    found = torch.autograd.grad(op(x, z).sum(), (x, z))
    assert [g.tolist() for g in found] == [[0.0, 1.0, 0.5], [0.0, 0.0, 0.5]]


S = "op: a\ninputs: {x: {shape: [N]}}\n"


@works(
    Works("shifted", S + "forward: |\n  y[i < N - 1] = x[i + 1] - x[i]\n", torch.diff, (randn(5),)),
    Works("reversed", S + "forward: |\n  y[i < N] = x[N - 1 - i]\n", lambda x: x.flip(0), (randn(5),)),
    Works("strided", S + "forward: |\n  y[i < N//2] = x[2*i]\n", lambda x: x[::2][:2], (randn(5),)),
    Works("quotient", S + "forward: |\n  y[i < 2*N] = x[i//2]\n", lambda x: x.repeat_interleave(2), (randn(4),)),
    Works("remainder", S + "forward: |\n  y[i < 3*N] = x[i % N]\n", lambda x: x.repeat(3), (randn(4),)),
    Works(
        "an_input_called_window",
        "op: a\ninputs: {x: {shape: [N]}, window: {shape: [K]}}\n"
        "forward: |\n  y[i < N//2, k < K] = window[k]*pad(x[2*i + k], 0)\n",
        lambda x, window: window * torch.nn.functional.pad(x, (0, 1)).unfold(0, 3, 2),
        (randn(6), randn(3)),
    ),
    Works("rolled", S + "forward: |\n  y[i < N] = x[(i - 2) % N]\n", lambda x: x.roll(2), (randn(5),)),
    Works(
        "pixel_shuffle",
        "op: a\ninputs: {x: {shape: [..., 4, H, W]}}\nforward: |\n"
        "  y[..., p < 2*H, q < 2*W] = x[..., (p % 2)*2 + q % 2, p//2, q//2]\n",
        lambda x: torch.nn.functional.pixel_shuffle(x, 2)[:, 0],
        (randn(2, 4, 3, 2),),
    ),
    Works(
        "diagonal", "op: a\ninputs: {x: {shape: [N, N]}}\nforward: |\n  y[i] = x[i, i]\n", torch.diag, (randn(4, 4),)
    ),
    Works(
        "gathered",
        "op: a\ninputs: {table: {shape: [V, D]}, ids: {shape: [...], dtype: int, domain: 0 <= ids < V}}\n"
        "forward: |\n  y[..., d] = table[ids[...], d]\n",
        lambda t, i: t[i],
        (randn(5, 3), ints([0, 4, 4], [1, 2, 0])),
    ),
    Works(
        "gathered_twice",
        "op: a\ninputs: {x: {shape: [N]}, i: {shape: [N], dtype: int}, j: {shape: [M], dtype: int}}\n"
        "forward: |\n  y[m] = x[i[j[m]]]\n",
        lambda x, i, j: x[i[j]],
        (randn(4), ints(3, 1, 0, 2), ints(0, 0, 3)),
    ),
    Works(
        "truncated_position",
        "op: a\ninputs: {grid: {shape: [G]}, u: {shape: [N]}}\nforward: |\n"
        "  f[n] = u[n]*(G - 1)\n  i[n] = int(f[n])\n"
        "  y[n] = lerp(grid[i[n]], pad(grid[i[n] + 1], 0), f[n] - i[n])\noutputs: [y]\n",
        lambda g, u: g[(u * 4).long()].lerp(torch.cat([g, g.new_zeros(1)])[(u * 4).long() + 1], (u * 4).frac()),
        (randn(5), torch.tensor([0.1, 0.3, 0.8, 0.99]).double()),
    ),
    Works(
        "padded",
        S + "forward: |\n  y[i < N] = pad(x[i - 2], 7)\n",
        lambda x: torch.cat([torch.full((2,), 7.0).double(), x[:-2]]),
        (randn(5),),
    ),
    Works(
        "padded_stencil",
        S + "forward: |\n  y[i] = pad(x[i - 1], 0) - 2*x[i] + pad(x[i + 1], 0)\n",
        lambda x: torch.nn.functional.conv1d(x[None, None], torch.tensor([[[1.0, -2.0, 1.0]]]).double(), padding=1)[
            0, 0
        ],
        (randn(5),),
    ),
    Works("index_as_a_number", S + "forward: |\n  y[i] = x[i]*i\n", lambda x: x * torch.arange(5), (randn(5),)),
    Works(
        "triangular",
        "op: a\ninputs: {x: {shape: [N, N]}}\nforward: |\n  y[i, j] = where(j <= i, x[i, j], 0)\n",
        torch.tril,
        (randn(4, 4),),
    ),
)
def test_positions(build_operator: Build, case: Works) -> None:
    case.check(build_operator)


def test_negative_positions_do_not_wrap(build_operator: Build) -> None:
    op = build_operator(
        "op: before\ninputs: {x: {shape: [N]}, i: {shape: [M], dtype: int}}\nforward: y[m] = x[i[m]]\n"
    ).before
    with pytest.raises(IndexError, match="i must satisfy 0 <= i < N = 3, but has values from -1 to 0"):
        op(torch.ones(3), torch.tensor([0, -1]))


E = torch.zeros(3, 0, dtype=torch.float64)
ROWS = torch.tensor([[1.0, 3.0, 3.0], [0.0, 0.0, 5.0], [2.0, -1.0, 0.0]]).double()


@works(
    along("sum", "sum[k](x[..., k]**2)", lambda x: (x**2).sum(-1)),
    along("prod", "prod[k](x[..., k])", lambda x: x.prod(-1)),
    along("prod_with_zeros", "prod[k](x[..., k])", lambda x: x.prod(-1), ROWS),
    along("mean", "mean[k](x[..., k])", lambda x: x.mean(-1)),
    along("max", "max[k](x[..., k])", lambda x: x.amax(-1), ROWS),
    along("min", "min[k](x[..., k])", lambda x: x.amin(-1), ROWS),
    along("logsumexp", "logsumexp[k](x[..., k])", lambda x: x.logsumexp(-1)),
    along("norm", "norm[k](x[..., k])", lambda x: x.norm(dim=-1)),
    along("norm_at_zero", "norm[k](x[..., k])", lambda x: x.norm(dim=-1), torch.zeros(2, 3).double()),
    along("var", "var[k](x[..., k])", lambda x: x.var(-1, correction=0)),
    along("any", "any[k](x[..., k] > 1)", lambda x: (x > 1).any(-1)),
    along("all", "all[k](x[..., k] > -1)", lambda x: (x > -1).all(-1)),
    along("count", "count[k](x[..., k] > 0)", lambda x: (x > 0).sum(-1)),
    along("argmax_takes_the_first", "argmax[k](x[..., k])", lambda x: x.argmax(-1), ROWS),
    along("argmin_takes_the_first", "argmin[k](x[..., k])", lambda x: torch.tensor([0, 0, 1]), ROWS),
    along("empty_sum", "sum[k](x[..., k])", lambda x: torch.zeros(3).double(), E),
    along("empty_prod", "prod[k](x[..., k])", lambda x: torch.ones(3).double(), E),
    along("empty_max", "max[k](x[..., k])", lambda x: torch.full((3,), -INF).double(), E),
    along("empty_min", "min[k](x[..., k])", lambda x: torch.full((3,), INF).double(), E),
    along("empty_logsumexp", "logsumexp[k](x[..., k])", lambda x: torch.full((3,), -INF).double(), E),
    along("empty_mean", "mean[k](x[..., k])", lambda x: torch.full((3,), NAN).double(), E),
    along("empty_var", "var[k](x[..., k])", lambda x: torch.full((3,), NAN).double(), E),
    along("empty_count", "count[k](x[..., k] > 0)", lambda x: torch.zeros(3).long(), E),
    along("empty_any", "any[k](x[..., k] > 0)", lambda x: torch.zeros(3).bool(), E),
    along("empty_all", "all[k](x[..., k] > 0)", lambda x: torch.ones(3).bool(), E),
    Works(
        "over_indices_and_batch",
        "op: a\ninputs: {x: {shape: [N, ..., K]}}\nforward: |\n  y[n] = sum[k, ...](x[n, ..., k]*k)\n",
        lambda x: (x * torch.arange(4)).sum((1, 2)),
        (randn(3, 2, 4),),
    ),
    along("softmax", "softmax[k](x[..., k])", lambda x: x.softmax(-1), keeps=True),
    along("log_softmax", "log_softmax[k](x[..., k])", lambda x: x.log_softmax(-1), keeps=True),
    along("cumsum", "cumsum[k](x[..., k])", lambda x: x.cumsum(-1), keeps=True),
    along("cumprod_through_zeros", "cumprod[k](x[..., k])", lambda x: x.cumprod(-1), ROWS, keeps=True),
    along("logcumsumexp", "logcumsumexp[k](x[..., k])", lambda x: x.logcumsumexp(-1), keeps=True),
    along("argsort_is_stable", "argsort[k](x[..., k])", lambda x: torch.sort(x, stable=True).indices, ROWS, keeps=True),
    Works(
        "joint_softmax",
        "op: a\ninputs: {x: {shape: [..., I, J]}}\nforward: |\n  y[..., i, j] = softmax[i, j](x[..., i, j])\n",
        lambda x: x.flatten(-2).softmax(-1).reshape(x.shape),
        (randn(2, 3, 4),),
    ),
    Works(
        "sorting_is_a_gather",
        "op: a\ninputs: {x: {shape: [N]}}\nforward: |\n  order[i] = argsort[i](x[i])\n  y[i] = x[order[i]]\n",
        lambda x: x.sort(stable=True).values,
        (randn(6),),
    ),
)
def test_reductions_and_index_operators(build_operator: Build, case: Works) -> None:
    case.check(build_operator)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_nothing_is_largest_of_nothing(build_operator: Build, name: str) -> None:
    spec = f"op: place\ninputs: {{x: {{shape: [..., K]}}}}\nforward: |\n  y[...] = {name}[k](x[..., k])\n"
    op = build_operator(spec).place
    with pytest.raises((RuntimeError, IndexError), match=r"empty|size 0|zero|non-zero"):
        op(E)


def test_nan_propagates(build_operator: Build) -> None:
    lines = [
        f"  {n}_of[...] = {n}[k](x[..., k])\n"
        for n in ("sum", "prod", "max", "min", "norm", "mean", "var", "logsumexp")
    ]
    op = build_operator("op: of\ninputs: {x: {shape: [..., K]}}\nforward: |\n" + "".join(lines)).of
    for result in op(torch.tensor([[1.0, NAN, 2.0]])):
        assert result.isnan().all()


def one(construct: str, formula: str, code: str, marked: str) -> Refused:
    inputs = "{x: {shape: [N]}, u: {}, n: {dtype: int}, three: {shape: [3]}}"
    return Refused(construct, f"op: a\ninputs: {inputs}\nforward: |\n  {formula}\n", code, marked)


@refused(
    one("caret_is_no_power", "y = u^2", "OPG202", "^"),
    one("unbalanced_bracket", "y = (u", "OPG203", "("),
    one("unknown_name", "y = v + u", "OPG205", "v"),
    one("unknown_function", "y = sigmod(u)", "OPG209", "sigmod"),
    one("number_of_arguments", "y = exp(u, u)", "OPG210", "exp(u, u)"),
    one("unknown_reduction", "y = total[i](x[i])", "OPG211", "total"),
    one("not_of_a_number", "y = not u", "OPG223", "u"),
    one("condition_of_where", "y = where(u, 1, 2)", "OPG223", "u"),
    one("position_no_integer", "y[i] = x[i/2]", "OPG223", "i/2"),
    one("position_out_of_range", "y = three[3]", "OPG232", "3"),
    one("number_of_positions", "y[i] = x[i, i]", "OPG212", "x[i, i]"),
    one("argmax_of_two", "y = argmax[...](u)", "OPG246", "argmax[...](u)"),
    one("index_operator_of_an_unbound_index", "y = softmax[i](x[i])", "OPG204", "i"),
    one("bit_operation_on_floats", "y = bitand(u, 1)", "OPG223", "bitand(u, 1)"),
    one("number_too_large", "y = u*1e999", "OPG245", "1e999"),
    one("random_numbers_without_a_seed", "y = u*rand(u)", "OPG209", "rand"),
)
def test_expressions_refused(case: Refused) -> None:
    case.check()
