"""Bounds of a value in the spelling of other libraries, and several domains of one value, as the one inequality."""

from __future__ import annotations

import re

from pydantic import ValidationInfo

from opgen.diagnostics.model import Hint
from opgen.schema.flow import INTERVAL, of_interval
from opgen.schema.formula import Formula
from opgen.schema.leaves import formula, refused
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence

BELOW = {"min": ">=", "ge": ">=", "minimum": ">=", "lower": ">=", "gt": ">"}
ABOVE = {"max": "<=", "le": "<=", "maximum": "<=", "upper": "<=", "lt": "<"}
_END = r"[^<>=!]*[^<>=!\s]"
_ONE = re.compile(rf"\s*({_END})\s*([<>]=?)\s*({_END})\s*")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


_AND = re.compile(r"\s+and\s+|\s*&&?\s*")
_WORDS = {
    **dict.fromkeys(("positive", "strictly_positive"), "{} > 0"),
    **dict.fromkeys(("nonnegative", "non_negative", "non-negative"), "{} >= 0"),
    "negative": "{} < 0",
    **dict.fromkeys(("probability", "unit"), "0 <= {} <= 1"),
}
_IN = r"\w+\s+(?:in|∈)\s+"
_OR = r"\s+or\s+|\s*\|\|?\s*"
_VALUE = r"[-+]?\w[\w.]*(?:\s*[-+*]\s*\w+)*|\.\.\.|…"
_DOTS = frozenset(("...", "…"))
RANGES = ("range", "bounds", "interval", "limits", "between")


def both(*domains: str) -> str | None:
    """The inequality that says what two do of a name, if one of them bounds it below and the other one above."""
    ends = [{found[1], found[3]} for d in domains if (found := _ONE.fullmatch(d)) is not None]
    names = [name for name in (ends[0] & ends[1] if len(ends) == len(domains) == 2 else ()) if name.isidentifier()]
    return _of(names[0], domains) if len(names) == 1 else None


def _of(name: str, domains: tuple[str, ...]) -> str | None:
    low: list[str] = []
    high: list[str] = []
    for domain in domains:
        found = _ONE.fullmatch(domain)
        if found is None or name not in (found[1], found[3]):
            return None
        sign, end = (found[2], found[3]) if found[1] == name else (_TURNED[found[2]], found[1])
        (low if sign[0] == ">" else high).append(f"{end} {_TURNED[sign]}" if sign[0] == ">" else f"{sign} {end}")
    return f"{low[0]} {name} {high[0]}" if len(low) == 1 and len(high) == 1 else None


def of_fields(fields: Node, name: str) -> dict[str, str]:
    """What the fields of a name say that are bounds of it, `min: 0`, as domains; its own domain is one of them."""
    signs, found, own = {**BELOW, **ABOVE}, {}, {}
    for key, value in fields.entries if isinstance(fields, Mapping) else ():
        match value:
            case Scalar(text=text) if key.text == "domain":
                own[key.text] = text
            case Scalar(value=int() | float() | str(), text=text) if key.text in signs:
                found[key.text] = f"{name} {signs[key.text]} {text}"
            case Sequence(items=(low, high)) if key.text in RANGES:
                found[key.text] = f"{low.span.text} <= {name} <= {high.span.text}"
    return {**own, **found}


def of_values(name: str, written: str) -> tuple[str, list[str]]:
    """The inequality around single values, `{-1, 1}` or `y == -1 or y == 1`, where these have ends, and the values."""
    text = re.sub(rf"^{_IN}", "", written.strip())
    if both_signs := re.fullmatch(r"(?:±|\+/-)\s*([\d.]+)", text):
        return f"-{both_signs[1]} <= {name} <= {both_signs[1]}", [f"-{both_signs[1]}", both_signs[1]]
    listed = re.fullmatch(r"\{([^{}]*)\}|[\[(]([^\[\](),]*(?:,[^\[\](),]*){2,})[\])]", text)
    bare = re.sub(rf"\b{re.escape(name)}\s*==?", "", text)
    parts = [part.strip(" '\"") for part in (listed[1] or listed[2] if listed else re.sub(_OR, ",", bare)).split(",")]
    if not all(re.fullmatch(_VALUE, part) for part in parts) or not (listed or (bare != text and len(parts) > 1)):
        return "", []
    numbers = all(re.fullmatch(r"[-+]?\d+(?:\.\d*)?", part) for part in parts)
    low, high = (min(parts, key=float), max(parts, key=float)) if numbers else (parts[0], parts[-1])
    return f"{low} <= {name} <= {high}" if low != high and (numbers or not _DOTS.isdisjoint(parts)) else "", parts


def domain(node: object, info: ValidationInfo) -> Formula:
    """An inequality; two ends in brackets are none, nor are single values."""
    written = node.text.strip() if isinstance(node, Scalar) else ""
    if isinstance(node, Sequence) and node.items and all(_ONE.fullmatch(item.span.text) for item in node.items):
        several = [item.span.text for item in node.items]
        meant = both(*several)
        told = f"write `{meant}`" if meant else f"it holds for each element of a list: write `{several[0]}`"
        raise refused("OPG233", "a domain is one inequality", label="not one inequality", hints=(told,))
    if isinstance(node, Sequence):
        written = f"[{', '.join(item.span.text for item in node.items)}]"
    if isinstance(node, Mapping) and node.flow:
        written = node.span.text
    ends = INTERVAL.fullmatch(re.sub(rf"^{_IN}", "", written))
    name = info.data.get("name", "x")
    if re.match(r"[<>]=?", written):
        hint = f"it names what it bounds: `domain: {name} {written}`"
        raise refused("OPG233", "a domain is an inequality", label="one side is missing", hints=(hint,))
    if ends is None and (meant := in_words(written, str(name))):
        raise refused("OPG233", "a domain is one inequality", label="not that", hints=(f"write `{meant}`",))
    around, values = of_values(str(name), written) if ends is None else ("", [])
    if values:
        hint = f"for example `{name} > 0` or `0 <= {name} <= 1`"
        if around and isinstance(node, Scalar | Sequence | Mapping):
            hint = Hint(f"write `{around}`", node.span.text, around, node.span)
        words = all(value.isidentifier() for value in values)
        listed = f": `choices: [{', '.join(values)}]`" if words else ", and they are words"
        choices = f"single values of a param are its `choices`{listed}"
        hints = ((choices,) if words else (hint, choices)) if "choices" in info.data else (hint,)
        raise refused("OPG233", "a domain is one inequality or two", label="single values", hints=hints)
    if ends is None:
        return formula(node)
    made = of_interval(str(name), *ends.groups())
    hint = "every number is in it: leave `domain` away"
    if made and isinstance(node, Scalar | Sequence):
        hint = Hint(f"write `{made}`", node.span.text, made, node.span)
    raise refused("OPG233", "a domain is an inequality", label="not an inequality", hints=(hint,))


def in_words(written: str, name: str) -> str | None:
    """The inequality that is meant by two of them, by `range(V)`, or by a word."""
    if written.lower() in _WORDS:
        return _WORDS[written.lower()].format(name)
    if end := re.fullmatch(r"(?:in )?range\((?:0, *)?(\w+)\)", written):
        return f"0 <= {name} < {end[1]}"
    parts = _AND.split(written)
    return both(*parts) if len(parts) == 2 else None
