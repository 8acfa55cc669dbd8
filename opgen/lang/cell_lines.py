"""What is written for steps in whole tensors: for a loop of Python over them, and for statements without their loop."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.suggest import listed
from opgen.lang.cells import Cell, Read, Step
from opgen.lang.vocabulary import Vocabulary

_STATEMENT = re.compile(r"([a-z]\w*)[ \t]*(?:\[([^\[\]]*)\])?[ \t]*([-+*/]?)=(?!=)[ \t]*(.+)")
_APPENDED = re.compile(r"([a-z]\w*)\.append\((.+)\)")
_STACKED = r"(?:\w+\.)?stack\(\s*{}\s*(?:,\s*(?:(?:dim|axis)\s*=\s*)?(\d))?\s*\)"
_LENGTH = r"\w+|\w+\.(?:shape\[-?\d\]|size\(-?\d\))|len\(\w+\)"
_UPWARDS = re.compile(rf"for\s+([a-z]\w*)\s+in\s+range\s*\(\s*(?:([01])\s*,\s*)?({_LENGTH})\s*\)\s*:")
_DOWNWARDS = re.compile(
    rf"for\s+([a-z]\w*)\s+in\s+(?:reversed\(range\(\s*({_LENGTH})\s*\)\)|"
    rf"range\(\s*({_LENGTH})\s*-\s*1\s*,\s*-1\s*,\s*-1\s*\))\s*:"
)
_BARE = re.compile(r"\s*\w+\s*=")  # a statement of a whole tensor
_ZERO = re.compile(r"0(?:\.0*)?|(?:\w+\.)?(?:new_)?zeros(?:_like)?\(.*\)|None")
_MOST = 8  # statements of one step that are looked at


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a loop, and the names that it and what stands around it assign."""

    hint: str
    names: tuple[str, ...]


def is_of_wholes(text: str, above: str) -> bool:
    """Whether a loop has products of whole tensors, or starts from zeros of a shape."""
    return "@" in text or any(_ZERO.fullmatch(v) and not v[0].isdigit() for v in _assigned(above).values())


def of_loop(text: str, above: str, below: str, words: Vocabulary, read: Read) -> Told | None:
    """What is written for a loop over steps, with where it starts above and what reads its results below."""
    head, *body = (line for raw in text.splitlines() if (line := raw.partition("#")[0].strip()))
    loop, down = _UPWARDS.fullmatch(head), _DOWNWARDS.fullmatch(head)
    found = loop or down
    if found is None or not body:
        return None
    count = loop[3] if loop is not None else down[2] or down[3] if down is not None else ""
    starts = _assigned(above)
    behind = [t for line in below.splitlines() if (t := line.partition("#")[0].strip())]
    steps, behind, collected = _steps(body, found[1], behind, words)
    if not steps or words.knows(found[1]):
        return None
    for name in [s.name for s in steps if s.name in words.given and s.name not in starts]:
        new = next(n for k in range(2, 99) if not words.knows(n := f"{name}{k}"))
        steps = [replace(s, name=new if s.name == name else s.name, value=_renamed(s.value, name, new)) for s in steps]
        behind = [_renamed(line, name, new) for line in behind]
        starts[new] = name
    cell = Cell(steps, found[1], words, read, count if count.isidentifier() else "", "+" if loop is None else "-")
    if not cell.solve() or not cell.carried or not cell.size or any(s.name in words.given for s in steps):
        return None
    if _reads_others(above, cell):
        return None
    first = int(loop[2] or 0) if loop is not None else 0
    lines = _within(cell, starts) if first else _begun(cell, starts, count)
    after = _after(cell, behind, collected, count)
    if lines is None or after is None:
        return None
    further, results, returned = after
    index = cell.index if not count.isalnum() or count == cell.size else f"{cell.index} < {count}"
    lines += [f"{cell.at(n, index)} = {value}" for n, value in cell.lines]
    listing = (
        f", with `outputs: [{', '.join(results)}]`" if returned or len(cell.names) > 1 or _are_listed(words) else ""
    )
    instead = "it, of its start and of what reads its result" if behind or collected else "it and of its start"
    shown = listed((*lines, *further), "and")
    hint = f"a loop that goes on from the step before is a recurrence: write {shown} in place of {instead}{listing}"
    return Told(hint, (*cell.names, *(n for n in starts if n in (*cell.names, *collected)), *collected))


