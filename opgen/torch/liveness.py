"""Which lines of a function something depends on, and lines with another name in them.

In go the steps of a function in order and the names of its results; out come the steps that are needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from opgen.torch.scope import Step

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_PIECES = re.compile(r"(\"[^\"]*\"|(?<![\w.])[A-Za-z_]\w*)")
_ASKED = 1 << 15  # variants have most of their lines in common, and each is asked about for every other


@lru_cache(maxsize=_ASKED)
def used_names(text: str) -> tuple[str, ...]:
    """The identifiers in a piece of code, attributes and string contents aside."""
    return tuple(dict.fromkeys(_NAME.findall(re.sub(r'"[^"]*"', '""', text))))


@lru_cache(maxsize=_ASKED)
def _pieces(text: str) -> tuple[str, ...]:
    """A text with its names, and its strings, at the odd places."""
    return tuple(_PIECES.split(text))


def renamed(text: str, old: str, new: str) -> str:
    """The code with another name for one of its identifiers."""
    return "".join([new if p == old else p for p in _pieces(text)]) if old in text else text


def live(steps: Sequence[Step], results: Sequence[str]) -> tuple[Step, ...]:
    """The steps that results depend on."""
    wanted, kept = dict.fromkeys(results), list[Step]()
    for step in reversed(steps):
        if step.target in wanted:
            del wanted[step.target]
            wanted.update(dict.fromkeys(used_names(step.text)))
            kept.append(step)
    return tuple(reversed(kept))
