"""Section 4 of the language page: variants, components, scatters, recurrences."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from .sections import Build, Refused, Works, ints, randn, refused, works


def decayed(a: torch.Tensor, x: torch.Tensor, h: torch.Tensor | float = 0.0, *, down: bool = False) -> torch.Tensor:
    steps = range(a.shape[-1])
    found: dict[int, Any] = {}
    for t in reversed(steps) if down else steps:
        h = found[t] = a[..., t] * h + x[..., t]
    return torch.stack([found[t] for t in steps], -1)


def rotated(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    p, q, ps, qs = torch.ones((), dtype=x.dtype), torch.zeros((), dtype=x.dtype), [], []
    for v in x:
        p, q = 0.5 * p - q * v, 0.5 * q + p * v
        ps.append(p)
        qs.append(q)
    return torch.stack(ps), torch.stack(qs)


def shifted(f: torch.Tensor, p0: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    v = 3 + torch.cat([f.new_zeros(1), f.cumsum(0)])
    p = torch.cat([p0[None], p0 + v[:-1].cumsum(0)])
    return p[1:], p * torch.cat([f.flip(0).cumsum(0).flip(0), f.new_ones(1)])


def squared(x: torch.Tensor) -> torch.Tensor:
    h, hs = torch.zeros((), dtype=x.dtype), []
    for v in x:
        h = torch.tanh(h * h + v)
        hs.append(h)
    return torch.stack(hs)


def scattered(how: str) -> Any:
    def expected(x: torch.Tensor, i: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return b.scatter_reduce(0, i, x, how, include_self=True)

    return expected


SCATTER = (
    "op: a\ninputs: {{x: {{shape: [E]}}, i: {{shape: [E], dtype: int, domain: 0 <= i < N}}, b: {{shape: [N]}}}}\n"
    "forward: |\n  y[n] = b[n]\n  y[i[e]] {} x[e]\n"
)
IDENTITY = (
    "op: a\ninputs: {{x: {{shape: [E]}}, i: {{shape: [E], dtype: int, domain: 0 <= i < 4}}}}\n"
    "outputs: {{y: {{shape: [4]}}}}\nforward: y[i[e]] {} x[e]\n"
)
X, PLACES, B = randn(6), ints(0, 2, 2, 1, 0, 2), randn(4, seed=1)
GUARDED = """
op: a
inputs: [x]
params: {how: {choices: [b, c, d], default: b}, flag: {type: bool, default: false}}
forward: |
  y = 2*x if how == "b"
  y = x*x if how != "b" and flag
  y[..., i < 3] = i*x if how != "b" and not flag
"""
KINDS = """
op: a
inputs: {x: {shape: [..., N]}}
params: {how: {choices: [at, most, many, some]}}
forward: |
  y[...] = argmax[n](x[..., n]) if how == at
  y[...] = max[n](x[..., n]) if how == most
  y[...] = count[n](x[..., n] > 0)*1.0 if how == many
  y[...] = any[n](x[..., n] > 0) if how == some
"""
DIRECTION = """
op: a
inputs: {x: {shape: [..., T]}, h0: {shape: [...]}}
params: {down: {type: bool, default: false}}
outputs: [h]
forward: |
  h[..., t] = 0.5*h[..., t - 1] + x[..., t] if not down
  h[..., -1] = h0 if not down
  h[..., t] = 0.5*h[..., t + 1] + x[..., t] if down
"""
PARTS = """
op: a
inputs: {x: {shape: [..., N]}}
params: {both: {type: bool, default: false}}
forward: |
  y[...] = sum[n](x[..., n]) if not both
  y[..., 0] = max[n](x[..., n]) if both
  y[..., 1] = min[n](x[..., n]) if both
