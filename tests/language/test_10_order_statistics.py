"""Section 10 of the language page: order statistics.

- `sort`, `median`, `quantile`, `kth`: sorted, the_lower_median, a_linear_quantile, the_third_smallest;
  test_order_statistics_refused
- any body and any extent, windows too: windows_of_…, order_of_a_body, one_element, over_two_indices; sort_of_two
- ties go to the first, gradients to the element picked: ties_…, test_gradients_go_to_one_element
- `nan` as in torch: nan_as_in_torch, nan_in_a_quantile
- the `n` largest: the_n_largest
"""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from .sections import Build, Refused, Works, randn, refused, works

ROWS = "op: a\ninputs: {x: {shape: [..., N]}}\nforward: "


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
        "windows_that_are_sorted",
        f"{ROWS}|\n  y[..., i < N - 2, w < 3] = sort[w](2*x[..., i + w])\n"
        "  z[..., i < N - 2] = quantile[w < 3](x[..., i + w], 0.4)\n"
        "  o[..., i < N - 2, w < 3] = argsort[w](x[..., i + w])\n",
        lambda x: (
            2 * x.unfold(-1, 3, 1).sort(-1).values,
            torch.quantile(x.unfold(-1, 3, 1), 0.4, -1),
            x.unfold(-1, 3, 1).argsort(-1),
        ),
        (randn(2, 6),),
    ),
    Works(
        "order_of_a_body",
        f"{ROWS}y[..., k] = argsort[k](sin(3*x[..., k]))\n",
        lambda x: (3 * x).sin().argsort(-1),
        (randn(2, 5),),
        gradients=False,
    ),
    Works(
        "one_element",
        f"{ROWS}y[...] = median[k](x[..., k])*quantile[k](x[..., k], 0.7) + kth[k](x[..., k], 1)\n",
        lambda x: x[..., 0] ** 2 + x[..., 0],
        (randn(2, 1),),
    ),
    Works(
        "ties_keep_their_order",
        f"{ROWS}y[..., k] = argsort[k](x[..., k])\n",
        lambda x: torch.argsort(x, dim=-1, stable=True),
        (torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0], dtype=torch.float64),),
        gradients=False,
    ),
    Works(
        "nan_in_a_quantile",
        f"{ROWS}y[...] = quantile[k](x[..., k], 0.5)\n",
        lambda x: torch.quantile(x, 0.5, -1),
        (torch.tensor([[1.0, float("nan"), 0.0], [3.0, 1.0, 2.0]], dtype=torch.float64),),
        gradients=False,
    ),
    Works(
        "the_n_largest",
        "op: a\ninputs: {x: {shape: [..., K]}}\noutputs: [top]\n"
        "params: {n: {type: int, default: 2, domain: 1 <= n <= K}}\n"
        "forward: |\n  order[..., k] = argsort[k](x[..., k])\n  top[..., j < n] = x[..., order[..., K - 1 - j]]\n",
        lambda x: x.topk(2, -1).values,
        (randn(2, 5),),
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


def test_gradients_go_to_one_element(build_operator: Build) -> None:
    """The first of those that are equal; all of the gradient of a sorted row goes back to its place."""
    spec = (
        f"{ROWS}|\n  m[...] = median[k](x[..., k])\n  t[...] = kth[k](x[..., k], 2)\n  s[..., k] = sort[k](x[..., k])\n"
    )
    x = torch.tensor([2.0, 1.0, 1.0, 1.0, 0.0], dtype=torch.float64, requires_grad=True)
    m, t, s = build_operator(spec).a(x)
    assert [torch.autograd.grad(v, x, retain_graph=True)[0].tolist() for v in (m, t)] == [
        [0.0, 0.0, 1.0, 0.0, 0.0],  # 0, 1, 1, 1, 2: the second of three
        [0.0, 1.0, 0.0, 0.0, 0.0],
    ]
    weights = torch.arange(1.0, 6.0, dtype=torch.float64)
    assert torch.autograd.grad(s, x, weights)[0].tolist() == [5.0, 2.0, 3.0, 4.0, 1.0]


def test_quantiles_between_infinities_are_those_of_torch(build_operator: Build) -> None:
    """At an element it is that element, where torch's are nan if it is infinite."""
    spec = (
        "op: a\ninputs: {x: {shape: [N]}, q: {shape: [M]}}\nparams: {p: {type: float, default: 0.3}}\n"
        "outputs: {y: {shape: []}, z: {shape: [M]}}\n"
        "forward: |\n  y = quantile[k](x[k], p)\n  z[m] = quantile[k](x[k], q[m])\n"
    )
    f = build_operator(spec).a
    for row in itertools.chain(*(itertools.product([-math.inf, 0.0, 1.0, math.inf], repeat=n) for n in (2, 3, 4))):
        x = torch.tensor(row, dtype=torch.float64)
        for share in (0.0, 0.1, 0.3, 0.5, 0.9, 1.0):
            rank = share * (len(row) - 1)
            want = x.sort().values[int(rank)] if rank == int(rank) else torch.quantile(x, share)
            y, z = f(x, torch.tensor([share], dtype=torch.float64), p=share)
            torch.testing.assert_close((y, z[0]), (want, want), equal_nan=True)


@pytest.mark.parametrize(("q", "n"), [(1.5, 1), (0.5, 6), (0.5, 0)])
def test_shares_and_places_out_of_range(build_operator: Build, q: float, n: int) -> None:
    """The message names what is put in order, and the condition that a place has to satisfy."""
    spec = (
        "op: a\ninputs: {x: {shape: [..., N]}}\nparams: {q: {type: float}, n: {type: int}}\n"
        "forward: 'y[...] = quantile[k](x[..., k], q) + kth[k](x[..., k], n)'\n"
    )
    with pytest.raises(IndexError, match=r"a: a position of x is out of range.* 0 <= n - 1 < N, with N = 5"):
        build_operator(spec).a(randn(5), q=q, n=n)


@refused(
    Refused("quantile_without_q", f"{ROWS}y[...] = quantile[k](x[..., k])\n", "OPG210", "quantile[k](x[..., k])"),
    Refused("kth_of_a_float", f"{ROWS}y[...] = kth[k](x[..., k], 0.5)\n", "OPG223", "0.5"),
    Refused("median_of_the_batch", f"{ROWS}y = median[...](x[..., 0])\n", "OPG246", "..."),
    Refused("median_with_an_argument", f"{ROWS}y[...] = median[k](x[..., k], 2)\n", "OPG201", "2"),
    Refused("a_share_beyond_one", f"{ROWS}y[...] = quantile[k](x[..., k], 2)\n", "OPG232", "2"),
    Refused("kth_from_zero", f"{ROWS}y[...] = kth[k](x[..., k], 0)\n", "OPG232", "0"),
    Refused("kth_without_n", f"{ROWS}y[...] = kth[k](x[..., k])\n", "OPG210", "kth[k](x[..., k])"),
    Refused("sort_loses_its_index", f"{ROWS}y[...] = sort[k](x[..., k])\n", "OPG204", "k"),
    Refused("median_of_no_index", f"{ROWS}y[...] = median(x[..., k])\n", "OPG206", "median"),
    Refused("sort_of_two", f"{ROWS}'y[..., k] = sort[..., k](x[..., k])'\n", "OPG246", "sort[..., k](x[..., k])"),
)
def test_order_statistics_refused(case: Refused) -> None:
    case.check()
