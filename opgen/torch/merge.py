"""The listings of all variants of an operator as the lines of one function.

In goes one `Listing` per variant; out come indented lines. Lines that variants have in common stand once; the others
under `if bias is not None:` or `if reduction == "mean":`. In a gradient function a line that only some of the results
need stands under their entries of the mask.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from opgen.torch.conditions import Switches, chain
from opgen.torch.join import joined
from opgen.torch.liveness import renamed, used_names
from opgen.torch.order import Line, Members, united
from opgen.torch.program import WIDTH, Listing
from opgen.torch.scope import Step


def merged(
    listings: Sequence[Listing],
    results: tuple[str, ...],
    *,
    masked: bool,
    joins: bool = False,
    taken: Sequence[str] = (),
) -> tuple[Line, ...]:
    """All lines, each once where variants agree, in an order that suits every variant.

    `joins`: also with lines for the sake of others (`opgen.torch.join`), and with locals that make room for the name
    that another variant has for a value; new ones are none of `taken`.

    In a masked function lines are put in another order later, so that no name may stand for two values.
    """
    listings = _same_names(listings, reuse=not masked)
    if joins:
        names = frozenset(n for x in listings for s in x.steps for n in (s.target, *used_names(s.text)))
        listings = _same_names(joined(listings), reuse=not masked, taken=names | frozenset(taken))
    listings = _same_steps(listings)
    lines: list[Line] = []
    for i, listing in enumerate(listings):
        needs = _needs(listing)
        own = [Line(s, frozenset((i,)), n) for s, n in zip(listing.steps, needs, strict=True)]
        lines = _woven(lines, own)
    lines = united(lines) if joins else lines
    order = {r: i for i, r in enumerate(results)}
    return tuple(replace(x, results=tuple(sorted(x.results, key=order.__getitem__))) for x in _folded(_closed(lines)))


def _closed(lines: list[Line]) -> list[Line]:
    """Results also need what the lines they need read, in whichever variant it is assigned."""
    needed = [dict.fromkeys(x.results) for x in lines]
    assigned: dict[str, list[int]] = {}
    for i, x in enumerate(lines):
        assigned.setdefault(x.step.target, []).append(i)
    for i in range(len(lines) - 1, -1, -1):
        for j in (j for name in used_names(lines[i].step.text) for j in assigned.get(name, ())):
            if j < i and lines[j].variants & lines[i].variants:
                needed[j] |= needed[i]
    pairs = zip(lines, needed, strict=True)
    return [x if len(own) == len(x.results) else replace(x, results=tuple(own)) for x, own in pairs]


def _folded(lines: list[Line]) -> list[Line]:
    """`x = a` and `x = x.to(dtype)` of the same variants as `x = a.to(dtype)`, where `a` is a call and it fits."""
    out: list[Line] = []
    for x in lines:
        last = out[-1] if out else None
        name = f"{x.step.target}."
        if (
            last is not None
            and last.step.target == x.step.target
            and (last.variants, last.results) == (x.variants, x.results)
            and x.step.text.startswith(name)
            and not re.search(rf"(?<![\w.]){x.step.target}\b", x.step.text[len(name) :])
            and (last.step.text.isidentifier() or re.fullmatch(r"[\w.]+\(.*\)", last.step.text))
            and len(last.step.line) + len(x.step.text) - len(name) < WIDTH
            and _one_call(last.step.text)
        ):
            out[-1] = replace(last, step=Step(x.step.target, last.step.text + x.step.text[len(name) - 1 :]))
        else:
            out.append(x)
    return out


def _one_call(text: str) -> bool:
    """Is the text a chain of calls, nothing outside of their parentheses?"""
    depth = 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if depth == 0 and c == " ":
            return False
    return True


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
    number: dict[Step, int] = {}
    ours, theirs = ([number.setdefault(x.step, len(number)) for x in lines] for lines in (a, b))
    start = next((k for k, (x, y) in enumerate(zip(ours, theirs, strict=False)) if x != y), min(len(a), len(b)))
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, start - 1, -1):
        row, after, own = best[i], best[i + 1], ours[i]
        for j in range(len(b) - 1, start - 1, -1):
            if own == theirs[j]:
                row[j] = after[j + 1] + 1
            else:
                row[j] = after[j] if after[j] > row[j + 1] else row[j + 1]
    out: list[Line] = []
    i = j = 0
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and ours[i] == theirs[j]:
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


# --- one name for one value ------------------------------------------------------------------------------------------


def _same_names(
    listings: Sequence[Listing], *, reuse: bool, taken: frozenset[str] = frozenset()
) -> tuple[Listing, ...]:
    """Steps renamed so that variants have more lines in common.

    A value gets the name it has in a variant before. And with `reuse`, what one variant calls `output` another may go
    on computing with: it is called so there too, where the name is free until it is assigned again.
    """
    out = list(listings)
    kept = tuple(name for x in listings for _, name in x.returns)
    for i in range(len(out)):
        for j, other in enumerate(listings):
            if j != i and (j < i or reuse):
                if taken and j < i:
                    out[i], taken = _making_room(out[i], out[j], kept, taken)
                out[i] = _adopted(out[i], out[j] if j < i else other, kept, reuse=reuse, fresh=j < i)
    return tuple(out)


def _adopted(listing: Listing, other: Listing, kept: tuple[str, ...], *, reuse: bool, fresh: bool) -> Listing:
    """The listing with names of another one: names it does not have (`fresh`), or assigns later (`reuse`)."""
    theirs = {s.text: s.target for s in other.steps if not s.size}
    for i in range(len(listing.steps)):
        s = listing.steps[i]
        wanted = theirs.get(s.text, s.target)
        if wanted == s.target or s.target in kept or s.size:
            continue
        once = sum(t.target == s.target for t in listing.steps) == 1
        free = fresh and once and wanted not in kept and not _has(listing, wanted)
        if free or (reuse and _may_reuse(listing, i, wanted)):
            listing = _renamed(listing, i, wanted)
    return listing


def _has(listing: Listing, name: str) -> bool:
    return any(name == s.target or name in used_names(s.text) for s in listing.steps)


def _making_room(
    listing: Listing, other: Listing, kept: tuple[str, ...], taken: frozenset[str]
) -> tuple[Listing, frozenset[str]]:
    """The listing without locals whose name another variant has for a value that is called otherwise here."""
    theirs = {s.text: s.target for s in other.steps if not s.size}
    for i in range(len(listing.steps)):
        s = listing.steps[i]
        wanted = theirs.get(s.text, s.target)
        if wanted == s.target or s.size or wanted in kept or s.target in kept:
            continue
        times = Counter(t.target for t in listing.steps)
        k = next((k for k, t in enumerate(listing.steps) if t.target == wanted and not t.size), None)
        if k is None or max(times[wanted], times[s.target]) > 1:
            continue
        if theirs.get(listing.steps[k].text) == wanted:
            continue
        base = re.sub(r"_\d+$", "", wanted)
        free = next(n for n in (f"{base}_{number}" for number in count(2)) if n not in taken)
        listing, taken = _renamed(_renamed(listing, k, free), i, wanted), taken | {free}
    return listing, taken


def _may_reuse(listing: Listing, i: int, wanted: str) -> bool:
    """Is the step's value last used where `wanted` is first assigned, and nowhere else?"""
    old = listing.steps[i].target
    if any(s.target == old for s in listing.steps[i + 1 :]):
        return False
    uses = [j for j, s in enumerate(listing.steps) if old in used_names(s.text)]
    writes = [j for j, s in enumerate(listing.steps) if s.target == wanted]
    reads = [j for j, s in enumerate(listing.steps) if wanted in used_names(s.text)]
    return bool(uses and writes) and max(uses) <= writes[0] and writes[0] > i and all(j > writes[0] for j in reads)


