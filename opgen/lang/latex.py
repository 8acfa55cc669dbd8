"""Notation of LaTeX and of paper in a formula: subscripts in braces, commands, sums with their index below a sign.

Text in, hints out; a sum whose body is plain to see is written out as the reduction that it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from opgen.lang.habits import LATEX

_BELOW = re.compile(r"(?<![\\\w])(?P<name>[A-Za-z]\w*?)_\{(?P<below>[^{}=]*)\}")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_SUM = re.compile(
    r"(?P<sign>[\u03a3\u2211\u03a0\u220f]|\\(?:sum|prod)(?![A-Za-z])|\\(?:max|min)(?=_)|\b(?:sum|prod|mean|max|min)(?=_[a-z]))"
    r"(?:_(?:\{(?P<braced>[^{}]*)\}|(?P<bare>[a-z]+)))?(?P<limit>\^(?:\{[^{}]*\}|\w))?[ ]*"
)
_SUMS = {"\u03a3": "sum", "\u2211": "sum", "\u03a0": "prod", "\u220f": "prod"}
_PLAIN = LATEX["exp"]
_NOTHING = re.compile(r"\\(?:left|right|displaystyle|[,;:! ])|\\quad|\\(?:mathrm|mathbf|operatorname|text)(?=\{)")
_ELEMENT = re.compile(r"(?<![\\\w])(?P<name>[A-Za-z]+\d*)_(?:\{(?P<below>[a-z](?:[ ,]*[a-z])*)\}|(?P<one>[a-z])(?!\w))")
_BEGINNING = re.compile(r"\\(?:d?frac|sqrt|sum|prod|max|min|exp|log|left)(?![A-Za-z])")
_GREEK = re.compile(
    r"\\(alpha|beta|gamma|delta|epsilon|eta|theta|kappa|mu|nu|rho|sigma|tau|phi|omega)(?![A-Za-z]|\s*(?:\(|\\left))"
)
_APPLIED = re.compile(r"\b(exp|log|sin|cos|tan|tanh)\s+([A-Za-z]\w*(?:\[[^\]]*\])?)")
_BOUNDS = re.compile(
    r"\\(?P<name>sum|prod|max|min)_(?:\{(?P<braced>[a-z](?:[ ,]*[a-z])*)(?:\s*=\s*(?P<first>[01]))?\}|"
    r"(?P<bare>[a-z])(?!\w))(?:\^(?:\{[^{}]*\}|\w))?"
)
_POWER = re.compile(r"\^(?:\{(?P<braced>[^{}]*)\}|(?P<one>\w))")
_FUNCTION = re.compile(r"\b(?:exp|log|ln|sin|cos|tan|tanh)\s*$")  # that what follows is the argument of
_FRACTION, _ROOT = re.compile(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}"), re.compile(r"\\sqrt\{([^{}]*)\}")
_COMMANDS = {**dict.fromkeys(("cdot", "times", "odot"), "*"), "leq": "<=", "le": "<=", "geq": ">=", "ge": ">=",
             "neq": "!=", "ne": "!=", "infty": "inf", "ln": "log"}  # fmt: skip
SIGNS = ("\\", *_SUMS)  # what such notation begins with
_LEFT = re.compile(r"\s*(?P<left>\w+(?:\[[^\]]*\])?\s*=)\s*(?P<more>[^=#{}_]*)")  # of a formula that has begun
_INNER = re.compile(r"\b(?:sum|prod|max|min)\[(?P<over>[^\]]*)\]\(")
_LETTERS = re.compile(r"[a-z](?:[ ,]*[a-z])*")
_TERM = re.compile(r"(?<=[\w\])])\s*[-+]\s*")
_BESIDE = re.compile(r"(?<=[\w\])]) +(?=[A-Za-z(\d])")  # factors without a sign between them
_TIMES = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?![eE][-+]?\d)(?=[A-Za-z])")  # numbers directly before a factor
_OVER = re.compile(r"#|[<>=!]=?|\b(?:if|and|or|not|else)\b")  # where a sum surely is over


def translated(text: str) -> str | None:
    """A formula of LaTeX as it is written here; None where something in it has no counterpart for certain."""
    if "@" in text:  # a product of matrices, whose indices are found elsewhere
        return None
    text = _GREEK.sub(r"\1", _NOTHING.sub("", text.partition("#")[0]).strip())
    text = _TIMES.sub(r"\1*", text)
    text = _ELEMENT.sub(lambda m: f"{m['name']}[{_items(m['below'] or m['one'])}]", text)
    text = _POWER.sub(lambda m: f"**{m['one'] or grouped(m['braced'])}", _BOUNDS.sub(_bound, text))
    text = without_fractions(text)
    text = re.sub(r"\\([A-Za-z]+)", lambda m: _COMMANDS.get(m[1], m[1] if LATEX.get(m[1]) == _PLAIN else m[0]), text)
    while (last := text.rfind("@")) >= 0:
        name, rest = re.split(r"(?<=\])", text[last + 1 :], maxsplit=1)
        indices = tuple(re.findall(r"\w+", name.partition("[")[2]))
        body = _body(rest, indices)
        behind = rest[len(rest) - len(rest.lstrip()) + len(body) :]
        if any(i in re.findall(r"\w+", inner["over"]) for inner in _INNER.finditer(body) for i in indices):
            return None  # of which it is unclear what belongs to it
        body = body[1:-1] if _in_parentheses(body) else body
        shown = body.strip() if name[0] != "1" else _from_0(body.strip(), indices)
        before, made = text[:last], f"{name.removeprefix('1')}({shown})"
        if _FUNCTION.search(before):
            before, made = before.rstrip(), f"({made})"
        times = "*" if re.search(r"[\w\])]$", before) and not made.startswith("(") else ""
        text = f"{before}{times}{made}{behind}"
    text = _BESIDE.sub("*", re.sub(r"(?<=\() +| +(?=\))", "", _APPLIED.sub(r"\1(\2)", text)))
    return None if re.search(r"[\\{}^$@_]", text) or not text or _closed(text) < len(text) else text


def _bound(found: re.Match[str]) -> str:
    indices = ", ".join(re.findall("[a-z]", found["braced"] or found["bare"]))
    return f"@{'1' if found['first'] == '1' else ''}{found['name']}[{indices}]"


def _from_0(body: str, indices: tuple[str, ...]) -> str:
    """The body of a sum over indices from 1 on: as numbers they are one more, and elements are those they were."""
    parts = re.split(r"(\[[^\]]*\])", body)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(rf"\b({'|'.join(indices)})\b", r"(\1 + 1)", parts[k])
    return "".join(parts)


def without_fractions(text: str) -> str:
    """A formula with quotients and roots for `\\frac{a}{b}` and `\\sqrt{a}`."""
    while _FRACTION.search(text) or _ROOT.search(text):
        text = _FRACTION.sub(_quotient, _ROOT.sub(lambda m: _apart(m, f"sqrt({m[1]})"), text))
    return text


def _quotient(found: re.Match[str]) -> str:
    """A quotient: in parentheses where it would not stay together, as what is divided by, or the argument of `log`."""
    before, after = found.string[: found.start()].rstrip(), found.string[found.end() :].lstrip()
    whole = f"{grouped(found[1])}/{grouped(found[2])}"
    if _FUNCTION.search(before):
        return f"({whole})"
    return _apart(found, f"({whole})" if before.endswith("/") or after.startswith(("^", "**")) else whole)


def _apart(found: re.Match[str], made: str) -> str:
    """What is made of a command, with a blank where a factor stands directly beside it."""
    before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    first, last = before.isalnum() or before in ("]", ")"), after.isalnum() or after in ("(", "@", "\\")
    return f"{' ' * first}{made}{' ' * last}"


def grouped(text: str) -> str:
    text = text.strip()
    return text if re.fullmatch(r"[\w.]+(\[[^\]]*\])?(?:(?<=\w)\([^()]*\))?", text) else f"({text})"


def hints(text: str, at: int) -> tuple[str, ...]:
    """What stands for each thing of LaTeX on the rest of a line, once, or the whole of it."""
    line, behind = text[at:].partition("\n")[0], _LEFT.fullmatch(text[:at].rpartition("\n")[2])
    first = sum_of(line)
    plain = first is not None and first.startswith("write")
    if behind is not None and behind["more"] and (not plain or re.search(r"[\w\])]\s*$", behind["more"])):
        whole = translated(f"{behind['more']}{line}")
        if whole is not None:
            return (f"write `{behind['left']} {whole}`",)
    if not plain and _BEGINNING.match(line) and _closed(line) == len(line) and (whole := translated(line)) is not None:
        return (f"write `{whole}`",)
    found: dict[str, None] = {} if first is None else {first: None}
    if below := _BELOW.search(line):
        found[f"an element has its indices in brackets: `{below['name']}[{_items(below['below'])}]`"] = None
    for command in _COMMAND.finditer(line):
        if told := sum_of(line[command.start() :]):
            found[told] = None
        elif command[1] in LATEX:
            found[LATEX[command[1]]] = None
    return tuple(found)


def sum_of(text: str) -> str | None:
    """The hint for a sum or product that a text begins with; None where it begins with none."""
    found = _SUM.match(text)
    if found is None:
        return None
    made = written(text)
    if made is not None and not re.search(r"_[a-z]\b", made):
        return f"write `{made}`"
    name, below = _name(found), _indices(found)
    what = {"sum": "a sum", "prod": "a product"}.get(name, f"a `{name}`")
    return f"{what} over an index is written `{name}[{', '.join(below) or 'j'}](…)`"


def written(text: str) -> str | None:
    """The reduction for a sum that a text begins with; None where it is unclear what is summed."""
    found = _SUM.match(text)
    if found is None or not (indices := _indices(found)) or found["limit"]:
        return None
    body = _body(text[found.end() :].partition("\n")[0], indices)
    inner = next(_SUM.finditer(body), None)
    if inner is not None and (made := written(body[inner.start() :])) is not None and inner.start() == 0:
        body = made
    elif inner is not None or not body or re.search(r"[\\{}^|]", body):
        return None
    body = body[1:-1] if _in_parentheses(body) else body
    return f"{_name(found)}[{', '.join(indices)}]({_BESIDE.sub('*', body)})"


def subscripted(text: str) -> tuple[str, str] | None:
    """`a_{ij}` at the start of a text, and how it is written."""
    found = _BELOW.match(text)
    return (found[0], f"{found['name']}[{_items(found['below'])}]") if found else None


def _name(found: re.Match[str]) -> str:
    return _SUMS.get(found["sign"], found["sign"].lstrip("\\"))


def _indices(found: re.Match[str]) -> tuple[str, ...]:
    below = (found["braced"] if found["bare"] is None else found["bare"]) or ""
    below = below.partition("=")[0].strip()
    return tuple(re.findall("[a-z]", below)) if _LETTERS.fullmatch(below) else ()


def _items(below: str) -> str:
    """Indices one by one: of `ij`, and of `i, j - 1`."""
    return ", ".join(below) if re.fullmatch("[a-z]+", below) else ", ".join(p.strip() for p in below.split(","))


def _body(rest: str, indices: tuple[str, ...]) -> str:
    """The terms that belong to a sum: the first, and those up to the last one that reads an index of it."""
    rest = rest[: _closed(rest)]
    over = _OVER.search(rest)
    rest = rest[: over.start()] if over else rest
    levels = [*_levels(rest)]
    ends = [*(m.start() for m in _TERM.finditer(rest) if levels[m.start()] == 0), len(rest)]
    reads = re.compile(rf"\b(?:{'|'.join(indices)})\b")
    last = max((k for k in range(1, len(ends)) if reads.search(_outside(rest[ends[k - 1] : ends[k]]))), default=0)
    return rest[: ends[last]].strip()


def _outside(term: str) -> str:
    """A term without the reductions in it, whose indices are their own."""
    while (found := _INNER.search(term)) is not None:
        term = term[: found.start()] + term[found.end() + _closed(term[found.end() :]) + 1 :]
    return term


def _closed(text: str) -> int:
    """Where a bracket closes that was opened before the text, or a comma stands outside of all."""
    outside = (at for at, level in enumerate(_levels(text)) if level == -1 or (level == 0 and text[at] in ",;"))
    return next(outside, len(text))


def _in_parentheses(body: str) -> bool:
    levels = [*_levels(body)]
    return body[:1] == "(" and body[-1:] == ")" and all(level > 0 for level in levels[:-1])


def _levels(text: str) -> Iterator[int]:
    """How many brackets are open behind each character."""
    return accumulate((c in "([{") - (c in ")]}") for c in text)
