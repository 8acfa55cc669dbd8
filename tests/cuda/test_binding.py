"""The CUDA binding runs the right steps with the right arguments: generated tests pass on it, on emulated kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import opgen
from tests.cuda.bound import bind
from tests.cuda.harness import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "specs").glob("*.yaml"))
# variants that share steps, positions read from data, and a result that backward reads
QUICK = ("layer_norm", "embedding", "softmax")


def generated_tests_pass(spec: Path, folder: Path) -> None:
    op, out = spec.stem, folder / "generated"
    bound_in(folder, op)
    shutil.copy(ROOT / "pyproject.toml", folder)
    arguments = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", str(out / op / f"test_{op}.py")]
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_ADDOPTS"}  # a run and a report of its own
    environment |= {"OPGEN_BACKEND": "native", "OPGEN_SIMT_SEED": "1"}  # atomics in one order
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize("op", QUICK)
def test_generated_tests_pass_on_the_emulated_kernels(op: str, tmp_path: Path) -> None:
    generated_tests_pass(ROOT / "specs" / f"{op}.yaml", tmp_path)


def has_cuda(spec: Path) -> bool:
    """Whether an operator has kernels for CUDA: functions of other libraries may have none."""
    return (spec.parents[1] / "generated" / spec.stem / "csrc" / f"{spec.stem}.cu").exists()


@pytest.mark.slow
@pytest.mark.parametrize("spec", [s for s in SPECS if s.stem not in QUICK and has_cuda(s)], ids=lambda s: s.stem)
def test_every_generated_test_passes_on_the_emulated_kernels(spec: Path, tmp_path: Path) -> None:
    generated_tests_pass(spec, tmp_path)


STOPPED = """
import torch
from generated.embedding import embedding
from generated._runtime import use_backend

for table, ids in ((torch.randn(5, 3), [1, 5]), (torch.randn(5, 3), [-1]), (torch.randn(0, 3), [0])):
    try:
        torch.ops.generated_native.embedding_forward(torch.tensor(ids), table)
    except RuntimeError as e:
        print(e)
with use_backend("native"):
    torch.testing.assert_close(embedding(torch.tensor([4]), table := torch.randn(5, 3)), table[4:])
"""


def output(script: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_position_from_data_that_is_out_of_range_is_an_assertion_of_the_device(tmp_path: Path) -> None:
    bound_in(tmp_path, "embedding")
    assert output(STOPPED, tmp_path).count("embedding: kernel 0 failed with CUDA error 710") == 3


TWICE = """
op: twice
inputs: {x: {shape: [..., D]}, by: {shape: [H]}}
forward: y[..., d < 2*H] = x[..., d]*by[d % H]
"""
COMPARED = """
import torch
from generated.twice import twice

for halves, size in ((3, 5), (2, 4), (2, 5)):
    try:
        x, by = torch.randn(2, 7, size), torch.randn(halves)
        torch.ops.generated_native.twice_forward(x, by)
        torch.ops.generated_native.twice_forward(x[:0], by)
        print("fits", halves, size)
    except RuntimeError as e:
        print(e)
torch.ops.generated_native.twice_forward(torch.randn(0, 7, 5), torch.randn(3))
"""


def test_a_position_that_sizes_decide_is_compared_before_anything_runs(tmp_path: Path) -> None:
    spec = tmp_path / "twice.yaml"
    spec.write_text(TWICE, encoding="utf-8")
    bound_in(tmp_path, spec)
    first, *fits = output(COMPARED, tmp_path).splitlines()
    assert first == "twice: index 5 is out of range for axis 1 of x, which has size 5"
    assert fits == ["fits 2 4", "fits 2 5"]


WAITS = """
import ctypes, sys, torch
from generated.{op} import {op}
from generated._runtime import calls, use_backend

with use_backend("native"):
    result = {call}
    result.sum().backward()
