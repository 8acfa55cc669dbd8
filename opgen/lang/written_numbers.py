"""Numbers as they are written elsewhere, `1,5*x` and `50%*x`: what is said of the sign in them, with the whole line.

In go what stands in front of that sign, or of the one behind it, on its line, and the rest of the line.
"""

from __future__ import annotations

import re

_PERCENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) *% *(?=\*)")


def written_number(before: str, after: str) -> str:
    """What is said; nothing where no such number stands there."""
    line, rest = before.rpartition("forward:")[2].lstrip(), after.partition("#")[0].rstrip()
    assigns = " = " in line
    if rest.startswith(",") and line.rstrip()[-1:].isdigit():
        whole = f"{line}.{rest[1:]}" if assigns and rest[1:2].isdigit() else "0.5"
        return f"a decimal number is written with a point: `{whole}`"
    if assigns and rest.startswith("*") and _PERCENT.search(f"{line}*"):
        return f"a percentage is a part of 100: write `{_PERCENT.sub(lambda m: f'{m[1]}/100', line + rest)}`"
    return ""
