"""What a line means that YAML cannot read: hints for the place of an error, and where what it stands in begins."""

from __future__ import annotations

import re

from opgen.diagnostics.model import Source
from opgen.diagnostics.suggest import counted
from opgen.schema.annotations import as_shape
from opgen.schema.bounds import of_values
from opgen.schema.conditional import written
from opgen.schema.flow import INTERVAL, of_interval
from opgen.schema.yaml_words import LIST_OF_TYPES

FIELD = "shape|dtype|optional|absent|domain|broadcast|differentiable|doc|type|choices|default|value|derivative|extern"
LACKING = re.compile(r"(\w+)\s+(\S.*)")  # a field and its value without a colon between them
_BRACKETS = r"\[[^\[\]\n]*\]|\{[^{}\n]*\}"
_READ = r"\w+(?:\[[^\[\]]*\])?"
_UNQUOTED = re.compile(r"(?<=[{,\s])(\w+):\s+([^\s,{}\[\]\"'][^,{}\[\]\"'\n]*\[[^,{}\"'\n]*[^\s,{}\"'])")
QUOTED = ", in quotes for the brackets"
_LONGEST_LINE = 300  # that is searched for what may be meant
_DOMAIN = re.compile(rf"\bdomain:\s*(\w+)\s+(?:in|∈)\s+{INTERVAL.pattern}")
_VALUES = re.compile(r"\bdomain:\s*((\w+)\s+(?:in|∈)\s+\{[^{}\n]*\})")
_CLOSING = {"[": "]", "{": "}"}


def meant(source: Source, offset: int, opened: int | None) -> tuple[str, ...]:
    """The first hint that fits a syntax error; `opened`: where what it stands in begins, if it stands in anything."""
    line = (
        _interval(source, offset)
        or _filled_in(source, offset)
        or _text_with_colon(source, offset)
        or _without_colon(source, offset)
    )
    line = line or _without_comma(source, offset) or _in_braces(source, offset) or _in_line(source, offset)
    within = _deeper(source, offset)
    if opened is not None:
        within = within or _not_closed(source, offset, opened) or _indented(source, offset, opened)
    return line or within or _one_sided(source, offset) or _list_type(source, offset)


