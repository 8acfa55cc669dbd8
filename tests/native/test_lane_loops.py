"""The lane loops of every kernel of the catalogue are vectorised, by what GCC says of them; what is not has a reason.

For float and AVX2, the least set that has vectors of 32 bytes. Loops that GCC would turn into calls of `memcpy` and
`memset` stay loops here, so that they are counted.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from opgen.toolchain.compiler import available, toolchain
from tests.native.conftest import ROOT

pytestmark = pytest.mark.slow

ISA = "avx2"
OPERATORS = sorted(p.stem for p in (ROOT / "specs").glob("*.yaml"))
# By operator and kernel: how many loops are computed one lane after the other, and why.
EXCEPTIONS: dict[tuple[str, str], tuple[int, str]] = {}

_KERNEL = re.compile(r"^int (\w+)\(const OpgenCall& call.*?^}", re.DOTALL | re.MULTILINE)
_LANES = re.compile(r"\brt::(?:each|each_of_row|lanes)\b")
_FUNCTION = re.compile(r"^;; Function .*anonymous}::(\w+)<float>")
_VECTORISED = re.compile(r"opgen_cpu\w*\.h:\d+:\d+: optimized: loop vectorized using 32 byte vectors")


def vectorised(report: str) -> Counter[str]:
    """How many loops of each kernel GCC has vectorised, of its report on all functions."""
    found: Counter[str] = Counter()
    kernel = ""
    for line in report.splitlines():
        if line.startswith(";; Function "):
            named = _FUNCTION.match(line)
            kernel = named[1] if named else ""
        elif kernel and _VECTORISED.search(line):
            found[kernel] += 1
    return found


@pytest.mark.skipif(not available(), reason="no C++ compiler")
@pytest.mark.skipif(available() and "g++" not in toolchain().version, reason="another compiler than GCC")
@pytest.mark.skipif(available() and ISA not in toolchain().sets, reason="no AVX2")
@pytest.mark.parametrize("op", OPERATORS)
def test_lanes_are_vectors(op: str, tmp_path: Path) -> None:
    csrc = ROOT / "generated" / op / "csrc"
    source = csrc / f"{op}_kernels.cpp"
    report = tmp_path / "report.txt"
    line = toolchain().kernels(source, [ROOT / "generated" / "csrc", csrc], tmp_path / "kernels.o", ISA)
    flags = [f"-fdump-tree-vect-optimized={report}", "-fno-tree-loop-distribute-patterns"]
    subprocess.run([*line, *flags], check=True)
    found = vectorised(report.read_text(errors="replace"))
    text = source.read_text(encoding="utf-8")
    asked = {m[1]: len(_LANES.findall(m[0])) for m in _KERNEL.finditer(text)}
    left = {kernel: n - found[kernel] for kernel, n in asked.items() if found[kernel] < n}
    assert left == {kernel: n for (of, kernel), (n, _) in EXCEPTIONS.items() if of == op}
