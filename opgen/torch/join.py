"""One name for what stands in one place: where a variant goes on with an argument and another with what it made of it.

In go the listings of all variants; out come the same with lines such as `grad_each = grad_output`, where the lines that
follow are then those of another variant, which has `grad_each = grad_output / n`. These stand once, under no condition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from opgen.torch.liveness import renamed, used_names
from opgen.torch.program import Listing
from opgen.torch.scope import Step

_FEWEST = 2  # lines that have to become the same, to be worth another one
_HOLE = "\0"


def joined(listings: Sequence[Listing]) -> tuple[Listing, ...]:
    """The listings with such lines, as long as there are any that make others the same."""
    out = list(listings)
    kept = frozenset(name for x in listings for _, name in x.returns)
    for i, theirs in enumerate(listings):
        for j in range(len(out)):
            while i != j and (pair := _pair(theirs, out[j], kept)) is not None:
                out[j] = _with(out[j], theirs, *pair)
    return tuple(out)


def _pair(theirs: Listing, own: Listing, kept: frozenset[str]) -> tuple[str, str] | None:
    """A name of another variant, and the name that most lines of this one have in its place."""
    mine = frozenset(n for s in own.steps for n in (s.target, *used_names(s.text)))
    made = Counter(s.target for s in theirs.steps)
    once = frozenset(s.target for s in theirs.steps if made[s.target] == 1 and not s.size) - mine - kept
    again = frozenset(n for n, k in Counter(s.target for s in own.steps).items() if k > 1)
    shared = frozenset(s.text for s in theirs.steps)
    forms: dict[str, str] = {}
    for s in theirs.steps:
        forms |= {form: name for name, form in _forms(s) if name in once}
    found = Counter(
        (forms[form], name)
        for s in own.steps
        if s.text not in shared
        for name, form in _forms(s)
        if form in forms and name not in again
    )
    pair, count = max(found.items(), key=lambda x: x[1], default=(None, 0))
    return pair if count >= _FEWEST else None


@lru_cache(maxsize=1 << 14)  # each line is asked about for every other variant
def _forms(s: Step) -> tuple[tuple[str, str], ...]:
    """A text with each of its names left open in turn."""
    if s.size or "\n" in s.text:
        return ()
    return tuple((name, renamed(s.text, name, _HOLE)) for name in used_names(s.text))


def _with(own: Listing, theirs: Listing, name: str, old: str) -> Listing:
    """The listing with `name = old`, read in every line that is then one of another variant."""
    wanted = frozenset(s.text for s in theirs.steps if name in used_names(s.text))
    steps, there = list[Step](), False
    for s in own.steps:
        text = renamed(s.text, old, name)
        joins = text != s.text and text in wanted and not s.size
        if joins and not there:
            steps.append(Step(name, old))
            there = True
        steps.append(replace(s, text=text) if joins else s)
    return replace(own, steps=tuple(steps))
