"""Section 10 of the language page: recurrences along several axes, of integers and of conditions."""

from __future__ import annotations

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


@refused(
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


@works(
    Works(
        "sorted",
        "op: a\ninputs: {x: {shape: [..., N]}}\noutputs: [y]\nforward: 'y[..., k] = sort[k](x[..., k])'\n",
        lambda x: x.sort(-1).values,
        (randn(2, 5),),
    ),
    Works(
        "the_lower_median",
        "op: a\ninputs: {x: {shape: [..., N]}}\noutputs: [y]\nforward: 'y[...] = median[k](x[..., k])'\n",
        lambda x: x.median(-1).values,
        (randn(2, 6),),
    ),
    Works(
        "a_linear_quantile",
        "op: a\ninputs: {x: {shape: [..., N]}}\nparams: {q: {type: float, default: 0.3}}\noutputs: [y]\n"
        "forward: 'y[...] = quantile[k](x[..., k], q)'\n",
        lambda x: torch.quantile(x, 0.3, -1),
        (randn(2, 6),),
    ),
    Works(
        "the_third_smallest",
        "op: a\ninputs: {x: {shape: [..., N]}}\noutputs: [y]\nforward: 'y[...] = kth[k](x[..., k], 3)'\n",
        lambda x: x.kthvalue(3, -1).values,
        (randn(2, 6),),
    ),
    Works(
        "windows_of_a_body",
        "op: a\ninputs: {x: {shape: [..., N]}}\noutputs: [y]\n"
        "forward: 'y[..., i < N - 2] = median[w < 3](2*x[..., i + w])'\n",
        lambda x: 2 * x.unfold(-1, 3, 1).median(-1).values,
        (randn(2, 6),),
    ),
    Works(
        "over_two_indices",
        "op: a\ninputs: {x: {shape: [N, M]}}\noutputs: [y]\n"
        "forward: 'y = kth[i, j](x[i, j], 2) + median[i, j](x[i, j])'\n",
        lambda x: x.reshape(-1).kthvalue(2).values + x.reshape(-1).median(),
        (randn(3, 4),),
    ),
    Works(
        "nan_as_in_torch",
        "op: a\ninputs: {x: {shape: [..., N]}}\noutputs: [y, z, s]\n"
        "forward: |\n  y[...] = median[k](x[..., k])\n  z[...] = kth[k](x[..., k], 2)\n"
        "  s[..., k] = sort[k](x[..., k])\n",
        lambda x: (x.median(-1).values, x.kthvalue(2, -1).values, x.sort(-1).values),
        (torch.tensor([[1.0, float("nan"), 0.0], [3.0, 1.0, 2.0]], dtype=torch.float64),),
        gradients=False,
    ),
)
def test_order_statistics(case: Works, build_operator: Build) -> None:
    case.check(build_operator)


ROWS = "op: a\ninputs: {x: {shape: [..., N]}}\nforward: "


@refused(
    Refused("quantile_without_q", f"{ROWS}y[...] = quantile[k](x[..., k])\n", "OPG210", "quantile[k](x[..., k])"),
    Refused("kth_of_a_float", f"{ROWS}y[...] = kth[k](x[..., k], 0.5)\n", "OPG223", "0.5"),
    Refused("median_of_the_batch", f"{ROWS}y = median[...](x[..., 0])\n", "OPG246", "..."),
    Refused("median_with_an_argument", f"{ROWS}y[...] = median[k](x[..., k], 2)\n", "OPG201", ","),
    Refused("sort_of_two", f"{ROWS}'y[..., k] = sort[..., k](x[..., k])'\n", "OPG246", "sort[..., k](x[..., k])"),
)
def test_order_statistics_refused(case: Refused) -> None:
    case.check()
