"""Folds of rows that positions name, or that are short, in the words of `opgen_cpu_rows.h`.

Where runs of columns are in memory as they are read, and a position is the same at all of them, a few rows go through
a few columns at a time: their values stay in registers, and positions are checked ahead of that. Rows that no position
names do so where all of their columns stay in registers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from opgen.code.cpp_access import Access
from opgen.code.cpp_few import Lane, leaves, plain_few
from opgen.code.cpp_layout import block
from opgen.code.cpp_scope import CpuScope
from opgen.code.cpp_statements import Around, NamedRow, sums
from opgen.code.native_scope import stored_type
from opgen.ir.scalar import Apply, walk
from opgen.kernel.kept import CALLS
from opgen.kernel.model import Acc, Body
from opgen.kernel.walk import values


@dataclass(frozen=True, slots=True)
class Rows:
    """What the lanes of such a fold read: rows that are `named`, other rows, and numbers; by access."""

    scope: CpuScope
    accs: tuple[Acc, ...]
    named: dict[Access, NamedRow]
    beside: tuple[Access, ...]
    numbers: tuple[Access, ...]
    lane: Lane

    def around(self, lines: list[str], runs: list[str], inner: str) -> list[str]:
        """The fold, by rows where that can be, else by `runs`; a lane does what the `lines` say."""
        scope = self.scope
        reads = (*self.named, *self.beside, *self.numbers)
        few = {a: scope.fresh(f"few_{scope.tensor(a.buffer)}") for a in reads}
        still = dict.fromkeys((*(n.positions for n in self.named.values()), *self.numbers))
        steps = [_numbers(some) for some in ((*self.named, *self.beside), still) if some]
        tensors = dict.fromkeys(scope.tensor(a.buffer) for a in reads)
        fits = scope.fresh("by_rows")
        ask = "rt::by_rows" if self.named else f"rt::by_short_rows<scalar_t, {len(self.accs)}>"
        fit = f"const bool {fits} = {ask}({', '.join(('columns', f'{inner}.count', *steps, *tensors))});"
        body = [self._named(a, n, few[a]) for a, n in self.named.items()]
        body += [plain_few(scope, a, few[a], beside=a in self.beside) for a in (*self.beside, *self.numbers)]
        body.append(self.lane.fold("rt::Span(columns.size)", few.values()))
        body += sums(self.accs, "ran(columns.size, points.size)")
        head = f"{inner}.runs<rt::few_rows>(0, {inner}.count, columns.at, [&](const auto& points) {{"
        return [
            *self.lane.defined(scope, lines),
            fit,
            *block(f"if ({fits}) {{", block(head, body, "});"), "} else {"),
            *block("", runs)[1:],
        ]

    def _named(self, a: Access, n: NamedRow, name: str) -> str:
        """The declaration of what rows that are named are at a few points."""
        scope = self.scope
        type_, at = stored_type(scope.formal.slots[a.buffer]), f"{scope.at(a, 'points')}, points.step[{a.number}]"
        axis = f"{scope.formal.number(a.buffer)}, {n.axis}"
        along = f"{scope.at(n.positions, 'points')}, points.step[{n.positions.number}], points.size"
        return f"const rt::FewRows<{type_}> {name}(host, {scope.tensor(a.buffer)}, {axis}, {at}, {n.asking}, {along});"


def named_rows(scope: CpuScope, body: Body, accs: Sequence[Acc], around: Around, known: Collection[str]) -> Rows | None:
    """What the lanes of a fold read, if all of it is numbers and rows, which may be named by positions.

    `known` are the numbers that stand outside of the loops.
    """
    found = leaves(scope, body, accs, known)
    if found is None or around.once or around.span:
        return None
    named = {a: around.named[a.number] for a, r in found.others if a.number in around.named and r.fill is None}
    if not named and any(isinstance(e, Apply) and e.fn in CALLS for value in values(body) for e in walk(value)):
        return None  # what short rows cost beside their numbers is little
    moved = any(n.positions.axes_of(scope.lanes[-1]) for n in named.values())
    if moved or not (named or found.beside) or len(named) < len(found.others):
        return None
    reads = (*named, *found.beside, *found.numbers)
    return Rows(scope, (*accs,), named, found.beside, found.numbers, Lane.of(scope, accs, (a.name for a in reads)))


def _numbers(accesses: Iterable[Access]) -> str:
    return f"{{{', '.join(str(a.number) for a in accesses)}}}"
