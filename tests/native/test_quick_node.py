"""The graph that a short call with grad records behaves as that of torch's own functions, to everybody who walks it."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
import torch
from torch.autograd.graph import get_gradient_edge
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from generated.linear import linear
from generated.max_with_index import max_with_index
from generated.rms_norm import rms_norm
from generated.silu import silu

from .conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler, pytest.mark.usefixtures("short_ops")]


def leaf(**options: Any) -> torch.Tensor:
    return torch.linspace(-2.0, 2.0, 6, requires_grad=True, **options)


def slopes(order: int = 1) -> torch.Tensor:
    """The derivative of torch's own function."""
    x = leaf(dtype=torch.float64)
    out = functional.silu(x)
    for _ in range(order):
        (out,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    return out.detach().float()


def test_every_order(short: list[str]) -> None:
    x = leaf()
    out = silu(x)
    for order in (1, 2, 3):
        (out,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        assert torch.allclose(out, slopes(order), atol=1e-5)
    assert short == ["forward"]


def test_a_graph_is_walked_twice_only_if_it_is_retained(short: list[str]) -> None:
    x = leaf()
    out = silu(x).sum()
    out.backward(retain_graph=True)
    out.backward()
    assert torch.allclose(x.grad, 2 * slopes())
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        out.backward()
    assert short == ["forward", "backward", "backward"]


def test_a_changed_operand_is_noticed(short: list[str]) -> None:
    x = leaf() * 1
    out = silu(x).sum()
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
    assert short == ["forward"]


def test_a_missing_cotangent_gives_no_gradient(short: list[str]) -> None:
    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, t: torch.Tensor) -> torch.Tensor:
            return t.clone()

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> None:
            return None

    x = leaf()
    assert torch.autograd.grad(Nothing.apply(silu(x)).sum(), x, allow_unused=True) == (None,)
    assert short == ["forward"]


def test_params_and_masks() -> None:
    x, weight = leaf(dtype=torch.float64), torch.ones(6, dtype=torch.float64, requires_grad=True)
    for wanted in ((x,), (weight,), (x, weight)):
        for operand in (x, weight):
            operand.requires_grad_(any(operand is w for w in wanted))
        found, expected = (
            torch.autograd.grad(f.sum(), wanted)
            for f in (rms_norm(x, weight, eps=0.5), functional.rms_norm(x, (6,), weight, eps=0.5))
        )
        for a, b in zip(found, expected, strict=True):
            assert torch.allclose(a, b)


def test_results_without_gradients() -> None:
    x = leaf()
    values, places = max_with_index(x)
    assert values.requires_grad
    assert not places.requires_grad
    (grad,) = torch.autograd.grad(values.sum(), x)
    assert grad.tolist() == [0, 0, 0, 0, 0, 1]


def test_gradients_of_what_is_in_between(short: list[str]) -> None:
    x = leaf()
    middle = silu(x)
    out = silu(middle)
    (grad,) = torch.autograd.grad(out.sum(), middle, retain_graph=True)
    edge = torch.autograd.grad(out.sum(), get_gradient_edge(middle), retain_graph=True)[0]
    assert torch.equal(grad, edge)
    (whole,) = torch.autograd.grad(out.sum(), x)
    assert torch.allclose(whole, grad * slopes())
    assert short == ["forward"] * 2 + ["backward"] * 4


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints(reentrant: bool, short: list[str]) -> None:
    x = leaf()
    checkpoint(silu, x, use_reentrant=reentrant).sum().backward()
    assert torch.allclose(x.grad, slopes())
    assert short == ["forward", "forward", "backward"]


def test_walks_in_several_threads(short: list[str]) -> None:
    x, found = leaf(), []
    out = silu(x).sum()

    def walk() -> None:
        found.extend(torch.autograd.grad(out, x, retain_graph=True))

    threads = [threading.Thread(target=walk) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(torch.allclose(g, slopes()) for g in found)


def test_anomaly_mode_names_the_call() -> None:
    x = torch.full((3,), 2.0, requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        anomalies = torch.autograd.detect_anomaly()
    with anomalies:
        out = silu(x)
        with pytest.raises(RuntimeError, match="siluBackward"), pytest.warns(UserWarning, match="out = silu"):
            out.backward(torch.full((3,), float("nan")))


def test_post_accumulation_hooks(short: list[str]) -> None:
    x, seen = leaf(), []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.clone()))
    silu(x).sum().backward()
    assert torch.allclose(seen[0], slopes())
    assert short == ["forward", "backward"]


def test_a_profiler_of_the_walk_sees_the_gradient() -> None:
    out = silu(leaf()).sum()
    with torch.profiler.profile(acc_events=True) as profile:  # torch 2.11 warns without
        out.backward()
    assert "opgen::silu_backward" in {e.key for e in profile.key_averages()}


def test_nothing_outlives_its_last_user() -> None:
    gc.disable()
    try:
        for walked in (False, True):
            x = leaf() * 1
            out = linear(silu(x), torch.ones(2, 6))
            alive = [weakref.ref(t) for t in (x, out)]
            if walked:
                out.sum().backward()
            del x, out
            assert [r() for r in alive] == [None, None]
    finally:
        gc.enable()
