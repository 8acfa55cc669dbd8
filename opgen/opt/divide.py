"""Large formulas as several statements, so that no pass has to deal with one that nests without end.

The derivative of calls within calls grows with every level, and its derivative once more. A formula that would
come to too much is cut into parts, each a statement with a small derivative; kernels compute them together again. What
stands under a condition is evaluated under it still. In goes a program, out comes the same one with such parts stated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import assert_never

from opgen.diff.structure import alone
from opgen.ir.arithmetic import negation_of
from opgen.ir.functions import row
from opgen.ir.kinds import kind_of
from opgen.ir.names import Names
from opgen.ir.point import read_of
from opgen.ir.program import (
    Compute,
    Kind,
    Loop,
    Program,
    Recurrence,
    Scatter,
    Statement,
    definitions,
    names,
)
from opgen.ir.scalar import ZERO, Apply, Cast, Lit, Read, Scalar, both, reads, rebuild, where
from opgen.lower.lazy import risky

_LARGE, _DEEP, _CALLS = 400, 24, 5  # a formula that comes to more than one of these is cut
_PART = 60  # what a part comes to at most
_PLAIN = ("add", "sub", "neg", "mul", "where")
_LONG = 8  # nodes of conditions that are written out wherever they are needed


@dataclass(frozen=True, slots=True)
class Extent:
    """How much an expression is: nodes, levels, calls within each other, and about what its derivative comes to."""

    size: int
    depth: int
    calls: int
    derivative: int

    @property
    def large(self) -> bool:
        return self.derivative > _LARGE or self.depth > _DEEP or self.calls > _CALLS


_LEAF = Extent(1, 1, 0, 1)


def extent_of(e: Scalar, inner: tuple[Extent, ...]) -> Extent:
    """The extent of a node whose operands have these."""
    if not inner:
        return _LEAF
    size, depth = 1 + sum(i.size for i in inner), 1 + max(i.depth for i in inner)
    slopes, calls = sum(i.derivative for i in inner), max(i.calls for i in inner)
    match e:
        case Apply("max" | "min"):  # a choice of three, each with all that is compared
            derivative = 2 * size + 3 * slopes
        case Apply("where"):
            derivative = inner[0].size + slopes - inner[0].derivative
        case Apply("add" | "sub" | "neg") | Cast():
            derivative = 1 + slopes
        case Apply(fn) if row(fn).result == "bool":
            derivative = 0
        case _:
            derivative = len(inner) * size + slopes
    plain = isinstance(e, Cast) or (isinstance(e, Apply) and e.fn in _PLAIN) or derivative == 0
    return Extent(size, depth, calls if plain else calls + 1, derivative)


def in_parts(p: Program) -> Program:
    """The program with large formulas in parts."""
    cutter = _Split(p)
    done = [made for s in p.statements for made in cutter.statement(s)]
    return replace(p, statements=tuple(done)) if cutter.parted else p


@dataclass(slots=True, eq=False)
class _Path:
    """A condition under which an expression is evaluated, and those around it."""

    condition: Scalar
    outer: _Path | None
    stated: Scalar | None = None  # all of them as one value

    def has(self, c: Scalar) -> bool:
        return self.condition == c or (self.outer is not None and self.outer.has(c))


_Operand = tuple[Scalar, Extent, _Path | None]


@dataclass
class _Split:
    program: Program
    parts: list[Compute] = field(default_factory=list)  # of the formula at hand
    known: dict[Compute, Read] = field(default_factory=dict)
    seen: dict[tuple[Scalar, _Path | None], tuple[Scalar, Extent]] = field(default_factory=dict)
    target: str = ""
    loops: tuple[Loop, ...] = ()
    parted: bool = False

    def __post_init__(self) -> None:
        p = self.program
        self.names = Names((*names(p), *(d.name for d in p.dims)), first=1)
        self.kinds = {t.name: t.kind for t in p.inputs} | {s.target: s.kind for s in definitions(p)}

    def statement(self, s: Statement) -> list[Statement]:
        self.parts = []
        match s:
            case Compute():
                whole: Statement = self.compute(s)
            case Scatter():
                body = self.formula(s.target, s.body, s.loops)
                whole = replace(s, body=body, base=self.formula(s.target, s.base, s.axes))
            case Recurrence():
                return self.recurrence(s)
            case _:
                assert_never(s)
        return [*self.parts, whole]

    def compute(self, s: Compute) -> Compute:
        body = self.formula(s.target, s.body, s.loops)
        return s if body is s.body else replace(s, body=body)

    def recurrence(self, s: Recurrence) -> list[Statement]:
        """Parts that read what the recurrence makes are steps of it."""
        before: list[Statement] = []
        steps: list[Compute] = []
        own = dict.fromkeys(s.targets)
        for c in s.steps:
            self.parts = []
            whole = self.compute(c)
            for part in self.parts:
                if any(r.tensor in own for r in reads(part.body)):
                    own[part.target] = None
                    steps.append(part)
                else:
                    before.append(part)
            steps.append(whole)
        return [*before, replace(s, steps=tuple(steps))]

    # --- one formula ---

    def formula(self, target: str, e: Scalar, loops: tuple[Loop, ...]) -> Scalar:
        if not _extent(e).large:
            return e
        self.target, self.loops, self.known, self.seen = target, loops, {}, {}
        return self.cut(e, None)[0]

    def cut(self, e: Scalar, path: _Path | None) -> tuple[Scalar, Extent]:
        """The expression with operands stated until what is left is a part; the same one again where it was seen."""
        key = e, path
        if key not in self.seen:
            self.seen[key] = self._cut(e, path)
        return self.seen[key]

    def _cut(self, e: Scalar, path: _Path | None) -> tuple[Scalar, Extent]:
        operands = self.operands(e, path)
        found = extent_of(e, tuple(x for _, x, _ in operands))
        while (found.size > _PART or found.derivative > _PART) and (k := self.largest(operands)) is not None:
            a, _, under = operands[k]
            operands[k] = self.stated(a, under), _LEAF, None
            found = extent_of(e, tuple(x for _, x, _ in operands))
        return _with(e, tuple(a for a, _, _ in operands)), found

    def operands(self, e: Scalar, path: _Path | None) -> list[_Operand]:
        """The operands, cut, each with the conditions under which it is evaluated."""
        match e:
            case Apply("where", (c, a, b)):
                test, size = self.cut(c, path)
                yes, no = _under(path, test), _under(path, negation_of(test))
                return [(test, size, path), (*self.cut(a, yes), yes), (*self.cut(b, no), no)]
            case Apply("and" | "or" as fn, args):
                found: list[_Operand] = []
                for a in args:
                    found.append((*self.cut(a, path), path))
                    path = _under(path, found[-1][0] if fn == "and" else negation_of(found[-1][0]))
                return found
            case Apply(_, args):
                return [(*self.cut(a, path), path) for a in args]
            case Cast(arg):
                return [(*self.cut(arg, path), path)]
            case _:
                return []

    def largest(self, operands: list[_Operand]) -> int | None:
        """The operand to state: the one that comes to most, if it is more than a value that is read."""
        sizes = [x.size + x.derivative if self.may_stand_alone(a) else 0 for a, x, _ in operands]
        return sizes.index(max(sizes)) if any(sizes) else None

    def may_stand_alone(self, e: Scalar) -> bool:
        return isinstance(e, Apply | Cast) and bool(reads(e)) and self.kind(e) is not Kind.INT

    def kind(self, e: Scalar) -> Kind:
        return kind_of(self.kinds.__getitem__, self.program.params, e)

    def stated(self, e: Scalar, path: _Path | None) -> Read:
        """An expression as a statement, evaluated only where the formula evaluates it if that could matter."""
        kind = self.kind(e)
        if path is not None and risky(e):
            e = where(self.conditions(path), e, Lit(False) if kind is Kind.BOOL else ZERO)
        made = alone(e, self.loops, kind)
        if made not in self.known:
            part = replace(made, target=self.names.fresh(f"{self.target}_part"))
            self.kinds[part.target], self.parted = kind, True
            self.parts.append(part)
            self.known[made] = read_of(part)
        return self.known[made]

    def conditions(self, path: _Path) -> Scalar:
        """All conditions of a path as one; many of them are stated, so that each is looked at once."""
        if path.stated is None:
            outer = None if path.outer is None else self.conditions(path.outer)
            whole = path.condition if outer is None else both(outer, path.condition)
            path.stated = self.stated(whole, None) if _extent(whole).size > _LONG and reads(whole) else whole
        return path.stated


def _under(path: _Path | None, c: Scalar) -> _Path:
    return path if path is not None and path.has(c) else _Path(c, path)


@lru_cache(maxsize=1 << 16)
def _extent(e: Scalar) -> Extent:
    inner = e.args if isinstance(e, Apply) else (e.arg,) if isinstance(e, Cast) else ()
    return extent_of(e, tuple(map(_extent, inner)))


def _with(e: Scalar, operands: tuple[Scalar, ...]) -> Scalar:
    given = iter(operands)
    return rebuild(e, lambda _: next(given)) if isinstance(e, Apply | Cast) else e
