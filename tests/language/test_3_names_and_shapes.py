"""Section 3 of the language page: dims, `...`, names, indices and their extents."""

from __future__ import annotations

import pytest
import torch

from .sections import Build, Refused, Works, randn, refused, works


@works(
    Works(
        "dims_as_numbers",
        "op: a\ninputs: {x: {shape: [..., K]}}\nforward: |\n  y[...] = sum[k](x[..., k])/K\n",
        lambda x: x.mean(-1),
        (randn(2, 5),),
    ),
    Works(
        "integer_literal_in_a_shape",
        "op: a\ninputs: {x: {shape: [..., 3]}}\nforward: |\n  y[...] = x[..., 0]*x[..., 2]\n",
        lambda x: x[..., 0] * x[..., 2],
        (randn(2, 3),),
    ),
    Works(
        "batch_dims_in_the_middle",
        "op: a\ninputs: {x: {shape: [N, ..., C]}, w: {shape: [N, C]}}\n"
        "forward: |\n  y[..., n] = sum[c](x[n, ..., c]*w[n, c])\n",
        lambda x, w: torch.einsum("nabc,nc->abn", x, w),
        (randn(2, 3, 4, 5), randn(2, 5)),
    ),
    Works(
        "batch_dims_at_the_end",
        "op: a\ninputs: {x: {shape: [N, C, ...]}, b: {shape: [C]}}\nforward: |\n  y[n, c, ...] = x[n, c, ...] + b[c]\n",
        lambda x, b: x + b[:, None, None],
        (randn(2, 3, 4, 5), randn(3)),
    ),
    Works(
        "batch_dims_align_right_and_broadcast",
        "op: a\ninputs: {x: {shape: [..., K]}, z: {shape: [..., K]}}\n"
        "forward: |\n  y[...] = sum[k](x[..., k]*z[..., k])\n",
        lambda x, z: (x * z).sum(-1),
        (randn(3, 1, 4), randn(5, 4)),
    ),
    Works(
        "repeated_dim",
        "op: a\ninputs: {x: {shape: [..., N, N]}}\nforward: |\n  y[...] = sum[n](x[..., n, n])\n",
        lambda x: x.diagonal(dim1=-2, dim2=-1).sum(-1),
        (randn(2, 3, 3),),
    ),
    Works(
        "bare_name_of_a_0_dim_tensor",
        "op: a\ninputs: {x: {}, s: {shape: []}}\nforward: y = s*x\n",
        lambda x, s: s * x,
        (randn(3), randn()),
    ),
    Works(
        "bare_target_takes_the_batch_that_is_left",
        "op: a\ninputs: [x]\nforward: |\n  each = x*x\n  loss = mean[...](each)\n",
        lambda x: (x * x).mean(),
        (randn(2, 3),),
    ),
    Works(
        "param_and_output_named_like_functions",
        "op: a\ninputs: [x]\nparams: {min: {type: float, default: 0.5}}\nforward: mean = max(x, min)\n",
        lambda x: x.clamp(min=0.5),
        (randn(5),),
    ),
    Works(
        "extent_where_it_is_introduced",
        "op: a\ninputs: {x: {shape: [N]}}\nparams: {p: {type: int, default: 2}}\n"
        "forward: |\n  y[i < N - p] = sum[j < p + 1](x[i + j])\n",
        lambda x: x.unfold(0, 3, 1).sum(-1),
        (randn(7),),
    ),
    Works(
        "extent_from_the_declared_output",
        "op: a\ninputs: {x: {shape: [N]}}\ndims: {M: N//2}\noutputs: {y: {shape: [M]}}\nforward: y[m] = x[2*m + 1]\n",
        lambda x: x[1::2],
        (randn(8),),
    ),
    Works(
        "reduction_index_is_its_own",
        "op: a\ninputs: {x: {shape: [..., D]}}\nforward: |\n  y[..., d] = x[..., d] - mean[d](x[..., d])\n",
        lambda x: x - x.mean(-1, keepdim=True),
        (randn(2, 4),),
    ),
    Works(
        "same_letter_different_extents",
        "op: a\ninputs: {u: {shape: [A]}, v: {shape: [B]}}\nforward: y = sum[k](u[k]) * sum[k](v[k])\n",
        lambda u, v: u.sum() * v.sum(),
        (randn(3), randn(5)),
    ),
    Works(
        "extent_does_not_depend_on_the_body",
        "op: a\ninputs: [x]\nforward: y = sum[...](x)/sum[...](1)\n",
        lambda x: x.mean(),
        (randn(2, 3),),
    ),
    Works(
        "keepdim",
        "op: a\ninputs: {x: {shape: [..., K]}}\nforward: |\n  y[..., one < 1] = sum[k](x[..., k])\n",
        lambda x: x.sum(-1, keepdim=True),
        (randn(2, 4),),
    ),
)
def test_names_and_shapes(build_operator: Build, case: Works) -> None:
    case.check(build_operator)


