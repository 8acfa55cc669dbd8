"""Loops of other languages over a range: over an axis, adding up, or one step after another."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Source, Span
from opgen.diagnostics.suggest import listed
from opgen.lang.habits import DOWNWARDS
from opgen.lang.layout import layout, spelled
from opgen.lang.nodes import Assign, Binder, Dots, Expr, Reduction
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import SPARE, Vocabulary
from opgen.lang.walk import statement_names

_LOOP = re.compile(r"for\s+(?P<index>\w+)\s+in\s+range\s*\(.*\)\s*:")
_EITHER_WAY = re.compile(
    r"for\s+(?P<index>\w+)\s+in\s+(?:reversed\s*\(\s*)?range\s*\(.*\)\s*(?:\[\s*::\s*-1\s*\]\s*)?:"
)
_DOWNWARDS = re.compile(r"for\s+\w+\s+in\s+(?:reversed\b|range\s*\([^:\n]*,\s*-\s*\w+\s*\)|[^:\n]*\[\s*::\s*-)")
_STEP = re.compile(r"(?P<name>[a-z]\w*)(?P<at>\[[^\[\]]*\])? *(?P<op>[-+*/]?)=(?!=) *(?P<value>.+)")
_BARE = re.compile(r"(?P<name>[a-z]\w*) *=(?!=) *(?P<value>.+)")
_FROM_0 = re.compile(r"range\s*\(\s*(?:0\s*,\s*)?(?P<count>\w+)\s*\)")


def downwards(text: str) -> str:
    """What is said of a loop that runs downwards; empty of any other statement."""
    return DOWNWARDS if _DOWNWARDS.match(text) else ""


def looped(text: str) -> str | None:
    """The index of a loop that indices on the left stand for: of one over a range, whose statements assign at it."""
    head, *body = (line for line in text.splitlines() if line.partition("#")[0].strip())
    loop = _EITHER_WAY.fullmatch(head.partition("#")[0].strip())
    if loop is None or not body:
        return None
    inner = [line.strip() for line in body if not _EITHER_WAY.fullmatch(line.partition("#")[0].strip())]
    at = re.compile(rf"\w+\[[^\]]*\b{loop['index']}\b[^\]]*\] *=(?!=).*")
    return loop["index"] if inner and all(at.fullmatch(line) for line in inner) else None


_ADDED = re.compile(
    r"\s*(?P<target>\w+(?:\[[^\]]*\])?)\s*(?:\+=|=\s*(?P=target)\s*\+)\s*(?P<value>[^#\n]+?)\s*(?:#.*)?"
)


def added_up(text: str) -> tuple[str, str] | None:
    """What a loop over a range adds up, `y[n] += x[n, k]`: the name of it, and the sum that it is."""
    head, *body = (line for line in text.splitlines() if line.partition("#")[0].strip())
    loop = _EITHER_WAY.fullmatch(head.partition("#")[0].strip())
    added = _ADDED.fullmatch(body[0]) if loop is not None and len(body) == 1 else None
    if loop is None or added is None or re.search(rf"\b{loop['index']}\b", added["target"]):
        return None
    name = added["target"].partition("[")[0]
    if re.search(rf"\b{name}\b", added["value"]):  # a step from what there is so far
        return None
    line = f"{added['target']} = sum[{loop['index']}]({added['value']})"
    return name, line


@dataclass(frozen=True, slots=True)
class Steps:
    """A loop whose values go on from the step before: its statements, where each value starts, and how it counts."""

    made: Sequence[re.Match[str]]
    starts: Sequence[Assign]
    index: str
    count: str
    written: str  # the indices that its targets have
    at: str  # and what they stand for
    begun: Sequence[str]  # the values of the starts, with every index that is meant
    values: Sequence[str]  # and those of its statements
    first: bool  # whether what is read has the steps before those indices

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(m["name"] for m in self.made)

    def place(self, position: str) -> str:
        """The brackets of a value at a step."""
        return (
            f"[{', '.join((position, self.at) if self.first else (self.at, position))}]" if self.at else f"[{position}]"
        )

    def read(self, text: str, now: Container[str], then: str) -> str:
        """A formula with the values at a step: those of `now` at this one, the others at `then`."""
        for n in self.names:
            text = re.sub(_read(n), f"{n}{self.place(self.index if n in now else then)}", text)
        return text

    def lines(self) -> list[str]:
        """The statements of the recurrences."""
        starts = zip(self.starts, self.begun, strict=True)
        found = [f"{s.target.name}{self.place('-1')} = {value}" for s, value in starts]
        for k, (m, value) in enumerate(zip(self.made, self.values, strict=True)):
            made = self.read(_updated(m, value), self.names[:k], f"{self.index} - 1")
            found.append(f"{m['name']}{self.place(f'{self.index} < {self.count}')} = {made}")
        return found


def steps_of(text: str, words: Vocabulary, found: Sequence[Assign], read: Callable[[str], Expr | None]) -> Steps | None:
    """A loop over a range whose statements go on from the step before; None where that is not certain."""
    head, *rest = (line for raw in text.splitlines() if (line := raw.partition("#")[0].strip()))
    loop, count = _LOOP.fullmatch(head), _FROM_0.search(head)
    made = [m for line in rest if (m := _STEP.fullmatch(line)) is not None]
    names = [m["name"] for m in made]
    if loop is None or count is None or not made or len({*names}) < len(rest):
        return None
    starts = [s for n in names for s in found if s.target.name == n]
    carried = [n for k, n in enumerate(names) if any(re.search(_read(n), _updated(m)) for m in made[: k + 1])]
    if [s.target.name for s in starts] != carried or any(s.op != "=" or s.guard is not None for s in starts):
        return None
    above = {n for s in found for n in statement_names(s)}  # which a start may not read
    if not carried or any(n in words.inputs or n in above for n in names):
        return None
    own = {", ".join(map(_item, s.target.items or ())) for s in starts} | {_inside(m["at"]) for m in made}
    written_out = (*map(_value, starts), *(m["value"] for m in made))
    values = [read(v) for v in written_out]
    whole = [spelled(words, e) for e in values if e is not None]
    order = list(dict.fromkeys(i for e in (*whole[len(starts) :], *whole) for i in layout(words, e)))
    free = [i for i in order if i != loop["index"]]
    places = {p for n in names for v in written_out for p in re.findall(_read(n), v)}
    written, *others = sorted(own | {_inside(p) for p in places}, reverse=True)
    others = [o for o in others if o]  # what has no brackets has the indices of the others
    known = {*written.split(", ")} if written else {*free} - {"..."} or {"..."}
    if others or None in values or not {*free} <= known:
        return None
    used = {*re.findall(r"\w+", text), *words.letters, *words.names}
    spare = next(c for c in ("t", "s", *SPARE) if c not in used)
    index = loop["index"] if re.fullmatch("[a-z][a-z0-9]*", loop["index"]) and not words.knows(loop["index"]) else spare
    out = [unparse(w) if e is not None and w != e else v for v, e, w in zip(written_out, values, whole, strict=True)]
    first = not written and free != ["..."] and loop["index"] in order[:1]
    at = written or ", ".join(free)
    begun, steps = out[: len(starts)], out[len(starts) :]
    return Steps(made, starts, index, count["count"], written, at, begun, steps, first)


def as_written(s: Assign) -> Assign:
    """A statement that is proposed, with the target that was written in its place."""
    items = s.target.items if s.span.text.startswith(f"{s.target.name}[") else None
    line = f"{s.target.name} = {unparse(s.value)}"
    return replace(s, target=replace(s.target, items=items), span=Span(Source("", line), 0, len(line)))


def as_recurrences(steps: Steps, below: str, words: Vocabulary, read: Callable[[str], Expr | None]) -> str:
    """What is written for such a loop, with what its values are behind it; empty where they are changed there."""
    behind = [t for line in below.splitlines() if (t := line.partition("#")[0].strip())]
    given = _given_back(steps, behind, words)
    behind = [t for t in behind if not given or not t.startswith("return ")]
    reading = [t for t in behind if any(re.search(_read(n), t) for n in steps.names)]
    if any(re.match(rf"{n}\b", t) for t in reading for n in steps.names):
        return ""
    last = str(int(steps.count) - 1) if steps.count.isdigit() else f"{steps.count} - 1"
    results = given or _results(steps, words, is_read=bool(reading))
    after = [steps.read(t, (), last) for t in reading]
    after += [f"{new} = {n}{steps.place(last)}" for n, new in results.items()]
    after = [with_target(t, words, read) for t in after]
    instead = "it, of its start and of what reads its result" if reading else "it and of its start"
    instead = instead.replace(" and of", ", of") + " and of `return`" if given else instead
    shown = f"write {listed((*steps.lines(), *after), 'and')} in place of {instead}"
    listing = f", and list {listed(results.values(), 'and')} under `outputs` in place of {listed(results, 'and')}"
    listing = listing if _are_listed(words) and results else ""
    listing = f", with `outputs: [{', '.join(given.values())}]`" if given else listing
    return f"a loop that goes on from the step before is a recurrence: {shown}{listing}"


def _given_back(steps: Steps, behind: Sequence[str], words: Vocabulary) -> dict[str, str]:
    """The values of such a loop that `return` gives back, with what each is called after its last step; or nothing."""
    names = _names_of(behind[-1]) if behind and behind[-1].startswith("return ") else []
    if not names or not all(n in steps.names for n in names):
        return {}
    free = (*(("last", "y") if len(names) == 1 else ()), *(f"{n}_last" for n in names))
    unused = [n for n in free if not words.knows(n) and n not in words.assigned]
    return dict(zip(names, unused, strict=False)) if len(unused) >= len(names) else {}


def is_told(text: str, stepped: Sequence[str]) -> bool:
    """Whether a statement of another language gives back what loops have ended with, which is told there."""
    return text.startswith("return ") and bool(stepped) and all(n in stepped for n in _names_of(text))


def _names_of(text: str) -> list[str]:
    """What `return` gives back."""
    return [n.strip() for n in text.removeprefix("return ").strip("() ").split(",")]


def with_target(line: str, words: Vocabulary, read: Callable[[str], Expr | None]) -> str:
    """A statement of a bare name with the indices that its value has, each tensor in it at its own; others as it is."""
    bare = _BARE.fullmatch(line)
    value = None if bare is None else read(bare["value"])
    if bare is None or value is None:
        return line
    whole = spelled(words, value)
    own = layout(words, whole)
    if not own or "..." in own:
        return line
    return f"{bare['name']}[{', '.join(own)}] = {bare['value'] if whole == value else unparse(whole)}"


def in_one(line: str, words: Vocabulary, read: Callable[[str], Expr | None]) -> str:
    """A sum for a bare name over the indices as well that are written and bound nowhere; empty where there are none."""
    bare = _BARE.fullmatch(line)
    value = None if bare is None else read(bare["value"])
    if bare is None or not isinstance(value, Reduction) or spelled(words, value) != value:
        return ""
    free = [i for i in layout(words, value) if i != "..."]
    over = (*value.binders, *(Binder(i, None, value.span) for i in free))
    return f"{bare['name']} = {unparse(replace(value, binders=over))}" if free else ""


def _results(steps: Steps, words: Vocabulary, *, is_read: bool) -> dict[str, str]:
    """The values that are results, with what each is called after its last step."""
    if _are_listed(words):
        kept = [n for n in steps.names if words.outputs.get(n) is not None]
    else:
        kept = [] if is_read else [s.target.name for s in steps.starts]
    free = ("y", "last", *(f"{n}_last" for n in steps.names))
    return dict(zip(kept, (n for n in free if not words.knows(n) and n not in words.assigned), strict=False))


def _are_listed(words: Vocabulary) -> bool:
    return any(more is not None for more in words.outputs.values())


def _updated(m: re.Match[str], value: str = "") -> str:
    """The value of a statement, which may be an update; `value`: with every index."""
    value, op = value or m["value"].strip(), m["op"]
    plain = op in ("+", "-") and not re.search(r"[-+<>=]|\b(and|or|not|if)\b", value)
    return f"{m['name']} {op} {value if plain else f'({value})'}" if op else value


def _read(name: str) -> str:
    """What finds a value with its brackets, if it has any."""
    return rf"(?<![\w.]){name}\b(?!\s*\()(\[[^\[\]]*\])?"


def _inside(at: str | None) -> str:
    """What stands in brackets."""
    return ", ".join(i.strip() for i in at[1:-1].split(",")) if at else ""


def _item(i: Binder | Dots | Expr) -> str:
    return "..." if isinstance(i, Dots) else i.name if isinstance(i, Binder) and i.extent is None else "?"


def _value(s: Assign) -> str:
    """The right side of a statement as it is written."""
    return " ".join(s.span.text.partition("=")[2].split())
