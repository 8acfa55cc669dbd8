"""YAML text to typed nodes with exact places.

Reads PyYAML's event stream (libyaml where it is built in) instead of loading: events have start and end marks, are
not recursive, and leave the typing of scalars to us. Typing follows YAML 1.2, so that `no`, `1e-5` and `010` are what
they look like. Mistakes become diagnostics; what can still be read is returned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import yaml

from opgen.diagnostics.model import Bag, Hint, Label, Source, Span
from opgen.schema.annotations import masked, unmasked
from opgen.schema.bounds import both
from opgen.schema.flow import mend_entries, mend_items
from opgen.schema.formula import Word
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence, typed, under
from opgen.schema.yaml_hints import FIELD, QUOTED, before_bracket, meant, of_lambda, unquoted
from opgen.schema.yaml_words import in_plain_words, where_it_began

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 30
MAX_NODES = 20_000
_PROPERTY = re.compile(r"(?:&[A-Za-z0-9_-]*|!\S*)\s*")  # an anchor ends where its name does, a tag at a blank

# Control characters, line ends other than \n and \r\n, surrogates, and byte order marks behind the start.
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\r(?!\n)|(?<=.)\ufeff", re.DOTALL
)
_STATEMENT = re.compile(r"\s*[a-z_]\w*(?:\[[^\]]*\])?\s*(?:[+*]|max|min)?=(?!=).*")
_BLOCK = re.compile(r"( *)(forward|backward):\s*\|")
_TIGHT = re.compile(r"([ -]*[A-Za-z_]\w*)(:)([^\s:/][^\n]*)")  # a field and its value without a blank between


def parse(source: Source, bag: Bag) -> Node | None:
    """The document of a source, or None where nothing of it can be used."""
    if len(source.text) > MAX_CHARACTERS:
        bag.error("OPG108", f"a spec has at most {MAX_CHARACTERS} characters", Span(source, 0, 0))
        return None
    bad = _UNPRINTABLE.search(source.text)
    if bad:
        label = f"U+{ord(bad.group()):04X}"
        bag.error("OPG107", "this character cannot stand in a spec", Span(source, *bad.span()), label=label)
        return None
    found = Bag()
    root = _Composer(source, found, source.text).document()
    if root is None and any(d.code == "OPG101" for d in found.items) and (text := masked(source.text)) != source.text:
        mended = Bag()
        again = _Composer(source, mended, text).document()
        root, found = (root, found) if again is None else (again, mended)
    for d in found.items:
        bag.add(d)
    return root


class _StopError(Exception):
    """Nothing that follows can be read; the reason is in the bag."""


class _Composer:
    """Builds nodes from events; holds what must be remembered on the way: anchors and the number of nodes."""

    def __init__(self, source: Source, bag: Bag, text: str) -> None:
        self.source, self.bag, self.text = source, bag, text
        self.shift = 1 if source.text.startswith("\ufeff") else 0
        self.anchors: dict[str, Node | None] = {}
        self.count = 0

    def document(self) -> Node | None:
        events = self.events()
        try:
            root: Node | None = None
            for event in events:
                match event:
                    case yaml.DocumentStartEvent() if root is not None:
                        message = "a file holds one spec"
                        label, hints = (
                            "a second document begins here",
                            ("a spec has a file of its own: move it to one",),
                        )
                        self.bag.error("OPG104", message, self.span(event), label=label, hints=hints)
                        return root
                    case yaml.NodeEvent():
                        root = self.node(event, events, 0)
                    case _:
                        pass
        except _StopError:
            return None
        except yaml.MarkedYAMLError as error:
            _syntax(error, self)
            return None
        except (yaml.YAMLError, RecursionError) as error:
            self.bag.error("OPG101", f"this is not YAML: {error}", Span(self.source, 0, 0))
            return None
        return root

    def events(self) -> Iterator[Any]:
        yield from yaml.parse(self.text[self.shift :], Loader=_LOADER)

    def at(self, mark: Any) -> int:
        return min(int(mark.index) + self.shift, len(self.source.text))

    def span(self, event: Any) -> Span:
        return Span(self.source, self.at(event.start_mark), self.at(event.end_mark))

    def stop(self, code: str, message: str, span: Span, label: str = "") -> _StopError:
        self.bag.error(code, message, span, label=label)
        return _StopError()

    def node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        span = self.span(event)
        self.count += 1
        if depth > MAX_DEPTH:
            raise self.stop("OPG108", f"a spec nests at most {MAX_DEPTH} levels", span)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(str(event.anchor), span)
        if event.tag is not None:
            start = self.source.text.find("!", span.start)
            place = Span(self.source, start, re.compile(r"\S*").match(self.source.text, start).end())  # type: ignore[union-attr]
            self.bag.error("OPG104", "specs use no YAML tags", place, label="remove this")
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        node = self.built(event, events, depth, span)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if self.count > MAX_NODES:
            raise self.stop("OPG108", f"a spec has at most {MAX_NODES} values", span)
        return node

    def alias(self, anchor: str, span: Span) -> Node:
        if anchor not in self.anchors:
            raise self.stop("OPG104", f"the anchor `&{anchor}` is not defined above", span, "unknown anchor")
        found = self.anchors[anchor]
        if found is None:
            raise self.stop("OPG104", f"`*{anchor}` stands inside of what it repeats", span, "refers to itself")
        self.count += found.size
        return found

    def built(self, event: Any, events: Iterator[Any], depth: int, span: Span) -> Node:
        match event:
            case yaml.ScalarEvent():
                style = event.style or ""
                text = event.value if self.text is self.source.text else unmasked(event.value)
                value = typed(text) if not style or style == ":" else text
                return Scalar(value, text, self.trimmed(span, style), style)
            case yaml.SequenceStartEvent():
                return self.sequence(event, events, depth, span)
            case _:
                return self.mapping(event, events, depth, span)

    def trimmed(self, span: Span, style: str) -> Span:
        """The span without anchor and tag before it and blanks behind it."""
        text, start, end = self.source.text, span.start, span.end
        while start < end and text[start] in "&!":
            start = _PROPERTY.match(text, start, end).end()  # type: ignore[union-attr]
        if style not in ("|", ">"):
            return Span(self.source, start, max(start, start + len(text[start:end].rstrip())))
        return Span(self.source, start, end)

    def sequence(self, event: Any, events: Iterator[Any], depth: int, span: Span) -> Node:
        items: list[Node] = []
        for inner in events:
            if isinstance(inner, yaml.SequenceEndEvent):
                span = span.to(self.span(inner))
                break
            items.append(self.node(inner, events, depth + 1))
        if event.flow_style:
            items = mend_items(items, self.bag)
        return Sequence(tuple(items), _without_blanks(span), size=1 + sum(item.size for item in items))

    def mapping(self, event: Any, events: Iterator[Any], depth: int, span: Span) -> Node:
        entries: list[tuple[Scalar, Node]] = []
        for inner in events:
            if isinstance(inner, yaml.MappingEndEvent):
                span = span.to(self.span(inner))
                break
            key = self.node(inner, events, depth + 1)
            value = self.node(next(events), events, depth + 1)
            if isinstance(key, Scalar):
                entries.append((key, value))
            else:
                self.bag.error("OPG104", "a key is a word", key.span, label=f"{key.kind} cannot be a key")
        flow = bool(event.flow_style)
        entries = self.distinct(mend_entries(entries, self.bag) if flow else entries)
        keyed = tuple((key, under(value, Word(key.text, key.span))) for key, value in entries)
        return Mapping(keyed, _without_blanks(span), size=1 + sum(v.size + 1 for _, v in keyed), flow=flow)

    def distinct(self, entries: list[tuple[Scalar, Node]]) -> list[tuple[Scalar, Node]]:
        first: dict[str, tuple[Scalar, Node]] = {}
        for key, value in entries:
            if key.text in first:
                related = (Label(first[key.text][0].span, "first given here"),)
                block = key.text in ("forward", "backward") and isinstance(value, Scalar) and "=" in value.text
                hints = (f"several statements are lines of one block: `{key.text}: |`",) if block else ()
                if key.text == "domain" and isinstance(value, Scalar):
                    whole = both(first[key.text][1].span.text, value.text)
                    hints = (f"one domain says both: `domain: {whole}`",) if whole else ()
                if isinstance(value, Mapping) and isinstance(before := first[key.text][1], Mapping):
                    own = {k.text: v for k, v in before.entries}
                    joined = (*before.entries, *(e for e in value.entries if e[0].text not in own))
                    first[key.text] = first[key.text][0], replace(before, entries=joined)
                    hints = (_of_two(key.text, own, {k.text: v for k, v in value.entries}),)
                message = f"`{key.text}` is given twice"
                self.bag.error("OPG102", message, key.span, label="again here", related=related, hints=hints)
            else:
                first[key.text] = (key, value)
        return list(first.values())


def _of_two(name: str, first: dict[str, Node], second: dict[str, Node]) -> str:
    """What is meant by a name that has two mappings: two things where these say the same fields of a declaration."""
    both = [k for k in first if k in second and re.fullmatch(FIELD, k)]
    other = next((k for k in both if first[k].span.text != second[k].span.text), None)
    if other is not None:
        return f"each has a `{other}` of its own, so they are two: give one of them another name"
    return (
        f"leave one of them away: they say the same `{both[0]}`" if both else f"one `{name}` holds the entries of both"
    )


def _without_blanks(span: Span) -> Span:
    return replace(span, end=max(span.start, span.start + len(span.text.rstrip())))


def _syntax(error: yaml.MarkedYAMLError, composer: _Composer) -> None:
    """Report a syntax error of the YAML reader in words of ours, with the place that it began at."""
    source = composer.source
    mark = error.problem_mark or error.context_mark
    start = composer.at(mark) if mark is not None else 0
    if _tab(source, start, composer.bag):
        return
    start = _back_to_text(source.text, start)
    if without_blank(source, start, composer.bag) or _outside_block(source, start, composer.bag):
        return
    message, hints = in_plain_words(error.problem or error.context or "syntax error")
    opened = composer.at(error.context_mark) if error.context_mark is not None else None
    hints = meant(source, start, opened) or (*of_lambda(source, start), *hints)
    if opened is not None and (lacking := before_bracket(source, start, opened)):
        field, value = lacking
        message, hints = f"expected `:` after `{field}`", (f"a `:` is missing: write `{field}: {value}`",)
    related: tuple[Label, ...] = ()
    if mark is not None and opened is not None and opened != composer.at(mark):
        place = Span(source, opened, min(opened + 1, len(source.text)))
        related = (Label(place, where_it_began(error.context or "")),)
    if any(" and `" in h and h.endswith(QUOTED) for h in hints):
        places = (Span(source, m.start(1), m.end(1)) for m in unquoted(source, start))
        related = (*related, *(Label(at, "this too") for at in places))
    place = Span(source, start, min(start + 1, len(source.text)))
    composer.bag.error("OPG101", f"YAML: {message}", place, related=related, hints=hints)


def without_blank(source: Source, offset: int, bag: Bag) -> bool:
    """Report fields with text directly behind their colon on the line of an error, or on those right before it.

    YAML takes such a line for text, and is surprised further down.
    """
    lines = source.text[:offset].split("\n")
    lines[-1] += source.text[offset:].partition("\n")[0]
    found: list[tuple[Span, str]] = []
    at = len("\n".join(lines[:-1])) + 1 if len(lines) > 1 else 0
    for number, line in reversed([*enumerate(lines)]):
        tight = _TIGHT.fullmatch(line)
        if tight is not None:
            place = Span(source, at + tight.start(2), at + tight.end(2))
            found.insert(0, (place, f"{tight[1].strip()}: {tight[3].rstrip()}"))
        elif line.strip() and number < len(lines) - 1:
            break
        at -= len(lines[number - 1]) + 1
    if not found:
        return False
    hints = [Hint(f"write `{text}`", ":", ": ", place) for place, text in found]
    related = [Label(place, "and here") for place, _ in found[1:]]
    bag.error("OPG101", "YAML: a blank is missing after `:`", found[0][0], related=related, hints=hints)
    return True


def _outside_block(source: Source, offset: int, bag: Bag) -> bool:
    """Report a statement in front of an error that stands outside of the block that it belongs to."""
    end = source.text.find("\n", offset)
    begun: re.Match[str] | None = None
    for line in re.finditer(r"[^\n]+", source.text[: end if end >= 0 else None]):
        if (block := _BLOCK.match(line[0])) is not None:
            begun = block
        elif begun is not None and line[0].strip() and not line[0].startswith(f"{begun[1]} "):
            name, begun = begun[2], None
            if _STATEMENT.match(line[0]) is None:
                continue
            at = Span(source, line.start(), line.start() + len(line[0].rstrip()))
            hint = f"indent it, as all lines of a block: `  {line[0].strip()}`"
            bag.error("OPG101", f"YAML: this line stands outside of the block of `{name}`", at, hints=(hint,))
            return True
    return False


def _tab(source: Source, offset: int, bag: Bag) -> bool:
    """Report a tab in the indentation of the line of an error, or of the one before it, as the cause."""
    line_start = source.text.rfind("\n", 0, offset) + 1
    previous = source.text.rfind("\n", 0, max(line_start - 1, 0)) + 1
    for start in (line_start, previous):
        found = re.compile(r" *(\t+)").match(source.text, start)
        if found:
            bag.error("OPG103", "a tab cannot indent", Span(source, *found.span(1)), hints=("indent with blanks",))
            return True
    return False


def _back_to_text(text: str, offset: int) -> int:
    """An error at the start of a blank rest is shown behind the last text."""
    return len(text.rstrip()) if not text[offset:].strip() else offset
