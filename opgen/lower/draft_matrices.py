"""The shapes of matrices in a formula that multiplies them as wholes, `y = softmax(q @ k.T) @ v`.

Lines of text in; out come the dims of each operand, by which the stages behind this one say how the formula is written
with indices. Nothing where a line has another notation than that of matrices, or none of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from opgen.ir.reductions import REDUCTIONS

_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\*\*|[-+*/@().,=])")
_LINE = re.compile(r"\s*([a-z]\w*)\s*=(?!=)(.*)")
_PRODUCTS, _TURNED, _MODULES = (
    ("matmul", "mm", "bmm", "dot"),
    ("T", "mT", "t", "transpose"),
    ("torch", "np", "jnp", "F"),
)
_LETTERS = "IJDEMNPRSUVWABCGHKLOQTXYZ"

_Matrix = tuple[int, int]  # its dims, by number


@dataclass(frozen=True, slots=True)
class _Bare:
    """A name of which it is not known what it is."""

    name: str


_Value = _Matrix | _Bare | None  # None: a number


class _OtherNotationError(Exception):
    """Something that says nothing of matrices."""


def matrices(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The dims of each operand of products of matrices and of what stands beside them."""
    found = [_LINE.fullmatch(line) for line in lines]
    text = "\n".join(lines)
    if not re.search(r"@|\.m?T\b|\b(?:matmul|mm|bmm)\s*\(", text) or "[" in text:
        return {}
    reader = _Reader()
    try:
        for m in found:
            if m is None:
                return {}
            reader.known[m[1]] = reader.whole(m[2])
            reader.made.append(m[1])
    except _OtherNotationError:
        return {}
    return reader.shapes(re.findall(r"[a-z]\w*", text))


@dataclass(slots=True)
class _Reader:
    known: dict[str, _Value] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)  # names that are assigned
    rows: dict[str, int] = field(default_factory=dict)  # what is added to each row
    same: list[int] = field(default_factory=list)  # of each dim one that is equal to it
    tokens: list[str] = field(default_factory=list)

    def shapes(self, taken: Sequence[str]) -> dict[str, tuple[str, ...]]:
        names: dict[int, str] = {}
        letters = iter(c for c in _LETTERS if c.lower() not in taken)

        def dim(k: int) -> str:
            k = self.root(k)
            if k not in names:
                names[k] = next(letters)
            return names[k]

        try:
            return {
                n: (dim(self.rows[n]),)
                if n in self.rows
                else ()
                if not isinstance(v, tuple)
                else (dim(v[0]), dim(v[1]))
                for n, v in self.known.items()
                if n not in self.made
            }
        except StopIteration:
            return {}

    def root(self, k: int) -> int:
        while self.same[k] != k:
            k = self.same[k]
        return k

    def dim(self) -> int:
        self.same.append(len(self.same))
        return len(self.same) - 1

    def equal(self, a: int, b: int) -> None:
        self.same[self.root(b)] = self.root(a)

    def whole(self, text: str) -> _Value:
        self.tokens = _TOKEN.findall(text)
        if "".join(self.tokens) != re.sub(r"\s", "", text):
            raise _OtherNotationError
        value = self.sum()
        if self.tokens:
            raise _OtherNotationError
        return value

    def next(self, *wanted: str) -> str:
        """The token at hand, if it is one of these; empty otherwise."""
        return self.tokens.pop(0) if self.tokens and (not wanted or self.tokens[0] in wanted) else ""

    def need(self, wanted: str) -> None:
        if not self.next(wanted):
            raise _OtherNotationError

    def matrix(self, value: _Value) -> _Matrix:
        if isinstance(value, _Bare):
            if value.name in self.rows:
                raise _OtherNotationError
            known = self.known.get(value.name)
            made = known if isinstance(known, tuple) else (self.dim(), self.dim())
            self.known[value.name] = made
            return made
        if value is None:
            raise _OtherNotationError
        return value

    def resolved(self, value: _Value) -> _Value:
        known = self.known.get(value.name) if isinstance(value, _Bare) else None
        return known if isinstance(known, tuple) else value

    def sum(self) -> _Value:
        value = self.product()
        while sign := self.next("+", "-"):
            other = self.resolved(self.product())
            if sign == "-" and isinstance(value, tuple) and isinstance(other, _Bare) and other.name not in self.rows:
                other = self.matrix(other)  # what it is compared with
            value = self.beside(value, other, rows=True)
        return value

    def beside(self, a: _Value, b: _Value, *, rows: bool) -> _Value:
        """Two values, element by element; a name beside a matrix is a row of it, or a number."""
        a, b = self.resolved(a), self.resolved(b)
        if isinstance(a, tuple) and isinstance(b, tuple):
            self.equal(a[0], b[0])
            self.equal(a[1], b[1])
        for value, other in ((a, b), (b, a)):
            if isinstance(value, tuple) and isinstance(other, _Bare) and rows:
                self.rows.setdefault(other.name, value[1])
        if isinstance(a, tuple) or (b is None and isinstance(a, _Bare)):
            return a
        return b if isinstance(b, tuple) or (a is None and isinstance(b, _Bare)) else None

    def product(self) -> _Value:
        value = self.power()
        while sign := self.next("@", "*", "/"):
            other = self.power()
            value = self.contracted(value, other) if sign == "@" else self.beside(value, other, rows=False)
        return value

    def contracted(self, a: _Value, b: _Value) -> _Matrix:
        first, second = self.matrix(a), self.matrix(b)
        self.equal(first[1], second[0])
        return first[0], second[1]

    def power(self) -> _Value:
        if self.next("-", "+"):
            return self.power()
        value = self.atom()
        if self.next("**"):
            self.power()
            value = self.resolved(value)
        return value

    def atom(self) -> _Value:
        token = self.next()
        if token == "(":
            value = self.sum()
            self.need(")")
        elif token[:1].isdigit():
            return None
        elif token.isidentifier():
            while token in _MODULES and self.next("."):
                token = self.next()
            if self.next("("):
                value = self.call(token)
            else:
                self.known.setdefault(token, None)
                value = self.resolved(_Bare(token))
        else:
            raise _OtherNotationError
        while self.next("."):
            if self.next() not in _TURNED:
                raise _OtherNotationError
            if self.next("("):
                self.arguments()
            rows, columns = self.matrix(value)
            value = columns, rows
        return value

    def call(self, name: str) -> _Value:
        values = self.arguments()
        if name in _PRODUCTS and len(values) == 2:
            return self.contracted(*values)
        row = REDUCTIONS.get(name)
        if row is not None and not row.keeps_index:
            return None
        return next((v for v in map(self.resolved, values) if isinstance(v, tuple)), None)

    def arguments(self) -> list[_Value]:
        """What stands between brackets, as far as it has no name of an argument."""
        values: list[_Value] = []
        while not self.next(")"):
            if len(self.tokens) > 1 and self.tokens[1] == "=":
                del self.tokens[:2]
                self.sum()
            else:
                values.append(self.sum())
            if self.tokens[:1] != [")"]:
                self.need(",")
        return values
