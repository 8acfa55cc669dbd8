"""Section 1 of the language page: its three specs as they stand there."""

from __future__ import annotations

import torch
from torch.nn import functional

from .sections import Build, Refused, Works, randn, refused, works

LINEAR = """
op: linear
summary: Affine map of the last dimension.
reference: torch.nn.functional.linear

inputs:
  input:  {shape: [..., K], doc: activations}
  weight: {shape: [N, K]}
  bias:   {shape: [N], optional: true}

forward: |
  output[..., n] = sum[k](input[..., k] * weight[n, k]) + bias[n]

module:
  name: Linear
  dims: {K: in_features, N: out_features}
  parameters:
    weight: kaiming_uniform(a=sqrt(5))
    bias:   uniform(-1/sqrt(K), 1/sqrt(K))
"""
SWIGLU = "op: swiglu\ninputs: [gate, up]\nforward: output = gate * sigmoid(gate) * up\n"
MAX_POOL = """
op: max_pool2d
inputs: {input: {shape: [..., H, W]}}
params: {size: {type: int}, stride: {type: int, default: 2}, padding: {type: int, default: 0}}
dims:
  P: (H + 2*padding - size)//stride + 1
  Q: (W + 2*padding - size)//stride + 1
outputs: {output: {shape: [..., P, Q]}}
forward: |
  output[..., p, q] = max[r < size, s < size](pad(input[..., p*stride + r - padding, q*stride + s - padding], -inf))
"""


@works(
    Works("linear", LINEAR, functional.linear, (randn(2, 5, 3), randn(4, 3), randn(4))),
    Works("linear_without_bias", LINEAR, functional.linear, (randn(5, 3), randn(4, 3))),
    Works("swiglu", SWIGLU, lambda g, u: functional.silu(g) * u, (randn(2, 3), randn(3))),
    Works(
        "max_pool2d",
        MAX_POOL,
        lambda x: functional.max_pool2d(x, 3, 2, 1),
        (randn(2, 7, 9),),
        {"size": 3, "padding": 1},
    ),
)
def test_whole_specs(build_operator: Build, case: Works) -> None:
    case.check(build_operator)


def test_the_module_of_linear_trains(build_operator: Build) -> None:
    torch.manual_seed(0)
    layer = build_operator(LINEAR.strip() + "\n").Linear(3, 2)
    x = torch.randn(64, 3)
    target = x @ torch.randn(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.2)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        losses.append(functional.mse_loss(layer(x), target))
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0] / 4


@refused(
    Refused("forward_is_missing", "op: a\ninputs: [x]\n", "OPG111", "op"),
    Refused("no_mapping", "- op: a\n", "OPG112", "- op: a"),
    Refused("empty", "", "OPG111", ""),
)
def test_whole_specs_refused(case: Refused) -> None:
    case.check()
