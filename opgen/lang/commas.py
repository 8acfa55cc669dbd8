"""What commas outside of brackets part: text in, its parts out."""

from __future__ import annotations


def between_commas(text: str) -> list[str]:
    """The values of a list or tuple, each of which may have commas inside of brackets."""
    found, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            found.append("")
        else:
            found[-1] += c
    return [part.strip() for part in found]
