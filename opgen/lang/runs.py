"""`k=0..K-1`, `j in ids[i]` and `j = a:b`: how other notations say how far an index runs."""

from __future__ import annotations

import re
from itertools import accumulate

from opgen.diagnostics.model import Hint, Span
from opgen.lang.moving import READ, moving, sizes_of
from opgen.lang.vocabulary import SPARE
from opgen.schema.formula import Formula

_RANGE = re.compile(
    r"\b(?P<index>[a-z]\w*)[ ]*(?:=|in\b)[ ]*(?P<first>\d+)[ ]*\.\.[ ]*"
    r"(?P<last>(?P<size>\w+)[ ]*-[ ]*1\b|(?:\([^()\n]*\)|[^\](),\n])+)"
)
_HEAD = re.compile(r"(\w+)\[\s*$")
_END = r"(?:[^\[\]=:,]|\[[^\[\]]*\])+"  # of a range
_RANGED = re.compile(
    r"in\s+(?:range\(\s*(?P<from>\d+)\s*,\s*(?P<to>[A-Z]\w*)\s*\)|(?P<start>\d+):(?P<stop>[A-Z]\w*))\s*(?=\])"
)
_READ = r"\w+\[[^\[\]]*\]"  # where a row begins or ends
_BETWEEN = re.compile(rf"in\s+(?:range\()?(?P<first>{_READ})\s*[:,]\s*(?P<last>{_READ})\)?\s*(?=\])")
_BEHIND = re.compile(
    r"(?P<name>[a-z]\w*)\[(?P<items>[^\[\]]*)\][ ]*=(?!=)[ ]*(?P<value>[^\n]+?)[ ]*,?[ ]+for(?:[ ]+all)?[ ]+$"
)
_AT_0 = "positions count from 0: the first one is `x[0]`, and `sum[k](…)` goes over all of a dim"
_SUMMED, _ITERATOR = re.compile(r"\b(?:[Ss]um|[Pp]rod(?:uct)?)\["), re.compile(r"(,[ ]*)\{[ ]*[a-z]\w*[ ]*,[^{}\n]*\}")
_FROM_BELOW = re.compile(r"[\[,][ ]*[a-z]\w*[ ]*(?:=|\bin\b)[ ]*-[^\[\],=]*$")
_NOTHING = {"sum": "0", "prod": "1", "max": "-inf", "min": "inf"}  # what adds nothing to a reduction
_INDEX = re.compile(r"(?P<name>\w+)\[\s*(?P<index>[a-z]\w*)\s*$")


def is_below_0(text: str, at: int) -> bool:
    """Whether two dots stand in `m = -n..n`."""
    return text.startswith("..", at) and _FROM_BELOW.search(text, text.rfind("\n", 0, at) + 1, at) is not None


def is_iterator(text: str, at: int) -> bool:
    """Whether a brace is one of `{k, 0, K - 1}` in a sum of Mathematica, `Sum[c[k]*x[n], {k, 0, K - 1}]`."""
    begin = text.rfind("\n", 0, at) + 1
    head = _SUMMED.search(text, begin)
    return head is not None and any(at in (m.end(1), m.end() - 1) for m in _ITERATOR.finditer(text, head.end()))


def run_between(f: Formula, at: int) -> tuple[Span, tuple[str, ...]] | None:
    """`k=0..K-1` around two dots, with what it is here; None where they stand for something else."""
    begin = f.text.rfind("\n", 0, at) + 1
    if (window := moving(f.text, at, f.source.text)) is not None:
        return f.span(*window[0]), window[1]
    for found in _RANGE.finditer(f.text, begin):
        if found.start() <= at < found.end():
            index, first, last = found["index"], found["first"], found["last"].strip()
            after = (
                str(int(last) + 1)
                if last.isdecimal()
                else last
                if last.isidentifier() and last[:1].isupper()
                else f"{last} + 1"
            )
            size = found["size"] or after  # a dim is the number of elements, of which the last has one less
            right = f"{index} < {size}"
            span = f.span(*found.span())
            if whole := _for_all(f, found, right) if first == "0" else "":
                return span, (whole,)
            if first == "0":
                return span, (Hint(f"write `{right}`", span.text, right),)
            size = (
                f"{last} - {int(first) - 1}".removesuffix(" - 0")
                if not last.isdecimal()
                else str(int(last) + 1 - int(first))
            )
            head, body = _HEAD.search(f.text[: found.start()]), _body(f.text[found.end() :])
            if head is not None and body and _end_of(f.source.text, index, last, body):
                line = from_1(head[1], index, int(first), last, body, stated=_differ(f.source.text, index, body))
                return span, ((f"write `{line}`, where the first one is at 0",) if line else (_AT_0,))
            line = _from_0(f, found, index, size, first)
            told = f"an index runs from 0: `{index} < {size}`, and is read at `{index} + {first}`"
            return span, (told, *([f"write `{line}`"] if line else ()))
    return None


