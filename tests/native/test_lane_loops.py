"""The lane loops of every kernel of the catalogue are vectorised, by what GCC says of them; what is not is listed.

For float, AVX2 and AVX-512. Loops that GCC would turn into calls of `memcpy` and `memset` stay loops here.
"""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Container
from pathlib import Path

import pytest

from opgen.toolchain.compiler import toolchain
from tests.compilers import available
from tests.native.conftest import ROOT

pytestmark = pytest.mark.slow

OPERATORS = sorted(p.stem for p in (ROOT / "specs").glob("*.yaml"))
# By operator: kernels with a loop that is computed one lane after the other. The list may only become shorter. Tiles of
# streams are vectors already (`attention`, `gaussian_kernel_sum`, `info_nce`, `sinkhorn_softmin`), steps of recurrences
# wait for one another (`alpha_compositing`, `ctc_loss`, `edit_distance`, `gated_recurrence`, `selective_scan`,
# `smith_waterman`, `soft_dtw`), the C library has no vectors for Bessel functions; in others GCC has no vectors for
# conditions on integers beside such on floats.
LEFT: dict[str, set[str]] = {
    "alpha_compositing": {"backward_share_through", "forward_through"},
    "attention": {
        "backward_0_grad_query",
        "backward_0_grad_value",
        "backward_2_grad_query",
        "backward_2_grad_value",
        "forward_0_output",
        "forward_2_output",
    },
    "bessel_j0": {"backward_grad_x", "forward_output"},
    "bspline_kan": {"backward_grad_input"},
    "cosine_embedding_loss": {"backward_0_grad_dot", "backward_2_grad_dot"},
    "cross_entropy": {"backward_0_grad_sum_n_all_2"},
    "ctc_loss": {
        "backward_0_grad_end",
        "backward_0_grad_last",
        "backward_0_grad_on",
        "backward_0_last",
        "backward_1_grad_end",
        "backward_1_grad_last",
        "backward_2_grad_end",
        "backward_2_grad_last",
        "forward_0_a",
        "forward_0_output",
        "forward_0_skips",
        "forward_1_output",
        "forward_2_output",
    },
    "edit_distance": {"forward_d_waves"},
    "gated_recurrence": {"backward_grad_state_1", "forward_state"},
    "gaussian_kernel_sum": {"backward_grad_b", "backward_grad_x_sum", "forward_output"},
    "info_nce": {"backward_0_grad_key", "backward_1_grad_key", "backward_2_grad_key"},
    "lennard_jones": {"backward_0_grad_box_rows"},
    "modrelu": {"backward_grad_bias", "backward_grad_input_imag"},
    "rope": {"backward_grad_input"},
    "se3_exp_act": {"backward_grad_twist"},
    "segment_max": {"backward_grad_input"},
    "selective_scan": {"backward_grad_h", "forward_h"},
    "sinkhorn_softmin": {"backward_grad_f_sum", "backward_grad_x_sum"},
    "smith_waterman": {"backward_grad_h_before", "forward_h_waves"},
    "soft_dtw": {"backward_grad_r_before", "forward_r_waves"},
    "trimmed_mean": {"backward_grad_values"},
    "z_loss": {"backward_0_grad_logits"},
}
FURTHER: dict[str, dict[str, set[str]]] = {
    "avx2": {
        "bilinear_sample": {"backward_col", "backward_grad_image", "backward_grad_points", "forward_output"},
        "bilinear_splat": {"backward_grad_places", "backward_grad_values", "forward_col", "forward_grid"},
        "bspline_kan": {"forward_basis"},
        "max_pool2d": {"backward_0_share_output"},
        "phase_rotation": {"forward_output_part_imag_2"},
        "segment_mean": {"backward_grad_total", "forward_output"},
    },
    "avx512": {},
}

_LOOPS = re.compile(r"^OPGEN_INLINE void (?:each|each_of_row|lanes_at)\(.*?^}", re.DOTALL | re.MULTILINE)
_FUNCTION = re.compile(r"^;; Function .*anonymous}::(\w+)<float>")
_SCALAR = re.compile(r"/opgen_cpu\.h:(\d+):\d+: missed: couldn't vectorize loop")


def lines_of_loops(header: str) -> set[int]:
    """Where the loops over lanes stand in the runtime."""
    found: set[int] = set()
    for m in _LOOPS.finditer(header):
        first = header.count("\n", 0, m.start()) + 1
        found |= {first + k for k, line in enumerate(m[0].splitlines()) if "for (" in line and "; ++" in line}
    return found


def scalar(report: str, lines: Container[int]) -> set[str]:
    """The kernels with a lane loop that GCC has no vectors for, of its report on all functions."""
    found: set[str] = set()
    kernel = ""
    for line in report.splitlines():
        if line.startswith(";; Function "):
            named = _FUNCTION.match(line)
            kernel = named[1] if named else ""
        elif kernel and (m := _SCALAR.search(line)) and int(m[1]) in lines:
            found.add(kernel)
    return found


@pytest.mark.skipif(not available(), reason="no C++ compiler")
@pytest.mark.skipif(available() and "g++" not in toolchain().version, reason="another compiler than GCC")
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="another processor than x86")
@pytest.mark.parametrize("isa", FURTHER)
@pytest.mark.parametrize("op", OPERATORS)
def test_lanes_are_vectors(op: str, isa: str, tmp_path: Path) -> None:
    csrc = ROOT / "generated" / op / "csrc"
    source = csrc / f"{op}_kernels.cpp"
    report = tmp_path / "report.txt"
    line = toolchain().kernels(source, [ROOT / "generated" / "csrc", csrc], tmp_path / "kernels.o", isa)
    flags = [f"-fdump-tree-vect-missed={report}", "-fno-tree-loop-distribute-patterns"]
    subprocess.run([*line, *flags], check=True)
    lines = lines_of_loops((ROOT / "generated" / "csrc" / "opgen_cpu.h").read_text(encoding="utf-8"))
    assert len(lines) == 3
    found = scalar(report.read_text(errors="replace"), lines)
    assert found == LEFT.get(op, set()) | FURTHER[isa].get(op, set())
