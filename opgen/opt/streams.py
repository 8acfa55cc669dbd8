"""Which values are never stored, because they outgrow all that an operator is given: they are computed where they flow.

In go the statements of a program; out come those that disappear (*pairs*: maps and sums along rows, over two row
indices) and those that sum the pairs up (*uses*), each with its body opened down to what is in memory. Where a pair is
used in a way that no stream has a form for, there are none, and the plan is the ordinary one.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from opgen.ir.errors import UnplannableError
from opgen.ir.growth import Growth
from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Statement, parts, statement_reads
from opgen.ir.program import names as taken
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import ONE, Apply, Batch, Index, Position, Read, Scalar, div, mentions, mul, neg, reads, rebuild
from opgen.opt.expand import expand
from opgen.opt.ranges import Ranges

_FOLDS = ("sum", "prod", "max", "min")


@dataclass(frozen=True, slots=True)
class Use:
    """A reduction of pairs: at every point of `outer` along one index, for all of `wide` (at most one axis)."""

    statement: Compute
    outer: tuple[Loop, ...]
    along: Axis
    wide: tuple[Axis, ...]
    body: Scalar  # what it reads are sums of pairs, what other uses make, and tensors in memory
    rows: tuple[str, ...]  # those of `outer` that nothing read along the stream moves with


@dataclass(frozen=True, slots=True)
class Streamed:
    """What streams take out of the statements of a program."""

    statements: tuple[Statement, ...]  # without pairs; a reduction over both indices in two steps
    uses: dict[str, Use]
    dots: dict[str, Compute]  # sums of pairs, bodies opened
    reads: frozenset[str]  # what has to be in memory

    def memory(self, u: Use) -> tuple[Read, ...]:
        """What a use reads in memory, by itself and for the sums of pairs."""
        found: dict[Read, None] = {}
        for r in reads(u.body):
            source = self.dots.get(r.tensor)
            inner = [r] if source is None else reads(_at(source.body, source.axes, r.at))
            found.update(dict.fromkeys(inner))
        return tuple(found)


def streamed(p: Program, statements: tuple[Statement, ...], names: Names) -> Streamed:
    """Find the streams of a program."""
    none = Streamed(statements, {}, {}, frozenset())
    growth = Growth.of(p)
    results = {o.value for o in p.outputs}
    pairs = {
        s.target: s
        for s in statements
        if isinstance(s, Compute) and s.target not in results and growth.outgrows(s.shape) and s.kind is Kind.FLOAT
    }
    if not pairs:
        return none
    statements = tuple(part for s in statements for part in _parted(s, pairs, growth, names))
    if not all(_is_pair(s, growth) for s in pairs.values()):
        return none
    shapes = {t.name: t.shape for t in p.inputs} | {s.target: s.shape for s in parts(statements)}
    return _Finder(growth, pairs, statements, Ranges.of(p, shapes)).result() or none


def never_stored(p: Program) -> Set[str]:
    """The sums of pairs that kernels of a program have in no memory, by name."""
    names = Names(taken(p))
    try:
        return streamed(p, expand(p.statements, names, p), names).dots.keys()
    except UnplannableError:
        return frozenset()


def _is_pair(s: Compute, growth: Growth) -> bool:
    if s.op is None:
        return True
    fits = s.op == "sum" and growth.outgrows(s.shape) and growth.narrow(s.over)
    return fits and len(s.over) == 1 and isinstance(s.over[0], Axis)


def _parted(s: Statement, pairs: dict[str, Compute], growth: Growth, names: Names) -> tuple[Statement, ...]:
    """A sum over several indices of pairs in steps: along rows, over the last index that counts rows, over the others.

    What the first step makes are pairs too.
    """
    if not isinstance(s, Compute) or s.op != "sum" or len(s.over) < 2 or s.target in pairs:
        return (s,)
    rows = tuple(a for a in s.over if growth.is_rows(a))
    if not any(r.tensor in pairs for r in reads(s.body)) or not rows or not isinstance(rows[-1], Axis):
        return (s,)
    made: list[Statement] = []
    body = s.body
    if len(rows) < len(s.over):
        narrow = tuple(a for a in s.over if a not in rows)
        moving, rest = factored(body, tuple(a.name for a in narrow if isinstance(a, Axis)))
        inner = Compute(names.fresh(f"{s.target}_part"), (*s.axes, *rows), moving, "sum", narrow, span=s.span)
        pairs[inner.target] = inner
        body = mul(rest, Read(inner.target, positions(inner.axes)))
        made.append(inner)
    if len(rows) > 1:
        outer = (*s.axes, *rows[:-1])
        made.append(replace(s, target=names.fresh(f"{s.target}_rows"), axes=outer, body=body, over=rows[-1:]))
        body = Read(made[-1].target, positions(outer))
    return (*made, replace(s, body=body, over=rows[:-1] or rows))


class _Finder:
    def __init__(
        self, growth: Growth, pairs: dict[str, Compute], statements: tuple[Statement, ...], ranges: Ranges
    ) -> None:
        self.growth = growth
        self.ranges = ranges
        self.pairs = pairs
        self.statements = statements
        self.maps = {s.target: s for s in statements if isinstance(s, Compute) and s.op is None}
        self.made: set[str] = set()  # uses, and maps of them
        self.uses: dict[str, Use] = {}
        self.dots: dict[str, Compute] = {}

    def result(self) -> Streamed | None:
        sums = [s for s in self.pairs.values() if s.op is not None]
        for dot in sums:
            body = self._opened(dot.body)
            if body is None or not self._fits(body, dot) or any(r.tensor in self.pairs for r in reads(body)):
                return None
            self.dots[dot.target] = replace(dot, body=body)
        kept = [s for s in self.statements if s.target not in self.pairs]
        for s in kept:
            if any(r.tensor in self.pairs for r in statement_reads(s)):
                use = self._use(s)
                if use is None:
                    return None
                self.uses[s.target] = use
                self.made.add(s.target)
            elif s.target in self.maps and any(r.tensor in self.made for r in statement_reads(s)):
                self.made.add(s.target)
        bodies = [u.body for u in self.uses.values()] + [d.body for d in self.dots.values()]
        found = frozenset(r.tensor for e in bodies for r in reads(e) if r.tensor not in self.dots)
        return Streamed(tuple(kept), self.uses, self.dots, found)

    def _fits(self, body: Scalar, s: Compute) -> bool:
        """Whether everything in memory is read at plain indices that stay in range."""
        inside = (r for r in reads(body) if r.tensor not in self.dots)
        return all(_plain(r) and self.ranges.surely(r, s.loops) for r in inside)

    def _use(self, s: Statement) -> Use | None:
        if not isinstance(s, Compute) or s.op not in _FOLDS or len(s.over) != 1 or s.kind is not Kind.FLOAT:
            return None
        assert REDUCTIONS[s.op].core
        body, (along,) = self._opened(s.body), s.over
        if body is None or not self._fits(body, s) or isinstance(along, Batch):
            return None
        ats = [r.at for r in reads(s.body) if r.tensor in self.pairs]
        met = dict.fromkeys(q for at in ats for q in at)
        outer = tuple(a for a in s.axes if positions((a,))[0] in met and self.growth.is_rows(a))
        wide = tuple(a for a in s.axes if a not in outer)
        dots = [r for r in reads(body) if r.tensor in self.pairs]
        whole = {*positions(outer), Index(along.name)}
        if not all(set(r.at) <= whole and Index(along.name) in r.at for r in dots):
            return None
        axes = tuple(a for a in wide if isinstance(a, Axis))
        if len(wide) > 1 or axes != wide or (wide and s.op != "sum"):
            return None
        rows = self._rows(outer, along, [body, *(self._instance(r) for r in dots)])
        return Use(s, outer, along, axes, body, rows) if rows else None

    def _instance(self, r: Read) -> Scalar:
        source = self.dots[r.tensor]
        return _at(source.body, source.axes, r.at)

    def _rows(self, outer: tuple[Loop, ...], along: Axis, bodies: list[Scalar]) -> tuple[str, ...]:
        moving = [r.at for e in bodies for r in reads(e) if Index(along.name) in r.at and r.tensor not in self.dots]
        met = {q for at in moving for q in at}
        return tuple(a.name for a in outer if isinstance(a, Axis) and Index(a.name) not in met)

    def _opened(self, e: Scalar) -> Scalar | None:
        """A body with the maps among the pairs, and those of what streams make, written in place."""
        if isinstance(e, Read):
            source = self.maps.get(e.tensor)
            if source is not None and (e.tensor in self.pairs or e.tensor in self.made):
                if e.fill is not None or not _plain(e):
                    return None
                return self._opened(_at(source.body, source.axes, e.at))
            return e
        failed = False

        def visit(a: Scalar) -> Scalar:
            nonlocal failed
            opened = self._opened(a)
            failed = failed or opened is None
            return a if opened is None else opened

        done = rebuild(e, visit)
        return None if failed else done


def _plain(r: Read) -> bool:
    distinct = len(dict.fromkeys(r.at)) == len(r.at)
    return r.fill is None and distinct and all(isinstance(q, Index | Batch) for q in r.at)


def _at(e: Scalar, axes: Sequence[Loop], at: Sequence[Position]) -> Scalar:
    """A body over some axes, at other positions."""
    pairs = zip(axes, at, strict=True)
    names = {a.name: q for a, q in pairs if isinstance(a, Axis) and not isinstance(q, Batch)}
    return renamed(e, names)


def renamed(e: Scalar, names: dict[str, Scalar]) -> Scalar:
    """An expression with other things in place of indices."""
    if isinstance(e, Index):
        return names.get(e.name, e)
    return rebuild(e, lambda a: renamed(a, names))


def moves_along(e: Scalar, name: str) -> bool:
    """Whether a value depends on an index."""
    return name in mentions(e)[0]


def factored(e: Scalar, free: tuple[str, ...]) -> tuple[Scalar, Scalar]:
    """The factors of a product that move with some indices, and those that do not."""
    top: list[Scalar] = []
    scale: list[Scalar] = []
    _factors(e, free, top, scale)
    return mul(*top) if top else ONE, mul(*scale) if scale else ONE


def _factors(e: Scalar, free: tuple[str, ...], top: list[Scalar], scale: list[Scalar]) -> None:
    if not any(moves_along(e, n) for n in free):
        scale.append(e)
        return
    match e:
        case Apply("mul", args):
            for a in args:
                _factors(a, free, top, scale)
        case Apply("neg", (a,)):
            scale.append(neg(ONE))
            _factors(a, free, top, scale)
        case Apply("div", (a, b)) if not any(moves_along(b, n) for n in free):
            scale.append(div(ONE, b))
            _factors(a, free, top, scale)
        case _:
            top.append(e)
