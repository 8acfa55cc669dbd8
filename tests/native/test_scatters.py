"""Compiled scatters: several in an operator, the order of sums, sums in half precision, positions out of range."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: gathered_sums
inputs:
  x: {shape: [E, D]}
  w: {shape: [E]}
  at: {shape: [E], dtype: int}
  base: {shape: [N, D]}
outputs:
  total: {shape: [N, D]}
  most: {shape: [N, D]}
  times: {shape: [N, D]}
  alone: {shape: [N]}
  kept: {shape: [N]}
forward: |
  total[n, d] = base[n, d]
  total[at[e], d] += x[e, d]*w[e]
  most[at[e], d] max= x[e, d]
  times[at[e], d] *= 1 + x[e, d]/64
  alone[at[e]] += w[e]
  pad(kept[at[e] - 1]) += where(w[e] > 0, w[e], 0)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operator, compiled."""
    import opgen

    folder = tmp_path_factory.mktemp("scatters")
    path = folder / "gathered_sums.yaml"
    path.write_text(SPEC, encoding="utf-8")
    out = folder / "made_scatters"
    assert not opgen.build(path, out).failed
    opgen.compile(["gathered_sums"], out)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("made_scatters.gathered_sums")


def arguments(rows: int, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    torch.manual_seed(rows)
    x, w, base = torch.randn(rows, 9), torch.randn(rows), torch.randn(5, 9)
    return [x.to(dtype), w.to(dtype), torch.randint(0, 5, (rows,)), base.to(dtype)]


def results(package: Any, given: list[torch.Tensor], backend: str) -> list[torch.Tensor]:
    """The outputs and the gradients."""
    leaves = [t.clone().requires_grad_() if t.is_floating_point() else t for t in given]
    with importlib.import_module("made_scatters._runtime").use_backend(backend):
        out = package.gathered_sums(*leaves)
        wanted = [t for t in leaves if t.requires_grad]
        return [*out, *torch.autograd.grad([o.sum() for o in out], wanted)]


def test_extremes_of_integers_start_from_those_of_none() -> None:
    import opgen

    most = opgen.load(
        "op: most_integers\ninputs: {x: {shape: [N], dtype: int}}\noutputs: {y: {shape: [3]}, z: {shape: [3]}}\n"
        "forward: |\n  y[n%2] max= x[n]\n  z[n%2] min= x[n]\n",
        compiled=True,
    )
    for backend in ("torch", "native"):
        with opgen.use_backend(backend):
            y, z = most(torch.tensor([5, -2, 7]))
        assert y.tolist() == [7, -2, -(2**63)]
        assert z.tolist() == [5, -2, 2**63 - 1]


def test_several_scatters_in_an_operator(package: Any) -> None:
    given = arguments(40, torch.float64)
    x, w, at, base = given
    total, most, times, alone, kept, *_ = found = results(package, given, "native")
    torch.testing.assert_close(total, base.index_add(0, at, x * w[:, None]))
    torch.testing.assert_close(most, torch.stack([x[at == n].amax(0) for n in range(5)]))
    torch.testing.assert_close(times, torch.stack([(1 + x[at == n] / 64).prod(0) for n in range(5)]))
    torch.testing.assert_close(alone, torch.zeros(5, dtype=w.dtype).index_add(0, at, w))
    torch.testing.assert_close(kept, torch.stack([w[(at == n + 1) & (w > 0)].sum() for n in range(5)]))
    torch.testing.assert_close(found, results(package, given, "torch"))


def test_threads_do_not_change_a_bit(package: Any) -> None:
    given, before = arguments(30_000), torch.get_num_threads()
    try:
        runs = []
        for threads in (1, 2, 4, 4):
            torch.set_num_threads(threads)
            runs.append(results(package, given, "native"))
    finally:
        torch.set_num_threads(before)
    for other in runs[1:]:
        assert all(torch.equal(a, b) for a, b in zip(runs[0], other, strict=True))


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_adds_in_float32(package: Any, dtype: torch.dtype, backend: str) -> None:
    """In half precision, ones would add up to 2048 at most, and to 256 in bfloat16."""
    rows = 3072
    given = [torch.ones(rows, 9), torch.ones(rows), torch.zeros(rows, dtype=torch.int64), torch.zeros(5, 9)]
    given = [t.to(dtype) if t.is_floating_point() else t for t in given]
    total, *_ = results(package, given, backend)
    assert torch.equal(total[0], torch.full((9,), rows, dtype=dtype))


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("bad", [5, -1])
def test_a_position_out_of_range_is_an_error(package: Any, bad: int, backend: str) -> None:
    x, w, at, base = arguments(7)
    at[3] = bad
    with pytest.raises((RuntimeError, IndexError)):
        results(package, [x, w, at, base], backend)


def test_deterministic_algorithms_leave_unordered_sums_to_torch(package: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, where the order of atomic operations is nobody's: here the CPU stands for it."""
    runtime = importlib.import_module("made_scatters._runtime")
    monkeypatch.setattr(importlib.import_module("made_scatters._runtime.dispatch"), "UNORDERED_ON", ("cpu",))
    given = arguments(40)
    for wanted, calls in ((False, 0), (True, 1)):
        torch.use_deterministic_algorithms(wanted)
        try:
            before = runtime.calls("torch")
            with runtime.use_backend("native"):
                package.gathered_sums(*given)
        finally:
            torch.use_deterministic_algorithms(False)
        assert runtime.calls("torch") - before == calls
