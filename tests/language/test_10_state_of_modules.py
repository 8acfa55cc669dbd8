"""Section 10 of the language page, state of modules: `module.training` and `module.updates`."""

from __future__ import annotations

import copy
import io
from types import ModuleType

import pytest
import torch
from torch import nn

from .sections import Build, Refused, randn, refused

CENTRE = """
op: centre
inputs: {x: {shape: [N, K]}, w: {shape: [K]}, mu: {shape: [K]}, steps: {shape: [], dtype: int}}
params: {training: {type: bool, default: false}, rate: {type: float, default: 0.5}}
forward: |
  batch[k] = mean[n](x[n, k]) if training
  batch[k] = mu[k] if not training
  y[n, k] = (x[n, k] - batch[k])*w[k]
  next_mu[k] = mu[k] + rate*(batch[k] - mu[k]) if training
  next_steps = steps + 1
module:
  dims: {K: features}
  parameters: {w: ones}
  buffers: {mu: zeros, steps: zeros}
  updates: {mu: next_mu, steps: next_steps}
  training: training
"""

DECAY = """
op: decay
inputs: {x: {shape: [..., K]}, m: {shape: [K]}}
forward: |
  y[..., k] = x[..., k]*m[k]**2
  next_m[k] = m[k]/2
module: {buffers: {m: ones}, updates: {m: next_m}}
"""

QUIET = """
op: quiet
inputs: [x]
params: {scale: {type: float, default: 3.0}, training: {type: bool, default: true}}
forward: |
  y = scale*x if training
  y = x if not training
module: {name: Quiet, training: training}
"""

OPTIONAL = """
op: follow
inputs: {x: {shape: [N, K]}, m: {shape: [K], optional: true}, v: {shape: [K]}}
forward: |
  y[n, k] = x[n, k] - m[k] - v[k]
  next_m[k] = mean[n](x[n, k])
  next_v[k] = max[n](x[n, k])
module: {buffers: {m: zeros, v: zeros}, updates: {m: next_m, v: next_v}}
"""

CHOICES = """
op: choose
inputs: {x: {shape: [N, K]}, m: {shape: [K]}}
params: {how: {choices: [mean, last, frozen], default: mean}, training: {type: bool, default: true}}
forward: |
  y[n, k] = x[n, k] - m[k]
  next_m[k] = (m[k] + mean[n](x[n, k]))/2 if how == mean and training
  next_m[k] = x[N - 1, k] if how == last and training
module: {buffers: {m: ones}, updates: {m: next_m}, training: training}
"""

COMPLEX = """
op: turn
inputs: {x: {shape: [N, K]}, z: {shape: [K], dtype: complex}, seen: {shape: [K], dtype: bool}}
forward: |
  next_z[k] = z[k]*complex(0, 1)
  y[n, k] = x[n, k]*abs(z[k])
  next_seen[k] = seen[k] or any[n](x[n, k] > 0)
module: {buffers: {z: ones, seen: zeros}, updates: {z: next_z, seen: next_seen}}
"""

NAMES = """
op: snapshot
inputs: {torch: {shape: [K]}, training: {shape: [K]}, self: {shape: [K]}}
params: {copy_: {type: bool, default: true}}
forward: |
  results[k] = torch[k]*training[k]*self[k] if copy_
  results[k] = torch[k] if not copy_
  snapshot[k] = training[k] + 1
module: {buffers: {training: ones}, updates: {training: snapshot}, training: copy_}
"""


def test_the_operator_is_pure(build_operator: Build) -> None:
    package = build_operator(CENTRE)
    x, w, mu, steps = randn(4, 3), randn(3), randn(3, seed=1), torch.tensor(2)
    kept = mu.clone()
    _, next_mu, next_steps = package.centre(x, w, mu, steps, training=True)
    torch.testing.assert_close(next_mu, (kept + x.mean(0)) / 2)
    assert next_steps == 3
    assert steps == 2
    assert torch.equal(mu, kept)


