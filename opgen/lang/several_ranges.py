"""Several ranges in one statement, `sum[k=1:P, l=1:Q](x[k, l])` and sums within each other: the whole line at once.

Text in, text out; each range becomes what it is by itself.
"""

from __future__ import annotations

import re

from opgen.lang.runs import between, from_1

_RANGED = re.compile(r"(?P<name>\w+)\[(?P<items>[^\[\]]*=[^\[\]]*)\](?=\()")
_ITEM = re.compile(r"\s*(?P<index>[a-z]\w*)\s*=\s*(?P<range>[^=,]+(?:\.\.|:)[^=,]+)")
_MADE = re.compile(r".*`\w+\[(?P<binder>[^\[\]]*)\]\((?P<body>.*)\)`")
_PLAIN = re.compile(r"\s*[a-z]\w*(?:\s*<[^=<>]+)?\s*|\s*\.\.\.\s*")


def ranged(before: str, behind: str, spec: str) -> str:
    """What is said of a range around its `=`: the statement where it has several, or one beside other indices."""
    line = of_ranges(before + behind, spec)
    return f"positions count from 0: write `{line}`" if line else between(before, behind, spec)


def of_ranges(line: str, spec: str) -> str:
    """A statement with ranges as it is written; empty where it has one alone, or one of them is something else."""
    line = re.sub(r"^\s*(?:(?:forward|backward)\s*:\s*)?", "", line.partition("#")[0]).rstrip().strip("\"'")
    first = [*_RANGED.finditer(line)]
    if len(first) < 2 and not any("," in found["items"] for found in first):
        return ""
    while (found := _RANGED.search(line)) is not None:
        body, end = _body(line, found.end())
        binders, below = list[str](), list[str]()
        if not body:
            return ""
        for item in found["items"].split(","):
            ranged = _ITEM.fullmatch(item)
            if ranged is None and not _PLAIN.fullmatch(item):
                return ""
            if ranged is None:
                binders.append(item.strip())
                continue
            last = re.fullmatch(r"1\s*(?:\.\.|:)\s*([a-z]\w*)", ranged["range"].strip())
            if last is not None:  # up to another index
                inner = from_1(found["name"], ranged["index"], 1, "N", body)
                made = _MADE.fullmatch(f"`{inner}`")
                if made is None or "<" in made["binder"] or found["name"] != "sum" or not _is_from_1(found, last[1]):
                    return ""
                below.append(f"{ranged['index']} <= {last[1]}")
                binders.append(made["binder"])
                body = made["body"]
                continue
            told = between(f"{found['name']}[{ranged['index']}", f"={ranged['range'].strip()}]({body})", spec)
            made = _MADE.fullmatch(told)
            if made is None:
                return ""
            binders.append(made["binder"])
            body = made["body"]
        body = f"where({' and '.join(below)}, {body}, 0)" if below else body
        line = f"{line[: found.start()]}{found['name']}[{', '.join(binders)}]({body}){line[end:]}"
    return line


def _is_from_1(found: re.Match[str], index: str) -> bool:
    """Whether an index of the same sum counts from 1 as well."""
    return re.search(rf"\b{index}\s*=\s*1\s*(?:\.\.|:)", found["items"]) is not None


def _body(line: str, at: int) -> tuple[str, int]:
    """What stands in the parentheses that open at a place, and where they have closed."""
    depth = 0
    for k in range(at, len(line)):
        depth += (line[k] == "(") - (line[k] == ")")
        if not depth:
            return line[at + 1 : k], k + 1
    return "", at
