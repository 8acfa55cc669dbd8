"""Tensors that other libraries fill, `0.02*torch.randn(K)`, as the initialisers that fill a parameter so.

Text in, text out: a shape is left away, since `inputs` has it.
"""

from __future__ import annotations

import re

_FACTOR = r"[\w.]+(?:\([\w.*/+-]*\))?"  # a number, a size, or a function of one
_CALL = re.compile(
    rf"(?:(?P<before>{_FACTOR})\s*\*\s*)?(?:\w+\.)*(?P<name>[A-Za-z]\w*)(?:\s*\((?P<args>.*?)\))?"
    rf"(?:\s*(?P<op>[*/])\s*(?P<after>{_FACTOR}))?"
)
_WRAPPED = re.compile(r"(?:\w+\.)*Parameter\((.*)\)")
_PREFIX = re.compile(r"\b(?:math|np|numpy|torch)\.(?=[a-z])")
_FILLS = {
    **dict.fromkeys(("randn", "randn_like", "standard_normal"), "normal"),
    **dict.fromkeys(("rand", "rand_like", "random_sample"), "uniform"),
    **{name: name.removesuffix("_like") for name in ("zeros", "zeros_like", "ones", "ones_like", "eye")},
}
_NAMES = {
    "glorot_uniform": "xavier_uniform", "glorot_normal": "xavier_normal", "he_uniform": "kaiming_uniform",
    "he_normal": "kaiming_normal", "truncated_normal": "trunc_normal",
}  # fmt: skip


def filled(text: str) -> str | None:
    """The initialiser that fills as a call of another library does; None where there is none."""
    text = text.strip()
    wrapped = _WRAPPED.fullmatch(text)
    found = _CALL.fullmatch(wrapped[1].strip() if wrapped is not None else text)
    if found is None or not _is_balanced(found["args"] or ""):
        return None
    name = _FILLS.get(found["name"])
    before, after, op = found["before"], found["after"], found["op"]
    if name is None:
        alone = not (before or after or found["args"])
        return _NAMES.get(found["name"]) if alone else None
    quotient = f"1/{after}" if op == "/" else after
    parts = [part for part in (before, quotient) if part]
    factor = f"{before}/{after}" if before and op == "/" else "*".join(parts)
    return _scaled(name, _PREFIX.sub("", factor)) if factor else name


def _scaled(name: str, factor: str) -> str | None:
    """An initialiser whose numbers are multiplied by a factor."""
    how = {"normal": f"normal(std={factor})", "uniform": f"uniform(0, {factor})", "ones": f"constant({factor})"}
    return how.get(name)


def _is_balanced(text: str) -> bool:
    """Whether brackets close within a text that open there."""
    depth = 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if depth < 0:
            return False
    return depth == 0
