"""Diagnostics for the terminal, in the manner of rustc: the source lines with carets under what is wrong.

    error[OPG204]: the index `k` is not bound
      --> specs/op.yaml:9:26
       |
     9 |   y[n] = x[n, k]*w[n]
       |               ^ appears here only
       |
       = help: write `sum[k](…)`
       = help: opgen explain OPG204

Text in, text out: colour is the caller's choice, and control characters from a spec never reach the terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from opgen.diagnostics.model import Diagnostic, Label, Severity, Source, Span
from opgen.diagnostics.repeats import gathered
from opgen.diagnostics.suggest import counted

_MAX_WIDTH = 140  # longer source lines are shown in part
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.NOTE: "1;32"}
_GUTTER, _BOLD, _HELP = "1;34", "1", "1;36"


@dataclass(frozen=True, slots=True)
class _Mark:
    """A stretch of one line to be underlined; `start` and `end` count characters of the line."""

    line: int
    start: int
    end: int
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Paint:
    on: bool
    main: str

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self.on and text.strip() else text


def render_all(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Every mistake, a blank line between two; ends with a line end unless empty."""
    return "\n".join(render(diagnostic, color=color) for diagnostic in gathered(diagnostics))


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning`; empty where there is neither."""
    found = gathered(diagnostics)
    parts = []
    for severity in (Severity.ERROR, Severity.WARNING):
        count = sum(d.severity is severity for d in found)
        if count:
            parts.append(counted(count, severity.value))
    return ", ".join(parts)


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """One diagnostic as lines of text, each ended."""
    paint = Paint(color, _COLOURS[diagnostic.severity])
    head = paint(f"{diagnostic.severity.value}[{diagnostic.code}]", paint.main)
    lines = [head + paint(f": {_clean(diagnostic.message)}", _BOLD)]
    width = 1
    if diagnostic.span is not None:
        sources = _by_source(diagnostic.span, diagnostic)
        width = max(len(str(mark.line)) for _, marks in sources for mark in marks)
        for number, (source, marks) in enumerate(sources):
            lines += _snippet(source, marks, _place(diagnostic, source), width, paint, first=number == 0)
    bar = paint("|", _GUTTER)
    remarks = [("note", note) for note in diagnostic.notes] + [("help", hint) for hint in diagnostic.hints]
    remarks.append(("help", f"opgen explain {diagnostic.code}"))
    if diagnostic.span is not None:
        lines.append(f"{' ' * width} {bar}")
    for kind, text in remarks:
        first, *rest = _clean(text).split("\n")
        lead = f"{' ' * width} {paint('=', _GUTTER)} {paint(kind, _HELP if kind == 'help' else _BOLD)}: "
        lines.append(lead + first)
        lines += [" " * (width + 5 + len(kind)) + line for line in rest]
    return "\n".join(lines) + "\n"


def _place(diagnostic: Diagnostic, source: Source) -> str:
    spans = [diagnostic.span, *(label.span for label in diagnostic.related)]
    span = next(span for span in spans if span is not None and span.source is source)
    line, column = source.line_col(span.clamped().start)
    return f"{source.path}:{line}:{column}"


def _by_source(primary: Span, diagnostic: Diagnostic) -> list[tuple[Source, list[_Mark]]]:
    """Marks by source, that of the diagnostic itself first."""
    found: list[tuple[Source, list[_Mark]]] = []
    for label in (Label(primary, diagnostic.label), *diagnostic.related):
        marks = next((marks for source, marks in found if source is label.span.source), None)
        if marks is None:
            marks = []
            found.append((label.span.source, marks))
        sign = "^" if label.span is primary else "-"
        marks += _marks(label.span, sign, _clean(label.text).replace("\n", " "))
    return found


def _marks(span: Span, sign: str, text: str) -> list[_Mark]:
    """One mark per line for the first and the last line of a span; the last one has the text."""
    source = span.source.text
    inner = span.clamped()
    start, end = inner.start, inner.end
    while end > start and source[end - 1].isspace():
        end -= 1
    first, column = span.source.line_col(start)
    lines = source[start:end].split("\n")
    if len(lines) == 1:
        return [_Mark(first, column - 1, max(column - 1 + end - start, column), sign, text)]
    indent = len(lines[-1]) - len(lines[-1].lstrip())
    opening = _Mark(first, column - 1, max(column - 1 + len(lines[0].rstrip()), column), sign, "")
    return [opening, _Mark(first + len(lines) - 1, indent, len(lines[-1]), sign, text)]


@lru_cache(maxsize=4)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n"))


def _snippet(source: Source, marks: list[_Mark], place: str, width: int, paint: Paint, *, first: bool) -> list[str]:
    blank, bar = " " * width, paint("|", _GUTTER)
    found = [f"{blank}{paint('-->' if first else ':::', _GUTTER)} {place}", f"{blank} {bar}"]
    lines = _lines(source.text)
    previous: int | None = None
    for number in sorted({mark.line for mark in marks}):
        if previous is not None and number == previous + 2:
            found.append(_numbered(previous + 1, _shown(lines[previous], 0, _MAX_WIDTH), width, paint))
        elif previous is not None and number > previous + 1:
            found.append(paint("...", _GUTTER))
        here = [mark for mark in marks if mark.line == number]
        begin = _window(lines[number - 1], here)
        found.append(_numbered(number, _shown(lines[number - 1], begin, _MAX_WIDTH), width, paint))
        found += [f"{blank} {bar} {row}".rstrip() for row in _underlines(lines[number - 1], here, begin, paint)]
        previous = number
    return found


def _numbered(number: int, text: str, width: int, paint: Paint) -> str:
    return f"{paint(f'{number:>{width}} |', _GUTTER)} {text}".rstrip()


def _window(line: str, marks: list[_Mark]) -> int:
    """Where a line that is too long is shown from."""
    if len(line) <= _MAX_WIDTH:
        return 0
    start = min(mark.start for mark in marks)
    return 0 if max(mark.end for mark in marks) <= _MAX_WIDTH - 20 else max(start - 40, 0)


def _shown(line: str, begin: int, length: int) -> str:
    text = "".join(_glyph(char) for char in line.rstrip("\r")[begin : begin + length])
    cut = len(line) > begin + length
    return ("…" if begin else "") + text + ("…" if cut else "")


def _glyph(char: str) -> str:
    return "    " if char == "\t" else _CONTROL.sub("\ufffd", char)


def _column(line: str, begin: int, at: int) -> int:
    """Display column of a character, with tabs, wide characters and combining marks taken into account."""
    shown = line[begin : max(begin, min(at, begin + _MAX_WIDTH))]
    columns = sum(4 if c == "\t" else _columns(c) for c in shown)
    return columns + max(at - max(len(line), begin), 0) * (begin + len(shown) >= len(line)) + (1 if begin else 0)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _underlines(line: str, marks: list[_Mark], begin: int, paint: Paint) -> list[str]:
    """The row of carets with the last label beside it, then the other labels hanging below their marks."""
    placed = [(m, _column(line, begin, m.start), _column(line, begin, m.end)) for m in marks]
    canvas: dict[int, str] = {}
    for sign in ("-", "^"):
        for mark, start, end in placed:
            if mark.sign == sign:
                canvas.update(dict.fromkeys(range(start, max(end, start + 1)), sign))
    labelled = sorted((p for p in placed if p[0].text), key=lambda p: (p[1], p[0].sign == "^"))
    right_end = max(canvas)
    beside = ""
    if labelled and labelled[-1][2] > right_end:
        mark = labelled.pop()[0]
        beside = " " + paint(mark.text, _style(mark.sign, paint))
    rows = [_painted(canvas, paint) + beside]
    if labelled:
        rows.append(_bars(labelled, paint))
    while labelled:
        mark, start, _ = labelled.pop()
        stems = [p for p in labelled if p[1] < start]
        lead = _bars(stems, paint)
        plain = max((p[1] for p in stems), default=-1) + 1
        rows.append(lead + " " * (start - plain) + paint(mark.text, _style(mark.sign, paint)))
    return rows


def _style(sign: str, paint: Paint) -> str:
    return paint.main if sign == "^" else _GUTTER


def _painted(canvas: dict[int, str], paint: Paint) -> str:
    row = (canvas.get(column, " ") for column in range(max(canvas) + 1))
    return "".join(paint("".join(run), _style(sign, paint)) for sign, run in groupby(row))


def _bars(placed: list[tuple[_Mark, int, int]], paint: Paint) -> str:
    columns = {start: mark.sign for mark, start, _ in placed}
    if not columns:
        return ""
    return "".join(paint("|", _style(columns[c], paint)) if c in columns else " " for c in range(max(columns) + 1))


def _clean(text: str) -> str:
    return _CONTROL.sub("\ufffd", text.replace("\t", "    "))
