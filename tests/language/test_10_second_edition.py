"""Section 10 of the language page: recurrences along several axes, of integers and of conditions.

- a recurrence may read earlier values: an_axis_that_runs_downwards, along_three, both_ways_beside_time; not_shifted,
  …
- starts stand just outside: starts_at_minus_one_and_minus_two, starts_on_all_sides; a_start_inside,
  a_start_too_far_out, …
- points that do not read each other: test_a_loop_over_waves; the gradient of every case is compared
- recurrences of integers and conditions: pointers, conditions, sums_of_integers_stay_exact, test_no_derivatives;
  test_a_pointer_out_of_range
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

from .sections import Build, Refused, Works, randn, refused, works

INF = float("inf")


def warped(cost: torch.Tensor, gamma: float = 1.0) -> torch.Tensor:
    batch, (n, m) = cost.shape[:-2], cost.shape[-2:]
    r: dict[tuple[int, int], torch.Tensor] = {(-1, -1): cost.new_zeros(batch)}
    for i in range(n):
        r[i, -1] = cost.new_full(batch, INF)
    for j in range(m):
        r[-1, j] = cost.new_full(batch, INF)
    for i in range(n):
        for j in range(m):
            near = torch.stack([-r[i - 1, j] / gamma, -r[i, j - 1] / gamma, -r[i - 1, j - 1] / gamma])
            r[i, j] = cost[..., i, j] - gamma * torch.logsumexp(near[near.isfinite()].reshape(-1, *batch), 0)
    return r[n - 1, m - 1]


MATRIX = "op: a\ninputs: {x: {shape: [N, M]}}\nforward: "


def further_back(x: torch.Tensor) -> torch.Tensor:
    rows = [torch.full_like(x[..., 0], -2.0), torch.full_like(x[..., 0], 1.0)]
    for t in range(x.shape[-1]):
        rows.append(x[..., t] + 0.9 * rows[-1] - 0.2 * rows[-2])
    return torch.stack(rows[2:], -1)


def down_and_up(x: torch.Tensor) -> torch.Tensor:
    n, m = x.shape
    r: dict[tuple[int, int], torch.Tensor] = {}
    for i in range(n):
        for j in reversed(range(m)):
            r[i, j] = x[i, j] + 0.5 * torch.sin(r.get((i - 1, j), x.new_zeros(()))) * r.get((i, j + 1), x.new_ones(()))
    return torch.stack([torch.stack([r[i, j] for j in range(m)]) for i in range(n)])


def followed(back: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    rows = [last]
    for t in reversed(range(back.shape[0])):
        rows.insert(0, back[t, rows[0]])
    return torch.stack(rows[:-1])


def along_three(x: torch.Tensor) -> torch.Tensor:
    r: dict[tuple[int, ...], torch.Tensor] = {}
    for at in torch.cartesian_prod(*map(torch.arange, x.shape)).tolist():
        before = [r.get(tuple(p - (k == axis) for k, p in enumerate(at)), x.new_zeros(())) for axis in range(3)]
        r[tuple(at)] = x[tuple(at)] + 0.5 * before[0] * before[1] + torch.sin(before[2])
    return torch.stack(list(r.values())).reshape(x.shape)


def wave(push: torch.Tensor, c: torch.Tensor, left: float = 0, right: float = 0, first: float = 0) -> torch.Tensor:
    rows = [torch.full_like(push[0], first)] * 2
    for t, row in enumerate(push):
        ends = [push.new_full((1,), end if t else 0) for end in (left, right)]
        wide = torch.cat([ends[0], rows[-1], ends[1]])
        rows.append(row + 2 * rows[-1] - rows[-2] + c * (wide[:-2] - 2 * rows[-1] + wide[2:]))
    return torch.stack(rows[2:])


DTW = """
    op: soft_dtw
    inputs: {cost: {shape: [..., N, M]}}
    params: {gamma: {type: float, default: 1.0, domain: gamma > 0}}
    outputs: [loss]
    forward: |
      r[..., -1, -1] = 0
      r[..., -1, j] = inf
      r[..., i, -1] = inf
      r[..., i, j] = cost[..., i, j] - gamma*logaddexp(logaddexp(-r[..., i-1, j]/gamma, -r[..., i, j-1]/gamma), -r[..., i-1, j-1]/gamma)
      loss[...] = r[..., N - 1, M - 1]
