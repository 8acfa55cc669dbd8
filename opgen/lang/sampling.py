"""Signs of statisticians: `y ~ normal(mu, sigma)`, the bar of `normal_lpdf(y | mu, sigma)`, and `Φ(x)`.

Text and a place in it in; out what the sign stands for, and what is said of a statement with one.
"""

from __future__ import annotations

import re

from opgen.diagnostics.model import Span
from opgen.lang import densities
from opgen.lang.commas import between_commas
from opgen.lang.habits import SEEDED
from opgen.lang.layout import CONSTANTS
from opgen.lang.vocabulary import Vocabulary

_TARGET = re.compile(r"\s*(?:forward\s*:\s*)?[\"']?(?P<name>[A-Za-z_]\w*)(?P<at>\[[^\[\]\n]*\])?\s*")
_CALL = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*\((?P<args>.*)\)\s*(?:T\[.*\])?\s*[;\"']?\s*")
_BARE = re.compile(r"\[[^\[\]]*\]|(?<![\w.])(?P<name>[A-Za-z_]\w*)(?!\w*\s*[\[(])")
_ATOM = re.compile(r"[\w.]+(?:\[[^\[\]]*\]|\([^()]*\))?")
_GENERAL = (
    "a draw of a distribution is made from a seed, `y[n] = mu[n] + sigma*normal(seed)` with the deviation `sigma`, and "
    "a log density is written out"
)


def distributed(text: str, at: int) -> str:
    """What a sign is for the parser that parts a target from its distribution, or a value from what is given; or the
    function that a sign is the name of."""
    if text[at] == "\u03a6" and text[at + 1 :].lstrip().startswith("("):
        return "Phi"
    if text[at] == "~" and _TARGET.fullmatch(text[:at].rpartition("\n")[2]) and text[at + 1 : at + 2] != "=":
        return "~"
    return "," if text[at] == "|" and densities.GIVEN.search(text[:at].rpartition("\n")[2]) else ""


def of_distribution(words: Vocabulary, at: Span) -> tuple[str, ...]:
    """What is said of the statement of a `~`: how a draw is written, and how a log density."""
    source = at.source.text
    target = _TARGET.fullmatch(source[: at.start].rpartition("\n")[2])
    call = _CALL.fullmatch(source[at.end :].partition("\n")[0].partition("#")[0])
    if target is None or call is None:
        return (_GENERAL,)
    args = [_spelt(words, a) for a in between_commas(call["args"])] if call["args"].strip() else []
    of = _spelt(words, target["name"] + (target["at"] or ""))
    beside = max((f"[{', '.join(letters)}]" for a in args for letters in _letters(words, a)), key=len, default="")
    of = of if of.endswith("]") else of + beside
    items = of[len(target["name"]) :]
    made = densities.of_statement(call["name"], [a if _ATOM.fullmatch(a) else f"({a})" for a in args], of)
    if made is None:
        return (_GENERAL,)
    draw, density = made
    hints = []
    if draw and target["name"] not in words.inputs:
        hints = [
            f"a draw is written `{of} = {draw}`",
            *([] if words.knows("seed") else [SEEDED.format(words.seeded())]),
        ]
    name = next(n for n in ("lp", "logp", "log_p", "log_density") if not words.knows(n) and n not in words.assigned)
    summed = f"sum{items}({density})" if items else density
    return (*hints, f"{'or, for' if hints else 'for'} its log density: `{name} = {summed}`")


def _letters(words: Vocabulary, text: str) -> list[tuple[str, ...]]:
    """The indices at which the tensors in a formula are read."""
    return [words.letters[name] for name in re.findall(r"\w+(?=\[)", text) if words.letters.get(name)]


def _spelt(words: Vocabulary, text: str) -> str:
    """A formula with the indices at which bare tensors in it are read."""

    def read(m: re.Match[str]) -> str:
        letters = words.letters.get(m["name"] or "", ())
        return f"{m['name']}[{', '.join(letters)}]" if letters and m["name"] not in CONSTANTS else m[0]

    return _BARE.sub(read, text)
