"""Where runs stand is kept on whole lines of the cache: what a vector moves there can be read number by number."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from opgen.toolchain.compiler import toolchain
from tests.native.conftest import ROOT, needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler]

ON_LINES = """#include <cstddef>
#include "opgen_cpu.h"
static_assert(alignof(rt::Run<1>) >= 64 && alignof(rt::Run<8>) >= 64);
static_assert(offsetof(rt::Run<8>, at) % 64 == 0 && offsetof(rt::Run<8>, step) % 64 == 0);
static_assert(offsetof(rt::Run<3>, at) % 64 == 0 && offsetof(rt::Run<3>, step) % 64 == 0);
"""


def test_places_and_steps_of_a_run_begin_on_lines(tmp_path: Path) -> None:
    source = tmp_path / "op_kernels.cpp"
    source.write_text(ON_LINES, encoding="utf-8")
    made = tmp_path / "op_kernels.o"
    line = toolchain().kernels(source, [ROOT / "templates" / "csrc"], made, "baseline")
    told = subprocess.run(line, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