"""  # noqa: E501


WAVE = "op: a\ninputs: {push: {shape: [T, N]}, c: {shape: []}}\noutputs: [u]\nforward: |\n"
STEP = "  u[t, i] = push[t, i] + 2*u[t - 1, i] - u[t - 2, i] + c*(u[t - 1, i - 1] - 2*u[t - 1, i] + u[t - 1, i + 1])\n"


@works(
    Works("the_example_of_the_page", DTW, warped, (randn(3, 4),)),
    Works("the_example_with_a_batch_and_a_param", DTW, warped, (randn(2, 2, 3), 0.5)),
    Works(
        "starts_at_minus_one_and_minus_two",
        "op: a\ninputs: {x: {shape: [..., T]}}\noutputs: [h]\nforward: |\n  h[..., -1] = 1\n  h[..., -2] = -2\n"
        "  h[..., t] = x[..., t] + 0.9*h[..., t - 1] - 0.2*h[..., t - 2]\n",
        further_back,
        (randn(2, 5),),
    ),
    Works(
        "an_axis_that_runs_downwards",
        "op: a\ninputs: {x: {shape: [N, M]}}\noutputs: [r]\nforward: |\n  r[i, M] = 1\n"
        "  r[i, j] = x[i, j] + 0.5*sin(r[i - 1, j])*r[i, j + 1]\n",
        down_and_up,
        (randn(3, 4),),
    ),
    Works(
        "along_three",
        "op: a\ninputs: {x: {shape: [A, B, C]}}\noutputs: [r]\n"
        "forward: r[i, j, k] = x[i, j, k] + 0.5*r[i - 1, j, k]*r[i, j - 1, k] + sin(r[i, j, k - 1])\n",
        along_three,
        (randn(2, 3, 2),),
    ),
    Works("both_ways_beside_time", f"{WAVE}{STEP}", wave, (randn(4, 3), randn(1).reshape(()))),
    Works(
        "starts_on_all_sides",
        f"{WAVE}  u[t, -1] = 0.5\n  u[t, N] = -1\n  u[-1, i] = 2\n  u[-2, i] = 2\n  u[-1, -1] = 0\n  u[-1, N] = 0\n"
        f"{STEP}",
        lambda push, c: wave(push, c, 0.5, -1.0, 2.0),
        (randn(4, 3), randn(1).reshape(())),
    ),
    Works(
        "pointers",
        "op: a\ninputs: {back: {shape: [T, S], dtype: int}, last: {shape: [], dtype: int}}\noutputs: [path]\n"
        "forward: |\n  path[T] = last\n  path[t] = back[t, path[t + 1]]\n",
        followed,
        (torch.tensor([[1, 0, 2], [2, 2, 0], [0, 1, 1]]), torch.tensor(1)),
        gradients=False,
    ),
    Works(
        "conditions",
        "op: a\ninputs: {x: {shape: [..., T]}}\noutputs: [seen]\n"
        "forward: seen[..., t] = seen[..., t - 1] or x[..., t] > 0\n",
        lambda x: torch.cumsum(x > 0, -1) > 0,
        (randn(2, 5),),
        gradients=False,
    ),
    Works(
        "sums_of_integers_stay_exact",
        "op: a\ninputs: {x: {shape: [N, M], dtype: int}}\noutputs: [s]\n"
        "forward: s[i, j] = x[i, j] + s[i - 1, j] + s[i, j - 1] - s[i - 1, j - 1]\n",
        lambda x: x.cumsum(0).cumsum(1),
        (torch.tensor([[2**53 + 1, 1], [3, 2**53 + 1]]),),
        gradients=False,
    ),
)
def test_recurrences(case: Works, build_operator: Build) -> None:
    case.check(build_operator)


def test_a_loop_over_waves(build_operator: Build) -> None:
    """One wave after the other, forward and backward, and no loop within the loop."""
    tree = ast.parse(Path(str(build_operator(DTW).__file__)).with_name("function.py").read_text())
    for name in ("soft_dtw_forward", "soft_dtw_backward"):
        (f,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
        loops = [n for n in ast.walk(f) if isinstance(n, ast.For | ast.While | ast.comprehension)]
        inner = [n for loop in loops for n in ast.walk(loop) if n is not loop and n in loops]
        assert loops
        assert not inner, ast.unparse(f)


def test_no_derivatives(build_operator: Build) -> None:
    spec = (
        "op: a\ninputs: {x: {shape: [T]}}\noutputs: [seen, n]\nforward: |\n"
        "  seen[t] = seen[t - 1] or x[t] > 0\n  n[t] = n[t - 1] + int(seen[t])\n"
    )
    seen, n = build_operator(spec).a(randn(5).requires_grad_())
    assert (seen.dtype, n.dtype) == (torch.bool, torch.int64)
    assert not seen.requires_grad
    assert not n.requires_grad


def test_a_pointer_out_of_range(build_operator: Build) -> None:
    spec = (
        "op: a\ninputs: {back: {shape: [T, S], dtype: int}}\noutputs: [path]\n"
        "forward: |\n  path[T] = 0\n  path[t] = back[t, path[t + 1]]\n"
    )
    with pytest.raises(IndexError, match="back"):
        build_operator(spec).a(torch.tensor([[0, 1], [3, 1]]))


@refused(
    Refused("not_shifted", f"{MATRIX}r[i, j] = x[i, j] + r[i, j]\n", "OPG219", "r[i, j]"),
    Refused(
        "shifted_by_a_param",
        "op: a\ninputs: {x: {shape: [N]}}\nparams: {n: {type: int, default: 1}}\nforward: r[i] = x[i] + r[i - n]\n",
        "OPG219",
        "r[i - n]",
    ),
    Refused("other_indices", f"{MATRIX}r[i, j] = x[i, j] + r[j - 1, i]\n", "OPG250", "r[j - 1, i]"),
    Refused(
        "both_ways_and_no_time",
        f"{MATRIX}r[i, j] = x[i, j] + r[i, j - 1] + r[i, j + 1]*r[i - 1, j]\n",
        "OPG250",
        "r[i, j + 1]",
    ),
    Refused(
        "a_start_too_far_out",
        f"{MATRIX}|\n  r[-2, j] = 1\n  r[i, j] = x[i, j] + r[i - 1, j]\n",
        "OPG250",
        "r[-2, j]",
    ),
    Refused(
        "a_start_on_the_other_side",
        f"{MATRIX}|\n  r[N, j] = 1\n  r[i, j] = x[i, j] + r[i - 1, j]\n",
        "OPG250",
        "r[N, j]",
    ),
    Refused(
        "both_ways_along_one_axis",
        "op: a\ninputs: {x: {shape: [N, M]}}\nforward: r[i, j] = x[i, j] + r[i - 1, j] + r[i + 1, j - 1]\n",
        "OPG250",
        "r[i + 1, j - 1]",
    ),
    Refused(
        "a_start_inside",
        "op: a\ninputs: {x: {shape: [N, M]}}\nforward: |\n  r[0, 0] = 1\n  r[i, j] = x[i, j] + r[i - 1, j - 1]\n",
        "OPG250",
        "r[0, 0]",
    ),
    Refused(
        "starts_that_meet",
        "op: a\ninputs: {x: {shape: [N, M]}, first: {shape: [M]}}\noutputs: [r]\nforward: |\n  r[-1, j] = first[j]\n"
        "  r[i, -1] = 1\n  r[i, j] = x[i, j] + r[i - 1, j - 1]\n",
        "OPG250",
        "r[i, j]",
    ),
    Refused(
        "one_start_twice",
        "op: a\ninputs: {x: {shape: [N, M]}}\noutputs: [r]\nforward: |\n  r[-1, j] = 0\n  r[-1, j] = 1\n"
        "  r[i, j] = x[i, j] + r[i - 1, j]\n",
        "OPG217",
        "r[-1, j]",
    ),
)
def test_recurrences_refused(case: Refused) -> None:
    case.check()
