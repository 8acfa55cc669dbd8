"""A formula as in a paper, `Y = X W^T + b` or `\\frac{x}{1 + e^{-x}}`, in the notation that drafts are read in.

Lines of text in, lines out: signs around a formula go, tensors have small letters, matrices beside each other are
multiplied, and what is LaTeX is translated where all of a line is understood. Any other line stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.lang import latex, latex_lines
from opgen.schema.reductions import REDUCTIONS

_AROUND = re.compile(r"^\s*(?:\$\$?|\\\(|\\\[)\s*|\s*(?:\$\$?|\\\)|\\\])\s*$")
_WORDS = re.compile(r"\\(?:mathrm|mathbf|mathit|operatorname|text|textrm|textbf|vec|boldsymbol)\{\s*(\w+)\s*\}")
_NOTHING = re.compile(r"\\(?:left|right|displaystyle|,|;|:|!)(?![A-Za-z])")
_TURNED = re.compile(r"(?<=[A-Za-z0-9])(?:\s*\^\s*(?:\{\s*(?:T|\\top|\\intercal)\s*\}|T\b|\\top\b)|\u1d40|\u22a4)")
_INDEXED = re.compile(r"\[|\\(?:sum|prod)|[A-Z]\w*?_(?:\{?(?:[a-z]{2}|[ijkn])\}?(?!\w)|\{[a-z](?:\s*,\s*[a-z])+\})")
_GLUED = re.compile(r"(?<![A-Za-z0-9_\\])([A-Z])([A-Z](?=\s*\^|\u1d40|\u22a4|\.T)|[a-z](?![\w(\[]))")  # `QK^T`, `Wx`
_SIGMOID = re.compile(r"(?:\\sigma|\u03c3)(?=\s*\()")
_ROW = r"[A-Za-z]\w*\[(?:[^\[\]:,]+,\s*)*:(?:\s*,[^\[\]:,]+)*\]"  # read along one whole axis
_OF_ROWS = re.compile(rf"(?<![\w.])(?:dot\(\s*({_ROW})\s*,\s*({_ROW})\s*\)|({_ROW})\s*[*\u00b7\u22c5@]?\s*({_ROW}))")
_NAMED = re.compile(r"([A-Za-z]+)_\{([a-z]\w*)\}")
_OF = re.compile(r"(?P<name>[A-Za-z]\w*)\s*\((?P<given>[\w\s,;]*)\)\s*:?=(?!=)\s*(?P<value>.+)")
_MATRIX = r"[A-Z]\w*(?:\.T)?"
_BESIDE = re.compile(rf"(?<=[\w)])(?<!\b\d)\s+(?={_MATRIX}|[a-z]\w*(?![\w(])|\()")
_CAPITAL = re.compile(r"(?<![\w.\\])(?=\w*[A-Z])[A-Za-z]\w*+(?!\s*\()")
_INDEX = re.compile(r"(?<![\w.])[a-z]\w*")


def plain(formula: str) -> str:
    """The lines of a formula in the notation of drafts; one without `=` stays without."""
    lines = [_AROUND.sub("", line).strip() for line in formula.strip().splitlines()]
    made = [_line(_contracted(line)) for line in lines if line]
    return "\n".join(_small(made))


def _contracted(line: str) -> str:
    """A line with products of two rows as sums over their axis: `s[i, j] = q[i, :] * k[j, :]`.

    The target has no such axis: its indices all stand on the right. What is reduced already stays as it is.
    """
    left, _, right = line.partition("=")
    items = re.findall(r"\w+", left.partition("[")[2])
    free = not items or ":" in left or any(not re.search(rf"(?<!\w){i}(?!\w)", right) for i in items)
    if free or ":" in _OF_ROWS.sub("", right) or any(w in REDUCTIONS for w in re.findall(r"(\w+)\s*\(", right)):
        return line
    index = next(c for c in "dkmpqruv" if not re.search(rf"(?<!\w){c}(?!\w)", line))

    def summed(m: re.Match[str]) -> str:
        first, second = (part.replace(":", index) for part in m.groups() if part is not None)
        return f"sum[{index}]({first}*{second})"

    return f"{left}={_OF_ROWS.sub(summed, right)}"


def _line(line: str) -> str:
    """A line with products of matrices as `@`, and without LaTeX; itself where not all of that is understood."""
    text = _SIGMOID.sub("sigmoid", _NOTHING.sub("", _WORDS.sub(r"\1", line)))
    text = re.sub(r"\)(?=[A-Z])", ") ", _GLUED.sub(r"\1 \2", text))
    if (of := _OF.fullmatch(text)) is not None and _is_read(of["given"], of["value"]):
        text = f"{of['name']} = {of['value']}"
    left, sign, right = text.partition("=") if re.search(r"(?<![=!<>])=(?!=)", text) else ("y ", "=", text)
    if not _is_of_matrices(right):
        whole = latex_lines.whole_line(f"{left}{sign}{right}", 0, "")
        return re.sub(r"\](?=[A-Za-z])", "]*", whole) or (text if sign in text else line)
    turned = _TURNED.sub(".T", right)
    named = _NAMED.sub(lambda m: f"{m[1]}_{m[2]}", turned)
    value = re.sub(r"\\(?=[a-z]+\s*\()", "", latex.without_fractions(named))
    value = re.sub(r"(?<![\w.])(\d+(?:\.\d*)?)\s+(?=[A-Za-z(])", r"\1*", value)
    return f"{left.strip()} = {_BESIDE.sub(' @ ', value.strip())}"


def _is_read(given: str, value: str) -> bool:
    """Whether a formula reads the arguments of its function by their names alone."""
    names = re.findall(r"\w+", given)
    return bool(names) and all(re.search(rf"(?<![\w\\]){n}(?![\w(])", value) for n in names)


def _is_of_matrices(value: str) -> bool:
    """Whether a value multiplies capitals, or turns them, with no indices in it."""
    bare = _TURNED.sub(".T", value)
    beside = re.search(rf"(?<![\w.])(?:{_MATRIX}|\))\s+(?:{_MATRIX}|[a-z]\w*|\()(?![\w(])", bare)
    return (bare != value or beside is not None) and _INDEXED.search(bare) is None


def _small(lines: Sequence[str]) -> list[str]:
    """The lines with tensors in small letters: all capitals but sizes, which have an index of their letter."""
    text = "\n".join(lines)
    names = {m[0] for m in _CAPITAL.finditer(text)}
    within = " ".join(re.findall(r"\[([^\[\]]*)\]", text))
    indices, taken = {*_INDEX.findall(within)}, {*re.findall(r"(?<![\w.\\])[a-z]\w*", text)}
    made: dict[str, str] = {}
    for name in sorted(names):
        is_tensor = re.search(rf"(?<![\w.]){name}(?:\[|\.T|\s*@|(?:\[[^\]]*\])?\s*=(?!=))|@\s*{name}\b", text)
        if is_tensor is None and ({name.lower(), name.lower()[:1]} & indices or f"[{name}" in text):
            continue
        small = name.lower() if name.lower() not in taken else f"{name.lower()}_matrix"
        made[name] = small
        taken.add(small)
    return [_CAPITAL.sub(lambda m: made.get(m[0], m[0]), line) for line in lines]
