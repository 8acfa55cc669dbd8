"""Section 10 of the language page: random numbers.

- an input of `dtype: seed` is a 0-dim int64 tensor: test_numbers_are_those_of_the_place; test_wrong_seeds,
  test_refused
- left out of a call, it is drawn once: test_a_seed_that_is_left_out (`manual_seed`, `fork_rng`)
- checkpointing, `torch.compile`, `export`, vmap: test_gradients_see_the_same_numbers, test_compiled_graphs_draw_anew,
  …
- functions of the seed, the call and the place: test_numbers_are_those_of_the_place, test_distributions,
  test_correlations; test_refused
- the same in every derivative, not saved: test_gradients_see_the_same_numbers, test_only_the_seed_is_saved
- in every back end, for any number of threads: `tests/native`, `tests/cuda` and `tests/distributed`,
  `test_*random_numbers.py`
- constants for derivatives: test_numbers_are_constants
- the example: test_the_example_of_the_page
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from itertools import combinations
from types import ModuleType

import pytest
import torch
from torch.func import vmap
from torch.utils.checkpoint import checkpoint

from opgen.ir import philox

from .sections import Refused, refused

Build = Callable[[str], ModuleType]

DRAWS = """
op: draws
inputs: {x: {shape: [..., N]}, seed: {dtype: seed}}
params: {n: {type: int, default: 7, domain: n > 0}}
outputs: {u: {shape: [..., N]}, g: {shape: [..., N]}, k: {shape: [..., N]}, twice: {shape: [..., N]}}
forward: |
  u[..., i] = uniform(seed)
  g[..., i] = normal(seed)
  k[..., i] = integer(seed, n)
  twice[..., i] = uniform(seed)
"""
NOISE = """
op: noisy
inputs: {x: {}, scale: {}, seed: {dtype: seed}}
params: {training: {type: bool, default: true}}
forward: |
  noise = normal(seed)
  y = x*exp(scale*noise) + where(uniform(seed) < 0.5, x**3, 0) if training
  y = x if not training
"""
BESIDE = """
op: beside
inputs: {x: {shape: [..., N, M]}, seed: {dtype: seed}}
forward: |
  y[..., j] = sum[i](x[..., i, j]*uniform(seed)) + uniform(seed)
  z[i < N] = uniform(seed)
"""
PICKED = """
op: picked
inputs: {x: {shape: [..., N, M]}, seed: {dtype: seed}}
forward: y[..., i] = x[..., i, integer(seed, M)]
"""


DROPOUT = """
op: dropout_residual
inputs: {x: {shape: [...]}, residual: {shape: [...]}, seed: {dtype: seed}}
params: {p: {type: float, default: 0.1, domain: 0 <= p < 1}, training: {type: bool, default: true}}
forward: |
  y = residual + where(uniform(seed) >= p, x/(1 - p), 0) if training
  y = residual + x if not training
module: {name: DropoutResidual, training: training}
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The numbers of one operator, for a million of points."""
    from opgen import build

    folder = tmp_path_factory.mktemp("draws")
    (folder / "draws.yaml").write_text(DRAWS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        assert not build(folder / "draws.yaml", folder / "million").failed
        return importlib.import_module("million.draws")


def test_numbers_are_those_of_the_place(drawn: ModuleType) -> None:
    seed = torch.tensor(-987654321012345)
    u, g, k, twice = drawn.draws(torch.zeros(2, 3, 4, dtype=torch.float64), seed)
    bits = [[philox.bits(seed.item(), call, place) for place in range(24)] for call in range(4)]
    assert u.flatten().tolist() == [philox.uniform(b) for b in bits[0]]
    torch.testing.assert_close(g.flatten().tolist(), [philox.normal(b) for b in bits[1]], rtol=1e-14, atol=1e-15)
    assert k.flatten().tolist() == [b % 7 for b in bits[2]]
    assert k.dtype == torch.int64
    assert twice.flatten().tolist() == [philox.uniform(b) for b in bits[3]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_numbers_of_other_dtypes_are_rounded(drawn: ModuleType, dtype: torch.dtype) -> None:
    seed, x = torch.tensor(5), torch.zeros(100, 7)
    exact, found = drawn.draws(x.double(), seed), drawn.draws(x.to(dtype), seed)
    torch.testing.assert_close(found[0], exact[0].to(dtype), rtol=0, atol=0)
    torch.testing.assert_close(found[1], exact[1].float().to(dtype), rtol=0, atol=0)
    assert torch.equal(found[2], exact[2])


def distance(values: torch.Tensor) -> torch.Tensor:
    """How far the distribution of numbers is from the uniform one, at most (Kolmogorov and Smirnov)."""
    ordered, count = values.flatten().sort().values, values.numel()
    steps = torch.arange(count, dtype=torch.float64) / count
    return torch.maximum((ordered - steps).abs().max(), (steps + 1 / count - ordered).abs().max())


def surplus(values: torch.Tensor, side: int) -> float:
    """How far the chi square of `side`**2 integers below `side` is from its mean."""
    counts = torch.bincount(values.flatten(), minlength=side).double()
    return abs((counts - side).square().sum().item() / side - (side - 1))


MANY = pytest.param(1000, marks=pytest.mark.thorough)


@pytest.mark.parametrize("side", [200, MANY])
@pytest.mark.parametrize("seed", [0, 1, -(2**60)])
def test_distributions(drawn: ModuleType, seed: int, side: int) -> None:
    """Kolmogorov and Smirnov's distance, which exceeds 1.95 over the root of the count once in a thousand seeds."""
    u, g, k, twice = drawn.draws(torch.zeros(side, side, dtype=torch.float64), torch.tensor(seed), n=side)
    for values in (u, (1 + torch.erf(g / math.sqrt(2))) / 2, twice):
        assert distance(values) < 1.95 / side
    assert u.min() >= 0
    assert u.max() < 1
    assert surplus(k, side) < 3.3 * math.sqrt(2 * side)


