"""Values too long for a line, cut into parts that have lines of their own.

In go a scope (what prints and names) and a scalar; out come definitions of the longest parts and the text of what is
left. What may only be evaluated in a branch that is taken stays there: such a choice becomes a statement. Where nothing
else is left to take out, it is the positions of what is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Protocol

from opgen.code.native_scope import Spot, value_type
from opgen.code.printer import Printer, Text
from opgen.code.scaled import SCALED, factored
from opgen.code.wide import is_crowd, is_wide, pieces
from opgen.ir.described import described
from opgen.ir.lazy import is_lazy
from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Batch, Cast, Const, Dim, Lit, Position, Read, Scalar, children, rebuild
from opgen.kernel.formal import Formal

ROOM = 106  # of a line of 120, without the deepest indentation
_WORTH = 12  # an expression shorter than this gets no line of its own
_BELOW = len("    ;")  # around a part in a row of its own, below its name
_AROUND_CELL = len("opmath_t* const cell = grad_input.at(place, );")
_WORTH_OF_PLACE = 8  # the same for a position, which stands in guards as well


class Scope(Protocol):
    """What a kernel's names offer."""

    locals: dict[str, tuple[str, Kind]]
    placed: dict[Scalar | Spot, str]  # positions, and spots of reads, that have a local of their own
    formal: Formal
    depth: int  # columns that plain loops and guards around a statement take

    @property
    def printer(self) -> Printer: ...

    def fresh(self, wish: str) -> str: ...

    def settled(self, r: Read) -> bool: ...

    def spells(self, r: Read) -> bool:
        """Whether the text of a read has its positions in it."""

    def offset_of(self, r: Read) -> str:
        """Where in memory a read is, if that is written out in its text."""

    def guarded(self, r: Read) -> tuple[str, Text, Text] | None:
        """The condition under which a read is in range, what it is then, and what it is otherwise."""


def hoisted(scope: Scope, value: Scalar, around: int) -> tuple[list[str], Text]:
    """The text of a value that fits on a line with `around` other characters, behind definitions of its parts."""
    printer = scope.printer
    known = {} if printer.known is None else printer.known
    with _block(scope):
        named = dict(known)
        return _Cut(scope, replace(printer, known=known, held=named), named, depth=scope.depth).fitted(value, around)


@contextmanager
def held_places(scope: Scope, slot: str, at: Sequence[Position]) -> Iterator[list[str]]:
    """Locals of the positions at which something is added, where these are too long for its line; known inside."""
    long = [(p, n) for p, n in zip(at, scope.formal.slots[slot].shape, strict=True) if isinstance(p, Apply)]
    with _block(scope):
        lines: list[str] = []
        if sum(len(scope.printer(p)) for p, _ in long) > ROOM - scope.depth - _AROUND_CELL:
            for p, size in long:
                name = scope.fresh(_place_name(size))
                lines.append(f"const int64_t {name} = {scope.printer(p)};")
                scope.placed[p] = name
        yield lines


def _place_name(size: Scalar | Batch) -> str:
    """What a position along a dim is called."""
    return f"at_{size.name.lower()}" if isinstance(size, Dim) else "position"