def sum_of_loop(text: str, words: Vocabulary, read: Read) -> str:
    """The sum that a loop of one statement adds up of whole tensors at each step; empty where that is not certain."""
    head, *body = (line for raw in text.splitlines() if (line := raw.partition("#")[0].strip()))
    loop, m = _UPWARDS.fullmatch(head), _STATEMENT.fullmatch(body[0]) if len(body) == 1 else None
    value = "" if m is None else m[4] if m[3] == "+" else re.sub(rf"^{m[1]}\s*\+", "", m[4])
    if loop is None or m is None or loop[2] == "1" or m[2] is not None or not re.search(r"@|\[[^\]]*:", value):
        return ""
    cell = Cell((Step(m[1], value),), loop[1], words, read, loop[3] if loop[3].isidentifier() else "")
    if words.knows(loop[1]) or not cell.solve() or cell.carried:
        return ""
    return f"{_named(m[1], cell.orders[m[1]])} = sum[{cell.index}]({cell.lines[0][1]})"


@dataclass(frozen=True, slots=True)
class Stepwise:
    """Statements that go on by steps without a loop: how many lines they are, and what is said."""

    cell: Cell
    count: int
    hints: tuple[str, ...]


def of_statements(block: str, above: str, words: Vocabulary, read: Read) -> Stepwise | None:
    """The statements at the beginning of a block that go on by steps, with where they start above."""
    lines = block.splitlines()[:_MOST]
    if not lines or not (_BARE.match(lines[0]) or any(map(_is_foreign, lines))):
        return None
    index, starts = _index_of(lines[0], words), _assigned(above)
    found: list[Step] = []
    cells: list[Cell] = []
    for line in lines if index else ():
        m = _STATEMENT.fullmatch(line.partition("#")[0].strip())
        if m is None or m[1] in words.given or _index_of(line, words) not in ("", index):
            break
        found.append(_step(m, index))
        cell = Cell(tuple(found), index, words, read)
        text = "\n".join(lines[: len(found)])
        foreign, bare = any(map(_is_foreign, lines[: len(found)])), all(map(_BARE.match, lines[: len(found)]))
        if cell.solve() and cell.carried and (foreign or (bare and (len(found) > 1 or _is_named(cell, text)))):
            cells.append(cell)
    begun = _begun(cells[-1], starts, "") if cells and not _reads_others(above, cells[-1]) else None
    if begun is None:
        return None
    cell = cells[-1]
    shown = ", ".join(f"`{line}`" for line in (*begun, *(f"{cell.at(n, index)} = {value}" for n, value in cell.lines)))
    listing = f", with `outputs: [{cell.names[-1]}]`" if len(cell.names) > 1 else ""
    hints = [f"it goes on step by step along `{index}`: write {shown}{listing}"]
    zero = [f"{n} = {starts[n]}" for n in cell.carried if _ZERO.fullmatch(starts.get(n, ""))]
    hints += [f"without a start it starts from 0: leave out {listed(zero, 'and')}"] if zero else []
    if all(s.place is None for s in cell.steps):
        hints.append(_last(cell))
    return Stepwise(cell, len(cell.steps), tuple(hints))


def _is_foreign(line: str) -> bool:
    """Whether a statement has products of whole tensors, or slices."""
    return "@" in line or re.search(r"\[[^\]]*:[^\n]*\]", line) is not None


def _last(cell: Cell) -> str:
    """How the last step alone is a result."""
    name = cell.names[-1]
    left = _named(f"last_{name}", cell.orders[name])
    return f"every step is a result then; for the last one alone, add `{left} = {cell.at(name, f'{cell.size} - 1')}`"


def _index_of(line: str, words: Vocabulary) -> str:
    """The one index of a statement that stands alone beside slices or as the first of all."""
    found: dict[str, None] = {}
    for inside in re.findall(r"\w\[([^\[\]]*)\]", line):
        items = [i.strip() for i in inside.split(",")]
        own = [m[1] for i in items if (m := re.fullmatch(r"([a-z]\w*)(?:\s*[-+]\s*\d+)?", i)) and not words.knows(m[1])]
        found |= dict.fromkeys(own)
    return next(iter(found)) if len(found) == 1 else ""


def _is_named(cell: Cell, text: str) -> bool:
    """Whether the step before is read under a name of its own."""
    return not any(re.search(rf"=.*\b{n}\b", text) for n in cell.names)


def _step(m: re.Match[str], index: str) -> Step:
    items = [i.strip() for i in (m[2] or "").split(",")]
    place = items.index(index) if ":" in items and index in items else None
    return Step(m[1], f"{m[1]} {m[3]} ({m[4].strip()})" if m[3] else m[4].strip(), place)


def _reads_others(above: str, cell: Cell) -> bool:
    """Whether a value is read above the steps, where it is none of them."""
    values = (m[4] for line in above.splitlines() if (m := _STATEMENT.fullmatch(line.partition("#")[0].strip())))
    return any(re.search(rf"(?<![\w.]){n}\b", value) for value in values for n in cell.names)


