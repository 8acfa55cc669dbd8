"""One kernel as a C++ function for the CPU, in the words of `opgen_cpu.h`.

In goes a kernel, which gets the roles of a processor with vectors (`opgen.kernel.lanes`), out come the statements of
the function. The outer loops of each part of the kernel become `Loops` that threads share. Where they are the lanes,
runs of points go through the part together (`columns`), and what these keep for later stands in arrays. Otherwise
points go one by one (`row`), and the lanes are runs along the loops inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.code.cpp_columns import INNER, Columns
from opgen.code.cpp_in_place import in_place, may_be_in_place, stored_last
from opgen.code.cpp_layout import block, named
from opgen.code.cpp_scope import CpuScope
from opgen.code.cpp_statements import fold_name, sums
from opgen.code.long_values import hoisted
from opgen.code.native_scope import value_type
from opgen.ir.names import Names
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import BATCH, ZERO, Batch, Index, Position, Scalar
from opgen.kernel.formal import Formal
from opgen.kernel.lanes import lanes
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Role, Store, Tile
from opgen.kernel.pauses import pauses
from opgen.kernel.walk import bound, chain, inside, loop_of, meets, parts, waits
from opgen.plan.model import Let

_OUTER = (Role.PARALLEL, Role.LANES)


def kernel_lines(formal: Formal) -> tuple[list[str], int, bool]:
    """The statements of the function, how many arrays a run may have, and whether runs widen what they read."""
    body = lanes(formal.kernel, formal.schedule, formal.unsure - formal.told).body
    found = [_part(formal, part) for part in parts(body)]
    *first, last = [lines for lines, _ in found]
    lines = [*(line for part in first for line in block("{", part)), *last, "return rt::status(host);"]
    return lines, max(len(scope.accesses) for _, scope in found), any(scope.widens for _, scope in found)


def _part(formal: Formal, part: Body) -> tuple[list[str], CpuScope]:
    """The statements of a part, which may stand under a condition on sizes."""
    match part:
        case (If(condition, (For(role=Role.PARALLEL | Role.LANES),) as body, ()),):
            code = _PartCode(formal, body)
            return code.lines(condition), code.scope
        case _:
            code = _PartCode(formal, part)
            return code.lines(), code.scope


def _turns(part: Body) -> Iterator[For]:
    """The loops of a part that go on from what they stored, in each of its forms."""
    match part:
        case (If(_, body, otherwise),) if otherwise:
            yield from (*_turns(body), *_turns(otherwise))
        case _:
            _, within = chain(part, _OUTER)
            yield from (n for n in within if isinstance(n, For) and n.role is Role.SERIAL and waits(n))


class _PartCode(Columns):
    """Lays out one part of a kernel."""

    def __init__(self, formal: Formal, part: Body) -> None:
        super().__init__(formal, part, tuple(_turns(part)))

    def lines(self, condition: Scalar | None = None) -> list[str]:
        """The statements of the part, where a condition holds."""
        match self.part:
            case (If(long, body, otherwise),) if otherwise:
                head = f"if ({self.scope.sized(long)}) {{"
                forms = [*block(head, self._form(body), "} else {"), *block("", self._form(otherwise))[1:]]
            case _:
                forms = self._form(self.part)
        forms = forms if condition is None else block(f"if ({self.scope.sized(condition)}) {{", forms)
        return [*self._declarations(), *forms]

    def _declarations(self) -> list[str]:
        scope = self.scope
        kind, then = "Loops", []
        if self.phases is not None:
            kind, then = "Phases", [f"outer.split({scope.print(self.phases)});"]
        elif self.across and len(self.outer) > 1 and "outer" not in self.pieces:
            kind, then = "Turns", ["outer.arrange();"]
        loops = [*scope.loops("outer", self.outer, self.fixed, kind), *then] if self.shared else []
        for inner, name in self.loops.items():
            turns = self.adding[name] and name not in self.pieces
            loops += scope.loops(name, inner, self.fixed, "Turns" if turns else "Loops")
            loops += [f"{name}.lengthen();"] if turns else []
        loops += [f"{name}.pieces({scope.print(size)});" for name, size in self.pieces.items()]
        tensors = list(scope.tensors())
        return [*scope.numbers.values(), *tensors, *loops]

    # --- outer loops -------------------------------------------------------------------------------------------------

    def _form(self, body: Body) -> list[str]:
        """A part with its outer loops."""
        self.pauses = False
        for names in (self.scope.locals, self.counts, self.nexts):
            names.clear()
        self.outer, within = chain(body, _OUTER)
        if meets(within):
            self.outer, within = (), body
        if (cleared := self._cleared(within)) is not None:
            return [f"rt::clear(host, {self.scope.tensor(cleared)});"]
        inner = [n.role for n in inside(within) if isinstance(n, For)]
        self.scope.runs = self.outer if self.scope.turns and Role.LANES not in inner else None
        lanes = isinstance(body[0], For) and body[0].role is Role.LANES and bool(self.outer)
        if Role.CHUNKS in inner:
            return self.behind_still(self._points(within, "rt::origin"))
        self.shared = True
        if lanes or Role.LANES not in inner:
            self.across = True
            self.looped = bool(inner)
            where = "columns" if inner and self.scope.runs is None else "run"
            self.holds = not inner
            self.in_place = not inner and may_be_in_place(self.scope, within, self.outer, self.bound)
            self.placed.clear()
            if self.in_place:
                within = stored_last(within, Names([*self.scope.formal.slots, *self.bound]))
                self.bound |= bound(within)
            run = self.columns(within, where)
            if self.in_place:
                runs = self.holding(in_place(self.scope, self.placed, run))
            else:
                head = f"outer.runs<rt::block>(begin, end, nullptr, [&](const auto& {where}) {{"
                runs = self.holding(block(head, run, "});"))
            self.in_place = False
        else:
            kept = [self._kept(n) for n in within if isinstance(n, Tile)]
            self.pauses = pauses(within)
            points = self._points(tuple(n for n in within if not isinstance(n, Tile)), "row")
            runs = [*kept, *block("outer.runs<1>(begin, end, nullptr, [&](const auto& row) {", points, "});")]
        adds = self.across and any(isinstance(n, Atomic) for n in inside(within))
        call = "rt::parallel_lines" if adds else "rt::parallel"
        head = f"{call}(host, outer.count, {self._work()}, [=, &host](int64_t begin, int64_t end) {{"
        return block(head, self.behind_still(runs), "});")

    def _cleared(self, within: Body) -> str | None:
        """The buffer that outer loops fill with zeros from end to end."""
        match within:
            case (Store(slot, at, value),) if value == ZERO and slot not in self.bound:
                ends: dict[Position, Loop] = {BATCH if isinstance(a, Batch) else Index(a.name): a for a in self.outer}
                shape = [a if isinstance(a, Batch) else a.extent for p in at if (a := ends.pop(p, None)) is not None]
                return slot if not ends and shape == list(self.scope.formal.slots[slot].shape) else None
            case _:
                return None

    def _work(self) -> str:
        counts = {text: self.counts.count(text) for text in self.counts}
        return " + ".join(f"{n} * {text}" if n > 1 else text for text, n in counts.items()) or "1"

    def _kept(self, tile: Tile) -> str:
        """What passes along a row hand on, in memory of each thread's own."""
        name = self.kept[tile.name] = self.scope.fresh(tile.name)
        self.keep(tile, f"{name}_at[i]")
        size = " * ".join(map(self.scope.size, tile.shape))
        return f"const rt::Kept<{value_type(tile.kind)}> {name}({size});"

    # --- one point after the other -----------------------------------------------------------------------------------

    def _points(self, body: Body, where: str) -> list[str]:
        """Numbers between runs along inner loops."""
        lines: list[str] = []
        accs: list[Acc] = []
        for node in body:
            if isinstance(node, For) and isinstance(node.loop, Axis) and node.loop.name in self.scope.turns:
                lines += self._turns(node, node.loop, where)
            elif (found := loop_of(node)) is not None:
                chunks = found[0].role is Role.CHUNKS
                run = self._chunks(*found, accs) if chunks else self._row(*found, accs, where)
                lines += self.if_asked(found[0], run)
                accs = []
            elif isinstance(node, Acc):
                accs.append(node)
            else:
                self.scope.stand((), where)
                self.number(self.outer, "outer", where, lane=False)
                lines += self._put_alone(node, where) if isinstance(node, Store) else self.statement(node, "")
        return lines

    def _turns(self, loop: For, along: Axis, where: str) -> list[str]:
        """A loop that goes on from what it stored, with runs along rows at each of its places."""
        before, self.counts = self.counts, []
        head = self.head(along, reverse=loop.reverse)
        lines = self._points(loop.body, where)
        size = self.scope.extent(along)
        self.counts = [*before, *(f"{size} * {text}" for text in self.counts or ["1"])]
        return block(head, lines)

    def _put_alone(self, s: Store, where: str) -> list[str]:
        head = f"rt::store({self.scope.tensor(s.slot)}, {self.scope.at(self.written(s), where)}, "
        parts, value = hoisted(self.scope, s.value, len(f"{head});"))
        return [*parts, f"{head}{value.text});"]

    def _row(self, loop: For, condition: Scalar | None, accs: list[Acc], base: str) -> list[str]:
        loops, body = chain((loop,), INNER)
        folds = [f"{self.fold_type(a, body)} {fold_name(a.name)};" for a in accs]
        adds = all(isinstance(n, Let | Atomic) or (isinstance(n, If) and isinstance(n.body[0], Atomic)) for n in body)
        inner = self.through(loops, adds=adds)
        run = [*self._run(loops, body, inner, accs), *sums(accs, "ran(run.size)")]
        runs = block(f"{inner}.runs<rt::block>(0, {inner}.count, {base}.at, [&](const auto& run) {{", run, "});")
        runs = self.under(condition, self.holding(runs))
        return [*folds, *runs, *self.fold_values(accs, points=f"{inner}.count")]

    def _chunks(self, loop: For, condition: Scalar | None, accs: list[Acc]) -> list[str]:
        """Chunks of the loop fold apart, then together in order."""
        loops, body = chain((loop,), INNER)
        inner = self.through(loops)
        members = [f"{self.fold_type(a, body)} {fold_name(a.name)};" for a in accs]
        merges = [f"{fold_name(a.name)}.merge(other.{fold_name(a.name)});" for a in accs]
        part = block("struct Part {", [*members, *block("void merge(const Part& other) {", merges)], "};")
        folds = [f"auto& {fold_name(a.name)} = part.{fold_name(a.name)};" for a in accs]
        run = [*self._run(loops, body, inner, accs), *sums(accs, "ran(run.size)")]
        runs = block(f"{inner}.runs<rt::block>(begin, end, nullptr, [&](const auto& run) {{", run, "});")
        runs = self.behind_still(self.holding(runs))
        call = f"rt::chunked(host, {inner}.count, total, [=, &host](int64_t begin, int64_t end, Part& part) {{"
        run = self.under(condition, block(call, [*folds, *runs], "});"))
        return [*part, "Part total;", *run, *self.fold_values(accs, "total.")]

    def _run(self, loops: tuple[Loop, ...], body: Body, inner: str, accs: Sequence[Acc]) -> list[str]:
        """What a run along inner loops does: gather, then fold and store lane by lane."""
        saved = set(self.outer_locals)
        self.scope.stand(loops, "run")
        self.holds = True
        self.number(self.outer, "outer", "row", lane=False)
        moving = self.number(loops, inner, "run", lane=True)
        chooses = any(a.op not in ("sum", "prod") for a in accs)
        around = self.sources(body, "run", inner, moving, chooses=chooses)
        lines = self.each(body, "lane")
        self.outer_locals = saved
        i = named("i", lines)
        if any(isinstance(n, Join) for n in body):
            read = "opmath_t" if chooses else "scalar_t"
            head = f"rt::lanes<rt::lane_count, {read}>(run.size, {self.scope.held(lines)}(int64_t{i}, int lane) {{"
        else:
            each = "rt::each_of_row<rt::lane_count>" if self.scope.has_rows else self.each_of(body)
            head = f"{each}(run.size, {self.scope.held(lines)}(int64_t{i}) {{"
        run = self.at_rest(around, block(head, lines, "});"), "run.size")
        return [*around.plain, *self.ahead(around), *run, *around.behind]