def test_buffers_are_overwritten_in_training_only(build_operator: Build) -> None:
    layer, x = build_operator(CENTRE).Centre(3, dtype=torch.float64), randn(4, 3)
    y = layer(x)
    torch.testing.assert_close(y, x - x.mean(0))
    torch.testing.assert_close(layer.mu, x.mean(0) / 2)
    assert layer.steps == 1
    assert layer.steps.dtype == torch.int64
    assert layer.mu.is_leaf
    assert not layer.mu.requires_grad
    kept = {k: t.clone() for k, t in layer.state_dict().items()}
    torch.testing.assert_close(layer.eval()(x), x - x.mean(0) / 2)
    torch.testing.assert_close(layer.state_dict(), kept, rtol=0, atol=0)


def test_the_param_is_no_argument_of_the_constructor(build_operator: Build) -> None:
    package = build_operator(CENTRE)
    with pytest.raises(TypeError, match="training"):
        package.Centre(3, training=True)
    assert repr(package.Centre(3, rate=0.25)) == "Centre(features=3, rate=0.25)"


def test_training_without_updates(build_operator: Build) -> None:
    layer, x = build_operator(QUIET).Quiet(), randn(3)
    torch.testing.assert_close(layer(x), 3 * x)
    torch.testing.assert_close(layer.eval()(x), x)
    torch.testing.assert_close(nn.Sequential(layer).train()(x), 3 * x)


def test_updates_without_a_param(build_operator: Build) -> None:
    layer, x = build_operator(DECAY).Decay(2, dtype=torch.float64), randn(3, 2)
    for wanted in (1.0, 0.5):
        torch.testing.assert_close(layer(x), wanted**2 * x)
    layer.eval()(x)
    assert layer.m.tolist() == [0.25, 0.25]


def test_the_gradient_reads_what_the_buffer_was(build_operator: Build) -> None:
    layer, x = build_operator(DECAY).Decay(2, dtype=torch.float64), randn(3, 2).requires_grad_()
    (layer(x).sum() + layer(x).sum()).backward()  # overwritten twice before
    assert x.grad is not None
    torch.testing.assert_close(x.grad, torch.full((3, 2), 1.25, dtype=torch.float64))
    assert torch.autograd.gradgradcheck(copy.deepcopy(layer).eval(), (x,))


def test_a_buffer_may_be_missing(build_operator: Build) -> None:
    package, x = build_operator(OPTIONAL), randn(4, 2)
    whole, part = package.Follow(2), package.Follow(2, m=False)
    whole(x), part(x)
    torch.testing.assert_close(whole.m, x.mean(0).float())
    assert part.m is None
    assert list(part.state_dict()) == ["v"]
    torch.testing.assert_close(part.v, x.max(0).values.float())


def test_where_there_is_no_statement_the_buffer_stays(build_operator: Build) -> None:
    package, x = build_operator(CHOICES), randn(4, 2)
    ones = torch.ones(2, dtype=torch.float64)
    wanted = {"mean": (1 + x.mean(0)) / 2, "last": x[-1], "frozen": ones}
    for how, value in wanted.items():
        layer = package.Choose(2, how=how, dtype=torch.float64)
        layer(x)
        torch.testing.assert_close(layer.m, value)
        torch.testing.assert_close(package.choose(x, ones, how=how, training=False)[1], ones)


def test_complex_numbers_and_conditions(build_operator: Build) -> None:
    layer = build_operator(COMPLEX).Turn(2)
    layer(torch.tensor([[1.0, -1.0]]))
    assert layer.z.tolist() == [1j, 1j]
    assert layer.seen.dtype == torch.bool
    assert layer.seen.tolist() == [True, False]


def test_any_name_will_do(build_operator: Build) -> None:
    package = build_operator(NAMES)
    layer, x = package.Snapshot(2, dtype=torch.float64), randn(2)
    torch.testing.assert_close(layer(x, x), x * x)
    assert layer.train()(x, x).shape == (2,)