@pytest.mark.parametrize("side", [200, MANY])
def test_correlations(drawn: ModuleType, side: int) -> None:
    """Between calls, and for every call between neighbours and seeds; four standard deviations."""
    x = torch.zeros(side, side, dtype=torch.float64)
    own, other, far = ([v.double() for v in drawn.draws(x, torch.tensor(s))] for s in (3, 4, 3 + 2**32))
    pairs = list(combinations(own, 2))
    for v, beside, further in zip(own, other, far, strict=True):
        pairs += [(v, beside), (v, further), (v[:, 1:], v[:, :-1]), (v[1:], v[:-1])]
    g = own[1].square()
    for a, b in (*pairs, (g, other[1].square()), (g[:, 1:], g[:, :-1])):
        covariance = ((a - a.mean()) * (b - b.mean())).mean()
        assert covariance.abs() < 4 / side * a.std() * b.std()


@pytest.mark.parametrize("side", [200, MANY])
def test_seeds_side_by_side(drawn: ModuleType, side: int) -> None:
    """The first number of each of many seeds, one after the other, is a stream like any other."""
    count = side * side
    seeds = torch.arange(-count // 2, count // 2)
    x = torch.zeros(1, dtype=torch.float64)
    u, g, k, _ = (v.flatten() for v in vmap(lambda s: drawn.draws(x, s, n=side))(seeds))
    for values in (u, (1 + torch.erf(g / math.sqrt(2))) / 2):
        assert distance(values) < 1.95 / side
    assert surplus(k, side) < 3.3 * math.sqrt(2 * side)
    for v in (u, g, k.double()):
        for apart in (1, 2, 256):
            a, b = v[apart:] - v.mean(), v[:-apart] - v.mean()
            assert (a * b).mean().abs() < 4 / side * v.var()


def test_a_seed_that_is_left_out(build_operator: Build) -> None:
    noisy = build_operator(NOISE).noisy
    x, scale = torch.rand(5, 6), torch.rand(6)
    torch.manual_seed(1)
    first, second = noisy(x, scale), noisy(x, scale)
    torch.manual_seed(1)
    assert torch.equal(noisy(x, scale), first)
    assert not torch.equal(first, second)
    with torch.random.fork_rng():
        third = noisy(x, scale)
    assert torch.equal(noisy(x, scale), third)
    before = torch.get_rng_state()
    assert torch.equal(noisy(x, scale, training=False), x)  # draws nothing
    noisy(x, scale, torch.tensor(3))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_example_of_the_page(build_operator: Build) -> None:
    package = build_operator(DROPOUT)
    x, residual = torch.randn(50, 40).requires_grad_(), torch.randn(50, 40)
    y = package.dropout_residual(x, residual, torch.tensor(7), p=0.3)
    kept = y != residual
    assert 0.6 < kept.float().mean() < 0.8
    torch.testing.assert_close(y, residual + torch.where(kept, x / 0.7, 0))
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], kept / 0.7)
    layer = package.DropoutResidual(p=0.3)
    assert not torch.equal(layer(x, residual), layer(x, residual))
    assert torch.equal(layer.eval()(x, residual), residual + x)


