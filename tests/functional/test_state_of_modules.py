"""The modules of the catalogue that training changes, against torch's own and against plain loops."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import nn

from generated.batch_norm import BatchNorm
from generated.ema_codebook import EmaCodebook
from generated.lennard_jones import LennardJones

SHAPES = {"1d": (nn.BatchNorm1d, (6, 4)), "1d_long": (nn.BatchNorm1d, (6, 4, 5)), "2d": (nn.BatchNorm2d, (3, 4, 5, 2))}
BOTH = ("weight", "bias", "running_mean", "running_var")


@pytest.mark.parametrize("momentum", [0.1, 0.5])
@pytest.mark.parametrize("kind", SHAPES)
def test_batch_norm_over_twenty_steps(kind: str, momentum: float) -> None:
    theirs, shape = SHAPES[kind]
    a = BatchNorm(4, momentum=momentum, dtype=torch.float64)
    b = theirs(4, momentum=momentum, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    steps = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (a, b)]
    for _ in range(20):
        x = 3 * torch.randn(shape, dtype=torch.float64, generator=generator) + 1
        leaves = [x.clone().requires_grad_() for _ in range(2)]
        results = [m(leaf) for m, leaf in zip((a, b), leaves, strict=True)]
        torch.testing.assert_close(*results)
        for y, step in zip(results, steps, strict=True):
            step.zero_grad()
            y.sin().sum().backward()
            step.step()
        torch.testing.assert_close(leaves[0].grad, leaves[1].grad)
        for name in BOTH:
            torch.testing.assert_close(getattr(a, name), getattr(b, name), msg=name)
    kept = {n: t.clone() for n, t in a.state_dict().items()}
    torch.testing.assert_close(a.eval()(x), b.eval()(x))
    torch.testing.assert_close(dict(a.state_dict()), kept, rtol=0, atol=0)


def test_a_state_of_torch_is_loaded() -> None:
    theirs = nn.BatchNorm1d(3)
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    theirs(x)
    ours = BatchNorm(3)
    missing = ours.load_state_dict(theirs.state_dict(), strict=False)
    assert (missing.missing_keys, missing.unexpected_keys) == ([], ["num_batches_tracked"])
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))


def _learned(x: torch.Tensor, counts: list[float], sums: torch.Tensor, decay: float) -> tuple[Any, ...]:
    """Codes, loss and the two averages of one step, row by row."""
    book = torch.stack([row / n for row, n in zip(sums, counts, strict=True)])
    codes = [int(((row - book) ** 2).sum(1).argmin()) for row in x]
    chosen = [sum(c == k for c in codes) for k in range(len(counts))]
    total = [sum((row for row, c in zip(x, codes, strict=True) if c == k), torch.zeros(2)) for k in range(len(counts))]
    loss = torch.stack([(row - book[c]) ** 2 for row, c in zip(x, codes, strict=True)]).mean()
    new_counts = [decay * n + (1 - decay) * c for n, c in zip(counts, chosen, strict=True)]
    return book[codes], codes, loss, new_counts, decay * sums + (1 - decay) * torch.stack(total)


def test_a_buffer_is_one_for_all_of_a_batch() -> None:
    module, x = BatchNorm(4), torch.randn(3, 6, 4)
    with pytest.raises(RuntimeError, match=r"^BatchNorm: the buffer running_mean is one, .* call eval"):
        torch.vmap(module)(x)
    torch.testing.assert_close(torch.vmap(module.eval())(x), torch.stack([module(part) for part in x]))


def test_a_codebook_learns() -> None:
    layer = EmaCodebook(3, 2, decay=0.9, dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    corners = torch.tensor([[2.0, 2.0], [-2.0, 2.0], [0.0, -2.0]], dtype=torch.float64)
    with torch.no_grad():
        layer.sums.copy_(corners / 4)
    losses = []
    for _ in range(40):
        noise = torch.randn(12, 2, dtype=torch.float64, generator=generator)
        x = corners.repeat(4, 1) + 0.1 * noise
        wanted = _learned(x, layer.counts.tolist(), layer.sums.clone(), 0.9)
        x.requires_grad_()
        output, code, loss = layer(x)
        torch.testing.assert_close(output, wanted[0])
        assert code.tolist() == wanted[1]
        torch.testing.assert_close(loss, wanted[2])
        torch.testing.assert_close(layer.counts, torch.tensor(wanted[3], dtype=torch.float64))
        torch.testing.assert_close(layer.sums, wanted[4])
        (straight,) = torch.autograd.grad(output.sum(), x, retain_graph=True)
        assert torch.equal(straight, torch.ones_like(x))
        (pull,) = torch.autograd.grad(loss, x)  # towards the rows as they were chosen
        torch.testing.assert_close(pull, 2 * (x - wanted[0]).detach() / x.numel())
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 50
    torch.testing.assert_close(layer.sums / layer.counts[:, None], corners, rtol=0, atol=0.1)


def test_depth_and_size_of_a_well_are_fitted() -> None:
    distance = torch.linspace(1.0, 2.5, 16, dtype=torch.float64)
    pairs = torch.zeros(16, 2, 3, dtype=torch.float64)
    pairs[:, 1, 0] = distance
    wanted = 4 * 0.7 * ((1.1 / distance) ** 12 - (1.1 / distance) ** 6)
    well = LennardJones(dtype=torch.float64)
    assert {name for name, _ in well.named_parameters()} == {"sigma", "epsilon"}
    fit = torch.optim.LBFGS(well.parameters(), max_iter=100, tolerance_change=1e-12, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        fit.zero_grad()
        apart = (well(pairs) - wanted).square().mean()
        apart.backward()
        return apart

    fit.step(loss)
    torch.testing.assert_close([well.sigma.item(), well.epsilon.item()], [1.1, 0.7], rtol=1e-3, atol=0)


@pytest.mark.thorough
@pytest.mark.parametrize("make", [lambda: BatchNorm(4), lambda: EmaCodebook(3, 4)], ids=["batch_norm", "ema_codebook"])
def test_compiled_training_is_the_same(make: Any) -> None:
    torch.manual_seed(0)
    torch._dynamo.reset()
    plain = make().double()
    same = copy.deepcopy(plain)
    compiled = torch.compile(same, fullgraph=True)
    for _ in range(3):
        x = torch.randn(8, 4, dtype=torch.float64)
        gradients = []
        for module in (plain, compiled):
            leaf = x.clone().requires_grad_()
            results = module(leaf)
            results = results if isinstance(results, tuple) else (results,)
            sum(r.sin().sum() for r in results if r.requires_grad).backward()
            gradients.append(leaf.grad)
        torch.testing.assert_close(*gradients)
        torch.testing.assert_close(same.state_dict(), plain.state_dict())
