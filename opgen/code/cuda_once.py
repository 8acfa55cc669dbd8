"""What is the same at all neighbours that a thread takes: it is computed and read once, ahead of them.

In goes the body of a point and the loop along which points are neighbours; out come the lines ahead of the lanes, and
what is left of the body. A compiler does this by itself where nothing has a condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypeGuard

from opgen.code.cuda_rows import certain
from opgen.code.cuda_scope import Scope, hole
from opgen.code.cuda_statements import let_lines
from opgen.code.invariants import QUOTIENTS
from opgen.code.long_values import hoisted
from opgen.code.native_scope import value_type
from opgen.code.printer import NATIVE, Text
from opgen.ir.arithmetic import negation_of
from opgen.ir.described import described
from opgen.ir.lazy import in_contexts
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import Apply, Batch, Index, Lit, Position, Read, Scalar, all_of, both, children, walk
from opgen.kernel.model import Atomic, Body, If, Store
from opgen.kernel.walk import inside, values
from opgen.plan.model import Let

_NAME = 12  # characters of a local


def once(scope: Scope, last: Loop, body: Body) -> tuple[list[str], Body]:
    """What is computed ahead of the lanes, and the body without it; the scope knows the names."""
    found = _Once(scope, last, body)
    lines = found.parts(body)
    for node in body:
        if isinstance(node, Let) and found.is_whole(node.value):
            known = scope.ahead.get(node.value)
            lines += let_lines(scope, (node,)) if known is None else []
            if known is not None:
                scope.locals[node.name] = known.text, known.kind
            body = tuple(n for n in body if n is not node)
    return [*lines, *found.parts(body), *found.reads(body), *found.parts(body), *found.divisors(body)], body


@dataclass(frozen=True, slots=True)
class _Guards:
    """Conditions that something is read under, and whether these are all: none is one of lanes."""

    conditions: tuple[Scalar, ...] = ()
    all_told: bool = True

    def meet(self, other: _Guards) -> _Guards:
        """What something is read under there and here."""
        return _Guards(tuple(c for c in self.conditions if c in other.conditions), all_told=False)


class _Once:
    def __init__(self, scope: Scope, last: Loop, body: Body) -> None:
        self.scope, self.last = scope, last
        self.moving = last.name if isinstance(last, Axis) else "..."
        self.stored = {n.slot for n in inside(body) if isinstance(n, Store | Atomic)}
        self.met = certain(body)
        guards = values(tuple(a for n in body if isinstance(n, If) for a in (*n.body, *n.otherwise)))
        self.guarded = {a for e in guards for a in walk(e) if isinstance(a, Read)} - self.met

    def is_line(self, slot: str, at: Sequence[Position]) -> bool:
        """Whether an access has a name that all lanes share, which was given where it is."""
        return (slot, hole(at, self.last)) in self.scope.rows.names

    def asked(self, body: Body) -> list[Scalar]:
        """What nodes compute, and where they store it if that has no name."""
        lines = {n for n in body if isinstance(n, Store | Atomic) and self.is_line(n.slot, n.at)}
        return [e for n in body for e in ((n.value,) if n in lines else values((n,)))]

    def everything(self, body: Body) -> list[Scalar]:
        """All parts of what lanes compute, places included."""
        left = self.asked(body)
        found: dict[Scalar, None] = {}
        while left:
            e = left.pop(0)
            if e in found or e in self.scope.ahead or (isinstance(e, Read) and self.is_line(e.tensor, e.at)):
                continue
            found[e] = None
            left[:0] = children(e)
        return list(found)

    def is_same(self, e: Scalar) -> bool:
        """Whether lanes change nothing of it."""
        match e:
            case Index(name):
                return name != self.moving and (name == "..." or name in self.scope.loops)
            case Read() if e in self.scope.ahead:
                return True
            case Read(tensor, ()):
                return tensor in self.scope.locals
            case Read(tensor, at):
                moved = any(isinstance(p, Batch) for p in at) and self.moving == "..."
                return not moved and tensor not in self.stored and tensor in self.scope.formal.slots
            case _:
                return True

    def is_whole(self, e: Scalar) -> bool:
        """Whether a value is the same at all lanes, and can be had before it is asked for."""
        return all(self.is_same(a) and self.is_harmless(a) for a in walk(e))

    def is_harmless(self, e: Scalar) -> bool:
        """Whether it can be read where nobody asks for it; what a guard keeps in range cannot."""
        if not isinstance(e, Read) or not e.at or e in self.scope.ahead or e in self.met:
            return True
        return e not in self.guarded and self.scope.settled(e)

    def parts(self, body: Body) -> list[str]:
        """Names quotients of whole numbers, then choices."""
        lines: list[str] = []
        for kinds in (QUOTIENTS, ("where",)):
            for e in self.outermost(body, kinds):
                lines += self.named(e, described(e))
        return lines

    def outermost(self, body: Body, kinds: Collection[str]) -> list[Scalar]:
        """The parts of some kinds that are the same at all lanes, and in no other one."""
        found = [e for e in self.everything(body) if isinstance(e, Apply) and e.fn in kinds and self.is_whole(e)]
        inner = {a for e in found for part in children(e) for a in walk(part)}
        return [e for e in found if e not in inner]

    def divisors(self, body: Body) -> list[str]:
        """Names whole numbers that values are divided by, as what is computed in."""
        parts = self.everything(body)
        quotients = {e: None for e in parts if isinstance(e, Apply) and e.fn == "div"}
        lines: list[str] = []
        for d in dict.fromkeys(a.args[1] for a in quotients):
            others = any(d in children(e) and e not in quotients for e in parts)
            if isinstance(d, Lit) or not self.is_whole(d) or others:
                continue
            text = self.scope.printer.text(d)
            if text.kind is Kind.INT:
                name = self.scope.fresh("divisor")
                lines.append(f"const opmath_t {name} = {NATIVE.as_float(text).text};")
                self.scope.ahead[d] = Text(name, NATIVE.atom, Kind.FLOAT)
        return lines

    def reads(self, body: Body) -> list[str]:
        """Names what is read; places of what has a name are not asked for any more, unless elsewhere, too."""
        lines: list[str] = []
        while found := self.nameable(body):
            inner = {a for r in found for p in children(r) for a in walk(p)}
            for r, conditions in found.items():
                if r not in inner:
                    lines += self.named(r, described(r), reduce(both, conditions) if conditions else None)
        return lines

    def nameable(self, body: Body) -> dict[Read, tuple[Scalar, ...]]:
        """What can be read ahead, under the conditions that a reader has whom no other one does without any of."""
        asked: dict[Read, dict[_Guards, None]] = {}
        for e in self.asked(body):
            for part, guards in in_contexts(e, _Guards(), self.inner, _Guards.meet):
                if self.is_asked(part):
                    asked.setdefault(part, {})[guards] = None
        found: dict[Read, tuple[Scalar, ...]] = {}
        for r, readers in asked.items():
            if self.is_harmless(r):
                found[r] = ()
            elif r not in self.guarded and (conditions := self.least(readers)):
                found[r] = conditions
        return found

    def least(self, guards: Collection[_Guards]) -> tuple[Scalar, ...]:
        """The conditions of one reader which all have; empty where there is none."""
        common = frozenset[Scalar].intersection(*(frozenset(g.conditions) for g in guards))
        return next((g.conditions for g in guards if g.all_told and common.issuperset(g.conditions)), ())

    def is_asked(self, e: Scalar) -> TypeGuard[Read]:
        """Whether something is read here that is the same at all lanes and has no name."""
        if not isinstance(e, Read) or not e.at or e.fill is not None or e in self.scope.ahead:
            return False
        return not self.is_line(e.tensor, e.at) and all(map(self.is_same, walk(e)))

    def inner(self, e: Scalar, guards: _Guards) -> Iterator[tuple[Scalar, _Guards]]:
        """The operands of what has no name, with what each is evaluated under."""
        match e:
            case _ if e in self.scope.ahead:
                pass
            case Read(slot, at) if self.is_line(slot, at):
                pass
            case Apply("where", (condition, a, b)):
                yield condition, guards
                yield a, self.under(guards, condition)
                yield b, self.under(guards, negation_of(condition))
            case Apply("and" | "or" as fn, args):
                for part in args:
                    yield part, guards
                    guards = self.under(guards, part if fn == "and" else negation_of(part))
            case _:
                yield from ((c, guards) for c in children(e))

    def under(self, guards: _Guards, condition: Scalar) -> _Guards:
        """The same under one more condition, which lanes may have of their own."""
        if not self.is_whole(condition):
            return replace(guards, all_told=False)
        return replace(guards, conditions=tuple(dict.fromkeys((*guards.conditions, *all_of(condition)))))

    def named(self, e: Scalar, wish: str, condition: Scalar | None = None) -> list[str]:
        """A line that names a value."""
        guarded = e
        if condition is not None:
            is_bool = self.scope.printer.text(e).kind is Kind.BOOL
            guarded = Apply("where", (condition, e, Lit(False if is_bool else 0)))
        lines, value = hoisted(self.scope, guarded, len("const opmath_t  = ;") + _NAME)
        text = value.text
        if not text.isidentifier():
            name = self.scope.fresh(wish)
            lines, text = [*lines, f"const {value_type(value.kind)} {name} = {text};"], name
        self.scope.ahead[e] = Text(text, NATIVE.atom, value.kind)
        return lines
