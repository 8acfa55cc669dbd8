"""Calls that are wrong: the error names the operator, the argument and what was expected, on every back end."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

from tests.compilers import available

ROOT = Path(__file__).resolve().parents[2]
SPEC = """
op: windows_of
inputs: {x: {shape: [..., H, W]}, ids: {shape: [N], dtype: int, doc: rows to read}, keep: {shape: [N], dtype: bool}}
params:
  size: {type: int}
  stride: {type: int, default: 1}
  shift: {type: [int, int], default: [0, 0]}
  scale: {type: float, default: 1.0}
  mode: {choices: [plain, twice], default: plain}
  flag: {type: bool, default: false}
  by: {type: int, default: 0}
dims: {P: (H - size)//stride + 1}
outputs: {y: {shape: [..., P, N]}}
forward: |
  rows[..., p < P, w] = sum[r < size](x[..., p*stride + r, w])*where(flag, scale, 2)
  both[..., p, n] = rows[..., p, ids[n]] + rows[..., p, ids[n] + by]
  each[..., p, n] = where(keep[n], both[..., p, n], 0) + pad(x[..., shift[0], shift[1]], 0)
  y[..., p, n] = each[..., p, n] if mode == "plain"
  y[..., p, n] = 2*each[..., p, n] if mode == "twice"
"""
X, IDS, KEEP = torch.randn(4, 5), torch.tensor([0, 1]), torch.tensor([True, False])

# arguments in place of the good ones, the type of the error, and what it must say beside the operator
WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "nothing for a tensor": ({"x": None}, TypeError, "x must be a Tensor, not None"),
    "nothing for integers": ({"ids": None}, TypeError, "ids must be a Tensor, not None"),
    "a list for a tensor": ({"x": [1.0, 2.0]}, TypeError, "x must be a Tensor, not list"),
    "an array for a tensor": ({"x": np.ones((4, 5))}, TypeError, "x must be a Tensor, not ndarray"),
    "a number for a tensor": ({"ids": 1}, TypeError, "ids must be a Tensor, not int"),
    "integers for floats": ({"x": X.long()}, TypeError, "x must have a floating-point dtype, not torch.int64"),
    "complex for floats": ({"x": X + 0j}, TypeError, "x must have a floating-point dtype, not torch.complex64"),
    "floats for integers": (
        {"ids": IDS.float()},
        TypeError,
        "ids must be integers of shape [N] (rows to read), not torch.float32",
    ),
    "floats of another shape": (
        {"ids": X},
        TypeError,
        "ids must be integers of shape [N] (rows to read), not torch.float32 of shape [4, 5]",
    ),
    "floats for conditions": ({"keep": KEEP.float()}, TypeError, "keep must be bool, not torch.float32"),
    "sparse": ({"x": X.to_sparse()}, TypeError, "x must be a dense tensor, not one of layout torch.sparse_coo"),
    "another device": ({"ids": IDS.to("meta")}, ValueError, "ids is on meta, but x is on cpu"),
    "too few dims": ({"x": X[0]}, ValueError, "x must have shape [..., H, W], not [5]"),
    "sizes that differ": ({"keep": KEEP[:1]}, ValueError, "keep[N] has size 1 along N, and ids[N] has 2"),
    "divided by zero": ({"stride": 0}, ValueError, "stride must not be 0"),
    "a negative size": ({"size": 9}, ValueError, "P = (H - size)//stride + 1 must not be negative, but is -4"),
    "a short list": ({"shift": [1]}, ValueError, "shift must have 2 elements, not 1: [1]"),
    "a long list": ({"shift": [1, 2, 3]}, ValueError, "shift must have 2 elements, not 3"),
    "an int for a list": ({"shift": 1}, TypeError, "shift must be 2 ints; write shift=(1, 1)"),
    "floats in a list": ({"shift": [1.5, 2]}, TypeError, "shift must be a sequence of ints, not [1.5, 2]"),
    "a float for an int": ({"size": 2.5}, TypeError, "size must be an int, not 2.5 of type float"),
    "a string for an int": ({"size": "2"}, TypeError, "size must be an int, not '2' of type str"),
    "nothing for an int": ({"size": None}, TypeError, "size must be an int, not None"),
    "a string for a float": ({"scale": "a"}, TypeError, "scale must be a float, not 'a' of type str"),
    "a string for a bool": ({"flag": "yes"}, TypeError, "flag must be a bool, not 'yes' of type str"),
    "a position too large": ({"ids": IDS + 6}, IndexError, "ids must satisfy 0 <= ids < W = 5, but has values from 6"),
    "a negative position": ({"ids": IDS - 1}, IndexError, "ids must satisfy 0 <= ids < W = 5, but has values from -1"),
    "a computed position": ({"by": 9}, IndexError, "a position of x or ids is out of range"),
    "a computed position that is negative": ({"by": -2}, IndexError, "0 <= ids[n] + by < W, with H = 4, W = 5"),
    "a misspelt choice": (
        {"mode": "twise"},
        ValueError,
        "one of 'plain', 'twice', not 'twise' (did you mean 'twice'?)",
    ),
    "an int for a choice": ({"mode": 3}, TypeError, "mode must be one of 'plain', 'twice', not 3"),
    "nothing for a choice": ({"mode": None}, TypeError, "mode must be one of 'plain', 'twice', not None"),
    "an unknown keyword": ({"strid": 2}, TypeError, "windows_of has no argument strid; did you mean stride?"),
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    from opgen import build

    folder = tmp_path_factory.mktemp("refusals")
    (folder / "windows_of.yaml").write_text(SPEC)
    result = build(folder / "windows_of.yaml", folder / "refusing")
    assert not result.failed, result.diagnostics
    sys.path.insert(0, str(folder))
    yield importlib.import_module("refusing.windows_of")
    sys.path.remove(str(folder))
    for loaded in [m for m in sys.modules if m.split(".")[0] == "refusing"]:
        del sys.modules[loaded]


@pytest.fixture(
    params=[
        "torch",
        pytest.param("native", marks=[pytest.mark.slow, pytest.mark.skipif(not available(), reason="no C++ compiler")]),
    ]
)
def operator(
    package: ModuleType, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Any]]:
    """The operator on one back end, compiled once."""
    from opgen.toolchain.library import compile_op
    from opgen.write.user_cache import CACHE_VARIABLE

    runtime = importlib.import_module("refusing._runtime")
    if request.param == "native" and runtime.kernel("windows_of", "forward") is None:
        monkeypatch.setenv(CACHE_VARIABLE, os.environ.get(CACHE_VARIABLE, str(ROOT / ".opgen_cache" / "tests")))
        runtime.load_library(compile_op(Path(package.__file__ or "").parents[1], "windows_of"))
    with runtime.use_backend(request.param):
        yield package.windows_of


def call(operator: Callable[..., Any], **changed: Any) -> Any:
    given = {"x": X, "ids": IDS, "keep": KEEP, "size": 2} | changed
    return operator(given.pop("x"), given.pop("ids"), given.pop("keep"), **given)


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_named(operator: Callable[..., Any], wrong: str) -> None:
    assert call(operator).shape == (3, 2)
    changed, kind, text = WRONG[wrong]
    with pytest.raises(kind) as raised:
        call(operator, **changed)
    message = str(raised.value)
    assert message.startswith("windows_of")
    assert text in message
    assert "\n" not in message


def test_with_a_gradient_too(operator: Callable[..., Any]) -> None:
    x = X.clone().requires_grad_()
    with pytest.raises(IndexError, match="windows_of: ids must satisfy 0 <= ids < W = 5"):
        call(operator, x=x, ids=IDS + 6)
    with pytest.raises(TypeError, match="windows_of: ids must be a Tensor, not None"):
        call(operator, x=x, ids=None)


def test_what_torch_takes_for_a_number_is_taken(operator: Callable[..., Any]) -> None:
    for size in (np.int64(2), torch.tensor(2)):
        assert call(operator, size=size).shape == (3, 2)
    assert call(operator, scale=np.float32(2), flag=1, shift=(0, 1)).shape == (3, 2)


def test_a_number_that_wants_a_gradient(operator: Callable[..., Any]) -> None:
    scale = torch.nn.Parameter(torch.tensor(2.0))
    told = "windows_of: scale is a number, and no gradient goes to it; pass scale.item(), or declare scale in the spec"
    for x in (X, X.clone().requires_grad_()):
        with pytest.raises(TypeError, match=re.escape(told)):
            call(operator, x=x, scale=scale)
    with pytest.raises(TypeError, match=re.escape(told)):
        torch.func.grad(lambda s: call(operator, scale=s, flag=True).sum())(torch.tensor(2.0))
    with torch.no_grad():
        assert torch.equal(call(operator, scale=scale, flag=True), call(operator, scale=2.0, flag=True))


def test_an_argument_that_a_module_has_not(package: ModuleType) -> None:
    takes = "it takes size, stride, shift, scale, mode, flag, by"
    with pytest.raises(TypeError, match=f"^WindowsOf has no argument strid; did you mean stride\\? {takes}$"):
        package.WindowsOf(size=2, strid=1)
    with pytest.raises(TypeError, match=f"^WindowsOf has no argument strides; {takes}$"):
        package.WindowsOf(2, 1, strides=1)  # stride is passed already
    with pytest.raises(TypeError, match=f"has no argument shaft; did you mean shift\\? {takes}$"):
        package.WindowsOf(2, stride=1, shaft=(0, 1))
    with pytest.raises(TypeError, match=f"has no argument shile; did you mean shift or scale\\? {takes}$"):
        package.WindowsOf(2, shile=1)
    with pytest.raises(TypeError, match=f"^WindowsOf has no argument kernel; {takes}$"):
        package.WindowsOf(2, kernel=1)
    for size, shown in (((2,), "(2,) of type tuple"), (2.0, "2.0 of type float"), (None, "None")):
        with pytest.raises(TypeError, match=re.escape(f"WindowsOf: size must be an int, not {shown}")):
            package.WindowsOf(size)
    assert list(inspect.signature(package.WindowsOf).parameters)[:2] == ["size", "stride"]
    assert package.WindowsOf(size=2)(X, IDS, KEEP).shape == (3, 2)


@pytest.mark.parametrize(
    "wrong", ["too few dims", "sizes that differ", "divided by zero", "a short list", "a negative size"]
)
def test_the_same_words_without_values_and_compiled(operator: Callable[..., Any], wrong: str) -> None:
    changed, kind, text = WRONG[wrong]
    meta = {n: t.to("meta") for n, t in {"x": X, "ids": IDS, "keep": KEEP}.items()}
    meta |= {n: a.to("meta") if isinstance(a, torch.Tensor) else a for n, a in changed.items()}
    with pytest.raises(kind) as raised:
        call(operator, **meta)
    assert text in str(raised.value)
    torch._dynamo.reset()
    with pytest.raises(Exception, match="windows_of") as traced:
        torch.compile(lambda: call(operator, **changed), backend="eager", fullgraph=True)()
    assert text in str(traced.value)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors(operator: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="windows_of: x must be a dense tensor, not a nested one"):
        call(operator, x=torch.nested.nested_tensor([X, X]))
