"""The listings of all variants of an operator as the lines of one function.

In goes one `Listing` per variant; out come indented lines. Lines that variants have in common stand once; the others under
`if bias is not None:` or `if reduction == "mean":`. In a gradient function a line that only some of the results need
stands under their entries of the mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.emit.torch_conditions import Switches, chain
from opgen.emit.torch_program import Listing, used_names
from opgen.emit.torch_scope import Step

Members = frozenset[int]


@dataclass(frozen=True, slots=True)
class Line:
    """An assignment, the variants that have it, and the results that need it (all of them: the mask is not asked)."""

    step: Step
    variants: Members
    results: tuple[str, ...] = ()


def merged(listings: Sequence[Listing], results: tuple[str, ...]) -> tuple[Line, ...]:
    """All lines, each once where variants agree, in an order that suits every variant."""
    listings = _same_names(listings)
    lines: list[Line] = []
    for i, listing in enumerate(listings):
        needs = _needs(listing)
        own = [Line(s, frozenset((i,)), n) for s, n in zip(listing.steps, needs, strict=True)]
        lines = _woven(lines, own)
    return tuple(replace(x, results=tuple(r for r in results if r in x.results)) for x in lines)


def _needs(listing: Listing) -> list[tuple[str, ...]]:
    """For each step the results that depend on it."""
    live: dict[str, dict[str, None]] = {}
    for result, name in listing.returns:
        live.setdefault(name, {})[result] = None
    out: list[tuple[str, ...]] = []
    for step in reversed(listing.steps):
        needed = live.pop(step.target, {})
        for name in used_names(step.text):
            live.setdefault(name, {}).update(needed)
        out.append(tuple(needed))
    return out[::-1]


def _woven(a: list[Line], b: list[Line]) -> list[Line]:
    """Two sequences with their longest common subsequence once."""
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            same = a[i].step == b[j].step
            best[i][j] = best[i + 1][j + 1] + 1 if same else max(best[i + 1][j], best[i][j + 1])
    out: list[Line] = []
    i = j = 0
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and a[i].step == b[j].step:
            needed = tuple(dict.fromkeys((*a[i].results, *b[j].results)))
            out.append(Line(a[i].step, a[i].variants | b[j].variants, needed))
            i, j = i + 1, j + 1
        elif j == len(b) or (i < len(a) and best[i + 1][j] >= best[i][j + 1]):
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out


# --- one name for one result -----------------------------------------------------------------------------------------


def _same_names(listings: Sequence[Listing]) -> tuple[Listing, ...]:
    """Steps renamed so that variants have more lines in common.

    What one variant calls `output` another may go on computing with: it is called so there too, where the name is
    not taken before it is assigned again.
    """
    out = list(listings)
    for i, listing in enumerate(out):
        for other in listings:
            listing = _adopted(listing, other)
        out[i] = listing
    return tuple(out)


def _adopted(listing: Listing, other: Listing) -> Listing:
    theirs = {s.text: s.target for s in other.steps}
    for i, s in enumerate(listing.steps):
        wanted = theirs.get(s.text, s.target)
        if wanted != s.target and _may_rename(listing, i, wanted):
            return _adopted(_renamed(listing, i, wanted), other)
    return listing


def _may_rename(listing: Listing, i: int, wanted: str) -> bool:
    """Is the step's value last used where `wanted` is first assigned, and nowhere else?"""
    old = listing.steps[i].target
    if any(name == old for _, name in listing.returns) or any(s.target == old for s in listing.steps[i + 1 :]):
        return False
    uses = [j for j, s in enumerate(listing.steps) if old in used_names(s.text)]
    writes = [j for j, s in enumerate(listing.steps) if s.target == wanted]
    reads = [j for j, s in enumerate(listing.steps) if wanted in used_names(s.text)]
    return bool(uses and writes) and max(uses) <= writes[0] and writes[0] > i and all(j > writes[0] for j in reads)


def _renamed(listing: Listing, i: int, wanted: str) -> Listing:
    import re

    old = listing.steps[i].target
    pattern = re.compile(rf"(?<![\w.]){re.escape(old)}\b(?!\")")
    steps = [
        replace(s, target=wanted if j == i else s.target, text=pattern.sub(wanted, s.text) if j > i else s.text)
        for j, s in enumerate(listing.steps)
    ]
    return replace(listing, steps=tuple(steps))


# --- layout ----------------------------------------------------------------------------------------------------------


def laid_out(lines: Sequence[Line], switches: Switches) -> list[str]:
    """The lines under the conditions of their variants."""
    return _block(list(lines), switches.everything, switches, "")


def _block(lines: list[Line], universe: Members, switches: Switches, indent: str) -> list[str]:
    out: list[str] = []
    i = 0
    while i < len(lines):
        if lines[i].variants >= universe:
            out.append(indent + lines[i].step.line)
            i += 1
            continue
        branches: list[tuple[Members, list[Line]]] = []
        while i < len(lines) and not lines[i].variants >= universe:
            here = _branch(lines, i, universe)
            members, end = here
            if any(members & other for other, _ in branches):
                break
            branches.append((members, lines[i:end]))
            i = end
        for keyword, (members, inside) in zip(
            chain([m for m, _ in branches], universe, switches), branches, strict=True
        ):
            out.append(indent + keyword)
            out += _block([replace(x, variants=x.variants & members) for x in inside], members, switches, indent + "    ")
    return out


def _branch(lines: list[Line], start: int, universe: Members) -> tuple[Members, int]:
    """The widest condition that covers the lines from here on, and how far it does."""
    members, end = lines[start].variants & universe, start + 1
    while end < len(lines):
        here = lines[end].variants & universe
        if here == universe or not (here <= members or here >= members):
            break
        members, end = members | here, end + 1
    return members, end
