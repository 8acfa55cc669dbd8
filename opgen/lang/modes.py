"""Lines and conversions of other languages that say how to compute: `torch.no_grad()`, `(float)x`.

Text in, hints out; empty where nothing of the kind stands there.
"""

from __future__ import annotations

import re

from opgen.lang.habits import WIDER

_MODES = re.compile(r"\b(no_grad|inference_mode|set_grad_enabled|enable_grad|requires_grad_?|autocast)\b")
_AWAY = "leave the line away: what is constant for derivatives is `detach(x)`, and they are taken where one asks"
_OF_C = re.compile(r"\((?:(?P<whole>int|long|short)|float|double|half)\) *$")
_BLOCK = re.compile(r"with\b(?P<mode>[^:\n]*):(?P<within>.*)", re.DOTALL)
_CONSTANT = re.compile(r"\b(no_grad|inference_mode)\b")
_STATEMENT = re.compile(r"(\w+(?:\[[^\]]*\])?)\s*=\s*([^=].*)")


def of_mode(line: str) -> str:
    """What is said of a line that says whether derivatives are taken, or in which dtype is computed."""
    return _AWAY if _MODES.search(line) else ""


def in_block(text: str) -> str:
    """The statements of `with torch.no_grad():`, whose values are constant, or of another block."""
    block = _BLOCK.match(text)
    lines = [line.strip() for line in re.split(r"[\n;]", block["within"]) if line.strip()] if block is not None else []
    found = [s for line in lines if (s := _STATEMENT.fullmatch(line.partition("#")[0].strip())) is not None]
    if block is None or not lines or len(found) < len(lines):
        return ""
    constant = _CONSTANT.search(block["mode"]) is not None
    shown = (f"`{s[1]} = {f'detach({s[2]})' if constant else s[2]}`" for s in found)
    why = "what is constant for derivatives is `detach(x)`" if constant else "there are no blocks"
    return f"{why}: write {', then '.join(shown)}"


def of_conversion(before: str, value: str) -> str:
    """What is said of `(int)x` and `(float)x`, by what stands before the value."""
    found = _OF_C.search(before)
    if found is None:
        return ""
    return f"the whole part is `int({value})`" if found["whole"] else f"write `{value}`: {WIDER}"