def test_only_the_seed_is_saved(build_operator: Build) -> None:
    package = build_operator(DROPOUT)
    x, residual, seed = torch.randn(50, 40).requires_grad_(), torch.randn(50, 40), torch.tensor(7)
    saved: list[torch.Size] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t.shape) or t, lambda t: t):
        package.dropout_residual(x, residual, seed)
    assert torch.Size([]) in saved
    assert set(saved) <= {torch.Size([]), torch.Size([0])}, saved


def test_numbers_are_constants(build_operator: Build) -> None:
    spec = "op: scaled\ninputs: {x: {shape: [N]}, seed: {dtype: seed}}\nforward: |\n"
    spec += "  u[i < N] = uniform(seed)\n  y[i] = x[i]*u[i]\noutputs: [y, u]\n"
    x, seed = torch.rand(6, dtype=torch.float64).requires_grad_(), torch.tensor(3)
    y, u = build_operator(spec).scaled(x, seed)
    assert torch.equal(torch.autograd.grad(y.sum(), x, retain_graph=True)[0], u.detach())
    assert not torch.autograd.grad(u.sum(), x)[0].any()


def test_wrong_seeds(build_operator: Build) -> None:
    noisy = build_operator(NOISE).noisy
    x = torch.rand(3)
    with pytest.raises(ValueError, match="noisy: seed must have shape"):
        noisy(x, x, torch.tensor([1, 2]))
    with pytest.raises(TypeError, match="noisy: seed must be integers of shape"):
        noisy(x, x, torch.tensor(1.0))


def test_gradients_see_the_same_numbers(build_operator: Build) -> None:
    noisy = build_operator(NOISE).noisy
    x, scale = torch.rand(3, 4, dtype=torch.float64).requires_grad_(), torch.rand(4).double().requires_grad_()
    seed = torch.tensor(11)
    torch.autograd.gradcheck(lambda *a: noisy(*a, seed), (x, scale), check_forward_ad=True)
    torch.autograd.gradgradcheck(lambda *a: noisy(*a, seed), (x, scale))

    def penalty(a: torch.Tensor) -> torch.Tensor:
        return noisy(a, scale).square().sum()

    torch.manual_seed(2)
    expected = torch.autograd.grad(penalty(x), x)[0]
    torch.manual_seed(2)
    assert torch.equal(torch.autograd.grad(checkpoint(penalty, x, use_reentrant=False), x)[0], expected)


