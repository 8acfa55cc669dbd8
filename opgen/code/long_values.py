"""Values too long for a line, cut into parts that have lines of their own.

In go a scope (what prints and names) and a scalar; out come definitions of the longest parts and the text of what is
left. What may only be evaluated in a branch that is taken stays there: such a choice becomes a statement.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Protocol

from opgen.code.native_scope import value_type
from opgen.code.printer import Printer, Text
from opgen.code.wide import is_wide, pieces
from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Read, Scalar, children, rebuild

ROOM = 106  # of a line of 120, without the deepest indentation
_WORTH = 12  # an expression shorter than this gets no line of its own


class Scope(Protocol):
    """What a kernel's names offer."""

    locals: dict[str, tuple[str, Kind]]

    @property
    def printer(self) -> Printer: ...

    def fresh(self, wish: str) -> str: ...

    def settled(self, r: Read) -> bool: ...


def hoisted(scope: Scope, value: Scalar, around: int) -> tuple[list[str], Text]:
    """The text of a value that fits on a line with `around` other characters, behind definitions of its parts."""
    printer = scope.printer
    known = {} if printer.known is None else printer.known
    return _Cut(scope, replace(printer, known=known), set(known)).fitted(value, around)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Takes one value apart. What is asked of its parts again and again is remembered.

    A part that has a local stays where it is, and is printed as the name: only what it stands in is printed again.
    """

    scope: Scope
    printer: Printer
    named: set[Scalar] = field(default_factory=set)  # the parts that have locals
    risky: dict[Scalar, bool] = field(default_factory=dict)  # what reads where a condition may have to be looked at

    def fitted(self, value: Scalar, around: int) -> tuple[list[str], Text]:
        room = ROOM - around
        text = self.printer.text(value)
        return ([], text) if len(text.text) <= room else self.inside().apart(value, room)

    def inside(self) -> _Cut:
        """For a part of the value: what it gets locals for on lines of its own has none elsewhere."""
        printer = replace(self.printer, known=copy(self.printer.known))
        return _Cut(self.scope, printer, set(self.named), dict(self.risky))

    def apart(self, value: Scalar, room: int) -> tuple[list[str], Text]:
        lines: list[str] = []
        above = _above(value)
        while len(self.printer(value)) > room and value not in self.named:
            parts = self.ahead(value)
            wide = next((e for e in (value, *parts) if is_wide(e)), None)
            part = None if wide else _longest(self.printer, parts, room)
            choice = None if wide or part else next((e for e in (value, *parts) if _is_choice(e)), None)
            if wide is not None:
                value = self.replaced(value, wide, self.in_pieces(wide, lines))
                above = _above(value)
            elif part is not None:
                self.put(part, self.defined(part, lines), above)
            elif choice is not None:
                name = self.scope.fresh("part")
                lines += self.chosen(choice, name)
                self.put(choice, Read(name, ()), above)
            else:
                break
        return lines, self.printer.text(value)

    def put(self, part: Scalar, local: Scalar, above: dict[Scalar, list[Scalar]]) -> None:
        """From now on a part is its local, wherever it stands."""
        known = self.printer.known
        assert known is not None
        changed, left = {part}, [part]
        while left:
            more = [e for e in above.get(left.pop(), ()) if e not in changed and e not in self.named]
            changed.update(more)
            left += more
        for e in changed:
            known.pop(e, None)
            self.risky.pop(e, None)
        self.named.add(part)
        self.risky[part] = False
        known[part] = self.printer.text(local)

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
        name = self.scope.fresh("part")
        inner, text = self.fitted(part, len(f"const opmath_t {name} = ;"))
        lines += [*inner, f"const {value_type(text.kind)} {name} = {text.text};"]
        self.scope.locals[name] = (name, text.kind)
        return Read(name, ())

    def in_pieces(self, wide: Scalar, lines: list[str]) -> Scalar:
        """A sum or product of very many operands as one of locals."""
        assert isinstance(wide, Apply)
        return Apply(wide.fn, tuple(self.defined(e, lines) for e in pieces(wide)))

    def chosen(self, choice: Scalar, name: str) -> list[str]:
        """A `where` as a statement, so that what must stay in a branch can be split up there."""
        assert isinstance(choice, Apply)
        kind = self.printer.text(choice).kind
        self.scope.locals[name] = (name, kind)
        tests, condition = self.fitted(choice.args[0], len("if () {"))
        branches: list[list[str]] = []
        for operand in choice.args[1:]:
            parts, text = self.fitted(operand, len(f"  {name} = ;"))
            branches.append([f"  {line}" for line in (*parts, f"{name} = {text.text};")])
        head = [*tests, f"{value_type(kind)} {name};", f"if ({condition.text}) {{"]
        return [*head, *branches[0], "} else {", *branches[1], "}"]

    def ahead(self, value: Scalar) -> list[Scalar]:
        """The operands below a value that can be computed before it: all but what must not be read unless chosen."""
        found: list[Scalar] = []
        seen = {value}

        def look(e: Scalar) -> None:
            for i, operand in enumerate(children(e)):
                lazy = isinstance(e, Apply) and e.fn in ("where", "and", "or") and i > 0
                if operand in seen or operand in self.named or (lazy and self.is_risky(operand)):
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


def _above(value: Scalar) -> dict[Scalar, list[Scalar]]:
    """What each part of a value is an operand of."""
    found: dict[Scalar, list[Scalar]] = {value: []}
    left = [value]
    while left:
        e = left.pop()
        for operand in () if isinstance(e, Read) else children(e):
            if operand not in found:
                found[operand] = []
                left.append(operand)
            found[operand].append(e)
    return found


def _is_choice(e: Scalar) -> bool:
    return isinstance(e, Apply) and e.fn == "where"


def _longest(printer: Printer, parts: Iterable[Scalar], room: int) -> Scalar | None:
    """The longest part that fits, if it is worth a line."""
    best, length = None, _WORTH
    for e in parts:
        size = len(printer(e))
        if length < size <= room:
            best, length = e, size
    return best
