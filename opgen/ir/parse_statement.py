"""Statements read back from their exact text: `statement(text.statement(s, exact=True), names) == s`.

In goes a line as `opgen.ir.text` writes it for dumps, and which of its names are params; out comes the statement, or
a `ValueError`. Where a statement stands in its spec is in no text, and no part of what it is equal to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opgen.ir.parse import Meanings, Reader
from opgen.ir.program import Axis, Compute, Kind, Loop, Recurrence, Scatter, Statement


def statement(text: str, names: Meanings) -> Statement:
    """The statement that a line is of."""
    line = Reader(text, names)
    if line.peek() == "along" and line.peek(1) != "[":
        found: Statement = _recurrence(line)
    else:
        first = _compute(line)
        found = _scatter(line, first) if line.takes(";") else first
    line.end()
    return found


def _recurrence(line: Reader) -> Recurrence:
    line.expect("along")
    along = line.loop()
    if not isinstance(along, Axis):
        raise ValueError(f"nothing recurs along the batch: {line.line!r}")
    reverse = line.takes("down")
    line.expect(":")
    steps = [_compute(line)]
    while line.takes(";"):
        steps.append(_compute(line))
    return Recurrence(along, tuple(steps), reverse)


def _compute(line: Reader) -> Compute:
    around = line.names
    target, axes = line.name(), _loops(line)
    kind = line.kind() if line.takes(":") else Kind.FLOAT
    line.expect("=")
    op = line.name() if _reduces(line) else None
    over = _loops(line, axes) if op else ()
    line.names = _within(around, (*axes, *over))
    body = line.scalar()
    line.names = around
    return Compute(target, axes, body, op, over, kind)


def _scatter(line: Reader, first: Compute) -> Scatter:
    """The second half of a scatter, of which the first says what there is before; loops stand behind positions."""
    around, start = line.names, line.at
    while not line.takes("=", "over"):
        line.take()
        if not line.peek():
            raise ValueError(f"a scatter has loops: {line.line!r}")
    loops = _loops(line)
    line.expect("of")
    line.names = _within(around, loops)
    body, end = line.scalar(), line.at
    line.at = start
    padded = line.takes("pad", "(")
    line.expect(first.target)
    at = line.positions()
    if padded:
        line.expect(")")
    op = line.name()
    line.names, line.at = around, end
    return Scatter(first.target, first.axes, loops, at, body, op, first.body, padded, first.kind)


def _reduces(line: Reader) -> bool:
    """Whether an operation over loops comes next: an access is never followed by what it is of."""
    if line.peek(1) != "[":
        return False
    depth = 0
    for ahead in range(1, len(line.tokens)):
        depth += {"[": 1, "]": -1}.get(line.peek(ahead), 0)
        if depth == 0:
            return line.peek(ahead + 1) == "("
    return False


def _loops(line: Reader, known: tuple[Loop, ...] = ()) -> tuple[Loop, ...]:
    """Loops in brackets; those that are known stand without their extent."""
    axes = {a.name: a for a in known if isinstance(a, Axis)}

    def loop() -> Loop:
        return axes[line.name()] if line.peek() in axes and line.peek(1) != "<" else line.loop()

    line.expect("[")
    return line.several(loop, "]")


def _within(names: Meanings, loops: Iterable[Loop]) -> Meanings:
    return replace(names, indices=names.indices | {a.name for a in loops if isinstance(a, Axis)})
