"""Compiled kernels of operators that are called in bfloat16: elements are widened where they are used.

They compute what the same kernels do of float32, so that their results are those, rounded once; where functions are
called, they are off by some hundredths of a unit more.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import opgen
from tests.native.conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

SPECS = {
    "maps": """
op: maps
inputs:
  x: {shape: [..., N]}
  w: {shape: [N], optional: true, absent: 1}
  r: {shape: [...]}
  at: {shape: [N], dtype: int}
forward: |
  scaled[..., n] = x[..., n]*w[n] + r[...]
  late[..., n] = pad(x[..., n - 2], 1)*w[n]
  odd[..., n] = pad(x[..., n - 2], 0.3)*w[n]
  picked[..., n] = where(at[n] < N, x[..., at[n]], -inf) + 1
  turned[..., n, k < 3] = (x[..., n] + k)*w[n]
""",
    "rows": """
op: rows
inputs:
  x: {shape: [..., N]}
  w: {shape: [N], optional: true, absent: 1}
forward: |
  power[...] = sum[n](x[..., n]**2*w[n])
  top[...] = max[n](x[..., n] + w[n])
  place[...] = argmax[n](x[..., n])
  share[..., n] = softmax[n](x[..., n])*w[n]
  normal[..., n] = x[..., n]*rsqrt(mean[n](x[..., n]**2) + 1)*w[n]
""",
    "columns": """
op: columns
inputs:
  x: {shape: [B, N]}
forward: |
  total[n] = sum[b](x[b, n]**2)
  least[n] = min[b](x[b, n])
  all = sum[b, n](abs(x[b, n]))
""",
    "functions": """
op: functions
inputs: {x: {shape: [...]}}
outputs: [by_exp, by_erfc, by_logsigmoid, by_sigmoid, by_silu, by_softplus, by_square, by_tanh]
forward: |
  by_exp = exp(x)
  by_erfc = erfc(x)
  by_logsigmoid = logsigmoid(x)
  by_sigmoid = sigmoid(x)
  by_silu = silu(x)
  by_softplus = softplus(x)
  by_square = exp(-x**2)
  by_tanh = tanh(x)
""",
    "added": """
op: added
inputs:
  x: {shape: [E, ...]}
  w: {shape: [E], optional: true, absent: 1}
  at: {shape: [E], dtype: int, domain: 0 <= at < 3}
forward: |
  total[s < 3, ...] = 0
  total[at[e], ...] += x[e, ...]**2*w[e]
  top[s < 3, ...] = -inf
  top[at[e], ...] max= x[e, ...]*w[e]
  part[e, ...] = x[e, ...]*w[e] - top[at[e], ...]
""",
}
SIZES = (0, 1, 7, 16, 31, 32, 33, 64, 70, 1024, 1100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the operators are, compiled."""
    made = tmp_path_factory.mktemp("stored")
    out = made / "made_stored"
    for name, text in SPECS.items():
        path = made / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        assert not opgen.build(path, out).failed
    opgen.compile(list(SPECS), out)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(made)
        yield out


def rounded_once(op: str, *given: torch.Tensor | None, near: tuple[int, ...] = ()) -> None:
    """What an operator gives for 16-bit floats is what it gives for them as float32, rounded.

    Results with the numbers `near` may be the next number.
    """
    runtime = importlib.import_module("made_stored._runtime")
    function: Callable[..., Any] = getattr(importlib.import_module(f"made_stored.{op}"), op)
    wide = [t.float() if t is not None and t.is_floating_point() else t for t in given]
    with runtime.use_backend("native"):
        narrow, whole = function(*given), function(*wide)
    for k, (a, b) in enumerate(zip(narrow, whole, strict=True)):
        assert a.dtype == torch.bfloat16 or not a.is_floating_point()
        torch.testing.assert_close(a, b.to(a.dtype), rtol=2**-7 if k in near else 0, atol=0, equal_nan=True)


def numbers(*shape: int) -> torch.Tensor:
    """16-bit floats, some of them special."""
    x = torch.randn(shape).bfloat16()
    if x.numel() > 20:
        x.view(-1)[3::19] = torch.tensor([-0.0, 1e-40, 3e38, -torch.inf, torch.nan], dtype=torch.bfloat16).repeat(
            x.numel()
        )[: len(x.view(-1)[3::19])]
    return x


