"""Compiled CUDA kernels on a device: values, gradients, errors, graphs, streams. They need one: run with `-m gpu`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import opgen
from opgen.toolchain.cuda import nvcc

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available() or nvcc() is None, reason="needs a CUDA device"),
]

ROOT = Path(__file__).parents[2]
Get = Callable[[str], Any]


@pytest.fixture(scope="module")
def loaded() -> Get:
    """An operator with its compiled kernels for both devices."""
    return lambda op: opgen.load(ROOT / "specs" / f"{op}.yaml", compiled=True)


def same(function: Any, *args: Any) -> None:
    """Values and gradients equal those of the kernels for the CPU."""
    with sys.modules[f"{function.__module__.partition('.')[0]}._runtime"].use_backend("native"):
        assert function.backend == "native"
        compare(function, *args)


def compare(function: Any, *args: Any) -> None:
    here = [a.cuda().detach().requires_grad_(a.is_floating_point()) for a in args]
    there = [a.detach().requires_grad_(a.is_floating_point()) for a in args]
    got, expected = function(*here), function(*there)
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-10, atol=1e-10)
    g = torch.randn_like(expected)
    got.backward(g.cuda())
    expected.backward(g)
    for a, b in zip(here, there, strict=True):
        if a.is_floating_point():
            torch.testing.assert_close(a.grad.cpu(), b.grad, rtol=1e-10, atol=1e-10)


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.mark.parametrize("size", [1, 33, 3000])
def test_rows(loaded: Get, size: int) -> None:
    same(loaded("softmax"), randn(4, 5, size))
    same(loaded("layer_norm"), randn(7, 3, size), randn(size), randn(size))
    same(loaded("layer_norm"), randn(7, 3, size), randn(size))


def test_contractions_and_positions(loaded: Get) -> None:
    same(loaded("linear"), randn(5, 6, 7), randn(8, 7), randn(8))
    same(loaded("embedding"), torch.randint(0, 9, (50, 3)), randn(9, 40))


def test_kernels_for_the_device_ran(loaded: Get) -> None:
    softmax = loaded("softmax")
    names = torch._C._dispatch_has_kernel_for_dispatch_key
    assert names(f"{softmax.__module__.partition('.')[0]}_native::softmax_forward", "CUDA")
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, acc_events=True) as profile:  # torch 2.11 warns without
        softmax(torch.randn(3, 4, device="cuda"))
        torch.cuda.synchronize()
    assert any("softmax_forward" in e.key for e in profile.key_averages())


STOPPED = """
import sys, torch, opgen

embedding = opgen.load(sys.argv[1], compiled=True)
embedding(torch.tensor([0, 5], device="cuda"), torch.randn(5, 3, device="cuda"))
torch.cuda.synchronize()
"""


def test_a_position_from_data_that_is_out_of_range_is_an_assertion_of_the_device() -> None:
    command = [sys.executable, "-c", STOPPED, str(ROOT / "specs" / "embedding.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "a position is out of range" in done.stderr
    assert "device-side assert" in done.stderr


def test_a_position_that_sizes_decide_raises_and_the_device_goes_on(loaded: Get) -> None:
    rope, angle = loaded("rope"), torch.randn(7, 3, device="cuda")
    with pytest.raises((IndexError, RuntimeError), match="out of range"):
        rope(torch.randn(2, 7, 5, device="cuda"), angle.cos(), angle.sin())
    assert rope(torch.randn(2, 7, 6, device="cuda"), angle.cos(), angle.sin()).isfinite().all()


def test_a_call_can_be_captured_in_a_graph(loaded: Get) -> None:
    embedding, softmax = loaded("embedding"), loaded("softmax")
    table, ids = torch.randn(5, 3, device="cuda"), torch.tensor([0, 1], device="cuda")
    softmax(embedding(ids, table))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = softmax(embedding(ids, table))
    ids.copy_(torch.tensor([4, 2]))
    graph.replay()
    torch.testing.assert_close(result, torch.softmax(table[[4, 2]], -1))


def test_the_current_stream_is_used(loaded: Get) -> None:
    softmax = loaded("softmax")
    x = torch.randn(2000, 2000, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(10_000_000)
        y = x + 1
        got = softmax(y)
    torch.cuda.current_stream().wait_stream(side)
    torch.testing.assert_close(got, torch.softmax(x + 1, -1))