def _for_all(f: Formula, found: re.Match[str], right: str) -> str:
    """What is said of a range behind a statement, `y[n] = x[n] for n in 0..N`; nothing elsewhere."""
    begin = f.text.rfind("\n", 0, found.start()) + 1
    made, index = _BEHIND.search(f.text[begin : found.start()]), found["index"]
    items = [] if made is None else [i.strip() for i in made["items"].split(",")]
    if made is None or index not in items or f.text[found.end() :].partition("\n")[0].partition("#")[0].strip():
        return ""
    read = [
        (a[1], k) for a in READ.finditer(made["value"]) for k, i in enumerate(a[2].split(",")) if i.strip() == index
    ]
    whole = {right.partition(" < ")[2]} == {*sizes_of(f.source.text, read)}
    left = made["items"] if whole else ", ".join(right if i == index else i for i in items)
    line = f"{made['name']}[{left}] = {made['value']}"
    return f"an index on the left runs over its whole dim, and how far else stands there: write `{line}`"


def _from_0(f: Formula, found: re.Match[str], index: str, size: str, first: str) -> str:
    """The reduction whose index that is, with the index running from 0; nothing where it is no reduction."""
    head, body = _HEAD.search(f.text[: found.start()]), _body(f.text[found.end() :])
    if head is None or not body:
        return ""
    return f"{head[1]}[{index} < {size}]({_counted(body, index, first)})"


def _end_of(spec: str, index: str, last: str, body: str) -> bool:
    """Whether the end of a range is that of the axes which are read at it, so that the first one is number 1.

    The other elements of `K - 1` are read one further. `spec`: its text, which says the shapes of inputs.
    """
    end = re.fullmatch(r"([A-Z]\w*)(?:\s*-\s*(\d+))?", last)
    read = [(a[1], k, m) for a in READ.finditer(body) for k, i in enumerate(a[2].split(","))
            if (m := re.fullmatch(rf"\s*{index}\s*(?:([+-])\s*(\d+))?\s*", i))]  # fmt: skip
    if end is None or int(end[2] or 0) != max((int(f"{m[1] or ''}{m[2] or 0}") for _, _, m in read), default=0):
        return False
    sizes = sizes_of(spec, [(name, place) for name, place, _ in read])
    return not sizes or end[1] in sizes


def _differ(spec: str, index: str, body: str) -> bool:
    """Whether an index stands alone at several dims, so that its end is to be stated."""
    read = [(a[1], k) for a in READ.finditer(body) for k, i in enumerate(a[2].split(",")) if i.strip() == index]
    return len(sizes_of(spec, read)) > 1


def from_1(name: str, index: str, first: int, last: str, body: str, *, stated: bool = False) -> str:
    """`sum[k = 1:K](x[k])` up to the very dim, which counts from 1, with everything counted from 0; empty if unclear.

    A position that is the index, or moved from it by a number, is one less there; the index as a number is not.
    `stated`: its end is written out.
    """
    whole = f"({index} + {first})"

    def position(item: str) -> str:
        moved = re.fullmatch(rf"\s*{index}\s*(?:([+-])\s*(\d+))?\s*", item)
        if moved is None:
            return re.sub(rf"\b{index}\b", whole, item)
        far = first - 1 + int(f"{moved[1] or ''}{moved[2] or 0}")
        lead = " " if item.startswith(" ") else ""
        return f"{lead}{index}{f' + {far}' if far > 0 else f' - {-far}' if far < 0 else ''}"

    parts = re.split(r"(\w\[[^\[\]]*\])", body)
    if not body or any("[" in part for part in parts[::2]):
        return ""
    made = [re.sub(rf"\b{index}\b", whole, part) for part in parts]
    made[1::2] = [f"{p[:2]}{','.join(map(position, p[2:-1].split(',')))}]" for p in parts[1::2]]
    alone = any(re.search(rf"[\[,]\s*{index}\s*[,\]]", part) for part in made[1::2])
    size = (
        ""
        if alone and first == 1 and last.isidentifier() and not stated
        else f" < {last}{f' - {first - 1}' if first > 1 else ''}"
    )
    return f"{name}[{index}{size}]({''.join(made)})"


def _counted(body: str, index: str, first: str) -> str:
    """A body whose index begins at 0, and began at `first`."""
    body = re.sub(rf"([+-])([ ]*){index}\b(?![ ]*[*/\[(])", rf"\1\g<2>{index} \1 {first}", body)
    return re.sub(rf"(?<![+-])(?<![+-][ ])\b{index}\b(?![\[(])", f"({index} + {first})", body)


def _body(behind: str) -> str:
    """The body of a reduction behind its index, `](…)`, on one line."""
    depths = accumulate((c == "(") - (c == ")") for c in behind[1:]) if behind.startswith("](") else ()
    body = behind[2 : next((k for k, depth in enumerate(depths, 1) if depth == 0), 0)]
    return "" if "\n" in body else body


