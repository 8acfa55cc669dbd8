"""Programs read back from their exact text: `program(text.program(p, exact=True)) == p`.

In goes the text, as `opgen.ir.text` writes it for dumps or as a person writes one down for a test of a pass; out comes
the Program, or a `ValueError`. Whether it is a valid one is for `opgen.ir.verify` to say.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from opgen.ir.parse import Meanings, Reader
from opgen.ir.parse_statement import statement
from opgen.ir.program import (
    Argument,
    Chosen,
    Condition,
    DimSource,
    Function,
    Given,
    Output,
    Override,
    Program,
    Role,
    Shape,
    Tensor,
)
from opgen.ir.scalar import Lit, Scalar

_T = TypeVar("_T")
_WORDS = ("param", "dim", "function", "output", *Role)


def program(text: str) -> Program:
    """The program that a text is of."""
    first, *rest = text.rstrip("\n").split("\n")
    head = Reader(first, Meanings())
    head.expect("program")
    name = head.name()
    head.end()
    lines = [(_word(line), line) for line in rest]
    params = frozenset(Reader(line, Meanings()).peek(1) for word, line in lines if word == "param")
    names = Meanings(params=params)

    def each(word: str, read: Callable[[Reader], _T]) -> tuple[_T, ...]:
        return tuple(_whole(line, names, read) for own, line in lines if own == word)

    inputs = tuple(_whole(line, names, _tensor) for word, line in lines if word in tuple(Role))
    stated = each("override of", _stated)
    override = Override(
        tuple(n for n, _ in stated),
        tuple(statement(line.split("override ", 1)[1], names) for word, line in lines if word == "override"),
        tuple(shape for _, shape in stated),
    )
    statements = tuple(statement(line, names) for word, line in lines if not word)
    return Program(
        name, inputs, each("param", _argument), each("dim", _dim), statements, each("output", _output),
        each("function", _function), override,
    )  # fmt: skip


def _word(line: str) -> str:
    """What a line is about; empty for a statement."""
    start = Reader(line, Meanings())
    if start.peek(1) == "[":
        return ""  # of a tensor that is called so
    if start.takes("override"):
        return "override of" if start.takes("of") and start.peek(1) == "[" else "override"
    return start.peek() if start.peek() in _WORDS else ""


def _whole(text: str, names: Meanings, read: Callable[[Reader], _T]) -> _T:
    line = Reader(text, names)
    found = read(line)
    line.end()
    return found


def _stated(line: Reader) -> tuple[str, Shape]:
    line.expect("override", "of")
    return line.name(), line.positions()


def _tensor(line: Reader) -> Tensor:
    role = Role(line.name())
    name, shape = line.name(), line.positions()
    line.expect(":")
    kind = line.kind()
    of = line.name() if line.takes("of") else ""
    constant, dtype = line.takes(",", "constant"), _dtype(line)
    return Tensor(name, shape, kind, role, not constant, of, _doc(line), dtype)


def _output(line: Reader) -> Output:
    line.expect("output")
    name, shape = line.name(), line.positions()
    line.expect("=")
    value = line.name()
    line.expect(":")
    kind = line.kind()
    of = line.name() if line.takes("of") else ""
    like = line.name() if line.takes(",", "summed", "to", "the", "shape", "of") else None
    constant, kept, dtype = line.takes(",", "constant"), line.takes(",", "kept"), _dtype(line)
    return Output(name, value, shape, kind, like, not constant, of, _doc(line), kept, dtype)


def _dtype(line: Reader) -> str:
    return line.name() if line.takes(",", "as") else ""


def _doc(line: Reader) -> str:
    return line.word() if line.takes(",", "doc") else ""


def _dim(line: Reader) -> DimSource:
    line.expect("dim")
    name = line.name()
    tensor, position = None, 0
    if line.takes("of"):
        tensor = line.name()
        line.expect("at")
        position = line.whole()
    return DimSource(name, tensor, position, line.scalar() if line.takes("=") else None)


def _argument(line: Reader) -> Argument:
    line.expect("param")
    name = line.name()
    line.expect(":")
    type_, length = line.name(), None
    if line.takes("["):
        length = line.whole()
        line.expect("]")
    default = _value(line) if line.takes("=") else None
    null, positive = line.takes(",", "null"), line.takes(",", "positive")
    tells = _condition(line) if line.takes(",", "tells") else None
    choices: list[str] = []
    if line.takes(",", "one", "of"):
        choices.append(line.word())
        while line.peek(1).startswith('"') and line.takes(","):
            choices.append(line.word())
    return Argument(name, type_, length, default, null, tuple(choices), _doc(line), positive, tells)


def _value(line: Reader) -> int | Fraction | bool | str | tuple[int | Fraction | bool, ...] | Scalar:
    """A default: a number, a word, a list, or in parentheses a formula."""
    if line.peek().startswith('"'):
        return line.word()
    if line.takes("["):
        return line.several(lambda: _number(line), "]")
    return line.scalar() if line.peek() == "(" else _number(line)


def _number(line: Reader) -> int | Fraction | bool:
    found = line.scalar()
    if not isinstance(found, Lit):
        raise ValueError(f"a number belongs in {line.line!r}")
    return found.value


def _condition(line: Reader) -> Condition:
    name = line.name()
    if line.takes("is"):
        return Chosen(name, line.word() if line.peek().startswith('"') else bool(_number(line)))
    present = line.takes("given")
    if not present:
        line.expect("absent")
    return Given(name, present)


def _function(line: Reader) -> Function:
    line.expect("function")
    name = line.name()
    line.expect("(")
    params = line.several(line.name, ")")
    line.names = Meanings(params=line.names.params | {*params})
    value = line.scalar() if line.takes(";", "value") else None
    partials: list[Scalar] = []
    if line.takes(";", "partials"):
        partials.append(line.scalar())
        while line.takes(","):
            partials.append(line.scalar())
    spellings: list[tuple[str, str]] = []
    while line.takes(";"):
        spellings.append((line.name(), line.word()))
    return Function(name, params, value, tuple(partials), tuple(spellings))
