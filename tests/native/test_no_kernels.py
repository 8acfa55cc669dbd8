"""An operator without kernels: a note instead of sources, and a diagnostic for whoever asks for its library."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen import build
from opgen.ir.errors import UnplannableError
from opgen.package import native_files
from opgen.package.notes import NO_KERNELS
from opgen.toolchain.library import NoKernelsError, compile_op, without_kernels

ROOT = Path(__file__).resolve().parents[2]


def test_what_has_no_plan_is_left_to_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnplannableError("y: there is no kernel for this")

    monkeypatch.setattr(native_files, "cpp_files", refuse)
    assert not build(ROOT / "specs" / "softmax.yaml", tmp_path).failed
    assert (tmp_path / "softmax" / NO_KERNELS).exists()
    assert not (tmp_path / "softmax" / "csrc").exists()
    assert without_kernels(tmp_path, "softmax") == "y: there is no kernel for this"
    with pytest.raises(NoKernelsError, match=r"has no kernels.*there is no kernel for this"):
        compile_op(tmp_path, "softmax")
