"""Parts of a CPU kernel whose lanes are points of the outer loops: runs of these go through the part together."""

from __future__ import annotations

from opgen.code.cpp_comb import Comb, combed, teeth
from opgen.code.cpp_layout import block, named
from opgen.code.cpp_rows import named_rows
from opgen.code.cpp_runs import Runs
from opgen.code.cpp_statements import Around, fold_name, sums
from opgen.code.cpp_windows import windows
from opgen.code.long_values import hoisted
from opgen.code.native_scope import lanes_type
from opgen.ir.program import Axis, Loop
from opgen.ir.scalar import ONE, Batch, Scalar, is_constant
from opgen.kernel.formal import Formal
from opgen.kernel.model import Acc, Atomic, Body, For, Node, Role, Store, Tile
from opgen.kernel.walk import alive, chain, inside, loop_of, waits
from opgen.plan.model import Let

INNER = (Role.SERIAL, Role.LANES, Role.CHUNKS)


class Columns(Runs):
    """Prints what runs of points do side by side."""

    def __init__(self, formal: Formal, part: Body, turns: tuple[For, ...]) -> None:
        super().__init__(formal, part, turns)
        self.adding: dict[str, bool] = {}  # whether inner loops do nothing but add to shared places
        self.counts: list[str] = []  # of the inner loops, as they are run through
        self.combs: dict[Body, Comb] = {}  # by what runs at some of the lanes only
        self.declared: set[str] = set()  # lines of runs that stand side by side in one block
        self.looped = False  # whether runs of points go through loops, for which their locals are kept

    def through(self, loops: tuple[Loop, ...], *, adds: bool = False) -> str:
        """The name of the `Loops` that go through some inner loops; `adds`: all they do is to add to shared places."""
        if loops not in self.loops:
            label = "_".join("batch" if isinstance(a, Batch) else a.name for a in loops)
            self.loops[loops] = self.scope.fresh(f"over_{label}")
            self.adding[self.loops[loops]] = len(loops) > 1
        self.adding[self.loops[loops]] &= adds
        self.counts.append(f"{self.loops[loops]}.count")
        return self.loops[loops]

    def under(self, condition: Scalar | None, lines: list[str]) -> list[str]:
        """A loop where its condition holds."""
        return lines if condition is None else block(f"if ({self.scope.sized(condition)}) {{", lines)

    def columns(self, body: Body, where: str) -> list[str]:
        """Lane by lane, with inner loops one place after the other."""
        if self.outer and isinstance(self.outer[-1], Axis) and self.outer[-1].name in self.fixed:
            body, self.combs = combed(body, self.outer[-1].name)
            self.phases = next((c.divisor for c in self.combs.values() if c.divisor != ONE), None)
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
        loops, body = chain((loop,), INNER)
        inner = self.through(loops)
        scope.stand(self.outer, "point", "columns")
        saved = set(self.outer_locals)
        folds = [f"{self.fold_type(a, body, 'rt::block')} {fold_name(a.name)}(columns.size);" for a in accs]
        sparse, places, through = self._by_teeth(self.combs.get((loop,)), loops, inner)
        moving = self.number(self.outer, "outer", "columns", lane=True)
        self.number(loops, inner, "point", lane=False)
        around = self.sources(body, "point", "outer", moving, sparse, inner)
        few = windows(scope, body, accs, sparse, loops, saved) if self.phases is None and not places else None
        rows = None if few is not None else named_rows(scope, body, accs, around, saved)
        lane = rows.lane if rows is not None else None if few is None or around.once else few.lane()
        lines = self.each(body, "i" if lane is None else "lane")
        self.outer_locals = saved
        of = f"rt::each({around.span}" if around.span else f"{self.each_of(body)}(columns.size"
        if lane is None:
            each = block(f"{of}, {scope.held(lines)}(int64_t{named('i', lines)}) {{", lines, "});")
        else:
            each = block(f"{of}, [&](int64_t i) {{", [lane.call], "});")
        run = [*around.plain, *self.ahead(around), *each, *sums(accs, "ran(columns.size)"), *around.behind]
        head = f"{through}, columns.at, [&](const auto&{named('point', run)}) {{"
        runs = block(head, run, "});")
        if rows is not None:
            runs = rows.around(lines, runs, inner)
        elif few is not None and lane is not None:
            numbered = [a.name for a in loops if isinstance(a, Axis) and a.name in self.fixed]
            runs = few.around(lane, lines, runs, inner, (moving, numbered))
        runs = self.under(condition, [*places, *runs])
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

    def each_of(self, body: Body) -> str:
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
