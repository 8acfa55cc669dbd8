"""The CPU kernel of a step: a C++ function, for `csrc/<op>_kernels.cpp`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from opgen.code.cpp_kernel import kernel_lines
from opgen.code.cpp_layout import block, commented, laid_out
from opgen.code.cpp_stream import stream_lines
from opgen.code.native_scope import mentions
from opgen.code.printer import NEAR
from opgen.ir.program import Kind
from opgen.ir.scalar import INF, Apply, Lit, Scalar, reads
from opgen.kernel.formal import Formal
from opgen.kernel.model import Store
from opgen.kernel.moves import moves_alone
from opgen.kernel.walk import inside, values
from opgen.plan.model import Kernel as Step
from opgen.plan.model import ScatterStep, Storage, Stream

_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r"\s*const \w+ (\w+) = [^;]*;")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One function: `name` as the step table has it, `lines` its definition.

    `moves`: of how many tensors, where it computes with none of the floats in them; `stored`: those that hold floats of
    the operator's dtype, where there is a version that widens them in registers; `arrays`: how many a run may have.
    """

    name: str
    lines: tuple[str, ...]
    moves: int | None = None
    stored: tuple[int, ...] = ()
    arrays: int = 0

    @property
    def entry(self) -> str:
        """What stands for it in the table of steps."""
        if self.moves is not None:
            return f"OPGEN_MOVES({self.name}, {self.moves})"
        return (
            f"OPGEN_STORED({', '.join((self.name, *map(str, self.stored)))})"
            if self.stored
            else f"OPGEN_STEP({self.name})"
        )


def cpu_kernel(formal: Formal, step: Step, name: str) -> Kernel:
    """The function of a step."""
    body, arrays, widens = (stream_lines(formal, step), 0, False) if isinstance(step, Stream) else kernel_lines(formal)
    body = _asked_for(body)
    head = f"int {name}(const OpgenCall& call, OpgenHost& host) {{"
    order = ", repeats in a fixed order" if isinstance(step, ScatterStep) else ""
    opmath = ["using opmath_t = rt::opmath<scalar_t>;"] if mentions("opmath_t", body) else []
    near = [f"using {NEAR} = rt::Near<scalar_t>;"] if mentions(NEAR, body) else []
    lines = [*_reason(f"{step.reason}{order}"), "template <typename scalar_t>", *block(head, [*opmath, *near, *body])]
    alone = moves_alone(formal.kernel.body, {slot: b.kind for slot, b in formal.slots.items()}, formal.reals)
    stored = _stored(formal) if widens and not alone else ()
    return Kernel(name, tuple(laid_out(lines)), len(formal.slots) if alone else None, stored, arrays)


def _stored(formal: Formal) -> tuple[int, ...]:
    """The tensors that a kernel may have in 16 bits.

    None if it goes on from what it stored, or reads something beside them that has more digits.
    """
    read = {r for e in values(formal.kernel.body) for r in reads(e)}
    stored = {n.slot for n in inside(formal.kernel.body) if isinstance(n, Store)}
    if any(r.tensor in stored or not (r.fill is None or _is_short(r.fill)) for r in read):
        return ()
    return tuple(k for k, b in enumerate(formal.slots.values()) if b.kind is Kind.FLOAT and b.storage is Storage.SCALAR)


def _is_short(fill: Scalar) -> bool:
    """Whether a number is the same with eight binary digits."""
    match fill:
        case Apply("neg", (x,)):
            return _is_short(x)
        case Lit(int(value)):
            return abs(value) < 256
        case _:
            return fill == INF


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
