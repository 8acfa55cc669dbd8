"""Which check every operator passed: the table at the end of `opgen test`, from pytest's JUnit report.

In come test cases, named `<check>[<case>]` in a class of the module `test_<op>`; out comes text. A check of an operator
passes if each of its cases does; it is not applicable if every case says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from string import ascii_letters, digits
from xml.etree import ElementTree

from opgen.diagnostics.suggest import counted

_LETTERS = ascii_letters + digits
_NOT_APPLICABLE = re.compile(r"not applicable: (.*)", re.DOTALL)
_NAMED = 6  # operators that a reason names


class Verdict(IntEnum):
    """What became of a check; of several cases, the greatest counts."""

    ABSENT = 0
    NOT_APPLICABLE = 1
    PASSED = 2
    SKIPPED = 3
    FAILED = 4


_MARKS = {
    Verdict.ABSENT: " ",
    Verdict.NOT_APPLICABLE: "-",
    Verdict.PASSED: "+",
    Verdict.SKIPPED: "?",
    Verdict.FAILED: "F",
}


@dataclass(frozen=True)
class Outcome:
    """One test case."""

    op: str
    check: str
    verdict: Verdict
    reason: str = ""


def outcomes(report: Path) -> tuple[Outcome, ...]:
    """The test cases of a JUnit report, in its order."""
    return tuple(_outcome(case) for case in ElementTree.parse(report).getroot().iter("testcase"))


def _outcome(case: ElementTree.Element) -> Outcome:
    name, owner = case.get("name", ""), case.get("classname")
    module = (owner or name).split(".")  # a file that cannot be imported is a case without a class
    op = next((part.removeprefix("test_") for part in module if part.startswith("test_")), module[-1])
    check = name.split("[", 1)[0].removeprefix("test_") if owner else "import"
    if case.find("failure") is not None or case.find("error") is not None:
        return Outcome(op, check, Verdict.FAILED)
    skipped = case.find("skipped")
    if skipped is None:
        return Outcome(op, check, Verdict.PASSED)
    reason = skipped.get("message", "")
    if told := _NOT_APPLICABLE.search(reason):
        return Outcome(op, check, Verdict.NOT_APPLICABLE, told[1])
    return Outcome(op, check, Verdict.SKIPPED, reason)


def table(found: Sequence[Outcome]) -> str:
    """A row per operator, a column per check; then what the columns are, what failed, and why checks do not apply."""
    checks = sorted({o.check for o in found})
    letters = dict(zip(checks, _LETTERS, strict=False))
    verdicts: dict[str, dict[str, Verdict]] = defaultdict(dict)
    for o in found:
        verdicts[o.op][o.check] = max(o.verdict, verdicts[o.op].get(o.check, Verdict.ABSENT))
    width = max((len(op) for op in verdicts), default=0)
    head = f"{'':{width}}  {' '.join(letters[c] for c in checks)}"
    rows = [f"{op:{width}}  {_row(verdicts[op], checks)}" for op in sorted(verdicts)]
    legend = [f"  {letters[c]}  {c.replace('_', ' ')}" for c in checks]
    parts = [head, *rows, head, "", "+ passed  - not applicable  ? skipped  F failed", "", *_columns(legend)]
    for title, wanted in (
        ("failed", Verdict.FAILED),
        ("skipped", Verdict.SKIPPED),
        ("not applicable", Verdict.NOT_APPLICABLE),
    ):
        if lines := _reasons(o for o in found if o.verdict is wanted):
            parts += ["", f"{title}:", *lines]
    return "\n".join((*parts, "", _summary(verdicts.values())))


def _row(verdicts: Mapping[str, Verdict], checks: Sequence[str]) -> str:
    return " ".join(_MARKS[verdicts.get(c, Verdict.ABSENT)] for c in checks).rstrip()


def _columns(lines: Sequence[str], count: int = 3) -> list[str]:
    """Lines side by side, read downwards."""
    height = -(-len(lines) // count)
    width = max((len(line) for line in lines), default=0)
    return [" ".join(f"{line:{width}}" for line in lines[k::height]).rstrip() for k in range(height)]


def _reasons(found: Iterable[Outcome]) -> list[str]:
    """Of each check and reason, the operators."""
    ops: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for o in found:
        ops[o.check, o.reason].setdefault(o.op)
    lines = []
    for (check, reason), named in sorted(ops.items()):
        names = sorted(named)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        why = f": {reason}" if reason else ""
        lines.append(f"  {check.replace('_', ' ')}{why} ({', '.join(names[:_NAMED])}{more})")
    return lines


def _summary(rows: Iterable[Mapping[str, Verdict]]) -> str:
    rows = list(rows)
    every = [v for row in rows for v in row.values()]
    counts = ", ".join(
        f"{sum(v is wanted for v in every)} {name}"
        for name, wanted in (
            ("passed", Verdict.PASSED),
            ("not applicable", Verdict.NOT_APPLICABLE),
            ("skipped", Verdict.SKIPPED),
            ("failed", Verdict.FAILED),
        )
    )
    return f"{counted(len(rows), 'operator')}, {counted(len(every), 'check')}: {counts}"
