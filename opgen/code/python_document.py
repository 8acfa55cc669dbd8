"""Lines that may be broken in places: a document, and how it is printed within a width.

In goes a document of texts, places for line breaks and groups; out comes text. A group stays on one line where it fits
there, as far as the next place for a break after it; otherwise its own places become line breaks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never


@dataclass(frozen=True, slots=True)
class Line:
    """A place for a line break; `flat` stands there if there is none."""

    flat: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A text that stands only where the group around is broken, or the one called `group`."""

    text: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Indent:
    """Lines within are indented; if `group` is named, only where that one is broken."""

    content: Document
    group: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Stays on one line as a whole, or is broken in all its places. `unless`: a group only where that one is broken."""

    content: Document
    name: str = ""
    unless: str = ""


@dataclass(frozen=True, slots=True)
class Optional:
    """Places for breaks that count only where the named group is broken."""

    content: Document
    group: str


@dataclass(frozen=True, slots=True)
class Inner:
    """Brackets in optional parentheses, the group `around`: these are not needed if breaking the brackets is enough."""

    content: Document
    around: str


Document = str | Line | Broken | Indent | Group | Optional | Inner | tuple["Document", ...]
_STEP = 4


@dataclass(frozen=True, slots=True)
class _Mode:
    """How a part is printed. `free`: measured as if broken, whatever fits."""

    indent: int
    broken: bool
    free: bool = False


_Item = tuple["Document", _Mode]


@dataclass(slots=True)
class _Page:
    width: int
    out: list[str] = field(default_factory=list)
    column: int = 0
    modes: dict[str, bool] = field(default_factory=dict)  # group -> whether it is broken

    def write(self, text: str) -> None:
        self.out.append(text)
        self.column += len(text)

    def print(self, document: Document, indent: int) -> None:
        stack: list[_Item] = [(document, _Mode(indent, broken=True))]
        while stack:
            part, mode = stack.pop()
            match part:
                case str():
                    self.write(part)
                case Line(flat):
                    if mode.broken:
                        self.out.append("\n" + " " * mode.indent)
                        self.column = mode.indent
                    else:
                        self.write(flat)
                case Group(content, name):
                    if self._is_group(part):
                        broken = not self._fits((content, _Mode(mode.indent, broken=False)), stack, name)
                        mode = _Mode(mode.indent, broken=broken)
                        if name:
                            self.modes[name] = broken
                    stack.append((content, mode))
                case _:
                    stack.extend(reversed(self._parts(part, mode)))

    def _is_group(self, group: Group) -> bool:
        return not group.unless or self.modes.get(group.unless, False)

    def _parts(self, part: Document, mode: _Mode) -> list[_Item]:
        """What a part consists of as things stand, with the mode of each."""
        match part:
            case tuple():
                return [(p, mode) for p in part]
            case Broken(text, group):
                return [(text, mode)] if (self.modes.get(group, False) if group else mode.broken) else []
            case Indent(content, group):
                more = _STEP if not group or self.modes.get(group, False) else 0
                return [(content, _Mode(mode.indent + more, mode.broken, mode.free))]
            case Optional(content, group):
                return [(content, mode if self.modes.get(group, False) else _Mode(mode.indent, False, mode.free))]
            case Inner(content):
                return [(content, mode)]
            case Group(content):
                return [(content, mode)]
            case str() | Line():
                return [(part, mode)]
            case _:
                assert_never(part)

    def _fits(self, first: _Item, rest: list[_Item], name: str) -> bool:
        """Does a group fit on the line, with what follows as far as the next break?"""
        before = self.modes.get(name)
        if name:
            self.modes[name] = False
        fits = self._measure([*rest, first], len(rest))
        if name and before is not None:
            self.modes[name] = before
        return fits

    def _measure(self, stack: list[_Item], outside: int) -> bool:
        column, own = self.column, list(stack)
        while own:
            part, mode = own.pop()
            inside, outside = len(own) >= outside, min(outside, len(own))
            match part:
                case str():
                    column += len(part)
                    if column > self.width and not mode.free:
                        return False
                case Line(flat):
                    if not mode.broken:
                        column += len(flat)
                    elif mode.free:
                        column = mode.indent
                    else:
                        return True
                case Inner(content, around) if not mode.broken and not self.modes.get(around, False):
                    own.append((content, _Mode(mode.indent, broken=True, free=inside)))
                case _:
                    own.extend(reversed(self._parts(part, mode)))
        return column <= self.width


def printed(document: Document, indent: int, width: int) -> str:
    """The document as text; the first line stands at `indent` already, which is not part of it."""
    page = _Page(width, column=indent)
    page.print(document, indent)
    return "".join(page.out)
