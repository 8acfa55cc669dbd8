"""Section 2 of the language page: the fields of a spec."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import nn

from .sections import Build, Refused, Works, ints, randn, refused, works


@works(
    Works("inputs_as_a_list", "op: a\ninputs: [x, z]\nforward: y = x*z\n", lambda x, z: x * z, (randn(2, 3), randn(3))),
    Works(
        "input_dtype_int",
        "op: a\ninputs: {x: {}, n: {dtype: int}}\nforward: y = x**n\n",
        lambda x, n: x**n,
        (randn(4), ints(0, 1, 2, 3)),
    ),
    Works(
        "input_dtype_bool",
        "op: a\ninputs: {x: {}, m: {dtype: bool}}\nforward: y = where(m, x, 0)\n",
        lambda x, m: torch.where(m, x, 0.0),
        (randn(3), ints(True, False, True)),
    ),
    Works(
        "input_optional_present",
        "op: a\ninputs: {x: {}, b: {optional: true}}\nforward: y = x + b\n",
        lambda x, b: x + b,
        (randn(3), randn(3, seed=1)),
    ),
    Works(
        "input_complex_is_the_optional_one",
        "op: a\ninputs: {x: {}, p: {dtype: complex, optional: true, absent: 1}}\n"
        "params: {f: {choices: [u, v], default: u}}\n"
        "forward: |\n  y = real(p*x) if f == u\n  y = 2*real(p*x) if f == v\n",
        lambda x: 2.0 * x,
        (randn(3),),
        {"f": "v"},
    ),
    Works(
        "input_optional_missing_reads_as_zero",
        "op: a\ninputs: {x: {}, b: {optional: true}}\nforward: y = x + b\n",
        lambda x: x,
        (randn(3),),
    ),
    Works(
        "input_absent",
        "op: a\ninputs: {x: {}, b: {optional: true, absent: -inf}}\nforward: y = max(x, b)\n",
        lambda x: x,
        (randn(3),),
    ),
    Works(
        "input_not_differentiable",
        "op: a\ninputs: {x: {}, w: {differentiable: false}}\nforward: y = x*w\n",
        lambda x, w: x * w.detach(),
        (randn(3), randn(3, seed=1)),
    ),
    Works(
        "param_float_with_default",
        "op: a\ninputs: [x]\nparams: {s: {type: float, default: 1/4}}\nforward: y = s*x\n",
        lambda x: x / 4,
        (randn(3),),
    ),
    Works(
        "param_default_of_dims",
        "op: a\ninputs: {x: {shape: [..., K]}}\nparams: {s: {type: float, default: 1/sqrt(K)}}\n"
        'forward: "y[..., k] = s*x[..., k]"\n',
        lambda x: x / 2,
        (randn(3, 4),),
    ),
    Works(
        "param_required",
        "op: a\ninputs: [x]\nparams: {n: {type: int}}\nforward: y = x*n\n",
        lambda x: 3 * x,
        (randn(3),),
        {"n": 3},
    ),
    Works(
        "param_list",
        "op: a\ninputs: [x]\nparams: {p: {type: [float, float], default: [1, 2]}}\nforward: y = p[0]*x + p[1]\n",
        lambda x: 3 * x + 4,
        (randn(3),),
        {"p": [3.0, 4.0]},
    ),
    Works(
        "param_choices",
        "op: a\ninputs: [x]\nparams: {how: {choices: [up, down], default: up}}\n"
        'forward: |\n  y = 2*x if how == "up"\n  y = x/2 if how == "down"\n',
        lambda x: x / 2,
        (randn(3),),
        {"how": "down"},
    ),
    Works(
        "param_missing_and_given",
        "op: a\ninputs: [x]\nparams: {top: {type: float, default: null}}\n"
        "forward: |\n  y = min(x, top) if given(top)\n  y = x if not given(top)\n",
        lambda x: x,
        (randn(3),),
    ),
    Works(
        "param_given",
        "op: a\ninputs: [x]\nparams: {top: {type: float, default: null}}\n"
        "forward: y = where(given(top), min(x, top), x)\n",
        lambda x: x.clamp(max=0.25),
        (randn(5),),
        {"top": 0.25},
    ),
    Works(
        "dims_derived",
        "op: a\ninputs: {x: {shape: [N]}}\nparams: {r: {type: int, domain: r > 0}}\ndims: {M: N//r, Q: M*2}\n"
        "outputs: {y: {shape: [Q]}}\nforward: y[q] = x[q//2*r]\n",
        lambda x: x[::3][:2].repeat_interleave(2),
        (randn(8),),
        {"r": 3},
    ),
    Works(
        "functions_see_params_and_dims",
        "op: a\ninputs: {x: {shape: [..., K]}}\nparams: {s: {type: float, default: 2.0}}\n"
        'functions: {f(v): v*s/K, "g(u, v)": f(u)*v}\nforward: "y[..., k] = g(x[..., k], 3)"\n',
        lambda x: x * 2 / 4 * 3,
        (randn(2, 4),),
    ),
    Works(
        "outputs_that_are_read_are_listed",
        "op: a\ninputs: [x]\noutputs: [h, y]\nforward: |\n  h = exp(x)\n  y = h*h\n",
        lambda x: (x.exp(), (2 * x).exp()),
        (randn(3),),
    ),
    Works(
        "output_not_differentiable",
        "op: a\ninputs: [x]\noutputs: {h: {differentiable: false}, y: {}}\nforward: |\n  h = exp(x)\n  y = h*x\n",
        lambda x: (x.exp().detach(), x.exp() * x),
        (randn(3),),
    ),
    Works(
        "two_names_of_one_value",
        "op: a\ninputs: {x: {shape: [N, C]}, s: {shape: [C], differentiable: false}, w: {shape: [C]}}\n"
        "outputs: [y, kept]\nforward: |\n"
        "  v[c] = exp(s[c])\n  y[n, c] = x[n, c]*sqrt(v[c])*w[c]\n  kept[c] = exp(s[c])\n",
        lambda x, s, w: (x * s.detach().exp().sqrt() * w, s.detach().exp()),
        (randn(2, 3), randn(3), randn(3, seed=1)),
    ),
    Works(
        "save",
        "op: a\ninputs: [x]\nsave: [h]\noutputs: [y]\nforward: |\n  h = exp(x)\n  y = h*sin(h)\n",
        lambda x: x.exp() * x.exp().sin(),
        (randn(3),),
    ),
    Works(
        "exact",
        "op: a\ninputs: [x]\nexact: true\nforward: y = log(1 + exp(x))\n",
        lambda x: torch.log(1 + torch.exp(x)),
        (randn(3),),
    ),
    Works(
        "cast_rounds_in_place",
        "op: a\ninputs: [x, w]\nforward: y = cast(x/3, x)*w\n",
        lambda x, w: x / 3 * w,
        (randn(3), randn(3, seed=1)),
    ),
)
def test_fields(build_operator: Build, case: Works) -> None:
    case.check(build_operator)


def test_a_domain_reads_any_dim(build_operator: Build) -> None:
    spec = (
        "op: bounded\n"
        "inputs:\n"
        "  x: {shape: [M, I]}\n"  # a dim whose name code gives another one
        "  at: {shape: [M], dtype: int, domain: 0 <= at < I, optional: true}\n"
        "  w: {shape: [O], optional: true}\n"
        "  l: {shape: [M], dtype: int, domain: -1 <= l < O}\n"
        "  k: {shape: [M], dtype: int, domain: 0 <= k < Q}\n"
        "params:\n  p: {type: int, default: 1, domain: 0 < p <= Q}\n"
        "  scale: {type: float, default: 0.5, domain: scale < I}\n"
        "dims: {Q: 2*I - p + 1}\n"
        "forward: y[m] = x[m, 0]*at[m] + w[0]*l[m] + k[m]*scale + p\n"
    )
    bounded = build_operator(spec).bounded
    x, at = torch.randn(3, 2), torch.tensor([0, 1, 1])
    w, l_, k = torch.randn(3), torch.tensor([0, -1, 2]), torch.tensor([0, 1, 3])
    for there in (at, None):
        for weights in (w, None):
            want = (x[:, 0] * at if there is not None else 0) + (w[0] * l_ if weights is not None else 0) + 0.5 * k + 1
            torch.testing.assert_close(bounded(x, there, weights, l_, k), want)
    bounded(x, at, None, l_ + 5, k)  # nothing says how long `w` would be
    with pytest.raises(
        IndexError, match=r"bounded: at must satisfy 0 <= at < I with I = 2, but has values from 1 to 2"
    ):
        bounded(x, at + 1, w, l_, k)
    with pytest.raises(IndexError, match="l must satisfy -1 <= l < O"):
        bounded(x, at, w[:2], l_, k)
    with pytest.raises(IndexError, match="k must satisfy 0 <= k < Q"):
        bounded(x, at, w, l_, k, p=2)
    with pytest.raises(ValueError, match=r"p must satisfy 0 < p <= Q with Q = \d+, but is 3"):
        bounded(x, at, w, l_, k - k, p=3)
    with pytest.raises(ValueError, match=r"scale must satisfy scale < I with I = \d+, but is 2"):
        bounded(x, at, w, l_, k, scale=2.0)


def test_a_domain_reads_a_dim_that_a_param_is(build_operator: Build) -> None:
    spec = (
        "op: counted\ninputs: {i: {shape: [N], dtype: int, domain: 0 <= i < M}}\nparams: {rows: {type: int}}\n"
        "dims: {M: rows}\noutputs: {y: {shape: [M]}}\nforward: y[i[n]] += 1\n"
    )
    counted = build_operator(spec).counted
    i = torch.tensor([0, 2, 0])
    torch.testing.assert_close(counted(i, rows=3), torch.tensor([2, 0, 1]), check_dtype=False)
    with pytest.raises(IndexError, match=r"i must satisfy 0 <= i < M with M = \d+, but has values from 0 to 2"):
        counted(i, rows=2)


def test_the_domain_of_a_list_is_that_of_its_elements(build_operator: Build) -> None:
    op = build_operator(
        "op: stepped\ninputs: {x: {shape: [H, W]}}\n"
        "params: {step: {type: [int, int], default: [1, 2], domain: step > 0}}\n"
        "forward: y[p < H//step[0], q < W//step[1]] = x[p*step[0], q*step[1]]\n"
    ).stepped
    x = randn(4, 4)
    assert torch.equal(op(x), x[:, ::2])
    with pytest.raises(ValueError, match="step"):
        op(x, step=[2, 0])


def test_compute_dtype_and_cast_round_in_half(build_operator: Build) -> None:
    op = build_operator("op: rounded\ninputs: [x]\nforward: y = cast(x/3, x)*3 - x/3*3\n").rounded
    x = torch.linspace(1, 2, 9).bfloat16()
    expected = ((x.float() / 3).bfloat16().float() * 3 - x.float() / 3 * 3).bfloat16()
    assert torch.equal(op(x), expected)
    assert expected.abs().max() > 0


def test_reference_is_an_attribute_of_the_generated_tests(build_operator: Build) -> None:
    package = build_operator("op: same\nreference: torch.square\ninputs: [x]\nforward: y = x*x\n")
    test = Path(package.__file__ or "").with_name("test_same.py").read_text()
    assert "torch.square" in test


def test_inplace_variant(build_operator: Build) -> None:
    package = build_operator("op: halve\ninputs: [x]\ninplace: x\nforward: y = x/2\n")
    x = torch.ones(3)
    version = x._version
    assert package.halve_(x) is x
    assert x.tolist() == [0.5] * 3
    assert x._version > version


def test_once_differentiable(build_operator: Build) -> None:
    op = build_operator("op: once\nonce_differentiable: true\ninputs: [x]\nforward: y = x**3\n").once
    x = randn(3).requires_grad_()
    (first,) = torch.autograd.grad(op(x).sum(), x, create_graph=True)
    torch.testing.assert_close(first.detach(), 3 * x.detach() ** 2)
    with pytest.raises(RuntimeError, match="once"):
        torch.autograd.grad(first.sum(), x)


MODULE = """
op: scale_shift
inputs: {x: {shape: [..., K]}, w: {shape: [K]}, b: {shape: [K], optional: true}, m: {shape: [K]}}
params: {s: {type: float, default: 2.0}}
forward: "y[..., k] = s*x[..., k]*w[k] + b[k] + m[k]"
module:
  name: ScaleShift
  dims: {K: features}
  parameters: {w: ones, b: zeros}
  buffers: {m: zeros}
  doc: Scales and shifts.
"""


def test_module(build_operator: Build) -> None:
    package: ModuleType = build_operator(MODULE.strip() + "\n")
    layer = package.ScaleShift(4, s=3.0)
    assert isinstance(layer, nn.Module)
    assert sorted(n for n, _ in layer.named_parameters()) == ["b", "w"]
    assert [n for n, _ in layer.named_buffers()] == ["m"]
    assert torch.equal(layer(torch.ones(2, 4)), torch.full((2, 4), 3.0))
    assert package.ScaleShift(4, b=False).b is None
    assert "features=4" in repr(layer)


@refused(
    Refused("unknown_field", "op: a\ninput: [x]\nforward: y = x\n", "OPG110", "input"),
    Refused("op_is_missing", "inputs: [x]\nforward: y = x\n", "OPG111", "inputs"),
    Refused("op_in_camel_case", "op: MyOp\ninputs: [x]\nforward: y = x\n", "OPG113", "MyOp"),
    Refused("reference_is_no_path", "op: a\nreference: 1 + 1\ninputs: [x]\nforward: y = x\n", "OPG113", "1 + 1"),
    Refused("dtype", "op: a\ninputs: {x: {dtype: quarter}}\nforward: y = x\n", "OPG114", "quarter"),
    Refused("optional", "op: a\ninputs: {x: {optional: maybe}}\nforward: y = x\n", "OPG112", "maybe"),
    Refused("param_type", "op: a\ninputs: [x]\nparams: {p: {type: number}}\nforward: y = p*x\n", "OPG114", "number"),
    Refused(
        "default_of_another_type",
        "op: a\ninputs: [x]\nparams: {p: {type: int, default: 0.5}}\nforward: y = p*x\n",
        "OPG119",
        "0.5",
    ),
    Refused(
        "default_is_no_choice",
        "op: a\ninputs: [x]\nparams: {p: {choices: [b, c], default: d}}\nforward: |\n"
        '  y = x if p == "b"\n  y = 2*x if p == "c"\n',
        "OPG119",
        "d",
    ),
    Refused("dims_in_a_circle", "op: a\ninputs: [x]\ndims: {P: Q, Q: P}\nforward: y = x*P\n", "OPG237", "Q"),
    Refused("domain_of_another_name", "op: a\ninputs: {x: {domain: z > 0}}\nforward: y = x\n", "OPG233", "z > 0"),
    Refused(
        "domain_of_a_dim_that_nothing_tells",
        "op: a\ninputs: {x: {}, at: {dtype: int, domain: 0 <= at < I}}\nforward: y = x*at\n",
        "OPG238",
        "I",
    ),
    Refused("function_without_brackets", "op: a\ninputs: [x]\nfunctions: {f x: x}\nforward: y = x\n", "OPG234", "f x"),
    Refused("output_never_assigned", "op: a\ninputs: [x]\noutputs: [z]\nforward: y = x\n", "OPG218", "z"),
    Refused(
        "missing_param_read",
        "op: a\ninputs: [x]\nparams: {p: {type: float, default: null}}\nforward: y = p*x\n",
        "OPG230",
        "p",
    ),
)
def test_fields_refused(case: Refused) -> None:
    case.check()
