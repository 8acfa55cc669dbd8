"""Sums in contraction form: a product of two plain accesses, with what is pointwise in statements of its own.

A sum of products whose factors span different loops is a matrix product in disguise, and only then is it handed to one.
So factors that no summed index touches come out of the sum, factors over the same loops are multiplied beforehand, and
a sum of such products is split. Of several factors the cheapest pairs are contracted first (`order`). Sums over a
single full-size body are left alone: they are ordinary reductions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from opgen.diff.algebra import product, quotient, split_factors, total
from opgen.diff.structure import Builder, count, extent, loops_of
from opgen.ir.names import Names
from opgen.ir.program import Compute, Loop, Program, Scatter, Statement, definitions, names, statement_reads
from opgen.ir.scalar import ONE, ZERO, Apply, Batch, Dim, Index, Position, Read, Scalar, call, div, neg, walk, where
from opgen.opt.convolution import Known, convolution
from opgen.opt.order import Factor, Note, Sizes, pairwise
from opgen.opt.ranges import Ranges
from opgen.opt.scattered import apart


def contract(p: Program, sizes: Sizes, keep: Collection[str] = (), note: Note = lambda _: None) -> Program:
    """Bring every sum into contraction form. Plain reductions of statements in `keep` stay as they were written.

    `sizes` are what dims are taken to be where they decide an order; `note` is told of every order and its reason.
    """
    builder = _Contracting(p, sizes, note)
    for s in p.statements:
        _step(builder, s, s.target not in keep)
    return replace(p, statements=tuple(builder.statements))


class _Contracting(Builder):
    """Statements under construction, and what orders are chosen by."""

    def __init__(self, p: Program, sizes: Sizes, note: Note) -> None:
        super().__init__(Names(names(p), first=1))
        self.sizes, self.note, self.known = sizes, note, Known.of(p)
        self.ranges = Ranges.of(p, {t.name: t.shape for t in p.inputs} | {s.target: s.shape for s in definitions(p)})
        self.there = _there(p)
        self._below: dict[str, frozenset[Scalar]] = {}  # of tensors that are made point by point
        self._looked_at = 0

    def divisors(self, e: Scalar) -> frozenset[Scalar]:
        """The sizes that something is divided by, here or in what this reads."""
        for s in self.statements[self._looked_at :]:
            if isinstance(s, Compute) and s.op is None:
                self._below[s.target] = self._divisors(s.body)
        self._looked_at = len(self.statements)
        return self._divisors(e)

    def _divisors(self, e: Scalar) -> frozenset[Scalar]:
        found: list[frozenset[Scalar]] = []
        for n in walk(e):
            if isinstance(n, Read):
                found.append(self._below.get(n.tensor, frozenset()))
            elif isinstance(n, Apply) and n.fn == "div":
                found.append(frozenset(m for m in walk(n.args[1]) if isinstance(m, Dim)))
        return frozenset().union(*found)


def _there(p: Program) -> dict[str, frozenset[Scalar]]:
    """The sizes without which what a tensor holds reaches no output: all of its readers run over them, or theirs."""
    found: dict[str, frozenset[Scalar]] = {}

    def read(name: str, sizes: frozenset[Scalar]) -> None:
        found[name] = found[name] & sizes if name in found else sizes

    for o in p.outputs:
        read(o.value, frozenset(Dim("...") if isinstance(item, Batch) else item for item in o.shape))
    for s in reversed(p.statements):
        own = frozenset(map(extent, s.loops)) if isinstance(s, Compute) and s.op is None else frozenset()
        for r in statement_reads(s):
            read(r.tensor, own | found.get(s.target, frozenset()))
    return found


def is_contraction(s: Statement) -> bool:
    """A sum over a product of at least two plain accesses, none of which spans all loops."""
    if not isinstance(s, Compute) or s.op != "sum" or not isinstance(s.body, Apply) or s.body.fn != "mul":
        return False
    spans = [frozenset(_names(f)) for f in s.body.args if is_plain(f)]
    if len(spans) != len(s.body.args):
        return False
    everything = frozenset().union(*spans)
    return all(own != everything for own in spans)


def is_plain(e: Scalar) -> bool:
    """An access by distinct plain indices."""
    return (
        isinstance(e, Read)
        and e.fill is None
        and all(isinstance(q, Index | Batch) for q in e.at)
        and len(dict.fromkeys(e.at)) == len(e.at)
    )


def _names(e: Scalar) -> tuple[Position, ...]:
    return e.at if isinstance(e, Read) else ()


@dataclass
class _Term:
    """`coefficient * outer * (sum of inner over some of the loops)`."""

    outer: Scalar
    inner: list[Scalar]
    groups: dict[tuple[Loop, ...], list[Scalar]]
    missing: tuple[Loop, ...]

    @property
    def is_contraction(self) -> bool:
        spanned = dict.fromkeys(a for loops in self.groups for a in loops)
        return len(self.groups) > 1 and all(len(loops) < len(spanned) for loops in self.groups)

    def is_pair(self, over: Collection[Loop]) -> bool:
        """Two factors that share what is summed."""
        return len(self.groups) == 2 and all(a in loops for loops in self.groups for a in over)


def _scatter(b: _Contracting, s: Scatter) -> Scatter:
    """A scatter of sums whose factors are taken out of them, as the sums are statements then."""
    found = apart(s, b.ranges, Names())
    terms = [] if found is None else [_term(t, found[0]) for t in _terms(found[0].body)]
    if found is None or len(terms) != 1 or terms[0].outer == ONE or not terms[0].inner or terms[0].is_contraction:
        return s
    return replace(found[1], body=_reduced(b, replace(found[0], target=s.target), terms[0]))


def _step(b: _Contracting, s: Statement, free: bool) -> None:
    if isinstance(s, Scatter) and free:
        b.statements.append(_scatter(b, s))
        return
    if not isinstance(s, Compute) or s.op not in ("sum", "mean"):
        b.statements.append(s)
        return
    if convolution(s, b.known) is not None:
        b.statements.append(s)
        return
    terms = [_term(t, s) for t in _terms(s.body)]
    plain = len(terms) == 1 and terms[0].outer == ONE and not terms[0].missing and s.op == "sum"
    if not any(t.is_contraction for t in terms):
        worthwhile = free and len(terms) == 1 and (terms[0].outer != ONE or terms[0].missing) and terms[0].inner
        if not worthwhile:
            b.statements.append(s)
            return
        parts = [_reduced(b, s, terms[0])]
    else:
        if plain and terms[0].is_pair(s.over) and all(len(g) == 1 and is_plain(g[0]) for g in terms[0].groups.values()):
            b.statements.append(s)
            return
        if plain and _axes(s, terms[0]) == s.axes:
            body, over = _contracted(b, s, terms[0], s.over)
            b.statements.append(replace(s, body=body, op="sum" if over else None, over=over))
            return
        parts = [_reduced(b, s, t) for t in terms if t.is_contraction]
        rest = [t for t in terms if not t.is_contraction]
        if rest:
            body = total(product(t.outer, *t.inner) for t in rest)
            parts.append(b.emit(f"{s.target}_rest", s.axes, body, s.op, s.over))
    b.statements.append(replace(s, body=total(parts), op=None, over=()))


def _terms(e: Scalar) -> list[Scalar]:
    match e:
        case Apply("add", args):
            return [t for a in args for t in _terms(a)]
        case Apply("sub", (a, b)):
            return [*_terms(a), *(neg(t) for t in _terms(b))]
        case _:
            return [e]


def _term(e: Scalar, s: Compute) -> _Term:
    top: list[Scalar] = []
    bottom: list[Scalar] = []
    coefficient = split_factors(e, top, bottom)
    factors = [*top, *(div(ONE, f) for f in bottom)]
    outer: list[Scalar] = []
    inner: list[Scalar] = []
    groups: dict[tuple[Loop, ...], list[Scalar]] = {}
    for f in factors:
        own = loops_of(f, s.loops)
        if any(a in s.over for a in own):
            inner.append(f)
            groups.setdefault(own, []).append(f)
        else:
            outer.append(f)
    spanned = dict.fromkeys(a for loops in groups for a in loops)
    missing = tuple(a for a in s.over if a not in spanned)
    return _Term(product(quotient(coefficient, [], []), *outer), inner, groups, missing)


def _outside(b: _Contracting, e: Scalar, over: Sequence[Loop], there: Collection[Scalar]) -> Scalar:
    """A factor that a sum is multiplied by: 0 beside a sum of nothing where it was divided by how many terms there are.

    It is infinite there, and 0 times that is nan. `there` are sizes without which nobody reads the product.
    """
    below = b.divisors(e)
    told = any(extent(a) in below and extent(a) not in there for a in over)
    return where(call("eq", count(over), ZERO), ZERO, e) if told else e


def _reduced(b: _Contracting, s: Compute, t: _Term) -> Scalar:
    """The value of one term, its sum a statement of its own."""
    over = tuple(a for a in s.over if a not in t.missing)
    axes = _axes(s, t)
    outer = t.outer
    op = s.op
    if t.is_contraction or op == "sum":
        outer = product(outer, count(t.missing)) if op == "sum" else product(outer, div(ONE, count(over)))
        op = "sum"
    outer = _outside(b, outer, over, b.there.get(s.target, frozenset())) if s.op == "sum" else outer
    if not t.is_contraction:
        return product(b.emit(f"{s.target}_sum", axes, product(*t.inner), op, over), outer)
    body, over = _contracted(b, s, t, over)
    return product(b.emit(f"{s.target}_sum", axes, body, op, over) if over else body, outer)


def _axes(s: Compute, t: _Term) -> tuple[Loop, ...]:
    """The axes that the sum of a term has itself."""
    return tuple(a for a in s.axes if any(a in loops for loops in t.groups))


def _contracted(b: _Contracting, s: Compute, t: _Term, over: tuple[Loop, ...]) -> tuple[Scalar, tuple[Loop, ...]]:
    """A term as two factors, and the loops that their product is summed over."""
    factors, over = pairwise(b, s.target, _factors(b, s, t), s.loops, over, b.sizes, b.note)
    return product(*(f.access for f in factors)), over


def _factors(b: Builder, s: Compute, t: _Term) -> list[Factor]:
    """A plain access for every group."""
    found: list[Factor] = []
    for loops, factors in t.groups.items():
        if len(factors) == 1 and isinstance(factors[0], Read) and is_plain(factors[0]):
            found.append(Factor(loops, factors[0]))
        else:
            found.append(Factor(loops, b.emit(f"{s.target}_factor", loops, product(*factors))))
    return found
