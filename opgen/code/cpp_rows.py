"""Folds of rows that positions name, in the words of `opgen_cpu_rows.h`.

Where runs of columns are in memory as they are read, and a position is the same at all of them, a few rows go through
a few columns at a time: their values stay in registers, and positions are checked ahead of that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from opgen.code.cpp_access import Access
from opgen.code.cpp_layout import block
from opgen.code.cpp_scope import CpuScope
from opgen.code.cpp_statements import Around, NamedRow, fold_name, sums
from opgen.code.native_scope import stored_type
from opgen.ir.program import Kind
from opgen.ir.scalar import Index, Read, Scalar, children
from opgen.kernel.model import PLACES, Acc, Body, Join
from opgen.plan.model import Let


@dataclass(frozen=True, slots=True)
class Rows:
    """What the lanes of such a fold read: rows that are `named`, other rows, and numbers; by access."""

    scope: CpuScope
    accs: tuple[Acc, ...]
    named: dict[Access, NamedRow]
    beside: tuple[Access, ...]
    numbers: tuple[Access, ...]
    lanes: str  # the name of what a lane does

    @property
    def reads(self) -> tuple[Access, ...]:
        return (*self.named, *self.beside, *self.numbers)

    @property
    def folds(self) -> list[str]:
        return [fold_name(a.name) for a in self.accs]

    @property
    def call(self) -> str:
        """What a lane does, at a point of its own."""
        return f"{self.lanes}({', '.join(('i', 'i', *self.folds, *(a.name for a in self.reads)))});"

    def around(self, lines: list[str], runs: list[str], inner: str) -> list[str]:
        """The fold, by rows where that can be, else by `runs`; a lane does what the `lines` say."""
        scope = self.scope
        given = [
            "int64_t i",
            "int64_t lane",
            *(f"auto& {name}" for name in self.folds),
            *(f"const auto& {a.name}" for a in self.reads),
        ]
        few = {a: scope.fresh(f"few_{scope.tensor(a.buffer)}") for a in self.reads}
        still = dict.fromkeys((*(n.positions for n in self.named.values()), *self.numbers))
        steps = _numbers((*self.named, *self.beside)), _numbers(still)
        tensors = dict.fromkeys(scope.tensor(a.buffer) for a in self.reads)
        fits = scope.fresh("by_rows")
        fit = f"const bool {fits} = rt::by_rows({', '.join(('columns', f'{inner}.count', *steps, *tensors))});"
        body = [f"const rt::{self._declared(a, few[a])};" for a in self.reads]
        ends = ", ".join(("columns.size", "points.size", self.lanes, *self.folds, *few.values()))
        body += [f"rt::fold_rows<scalar_t>({ends});", *sums(self.accs, "ran(columns.size, points.size)")]
        head = f"{inner}.runs<rt::few_rows>(0, {inner}.count, columns.at, [&](const auto& points) {{"
        return [
            *block(f"const auto {self.lanes} = {scope.held(lines)}({', '.join(given)}) {{", lines, "};"),
            fit,
            *block(f"if ({fits}) {{", block(head, body, "});"), "} else {"),
            *block("", runs)[1:],
        ]

    def _declared(self, a: Access, name: str) -> str:
        """The declaration of what an access is at a few points."""
        slot = self.scope.formal.slots[a.buffer]
        type_, at = stored_type(slot), f"{self.scope.at(a, 'points')}, points.step[{a.number}]"
        if (n := self.named.get(a)) is not None:
            axis = f"{self.scope.formal.number(a.buffer)}, {n.axis}"
            along = f"{self.scope.at(n.positions, 'points')}, points.step[{n.positions.number}], points.size"
            return f"FewRows<{type_}> {name}(host, {self.scope.tensor(a.buffer)}, {axis}, {at}, {n.asking}, {along})"
        kind = "FewRuns" if a in self.beside else "FewNumbers" if a.moves_with(self.scope.lanes) else "FewValues"
        return f"{kind}<{type_}> {name}({self.scope.tensor(a.buffer)}, {at})"


def named_rows(scope: CpuScope, body: Body, accs: Sequence[Acc], around: Around, known: Collection[str]) -> Rows | None:
    """What the lanes of a fold read, if all of it is numbers and rows, and some of these are named by positions.

    `known` are the numbers that stand outside of the loops.
    """
    if around.once or around.span or not scope.lanes or any(a.op in PLACES or a.kind is Kind.BOOL for a in accs):
        return None
    if not accs or not all(isinstance(n, Let | Join) for n in body):
        return None
    named: dict[Access, NamedRow] = {}
    beside: dict[Access, None] = {}
    numbers: dict[Access, None] = {}
    for e in _leaves(body):
        if not isinstance(e, Read):
            return None
        access = scope.find(e.tensor, e.at)
        if access is None or scope.formal.slots[e.tensor].kind is Kind.BOOL:
            return None
        if access.number in around.named and e.fill is None:
            named[access] = around.named[access.number]
        elif not scope.plain(access):
            return None
        elif access.axes_of(scope.lanes[-1]):
            beside[access] = None
        elif access.name not in known:
            numbers[access] = None
    moved = any(n.positions.axes_of(scope.lanes[-1]) for n in named.values())
    return None if moved or not named else Rows(scope, (*accs,), named, (*beside,), (*numbers,), scope.fresh("lanes"))


def _numbers(accesses: Iterable[Access]) -> str:
    return f"{{{', '.join(str(a.number) for a in accesses)}}}"


def _leaves(body: Body) -> Iterator[Scalar]:
    """What lanes read for what they join, and indices that they compute with."""
    lets = {n.name: n.value for n in body if isinstance(n, Let)}
    left = [n.value for n in body if isinstance(n, Join)]
    seen: set[Scalar] = set()
    while left:
        e = left.pop()
        if e in seen:
            continue
        seen.add(e)
        if isinstance(e, Read) and not e.at:
            left += [lets[e.tensor]] if e.tensor in lets else []
        elif isinstance(e, Read | Index):
            yield e
        else:
            left += children(e)