def _renamed(listing: Listing, i: int, wanted: str) -> Listing:
    old = listing.steps[i].target
    steps = list(listing.steps)
    steps[i] = replace(steps[i], target=wanted)
    for j in range(i + 1, len(steps)):
        if old in used_names(steps[j].text):
            steps[j] = replace(steps[j], text=renamed(steps[j].text, old, wanted))
    return replace(listing, steps=tuple(steps))


# --- one step for one operation --------------------------------------------------------------------------------------


def _same_steps(listings: Sequence[Listing]) -> tuple[Listing, ...]:
    """`y = a * w + b` as `y = a`, `y = y * w`, `y = y + b`, where other variants stop at `a` or at `a * w`."""
    texts: dict[str, dict[str, None]] = {}
    for listing in listings:
        for s in listing.steps:
            texts.setdefault(s.target, {})[s.text] = None
    return tuple(
        replace(x, steps=tuple(t for s in x.steps for t in _stages(s, tuple(texts[s.target])))) for x in listings
    )


def _stages(s: Step, others: tuple[str, ...]) -> list[Step]:
    """A step as the longest shorter one of another variant, and what it does beyond that."""
    shorter = [(t, s.text[len(t) :]) for t in others if s.text != t and s.text.startswith(t)]
    bases = [t for t, rest in shorter if _continues(t, rest) and s.target not in used_names(rest)]
    if s.size or not bases:
        return [s]
    base = max(bases, key=len)
    return [*_stages(Step(s.target, base), others), Step(s.target, s.target + s.text[len(base) :])]


