"""Values too long for a line, cut into parts that have lines of their own.

In go a scope (what prints and names) and a scalar; out come definitions of the longest parts and the text of what is
left. What may only be evaluated in a branch that is taken stays there: such a choice becomes a statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from opgen.code.cuda_scope import value_type
from opgen.code.printer import Printer, Text
from opgen.code.wide import is_wide, pieces
from opgen.ir.program import Kind
from opgen.ir.scalar import Apply, Batch, Index, Position, Read, Scalar, children, rebuild, walk

ROOM = 106  # of a line of 120, without the deepest indentation
_WORTH = 12  # an expression shorter than this gets no line of its own


class Scope(Protocol):
    """What a kernel's names offer."""

    locals: dict[str, tuple[str, Kind]]

    @property
    def printer(self) -> Printer: ...

    def fresh(self, wish: str) -> str: ...

    def doubtful(self, buffer: str, axis: int, p: Position) -> bool: ...


def hoisted(scope: Scope, value: Scalar, around: int) -> tuple[list[str], Text]:
    """The text of a value that fits on a line with `around` other characters, behind definitions of its parts."""
    lines: list[str] = []
    room = ROOM - around
    printer = replace(scope.printer, known={})
    text = printer.text(value)
    while len(text.text) > room:
        wide = next((e for e in (value, *_ahead(scope, value)) if is_wide(e)), None)
        part = None if wide else _longest_part(scope, printer, value, room)
        choice = None if wide or part else next((e for e in (value, *_ahead(scope, value)) if _is_choice(e)), None)
        if wide is not None:
            value = _replaced(value, wide, _in_pieces(scope, wide, lines))
        elif part is not None:
            value = _replaced(value, part, _defined(scope, part, lines))
        elif choice is not None:
            name = scope.fresh("part")
            lines += _chosen(scope, choice, name)
            value = _replaced(value, choice, Read(name, ()))
        else:
            break
        text = printer.text(value)
    return lines, text


def _defined(scope: Scope, part: Scalar, lines: list[str]) -> Scalar:
    """A part as a local of its own."""
    name = scope.fresh("part")
    inner, text = hoisted(scope, part, len(f"const opmath_t {name} = ;"))
    lines += [*inner, f"const {value_type(text.kind)} {name} = {text.text};"]
    scope.locals[name] = (name, text.kind)
    return Read(name, ())


def _in_pieces(scope: Scope, wide: Scalar, lines: list[str]) -> Scalar:
    """A sum or product of very many operands as one of locals."""
    assert isinstance(wide, Apply)
    return Apply(wide.fn, tuple(_defined(scope, e, lines) for e in pieces(wide)))


def _replaced(e: Scalar, part: Scalar, by: Scalar) -> Scalar:
    """A value with a local in place of one of its parts; what an access reads from stays as it is."""
    if e == part:
        return by
    return e if isinstance(e, Read) else rebuild(e, lambda a: _replaced(a, part, by))


def _is_choice(e: Scalar) -> bool:
    return isinstance(e, Apply) and e.fn == "where"


def _chosen(scope: Scope, choice: Scalar, name: str) -> list[str]:
    """A `where` as a statement, so that what must stay in a branch can be split up there."""
    assert isinstance(choice, Apply)
    kind = scope.printer.text(choice).kind
    scope.locals[name] = (name, kind)
    tests, condition = hoisted(scope, choice.args[0], len("if () {"))
    branches: list[list[str]] = []
    for operand in choice.args[1:]:
        parts, text = hoisted(scope, operand, len(f"  {name} = ;"))
        branches.append([f"  {line}" for line in (*parts, f"{name} = {text.text};")])
    head = [*tests, f"{value_type(kind)} {name};", f"if ({condition.text}) {{"]
    return [*head, *branches[0], "} else {", *branches[1], "}"]


def _longest_part(scope: Scope, printer: Printer, value: Scalar, room: int) -> Scalar | None:
    """The longest operand that fits, if it is worth a line and may be evaluated ahead of a choice."""
    best, length = None, _WORTH
    for e in _ahead(scope, value):
        size = len(printer(e))
        if length < size <= room:
            best, length = e, size
    return best


def _ahead(scope: Scope, e: Scalar) -> Iterator[Scalar]:
    """The operands below a value that can be computed before it: all, except what must not be read unless chosen."""
    if isinstance(e, Read):
        return  # positions stay where they are checked
    for i, operand in enumerate(children(e)):
        lazy = isinstance(e, Apply) and e.fn in ("where", "and", "or") and i > 0
        if lazy and any(isinstance(n, Read) and not _plain(scope, n) for n in walk(operand)):
            continue
        if isinstance(operand, Apply) or (isinstance(operand, Read) and operand.at):
            yield operand
        if not isinstance(operand, Read):
            yield from _ahead(scope, operand)


def _plain(scope: Scope, read: Read) -> bool:
    """An access that cannot leave the range."""
    return read.fill is None and all(
        isinstance(p, Batch) or (isinstance(p, Index) and not scope.doubtful(read.tensor, k, p))
        for k, p in enumerate(read.at)
    )
