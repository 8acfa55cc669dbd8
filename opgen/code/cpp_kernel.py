"""One kernel as a C++ function for the CPU, in the words of `opgen_cpu.h`.

In goes a kernel, which gets the roles of a processor with vectors (`opgen.kernel.lanes`), out come the statements of
the function. The outer loops of each part of the kernel become `Loops` that threads share. Where they are the lanes,
runs of points go through the part together (`columns`), and what these keep for later stands in arrays. Otherwise
points go one by one (`row`), and the lanes are runs along the loops inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.code.cpp_comb import Comb, combed, teeth
from opgen.code.cpp_layout import block, named
from opgen.code.cpp_runs import Runs
from opgen.code.cpp_scope import CpuScope
from opgen.code.cpp_statements import Around, fold_name, sums
from opgen.code.long_values import hoisted
from opgen.code.native_scope import lanes_type, value_type
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import BATCH, ZERO, Batch, Index, Position, Scalar, is_constant
from opgen.kernel.formal import Formal
from opgen.kernel.lanes import lanes
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Node, Role, Store, Tile
from opgen.kernel.pauses import pauses
from opgen.kernel.walk import alive, chain, inside, loop_of, meets, parts, waits
from opgen.plan.model import Let

_OUTER = (Role.PARALLEL, Role.LANES)
_INNER = (Role.SERIAL, Role.LANES, Role.CHUNKS)


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


class _PartCode(Runs):
    """Lays out one part of a kernel."""

    def __init__(self, formal: Formal, part: Body) -> None:
        super().__init__(formal, part, tuple(_turns(part)))
        self.adding: dict[str, bool] = {}  # whether inner loops do nothing but add to shared places
        self.counts: list[str] = []  # of the inner loops, as they are run through
        self.combs: dict[Body, Comb] = {}  # by what runs at some of the lanes only
        self.declared: set[str] = set()  # lines of runs that stand side by side in one block
        self.looped = False  # whether runs of points go through loops, for which their locals are kept

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
            run = self._columns(within, where)
            head = f"outer.runs<rt::block>(begin, end, nullptr, [&](const auto& {where}) {{"
            runs = self.holding(block(head, run, "});"))
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

    def _through(self, loops: tuple[Loop, ...], *, adds: bool = False) -> str:
        """The name of the `Loops` that go through some inner loops; `adds`: all they do is to add to shared places."""
        if loops not in self.loops:
            label = "_".join("batch" if isinstance(a, Batch) else a.name for a in loops)
            self.loops[loops] = self.scope.fresh(f"over_{label}")
            self.adding[self.loops[loops]] = len(loops) > 1
        self.adding[self.loops[loops]] &= adds
        self.counts.append(f"{self.loops[loops]}.count")
        return self.loops[loops]

    def _kept(self, tile: Tile) -> str:
        """What passes along a row hand on, in memory of each thread's own."""
        name = self.kept[tile.name] = self.scope.fresh(tile.name)
        self.keep(tile, f"{name}_at[i]")
        return f"const rt::Kept<{value_type(tile.kind)}> {name}({' * '.join(map(self.scope.size, tile.shape))});"

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
        loops, body = chain((loop,), _INNER)
        folds = [f"{self.fold_type(a, body)} {fold_name(a.name)};" for a in accs]
        adds = all(isinstance(n, Let | Atomic) or (isinstance(n, If) and isinstance(n.body[0], Atomic)) for n in body)
        inner = self._through(loops, adds=adds)
        run = [*self._run(loops, body, inner, accs), *sums(accs, "ran(run.size)")]
        runs = block(f"{inner}.runs<rt::block>(0, {inner}.count, {base}.at, [&](const auto& run) {{", run, "});")
        runs = self._under(condition, self.holding(runs))
        return [*folds, *runs, *self.fold_values(accs, points=f"{inner}.count")]

    def _under(self, condition: Scalar | None, lines: list[str]) -> list[str]:
        """A loop where its condition holds."""
        return lines if condition is None else block(f"if ({self.scope.sized(condition)}) {{", lines)

    def _chunks(self, loop: For, condition: Scalar | None, accs: list[Acc]) -> list[str]:
        """Chunks of the loop fold apart, then together in order."""
        loops, body = chain((loop,), _INNER)
        inner = self._through(loops)
        members = [f"{self.fold_type(a, body)} {fold_name(a.name)};" for a in accs]
        merges = [f"{fold_name(a.name)}.merge(other.{fold_name(a.name)});" for a in accs]
        part = block("struct Part {", [*members, *block("void merge(const Part& other) {", merges)], "};")
        folds = [f"auto& {fold_name(a.name)} = part.{fold_name(a.name)};" for a in accs]
        run = [*self._run(loops, body, inner, accs), *sums(accs, "ran(run.size)")]
        runs = block(f"{inner}.runs<rt::block>(begin, end, nullptr, [&](const auto& run) {{", run, "});")
        runs = self.behind_still(self.holding(runs))
        call = f"rt::chunked(host, {inner}.count, total, [=, &host](int64_t begin, int64_t end, Part& part) {{"
        run = self._under(condition, block(call, [*folds, *runs], "});"))
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
            each = "rt::each_of_row<rt::lane_count>" if self.scope.has_rows else self._each_of(body)
            head = f"{each}(run.size, {self.scope.held(lines)}(int64_t{i}) {{"
        run = self.at_rest(around, block(head, lines, "});"), "run.size")
        return [*around.plain, *self.ahead(around), *run, *around.behind]

    # --- runs of points side by side ---------------------------------------------------------------------------------

    def _columns(self, body: Body, where: str) -> list[str]:
        """Lane by lane, with inner loops one place after the other."""
        if self.outer and isinstance(self.outer[-1], Axis) and self.outer[-1].name in self.fixed:
            body, self.combs = combed(body, self.outer[-1].name)
            self.phases = next((c.divisor for c in self.combs.values()), None)
        self.declared = set()
        lines: list[str] = []
        group: list[Node] = []
        accs: list[Acc] = []
        for node in body:
            if (found := loop_of(node)) is not None:
                lines += self._side_by_side(tuple(group), where)
                run = self._places(found[0], where) if waits(found[0]) else self._column(*found, accs)
                lines += self.if_asked(found[0], run)
                group, accs = [], []
            elif isinstance(node, Tile):
                name = self.scope.fresh(node.name)
                lines.append(f"{'double' if node.wide else lanes_type(node.kind)} {name}[rt::block];")
                self.keep(node, f"{name}[i]")
            elif isinstance(node, Acc):
                accs.append(node)
            else:
                group.append(node)
        return lines + self._side_by_side(tuple(group), where)

    def _side_by_side(self, group: Body, where: str) -> list[str]:
        """What has no loop of its own, over a run of outer points; among loops a local is an array."""
        if not group:
            return []
        scope = self.scope
        scope.stand(self.outer, where, declared=self.declared)
        moving = self.number(self.outer, "outer", where, lane=True)
        sparse = self.combs.get(group)
        around = self.sources(group, where, "outer", moving, sparse)
        if sparse is not None:
            return self._in_span(group, around, where)
        kept: list[str] = []
        lines = [] if self.looped else self.each(group, "i")
        for node in group if self.looped else ():
            if isinstance(node, Let) and is_constant(node.value):
                kept += self.let(node)
            elif isinstance(node, Let):
                name = scope.fresh(node.name)
                kept.append(f"{lanes_type(node.kind)} {name}[rt::block];")
                parts, value = hoisted(scope, node.value, len(f"{name}[i] = ;"))
                lines += [*parts, f"{name}[i] = {value.text};"]
                self.keep(node, f"{name}[i]")
            else:
                lines += self.statement(node, "i")
        head = f"rt::each({where}.size, {scope.held(lines)}(int64_t{named('i', lines)}) {{"
        each = self.at_rest(around, block(head, lines, "});"), f"{where}.size") if lines else []
        return [*around.plain, *self.ahead(around), *kept, *each, *around.behind]

    def _in_span(self, group: Body, around: Around, where: str) -> list[str]:
        """Zeros, then what stands at some lanes side by side."""
        zeros = [f"{self.written(n).name}.set(i, 0);" for n in group if isinstance(n, Store)]
        lines = self.each(group, "i")
        each = block(f"rt::each({around.span}, [&](int64_t{named('i', lines)}) {{", lines, "});")
        cleared = block(f"rt::each({where}.size, [&](int64_t i) {{", zeros, "});")
        return [*around.plain, *cleared, *self.ahead(around), *each]

    def _column(self, loop: For, condition: Scalar | None, accs: list[Acc]) -> list[str]:
        scope = self.scope
        loops, body = chain((loop,), _INNER)
        inner = self._through(loops)
        scope.stand(self.outer, "point", "columns")
        saved = set(self.outer_locals)
        folds = [f"{self.fold_type(a, body, 'rt::block')} {fold_name(a.name)}(columns.size);" for a in accs]
        sparse, places, through = self._by_teeth(self.combs.get((loop,)), loops, inner)
        moving = self.number(self.outer, "outer", "columns", lane=True)
        self.number(loops, inner, "point", lane=False)
        around = self.sources(body, "point", "outer", moving, sparse, inner)
        lines = self.each(body, "i")
        self.outer_locals = saved
        i = named("i", lines)
        of = f"rt::each({around.span}" if around.span else f"{self._each_of(body)}(columns.size"
        each = block(f"{of}, {scope.held(lines)}(int64_t{i}) {{", lines, "});")
        run = [*around.plain, *self.ahead(around), *each, *sums(accs, "ran(columns.size)"), *around.behind]
        head = f"{through}, columns.at, [&](const auto&{named('point', run)}) {{"
        runs = self._under(condition, [*places, *block(head, run, "});")])
        for a in accs:
            self.keep(a, f"{fold_name(a.name)}[i]")
        return [*folds, *runs, *sums(accs, "finish()")]

    def _by_teeth(self, sparse: Comb | None, loops: tuple[Loop, ...], inner: str) -> tuple[Comb | None, list[str], str]:
        """What is left of a comb in inner loops, at which of their places it is, and the call that goes through them.

        Without a comb, or one that tells nothing of these loops, it is at all of their places.
        """
        axes = [a for a in loops if isinstance(a, Axis) and a.name in self.fixed]
        left, found = (None, ()) if sparse is None or len(axes) < len(loops) else teeth(sparse, axes)
        if not any(found):
            return sparse, [], f"{inner}.runs<1>(0, {inner}.count"
        self.number(self.outer, "outer", "columns", lane=False)
        lines: list[str] = []
        names: list[str] = []
        for a, t in zip(axes, found, strict=True):
            names.append("rt::Teeth()" if t is None else self.scope.fresh(f"{a.name}_teeth"))
            if t is not None:
                head = f"const rt::Teeth {names[-1]}("
                parts, at = hoisted(self.scope, t[0], len(f"{head}, );"))
                lines += [*parts, f"{head}{at.text}, {self.scope.print(t[1])});"]
        return left, lines, f"rt::points({inner}, {{{', '.join(names)}}}"

    def _each_of(self, body: Body) -> str:
        """Lanes keep their order where they add to shared places one by one; a run of what is added may be short."""
        now = tuple(n for n in body if n not in self.added)
        if any(isinstance(n, Atomic) for n in inside(now)):
            return "rt::each_in_order"
        return "rt::each_of_row<rt::lane_count>" if all(isinstance(n, Let) for n in now) else "rt::each"

    def _places(self, loop: For, where: str) -> list[str]:
        """A loop that goes on from what it stored: at each of its places, everything lane by lane."""
        assert isinstance(loop.loop, Axis)
        scope = self.scope
        self.counts.append(scope.extent(loop.loop))
        head = self.head(loop.loop, reverse=loop.reverse)
        before, scope.runs = scope.runs, None
        long = [line for group in self._stores_apart(loop.body) for line in self._store_of_place(group, where)]
        scope.runs = before
        scope.stand(self.outer, where)
        self.number(self.outer, "outer", where, lane=True)
        scope.depth += 2
        lines = self.nested(loop.body)
        scope.depth -= 2
        alone = block(head, block(f"rt::each({where}.size, [&](int64_t{named('i', lines)}) {{", lines, "});"))
        if not long:
            return alone
        enough = f"if ({where}.size >= rt::lane_count) {{"
        return [*block(enough, block(head, long), "} else {"), *block("", alone)[1:]]

    def _stores_apart(self, body: Body) -> list[Body]:
        """Each store of a place with what it may ask for, where that is all there is: each can be a run of its own."""
        if any(not isinstance(n, Let | Store) or (isinstance(n, Store) and n.slot in self.bound) for n in body):
            return []
        stores = [k for k, n in enumerate(body) if isinstance(n, Store)]
        return [alive((*(n for n in body[:k] if isinstance(n, Let)), body[k])) for k in stores]

    def _store_of_place(self, group: Body, where: str) -> list[str]:
        """A store of a place as a run."""
        scope, saved = self.scope, set(self.outer_locals)
        scope.stand(self.outer, where)
        around = self.sources(group, where, "outer", self.number(self.outer, "outer", where, lane=True))
        lines = self.each(group, "i")
        self.outer_locals = saved
        each = block(f"rt::each_of_row<rt::lane_count>({where}.size, {scope.held(lines)}(int64_t i) {{", lines, "});")
        return block("{", [*around.plain, *self.ahead(around), *each, *around.behind])
