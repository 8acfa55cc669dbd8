"""Text taken from a spec that still knows where it stands: formulas and names.

A formula may sit in a block scalar, in quotes with escapes, or bare; the parser sees plain text, and every character
of it carries its offset in the file, so that a caret always lands under what the user wrote.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from opgen.diagnostics.model import Source, Span


@dataclass(frozen=True, slots=True)
class Formula:
    """Formula text; `offsets` has one entry per character and one for the end."""

    text: str
    source: Source = field(repr=False, compare=False)
    offsets: tuple[int, ...] = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.text) + 1:
            raise ValueError("a formula needs one offset per character and one for the end")

    @classmethod
    def plain(cls, text: str, path: str = "<formula>") -> Formula:
        """A formula that is its own source (tables, tests)."""
        return cls(text, Source(path, text), tuple(range(len(text) + 1)))

    def span(self, start: int, end: int) -> Span:
        """The place in the file of the characters `start` to `end` of this formula."""
        if end <= start:
            return Span(self.source, self.offsets[start], self.offsets[start])
        last, following = self.offsets[end - 1], self.offsets[end]
        if "\n" in self.source.text[last:following]:  # the next character is on another line, after its indentation
            following = last + 1
        return Span(self.source, self.offsets[start], max(following, last + 1))

    @property
    def whole(self) -> Span:
        """The place of all of it, without the blanks at either end."""
        stripped = self.text.strip()
        start = self.text.find(stripped) if stripped else 0
        return self.span(start, start + len(stripped))

    def __str__(self) -> str:
        return self.text


class Word(str):
    """A name from a spec: a `str` that carries the span it was read from."""

    __slots__ = ("span",)
    span: Span

    def __new__(cls, text: str, span: Span) -> Word:
        word = super().__new__(cls, text)
        word.span = span
        return word

    def __getnewargs__(self) -> tuple[str, Span]:  # type: ignore[override]
        return str(self), self.span
