"""Many programs in one library each for the CPU kernels and for the emulated CUDA kernels, called one by one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opgen.code.length import TooLongError
from opgen.code.templates import root
from opgen.ir.errors import UnplannableError
from opgen.ir.interp import Array
from opgen.package.step_table import Launch, StepTable
from opgen.plan.model import KernelPlan
from tests.cuda import emulate
from tests.cuda.printed import table_text, tabled
from tests.native.cpu import Compiled, compile_table
from tests.plain import planned
from tests.random_programs.calls import Call, Checked, same
from tests.random_programs.rounding import tolerances

TOLERANCE = 1e-7
ROUNDED = 1e-2  # where what is stored has fewer bits than what is computed

_numbers = itertools.count()


@dataclass
class Batch:
    """Calls that have a plan, with their plans; `without` are those that have none, and why."""

    calls: list[tuple[Checked, Call, KernelPlan]] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    isa: str | None = None  # the instruction set that they are optimised for
    flags: tuple[str, ...] = ()  # more that the compiler is told
    dtype: str = "float64"  # of the emulation
    table: StepTable | None = None  # the kernels; the name of its operator is of this process alone
    launches: tuple[tuple[Launch, ...], ...] = ()

    @staticmethod
    def of(programs: Sequence[Checked], stages: Sequence[str], isa: str | None = None, dtype: str = "float64") -> Batch:
        batch = Batch(isa=isa, dtype=dtype)
        for done in programs:
            for c in done.calls:
                if c.stage in stages:
                    batch.add(done, c)
        return batch

    def add(self, done: Checked, c: Call) -> None:
        try:
            self.calls.append((done, c, planned(c.program)))
        except UnplannableError as e:
            self.without.append(str(e))

    def run(self, folder: Path, emulated: bool) -> None:
        """Compile everything and compare every call with the interpreter."""
        if not self.calls:
            return
        if self.table is None:
            try:
                self.table, self.launches = self._tabled()
            except TooLongError as e:  # an operator has no such kernels: it runs in plain torch
                self.without.append(str(e))
                self.calls = [c for c in self.calls if _is_short(c[2])]
                self.table, self.launches = self._tabled()
        makers = self._emulated(self.table, folder) if emulated else self._compiled(self.table, folder)
        for (done, c, _), made in zip(self.calls, makers, strict=True):
            for call in (c, *c.longer):
                what = f"{'CUDA' if emulated else 'C++'} {c.stage} in {self.dtype}"
                try:
                    _compare(what, made, call, self.dtype)
                except Exception as e:
                    sizes = {n: a.shape for n, a in call.arrays.items()}
                    raise DiffersError(done, f"{what}, called with {sizes}: {e}") from e

    def _tabled(self) -> tuple[StepTable, tuple[tuple[Launch, ...], ...]]:
        plans = [(f"p{k}", plan) for k, (_, _, plan) in enumerate(self.calls)]
        return tabled(f"made{next(_numbers)}", plans)

    def _compiled(self, table: StepTable, folder: Path) -> list[emulate.Emulated]:
        own = folder / table.op
        own.mkdir()
        library = compile_table(table, own, only="double", isa=self.isa, flags=self.flags)
        launched = zip(self.calls, self.launches, strict=True)
        return [Compiled(plan, library, launches, self.isa) for (_, _, plan), launches in launched]

    def _emulated(self, table: StepTable, folder: Path) -> list[emulate.Emulated]:
        source = folder / f"{table.op}.cu"  # libraries of one process share what is of one name
        source.write_text(table_text(table))
        library = emulate.compile_emulated(source, [root() / "csrc"], folder / f"{table.op}.so", [self.dtype])
        launched = zip(self.calls, self.launches, strict=True)
        return [emulate.Emulated(library, table.op, plan, launches) for (_, _, plan), launches in launched]


class DiffersError(AssertionError):
    """A back end computes something else; `done` is the program."""

    def __init__(self, done: Checked, message: str) -> None:
        super().__init__(f"{message}\n{done.case!r}")
        self.done = done


def _is_short(plan: KernelPlan) -> bool:
    """Whether the kernels of a plan are printed to their end."""
    try:
        tabled("one", [("p", plan)])
    except TooLongError:
        return False
    return True


def _compare(what: str, made: emulate.Emulated, c: Call, dtype: str) -> None:
    held = {r.name: stored for r in made.plan.results if (stored := emulate.stated(r)) in emulate.DTYPES}
    want = {n: emulate.rounded(held[n], a) if n in held else a for n, a in c.expected.items()}
    allowed = dict.fromkeys(want, TOLERANCE)
    if dtype != "float64":
        allowed = {n: max(off, ROUNDED) if n in held else off for n, off in tolerances(c).items()}
    for spread in (1, 2):
        found: dict[str, Array] = made.run(c.arrays, c.params, dtype, spread, spread - 1)
        for name, tolerance in allowed.items():
            same(what, found, {name: want[name]}, tolerance)