def of_listed(before: str, behind: str) -> str:
    """`sum[j in ids[i]](x[j])`, over what a tensor lists, around its `in`; nothing where it is something else."""
    head, run = _INDEX.search(before), re.match(r"in\s+(?P<listed>\w+\[[^\[\]]*)\]\s*(?=\])", behind)
    body = "" if run is None else _body(behind[run.end() :])
    if head is None or run is None or not body:
        return ""
    free = next((c for c in SPARE if not re.search(rf"\b{c}\b", before + behind)), "k2")
    read = re.sub(rf"\b{head['index']}\b", f"{run['listed']}, {free}]", body)
    return f"what is listed is read by its place: `{head['name']}[{free}]({read})`"


def of_neighbours(before: str, behind: str) -> str:
    """`sum[u in N(v)](x[u])`, over what a function of a node gives, around its `in`; nothing where it is no such."""
    head, run = _INDEX.search(before), re.match(r"in\s+[A-Za-z]\w*\(\s*(?P<node>[a-z]\w*)\s*\)\s*(?=\])", behind)
    body = "" if run is None else _body(behind[run.end() :])
    if head is None or run is None or not body or behind.startswith("in range"):
        return ""
    free = next((c for c in ("e", *SPARE) if not re.search(rf"\b{c}\b", before + behind)), "k2")
    read = re.sub(rf"\b{head['index']}\b", f"src[{free}]", body)
    to, name = f"dst[{free}] == {run['node']}", "sum" if head["name"] == "mean" else head["name"]
    count = f"/max(count[{free}]({to}), 1)" if head["name"] == "mean" else ""
    chosen = f"{name}[{free}](where({to}, {read}, {_NOTHING.get(name, '')})){count}"
    ends = (
        "with the ends of all edges as inputs: `src: {shape: [E], dtype: int, domain: 0 <= src < V}`, and `dst` alike"
    )
    return f"neighbours are edges with a condition: `{chosen}`, {ends}" if name in _NOTHING else ""


def within(before: str, behind: str, spec: str) -> str:
    """`sum[j in V](x[j])`, over a dim or a range, around its `in`; nothing where it is something else."""
    if (read := _BETWEEN.match(behind)) is not None:
        return between(before, f"={read['first']}:{read['last']}{behind[read.end() :]}", spec)
    if (ranged := _RANGED.match(behind)) is not None:
        if ranged["start"]:
            return between(before, f"={ranged['start']}:{ranged['stop']}{behind[ranged.end() :]}", spec)
        start, stop = ranged["from"], ranged["to"]
        own, body = _INDEX.search(before), _body(behind[ranged.end() :])
        if own is None or not body:
            return ""
        index, size = own["index"], f"{stop} - {start}" if start != "0" else stop
        moved = re.sub(rf"\b{index}\b", f"({index} + {start})", body) if start != "0" else body
        moved = re.sub(rf"(?<=[\[,])(\s*)\(({index} \+ \d+)\)(?=\s*[,\]])", r"\1\2", moved)
        return f"an index runs from 0: write `{own['name']}[{index} < {size}]({moved})`"
    head, run = _INDEX.search(before), re.match(r"in\s+(?:range\()?(?P<size>[A-Z]\w*)\)?\s*(?=\])", behind)
    body = "" if run is None else _body(behind[run.end() :])
    if head is None or run is None or not body:
        return ""
    return f"how far an index runs is a condition: `{head['name']}[{head['index']} < {run['size']}]({body})`"


def between(before: str, behind: str, spec: str) -> str:
    """`sum[j = a:b](x[j])`, over a range that moves, around its `=`; nothing where it is something else."""
    head = _INDEX.search(before)
    run = re.match(rf"=\s*(?P<first>{_END})(?:\.\.|[:,])(?P<last>{_END})(?=\])", behind)
    body = "" if run is None else _body(behind[run.end() :])
    if head is None or run is None or not body:
        return ""
    index, first, last = head["index"], run["first"].strip(), run["last"].strip()
    size = re.fullmatch(r"(.+?)\s*-\s*1", last)
    if first == "0":  # whose last one is named where one is taken off
        end = last if size is None else size[1]
        return f"how far an index runs is a condition: `{head['name']}[{index} < {end}]({body})`"
    if first.isdecimal() and first != "0" and _end_of(spec, index, last, body):
        line = from_1(head["name"], index, int(first), last, body, stated=_differ(spec, index, body))
        return f"positions count from 0: write `{line}`" if line else _AT_0
    if first == "1":
        return f"an index runs from 0: `{head['name']}[{index} < {last}]({_counted(body, index, first)})`"
    if "[" in last and head["name"] in _NOTHING:
        chosen = f"where({first} <= {index} < {last}, {body}, {_NOTHING[head['name']]})"
        line = re.sub(r"^\s*(?:(?:forward|backward)\s*:\s*)?", "", before[: head.start()])
        rest = behind[run.end() + len(body) + 3 :].partition("#")[0].rstrip()
        return f"a range is a condition: write `{line}{head['name']}[{index}]({chosen}){rest}`"
    chosen = f"where({first} <= {index} and {index} < {last}, {body}, {_NOTHING.get(head['name'], '0')})"
    told = f"a range is a condition: `{head['name']}[{index}]({chosen})`"
    whole = last.isidentifier() and last[:1].isupper()
    return told if whole else f"{told}, with `{index} <= {last}` where the range includes its end"
