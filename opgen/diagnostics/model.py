"""Sources, spans and diagnostics: what a user mistake is, as data.

Nothing here prints; renderers live beside this module. A stage that meets a user mistake adds a `Diagnostic` to a
`Bag` and goes on as far as it sensibly can, so that one run reports every mistake.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Source:
    """A spec file as it was read: the path as the user gave it, and the text."""

    path: str
    text: str

    def line_col(self, offset: int) -> tuple[int, int]:
        """1-based line and column (in characters) of an offset into the text."""
        before = self.text[:offset]
        line = before.count("\n") + 1
        return line, offset - (before.rfind("\n") + 1) + 1


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters of one source."""

    source: Source = field(repr=False)
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of another."""
        return Span(self.source, self.start, max(self.end, other.end))

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def clamped(self) -> Span:
        """The same place within the text; one behind the last line end is moved before it."""
        text = self.source.text
        start = min(max(self.start, 0), len(text))
        if start == len(text) and text:
            start = len(text.rstrip("\r\n"))
        return Span(self.source, start, min(max(self.end, start), len(text)))


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """Another place that matters, with what to say about it."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """What takes the place of a stretch of a source."""

    span: Span
    text: str


class Hint(str):
    """A hint that names an exact replacement: `new` for `old`, which stands once in what is pointed at.

    `at` is where the replacement goes if that is not where the diagnostic points.
    """

    old: str
    new: str
    at: Span | None

    def __new__(cls, words: str, old: str = "", new: str = "", at: Span | None = None) -> Hint:
        hint = super().__new__(cls, words)
        hint.old, hint.new, hint.at = old, new, at
        return hint


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: `message` says what is wrong, `label` stands by the carets, notes are facts, hints are actions."""

    code: str
    message: str
    span: Span | None
    label: str = ""
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR

    @property
    def edit(self) -> Edit | None:
        """The exact replacement that mends it; None where no hint names one, or several do."""
        exact = [hint for hint in self.hints if isinstance(hint, Hint)]
        place = exact[0].at or self.span if len(exact) == 1 else None
        if place is None or place.text.count(exact[0].old) != 1:
            return None
        start = place.start + place.text.index(exact[0].old)
        return Edit(Span(place.source, start, start + len(exact[0].old)), exact[0].new)


class Bag:
    """Collects the diagnostics of one spec, in order of discovery; one of a code at a place is enough."""

    def __init__(self) -> None:
        self._items: dict[object, Diagnostic] = {}
        self.doubted: frozenset[str] = frozenset()  # names of which a mistake leaves open what they are

    def add(self, diagnostic: Diagnostic) -> None:
        placed = (diagnostic.code, diagnostic.span) if diagnostic.span is not None else diagnostic
        self._items.setdefault(placed, diagnostic)

    def doubt(self, names: frozenset[str]) -> None:
        """Leave open what names are: nothing is to be said that depends on it."""
        self.doubted |= names

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        related: Iterable[Label] = (),
        notes: Iterable[str] = (),
        hints: Iterable[str] = (),
    ) -> None:
        self.add(Diagnostic(code, message, span, label, tuple(related), tuple(notes), tuple(hints)))

    def keep(self, items: Sequence[Diagnostic]) -> None:
        """Take back what is not among these."""
        self._items = {key: d for key, d in self._items.items() if d in items}

    def amend(self, code: str, span: Span, *hints: str) -> None:
        """Say something else of what has been reported at a place, if anything has."""
        if (told := self._items.get((code, span))) is not None:
            self._items[code, span] = replace(told, hints=hints)

    def join(self, code: str, span: Span, place: Span, hints: Iterable[str]) -> None:
        """Say of what has been reported that a further place belongs to it, with hints for both in place of a line."""
        told = self._items[code, span]
        kept = tuple(h for h in told.hints if not h.startswith(("write `", "each value has a name")))
        more = tuple(h for h in hints if h not in kept)
        related = (*told.related, Label(place, "this too"))
        self._items[code, span] = replace(told, hints=(*kept, *more), related=related)

    @property
    def items(self) -> tuple[Diagnostic, ...]:
        return tuple(self._items.values())

    @property
    def has_errors(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self._items.values())


class UserError(Exception):
    """Raised only where a stage cannot go on at all; carries the diagnostics that say why."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics
