"""Texts that nobody should feed to opgen: specs with bytes, tokens, lines and keys changed, and texts from nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\.\.|\*\*|//|[<>=!]=|\s+|.", re.DOTALL)
_NUMBERS = ("0", "-1", "9" * 400, "1e999", "-1e-999", "0x10", "010", "1_000", ".5.", "12:30:45", "2**63", "1e18", "nan")
_LOOKALIKES = {"a": "а", "e": "е", "o": "о", "x": "х", "-": "−", "*": "∗", "(": "（", ")": "）", ":": "：", "=": "＝",
               ",": "，", "'": "’", '"': "“", " ": "\u00a0", "0": "０", "i": "ı", "K": "\u212a"}  # fmt: skip
_STRANGE = ("\0", "\t", "\r", "\x0b", "\x1b[31m", "\u2028", "\u202e", "\ufeff", "\U0001f600", "\x7f", "\ud7ff", "é")
_MARKS = ("&a ", "*a", "!!python/object:os.system ", "<<: ", "? ", "| ", "> ", "- ", "---\n", "...\n", "%YAML 9.9\n",
          "# ", "{", "}", "[", "]", "!", "@", "`", "{{ x }}", "{% raw %}")  # fmt: skip
_FIELDS = (
    "op",
    "inputs",
    "outputs",
    "params",
    "dims",
    "forward",
    "backward",
    "functions",
    "tests",
    "reference",
    "save",
)

Mutation = Callable[[Random, str, Sequence[str]], str]


def _place(r: Random, text: str) -> int:
    return r.randrange(len(text) + 1)


def _delete(r: Random, text: str, _: Sequence[str]) -> str:
    at = _place(r, text)
    return text[:at] + text[at + r.choice((1, 1, 2, 5, 20, 100)) :]


def _repeat(r: Random, text: str, _: Sequence[str]) -> str:
    at = _place(r, text)
    return text[:at] + text[at : at + r.choice((1, 3, 10, 60))] * r.choice((2, 2, 3, 50)) + text[at:]


def _insert(r: Random, text: str, _: Sequence[str]) -> str:
    at = _place(r, text)
    return text[:at] + r.choice((*_STRANGE, *_MARKS, *_NUMBERS, chr(r.randrange(32, 127)))) + text[at:]


def _truncate(r: Random, text: str, _: Sequence[str]) -> str:
    return text[: _place(r, text)]


def _tokens(text: str) -> tuple[list[str], list[int]]:
    tokens = _TOKEN.findall(text)
    return tokens, [k for k, t in enumerate(tokens) if not t.isspace()]


def _swap_tokens(r: Random, text: str, _: Sequence[str]) -> str:
    tokens, solid = _tokens(text)
    if len(solid) > 1:
        a, b = r.sample(solid, 2)
        tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def _foreign_token(r: Random, text: str, others: Sequence[str]) -> str:
    tokens, solid = _tokens(text)
    theirs, chosen = _tokens(r.choice(others))
    if solid and chosen:
        tokens[r.choice(solid)] = theirs[r.choice(chosen)]
    return "".join(tokens)


def _number(r: Random, text: str, _: Sequence[str]) -> str:
    found = list(re.finditer(r"\d+(?:\.\d+)?", text))
    if not found:
        return text
    m = r.choice(found)
    return text[: m.start()] + r.choice(_NUMBERS) + text[m.end() :]


def _swap_lines(r: Random, text: str, _: Sequence[str]) -> str:
    lines = text.split("\n")
    a, b = r.randrange(len(lines)), r.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def _foreign_line(r: Random, text: str, others: Sequence[str]) -> str:
    lines = text.split("\n")
    lines.insert(r.randrange(len(lines) + 1), r.choice(r.choice(others).split("\n")))
    return "\n".join(lines)


def _indent(r: Random, text: str, _: Sequence[str]) -> str:
    lines = text.split("\n")
    k = r.randrange(len(lines))
    lines[k] = r.choice((" ", "  ", "\t")) + lines[k] if r.random() < 0.5 else lines[k].removeprefix(" ")
    return "\n".join(lines)


def _swap_keys(r: Random, text: str, _: Sequence[str]) -> str:
    keys = list(re.finditer(r"(?m)(?<=[{, \n])\w+(?=:)|^\w+(?=:)", text))
    if not keys:
        return text
    m = r.choice(keys)
    other = r.choice((*_FIELDS, *(k.group() for k in keys)))
    return text[: m.start()] + other + text[m.end() :]


def _nest(r: Random, text: str, _: Sequence[str]) -> str:
    at, depth = _place(r, text), r.choice((3, 40, 300, 5000))
    opening, closing = r.choice(
        (("(", ")"), ("[", "]"), ("{a: ", "}"), ("-", ""), ("sin(", ")"), ("where(x > 0, ", ", 0)"))
    )
    return text[:at] + opening * depth + text[at : at + 3] + closing * depth + text[at + 3 :]


def _lookalike(r: Random, text: str, _: Sequence[str]) -> str:
    found = [k for k, c in enumerate(text) if c in _LOOKALIKES]
    if not found:
        return text
    at = r.choice(found)
    return text[:at] + _LOOKALIKES[text[at]] + text[at + 1 :]


def _line_ends(r: Random, text: str, _: Sequence[str]) -> str:
    return text.replace("\n", r.choice(("\r\n", "\r", "\n\n", "\u2028")))


MUTATIONS: tuple[Mutation, ...] = (
    _delete, _repeat, _insert, _truncate, _swap_tokens, _swap_tokens, _foreign_token, _foreign_token, _number,
    _swap_lines, _foreign_line, _indent, _swap_keys, _swap_keys, _nest, _lookalike, _line_ends,
)  # fmt: skip


def mutated(r: Random, specs: Sequence[str]) -> bytes:
    """A spec with one to four changes, the last of which may be to its bytes."""
    text = r.choice(specs)
    for _ in range(r.choice((1, 1, 1, 2, 2, 4))):
        text = r.choice(MUTATIONS)(r, text, specs)
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    if data and r.random() < 0.08:
        data[r.randrange(len(data))] ^= 1 << r.randrange(8)
    return bytes(data)
