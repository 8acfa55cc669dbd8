"""The CPU kernel of a step: a C++ function, for `csrc/<op>_kernels.cpp`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from opgen.code.cpp_kernel import kernel_lines
from opgen.code.cpp_layout import block, commented, laid_out
from opgen.code.cpp_stream import stream_lines
from opgen.kernel.formal import Formal
from opgen.kernel.moves import moves_alone
from opgen.plan.model import Kernel as Step
from opgen.plan.model import ScatterStep, Stream

_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r"\s*const \w+ (\w+) = [^;]*;")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function: `name` as the step table has it, `lines` its definition.

    `moves`: of how many tensors, where it computes with none of the floats in them; `arrays`: how many a run may have.
    """

    name: str
    lines: tuple[str, ...]
    moves: int | None = None
    arrays: int = 0

    @property
    def entry(self) -> str:
        """What stands for it in the table of steps."""
        return f"OPGEN_STEP({self.name})" if self.moves is None else f"OPGEN_MOVES({self.name}, {self.moves})"


def cpu_kernel(formal: Formal, step: Step, name: str) -> Kernel:
    """The function of a step."""
    body, arrays = (stream_lines(formal, step), 0) if isinstance(step, Stream) else kernel_lines(formal)
    body = _asked_for(body)
    head = f"int {name}(const OpgenCall& call, OpgenHost& host) {{"
    order = ", repeats in a fixed order" if isinstance(step, ScatterStep) else ""
    lines = [*_reason(f"{step.reason}{order}"), "template <typename opmath_t>", *block(head, body)]
    alone = moves_alone(formal.kernel.body, {slot: b.kind for slot, b in formal.slots.items()}, formal.reals)
    return Kernel(name, tuple(laid_out(lines)), len(formal.slots) if alone else None, arrays)


def _asked_for(lines: Sequence[str]) -> list[str]:
    """The lines without constants that nothing reads; one that may report a position stays."""
    used = Counter(word for line in lines for word in _WORD.findall(line))
    kept: list[str] = []
    for line in reversed(lines):
        found = _CONSTANT.fullmatch(line)
        if found is not None and used[found[1]] == 1 and "host" not in line:
            used.subtract(_WORD.findall(line))
        else:
            kept.append(line)
    return kept[::-1]


def _reason(text: str) -> list[str]:
    """Why the step is planned as it is, as a comment."""
    return commented(f"// {text[0].upper()}{text[1:]}.") if text else []