def _renamed(text: str, name: str, new: str) -> str:
    return re.sub(rf"(?<![\w.]){name}\b", new, text)


def _assigned(above: str) -> dict[str, str]:
    """What the lines above assign to bare names."""
    lines = (line.partition("#")[0].strip() for line in above.splitlines())
    return {m[1]: m[4].strip() for line in lines if (m := _STATEMENT.fullmatch(line)) and not m[2] and not m[3]}


def _steps(
    body: Sequence[str], index: str, behind: Sequence[str], words: Vocabulary
) -> tuple[list[Step], list[str], dict[str, str]]:
    """The statements of a loop, the lines below without those that stack, and the lists with what they become."""
    steps: list[Step] = []
    rest, collected = [*behind], dict[str, str]()
    for line in body:
        if m := _STATEMENT.fullmatch(line):
            steps.append(_step(m, index))
        elif m := _APPENDED.fullmatch(line):
            stack = re.compile(rf"(return\s+|([a-z]\w*)\s*=\s*)?{_STACKED.format(m[1])}")
            ends = [(k, s) for k, t in enumerate(rest) if (s := stack.fullmatch(t)) is not None]
            name, place = m[1], 0
            if ends:
                k, s = ends[0]
                name, place = s[2] or ("y" if not words.knows("y") else m[1]), int(s[3] or 0)
                del rest[k]
            collected[m[1]] = name
            steps.append(Step(name, m[2].strip(), place))
        else:
            return [], rest, {}
    return steps, rest, collected


def _within(cell: Cell, starts: Mapping[str, str]) -> list[str] | None:
    """No statements of where values begin: of a loop from the second step these are the elements at the first one."""
    for k, (n, value) in enumerate(cell.lines):
        begun = cell.elsewhere(starts.get(n, "0"), "")
        if begun is None or n not in cell.carried or not {*begun[1]} <= {*cell.orders[n]}:
            return None
        cell.lines[k] = n, f"where({cell.index} == 0, {begun[0]}, {value})"
    return []


def _begun(cell: Cell, starts: Mapping[str, str], count: str) -> list[str] | None:
    """The statements of where the values begin, at the step before the first one."""
    lines: list[str] = []
    for n in cell.carried:
        text = starts.get(n, "0")
        if _ZERO.fullmatch(text):
            continue
        value = cell.elsewhere(text, "")
        outside = (cell.size or count) if cell.back == "+" else "-1"
        if value is None or not {*value[1]} <= {*cell.orders[n]}:
            return None
        lines.append(f"{cell.at(n, outside)} = {value[0]}")
    return lines


def _after(
    cell: Cell, behind: Sequence[str], collected: Mapping[str, str], count: str
) -> tuple[list[str], list[str], bool] | None:
    """The statements below, the results, and whether these are given back; None where one is not certain."""
    size = count if count.isalnum() else cell.size
    last = "0" if cell.back == "+" else str(int(size) - 1) if size.isdigit() else f"{size} - 1"
    lines: list[str] = []
    results = [*collected.values()]
    returned = False
    for line in behind:
        if line.startswith("return "):
            returned = True
            named = [(f"last_{t}" if t in cell.names else "y", t) for t in _parts(line.removeprefix("return "))]
        elif (m := _STATEMENT.fullmatch(line)) is not None and not m[2] and not m[3]:
            named = [(m[1], m[4].strip())]
        else:
            return None
        for name, text in named:
            value = cell.elsewhere(text, last)
            if name in (*results, *cell.names) or value is None or (cell.words.knows(name) and returned):
                return None
            lines.append(f"{_named(name, value[1])} = {value[0]}")
            results.append(name)
    if not results and not any(s.place is not None for s in cell.steps):
        for n in dict.fromkeys((*cell.carried, cell.names[-1])):
            lines.append(f"{_named(f'last_{n}', cell.orders[n])} = {cell.at(n, last)}")
            results.append(f"last_{n}")
    results += [s.name for s in cell.steps if s.place is not None and s.name not in results]
    return lines, results, returned


def _named(name: str, order: Sequence[str]) -> str:
    """A target with its indices, if it has any."""
    return f"{name}[{', '.join(order)}]" if order else name


def _parts(text: str) -> list[str]:
    """What is given back, split at the commas outside of brackets."""
    return [t.strip() for t in re.split(r",(?![^(\[]*[)\]])", text.strip())]


def _are_listed(words: Vocabulary) -> bool:
    return any(more is not None for more in words.outputs.values())
