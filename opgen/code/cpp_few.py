"""Folds that go through a few points at a time, in the words of `opgen_cpu_rows.h` and `opgen_cpu_windows.h`.

What a lane does is a function of what it reads: runs of columns, or numbers, at one of the points.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from opgen.code.cpp_access import Access
from opgen.code.cpp_layout import block
from opgen.code.cpp_scope import CpuScope
from opgen.code.cpp_statements import fold_name
from opgen.code.native_scope import stored_type
from opgen.ir.program import Kind
from opgen.ir.scalar import Index, Read, Scalar, children
from opgen.kernel.model import PLACES, Acc, Body, Join
from opgen.plan.model import Let


@dataclass(frozen=True, slots=True)
class Leaves:
    """What the lanes of a fold read: runs of columns, numbers, and `others`, for which each fold has its own way."""

    beside: tuple[Access, ...]
    numbers: tuple[Access, ...]
    others: tuple[tuple[Access, Read], ...]


def leaves(scope: CpuScope, body: Body, accs: Sequence[Acc], known: Collection[str]) -> Leaves | None:
    """What the lanes of a fold read, if that is all they ask for; `known` are numbers from outside of the loops."""
    if not accs or any(a.op in PLACES or a.kind is Kind.BOOL for a in accs) or not scope.lanes:
        return None
    if not all(isinstance(n, Let | Join) for n in body):
        return None
    beside: dict[Access, None] = {}
    numbers: dict[Access, None] = {}
    others: dict[Access, Read] = {}
    for e in _leaves(body):
        if not isinstance(e, Read):
            return None
        access = scope.find(e.tensor, e.at)
        if access is None or scope.formal.slots[e.tensor].kind is Kind.BOOL:
            return None
        if not scope.plain(access):
            if others.setdefault(access, e) != e:
                return None
        elif access.axes_of(scope.lanes[-1]):
            beside[access] = None
        elif access.name not in known:
            numbers[access] = None
    return Leaves((*beside,), (*numbers,), (*others.items(),))


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


@dataclass(frozen=True, slots=True)
class Lane:
    """What a lane does with what it reads, which goes by the names of `reads`."""

    name: str
    folds: tuple[str, ...]
    reads: tuple[str, ...]

    @staticmethod
    def of(scope: CpuScope, accs: Sequence[Acc], reads: Iterable[str]) -> Lane:
        return Lane(scope.fresh("lanes"), tuple(fold_name(a.name) for a in accs), (*reads,))

    @property
    def call(self) -> str:
        """At a point of its own."""
        return f"{self.name}({', '.join(('i', 'i', *self.folds, *self.reads))});"

    def defined(self, scope: CpuScope, lines: list[str]) -> list[str]:
        """Its definition; a lane does what the `lines` say."""
        folds = [f"auto& {name}" for name in self.folds]
        given = ["int64_t i", "int64_t lane", *folds, *(f"const auto& {name}" for name in self.reads)]
        head, add = f"const auto {self.name} = {scope.held(lines)}({', '.join(given)}) {{", ".add(lane, "
        if len(lines) == 1 and add in lines[0]:  # as short as that it would have to stand on the line of its head
            fold, value = lines[0].removesuffix(");").split(add, 1)
            lines = [f"const auto value = {value};", f"{fold}{add}value);"]
        return block(head, lines, "};")

    def fold(self, columns: str, few: Iterable[str]) -> str:
        """The call that goes through a few points."""
        ends = ", ".join((columns, "points.size", self.name, *self.folds, *few))
        return f"rt::fold_rows<scalar_t>({ends});"


def plain_few(scope: CpuScope, a: Access, name: str, *, beside: bool) -> str:
    """The declaration of what a plain access is at a few points: a run of columns, or a number."""
    type_, at = stored_type(scope.formal.slots[a.buffer]), f"{scope.at(a, 'points')}, points.step[{a.number}]"
    kind = "FewRuns" if beside else "FewNumbers" if a.moves_with(scope.lanes) else "FewValues"
    return f"const rt::{kind}<{type_}> {name}({scope.tensor(a.buffer)}, {at});"
