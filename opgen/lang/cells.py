"""Steps in whole tensors, `h = tanh(x[:, t] @ w + h @ u)`: recurrences with every index, whatever loop they stand in.

A tensor at a step stands for one without the axis of the steps while a formula is read, `x_at` for `x[:, t]`. Text in,
text out; None where it is not certain which indices are meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Access, Expr, Name
from opgen.lang.spread import size_at
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import FIRST, UNCLEAR, Vocabulary
from opgen.lang.walk import transform

Read = Callable[[str], Expr | None]

_ACCESS = re.compile(r"(?<![\w.])([A-Za-z]\w*)\[([^\[\]]*)\]")
_BEFORE = re.compile(r"(?:prev|old|last)_(\w+)|(\w+)_(?:prev|old|last|before|tm1)")
_AFTER = re.compile(r"^(?:new|next)_|_(?:new|next|t)$")


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a step; `place`: where its result has the index of the steps, if that is said."""

    name: str
    value: str
    place: int | None = None


@dataclass(frozen=True, slots=True)
class _At:
    """What a stand-in means: a tensor, the place of the axis of the steps, and the position there."""

    name: str
    place: int
    position: str


@dataclass(slots=True)
class Cell:
    """The statements of a step, in order; what is read before it is assigned goes on from the step before."""

    steps: Sequence[Step]
    index: str
    words: Vocabulary
    read: Read
    count: str = ""  # how many steps there are, where a loop says so
    back: str = "-"  # from which side a step is reached
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the indices of each value, without the step's
    lines: list[tuple[str, str]] = field(default_factory=list)  # each value at a step, and what it is
    carried: dict[str, None] = field(default_factory=dict)  # values that are read at the step before
    where: int = 0  # where they have the index of the steps
    size: str = ""  # of the axis of the steps
    _found: dict[str, _At] = field(default_factory=dict)  # the stand-ins
    _shapes: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of the values at a step

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(s.name for s in self.steps)

    @property
    def before(self) -> str:
        return f"{self.index} {self.back} 1"

    def place(self, name: str) -> int:
        """Where a value has the index of the steps."""
        said = next((s.place for s in self.steps if s.name == name), None)
        return min(self.where if said is None else said, len(self.orders[name]))

    def at(self, name: str, position: str) -> str:
        """A value at a step."""
        order, place = self.orders[name], self.place(name)
        return f"{name}[{', '.join((*order[:place], position, *order[place:]))}]"

    def solve(self) -> bool:
        """Find the indices and the lines of all statements; whether they are certain."""
        words, kept = self.words, (self.words.letters, self.words.shapes)
        words.letters, words.shapes = dict(kept[0]), dict(kept[1])
        for name in self.names:
            words.letters.pop(name, None)
            words.shapes.pop(name, None)
        try:
            texts = [self._at_step(s.value, self.names[:k]) for k, s in enumerate(self.steps)]
            if None in texts or len({*self.names}) < len(texts):
                return False
            found = [t for t in texts if t is not None]
            for _ in range(len(found)):
                for s, text in zip(self.steps, found, strict=True):
                    self._guess(s.name, text)
            if not all(n in self.orders for n in self.names):
                return False
            for s, text in zip(self.steps, found, strict=True):
                value = self._value(text)
                if value is None or {*value[1]} != {*self.orders[s.name]}:
                    return False
                self.lines.append((s.name, value[0]))
            return True
        finally:
            words.letters, words.shapes = kept

    def elsewhere(self, text: str, step: str) -> tuple[str, tuple[str, ...]] | None:
        """A formula outside of the steps, which reads their values at one of them, and its indices."""
        words, kept = self.words, (self.words.letters, self.words.shapes)
        words.letters, words.shapes = dict(kept[0]), dict(kept[1])
        try:
            marked: str | None = text
            for name in self.names:
                self._stand(name, _At(name, self.place(name), step), self.orders[name], self._shapes[name])
                marked = re.sub(rf"(?<![\w.]){name}\b(?![\[(])", self._name_of(name, step), marked or "")
            marked = self._inputs_at(marked or "")
            return None if marked is None else self._value(marked)
        finally:
            words.letters, words.shapes = kept

    def _value(self, text: str) -> tuple[str, tuple[str, ...]] | None:
        """A formula with stand-ins as it is written with every index, and what these are."""
        e = self.read(text)
        if e is None:
            return None
        whole = spelled(self.words, e)
        order = layout(self.words, whole)
        if self.index in order or {FIRST, UNCLEAR} & {*order}:
            return None
        return unparse(transform(whole, self._meant)), order

    def _meant(self, node: Expr) -> Expr | None:
        """A tensor at a step in place of its stand-in."""
        of = self._found.get(node.name) if isinstance(node, Name | Access) else None
        if of is None:
            return None
        items = node.items if isinstance(node, Access) else ()
        place = self.place(of.name) if of.name in self.orders else min(of.place, len(items))
        position = Name(of.position, node.span)  # its text is all that is shown of it
        return Access(of.name, (*items[:place], position, *items[place:]), node.span, node.span)

    def _at_step(self, text: str, now: Sequence[str]) -> str | None:
        """A formula with stand-ins for what it reads at steps; None where it reads at others than the last two."""

        def state(m: re.Match[str]) -> str:
            name, inside = m[1], [i for i in re.sub(r"\s", "", m[2] or "").split(",") if i not in ("", ":", "...")]
            before = inside == [self.before.replace(" ", "")] or (not inside and name not in now)
            if not before and inside not in ([], [self.index]):
                return f"{name}[?]"
            if before:
                self.carried[name] = None
            return self._name_of(name, self.before if before else self.index)

        names = "|".join(self.names)
        text = re.sub(rf"(?<![\w.])({names})\b(?!\s*\()(?:\[([^\[\]]*)\])?", state, text)
        for word in dict.fromkeys(re.findall(r"(?<![\w.])[a-z]\w*\b(?!\s*[\[(])", text)):
            if (of := self._before(word)) is not None:
                self.carried[of] = None
                text = re.sub(rf"(?<![\w.]){word}\b", self._name_of(of, self.before), text)
        return self._inputs_at(text)

    def _before(self, word: str) -> str | None:
        """The value of which an unknown name says that it is that of the step before."""
        m = None if self.words.knows(word) else _BEFORE.fullmatch(word)
        base = "" if m is None else m[1] or m[2]
        return next((n for n in self.names if base and _AFTER.sub("", n) == base), None)

    def _inputs_at(self, text: str) -> str | None:
        """A formula with stand-ins for what it reads of inputs at steps."""
        for m in _ACCESS.finditer(text):
            items, own = [i.strip() for i in m[2].split(",")], self.words.letters.get(m[1], ())
            sizes = self.words.shapes.get(m[1], ())
            at = [k for k, i in enumerate(items) if i not in (":", "...")]
            position = (
                re.fullmatch(rf"({self.index})\s*(?:([-+])\s*(\d+))?|\d+", items[at[0]]) if len(at) == 1 else None
            )
            if position is None or len(sizes) != len(own) or not own or len(items) > len(own):
                return None
            place = at[0] if "..." not in items[: at[0]] else at[0] + len(own) - len(items)
            if len(items) == 1 and self.index in own:
                place = own.index(self.index)
            elif len(items) == 1 and self.count in sizes:
                place = sizes.index(self.count)
            if "..." in own[: place + 1] and "..." not in items:
                return None
            shown = f"{position[1]} {position[2]} {position[3]}" if position[2] else items[at[0]]
            if position[1]:
                self.where, self.size = (self.where, self.size) if self.size else (place, sizes[place])
            of = _At(m[1], place, shown)
            self._stand(m[1], of, (*own[:place], *own[place + 1 :]), (*sizes[:place], *sizes[place + 1 :]))
            text = text.replace(m[0], self._name_of(m[1], shown))
        return text

    def _name_of(self, name: str, position: str) -> str:
        """The stand-in for a tensor at a position."""
        wish = f"{name}_{re.sub(r'[^0-9a-z]+', '_', position.replace('+', 'after').replace('-', 'before'))}_"
        while self.words.knows(wish) and wish not in self._found:
            wish += "_"
        return wish

    def _stand(self, name: str, of: _At, order: Sequence[str], sizes: Sequence[str]) -> None:
        stand_in = self._name_of(name, of.position)
        self._found[stand_in] = of
        self.words.letters[stand_in], self.words.shapes[stand_in] = tuple(order), tuple(sizes)

    def _guess(self, name: str, text: str) -> None:
        """The indices of a value, as far as those of others are known."""
        open_names = [
            self._name_of(n, p) for n in self.names if n not in self.orders for p in (self.before, self.index)
        ]
        waits = False
        for other in open_names:
            own = other.startswith(f"{name}_") and other == self._name_of(name, self.before)
            waits |= not own and re.search(rf"\b{other}\b", text) is not None
            text = re.sub(rf"\b{other}\s*@\s*[\w.]+|[\w.]+\s*@\s*{other}\b|\b{other}\b", "0", text)
        e = self.read(text)
        if e is None:
            return
        whole = spelled(self.words, e)
        order = layout(self.words, whole)
        sizes = [size_at(self.words, whole, i) for i in order]
        if (
            {self.index, FIRST, UNCLEAR} & {*order}
            or (waits and not order)
            or len(order) < len(self.orders.get(name, ()))
        ):
            return
        if any(size is None and i != "..." for i, size in zip(order, sizes, strict=True)):
            return
        self.orders[name] = order
        self._shapes[name] = tuple("..." if s is None else unparse(s) for s in sizes)
        for position in (self.before, self.index):
            self._stand(name, _At(name, 0, position), order, self._shapes[name])
