"""What `auto` will run of a generated operator, as its package tells: for `opgen doctor` and `opgen compile`.

In goes the folder of generated operators; out comes a line. Nothing is imported from there.
"""

from __future__ import annotations

import ast
from pathlib import Path

from opgen.plan.text import choice
from opgen.toolchain.compiler import Toolchain
from opgen.toolchain.library import without_kernels

_DIRECTIONS = ("forward", "backward")


def by_itself(out: Path, op: str) -> str:
    """The back end of an operator that is compiled, and why; one that has no kernels runs in torch."""
    reason = without_kernels(out, op)
    if reason is not None:
        return f"torch: {reason}"
    try:
        return choice(*_directions(out, op))
    except (OSError, SyntaxError, ValueError, LookupError) as e:
        return f"what nobody can tell: {e}"


def in_short(out: Path, op: str) -> str:
    """The same without reasons, as the `backend` of a function says it on a machine without CUDA."""
    try:
        directions, in_torch, sized = _directions(out, op)
    except (OSError, SyntaxError, ValueError, LookupError):
        return "unknown"
    texts = [f"torch{' (native when small)' * (d in sized)}" if d in in_torch else "native" for d in directions]
    return texts[0] if len({*texts}) == 1 else ", ".join(f"{d} {t}" for d, t in zip(directions, texts, strict=True))


def _directions(out: Path, op: str) -> tuple[list[str], dict[str, str], list[str]]:
    """The directions that an operator has, those in which torch is faster, each with why, and those that go by size."""
    fields = _definition(out / op / "ops.py")
    in_torch = ast.literal_eval(fields["faster_in_torch"]) if "faster_in_torch" in fields else {}
    sized = [which for which in _DIRECTIONS if f"{which}_excess" in fields]
    return [which for which in _DIRECTIONS if which in fields], in_torch, sized


def is_compiled(out: Path, op: str) -> bool:
    """Is there a library for the CPU beside the package?"""
    return (out / op / Toolchain.library).exists()


def _definition(path: Path) -> dict[str, ast.expr]:
    """What `ops.py` defines an operator by."""
    calls = (n for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(n, ast.Call))
    made = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "Definition"]
    if not made:
        raise LookupError(f"{path} defines no operator")
    return {k.arg: k.value for k in made[0].keywords if k.arg is not None}
