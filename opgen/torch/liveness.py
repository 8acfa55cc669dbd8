"""Which lines of a function something depends on.

In go the steps of a function in order and the names of its results; out come the steps that are needed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from opgen.torch.scope import Step

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


@lru_cache(maxsize=1 << 16)  # variants have most of their lines in common, and each is asked about for every other
def used_names(text: str) -> tuple[str, ...]:
    """The identifiers in a piece of code, attributes and string contents aside."""
    return tuple(dict.fromkeys(_NAME.findall(re.sub(r'"[^"]*"', '""', text))))


def live(steps: Sequence[Step], results: Sequence[str]) -> tuple[Step, ...]:
    """The steps that results depend on."""
    wanted, kept = dict.fromkeys(results), list[Step]()
    for step in reversed(steps):
        if step.target in wanted:
            del wanted[step.target]
            wanted.update(dict.fromkeys(used_names(step.text)))
            kept.append(step)
    return tuple(reversed(kept))