@pytest.mark.parametrize(
    ("spec", "shapes", "told"),
    [
        ("inputs: {x: {shape: [..., 3]}}\nforward: |\n  y[...] = sum[k](x[..., k])\n", [(2, 4)], "x.*4.*3|x.*3.*4"),
        ("inputs: {x: {shape: [N, N]}}\nforward: |\n  y = sum[n](x[n, n])\n", [(2, 4)], "x.*N.*2.*4|x.*N.*4.*2"),
        ("inputs: {x: {shape: [N]}, z: {shape: [N]}}\nforward: y[n] = x[n] + z[n]\n", [(2,), (1,)], "z.*1.*N.*2"),
        ("inputs: {x: {shape: [N, C, ...]}}\nforward: |\n  y[n, ...] = x[n, 0, ...]\n", [(2,)], r"x.*\[N, C, \.\.\.\]"),
        ("inputs: [x]\nparams: {p: {type: int}}\nforward: |\n  y[..., i < p] = x*i\n", [(2,), -1], "size p .*-1"),
        (
            "inputs: {x: {shape: [N]}}\nparams: {k: {type: int}}\ndims: {P: N - k + 1}\noutputs: {y: {shape: [P]}}\n"
            "forward: y[p] = sum[j < k](x[p + j])\n",
            [(2,), 5],
            "size P .*-2",
        ),
        (
            "inputs: {x: {shape: [N]}, z: {shape: [P]}}\ndims: {P: N//2}\nforward: y = sum[p](z[p]*x[2*p])\n",
            [(6,), (2,)],
            "z.*2 along P.*3",
        ),
    ],
    ids=["literal", "repeated", "named_dims_do_not_broadcast", "rank", "negative_extent", "negative_dim", "derived"],
)
def test_sizes_are_checked_when_called(build_operator: Build, spec: str, shapes: list[object], told: str) -> None:
    op = build_operator(f"op: sized\n{spec}").sized
    arguments = [torch.ones(s) if isinstance(s, tuple) else s for s in shapes]
    with pytest.raises((RuntimeError, ValueError), match=told) as raised:
        op(*arguments)
    assert "sized" in str(raised.value)


@refused(
    Refused("dim_in_lower_case", "op: a\ninputs: {x: {shape: [k]}}\nforward: y[i] = x[i]\n", "OPG224", "k"),
    Refused("batch_twice", "op: a\ninputs: {x: {shape: [..., N, ...]}}\nforward: y = 1\n", "OPG215", "..."),
    Refused("unbound_index", "op: a\ninputs: {x: {shape: [N, K]}}\nforward: |\n  y[n] = x[n, k]\n", "OPG204", "k"),
    Refused("index_named_like_a_tensor", "op: a\ninputs: {x: {shape: [N]}}\nforward: y[x] = 2\n", "OPG207", "x"),
    Refused("named_dims_never_broadcast", "op: a\ninputs: {w: {shape: [N]}}\nforward: y = w\n", "OPG242", "w"),
    Refused(
        "extents_differ",
        "op: a\ninputs: {x: {shape: [N]}, z: {shape: [M]}}\nforward: y[i] = x[i]*z[i]\n",
        "OPG213",
        "z[i]",
    ),
    Refused("extent_unknown", "op: a\ninputs: [x]\nforward: |\n  y[..., i] = x*i\n", "OPG214", "i"),
    Refused("left_index_twice", "op: a\ninputs: {x: {shape: [N]}}\nforward: |\n  y[i, i] = x[i]\n", "OPG208", "i"),
    Refused("left_position_no_index", "op: a\ninputs: {x: {shape: [N]}}\nforward: y[2*i] = x[i]\n", "OPG241", "2*i"),
    Refused("extent_is_negative", "op: a\ninputs: [x]\nforward: |\n  y[..., i < -1] = x\n", "OPG232", "-1"),
    Refused("tensor_in_upper_case", "op: a\ninputs: {X: {}}\nforward: y = X\n", "OPG113", "X"),
)
def test_names_and_shapes_refused(case: Refused) -> None:
    case.check()
