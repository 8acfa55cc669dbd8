"""Paths into torch are looked up in its files, and only those that lead nowhere are told."""

from __future__ import annotations

import sys

import pytest

from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.schema.load import load


def told(reference: str) -> tuple[Diagnostic, ...]:
    bag = Bag()
    load(Source("spec.yaml", f"op: f\nreference: {reference}\ninputs: [x]\nforward: y = x\n"), bag)
    return bag.items


@pytest.mark.parametrize(
    "path",
    [
        "torch.softmax", "torch.nn.functional.conv2d", "torch.nn.functional.gelu", "torch.special.bessel_j0",
        "torch.linalg.norm", "torch.fft.rfft", "torch.nn.Module.forward", "torch.Tensor.sigmoid", "package.function",
        "torch.ops.aten.relu", "torch.nn.init.zeros_",
    ],
)  # fmt: skip
def test_what_may_be_there_is_not_told(path: str) -> None:
    assert told(path) == ()


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("torch.nn.functional.sofmax", "softmax"),
        ("torch.special.besel_j0", "bessel_j0"),
        ("torch.nn.functional.g7", ""),
    ],
)
def test_what_no_file_mentions_is_a_warning(path: str, meant: str) -> None:
    (found,) = told(path)
    assert found.code == "OPG122"
    module, _, name = path.rpartition(".")
    assert found.message == f"`{module}` has no `{name}`"
    assert found.hints == ((f"did you mean `{module}.{meant}`?",) if meant else ())


def test_nothing_is_imported() -> None:
    before = set(sys.modules)
    told("torch.nn.functional.sofmax")
    assert not any(name.startswith("torch") for name in set(sys.modules) - before)
