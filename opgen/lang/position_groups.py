"""Groups of einops in the place of a position, `x[n, (h e)]` and `y[n, (h w)]`: the digits of one position.

On the right a group is the sum that it stands for; on the left one index takes its place, and its parts are a quotient
and remainders of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from opgen.diagnostics.model import Span
from opgen.lang.lexer import T, Token
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Number, Product, Sum
from opgen.lang.notes import Notes
from opgen.lang.spread import at, size_at
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes, rebuild

GROUP = ""  # the name of a call that stands for one
_LETTERS = "pkquvabcdefgmoz"  # of what counts all places
_DIGITS = "a group of einops is the digits of one position: `({0})` is `{1}`"
_EXTENTS = "how far these run is written where they are bound, such as `{0} < {1}`"
_WORDS = ("and", "or", "not", "if", "in", "for")


def group_at(words: Vocabulary, tokens: Sequence[Token], start: int) -> list[Token]:
    """The indices of a group that begins at a token and is all of a position; nothing where there is none."""
    if not tokens[start].is_op("("):
        return []
    end = next(k for k in range(start, len(tokens)) if tokens[k].is_op(")") or tokens[k].kind in {T.NEWLINE, T.END})
    parts = [t for t in tokens[start + 1 : end] if not t.is_op(",")]
    commas = end - start - 1 - len(parts)
    if not tokens[end].is_op(")") or not tokens[end + 1].is_op(",", "]") or len(parts) < 2:
        return []
    if commas and (commas != len(parts) - 1 or (tokens[start - 1].is_op("[") and tokens[end + 1].is_op("]"))):
        return []  # with commas, and alone in the brackets, it is a tuple of Python
    names = all(t.kind is T.NAME and not t.is_word(*_WORDS) for t in parts)
    own = names and not any(t.text[:1].isupper() or t.text in words.shapes for t in parts)
    return parts if own and len({t.text for t in parts}) == len(parts) else []


def as_group(parts: Sequence[Token]) -> Call:
    span = parts[0].span.to(parts[-1].span)
    return Call(GROUP, tuple(Name(t.text, t.span) for t in parts), span, span)


def without_groups(notes: Notes, s: Assign) -> Assign:
    """A statement without groups in its positions, which are noted."""
    groups = [*_groups(s)]
    return _Parted(notes, s, groups).made() if groups else s


def _groups(s: Assign) -> Iterator[Call]:
    for e in (*(i for i in s.target.items or () if isinstance(i, Call)), *nodes(s.value)):
        if isinstance(e, Call) and e.name == GROUP:
            yield e


class _Parted:
    def __init__(self, notes: Notes, s: Assign, groups: Sequence[Call]) -> None:
        self.notes, self.words, self.s, self.groups = notes, notes.words, s, groups
        self.sizes: dict[str, Expr] = {}
        for name in dict.fromkeys(_name(a) for g in groups for a in g.args):
            if (size := self._size(name)) is not None:
                self.sizes[name] = size
        self._leave()

    def made(self) -> Assign:
        for g in self.groups:
            parts = [_name(a) for a in g.args]
            told = _DIGITS.format(" ".join(parts), _shown(parts))
            self.notes.note(g.span, f"`({' '.join(parts)})` is no position", told)
            needed = parts if g in (self.s.target.items or ()) else parts[1:]
            if unknown := [p for p in needed if p not in self.sizes or self.words.knows(p)]:
                self.notes.note_unclear(_EXTENTS.format(unknown[0], unknown[0].upper()))
        value = self._joined(self.s.value)
        items: list[Binder | Dots | Expr] = []
        declared = bool(self.words.results.get(self.s.target.name))
        for item in self.s.target.items or ():
            if not isinstance(item, Call) or item.name != GROUP:
                items.append(item)
                continue
            parts = [_name(a) for a in item.args]
            index = self._letter()
            value = self._apart(value, Name(index, item.span), parts)
            whole = _times([self._extent(p) for p in parts])
            items.append(Binder(index, None if declared else whole, item.span))
        self.notes.moved |= self.sizes
        plain = tuple(i for i in items if isinstance(i, Binder | Dots))
        self.notes.left = self.words.left = tuple("..." if isinstance(i, Dots) else i.name for i in plain)
        target = self.s.target if self.s.target.items is None else replace(self.s.target, items=tuple(items))
        return replace(self.s, target=target, value=value)

    def _size(self, index: str) -> Expr | None:
        """How far an index runs: as is written, by where it stands alone, as the low digit of a sum, by its letter."""
        items = self.s.target.items or ()
        for item in items:
            if isinstance(item, Binder) and item.name == index and item.extent is not None:
                return item.extent
        shape = self.words.results.get(self.s.target.name, ())
        for item, size in zip(items, shape if len(shape) == len(items) else (), strict=False):
            if isinstance(item, Binder) and item.name == index and size != "...":
                return _sized(size, item.span)
        read = [i for a in nodes(self.s.value) if isinstance(a, Access) for i in a.items]
        found = size_at(self.words, self.s.value, index) or next((b for i in read if (b := _base(i, index))), None)
        at = self.s.span
        known = index.upper() in (*self.words.names, *(d for shape in self.words.shapes.values() for d in shape))
        return found or (Name(index.upper(), at) if known else None)

    def _leave(self) -> None:
        """The size of one part of a group on the right is what the others leave of the dim."""
        for a in (n for n in nodes(self.s.value) if isinstance(n, Access)):
            shape = self.words.shapes.get(a.name, ())
            for item, size in zip(a.items, shape if len(shape) == len(a.items) else (), strict=False):
                parts = [_name(p) for p in item.args] if isinstance(item, Call) and item.name == GROUP else []
                rest = [p for p in parts if p not in self.sizes]
                if len(rest) == 1 and size != "...":
                    others = _times([self.sizes[p] for p in parts if p in self.sizes])
                    self.sizes[rest[0]] = Product((("*", _sized(size, a.span)), ("//", others)), a.span)

    def _joined(self, e: Expr) -> Expr:
        if not isinstance(e, Call) or e.name != GROUP:
            return rebuild(e, self._joined)
        found, *rest = e.args
        for part in rest:
            found = Sum((("+", _times([found, self._extent(_name(part))])), ("+", part)), e.span)
        return found

    def _apart(self, value: Expr, index: Name, parts: Sequence[str]) -> Expr:
        """A value with the parts of a position as what they are of it."""
        for k, part in enumerate(parts):
            after = [self._extent(p) for p in parts[k + 1 :]]
            digit: Expr = Product((("*", index), ("//", _times(after))), index.span) if after else index
            value = at(value, part, Product((("*", digit), ("%", self._extent(part))), index.span) if k else digit)
        return value

    def _extent(self, part: str) -> Expr:
        return self.sizes.get(part, Name(part.upper(), self.s.span))

    def _letter(self) -> str:
        said = {n.name for n in nodes(self.s.value) if isinstance(n, Name)}
        said |= {i.name for i in self.s.target.items or () if isinstance(i, Binder)}
        taken = (*said, *(a.name for g in self.groups for a in g.args if isinstance(a, Name)), *self.words.letters)
        return next(c for c in _LETTERS if c not in taken and not self.words.knows(c))


def _name(e: Expr) -> str:
    assert isinstance(e, Name)
    return e.name


def _sized(text: str, span: Span) -> Expr:
    return Number(int(text), span) if text.isdigit() else Name(text, span)


def _base(item: Expr | Dots, index: str) -> Expr | None:
    """What another index is multiplied with in a position whose low digit is this one: 2 in `2*p + r`."""
    terms = [t for op, t in item.terms if op == "+"] if isinstance(item, Sum) and len(item.terms) == 2 else []
    scaled = [t for t in terms if isinstance(t, Product) and [op for op, _ in t.factors] == ["*", "*"]]
    if len(terms) != 2 or len(scaled) != 1 or not any(isinstance(t, Name) and t.name == index for t in terms):
        return None
    (_, first), (_, second) = scaled[0].factors
    return first if isinstance(first, Number) else second if isinstance(second, Number) else None


def _times(factors: Sequence[Expr]) -> Expr:
    """A product of sizes, whose numbers are one."""

    def two(a: Expr, b: Expr) -> Expr:
        if isinstance(a, Number) and isinstance(b, Number):
            return Number(a.value * b.value, a.span)
        plain = isinstance(a, Product) and all(op == "*" for op, _ in a.factors)
        *first, last = a.factors if plain and isinstance(a, Product) else (("*", a),)
        both = (last[1], b)
        return Product(
            (*first, *((("*", two(*both)),) if all(isinstance(e, Number) for e in both) else (last, ("*", b)))), a.span
        )

    return reduce(two, factors)


def _shown(parts: Sequence[str]) -> str:
    return reduce(lambda found, p: f"{f'({found})' if '+' in found else found}*{p.upper()} + {p}", parts)
