"""An error of a compiler is shown where the refused code comes from in the spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen import build
from opgen.toolchain.blame import blamed

SPEC = """\
op: blamed_op
inputs: {x: {shape: [..., K]}}
functions:
  double(v): {extern: {torch: torch.abs, cpp: "::no_such_name"}, derivative: "2"}
forward: |
  mean_x[...] = mean[k](x[..., k])
  y[..., k] = double(x[..., k]) - mean_x[...]
"""


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blamed_op.yaml").write_text(SPEC)
    assert not build("blamed_op.yaml", "generated").failed
    return tmp_path / "generated"


def line_of(source: Path, text: str, skip: int = 0) -> int:
    lines = source.read_text().split("\n")
    return next(k for k, line in enumerate(lines) if text in line) + 1 + skip


@pytest.mark.parametrize(
    "form", ["{path}:{line}:27: error: no", "{path}({line}): error: no", "{path}:{line}:1: fatal error: no"]
)
def test_function_and_statement(out: Path, form: str) -> None:
    source = out / "blamed_op/csrc/blamed_op_kernels.cpp"
    printed = "In file included from somewhere:\n" + form
    place = blamed(out, "blamed_op", printed.format(path=source, line=line_of(source, "::no_such_name")))
    assert place is not None
    assert (place.text, place.source.path) == ("double(v)", "blamed_op.yaml")
    place = blamed(out, "blamed_op", printed.format(path=source, line=line_of(source, "int forward_y(", skip=5)))
    assert place is not None
    assert place.text == "y[..., k] = double(x[..., k]) - mean_x[...]"


def test_nothing_is_blamed_without_reason(out: Path) -> None:
    source = out / "blamed_op/csrc/blamed_op_kernels.cpp"
    line = line_of(source, "::no_such_name")
    assert blamed(out, "blamed_op", "g++: fatal error: no input files") is None
    assert blamed(out, "blamed_op", f"{source}:{line}:3: warning: odd") is None
    assert blamed(out, "blamed_op", "/usr/include/math.h:3:3: error: no") is None
    (out.parent / "blamed_op.yaml").write_text(SPEC + "# changed since\n")
    assert blamed(out, "blamed_op", f"{source}:{line}:3: error: no") is None