def _continues(base: str, rest: str) -> bool:
    """Does the rest apply one operator to all of the base?"""
    if not rest.startswith((" * ", " + ", " - ")):
        return False
    signs, of_base = _signs(rest[3:]), _signs(base)
    if rest[1] == "*":
        return signs == "" and not any(c in of_base for c in "+-<")
    return not any(c in signs for c in "+-<") and "<" not in of_base


def _signs(text: str) -> str:
    """The operators of a text outside of parentheses; `<` stands for all that bind less than a sum."""
    depth, out = 0, ""
    for word in text.split(" "):
        if depth == 0 and word in ("+", "-", "*", "/", "@", "//", "%", "**"):
            out += word
        elif depth == 0 and word in ("if", "else", "and", "or", "not", "&", "|", "<", "<=", ">", ">=", "==", "!="):
            out += "<"
        depth += sum((c in "([") - (c in ")]") for c in word)
    return out


# --- layout ----------------------------------------------------------------------------------------------------------


def laid_out(lines: Sequence[Line], switches: Switches) -> list[str]:
    """The lines under the conditions of their variants."""
    return collapsed(_block(list(lines), switches.everything, switches, ""))


def collapsed(lines: list[str]) -> list[str]:
    """`if a:` around nothing but `if b:` as `if a and b:`."""
    out: list[str] = []
    i = 0
    while i < len(lines):
        end = i + 1
        while end < len(lines) and lines[end].startswith("    "):
            end += 1
        inside = collapsed([x[4:] for x in lines[i + 1 : end]])
        alone = lines[i].startswith("if ") and not (end < len(lines) and lines[end].startswith("el"))
        if alone and inside[0].startswith("if ") and all(x.startswith("    ") for x in inside[1:]):
            tests = [_grouped(x.removeprefix("if ").removesuffix(":")) for x in (lines[i], inside[0])]
            out.append(f"if {' and '.join(tests)}:")
            inside = [x[4:] for x in inside[1:]]
        else:
            out.append(lines[i])
        out += [f"    {x}" for x in inside]
        i = end
    return out


def _grouped(condition: str) -> str:
    return f"({condition})" if " or " in condition else condition


def _block(lines: list[Line], universe: Members, switches: Switches, indent: str) -> list[str]:
    out: list[str] = []
    i = 0
    while i < len(lines):
        if lines[i].variants >= universe:
            out += [indent + x for x in lines[i].step.line.split("\n")]
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
            narrowed = [x if x.variants <= members else replace(x, variants=x.variants & members) for x in inside]
            out += _block(narrowed, members, switches, indent + "    ")
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
