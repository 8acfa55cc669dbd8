"""Fail unless pytest's reports show that everything expected to run did run.

Usage: skips.py REPORT.xml... A skipped test is fine only for a reason listed here, and every generated operator must
have had tests.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

ALLOWED = (
    r"needs a CUDA device",
    r"needs the package kernels",  # of Hugging Face; its layout is checked without it
    r"products of matrices are left to torch on this processor",
    r"not applicable: .+",  # a generated check that an operator cannot have, with the reason
)
AT_LEAST = 500


def main(reports: list[str]) -> int:
    cases = [case for report in reports for case in ElementTree.parse(report).getroot().iter("testcase")]
    ran: Counter[str] = Counter()
    wrong: list[str] = []
    for case in cases:
        name = f"{case.get('classname')}::{case.get('name')}"
        skipped = case.find("skipped")
        if skipped is None:
            ran[case.get("classname", "")] += 1
        elif not any(re.search(pattern, skipped.get("message", "")) for pattern in ALLOWED):
            wrong.append(f"skipped: {name}: {skipped.get('message')}")
    for manifest in sorted(Path("generated").glob("*/manifest.json")):
        op = manifest.parent.name
        if not any(name.startswith(f"generated.{op}.test_{op}.") for name in ran):
            wrong.append(f"no test ran for the operator {op}")
    if sum(ran.values()) < AT_LEAST:
        wrong.append(f"only {sum(ran.values())} tests ran, expected {AT_LEAST} or more")
    print(f"{sum(ran.values())} tests ran, {len(cases) - sum(ran.values())} skipped", *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
