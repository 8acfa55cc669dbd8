"""Sections for what is a statement of a recurrence: `initial: {h: 0}`, `init: h[-1] = 0` and `scan: …`.

The name of the section, what stands in it and the spec in; what to write out.
"""

from __future__ import annotations

import re

from opgen.schema.nodes import Mapping, Node, Scalar

_STARTS = (
    "init", "inits", "initial", "initials", "initialize", "initialise", "initial_state", "initial_states",
    "initial_value", "initial_values", "initial_conditions", "start", "starts", "begin", "boundary", "boundaries",
    "borders", "base", "base_case", "base_cases", "carry",
)  # fmt: skip
_STATES = ("state", "states", "hidden", "memory")
_SCANS = ("scan", "scans", "recurrence", "recurrences", "recursion", "loop", "loops", "step", "steps", "transition")
_STATEMENT = re.compile(r"\s*\w+\s*\[[^\]\n]*\]\s*=(?!=)")
_OWN = "`h[..., -1] = h0[...]` before `h[..., t] = …`"
_GENERAL = "the start of a recurrence is a statement in `forward`, at the place just outside: " + _OWN
_ZERO = "; without one it is 0"
_SCAN = "a recurrence is a statement in `forward` that reads its own earlier values, `h[..., t] = … h[..., t - 1] …`"
_BUFFERS = "what a module keeps from call to call are buffers: `module: {buffers: {…}, updates: {…}}`"


def of_start(name: str, node: object, root: Mapping) -> tuple[str, ...]:
    """What is said of a section that is called like the start or the step of a recurrence; nothing for any other."""
    word = name.lower()
    if word not in (*_STARTS, *_STATES, *_SCANS):
        return ()
    if isinstance(node, Scalar) and _STATEMENT.match(node.text):
        lines = [line.strip() for line in node.text.splitlines() if line.strip()]
        return (f"a recurrence is written in `forward`: move {', '.join(f'`{line}`' for line in lines)} there",)
    if word in _SCANS:
        return (_SCAN, _GENERAL + _ZERO)
    entries = [(k.text, v) for k, v in node.entries] if isinstance(node, Mapping) else []
    inputs = root.get("inputs")
    own = [key.text for key, _ in inputs.entries] if isinstance(inputs, Mapping) else []
    if entries and all(key in own for key, _ in entries):
        shown = ", ".join(f"{key}: {_text(value)}" for key, value in entries)
        return (f"how what a module owns starts stands there: `module: {{parameters: {{{shown}}}}}`",)
    said = [line for key, value in entries for line in _starts(key, _text(value), root)]
    zero = [key for key, value in entries if re.fullmatch(r"-?0(\.0*)?", _text(value))]
    if entries and len(zero) == len(entries):
        return (f"leave it away: a recurrence starts at 0, unless a statement in `forward` says otherwise{_for(said)}",)
    hint = f"the start of a recurrence is a statement in `forward`: {', '.join(f'`{line}`' for line in said)}"
    hint = hint + _ZERO if said else _GENERAL + _ZERO
    return (hint, _BUFFERS) if word in _STATES else (hint,)


def _for(lines: list[str]) -> str:
    return f", as `{lines[0]}` would" if lines else ""


def _text(node: Node | object) -> str:
    return node.text.strip() if isinstance(node, Scalar) and node.text.strip() else "…"


def _starts(name: str, value: str, root: Mapping) -> list[str]:
    """The starts of a recurrence in `forward`, one for each axis that it steps along; none where that is not clear."""
    forward = root.get("forward")
    text = forward.text if isinstance(forward, Scalar) else ""
    statement = re.search(rf"^[ ]*{re.escape(name)}[ ]*\[(?P<left>[^\]\n]*)\][ ]*=(?!=)(?P<right>.*)$", text, re.M)
    if statement is None:
        return []
    left = [i.strip() for i in statement["left"].split(",")]
    before: dict[int, None] = {}
    for read in re.findall(rf"\b{re.escape(name)}[ ]*\[([^\[\]\n]*)\]", statement["right"]):
        items = [i.strip() for i in read.split(",")]
        if len(items) != len(left):
            return []
        for k, (own, item) in enumerate(zip(left, items, strict=True)):
            if re.fullmatch(rf"{re.escape(own)}[ ]*-[ ]*1", item):
                before[k] = None
            elif item != own:
                return []  # further back, or downwards
    return [f"{name}[{', '.join('-1' if k == at else i for k, i in enumerate(left))}] = {value}" for at in before]
