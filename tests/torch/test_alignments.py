"""Losses over alignments, against torch."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from generated.ctc_loss import ctc_loss  # noqa: E402


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_loss_is_that_of_torch(reduction: str, zero_infinity: bool) -> None:
    """torch's gradient includes that of log_softmax, so both are taken through it."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(12, 5, 6, dtype=torch.float64, generator=generator, requires_grad=True)
    targets = torch.tensor([[1, 2, 3, 4], [1, 1, 2, 2], [5, 5, 5, 5], [1, 2, 1, 2], [3, 3, 3, 3]])
    steps = torch.tensor([12, 10, 8, 9, 3 if zero_infinity else 12])
    labels = torch.tensor([4, 4, 2, 0, 4])
    found, wanted = (
        loss(scores.log_softmax(-1), targets, steps, labels, reduction=reduction, zero_infinity=zero_infinity)
        for loss in (ctc_loss, torch.nn.functional.ctc_loss)
    )
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)
    weights = torch.linspace(0.5, 1.5, max(found.numel(), 1), dtype=torch.float64).reshape(found.shape)
    ours, theirs = (torch.autograd.grad(loss, scores, weights, retain_graph=True)[0] for loss in (found, wanted))
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
