"""Folds of windows, in the words of `opgen_cpu_windows.h`.

What is read moves evenly with the columns and with what is folded, `x[c, p + k]`. Where its columns lie side by side in
memory, a few points go through a few columns at a time, whose values stay in registers; where a point may leave its
tensor, at the edges, columns come one by one. Elsewhere runs of columns go through the points one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from opgen.code.cpp_access import Access, evenly
from opgen.code.cpp_comb import Comb
from opgen.code.cpp_few import Lane, Leaves, leaves, plain_few
from opgen.code.cpp_layout import block, named
from opgen.code.cpp_scope import CpuScope
from opgen.code.cpp_statements import sums
from opgen.code.long_values import hoisted
from opgen.code.native_scope import outside, stored_type
from opgen.code.printer import NATIVE
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import ONE, Batch, Index, Position, Read, Scalar, is_placed, mentions, reads
from opgen.kernel.model import Acc, Body, ranged
from opgen.kernel.wanted import always, opened

_TIMES = NATIVE.infix["mul"].left


@dataclass(frozen=True, slots=True)
class Windows:
    """What the lanes of such a fold read; `ranges` are positions that are to be in range, with their sizes."""

    scope: CpuScope
    accs: tuple[Acc, ...]
    body: Body
    found: Leaves
    ranges: tuple[tuple[Scalar, Scalar], ...]
    functions: dict[Scalar, str] = field(default_factory=dict)  # positions by name

    @property
    def accesses(self) -> tuple[Access, ...]:
        return (*(a for a, _ in self.found.others), *self.found.beside, *self.found.numbers)

    def lane(self) -> Lane | None:
        """What a lane does with what it reads, once it is known what that is called; it has a value for each column."""
        lines = [self.scope.lines.get((a.number, r.fill), ("", False)) for a, r in self.found.others]
        if not all(differs for _, differs in lines):
            return None
        plain = (a.name for a in (*self.found.beside, *self.found.numbers))
        return Lane.of(self.scope, self.accs, (*(name for name, _ in lines), *plain))

    def around(
        self, lane: Lane, lines: list[str], runs: list[str], inner: str, numbers: tuple[dict[str, int], Sequence[str]]
    ) -> list[str]:
        """The fold a few points at a time where that can be, else by `runs`; a lane does what the `lines` say.

        `numbers`: the loops that are used as numbers: outer ones, by name, and inner ones in order.
        """
        scope = self.scope
        for n, name in enumerate(numbers[1]):
            scope.indices[name] = f"{inner}.index(points, {n}, row)"
        span = scope.fresh("span")
        few = {a: scope.fresh(f"few_{scope.tensor(a.buffer)}") for a in self.accesses}
        out = [f"rt::Span {span}(columns.size);"]
        inside: list[str] = []
        for p, size in self.ranges:
            at, limit = self._function(p, "place", out), scope.print(size)
            out.append(f"rt::clip_few({span}, points.size, {limit}, {at});")
            inside.append(f"rt::within({at}(i, row), {limit})")
        alone: list[str] = []
        at_edge: list[str] = []
        for a, r in self.found.others:
            places = [*self._places(a, r, out)]
            type_, at = stored_type(scope.formal.slots[a.buffer]), f"{scope.at(a, 'points')}, points.step[{a.number}]"
            ends = ", ".join((scope.tensor(a.buffer), at, "points.size", span, *places))
            out.append(f"const rt::FewLines<{type_}> {few[a]}({ends});")
            fill = outside(scope.printer, r.fill, scope.formal.slots[a.buffer].kind).text
            alone.append(scope.fresh(f"{scope.tensor(a.buffer)}_alone"))
            ends = ", ".join(("host", "i", "row", fill, *places))
            at_edge.append(f"const auto {alone[-1]} = {few[a]}.alone({ends});")
        out += [plain_few(scope, a, few[a], beside=True) for a in self.found.beside]
        out += [plain_few(scope, a, few[a], beside=False) for a in self.found.numbers]
        out.append(lane.fold(span, few.values()))
        alone += [f"{few[a]}(row)" for a in (*self.found.beside, *self.found.numbers)]
        at_edge.append(f"{lane.name}({', '.join(('i', 'i', *lane.folds, *alone))});")
        at_edge = block(f"if ({' && '.join(inside)}) {{", at_edge) if inside else at_edge
        head = f"rt::at_edges({span}, columns.size, points.size, [&](int64_t i, int64_t row) {{"
        out += [*block(head, at_edge, "});"), *sums(self.accs, "ran(columns.size, points.size)")]
        points = f"{inner}.runs<rt::few_rows>(0, {inner}.count, columns.at, [&](const auto& points) {{"
        fits = scope.fresh("side_by_side")
        return [
            *lane.defined(scope, lines),
            f"const bool {fits} = {self._side_by_side(numbers[0])};",
            *block(f"if ({fits}) {{", block(points, out, "});"), "} else {"),
            *block("", runs)[1:],
        ]

    def _side_by_side(self, outer: dict[str, int]) -> str:
        """The condition that runs of columns are in memory as they are read, and numbers are the same at them."""
        scope, along = self.scope, [f"columns.step[{a.number}]" for a in self.found.beside]
        for a, r in self.found.others:
            steps = [f"columns.step[{a.number}]"]
            for k, p in enumerate(self._moving(a, r)):
                for name, step in () if p is None else (evenly(p) or (p, ()))[1]:
                    if name in outer:
                        stride = scope.stride(a.buffer, k)
                        moved = stride if step == ONE else f"{scope.printer.at(step, _TIMES)} * {stride}"
                        steps.append(f"(outer.still({outer[name]}) ? 0 : {moved})")
            along.append(" + ".join(steps))
        still = [f"columns.step[{a.number}]" for a in self.found.numbers if a.moves_with(scope.lanes)]
        tensors = (scope.tensor(buffer) for buffer in dict.fromkeys(a.buffer for a in self.accesses))
        return f"rt::side_by_side({{{', '.join(along)}}}, {{{', '.join(still)}}}, {', '.join(tensors)})"

    def _moving(self, a: Access, r: Read) -> Iterator[Scalar | None]:
        """The positions of an access that its loops do not move along."""
        for was, p in zip(r.at, _opened(self.body, r), strict=True):
            along = isinstance(was, Index) and not self.scope.takes_turns(was)
            yield None if isinstance(p, Batch) or along else p

    def _places(self, a: Access, r: Read, out: list[str]) -> Iterator[str]:
        scope, certain = self.scope, r in always(self.body)
        for k, (moving, p) in enumerate(zip(self._moving(a, r), _opened(self.body, r), strict=True)):
            doubt = not isinstance(p, Batch) and scope.doubtful(a.buffer, k, r.at[k])
            if isinstance(p, Batch) or (moving is None and not doubt):
                continue
            stride = "0" if moving is None else scope.stride(a.buffer, k)
            at = self._function(p, f"{scope.tensor(a.buffer)}_{k}", out)
            axis = f"{scope.tensor(a.buffer)}, {k}, {stride}"
            if not doubt:
                yield f"rt::sure({stride}, {at})"
            elif r.fill is not None or not certain:
                yield f"rt::clipped({axis}, {at})"
            else:
                yield f"rt::checked({axis}, {scope.formal.number(a.buffer)}, {at})"

    def _function(self, p: Scalar, wish: str, out: list[str]) -> str:
        """A position as a function of the column and the point, by name."""
        if p not in self.functions:
            parts, value = hoisted(self.scope, p, len("return ;"))
            body = [*parts, f"return {value.text};"]
            name = self.functions[p] = self.scope.fresh(wish)
            given = f"int64_t{named('i', body)}, int64_t{named('row', body)}"
            out += block(f"const auto {name} = [&]({given}) {{", body, "};")
        return self.functions[p]


def windows(
    scope: CpuScope, body: Body, accs: Sequence[Acc], sparse: Comb | None, loops: Sequence[Loop], known: Collection[str]
) -> Windows | None:
    """What the lanes of a fold read, if all of it is numbers, runs of columns, and windows that move evenly with these.

    `loops` are what is folded along; `known` are the numbers that stand outside of them.
    """
    found = leaves(scope, body, accs, known)
    if found is None or not found.others:
        return None
    ranges: list[tuple[Scalar, Scalar]] = []
    if sparse is not None:
        told = [ranged(c) for c in sparse.uniform]
        if sparse.divisor != ONE or sparse.start is not None or sparse.below or None in told:
            return None
        ranges = [pair for pair in (*told, *sparse.clips) if pair is not None]
    inner = frozenset(a.name for a in loops if isinstance(a, Axis))
    moving = inner | {a.name for a in scope.lanes if isinstance(a, Axis)}
    last = scope.lanes[-1]
    read = [p for _, r in found.others for p in _opened(body, r) if not isinstance(p, Batch)]
    if not all(_fits(p, moving) for p in (*read, *(p for p, _ in ranges))):
        return None
    slides = any(isinstance(last, Axis) and _slides(p, last.name, inner) for p in read)
    return Windows(scope, (*accs,), body, found, (*ranges,)) if slides else None


def _opened(body: Body, r: Read) -> tuple[Position, ...]:
    return tuple(p if isinstance(p, Batch) else opened(p, body) for p in r.at)


def _fits(p: Scalar, moving: Collection[str]) -> bool:
    """Whether a position moves evenly with some loops, and nothing else tells where it is."""
    return not reads(p) and not is_placed(p) and mentions(p)[0] <= set(moving) and evenly(p) is not None


def _slides(p: Scalar, column: str, inner: frozenset[str]) -> bool:
    """Whether a position moves with what is folded along, and from a column to the next one."""
    steps = dict((evenly(p) or (p, ()))[1])
    return not inner.isdisjoint(steps) and steps.get(column) == ONE