"""


@works(
    Works(
        "start_of_one_direction",
        DIRECTION,
        lambda x, h: decayed(torch.full_like(x, 0.5), x, h),
        (randn(2, 3), randn(2, seed=1)),
    ),
    Works(
        "no_start_in_the_other_direction",
        DIRECTION,
        lambda x, h: decayed(torch.full_like(x, 0.5), x, down=True),
        (randn(2, 3), randn(2, seed=1)),
        {"down": True},
    ),
    Works(
        "components_in_one_variant",
        PARTS,
        lambda x: torch.stack((x.amax(-1), x.amin(-1)), -1),
        (randn(2, 3),),
        {"both": True},
    ),
    Works("no_components_in_the_other", PARTS, lambda x: x.sum(-1), (randn(2, 3),)),
    Works("kind_differs_between_variants", KINDS, lambda x: x.amax(-1), (randn(2, 3),), {"how": "most"}),
    Works("kind_of_a_position", KINDS, lambda x: x.argmax(-1) + 0 * x.sum(-1), (randn(2, 3),), {"how": "at"}),
    Works("kind_of_a_count", KINDS, lambda x: (x > 0).sum(-1) + 0 * x.sum(-1), (randn(2, 3),), {"how": "many"}),
    Works("kind_of_a_condition", KINDS, lambda x: (x > 0).any(-1) + 0 * x.sum(-1), (randn(2, 3),), {"how": "some"}),
    Works("guard_first", GUARDED, lambda x: 2 * x, (randn(3),)),
    Works("guard_second", GUARDED, lambda x: x * x, (randn(3),), {"how": "d", "flag": True}),
    Works(
        "rank_differs_between_variants",
        GUARDED,
        lambda x: x[:, None] * torch.arange(3),
        (randn(3),),
        {"how": "c"},
    ),
    Works(
        "components",
        "op: a\ninputs: {z: {shape: [..., 2]}}\noutputs: {y: {shape: [..., 2]}}\nforward: |\n"
        "  y[..., 0] = z[..., 0]**2 - z[..., 1]**2\n  y[..., 1] = 2*z[..., 0]*z[..., 1]\n",
        lambda z: torch.view_as_real(torch.view_as_complex(z) ** 2),
        (randn(3, 2),),
    ),
    Works(
        "components_over_a_dim_that_is_a_number",
        "op: a\ninputs: {x: {shape: [N]}}\ndims: {K: 2}\noutputs: {y: {shape: [N, K]}}\n"
        "forward: |\n  y[n, 0] = x[n]\n  y[n, 1] = 2*x[n]\n",
        lambda x: torch.stack((x, 2 * x), -1),
        (randn(3),),
    ),
    Works(
        "reduction_named_by_a_param",
        "op: a\ninputs: [x]\nparams: {reduction: {choices: [mean, sum, none], default: mean}}\nforward: |\n"
        "  each = x*x\n  y = reduction[...](each)\n",
        lambda x: (x * x).mean(),
        (randn(2, 3),),
    ),
    Works(
        "reduction_none_appends_the_indices",
        "op: a\ninputs: {x: {shape: [N, K]}}\nparams: {reduction: {choices: [mean, sum, none], default: mean}}\n"
        "forward: |\n  each[n] = sum[k](x[n, k]**2)\n  y = reduction[n](each[n])\n",
        lambda x: (x * x).sum(-1),
        (randn(2, 3),),
        {"reduction": "none"},
    ),
    Works("scatter_sum_onto_a_base", SCATTER.format("+="), scattered("sum"), (X, PLACES, B)),
    Works("scatter_prod_onto_a_base", SCATTER.format("*="), scattered("prod"), (X, PLACES, B)),
    Works("scatter_max_onto_a_base", SCATTER.format("max="), scattered("amax"), (X, PLACES, B)),
    Works("scatter_min_onto_a_base", SCATTER.format("min="), scattered("amin"), (X, PLACES, B)),
    Works(
        "scatter_sum_onto_nothing",
        IDENTITY.format("+="),
        lambda x, i: torch.zeros(4).double().index_add(0, i, x),
        (X, PLACES),
    ),
    Works(
        "scatter_prod_onto_nothing",
        IDENTITY.format("*="),
        lambda x, i: torch.ones(4).double().scatter_reduce(0, i, x, "prod"),
        (X, PLACES),
    ),
    Works(
        "scatter_max_onto_nothing",
        IDENTITY.format("max="),
        lambda x, i: torch.full((4,), -torch.inf).double().scatter_reduce(0, i, x, "amax"),
        (X, ints(0, 2, 3, 1, 0, 2)),
    ),
    Works(
        "scatter_max_shares_its_gradient_among_ties",
        IDENTITY.format("max="),
        lambda x, i: torch.full((4,), -torch.inf).double().scatter_reduce(0, i, x, "amax"),
        (torch.tensor([1.0, 3.0, 3.0, 0.5, 1.0, 3.0]).double(), ints(0, 2, 2, 1, 3, 2)),
    ),
    Works(
        "scatter_with_pad_drops",
        "op: a\ninputs: {x: {shape: [N]}}\noutputs: {y: {shape: [N]}}\nforward: pad(y[i + 1]) += x[i]\n",
        lambda x: torch.cat([torch.zeros(1).double(), x[:-1]]),
        (randn(4),),
    ),
    Works(
        "scatter_loops_over_every_index_of_the_target",
        "op: a\ninputs: {x: {shape: [E, D]}, i: {shape: [E], dtype: int, domain: 0 <= i < 4}}\n"
        "outputs: {y: {shape: [4, D]}}\nforward: |\n  y[i[e], d] += x[e, d]\n",
        lambda x, i: torch.zeros(4, 2).double().index_add(0, i, x),
        (randn(6, 2), PLACES),
    ),
    Works(
        "several_scatters",
        "op: a\ninputs: {x: {shape: [N]}}\noutputs: {y: {shape: [N]}}\nforward: |\n"
        "  pad(y[i + 1]) += x[i]\n  pad(y[i - 1]) += 2*x[i]\n",
        lambda x: torch.cat([torch.zeros(1).double(), x[:-1]]) + 2 * torch.cat([x[1:], torch.zeros(1).double()]),
        (randn(4),),
    ),
    Works(
        "scatter_under_a_guard",
        "op: a\ninputs: {x: {shape: [N]}}\nparams: {twice: {type: bool, default: true}}\n"
        "forward: |\n  y[i] = x[i]\n  y[i] += x[i] if twice\n",
        lambda x: 2 * x,
        (randn(4),),
    ),
    Works(
        "continued_in_brackets_and_a_comment",
        "op: a\ninputs: [x]\nforward: |\n  # a comment\n  y = (x   # more\n       + 1)\n",
        lambda x: x + 1,
        (randn(3),),
    ),
    Works(
        "recurrence_with_a_start",
        "op: a\ninputs: {g: {shape: [..., T]}, x: {shape: [..., T]}, h0: {shape: [...]}}\noutputs: [h]\nforward: |\n"
        "  h[..., -1] = h0[...]\n  h[..., t] = g[..., t]*h[..., t - 1] + x[..., t]\n",
        decayed,
        (randn(2, 4), randn(2, 4, seed=1), randn(2)),
    ),
    Works(
        "recurrence_without_a_start",
        "op: a\ninputs: {g: {shape: [..., T]}, x: {shape: [..., T]}}\noutputs: [h]\n"
        "forward: |\n  h[..., t] = g[..., t]*h[..., t - 1] + x[..., t]\n",
        decayed,
        (randn(2, 4), randn(2, 4, seed=1)),
    ),
    Works(
        "recurrence_downwards",
        "op: a\ninputs: {g: {shape: [..., T]}, x: {shape: [..., T]}, h0: {shape: [...]}}\noutputs: [h]\nforward: |\n"
        "  h[..., T] = h0[...]\n  h[..., t] = g[..., t]*h[..., t + 1] + x[..., t]\n",
        lambda a, x, h: decayed(a, x, h, down=True),
        (randn(2, 4), randn(2, 4, seed=1), randn(2)),
    ),
    Works(
        "recurrence_that_starts_at_a_param",
        "op: a\ninputs: {x: {shape: [...]}}\nparams: {steps: {type: int, domain: steps >= 1}}\noutputs: [v]\n"
        "forward: |\n  v[..., steps] = x[...]\n  v[..., n < steps] = 0.9*v[..., n + 1]\n",
        lambda x: torch.stack([x * 0.9 ** (4 - n) for n in range(4)], -1),
        (randn(3),),
        {"steps": 4},
    ),
    Works(
        "recurrence_of_several_names",
        "op: a\ninputs: {x: {shape: [T]}}\noutputs: [p, q]\nforward: |\n"
        "  p[-1] = 1\n  p[t] = 0.5*p[t - 1] - q[t - 1]*x[t]\n  q[t] = 0.5*q[t - 1] + p[t - 1]*x[t]\n",
        rotated,
        (randn(5),),
    ),
    Works(
        "recurrence_with_any_first_order_body",
        "op: a\ninputs: {x: {shape: [T]}}\noutputs: [h]\nforward: h[t] = tanh(h[t - 1]*h[t - 1] + x[t])\n",
        squared,
        (randn(5),),
    ),
    Works(
        "recurrence_that_reads_one_before_it",
        "op: a\ninputs: {f: {shape: [T]}, p0: {shape: []}}\noutputs: [p, late]\nforward: |\n"
        "  v[-1] = 3\n  v[t] = v[t - 1] + f[t]\n  p[-1] = p0\n  p[t] = p[t - 1] + v[t - 1]\n"
        "  w[t] = w[t + 1] + f[t]\n  late[t < T + 1] = p[t - 1]*pad(w[t], 1)\n",
        shifted,
        (randn(4), randn()),
    ),
    Works(
        "recurrence_downwards_read_after_it",
        "op: a\ninputs: {x: {shape: [T]}, e: {shape: []}}\nforward: |\n"
        "  w[T] = e\n  w[t] = w[t + 1]*x[t]\n  y[t] = x[t]*w[t + 1]\n",
        lambda x, e: x * torch.cat([(x.flip(0).cumprod(0) * e).flip(0)[1:], e[None]]),
        (randn(4), randn()),
    ),
)
def test_statements(build_operator: Build, case: Works) -> None:
    case.check(build_operator)


def test_a_scattered_position_out_of_range_is_an_error(build_operator: Build) -> None:
    text = SCATTER.format("+=").replace(", domain: 0 <= i < N", "").replace("op: a", "op: into")
    op = build_operator(text).into
    with pytest.raises(IndexError, match="i must satisfy 0 <= i < N = 4, but has values from 0 to 4"):
        op(torch.ones(2), torch.tensor([0, 4]), torch.zeros(4))


@refused(
    Refused("assigned_twice", "op: a\ninputs: [x]\nforward: |\n  y = x\n  y = 2*x\n", "OPG217", "y"),
    Refused(
        "guards_leave_a_case_out",
        "op: a\ninputs: [x]\nparams: {f: {type: bool, default: true}}\nforward: y = x if f\n",
        "OPG220",
        "y",
    ),
    Refused(
        "guards_overlap",
        "op: a\ninputs: [x]\nparams: {f: {type: bool, default: true}, g: {type: bool, default: true}}\n"
        "forward: |\n  y = x if f\n  y = 2*x if g\n  y = 0 if not f and not g\n",
        "OPG221",
        "g",
    ),
    Refused("guard_over_a_tensor", "op: a\ninputs: [x]\nforward: y = x if x > 0\n", "OPG222", "x > 0"),
    Refused(
        "string_outside_a_guard",
        'op: a\ninputs: [x]\nparams: {how: {choices: [b, c], default: b}}\nforward: y = where(how == "b", x, 0)\n',
        "OPG231",
        'how == "b"',
    ),
    Refused(
        "components_leave_a_place_out",
        "op: a\ninputs: {z: {shape: [..., 3]}}\noutputs: {y: {shape: [..., 3]}}\n"
        "forward: |\n  y[..., 0] = z[..., 0]\n  y[..., 2] = z[..., 1]\n",
        "OPG249",
        "y[..., 2]",
    ),
    Refused(
        "scatter_without_a_shape",
        "op: a\ninputs: {x: {shape: [E]}, i: {shape: [E], dtype: int}}\nforward: y[i[e]] += x[e]\n",
        "OPG248",
        "y[i[e]]",
    ),
    Refused(
        "read_before_its_last_statement",
        "op: a\ninputs: {x: {shape: [N]}}\nforward: |\n  y[n] = x[n]\n  z[n] = y[n]\n  y[n] += x[n]\n",
        "OPG219",
        "y",
    ),
    Refused("read_before_it_is_assigned", "op: a\ninputs: [x]\nforward: |\n  y = z\n  z = x\n", "OPG219", "z"),
    Refused(
        "recurrence_in_both_directions",
        "op: a\ninputs: {x: {shape: [T]}}\noutputs: [h]\nforward: h[t] = h[t - 1] + h[t + 1] + x[t]\n",
        "OPG250",
        "h[t + 1]",
    ),
    Refused("assigning_an_input", "op: a\ninputs: [x]\nforward: x = 2*x\n", "OPG236", "x"),
)
def test_statements_refused(case: Refused) -> None:
    case.check()