assert calls("native") > 1
print(ctypes.c_int.in_dll(ctypes.CDLL("generated/{op}/_native.so"), "waits").value)
"""
# positions from data, by sizes, of extremes, of repeats; sums over everything; products of torch
CALLS = {
    "embedding": "embedding(torch.tensor([4, 4, 1]), torch.randn(5, 3, requires_grad=True))",
    "rope": "rope(torch.randn(2, 7, 6, requires_grad=True), torch.randn(7, 3), torch.randn(7, 3))",
    "group_norm": "group_norm(torch.randn(2, 6, 5, requires_grad=True), num_groups=3)",
    "cross_entropy": "cross_entropy(torch.randn(6, 5, requires_grad=True), torch.tensor([1, 2, 3, 4, 0, 0]))",
    "segment_softmax": "segment_softmax(torch.randn(6, requires_grad=True), torch.tensor([0, 0, 1, 2, 2, 2]), 3)",
}


@pytest.mark.parametrize("op", CALLS)
def test_no_call_waits_for_the_device(op: str, tmp_path: Path) -> None:
    bound_in(tmp_path, op)
    assert output(WAITS.format(op=op, call=CALLS[op]), tmp_path).split() == ["0"]


def test_a_call_that_waits_is_counted(tmp_path: Path) -> None:
    out = bound_in(tmp_path, "rope", ("inline int launched() {", "inline int launched() { cudaStreamSynchronize(0);"))
    assert out.is_file()
    assert int(output(WAITS.format(op="rope", call=CALLS["rope"]), tmp_path)) > 1


def bound_in(folder: Path, of: str | Path, *planted: tuple[str, str]) -> Path:
    """An operator of the catalogue, or of a spec, built into a folder, with its binding on emulated kernels.

    `planted`: what is replaced in the runtime, and by what.
    """
    out, spec = folder / "generated", of if isinstance(of, Path) else ROOT / "specs" / f"{of}.yaml"
    assert not opgen.build(spec, out).failed
    for before, after in planted:
        runtime = out / "csrc" / "opgen_rt.cuh"
        assert before in runtime.read_text()
        runtime.write_text(runtime.read_text().replace(before, after))
    return Path(shutil.copy(bind(out, spec.stem, folder), out / spec.stem / "_native.so"))


ELSEWHERE = """
import torch
from generated.swiglu import swiglu
from generated._runtime import use_backend

for dtype in (torch.float32, torch.bfloat16):
    for size in (16, 24, 15):
        gate = torch.randn(2, 5, 3, size, dtype=torch.float64).to(dtype).transpose(1, 2).requires_grad_()
        up = torch.randn(2, 3, 5, size, dtype=torch.float64).to(dtype).requires_grad_()
        flat = gate.detach().contiguous().requires_grad_()
        with use_backend("native"):
            found, expected = swiglu(gate, up), swiglu(flat, up)
            weights = torch.randn_like(expected)
            moved = weights.transpose(0, 1).contiguous().transpose(0, 1)
            grads = torch.autograd.grad(found, (gate, up), moved)
            assert torch.equal(found, expected)
            for a, b in zip(grads, torch.autograd.grad(expected, (flat, up), weights)):
                assert torch.equal(a, b)
"""


def test_tensors_in_other_orders_of_memory_give_the_same(tmp_path: Path) -> None:
    bound_in(tmp_path, "swiglu")
    output(ELSEWHERE, tmp_path)


MANY = """
import torch
from generated.mse_loss import mse_loss
from generated._runtime import use_backend

x, y = torch.randn(600_000), torch.randn(600_000)
with use_backend("native"):
    found = mse_loss(x, y)
expected = (x.double() - y.double()).square().mean()
assert abs(found - expected) < 1e-6 * expected, (found, expected)
"""


def test_sums_over_many_blocks(tmp_path: Path) -> None:
    bound_in(tmp_path, "mse_loss")
    output(MANY, tmp_path)