def test_states_are_saved_copied_and_loaded(build_operator: Build) -> None:
    package, x = build_operator(CENTRE), randn(4, 3).float()
    layer = package.Centre(3)
    layer(x)
    again = package.Centre(3)
    stored = io.BytesIO()
    torch.save(layer.state_dict(), stored)
    stored.seek(0)
    again.load_state_dict(torch.load(stored))
    for other in (again, copy.deepcopy(layer)):
        torch.testing.assert_close(other.eval()(x), layer.eval()(x), rtol=0, atol=0)
    twin = copy.deepcopy(layer).train()
    twin(x)
    assert (twin.steps, layer.steps) == (2, 1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_dtypes_are_kept(build_operator: Build, dtype: torch.dtype) -> None:
    layer = build_operator(CENTRE).Centre(3).to(dtype)
    for x in (randn(4, 3).to(dtype), randn(4, 3).float()):
        layer(x)
        assert (layer.mu.dtype, layer.steps.dtype) == (dtype, torch.int64)


def test_functional_call_overwrites_what_it_is_given(build_operator: Build) -> None:
    layer, x = build_operator(CENTRE).Centre(3, dtype=torch.float64), randn(4, 3)
    params = {n: p.detach() for n, p in layer.named_parameters()}
    buffers = {n: b.clone() for n, b in layer.named_buffers()}

    def loss(params: dict[str, torch.Tensor], buffers: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.func.functional_call(layer, (params, buffers), (x,)).sin().sum()  # type: ignore[no-any-return]

    found = torch.func.grad(loss)(params, buffers)["w"]
    torch.testing.assert_close(found, ((x - x.mean(0)).cos() * (x - x.mean(0))).sum(0))
    torch.testing.assert_close(buffers["mu"], x.mean(0) / 2)
    assert layer.steps == 0
    assert not layer.mu.any()


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch, about itself
def test_export(build_operator: Build) -> None:
    layer, x = build_operator(CENTRE).Centre(3, dtype=torch.float64), randn(4, 3)
    program = torch.export.export(layer, (x,)).run_decompositions()
    assert sorted(program.graph_signature.buffers_to_mutate.values()) == ["mu", "steps"]
    module = program.module()
    torch.testing.assert_close(module(x), x - x.mean(0))
    torch.testing.assert_close(dict(module.named_buffers())["mu"], x.mean(0) / 2)
    still = torch.export.export(layer.eval(), (x,)).run_decompositions()
    assert not still.graph_signature.buffers_to_mutate


@pytest.mark.thorough
@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("spec", [CENTRE, DECAY], ids=["centre", "decay"])
def test_compiled_modules(build_alone: Build, spec: str, inline: bool) -> None:
    package: ModuleType = build_alone(spec)
    layer = getattr(package, "Centre" if spec is CENTRE else "Decay")(3, dtype=torch.float64)
    same = copy.deepcopy(layer)
    runtime = __import__(f"{package.__name__.split('.')[0]}._runtime", fromlist=["set_inline"])
    torch._dynamo.reset()
    with runtime.set_inline(inline):
        compiled = torch.compile(same, fullgraph=True)
        for step in range(3):
            a, b = (randn(4, 3, seed=step).requires_grad_() for _ in range(2))
            first, second = layer(a), compiled(b)
            torch.testing.assert_close(first, second)
            (first.sin().sum().backward(), second.sin().sum().backward())
            torch.testing.assert_close(a.grad, b.grad)
            torch.testing.assert_close(same.state_dict(), layer.state_dict())
        torch.testing.assert_close(compiled.eval()(a), layer.eval()(a))
        torch.testing.assert_close(same.state_dict(), layer.state_dict())


HEAD = "op: a\ninputs: {x: {shape: [N, K]}, m: {shape: [K]}}\n"
BODY = "forward: |\n  y[n, k] = x[n, k] + m[k]\n  next_m[k] = m[k]/2\n"


def _module(fields: str, body: str = BODY, params: str = "") -> str:
    return f"{HEAD}{params}module: {{{fields}}}\n{body}"


@refused(
    Refused("training_is_no_param", _module("training: train"), "OPG116", "train"),
    Refused("training_is_no_bool", _module("training: s", params="params: {s: {type: int}}\n"), "OPG117", "s"),
    Refused("training_is_a_list", _module("training: s", params="params: {s: {type: [bool, bool]}}\n"), "OPG117", "s"),
    Refused("training_is_a_truth_value", _module("training: true"), "OPG112", "true"),
    Refused("buffer_is_none", _module("buffers: {m: zeros}, updates: {mm: next_m}"), "OPG116", "mm"),
    Refused("buffer_is_a_parameter", _module("parameters: {m: zeros}, updates: {m: next_m}"), "OPG117", "m"),
    Refused("output_is_none", _module("buffers: {m: zeros}, updates: {m: next}"), "OPG116", "next"),
    Refused("output_to_buffer", _module("buffers: {m: zeros}, updates: {next_m: m}"), "OPG117", "next_m"),
    Refused("updates_is_a_list", _module("buffers: {m: zeros}, updates: [m]"), "OPG112", "[m]"),
    Refused(
        "output_is_read_and_not_listed",
        _module("buffers: {m: zeros}, updates: {m: t}", "forward: |\n  t[k] = m[k]/2\n  y[n, k] = x[n, k]*t[k]\n"),
        "OPG116",
        "t",
    ),
    Refused(
        "output_is_read_where_it_has_no_statement",
        "op: a\ninputs: {x: {shape: [K]}, m: {shape: [K], differentiable: false}}\n"
        "params: {training: {type: bool, default: false}}\noutputs: [y, next_m]\n"
        "module: {buffers: {m: zeros}, updates: {m: next_m}, training: training}\n"
        "forward: |\n  next_m[k] = m[k] + x[k] if training\n  y[k] = x[k] - next_m[k]\n",
        "OPG220",
        "next_m",
    ),
    Refused(
        "another_shape",
        _module("buffers: {m: zeros}, updates: {m: y}", "forward: |\n  y[n, k] = x[n, k] + m[k]\n  z = m[0]\n"),
        "OPG123",
        "y",
    ),
    Refused(
        "another_kind",
        "op: a\ninputs: {x: {shape: [K]}, m: {shape: [K], dtype: int}}\n"
        "module: {buffers: {m: zeros}, updates: {m: z}}\nforward: |\n  y[k] = x[k]*m[k]\n  z[k] = m[k]/2\n",
        "OPG123",
        "z",
    ),
    Refused(
        "nothing_is_returned",
        _module("buffers: {m: zeros}, updates: {m: y}", "forward: y[k] = sum[n](x[n, k]) + m[k]\n"),
        "OPG123",
        "y",
    ),
    Refused(
        "other_names_cover_every_setting",
        _module(
            "buffers: {m: zeros}, updates: {m: next_m}, training: t",
            "forward: |\n  y[n, k] = x[n, k] + m[k] if t\n  next_m[k] = m[k]/2 if t\n",
            "params: {t: {type: bool, default: true}}\n",
        ),
        "OPG220",
        "y[n, k]",
    ),
    Refused(
        "guards_that_overlap",
        _module(
            "buffers: {m: zeros}, updates: {m: next_m}, training: t",
            "forward: |\n  y[n, k] = x[n, k] + m[k]\n  next_m[k] = m[k]/2 if t\n  next_m[k] = m[k]/3 if t\n",
            "params: {t: {type: bool, default: true}}\n",
        ),
        "OPG221",
        "t",
    ),
)
def test_refused(case: Refused) -> None:
    case.check()
