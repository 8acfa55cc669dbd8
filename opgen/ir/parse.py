"""Scalars read back from their exact text: `Reader(exact(e), names).scalar() == e` (`opgen.ir.text`).

In goes text that opgen wrote, and which of its names mean what; out come scalars, or a `ValueError` at the first thing
that no dump has. It is no second language of specs: nothing is folded, checked or explained here, every text stands
for one tree, and what has no sign of its own is a call by the name of the row (`add(a, b)` is one as well).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import BATCH, INF, NAN, PI, PLACE, Apply, Cast, Dim, Index, Lit, Param, Position, Read, Scalar
from opgen.ir.text import CHAINS, INFIX, NOT, UNARY

_T = TypeVar("_T")
_WORD = r'"(?:[^"\\]|\\.)*"'  # in quotes, as JSON has them
_TOKEN = re.compile(rf"\s*({_WORD}|\.\.\.|\d+(?:\.\d+)?(?:e[+-]?\d+)?|[^\W\d]\w*|\*\*|//|->|[<>=!]=|\S)")
_SIGNS = {sign.strip(): (fn, level) for fn, (sign, level) in INFIX.items()}
_WORDS: dict[str, Scalar] = {"pi": PI, "inf": INF, "nan": NAN, "true": Lit(True), "false": Lit(False)}


@dataclass(frozen=True, slots=True)
class Meanings:
    """What names stand for; any other is a tensor where positions follow, and else the size of a dim."""

    tensors: frozenset[str] = frozenset()  # those that are read without positions too
    indices: frozenset[str] = frozenset()
    params: frozenset[str] = frozenset()


class Reader:
    """The tokens of a line, read from left to right."""

    def __init__(self, line: str, names: Meanings) -> None:
        self.line = line
        self.names = names
        self.tokens = _TOKEN.findall(line)
        self.at = 0

    # --- tokens ------------------------------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> str:
        """A token that is still to come; empty at the end."""
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def takes(self, *tokens: str) -> bool:
        """Whether these come next; if so, they are read."""
        found = all(self.peek(k) == t for k, t in enumerate(tokens))
        self.at += len(tokens) if found else 0
        return found

    def expect(self, *tokens: str) -> None:
        if not self.takes(*tokens):
            raise ValueError(f"{' '.join(tokens)!r} belongs where {self.peek()!r} stands in {self.line!r}")

    def name(self) -> str:
        token = self.take()
        if not token.isidentifier():
            raise ValueError(f"{token!r} is no name in {self.line!r}")
        return token

    def end(self) -> None:
        if self.peek():
            raise ValueError(f"nothing belongs after {' '.join(self.tokens[: self.at])!r} in {self.line!r}")

    def several(self, one: Callable[[], _T], close: str) -> tuple[_T, ...]:
        """Items with commas between them, up to what closes them (the end of the line, where that is empty)."""
        items: list[_T] = []
        while not self.takes(close):
            if items:
                self.expect(",")
            items.append(one())
        return tuple(items)

    # --- what programs, plans and kernels are made of ----------------------------------------------------------------

    def position(self) -> Position:
        return BATCH if self.takes("...") else self.scalar()

    def positions(self) -> tuple[Position, ...]:
        self.expect("[")
        return self.several(self.position, "]")

    def extents(self) -> tuple[Scalar, ...]:
        """Positions that are numbers, without a batch."""
        self.expect("[")
        return self.several(self.scalar, "]")

    def loop(self) -> Loop:
        if self.takes("..."):
            return BATCH
        name = self.name()
        self.expect("<")
        return Axis(name, self.scalar())

    def word(self) -> str:
        """A text in quotes."""
        token = self.take()
        if not token.startswith('"'):
            raise ValueError(f"{token!r} is no text in quotes in {self.line!r}")
        return str(json.loads(token))

    def whole(self) -> int:
        """A number that counts something."""
        token = self.take()
        if not token.isdecimal():
            raise ValueError(f"{token!r} is no count in {self.line!r}")
        return int(token)

    def kind(self) -> Kind:
        return Kind(self.name())

    # --- scalars -----------------------------------------------------------------------------------------------------

    def scalar(self, level: int = 0) -> Scalar:
        """An expression of operators that bind at least that tightly."""
        left = self._operand()
        chain = ""  # the operator whose further operands belong to `left`
        while self.peek() in _SIGNS:
            fn, own = _SIGNS[self.peek()]
            if own < level:
                break
            self.take()
            right = self.scalar(UNARY if fn == "pow" else own + 1)
            begun = left.args if fn == chain and isinstance(left, Apply) else (left,)
            left, chain = Apply(fn, (*begun, right)), fn if fn in CHAINS else ""
        return left

    def _operand(self) -> Scalar:
        if self.takes("("):
            inner = self.scalar()
            self.expect(")")
            return inner
        if self.takes("not"):
            return Apply("not", (self.scalar(NOT),))
        if self.takes("-"):
            if self.peek()[:1].isdigit() and self.peek(1) != "**":
                return Lit(-_number(self.take()))
            return Apply("neg", (self.scalar(UNARY),))
        if self.peek()[:1].isdigit():
            return Lit(_number(self.take()))
        return self._named(self.name())

    def _named(self, name: str) -> Scalar:
        if self.takes("("):
            return self._call(name)
        if name in _WORDS:
            return _WORDS[name]
        if name in self.names.tensors or (self.peek() == "[" and name not in self.names.params):
            return Read(name, self.positions() if self.peek() == "[" else ())
        if name in self.names.indices:
            return Index(name)
        if name not in self.names.params:
            return Dim(name)
        item = self.positions() if self.peek() == "[" else ()
        match item:
            case (Lit(int() as place),):
                return Param(name, place)
            case _:
                return Param(name)

    def _call(self, name: str) -> Scalar:
        match name:
            case "size":
                self.expect("...", ")")
                return Dim("...")
            case "place":
                self.expect("...", ")")
                return PLACE
            case "cast":
                inner = self.scalar()
                self.expect(",")
                like = self.name()
                self.expect(")")
                return Cast(inner, like)
        args = self.several(self.scalar, ")")
        match name, args:
            case "pad", (Read(tensor, at), fill):
                return Read(tensor, at, fill)
            case "fraction", (Lit(over), Lit(under)):
                return Lit(Fraction(over) / Fraction(under))
            case _:
                return Apply(name, args)


def _number(token: str) -> int | Fraction:
    return int(token) if token.isdigit() else Fraction(token)
