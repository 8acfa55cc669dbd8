"""A statement in the notation of LaTeX and of paper as a whole: `y_{i} = e^{-x_{i}}` is `y[i] = exp(-x[i])`.

In go the text of a formula, a place in it and the spec; out comes the statement, or nothing where any part of it is
unclear: what stands for several things, and what is left of the notation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.lang import latex, signs

_STATEMENT = re.compile(r"(?:(?:forward|backward)\s*:\s*)?(?P<left>\w+(?:\[[^\]=]*\])?)\s*=\s*(?P<right>[^=].*)")
_ITEM = r"[a-z](?:\s*[-+]\s*\d+)?"
_BELOW = re.compile(rf"(?<![\\\w])([A-Za-z]+\d*)_\{{({_ITEM}(?:\s*,\s*{_ITEM})*|[a-z](?:[ ,]*[a-z])*)\}}")
_BARE = re.compile(r"(?<![\\\w])[A-Za-z]+\d*_[a-z](?!\w)")
_SIGN = re.compile(r"\\?(?<![A-Za-z\\])(sum|prod|max|min)(?=_(?:\{|[a-z](?!\w)))")
_FUNCTIONS = "exp|log|sqrt|sin|cos|tan|tanh|sinh|cosh|abs|max|min|relu|sigmoid|sign|floor|ceil"
_OF = re.compile(rf"\\?\b({_FUNCTIONS})\{{([^{{}}]*)\}}")
_EXP = re.compile(r"\\?\be(?:xp)?\^(?:\{(?P<braced>[^{}]*)\}|(?P<plain>-?[A-Za-z]\w*(?:\[[^\]]*\])?|-?\d+))")
_GROUP = re.compile(r"(?<![\\\w}_^])\{([^{}]*)\}")
_RAISED = re.compile(r"(?<=[\w\])])(?<!_\w)\s*\^\{([^{}]*)\}")
_SPECIAL = re.compile(r"[\\{}^_]|[^\x00-\x7f]")
_LOOSE = re.compile(r"\\(?:sum|prod)(?!\s*[A-Za-z]*_|[A-Za-z]|\s*\[)")
_SIGMA = re.compile(r"[\u03a3\u2211\u03a0\u220f]")
_WORDS = re.compile(r"\\(?:mathrm|operatorname|text)\{\s*(\w+)\s*\}")
_SPELT = str.maketrans({sign: f"\\{name} " for sign, name in (("\u03a3", "sum"), ("\u2211", "sum"), ("\u03a0", "prod"),
                                                             ("\u220f", "prod"))})  # fmt: skip
_MARKS = {typed: meant for typed, meant, _ in signs.SLIPS if not typed.isascii()}
_REST = re.compile(rf"[\\{{}}^$@|!']|_[a-z]\b|[^\x00-\x7f]|[\w\])]\s+[A-Za-z_(]|\b(?:{_FUNCTIONS})\s*\*\*|\)\s*\(")
_WORD = re.compile(r"\b(?:and|or|not|if)\b|[\u2227\u2228\u00ac]")
_BEHIND = re.compile(r"(?:_\{?2\}?)?\s*(?:(?:\^|\*\*)\{?(?P<figure>\d)\}?|(?P<digit>\u00b2))")
_NAME = re.compile(r"(?<![\w.\[])[a-z_]\w*\b(?!\s*[\[(])(?![^\[\]]*\])")
_TURNED = re.compile(r"\^\{?(?:[TH]\b|\\top|\\dagger|\\prime|\\circ)")  # or a power that is a size
_TIMES = re.compile(r"(?<![\w.])(\d+)(?=[A-Za-z(])(?![eE]\d)")


def whole_line(text: str, at: int, spec: str) -> str:
    """The statement at a place; empty where not all of it has a counterpart."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0].partition("#")[0].strip().strip("\"'")
    found = _STATEMENT.fullmatch(_plain(line))
    if (
        found is None
        or _WORD.search(line)
        or _TURNED.search(line)
        or any(_is_name(m[0], line, spec) for m in _BARE.finditer(line))
    ):
        return ""
    left = latex.translated(found["left"])
    value = found["right"].strip()
    if _LOOSE.search(value) and "[" not in value:  # its index is that of what it adds up
        value = spelt(value, (), spec)
    right = _right(value, _letters(left or ""), named_e=signs.IS_NAMED_E.search(spec) is not None)
    if left is None or right is None or right == found["right"] == line.partition("=")[2].strip():
        return ""
    made = _spelt(left, right, spec)
    return "" if _REST.search(made) or made.count("(") != made.count(")") else made


def told(text: str, at: int, spec: str, found: tuple[str, ...]) -> tuple[str, ...]:
    """What is said of notation at a place: `found`, or the statement where that does not say all of it."""
    whole, before = whole_line(text, at, spec), text[:at].rpartition("\n")[2]
    part = next((h.removeprefix("write `").removesuffix("`") for h in found if h.startswith("write `")), "")
    alone = re.search(r"[=(,+*/-]\s*$", before) and not _SPECIAL.search(before)
    if (
        not whole
        or (" = " in part and not _SIGMA.search(part))
        or (part and alone and re.sub(r"\s", "", part) in re.sub(r"\s", "", whole))
    ):
        return found
    return (f"write `{whole}`",)