def _interval(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where the domain inside of { } is an interval, `domain: t in [0, C)`, or single values."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 :].partition("\n")[0][:_LONGEST_LINE]
    place = offset - source.text.rfind("\n", 0, offset) - 1
    found = [m for m in _DOMAIN.finditer(line) if m.start() <= place <= m.end()]
    made = of_interval(found[0][1], *found[0].groups()[1:]) if found else ""
    if single := [m for m in _VALUES.finditer(line) if m.start() <= place <= m.end()]:
        name, around = single[0][2], of_values(single[0][2], single[0][1])[0]
        told = f"write `domain: {around}`" if around else f"for example `domain: 0 <= {name} <= 1`"
        return (f"a domain is one inequality or two: {told}",)
    return (f"a domain is an inequality: write `domain: {made}`",) if made else ()


def _not_closed(source: Source, offset: int, opened: int) -> tuple[str, ...]:
    """A hint where a bracket is closed by another one, or not at all on its line."""
    if source.text[opened : opened + 1] in ("'", '"') and not source.text[offset:].strip():
        line = source.text[opened:].partition("\n")[0].rstrip("]} ,")
        return (f"add the closing quote: `{line}{line[0]}`",) if 1 < len(line) < _LONGEST_LINE else ()
    closing = _CLOSING.get(source.text[opened : opened + 1])
    text = source.text[opened:offset]
    if closing is None or ("\n" not in text and source.text[offset : offset + 1] not in ("]", "}", "")):
        return ()
    shown = text.partition("\n")[0].rstrip().rstrip(",")
    short = 0 < len(shown) < _LONGEST_LINE
    return (f"what begins with `{text[0]}` is not closed: write `{shown}{closing}`",) if short else ()


def _indented(source: Source, offset: int, opened: int) -> tuple[str, ...]:
    """A hint where a key stands beside others, and is indented more or less than these."""
    column = opened - source.text.rfind("\n", 0, opened) - 1
    own = offset - source.text.rfind("\n", 0, offset) - 1
    above = source.text[: offset - own].rstrip().rpartition("\n")[2]
    if len(above) - len(above.lstrip()) > own > column:  # beside the line above, rather than what that stands in
        column = len(above) - len(above.lstrip())
        opened = source.text.rfind(above, 0, offset) + column
    key = re.compile(r"[\w$-]+(?=\s*:)")
    first, second = key.match(source.text, opened), key.match(source.text, offset)
    if first is None or second is None or own == column or source.text[offset - own : offset].strip():
        return ()
    blanks = f", with {counted(column, 'blank')} in front" if column else ""
    return (f"write `{second[0]}` as far to the left as `{first[0]}`{blanks}",)


def _deeper(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a key is indented more than the one on the line above, which has a value already."""
    before, _, own = source.text[:offset].rpartition("\n")
    above = re.fullmatch(r"( *)([\w$-]+):\s+[^\s|>&#].*", before.rstrip().rpartition("\n")[2])
    deeper = re.fullmatch(r"( +)([\w$-]+)", own)
    if above is None or deeper is None or len(deeper[1]) <= len(above[1]):
        return ()
    return (f"write `{deeper[2]}` as far to the left as `{above[2]}`",)


def _text_with_colon(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a text for readers has a colon in it."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]
    found = re.fullmatch(r"\s*(summary|description|doc):\s+([^\s\"'|>{\[][^\"]*:\s[^\"]*)", line[:_LONGEST_LINE])
    return () if found is None else (f'write `{found[1]}: "{found[2].strip()}"`',)


def _without_colon(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where the line of an error, or the one before it, is a field without its colon."""
    before, _, own = source.text[:offset].rpartition("\n")
    own += source.text[offset:].partition("\n")[0]
    found = re.fullmatch(r"([a-z_]+)\s+([^\s=+*/%-][^:]*)", own)
    found = found or re.fullmatch(r"\s*(\w+)\s+([\[{].*[\]}])\s*", own[:_LONGEST_LINE])
    if found:
        return (f"write `{found[1]}: {found[2].strip()}`",)
    line = before.rstrip().rpartition("\n")[2]
    found = re.fullmatch(r"\s*(\w+)\s+([^:{\[=]*)", line)
    return (
        (f"line {before.rstrip().count(chr(10)) + 1} lacks a `:`: write `{found[1]}: {found[2].strip()}`",)
        if found
        else ()
    )


def before_bracket(source: Source, offset: int, opened: int) -> tuple[str, str] | None:
    """The field in front of a bracket inside of { } where no colon stands between them, and what it holds."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 : offset][-_LONGEST_LINE:]
    field, value = re.search(r"(?:^|[{,])\s*(\w+)\s*$", line), re.compile(_BRACKETS).match(source.text, offset)
    if field is None or value is None or source.text[opened : opened + 1] != "{":
        return None
    return field[1], value[0]


def _without_comma(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a field inside of { } follows the brackets or the quotes of the one before without a comma."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 : offset][-_LONGEST_LINE:]
    item = re.search(rf"[{{,]\s*(\w+:\s*(?:{_BRACKETS}|\"[^\"]*\"|'[^']*'))\s*$", line)
    field = re.compile(r"(\w+)\s*:").match(source.text, offset)
    if item is None or field is None:
        return ()
    return (f"a comma is missing before `{field[1]}`: write `{item[1]}, {field[1]}: …`",)


def unquoted(source: Source, offset: int) -> list[re.Match[str]]:
    """The fields of { } behind a place on its line whose values have brackets without quotes, up to the end of it."""
    end = re.compile(r"[^{}\n]*").match(source.text, offset)
    return [] if end is None else [*_UNQUOTED.finditer(source.text, offset, min(end.end(), offset + _LONGEST_LINE))]


def _in_braces(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a colon inside of { } stands in a text, or behind a field that no comma comes before."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 : offset][-_LONGEST_LINE:]
    tied = re.search(rf"[{{,]\s*(\w+:\s+[^,{{}}]*\S)\s+({FIELD})$", line)
    if tied is not None:
        return (f"a comma is missing before `{tied[2]}`: write `{tied[1]}, {tied[2]}: …`",)
    typed = re.search(r"[{,]\s*(\w+):\s*([A-Za-z][\w.]*)$", line)
    dims = re.compile(r"\[[^\[\]\n]*\]").match(source.text, offset)
    size = re.search(r"\bdims:\s*\{(?:.*,)?\s*(\w+):\s+([^,{}]*)$", line)
    if size is not None and dims is not None:
        end = re.compile(r"[^,{}\n]*").match(source.text, dims.end())
        assert end is not None
        further = "".join(f' and `{m[1]}: "{m[2]}"`' for m in unquoted(source, end.end()))
        return (f'write `{size[1]}: "{size[2]}{dims[0]}{end[0].rstrip()}"`{further}{QUOTED}',)
    if typed is not None and dims is not None and (fields := as_shape(typed[2] + dims[0])):
        return (f"write `{typed[1]}: {fields}`",)
    short = re.search(r"[{,]\s*(\w+)$", line)
    tight = re.compile(r":(\[[^\[\]\n]*\]|[\w.+-]+)").match(source.text, offset)
    if short is not None and tight is not None:
        return (f"a colon is followed by a blank: write `{short[1]}: {tight[1]}`",)
    begun = re.search(r"[{,]\s*(doc|summary|description):\s+([^\s,{}\[\]\"'][^,{}\[\]\"]*)$", line)
    rest = re.compile(r":[^,{}\[\]\"\n]*").match(source.text, offset)
    return () if begun is None or rest is None else (f'write `{begun[1]}: "{begun[2]}{rest[0].rstrip()}"`',)


def _in_line(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a line has a choice as C writes it, or a list of names with their indices."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 :].partition("\n")[0].strip()
    if len(line) > _LONGEST_LINE:
        return ()
    if choice := written(line):
        return (f"a choice is written `{choice}`",)
    names = re.fullmatch(rf"(inputs|outputs|save): *\[ *({_READ}(?: *, *{_READ})*) *,? *\]", line)
    if names is None:
        return ()
    plain = ", ".join(re.findall(r"\w+", re.sub(r"\[[^\[\]]*\]", "", names[2])))
    return (f"names stand there without indices: write `{names[1]}: [{plain}]`",)


def _filled_in(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a line holds `${params.alpha}`, as files that are filled in do."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]
    found = re.search(r"\$\{(?:\w+[.:,])*(\w+)\}|\$\{\{ *(?:\w+[.:,])*(\w+) *\}\}", line)
    told = "nothing is filled in here; a default, a domain and a formula read params and dims by their names"
    return () if found is None else (f"{told}: write `{found[1] or found[2]}` in place of `{found[0]}`",)


def of_lambda(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a line that holds a `lambda` cannot be read because of its colon."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 : offset]
    found = re.fullmatch(r"[\s{]*(?:.*[{,]\s*)?(\w+):\s*lambda\s+([\w, ]*)", line)
    return (f"a function names its arguments on the left: `{found[1]}({found[2].strip()}): …`",) if found else ()


def _one_sided(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a domain begins with a sign, as if what it bounds went without saying."""
    begin = source.text.rfind("\n", 0, offset) + 1
    found = re.search(r"(?:\b(\w+):\s*\{[^{}]*)?\bdomain:\s*(?=[<>]?=?\s*$)", source.text[begin:offset])
    if found is None:
        return ()
    bound = re.compile(r"[<>]=?\s*[\w.]+").match(source.text, begin + found.end())
    name = found[1] or _key_above(source.text[:begin], found.start())
    return () if bound is None else (f"a domain names what it bounds: `domain: {name or 'x'} {bound[0]}`",)


def _key_above(text: str, indent: int) -> str:
    """The key that the lines of an indentation belong to."""
    for line in reversed(text.splitlines()):
        key = re.match(r"( *)(\w+):\s*$", line)
        if key is not None and len(key[1]) < indent:
            return key[2]
    return ""


def _list_type(source: Source, offset: int) -> tuple[str, ...]:
    """A hint where a type is written as Python annotates a list."""
    line = source.text[source.text.rfind("\n", 0, offset) + 1 : offset]
    found = re.search(r"\btype:\s*(?:[Ll]ist|[Tt]uple|[Ss]equence)$", line)
    return (LIST_OF_TYPES,) if found else ()
