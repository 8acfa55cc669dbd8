"""Lines of a function in an order in which each condition is asked as few times as can be.

In go lines of all variants; out come the same lines, none before what it needs. Lines under one condition come together
as far as they can: what is ready under the condition that stands open is taken before anything else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from opgen.torch.liveness import used_names
from opgen.torch.scope import Step

Members = frozenset[int]
Label = tuple[Members, tuple[str, ...]]  # under which conditions a line stands: its variants, and the results asked for


@dataclass(frozen=True, slots=True)
class Line:
    """An assignment, the variants that have it, and the results that need it (all of them: the mask is not asked)."""

    step: Step
    variants: Members
    results: tuple[str, ...] = ()


def least_asked(bodies: Iterable[list[str]]) -> list[str]:
    """The first body that asks no condition more than twice; else the one that does so least."""
    found: list[list[str]] = []
    for body in bodies:
        if not _repeated(body):
            return body
        found.append(body)
    return min(found, key=lambda body: (_repeated(body), len(body)))


def _repeated(lines: Sequence[str]) -> int:
    """How often conditions are asked beyond the second time."""
    asked = Counter(_question(x.strip()) for x in lines if x.lstrip().startswith(("if ", "elif ")))
    return sum(max(0, n - 2) for n in asked.values())


def _question(line: str) -> str:
    """What a line asks, the same for a condition and its opposite."""
    return line.removeprefix("el").replace(" != ", " == ").replace(" is not None", " is None").replace("if not ", "if ")


def scheduled(lines: Sequence[Line], label: Callable[[Line], Label], everything: Label) -> list[Line]:
    """The lines with those of one label together; those that always run first, and among equals in the order given."""
    after, missing = _after(lines)
    labels = [label(x) for x in lines]
    ready: defaultdict[Label, list[int]] = defaultdict(list)  # heaps
    for i, n in enumerate(missing):
        if not n:
            ready[labels[i]].append(i)
    out, last = list[Line](), everything
    while ready:
        last = min(ready, key=lambda x: (_distance(x, last, everything), ready[x][0]))
        i = heappop(ready[last])
        if not ready[last]:
            del ready[last]
        out.append(lines[i])
        for j in after[i]:
            missing[j] -= 1
            if not missing[j]:
                heappush(ready[labels[j]], j)
    return out


def _distance(a: Label, b: Label, everything: Label) -> int:
    """How much has to be asked between a line and the next: nothing, something more, or something else."""
    if a == b:
        return 0
    if a == everything:
        return 4
    if a[1] != b[1]:
        return 3
    return 1 if a[0] <= b[0] or a[0] >= b[0] else 2


def _after(lines: Sequence[Line]) -> tuple[list[list[int]], list[int]]:
    """For each line those that have to come after it, and how many have to come before it."""
    after, missing = [list[int]() for _ in lines], [0] * len(lines)
    writers, readers = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for j, x in enumerate(lines):
        target, names = x.step.target, used_names(x.step.text)
        for i in sorted({*readers[target], *writers[target], *(i for name in names for i in writers[name])}):
            if not lines[i].variants.isdisjoint(x.variants):
                after[i].append(j)
                missing[j] += 1
        writers[target].append(j)
        for name in names:
            readers[name].append(j)
    return after, missing


def _ordered(a: Line, b: Line) -> bool:
    """Does it matter which of two lines comes first, in a variant that has both?"""
    if a.variants.isdisjoint(b.variants):
        return False
    first, second = a.step, b.step
    return first.target in (second.target, *used_names(second.text)) or second.target in used_names(first.text)


def united(lines: Sequence[Line]) -> list[Line]:
    """The lines with those that say the same in different variants as one, where one of them may move to the other."""
    out: list[Line] = []
    for x in lines:
        for i in (i for i, y in enumerate(out) if y.step == x.step and y.variants.isdisjoint(x.variants)):
            both = Line(x.step, out[i].variants | x.variants, tuple(dict.fromkeys((*out[i].results, *x.results))))
            if not any(_ordered(y, x) for y in out[i + 1 :]):
                out[i] = both
                break
            if not any(_ordered(out[i], y) for y in out[i + 1 :]):
                del out[i]
                out.append(both)
                break
        else:
            out.append(x)
    return out
