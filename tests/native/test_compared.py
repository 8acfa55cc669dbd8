"""Gradients of extremes over what is computed: they reach the elements that are equal, whatever a compiler rounds."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
import torch
from torch import Tensor

from opgen import build
from opgen.toolchain.library import compile_op
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: NAME
inputs:
  x: {shape: [E, D]}
  z: {shape: [E, D]}
  w: {shape: [E, D]}
  at: {shape: [E], dtype: int, domain: 0 <= at < E}
outputs: {across: {}, along: {}, places: {shape: [E, D]}, chosen: {}}
forward: |
  across[d] = max[e](BODY)
  along[e] = min[d](BODY)
  places[e, d] = -100
  places[at[e], d] max= BODY
  s[e, d] = BODY
  top[d] = max[e](s[e, d])
  chosen[d] = sum[e](where(s[e, d] == top[d], x[e, d], 0))
"""
BODIES: dict[str, tuple[str, Callable[[Tensor, Tensor, Tensor], Tensor]]] = {
    # of a vector another function than of a number
    "of_sines": ("sin(x[e, d])*z[e, d]*w[e, d]", lambda x, z, w: torch.sin(x) * z * w),
    # one product in two sums, each of which a compiler may round once
    "of_products": (
        "x[e, d]*z[e, d]*w[e, d] + exp(x[e, d]*z[e, d])",
        lambda x, z, w: x * z * w + torch.exp(x * z),
    ),
}


def expected(body: Tensor, x: Tensor, at: Tensor) -> tuple[Tensor, ...]:
    places = torch.full_like(body, -100).scatter_reduce(0, at.unsqueeze(-1).expand_as(body), body, "amax")
    return body.amax(0), body.amin(1), places, torch.where(body == body.amax(0), x, 0).sum(0)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("compared")
    for name, (body, _) in BODIES.items():
        (folder / f"{name}.yaml").write_text(SPEC.replace("NAME", name).replace("BODY", body))
        assert not build(folder / f"{name}.yaml", folder / "compared").failed
        compile_op(folder / "compared", name)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("compared")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", BODIES)
def test_gradients_reach_what_is_equal(package: ModuleType, name: str, dtype: torch.dtype) -> None:
    function = getattr(importlib.import_module(f"{package.__name__}.{name}"), name)
    runtime = importlib.import_module(f"{package.__name__}._runtime")
    torch.manual_seed(0)
    given = [torch.randn(67, 21, dtype=dtype, requires_grad=True) for _ in range(3)]
    others = [t.detach().clone().requires_grad_() for t in given]
    at = torch.randint(0, 67, (67,))
    with runtime.use_backend("native"):
        results = function(*given, at)
        gradients = torch.autograd.grad([r.sum() for r in results], given)
    wanted = expected(BODIES[name][1](*others), others[0], at)
    torch.testing.assert_close(results, wanted)
    torch.testing.assert_close(gradients, torch.autograd.grad([r.sum() for r in wanted], others))