@pytest.mark.parametrize("batched", [True, False])
def test_vmap_is_a_loop(build_operator: Build, batched: bool) -> None:
    beside, picked = build_operator(BESIDE).beside, build_operator(PICKED).picked

    def both(x: torch.Tensor, seed: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return *beside(x, seed), picked(x, seed)

    x, seeds = torch.randn(5, 2, 3, 4, dtype=torch.float64), torch.arange(5)
    found = vmap(both, (0, 0 if batched else None))(x, seeds if batched else seeds[2])
    loop = [both(x[i], seeds[i if batched else 2]) for i in range(5)]
    for k, got in enumerate(found):
        torch.testing.assert_close(got, torch.stack([r[k] for r in loop]), rtol=1e-14 if k == 0 else 0, atol=0)


def test_randomness_of_vmap(build_operator: Build) -> None:
    noisy = build_operator(NOISE).noisy
    x = torch.ones(3, 50)
    different = vmap(lambda a: noisy(a, a), randomness="different")(x)
    same = vmap(lambda a: noisy(a, a), randomness="same")(x)
    assert torch.equal(same[0], same[1])
    assert not torch.equal(different[0], different[1])
    with pytest.raises(RuntimeError, match="randomness"):
        vmap(lambda a: noisy(a, a))(x)
    vmap(lambda a: noisy(a, a, training=False))(x)


@pytest.mark.parametrize("inline", [False, True])
def test_compiled_graphs_draw_anew(build_alone: Build, inline: bool) -> None:
    package = build_alone(NOISE)
    runtime = importlib.import_module(f"{package.__name__.rpartition('.')[0]}._runtime")
    runtime.set_inline(inline)
    noisy = torch.compile(package.noisy, fullgraph=True, backend="aot_eager")
    x = torch.rand(20)
    first, second = noisy(x, x), noisy(x, x)
    assert not torch.equal(first, second)
    torch.testing.assert_close(noisy(x, x, torch.tensor(4)), package.noisy(x, x, torch.tensor(4)))


def test_an_exported_program_draws_anew(build_operator: Build) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            made: torch.Tensor = noisy(x, x)
            return made

    noisy = build_operator(NOISE).noisy
    x = torch.rand(20)
    exported = torch.export.export(Model(), (x,)).module()
    assert not torch.equal(exported(x), exported(x))


def test_devices_draw_what_one_would(build_operator: Build) -> None:
    pytest.importorskip("torch.distributed._local_tensor")
    from torch.distributed.tensor import Shard, distribute_tensor

    package = build_operator(BESIDE)
    sharding = importlib.import_module(f"{package.__name__.rpartition('.')[0]}._testing.sharding")
    x, seed = torch.randn(4, 6, 2), torch.tensor(9)
    torch.manual_seed(3)
    expected, left_out = package.beside(x, seed), package.beside(x)
    for axis in range(3):
        with sharding.simulated(2) as mesh:
            from torch.distributed.tensor import Replicate

            spread = distribute_tensor(x, mesh, [Shard(axis)])
            found = package.beside(spread, distribute_tensor(seed, mesh, [Replicate()]))
            torch.manual_seed(3)
            drawn = package.beside(spread)
            for got, want in ((found, expected), (drawn, left_out)):
                torch.testing.assert_close([sharding._whole(t) for t in got], list(want))


SEEDED = "op: a\ninputs: {x: {shape: [N]}, s: {dtype: seed}}\n"


def _seed(fields: str, more: str = "") -> str:
    return f"op: a\ninputs: {{x: {{shape: [N]}}, s: {{dtype: seed{fields}}}}}\n{more}forward: y[i] = x[i]*uniform(s)\n"


@refused(
    Refused("a_number_is_no_seed", f"{SEEDED}forward: y[i] = x[i]*uniform(3)\n", "OPG206", "3"),
    Refused("a_tensor_is_no_seed", f"{SEEDED}forward: 'y[i] = x[i]*normal(x[i])'\n", "OPG206", "x[i]"),
    Refused("a_seed_is_no_number", f"{SEEDED}forward: y[i] = x[i]*s\n", "OPG223", "s"),
    Refused("a_seed_has_no_positions", f"{SEEDED}forward: 'y[i] = x[i]*uniform(s[0])'\n", "OPG206", "s[0]"),
    Refused("uniform_of_nothing", f"{SEEDED}forward: y[i] = x[i]*uniform()\n", "OPG210", "uniform()"),
    Refused("uniform_of_two", f"{SEEDED}forward: 'y[i] = x[i]*uniform(s, 2)'\n", "OPG210", "uniform(s, 2)"),
    Refused("integer_of_one", f"{SEEDED}forward: y[i] = x[i]*integer(s)\n", "OPG210", "integer(s)"),
    Refused("one_of_no_integers", f"{SEEDED}forward: 'y[i] = x[i]*integer(s, 0)'\n", "OPG223", "0"),
    Refused("one_of_half_an_integer", f"{SEEDED}forward: 'y[i] = x[i]*integer(s, 0.5)'\n", "OPG223", "0.5"),
    Refused("a_random_extent", f"{SEEDED}forward: 'y[i < integer(s, 3)] = x[i]'\n", "OPG226", "s"),
    Refused(
        "a_function_that_draws",
        f"{SEEDED}functions: {{f(v): v*uniform(s)}}\nforward: 'y[i] = f(x[i])'\n",
        "OPG206",
        "uniform(s)",
    ),
    Refused("a_seed_of_a_shape", _seed(", shape: [N]"), "OPG117", "N"),
    Refused("a_seed_with_a_domain", _seed(", domain: s > 0"), "OPG117", "s > 0"),
    Refused("a_seed_with_a_gradient", _seed(", differentiable: true"), "OPG117", "s"),
    Refused("an_optional_seed", _seed(", optional: true"), "OPG117", "s"),
    Refused("a_seed_in_a_buffer", _seed("", "module: {buffers: {s: zeros}}\n"), "OPG117", "s"),
    Refused(
        "an_output_of_dtype_seed",
        "op: a\ninputs: {x: {shape: [N]}}\noutputs: {y: {dtype: seed}}\nforward: y[i] = x[i]\n",
        "OPG114",
        "seed",
    ),
)
def test_refused(case: Refused) -> None:
    case.check()