@contextmanager
def _block(scope: Scope) -> Iterator[None]:
    """A block of statements, behind which its positions have no locals, and what it named means nothing."""
    placed, known = dict(scope.placed), dict(scope.locals)
    yield
    scope.placed.clear()
    scope.placed.update(placed)
    scope.locals.clear()
    scope.locals.update(known)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Takes one value apart. What is asked of its parts again and again is remembered.

    A part that has a local stays where it is, and is printed as the name: only what it stands in is printed again.
    """

    scope: Scope
    printer: Printer
    named: dict[Scalar, Text] = field(default_factory=dict)  # the parts that have locals
    risky: dict[Scalar, bool] = field(default_factory=dict)  # what reads where a condition may have to be looked at
    leaves: dict[Scalar, int] = field(default_factory=dict)  # names in the text of a part, which is no shorter
    above: dict[Scalar, list[Scalar]] = field(default_factory=dict)  # what the parts are printed in
    depth: int = 0  # columns that loops, guards and branches around it take
    idle: set[Scalar | Spot] = field(default_factory=set)  # positions and spots of which the value says nothing

    def fitted(self, value: Scalar, around: int) -> tuple[list[str], Text]:
        room = ROOM - around - self.depth
        if self.fits(value, room):
            return [], self.printer.text(value)
        inner, places = self.inside(), len(self.scope.placed)
        found = inner.apart(value, room)
        self.learn(inner)
        if len(self.scope.placed) > places:
            self.forget()
        return found

    def inside(self, deeper: int = 0) -> _Cut:
        """For a part of the value, which gets locals on lines of its own."""
        named = dict(self.named)
        printer = replace(self.printer, known=copy(self.printer.known), held=named)
        return _Cut(self.scope, printer, named, dict(self.risky), dict(self.leaves), {}, self.depth + deeper)

    def learn(self, inner: _Cut) -> None:
        """What a part got locals for is read from them behind it, too."""
        for e, text in inner.named.items():
            if e not in self.named:
                self.put(e, text)

    def fits(self, e: Scalar, room: int) -> bool:
        """Whether the text of a part is short enough; what is longer by far is not printed to tell."""
        return self.names(e) <= room and len(self.printer(e)) <= room

    def names(self, e: Scalar) -> int:
        """How many names the text of a part has at least, each of a character or more."""
        found = self.leaves.get(e)
        if found is None:
            match e:
                case Lit() | Const():
                    found = 0
                case Apply(args=parts) if e not in self.named:
                    found = sum(map(self.names, parts))
                case Cast(arg) if e not in self.named:
                    found = self.names(arg)
                case _:
                    found = 1
            self.leaves[e] = found
        return found

    def apart(self, value: Scalar, room: int) -> tuple[list[str], Text]:
        lines: list[str] = []
        self.look_at(value)
        while value not in self.named and not self.fits(value, room):
            parts = self.ahead(value)
            wide = next((e for e in (value, *parts) if is_wide(e)), None)
            part = None if wide else self.longest(parts, room)
            choice = None if wide or part else next((e for e in (value, *parts) if self.is_choice(e)), None)
            place = None if wide or part else self.place(value, parts)
            if wide is not None:
                value = self.replaced(value, wide, self.in_pieces(wide, lines))
                self.look_at(value)
            elif part is not None:
                self.put(part, self.printer.text(self.defined(part, lines)))
            elif place is not None:
                lines += self.placed(*place, value)
            elif choice is not None:
                name, before = self.unlike(described(choice)), "" if choice is value else self.printer(value)
                made = self.read_if_inside(choice, name) if isinstance(choice, Read) else self.chosen(choice, name)
                self.put(choice, self.printer.text(Read(name, ())))
                lines += [] if self.printer(value) == before else made
            elif (part := self.longest(parts, ROOM - self.depth - _BELOW)) is not None:
                self.put(part, self.printer.text(self.defined(part, lines)))
            elif (far := self.far(value)) is not None:
                lines += self.placed(far, "at", value)
            elif (crowd := next((e for e in (value, *parts) if is_crowd(e)), None)) is not None:
                value = self.replaced(value, crowd, self.in_pieces(crowd, lines))
                self.look_at(value)
            else:
                break
        return lines, self.printer.text(value)

    def longest(self, parts: Iterable[Scalar], room: int) -> Scalar | None:
        """The longest part that fits, if it is worth a line."""
        best, length = None, _WORTH
        for e in parts:
            if self.fits(e, room) and length < (size := len(self.printer(e))):
                best, length = e, size
        return best

    def put(self, part: Scalar, local: Text) -> None:
        """From now on a part is its local, wherever it stands."""
        known = self.printer.known
        assert known is not None
        changed, left = {part}, [part]
        while left:
            more = [e for e in self.above.get(left.pop(), ()) if e not in changed and e not in self.named]
            changed.update(more)
            left += more
        for e in changed:
            known.pop(e, None)
            self.risky.pop(e, None)
            self.leaves.pop(e, None)
        self.risky[part] = False
        self.named[part] = known[part] = local

    def replaced(self, e: Scalar, part: Scalar, by: Scalar) -> Scalar:
        """A value with something else in place of one of its parts; what an access reads from stays as it is."""
        done = {part: by}

        def step(a: Scalar) -> Scalar:
            found = done.get(a)
            if found is None:
                found = done[a] = a if isinstance(a, Read) or a in self.named else rebuild(a, step)
            return found

        return step(e)

    def defined(self, part: Scalar, lines: list[str]) -> Scalar:
        """A part as a local of its own."""
        name = self.unlike(described(part))
        inner, text = self.fitted(part, len(f"const opmath_t {name} = ;"))
        lines += [*inner, f"const {value_type(text.kind)} {name} = {text.text};"]
        self.scope.locals[name] = (name, text.kind)
        return Read(name, ())

    def unlike(self, wish: str) -> str:
        """A new name that is not what the kernel calls another local, however that is printed."""
        name = self.scope.fresh(wish)
        return self.unlike(wish) if name in self.scope.locals else name

    def in_pieces(self, many: Scalar, lines: list[str]) -> Scalar:
        """A sum or product of very many operands as one of locals; of several, with one for the first half of them."""
        assert isinstance(many, Apply)
        if is_wide(many):
            return Apply(many.fn, tuple(self.piece(e, lines) for e in pieces(many)))
        half = len(many.args) // 2
        first = self.piece(Apply(many.fn, many.args[: half + 1]), lines)
        return Apply(many.fn, (first, *many.args[half + 1 :]))

    def piece(self, e: Scalar, lines: list[str]) -> Scalar:
        """Some of many operands as a local of their own; what stands elsewhere too was printed without locals there."""
        assert self.printer.known is not None
        if e not in self.named:
            self.printer.known.pop(e, None)
        return self.defined(e, lines)

    def chosen(self, choice: Scalar, name: str) -> list[str]:
        """A `where` as a statement, so that what must stay in a branch can be split up there."""
        assert isinstance(choice, Apply)
        condition, *operands = _as_choice(choice)
        tests, condition_text = self.fitted(condition, len("if () {"))
        branches: list[list[str]] = []
        kinds: set[Kind] = set()
        for operand in operands:
            with _block(self.scope):
                parts, text = self.inside(2).fitted(operand, len(f"{name} = ;"))
            branches.append([f"  {line}" for line in (*parts, f"{name} = {text.text};")])
            kinds.add(text.kind)
        kind = Kind.FLOAT if Kind.FLOAT in kinds else Kind.BOOL if kinds == {Kind.BOOL} else Kind.INT
        self.scope.locals[name] = (name, kind)
        head = [*tests, f"{value_type(kind)} {name};", f"if ({condition_text.text}) {{"]
        return [*head, *branches[0], "} else {", *branches[1], "}"]

    def read_if_inside(self, r: Read, name: str) -> list[str]:
        """A read that may leave its range as a statement."""
        guarded = self.scope.guarded(r)
        assert guarded is not None
        condition, text, otherwise = guarded
        self.scope.locals[name] = (name, text.kind)
        then = f"{value_type(text.kind)} {name} = {otherwise.text};"
        return [then, f"if ({condition}) {name} = {text.text};"]

    def place(self, value: Scalar, parts: Sequence[Scalar]) -> tuple[Scalar, str] | None:
        """The longest position of what is read, and what to call it; if it may go unread, nothing in it is risky."""
        certain = {e for e in (value, *parts) if isinstance(e, Read)}
        best: Scalar | None = None
        length, wish = _WORTH_OF_PLACE, ""
        for r in (e for e in self.within(value) if isinstance(e, Read)):
            slot = self.scope.formal.slots.get(r.tensor)  # what passes along a row hand on has none
            if slot is None or not r.at or not self.scope.spells(r):
                continue
            for p, size in zip(r.at, slot.shape, strict=True):
                if not isinstance(p, Apply | Read) or (isinstance(p, Read) and not p.at):
                    continue
                if p in self.scope.placed or p in self.idle or (r not in certain and self.is_risky(p)):
                    continue
                if length < (written := len(self.printer(p))):
                    best, length, wish = p, written, _place_name(size)
        return None if best is None else (best, wish)

    def far(self, value: Scalar) -> Spot | None:
        """The spot with the longest text."""
        found = [
            e for e in self.within(value)
            if isinstance(e, Read) and e.at and Spot(e) not in self.scope.placed and Spot(e) not in self.idle
            and not any(map(self.is_risky, children(e)))
        ]  # fmt: skip
        best = max(found, key=lambda r: len(self.scope.offset_of(r)), default=None)
        return Spot(best) if best is not None and len(self.scope.offset_of(best)) > _WORTH else None

    def placed(self, p: Scalar | Spot, wish: str, value: Scalar) -> list[str]:
        """A position, or where a read is in memory, as a local, which is its name from now on.

        It stays without one if the value is not written with it: what is read ahead of the lanes has no positions here.
        """
        before, name = self.printer(value), self.scope.fresh(wish)
        text = self.scope.offset_of(p.read) if isinstance(p, Spot) else self.printer(p)
        self.scope.placed[p] = name
        self.forget()
        if self.printer(value) != before:
            return [f"const int64_t {name} = {text};"]
        del self.scope.placed[p]  # nobody would find it declared
        self.idle.add(p)
        return []

    def forget(self) -> None:
        """From now on positions that have locals are printed as these."""
        known = self.printer.known or {}
        for e in [e for e in known if e not in self.named]:
            del known[e]

    def within(self, value: Scalar) -> Iterator[Scalar]:
        """A value and everything in it that is not named."""
        seen, left = {value}, [value]
        while left:
            e = left.pop()
            if e in self.named:
                continue
            yield e
            new = [a for a in children(e) if a not in seen]
            seen.update(new)
            left += new

    def is_choice(self, e: Scalar) -> bool:
        """Whether something can become a statement with branches."""
        if isinstance(e, Read):
            return bool(e.at) and e not in self.named and self.scope.guarded(e) is not None
        return isinstance(e, Apply) and (
            e.fn == "where" or (e.fn in ("and", "or") and len(e.args) == 2 and self.is_risky(e.args[1]))
        )

    def ahead(self, value: Scalar) -> list[Scalar]:
        """The operands below a value that can be computed before it: all but what must not be read unless chosen."""
        found: list[Scalar] = []
        seen = {value}

        def look(e: Scalar) -> None:
            lazy = is_lazy(e)
            for i, operand in enumerate(self.printer.parts(e)):
                if operand in seen or operand in self.named or (lazy and i > 0 and self.is_risky(operand)):
                    continue
                seen.add(operand)
                if isinstance(operand, Apply) or (isinstance(operand, Read) and operand.at):
                    found.append(operand)
                if not isinstance(operand, Read):  # positions stay where they are checked
                    look(operand)

        if not isinstance(value, Read):
            look(value)
        return found

    def is_risky(self, e: Scalar) -> bool:
        """Does an expression read what can leave its range?"""
        found = self.risky.get(e)
        if found is None:
            own = isinstance(e, Read) and not self.scope.settled(e)
            found = self.risky[e] = own or any(map(self.is_risky, children(e)))
        return found

    def look_at(self, value: Scalar) -> None:
        """Notes what each part of a value is an operand of, or is printed in."""
        found = self.above
        found.clear()
        found[value] = []
        left = [value]
        while left:
            e = left.pop()
            scaled = (factored(e.args[0], ())[0],) if isinstance(e, Apply) and e.fn in SCALED else ()
            for operand in () if isinstance(e, Read) else (*children(e), *self.printer.parts(e), *scaled):
                if operand not in found:
                    found[operand] = []
                    left.append(operand)
                found[operand].append(e)


def _as_choice(e: Apply) -> tuple[Scalar, ...]:
    """A condition, and the values that it chooses from."""
    match e:
        case Apply("and", (a, b)):
            return a, b, Lit(False)
        case Apply("or", (a, b)):
            return a, Lit(True), b
        case _:
            return e.args
