"""The lane loops of every kernel of the catalogue are vectorised, by what GCC says of them; what is not is listed.

For float and AVX2, the least set that has vectors of 32 bytes. Loops that GCC would turn into calls of `memcpy` and
`memset` stay loops here, so that they are counted.
"""

from __future__ import annotations

import platform
import re
import subprocess
from collections import Counter
from collections.abc import Container
from pathlib import Path

import pytest

from opgen.toolchain.compiler import toolchain
from tests.compilers import available
from tests.native.conftest import ROOT

pytestmark = pytest.mark.slow

ISA = "avx2"
OPERATORS = sorted(p.stem for p in (ROOT / "specs").glob("*.yaml"))
# By operator and kernel: how many loops are computed one lane after the other. The list may only become shorter. Steps
# of recurrences wait for one another (`alpha_compositing`, `ctc_loss`, `gated_recurrence`, `selective_scan`), the C
# library has no vectors for Bessel functions and makes one call of a sine and a cosine; others are not explained yet.
LEFT: dict[str, dict[str, int]] = {
    "alpha_compositing": {"forward_through": 1, "backward_share_through": 1},
    "attention": {
        "backward_0_grad_query": 1,
        "backward_0_grad_value": 2,
        "backward_2_grad_query": 1,
        "backward_2_grad_value": 2,
    },
    "avg_pool2d": {"backward_0_grad_input": 1, "backward_1_grad_input": 1},
    "bessel_j0": {"forward_output": 1, "backward_grad_x": 1},
    "bilinear_sample": {"forward_output": 2, "backward_col": 1, "backward_grad_image": 1},
    "bilinear_splat": {"forward_col": 1, "forward_grid": 1, "backward_grad_values": 2},
    "bspline_kan": {"backward_grad_input": 1},
    "cosine_embedding_loss": {
        "forward_0_output": 1,
        "forward_1_output": 1,
        "backward_0_grad_dot": 1,
        "backward_1_grad_dot": 1,
        "backward_2_grad_dot": 1,
    },
    "cross_entropy": {
        "backward_0_grad_sum_n_all_2": 1,
        "backward_0_grad_input": 1,
        "backward_1_grad_input": 1,
        "backward_2_grad_input": 1,
    },
    "ctc_loss": {
        "forward_0_skips": 1,
        "forward_0_output": 1,
        "forward_1_output": 1,
        "forward_2_output": 1,
        "backward_0_last": 1,
        "backward_0_grad_end": 1,
        "backward_0_grad_last": 1,
        "backward_1_grad_end": 1,
        "backward_1_grad_last": 1,
        "backward_2_grad_end": 1,
        "backward_2_grad_last": 1,
    },
    "gated_recurrence": {"forward_0_state": 1, "forward_1_state": 1, "backward_0_grad_state_1": 1},
    "gaussian_kernel_sum": {"forward_output": 1, "backward_grad_x_sum": 1, "backward_grad_b": 2},
    "info_nce": {"backward_0_grad_key": 3, "backward_1_grad_key": 3, "backward_2_grad_key": 3},
    "lennard_jones": {"backward_0_grad_box_rows": 4},
    "max_pool2d": {"backward_0_share_output": 1, "backward_0_grad_input": 1, "backward_1_grad_input": 1},
    "modrelu": {"backward_grad_input_imag": 1, "backward_grad_bias": 1},
    "phase_rotation": {"forward_output_part_imag_2": 1},
    "quantile_pool": {"backward_0_grad_input": 1, "backward_1_grad_input": 1},
    "se3_exp_act": {"backward_grad_twist": 1},
    "segment_max": {"backward_grad_input": 1},
    "segment_mean": {"forward_output": 1, "backward_grad_total": 1},
    "selective_scan": {"forward_h": 1, "backward_grad_h": 1},
    "z_loss": {"forward_0_loss": 1, "backward_0_grad_logits": 1},
}

_KERNEL = re.compile(r"^int (\w+)\(const OpgenCall& call.*?^}", re.DOTALL | re.MULTILINE)
_LANES = re.compile(r"\brt::(?:each|each_of_row|lanes)\b")
_LOOPS = re.compile(r"^OPGEN_INLINE void (?:each|each_of_row|lanes)\(.*?^}", re.DOTALL | re.MULTILINE)
_FUNCTION = re.compile(r"^;; Function .*anonymous}::(\w+)<float>")
_VECTORISED = re.compile(r"/opgen_cpu\.h:(\d+):\d+: optimized: loop vectorized using 32 byte vectors")


def lines_of_loops(header: str) -> set[int]:
    """Where the loops over lanes stand in the runtime."""
    found: set[int] = set()
    for m in _LOOPS.finditer(header):
        first = header.count("\n", 0, m.start()) + 1
        found |= set(range(first, first + m[0].count("\n") + 1))
    return found


def vectorised(report: str, lines: Container[int]) -> Counter[str]:
    """How many lane loops of each kernel GCC has vectorised, of its report on all functions."""
    found: Counter[str] = Counter()
    kernel = ""
    for line in report.splitlines():
        if line.startswith(";; Function "):
            named = _FUNCTION.match(line)
            kernel = named[1] if named else ""
        elif kernel and (m := _VECTORISED.search(line)) and int(m[1]) in lines:
            found[kernel] += 1
    return found


@pytest.mark.skipif(not available(), reason="no C++ compiler")
@pytest.mark.skipif(available() and "g++" not in toolchain().version, reason="another compiler than GCC")
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="another processor than x86")
@pytest.mark.parametrize("op", OPERATORS)
def test_lanes_are_vectors(op: str, tmp_path: Path) -> None:
    csrc = ROOT / "generated" / op / "csrc"
    source = csrc / f"{op}_kernels.cpp"
    report = tmp_path / "report.txt"
    line = toolchain().kernels(source, [ROOT / "generated" / "csrc", csrc], tmp_path / "kernels.o", ISA)
    flags = [f"-fdump-tree-vect-optimized={report}", "-fno-tree-loop-distribute-patterns"]
    subprocess.run([*line, *flags], check=True)
    lines = lines_of_loops((ROOT / "generated" / "csrc" / "opgen_cpu.h").read_text(encoding="utf-8"))
    found = vectorised(report.read_text(errors="replace"), lines)
    text = source.read_text(encoding="utf-8")
    asked = {m[1]: len(_LANES.findall(m[0])) for m in _KERNEL.finditer(text)}
    left = {kernel: n - found[kernel] for kernel, n in asked.items() if found[kernel] < n}
    assert left == LEFT.get(op, {})
