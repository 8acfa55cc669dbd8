"""The specs of the repository that tests compare with the interpreter.

Those with functions of other libraries are left out: no formula gives their values. Their generated tests call the
libraries, and `tests/functional/test_elsewhere.py` checks what is particular to them.
"""

from __future__ import annotations

from pathlib import Path

SPECS = [p for p in sorted((Path(__file__).parents[1] / "specs").glob("*.yaml")) if "extern:" not in p.read_text()]
