"""The specs of the repository that tests compare with the interpreter.

Those with functions of other libraries are left out: no formula gives their values. Their generated tests call the
libraries, and `tests/functional/test_elsewhere.py` checks what is particular to them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SPECS = [p for p in sorted((Path(__file__).parents[1] / "specs").glob("*.yaml")) if "extern:" not in p.read_text()]
# what plain `pytest` looks at: element-wise, a row, a product, a gather, a scatter, a recurrence, variants
QUICK = ("cross_entropy", "embedding_bag", "gated_recurrence", "linear", "rms_norm", "segment_softmax", "silu")
LONG = ("conv2d",)  # the interpreter takes minutes for its second order
EACH_SPEC = [
    p
    if p.stem in QUICK
    else pytest.param(p, marks=[pytest.mark.thorough, *([pytest.mark.slow] if p.stem in LONG else [])])
    for p in SPECS
]