@pytest.mark.parametrize("n", SIZES)
def test_maps(folder: Path, n: int) -> None:
    torch.manual_seed(0)
    r, at = torch.randn(5).bfloat16(), torch.randint(0, max(n, 1), (n,))
    for w in (torch.randn(2 * n).bfloat16(), None):
        for x in (numbers(5, n), numbers(5, 2 * n)[:, ::2], numbers(n, 5).t(), numbers(1, n).expand(5, n)):
            for part in (slice(0, n), slice(0, 2 * n, 2)):
                rounded_once("maps", x, None if w is None else w[part], r, at)


@pytest.mark.parametrize("n", SIZES[1:])
def test_rows(folder: Path, n: int) -> None:
    torch.manual_seed(0)
    for x in (torch.randn(5, n).bfloat16(), numbers(5, n), numbers(5, 2 * n)[:, ::2], numbers(n, 5).t()):
        for w in (torch.randn(n).bfloat16(), None):
            rounded_once("rows", x, w, near=(3,))


@pytest.mark.parametrize("b", [1, 3, 40, 700])
@pytest.mark.parametrize("n", [1, 5, 33, 300])
def test_columns(folder: Path, b: int, n: int) -> None:
    torch.manual_seed(0)
    for x in (torch.randn(b, n).bfloat16(), torch.randn(b, 2 * n).bfloat16()[:, ::2], torch.randn(n, b).bfloat16().t()):
        rounded_once("columns", x)


def test_there_is_a_kernel_for_them(folder: Path) -> None:
    text = {op: (folder / op / "csrc" / f"{op}_kernels.cpp").read_text(encoding="utf-8") for op in SPECS}
    assert all("OPGEN_STORED" in t for t in text.values())


def test_a_number_of_more_digits_is_not_stored_in_fewer(folder: Path) -> None:
    """The kernel of what lies beside `odd` keeps them."""
    text = (folder / "maps" / "csrc" / "maps_kernels.cpp").read_text(encoding="utf-8")
    tables = [line for line in text.splitlines() if line.startswith("    OPGEN_ST")]
    assert any("OPGEN_STEP(" in line for line in tables), tables


@pytest.mark.parametrize("dtypes", [("bfloat16", "float32"), ("float32", "bfloat16"), ("float16", "float16")])
def test_other_pairs_of_dtypes_have_kernels_too(folder: Path, dtypes: tuple[str, str]) -> None:
    from made_stored._runtime import use_backend  # type: ignore[import-not-found]
    from made_stored.rows import rows  # type: ignore[import-not-found]

    torch.manual_seed(0)
    x, w = (torch.randn(s).to(getattr(torch, d)) for s, d in zip(((4, 40), (40,)), dtypes, strict=True))
    with use_backend("torch"):
        plain = rows(x, w)
    with use_backend("native"):
        compiled = rows(x, w)
    for a, b in zip(compiled, plain, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("n", SIZES)
def test_sums_that_meet(folder: Path, n: int) -> None:
    torch.manual_seed(0)
    at = torch.randint(0, 3, (7,))
    for x in (numbers(7, n), numbers(7, 2 * n)[:, ::2], numbers(n, 7).t(), numbers(1, n).expand(7, n), numbers(7)):
        for w in (torch.randn(7).bfloat16(), torch.randn(14).bfloat16()[::2], None):
            rounded_once("added", x, w, at)


FUNCTIONS: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
    torch.exp,
    torch.erfc,
    torch.nn.functional.logsigmoid,
    torch.sigmoid,
    lambda x: torch.where(x == -torch.inf, -0.0, torch.nn.functional.silu(x)),
    lambda x: -torch.nn.functional.logsigmoid(-x),
    lambda x: torch.exp(-x.square()),
    torch.tanh,
)


def test_functions_of_all_numbers(folder: Path) -> None:
    """Off by a fiftieth of a unit more than a result that is rounded once."""
    x = torch.arange(-(2**15), 2**15).to(torch.int16).view(torch.bfloat16)
    runtime = importlib.import_module("made_stored._runtime")
    with runtime.use_backend("native"):
        found = importlib.import_module("made_stored.functions").functions(x)
    for function, y in zip(FUNCTIONS, found, strict=True):
        right = function(x.double())
        assert torch.equal(y.isnan(), right.isnan())
        assert torch.equal(y.isinf(), right.bfloat16().isinf())
        unit = 2.0 ** (right.abs().log2().floor() - 7).clamp(min=-133)
        error = ((y.double() - right) / unit).abs()[right.bfloat16().isfinite()]
        assert error.max() < 0.52
