"""A stream as a C++ function for the CPU: rows in runs, each sweep tile by tile, a row of sums at a time.

In go a stream and its kernel, out come the statements of the function. What moves with the rows and what
flows past them is copied into tiles; the loops over a tile are in the runtime header.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.code.cpp_layout import block, named
from opgen.code.cpp_tiles import INNER, POINT, ROW, StreamScope
from opgen.code.long_values import hoisted
from opgen.code.native_scope import mentions, value_type
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import ONE, Index, Position, Scalar, reads, walk
from opgen.kernel.formal import Formal
from opgen.plan.build import step_scalars
from opgen.plan.model import Dot, Fold, Let, Stream, Sweep, Weigh
from opgen.plan.stream import asked_of, point_scalars, stores_of, sums_of, sweep_scalars
from opgen.plan.unseen import bounds

_FOLDS = {"sum": "Sum", "prod": "Prod", "max": "Max", "min": "Min"}
_FIRST, _GROUP = "first", "group"  # a row, and those that go together from there on


def stream_lines(formal: Formal, step: Stream) -> list[str]:
    """The statements of the function."""
    return _Code(formal, step).lines()


class _Code:
    def __init__(self, formal: Formal, step: Stream) -> None:
        self.step = step
        last = step.outer[-1]
        assert isinstance(last, Axis)
        dots = frozenset(d.name for s in step.sweeps for d in s.dots)
        self.scope = StreamScope(formal, along=step.along, rows=last.name, dots=dots)
        self.sums: dict[str, str] = {}  # of buffers, the tile they are summed in
        self.folds: dict[str, str] = {}
        self.kept: list[str] = []  # declarations of one number per row
        self.row_values: dict[str, tuple[str, Kind]] = {}
        self.asked = asked_of(step)
        self.arrays: list[str] = []  # declarations of what is known of every point of a tile, for a group of rows
        for name in (ROW, INNER, _FIRST, _GROUP, "start", "size", "rows"):
            self.scope.fresh(name)
        self._collect()

    def _collect(self) -> None:
        scope, step = self.scope, self.step
        local = {x.name for p in step.points for x in p.lets} | {f.name for s in step.sweeps for f in s.folds}
        for r in (r for e in step_scalars(step) for r in reads(e)):
            if r.tensor in scope.formal.slots and r.tensor not in local:
                scope.access(r.tensor, r.at, write=False)
        for s in stores_of(step):
            scope.access(s.buffer, s.at, write=True)
        for w in sums_of(step):
            scope.access(w.buffer, w.at, write=True)

    def lines(self) -> list[str]:
        scope, step = self.scope, self.step
        for a in step.outer:
            if isinstance(a, Axis):
                scope.indices[a.name] = self._row(a.name, ROW)
        scope.indices[step.along.name] = f"(start + {POINT})"
        length = scope.extent(step.along)
        body = self._point(0)
        for k, sweep in enumerate(step.sweeps):
            body += [*self._sweep(sweep, length), *self._point(k + 1, sweep)]
        still = [t for t in scope.tiles.values() if not t.flows]
        rows = [*(t.filled for t in still), *self.kept, *body]
        runs = block("outer.runs<rt::tile_rows>(begin, end, nullptr, [&](const auto& rows) {", rows, "});")
        made = [t.declared for t in scope.tiles.values()]
        made += [f"rt::Sums<opmath_t> {self.sums[w.buffer]}({self._room(w)});" for w in sums_of(step)]
        head = f"rt::parallel(host, outer.count, {length}, [=, &host](int64_t begin, int64_t end) {{"
        whole = block(head, [*made, *runs], "});")
        return [*self._declarations(step.outer), *whole, "return rt::status(host);"]

    def _declarations(self, outer: tuple[Loop, ...]) -> list[str]:
        fixed = frozenset(a.name for a in outer if isinstance(a, Axis))
        loops = self.scope.loops("outer", outer, fixed)
        return [*self.scope.numbers.values(), *self.scope.tensors(), *loops]

    def _room(self, w: Weigh) -> str:
        return f"rt::tile_rows * {self.scope.width(w.over)}"

    def _row(self, index: str, row: str) -> str:
        """The index of an outer loop at a row of a run."""
        number = [a.name for a in self.step.outer if isinstance(a, Axis)].index(index)
        return f"outer.index(rows, {number}, {row})"

    # --- rows --------------------------------------------------------------------------------------------------------

    def _point(self, k: int, sweep: Sweep | None = None) -> list[str]:
        """What is known of every row before a sweep, or after it; then what is stored."""
        scope, p = self.scope, self.step.points[k]
        sums = sweep.sums if sweep is not None else ()
        folds = sweep.folds if sweep is not None else ()
        scope.inner = None
        scope.locals = dict(self.row_values)
        lines = []
        for f in (f for f in folds if f.name in self.asked):
            name = scope.fresh(f.name)
            lines.append(f"const {value_type(f.kind)} {name} = {self.folds[f.name]}[{ROW}].value();")
            lines += self._keep(k, f.name, name, f.kind)
        for x in p.lets:
            if self._constant(x.value):
                self.kept += self._let(x)
                self.row_values[x.name] = scope.locals[x.name]
            else:
                lines += self._let(x)
                lines += self._keep(k, x.name, scope.locals[x.name][0], x.kind)
        for s in p.stores:
            head = f"rt::store({scope.tensor(s.buffer)}, {self._at(s.buffer, s.at)}, "
            parts, value = hoisted(scope, s.value, len(f"{head});"))
            lines += [*parts, f"{head}{value.text});"]
        for w in sums:
            lines += self._stored(w)
        return block(f"for (int64_t {ROW} = 0; {ROW} < rows.size; ++{ROW}) {{", lines) if lines else []

    def _constant(self, e: Scalar) -> bool:
        """Whether a number is the same for all rows."""
        values = (self.row_values.get(r.tensor, ("[", None))[0] for r in reads(e))
        indices = (n for n in walk(e) if isinstance(n, Index))
        return not any("[" in text for text in values) and not any(True for _ in indices)

    def _keep(self, k: int, name: str, local: str, kind: Kind) -> list[str]:
        """A number of a row that later sweeps may ask for."""
        if name not in self._later(k):
            self.scope.locals[name] = (local, kind)
            return []
        place = self.scope.fresh(f"{local}_of")
        self.kept.append(f"{value_type(kind)} {place}[rt::tile_rows];")
        self.row_values[name] = (f"{place}[{ROW}]", kind)
        self.scope.locals[name] = (local, kind)
        return [f"{place}[{ROW}] = {local};"]

    def _later(self, k: int) -> set[str]:
        """What is read after a point."""
        sweeps = (e for x in self.step.sweeps[k:] for e in sweep_scalars(x))
        points = (e for p in self.step.points[k + 1 :] for e in point_scalars(p))
        return {r.tensor for e in (*sweeps, *points) for r in reads(e)}

    def _stored(self, w: Weigh) -> list[str]:
        scope = self.scope
        total = f"{self.sums[w.buffer]}[{ROW} * {scope.width(w.over)} + {INNER}]"
        parts: list[str] = []
        text = total
        if w.scale != ONE:
            name = scope.fresh("scale")
            parts, scale = hoisted(scope, w.scale, len(f"const opmath_t {name} = ;") + 6)
            parts, text = [*parts, f"const opmath_t {name} = {scale.text};"], f"{name} * {total}"
        stride = f"{scope.tensor(w.buffer)}.stride({w.at.index(Index(w.over.name))})"
        at = f"{self._at(w.buffer, w.at)} + {INNER} * {stride}"
        body = [f"rt::store({scope.tensor(w.buffer)}, {at}, {text});"]
        return [*parts, *block(f"rt::each({scope.extent(w.over)}, [&](int64_t {INNER}) {{", body, "});")]

    def _at(self, buffer: str, at: tuple[Position, ...]) -> str:
        access = self.scope.find(buffer, at, write=True)
        assert access is not None
        return f"rows.at[{access.number}] + {ROW} * rows.step[{access.number}]"

    # --- sweeps ------------------------------------------------------------------------------------------------------

    def _sweep(self, s: Sweep, length: str) -> list[str]:
        scope = self.scope
        lines = []
        for f in s.folds:
            name = self.folds[f.name] = scope.fresh(f"{f.name}_fold")
            type_ = "Running<" if f.name == s.online else f"Fold<rt::{_FOLDS[f.op]}, "
            lines.append(f"rt::{type_}{value_type(f.kind)}> {name}[rt::tile_rows];")
        for w in s.sums:
            self.sums[w.buffer] = scope.fresh(f"{scope.tensor(w.buffer)}_sum")
            lines.append(f"{self.sums[w.buffer]}.clear({self._room(w)});")
        known = len(scope.tiles)
        group = self._group(s)
        flowing = [t.filled for t in list(scope.tiles.values())[known:] if t.flows]
        flowing += [t.filled for t in list(scope.tiles.values())[:known] if t.flows and mentions(t.name, group)]
        size = f"const int64_t size = {length} - start < rt::tile_width ? {length} - start : rt::tile_width;"
        own = f"const rt::Group {_GROUP}({_FIRST}, rows.size);"
        each = [own, *self._seen(s, f"{_GROUP}.first", f"{_GROUP}.last - 1"), *group]
        rows = block(f"for (int64_t {_FIRST} = 0; {_FIRST} < rows.size; {_FIRST} += rt::row_group) {{", each)
        head = f"for (int64_t start = 0; start < {length}; start += rt::tile_width) {{"
        return [*lines, *block(head, [size, *self._seen(s, "0", "rows.size - 1"), *flowing, *rows])]

    def _seen(self, s: Sweep, first: str, last: str) -> list[str]:
        """Leaves a tile out that has nothing for some rows: a bound holds at none of its corners."""
        scope, along = self.scope, self.step.along.name
        known, lines = dict(scope.indices), []
        for b in bounds(self.step, s):
            scope.indices[along] = "(start + size - 1)" if b.rises[along] else "start"
            scope.indices[scope.rows] = self._row(scope.rows, last if b.rises.get(scope.rows, False) else first)
            lines.append(f"if (!({scope.print(b.condition)})) continue;")
        scope.indices.update(known)
        return lines

    def _group(self, s: Sweep) -> list[str]:
        """Some rows against one tile: their dots, then point by point what these give, then what is weighed by it."""
        scope = self.scope
        scope.locals = dict(self.row_values)
        self.arrays = []
        dots = [line for d in s.dots for line in self._dot(d)]
        top = next((f for f in s.folds if f.name == s.online), None)
        rest = tuple(f for f in s.folds if f is not top)
        wanted = {r.tensor for w in s.sums for r in reads(w.value)}
        known, here = dict(scope.indices), self._here()
        lines = []
        if top is not None:
            lines += self._raised(s, top, wanted)
        lets = self._needed(s.lets, [*(f.value for f in rest), *(w.value for w in s.sums)])
        lines += self._points(lets, rest, wanted)
        lines = [*(text for name, text in here.items() if mentions(name, lines)), *lines]
        scope.locals.update(self.row_values)
        scope.indices.update(known)
        each = block(f"for (int64_t {ROW} = {_GROUP}.first; {ROW} < {_GROUP}.last; ++{ROW}) {{", lines) if lines else []
        if top is not None:
            scope.locals[s.shift] = (f"{self.folds[top.name]}[{ROW}].shift", Kind.FLOAT)
        return [*self.arrays, *dots, *each, *(line for w in s.sums for line in self._weigh(w))]

    def _here(self) -> dict[str, str]:
        """What is known of a row as numbers of its own, declared by name: no store to a point can change those."""
        scope, made = self.scope, dict[str, str]()
        for n, (text, kind) in self.row_values.items():
            if "[" in text:
                name = scope.fresh(f"{n}_here")
                scope.locals[n] = (name, kind)
                made[name] = f"const {value_type(kind)} {name} = {text};"
        for a in self.step.outer:
            if isinstance(a, Axis):
                name = scope.fresh(f"{a.name}_here")
                made[name] = f"const int64_t {name} = {scope.indices[a.name]};"
                scope.indices[a.name] = name
        return made

    def _needed(self, lets: Sequence[Let], values: Sequence[Scalar]) -> list[Let]:
        """The lets that some values come down to and that are not there yet."""
        names = {r.tensor for e in values for r in reads(e)}
        found: list[Let] = []
        for x in reversed(lets):
            if x.name in names and x.name not in self.scope.locals:
                names |= {r.tensor for r in reads(x.value)}
                found.append(x)
        return found[::-1]

    def _raised(self, s: Sweep, top: Fold, wanted: set[str]) -> list[str]:
        """The maximum of the tile; what was summed so far is brought to the new one."""
        scope = self.scope
        part, running = scope.fresh(f"tile_{top.op}"), f"{self.folds[top.name]}[{ROW}]"
        lets = self._needed(s.lets, (top.value,))
        own = {x.name for x in lets}
        arrays = wanted | {r.tensor for r in reads(top.value)}
        lines = self._points(lets, (), arrays, added=(f"{part}.add(lane, ", top.value))
        factor = scope.fresh("factor")
        shift = scope.fresh(s.shift)
        scope.locals = {k: v for k, v in scope.locals.items() if k not in own or k in arrays}
        scope.locals[s.shift] = (shift, Kind.FLOAT)
        scaled = [f"{self.folds[f.name]}[{ROW}].scale({factor});" for f in s.folds if f is not top]
        scaled += [f"{self._row_of(w)}.scale({scope.width(w.over)}, {factor});" for w in s.sums]
        return [
            f"rt::Fold<rt::Max, {value_type(top.kind)}> {part};",
            *lines,
            f"const opmath_t {factor} = {running}.raise({part}.value());",
            *block(f"if ({factor} != 1) {{", scaled),
            f"const opmath_t {shift} = {running}.shift;",
        ]

    def _points(
        self, lets: Sequence[Let], folds: Sequence[Fold], wanted: set[str], added: tuple[str, Scalar] | None = None
    ) -> list[str]:
        """A loop over the points of a tile; lets that later loops need are arrays."""
        scope = self.scope
        scope.inner = None
        body: list[str] = []
        for x in lets:
            if x.name in wanted:
                name = scope.fresh(x.name)
                self.arrays.append(f"rt::Points<{value_type(x.kind)}> {name}({_GROUP});")
                parts, value = hoisted(scope, x.value, len(f"{name}(r, i) = ;") + 6)
                body += [*parts, f"{name}({ROW}, {POINT}) = {value.text};"]
                scope.locals[x.name] = (f"{name}({ROW}, {POINT})", x.kind)
            else:
                body += self._let(x)
        adds = [(f"{self.folds[f.name]}[{ROW}].add(lane, ", f.value) for f in folds]
        for head, e in [*adds, *([added] if added is not None else [])]:
            parts, value = hoisted(scope, e, len(f"{head});") + 6)
            body += [*parts, f"{head}{value.text});"]
        if not body:
            return []
        ran = [f"{self.folds[f.name]}[{ROW}].ran(size);" for f in folds if f.op == "sum"]
        i = named(POINT, body)
        head = f"rt::each(size, [&](int64_t{i}) {{"
        if adds or added is not None:
            head = f"rt::lanes<rt::lane_count, opmath_t>(size, [&](int64_t{i}, int lane) {{"
        return [*block(head, body, "});"), *ran]

    def _dot(self, d: Dot) -> list[str]:
        scope = self.scope
        name = scope.fresh(d.name)
        scope.inner, scope.across = d.over, True
        scope.indices[d.over.name] = INNER
        parts, value = hoisted(scope, d.value, len("return ;") + 6)
        scope.inner, scope.across = None, False
        body = [*parts, f"return {value.text};"]
        head = f"rt::dots({scope.extent(d.over)}, {_GROUP}, {name}, {_lambda(body, ROW, INNER, POINT)}"
        scope.locals[d.name] = (name, Kind.FLOAT)
        self.arrays.append(f"rt::Points<opmath_t> {name}({_GROUP});")
        return block(head, body, "});")

    def _weigh(self, w: Weigh) -> list[str]:
        scope = self.scope
        scope.inner = w.over
        scope.indices[w.over.name] = INNER
        parts, value = hoisted(scope, w.value, len("return ;") + 6)
        body = [*parts, f"return {value.text};"]
        scope.inner = None
        to = f"{scope.width(w.over)}, {self.sums[w.buffer]}"
        head = f"rt::weigh(size, {_GROUP}, {to}, {_lambda(body, ROW, POINT, INNER)}"
        return block(head, body, "});")

    def _row_of(self, w: Weigh) -> str:
        """The sums of a row."""
        return f"{self.sums[w.buffer]}.from({ROW} * {self.scope.width(w.over)})"

    def _let(self, x: Let) -> list[str]:
        head = f"const {value_type(x.kind)} {x.name} = "
        parts, value = hoisted(self.scope, x.value, len(head) + 6)
        name = self.scope.fresh(x.name)
        self.scope.locals[x.name] = (name, x.kind)
        return [*parts, f"const {value_type(x.kind)} {name} = {value.text};"]


def _lambda(body: Sequence[str], *names: str) -> str:
    """The head of a lambda over some indices; one that the body has no use for goes without a name."""
    return f"[&]({', '.join(f'int64_t {n}' if mentions(n, body) else 'int64_t' for n in names)}) {{"
