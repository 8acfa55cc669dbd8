"""Signs of paper that formulas have other words for: exponents and indices in small figures, fractions, roots, `e^x`.

Text and a place in it in, what stands there out; nothing here changes what a formula means.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

PI = "\u03c0\U0001d70b"

# What people type instead of an operator of the language: (typed, meant, hint).
SLIPS: tuple[tuple[str, str, str], ...] = (
    ("&&", "and", "write `and`"),
    ("||", "or", "write `or`"),
    ("=<", "<=", "write `<=`"),
    ("~=", "!=", "write `!=`"),
    ("=>", ">=", "write `>=`"),
    ("^", "**", "a power is written `**`: `x**2`"),
    *((sign, "-", "write the ASCII minus `-`") for sign in "\u2212\u2013\u2010\u2011\u2014"),
    *((sign, "*", "write `*`") for sign in "\u00d7\u00b7\u22c5\u2219\u2022\u2217\u2299\u22c6"),
    *((sign, "/", "write `/`") for sign in "\u00f7\u2215\u2044"),
    *((sign, "<=", "write `<=`") for sign in "\u2264\u2a7d"),
    *((sign, ">=", "write `>=`") for sign in "\u2265\u2a7e"),
    ("\u2260", "!=", "write `!=`"),
    *((sign, "=", "write `=`") for sign in "\u2190\u2254"),
    ("\u2026", "...", "write three full stops `...`"),
    *((sign, "pi", "write `pi`") for sign in PI),
    ("\u221e", "inf", "write `inf`"),
    ("\u2227", "and", "write `and`"),
    ("\u2228", "or", "write `or`"),
    ("\u00ac", "not", "write `not`"),
    ("&", "and", "write `and` for conditions, `bitand(a, b)` for integers"),
    ("|", "or", "write `or` for conditions, `abs(x)` for the magnitude, `bitor(a, b)` for integers"),
    ("~", "not", "write `not` for conditions, `bitxor(a, -1)` for integers"),
    ("!", "not", "write `not` for conditions"),
)

_ABOVE = dict(
    zip(
        "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u207f\u2071",
        "0123456789+-ni",
        strict=True,
    )
)
_BELOW = dict(
    zip(
        "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089\u208a\u208b"
        "\u2090\u2091\u2095\u1d62\u2c7c\u2096\u2097\u2098\u2099\u2092\u209a\u1d63\u209b\u209c\u1d64\u1d65\u2093",
        "0123456789+-aehijklmnoprstuvx",
        strict=True,
    )
)  # fmt: skip
_EXPONENT = re.compile(r"[-+]?(?:\d+|[a-z])(?:[-+](?:\d+|[a-z]))*")
_POSITION = re.compile(r"([a-z])(?:([-+])(\d+|[a-z]))?")
IS_NAMED_E = re.compile(r"(?<![\w.])e\b(?!\s*(?:\^|\*\*))")  # in a spec in which something is called so
_POWER_OF_E = re.compile(r"(?<![\w.])e\s*(?:\^|\*\*)")
_OF_FUNCTION = re.compile(r"\b(sinh?|cosh?|tanh?|log|ln|exp|sec|csc|cot)\s*\^\s*(\d+)\s*(?=\()")
_FUNCTION = re.compile(r"sinh?|cosh?|tanh?|log|exp")
_DIGITS = re.compile(
    r"(?:(?P<whole>0[xX][\da-fA-F]+|0[bB][01]+|0[oO][0-7]+)|\d+(?:_\d+)+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?!\w)", re.A
)  # of Python and C
_OF_FORTRAN = re.compile(r"[dD]([-+]?\d+)(?![\w.(\[])")  # the exponent of a number in double precision
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_STATEMENT = re.compile(r"^[ \t]*([A-Za-z_]\w*)(?:\[[^\]\n]*\])?[ \t]*[-+*]?=(?!=).*$", re.MULTILINE)
_ROOTS = {"\u221a": "sqrt", "\u221b": "cbrt"}
_BARS = "|"
_INDICATOR = re.compile(r"(?<![\w.^}])1\{([^{}\n]*[<>=\u2264\u2265\u2260][^{}\n]*)\}")
_INDEX = r"[ ]*[a-z]\w*(?:[ ]*<[ ]*\w+)?[ ]*"
_REST = r"(?:[^\[\]\n]|\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\])*\][ ]*\("  # of the brackets of a reduction
_SUCH_THAT = re.compile(
    rf"\w\[{_INDEX}(?:,{_INDEX})*(?:;(?=[^;\n]*(?:[<>=]|\u2260)[^;\n]*\][ ]*\()|\|(?!\|)(?={_REST}))"
)
_FAR = 200  # how long the indices in front of a condition may be
_OPENING = {")": "(", "]": "["}


@dataclass(frozen=True, slots=True)
class Meant:
    """What stands from `start` to `end`: `pieces` of text, each written out or a stretch of the text itself."""

    start: int
    end: int
    pieces: Sequence[str | tuple[int, int]]
    shown: str  # as a hint says it, with what it belongs to

    def spelt(self, text: str) -> str:
        return "".join(p if isinstance(p, str) else text[slice(*p)] for p in self.pieces)


def meant(text: str, at: int) -> Meant | None:
    """What a sign at a place stands for, with the name in front of it where that becomes another one."""
    if text[at] in _ABOVE:
        return _raised(text, at)
    if text[at] in _BELOW:
        return _lowered(text, at)
    if text[at] in _ROOTS:
        end = _operand(text, at + 1)
        return None if end is None else _applied(_ROOTS[text[at]], text, at, at + 1, end)
    if text[at] == "!":
        return _factorial(text, at)
    if text[at] == "{" and at > 0 and (condition := _INDICATOR.match(text, at - 1)) is not None:
        return Meant(at - 1, condition.end(), ("(", condition.span(1), ")"), f"({condition[1].strip()})")
    if unicodedata.category(text[at]) == "No" and unicodedata.decomposition(text[at]).startswith("<fraction>"):
        value = Fraction(unicodedata.numeric(text[at])).limit_denominator(10)
        number = f"{float(value):g}" if Fraction(f"{float(value):g}") == value else f"({value})"
        following = re.match(r"[A-Za-z_(]\w*", text[at + 1 :])
        times = "*" if following else ""
        return Meant(at, at + 1, (number + times,), f"{number}{times}{following[0].strip('(') if following else ''}")
    return None


def is_such_that(text: str, at: int) -> bool:
    """Whether a semicolon or a bar stands in front of a condition in brackets of a reduction, `sum[i | i > 0](…)`."""
    opener = text.rfind("[", max(0, at - _FAR), at)
    found = _SUCH_THAT.match(text, opener - 1) if opener > 0 else None
    return found is not None and found.end() == at + 1


def in_braces(text: str) -> str:
    """A text whose small figures are written as LaTeX does, `^{2}` and `_{n}`."""
    for figures, mark in ((_ABOVE, "^"), (_BELOW, "_")):
        parts = re.split(f"([{''.join(figures)}]+)", text)
        parts[1::2] = [f"{mark}{{{''.join(figures[c] for c in part)}}}" for part in parts[1::2]]
        text = "".join(parts)
    return text


def ends_before(text: str, at: int, end: int) -> int:
    """Where a name ends, before the small figures behind its first letter."""
    return next((k for k in range(at + 1, end) if text[k] in _ABOVE or text[k] in _BELOW), end)


def exponential(text: str, start: int, at: int) -> Meant | None:
    """`e^x` or `e**x`, of which `e` stands at `start` and the exponent at `at`."""
    end = _operand(text, at)
    if end is None:
        return None
    made = _applied("exp", text, start, at, end)
    shown = made.shown
    while (inner := _POWER_OF_E.search(shown)) is not None:
        end = _operand(shown, inner.end())
        if end is None:
            break
        shown = shown[: inner.start()] + _applied("exp", shown, inner.start(), inner.end(), end).shown + shown[end:]
    return Meant(made.start, made.end, made.pieces, shown)


def number(text: str, start: int, at: int) -> tuple[Meant, str] | None:
    """`4.1d-1`, `0xFF` and `1_000`, of which the first digits stand from `start` to `at`; with what is amiss."""
    if digits := _DIGITS.match(text, start):
        whole = digits["whole"]
        shown = str(int(whole, 0)) if whole else digits[0].replace("_", "")
        label = "a number is decimal" if whole else "digits stand without `_`"
        return Meant(start, digits.end(), (shown,), shown), label
    exponent = _OF_FORTRAN.match(text, at)
    if exponent is None or "e" in text[start:at].lower():
        return None
    shown = f"{text[start:at].rstrip('.')}e{exponent[1]}"
    return Meant(start, exponent.end(), (shown,), shown), "an exponent is written with `e`"


def names(word: str, text: str) -> bool:
    """Whether a spec may have such a name: of statements those count that they assign."""
    return word in _words(text)


@lru_cache(maxsize=4)
def _words(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(_STATEMENT.sub(r"\1", text)))


def _applied(function: str, text: str, start: int, at: int, end: int) -> Meant:
    at += len(text[at:end]) - len(text[at:end].lstrip())
    whole = text[at] == "(" and _back(text, end) == at
    pieces = (function, (at, end)) if whole else (f"{function}(", (at, end), ")")
    made = Meant(start, end, pieces, "")
    return Meant(start, end, pieces, made.spelt(text))


def _raised(text: str, at: int) -> Meant | None:
    end, typed = _run(text, at, _ABOVE)
    start = _back(text, at)
    function = _FUNCTION.fullmatch(text[start:at])
    opened = end + len(text[end:]) - len(text[end:].lstrip(" "))
    if function is not None and text[opened : opened + 1] == "(" and typed.isdigit():
        closed = _closed(text, opened)
        power = f"**{typed}"
        return (
            None
            if closed is None
            else Meant(
                start, closed, (function[0], (opened, closed), power), f"{function[0]}{text[opened:closed]}{power}"
            )
        )
    if text[at - 1 : at] == _BARS and typed and (bar := text.rfind(_BARS, 0, at - 1)) > text.rfind("\n", 0, at):
        power = f"**{typed}" if typed.isalnum() else f"**({typed})"
        return Meant(at, end, (power,), f"abs({text[bar + 1 : at - 1].strip()}){power}")
    if not _EXPONENT.fullmatch(typed) or start == at:
        return None
    power = f"**{typed}" if typed.isalnum() else f"**({typed})"
    return Meant(at, end, (power,), text[start:at] + power)


def _factorial(text: str, at: int) -> Meant | None:
    """`n!` directly behind a value, which is that of the gamma function one further."""
    start = _back(text, at)
    if start == at or text[at + 1 : at + 2] == "=":
        return None
    inner = text[start + 1 : at - 1] if text[start] == "(" else text[start:at]
    shown = f"exp(lgamma({inner.strip()} + 1))"
    return Meant(start, at + 1, (shown,), shown)


def _lowered(text: str, at: int) -> Meant | None:
    """`x₁` is a name; `xₜ` an element, at several indices or at a place beside one as well."""
    end, typed = _run(text, at, _BELOW)
    name = re.search(r"[A-Za-z_]\w*$", text[:at], re.ASCII)
    if name is None:
        return None
    if typed.isdigit():
        right = name[0] + typed
        return Meant(name.start(), end, (right,), right)
    beside = _POSITION.fullmatch(typed)
    if beside is None and not typed.isalpha():
        return None
    items = f"{beside[1]} {beside[2]} {beside[3]}" if beside and beside[2] else ", ".join(typed)
    return Meant(at, end, (f"[{items}]",), f"{name[0]}[{items}]")


def _run(text: str, at: int, signs: dict[str, str]) -> tuple[int, str]:
    end = at
    while end < len(text) and text[end] in signs:
        end += 1
    return end, "".join(signs[c] for c in text[at:end])


def _back(text: str, end: int) -> int:
    """Where the value begins that ends at a place: a number, a name, and the brackets behind it."""
    at = end
    while at and text[at - 1] in _OPENING:
        depth, closing = 0, text[at - 1]
        while at:
            at -= 1
            depth += (text[at] == closing) - (text[at] == _OPENING[closing])
            if not depth:
                break
    word = re.search(r"(?:\d+\.\d*|\w+)$", text[:at], re.ASCII)
    return at if word is None else word.start()


def _operand(text: str, at: int) -> int | None:
    """Where the value ends that begins at a place, with a sign of its own; None where that is not plain to see."""
    found = re.compile(r"[ ]*-?[ ]*(?:(?:\d+\.?\d*|\.\d+)(?![\w.])|[A-Za-z_]\w*)?", re.ASCII).match(text, at)
    end = at if found is None else found.end()
    empty = not text[at:end].strip(" -")
    while end < len(text) and text[end] in "([":
        depth = 0
        while end < len(text):
            depth += (text[end] in "([") - (text[end] in ")]")
            end += 1
            if not depth:
                break
        else:
            return None
        empty = False
    further = text[end : end + 2]
    return None if empty or further.startswith(("^", "**")) or further[:1] in _ABOVE else end


def word(text: str, at: int) -> str:
    """The word that begins at a place, or the character there."""
    match = re.compile(r"\w+").match(text, at)
    return match.group() if match else text[at]


def of_function(text: str, at: int) -> str | None:
    """What is said of the `^` of `sin^2(x)`: how the line is written; nothing of any further one, None of others."""
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0].partition("#")[0].rstrip()
    found = list(_OF_FUNCTION.finditer(line))
    if not any(m.start() < at - start < m.end() for m in found):
        return None
    if not found[0].start() < at - start < found[0].end():
        return ""
    for m in reversed(found):
        end = _closed(line, m.end())
        if end is None:
            return None
        line = f"{line[: m.start()]}{m[1]}{line[m.end() : end]}**{m[2]}{line[end:]}"
    return f"a power of a function stands behind its argument: `{line.strip().replace('^', '**')}`"


def _closed(text: str, at: int) -> int | None:
    """Where the brackets end that open at a place."""
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] in "([") - (text[k] in ")]")
        if not depth:
            return k + 1
    return None


def powers(text: str, at: int) -> str | None:
    """What is said of one of several `^` of a line: of the first how the line is written, of others nothing more.

    None where it is the only one, or one of LaTeX.
    """
    before = text[:at].rpartition("\n")[2]
    line = (before + text[at:].partition("\n")[0]).partition("#")[0].strip().strip("\"'")
    if line.count("^") < 2 or "{" in line:
        return None
    return "" if "^" in before else f"a power is written `**`: `{line.replace('^', '**')}`"
