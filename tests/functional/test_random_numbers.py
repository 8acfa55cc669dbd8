"""Random numbers as functions of a seed, of which call of the spec they are, and of the place of the point."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch.func import vmap
from torch.utils.checkpoint import checkpoint

from opgen.ir import philox

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


MANY = pytest.param(1000, marks=pytest.mark.thorough)


@pytest.mark.parametrize("side", [200, MANY])
@pytest.mark.parametrize("seed", [0, 1, -(2**60)])
def test_distributions(drawn: ModuleType, seed: int, side: int) -> None:
    """Kolmogorov and Smirnov's distance, which exceeds 1.95 over the root of the count once in a thousand seeds."""
    count = side * side
    u, g, k, twice = drawn.draws(torch.zeros(side, side, dtype=torch.float64), torch.tensor(seed), n=side)
    steps = torch.arange(count, dtype=torch.float64) / count
    for values in (u, (1 + torch.erf(g / math.sqrt(2))) / 2, twice):
        ordered = values.flatten().sort().values
        assert max((ordered - steps).abs().max(), (steps + 1 / count - ordered).abs().max()) < 1.95 / side
    assert u.min() >= 0
    assert u.max() < 1
    counts = torch.bincount(k.flatten(), minlength=side).double()
    assert abs((counts - side).square().sum() / side - (side - 1)) < 3.3 * math.sqrt(2 * side)


@pytest.mark.parametrize("side", [200, MANY])
def test_correlations(drawn: ModuleType, side: int) -> None:
    """Between neighbours, calls and seeds; four standard deviations."""
    x = torch.zeros(side, side, dtype=torch.float64)
    u, g, k, twice = (v.double() for v in drawn.draws(x, torch.tensor(3)))
    other, far = (drawn.draws(x, torch.tensor(s))[0] for s in (4, 3 + 2**32))
    pairs = [(u, twice), (u, g), (u, k), (u, other), (u, far), (u[:, 1:], u[:, :-1]), (u[1:], u[:-1]), (g[1:], g[:-1])]
    for a, b in (*pairs, (g[:, 1:].square(), g[:, :-1].square())):
        covariance = ((a - a.mean()) * (b - b.mean())).mean()
        assert covariance.abs() < 4 / side * a.std() * b.std()


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


def test_wrong_seeds(build_operator: Build) -> None:
    noisy = build_operator(NOISE).noisy
    x = torch.rand(3)
    with pytest.raises(ValueError, match="noisy: seed must have shape"):
        noisy(x, x, torch.tensor([1, 2]))
    with pytest.raises(TypeError, match="noisy: seed must have an integer dtype"):
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
def test_compiled_graphs_draw_anew(build_operator: Build, inline: bool) -> None:
    package = build_operator(NOISE)
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
