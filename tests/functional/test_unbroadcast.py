"""`broadcast: false`: an input has all batch dims of a call itself."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

SPEC = """
op: scored
inputs:
  x: {shape: [N, C, ...], broadcast: false}
  ids: {shape: [N, ...], dtype: int, broadcast: false, domain: 0 <= ids < C}
  by: {shape: [...], optional: true, absent: 1}
forward: y = sum[n, ...](by[...]*x[n, ids[n, ...], ...])
"""
TURNED = """
op: turned
inputs: {z: {dtype: complex, broadcast: false}, by: {}}
outputs: {y: {dtype: complex}}
forward: y = z*by
"""


def refused(op: Callable[..., object], *args: object) -> str:
    with pytest.raises(ValueError, match="does not broadcast") as caught:
        op(*args)
    return str(caught.value)


def _check(op: Callable[..., torch.Tensor]) -> None:
    x, ids = torch.randn(3, 4), torch.arange(3)
    torch.testing.assert_close(op(x, ids), x.diagonal().sum())
    shapes = "[] of x[N, C, ...], [1] of ids[N, ...]"
    assert refused(op, x, ids[:, None]) == f"scored: the batch shapes {shapes} differ, and x does not broadcast"
    assert "[1] of ids[N, ...] differ, and ids does" in refused(op, x[..., None].expand(3, 4, 2), ids[:, None])
    assert "[2] of by differ, and x does" in refused(op, x[..., None], ids[:, None], torch.ones(2))
    two = x[..., None].expand(3, 4, 2), ids[:, None].expand(3, 2)
    torch.testing.assert_close(op(*two, torch.tensor([2.0])), 4 * x.diagonal().sum())  # what may broadcast does
    mapped = torch.func.vmap(op, (None, 0))(x, torch.stack([ids, ids]))
    torch.testing.assert_close(mapped, op(x, ids).expand(2))


def test_what_does_not_broadcast_has_all_batch_dims(build_operator: Callable[[str], ModuleType]) -> None:
    _check(build_operator(SPEC).scored)


def test_a_complex_input(build_operator: Callable[[str], ModuleType]) -> None:
    op, z = build_operator(TURNED).turned, torch.ones(2, dtype=torch.complex64)
    assert op(z, torch.tensor(2.0)).tolist() == [2, 2]
    told = "turned: the batch shapes [2] of z[...], [3, 2] of by differ, and z does not broadcast"
    assert refused(op, z, torch.ones(3, 2)) == told


@needs_compiler
@pytest.mark.slow
def test_compiled_it_is_told_alike() -> None:
    op = opgen.load(SPEC, compiled=True)
    for backend in ("torch", "native"):
        with opgen.use_backend(backend):
            _check(op)
    op = opgen.load(TURNED, compiled=True)
    with opgen.use_backend("native"):
        assert "[3, 2] of by differ" in refused(op, torch.ones(2, dtype=torch.complex64), torch.ones(3, 2))
