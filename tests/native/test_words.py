"""Compiled kernels that compute with no float move 16-bit words as they are, whatever these mean."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPEC = """
op: moved_words
inputs:
  x: {shape: [..., N]}
  table: {shape: [V, D]}
  at: {shape: [...], dtype: int, domain: 0 <= at < V}
outputs:
  back: {shape: [..., N]}
  late: {shape: [..., N]}
  rows: {shape: [..., D]}
forward: |
  back[..., n] = x[..., N - 1 - n]
  late[..., n] = pad(x[..., n - 2], 0)
  rows[..., d] = table[at[...], d]
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operator, compiled."""
    import opgen

    folder = tmp_path_factory.mktemp("words")
    path = folder / "moved_words.yaml"
    path.write_text(SPEC, encoding="utf-8")
    out = folder / "made_words"
    assert not opgen.build(path, out).failed
    opgen.compile(["moved_words"], out)
    assert "OPGEN_MOVES" in (out / "moved_words" / "csrc" / "moved_words_kernels.cpp").read_text(encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("made_words.moved_words")


def words(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    """Any words, those of nan and of subnormal numbers among them."""
    return torch.randint(-(2**15), 2**15, shape).to(torch.int16).view(dtype)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_words_stay_what_they_are(package: Any, dtype: torch.dtype, *, turned: bool) -> None:
    torch.manual_seed(0)
    x, table, at = words(70, 5, dtype=dtype), words(9, 70, dtype=dtype), torch.randint(0, 9, (5,))
    x, table = (x.t(), table) if turned else (x.t().contiguous(), table[:, ::2])
    back, late, rows = package.moved_words(x, table, at)
    assert package.moved_words.backend == "native"
    wanted = x.flip(-1), torch.nn.functional.pad(x[..., :-2].contiguous(), (2, 0)), table[at]
    for found, value in zip((back, late, rows), wanted, strict=True):
        assert torch.equal(found.view(torch.int16), value.contiguous().view(torch.int16))


def test_other_dtypes_are_converted(package: Any) -> None:
    x, table, at = torch.randn(5, 7).bfloat16(), torch.randn(9, 4), torch.randint(0, 9, (5,))
    for found, value in zip(package.moved_words(x, table, at), package.moved_words(x.float(), table, at), strict=True):
        assert found.dtype == torch.float32
        assert torch.equal(found, value)


CHOSEN = """
op: chosen_words
inputs: {x: {shape: [..., N]}}
params: {b: {type: float, default: -1.5}}
outputs: [y, z]
forward: |
  y[..., n] = where(n > b, x[..., n], 0)
  z[..., n] = where(0.5**n > 0.11, x[..., n], 0)
"""


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_conditions_on_floats_are_computed_as_such(dtype: torch.dtype) -> None:
    import opgen

    op = opgen.load(CHOSEN, compiled=True)
    x = torch.arange(1.0, 7.0).to(dtype)
    y, z = op(x)
    assert torch.equal(y, x)
    assert z.tolist() == [1, 2, 3, 4, 0, 0]