def below_sign(text: str, at: int) -> str:
    """`sum_n x[n]` as a reduction, or its whole statement where more is to be said; empty where that is unclear."""
    own = latex.written(text[at:].partition("\n")[0].strip().rstrip("\"'")) or ""
    return own if own and own.isascii() else whole_line(text, at, text)


def norm_between(text: str, at: int, inner: str, spec: str) -> str:
    """The norm between bars that close at a place, over what the left side lacks, with a power; empty if unclear."""
    line = text[:at].rpartition("\n")[2]
    value = spelt(inner, (), spec)
    found = _STATEMENT.fullmatch(line.strip().strip("\"'"))
    left = [] if found is None else _letters(found["left"])
    every = list(dict.fromkeys(_letters(value)))
    over = [i for i in every if i not in left] or (every if "[" not in inner else [])
    power = _BEHIND.match(text, at)
    if not over or _SPECIAL.search(value) or "|" in value:
        return ""
    figure = (power["figure"] or power["digit"]) if power is not None else ""
    return f"norm[{', '.join(over)}]({value}){f'**{figure}' if figure else ''}".replace("**\u00b2", "**2")


def spelt(value: str, left: Sequence[str], spec: str) -> str:
    """A value in which bare tensors of named dims are read at indices, at those of a target with as many."""

    def step(found: re.Match[str]) -> str:
        shape = re.search(rf"\b{found[0]}\s*:\s*\{{[^{{}}]*shape:\s*\[([^\]]*)\]", spec)
        sizes = [] if shape is None else [size.strip() for size in shape[1].split(",")]
        if not any(size[:1].isupper() for size in sizes):
            return found[0]
        own = [size.lower() for size in sizes]
        return f"{found[0]}[{', '.join(left if len(left) == len(own) else own)}]"

    return _NAME.sub(step, value)


def _spelt(left: str, right: str, spec: str) -> str:
    """A statement with bare tensors read at indices, which a bare target takes over where all of them have these."""
    indices = _items_of(left)
    value = spelt(right, indices, spec)
    added = [items for items in re.findall(r"\w\[([^\[\]]*)\]", value) if f"[{items}]" not in right]
    if indices or not added or "[" in right:
        return f"{left} = {value}"
    longest = max(added, key=len)
    return f"{left}[{longest}] = {value}"


def _items_of(left: str) -> list[str]:
    return [i.strip() for i in left.partition("[")[2].rstrip("]").split(",")] if "[" in left else []


def _plain(line: str) -> str:
    """A line with small figures, signs and subscripts in the letters of LaTeX."""
    for typed, meant in _MARKS.items():
        line = line.replace(typed, meant)
    line = signs.in_braces(_TIMES.sub(r"\1*", line)).translate(_SPELT).replace("\\ _", "\\_")
    line = re.sub(r"\\(sum|prod) (?=[_(]|\[[^\]]*\]\()", r"\\\1", line)
    line = _WORDS.sub(r"\1", re.sub(r"\\([{}])", r"\1", re.sub(r"\\(?:left|right)(?=\\?[{}()\[\]])", "", line)))
    line = re.sub(r"\\(sum|prod|max|min)(?=\[[^\]]*\]\()", r"\1", line)
    return _BELOW.sub(lambda m: f"{m[1]}[{_items(m[2])}]", _SIGN.sub(r"\\\1", line))


def _right(text: str, left: list[str], *, named_e: bool) -> str | None:
    """The value as it is written here; what no sum below a sign names is summed over what the left side lacks."""
    loose = list(dict.fromkeys(i for i in _letters(text) if i not in left))
    if (bare := _LOOSE.findall(text)) and (len(bare) > 1 or "_" in text or not loose):
        return None
    text = _LOOSE.sub(lambda m: f"{m[0]}_{{{', '.join(loose)}}}", text)
    before = None
    while before != text:
        before = text
        text = _OF.sub(r"\1(\2)", text)
        if not named_e:
            text = _EXP.sub(lambda m: f"exp({m['braced'] if m['plain'] is None else m['plain']})", text)
        text = latex.without_fractions(_RAISED.sub(lambda m: f"**{latex.grouped(m[1])}", text))
        text = _GROUP.sub(lambda m: latex.grouped(m[1]), text)
    made = latex.translated(text)
    return None if made is None or (not named_e and re.search(r"\be\*\*", made)) else _TIMES.sub(r"\1*", made)


def _letters(text: str) -> list[str]:
    """The indices in the brackets of a text."""
    return [i for items in re.findall(r"\w\[([^\[\]]*)\]", text) for i in re.findall(r"(?<![\w.])[a-z]\w*", items)]


def _items(below: str) -> str:
    return ", ".join(below) if re.fullmatch("[a-z]+", below) else ", ".join(re.split(r"\s*,\s*|\s(?=[a-z])", below))


def _is_name(name: str, line: str, spec: str) -> bool:
    """Whether something is called so in a spec: a key, or one of a list."""
    rest = spec.replace(line, "", 1)
    return re.search(rf"\b{name}\s*:|[\[,{{]\s*{name}\s*[\],}}]", rest) is not None
