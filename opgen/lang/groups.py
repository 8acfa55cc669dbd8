"""Reductions within groups, as other libraries take them: a function of values and of the group that each is in.

In go the parts of such a call, out come the statements that say the same with scatters.
"""

from __future__ import annotations

from opgen.lang.nodes import Access, Binder, Dots, Expr, Name
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import Vocabulary

_SCATTERS = {"sum": ("0", "+="), "max": ("-inf", "max="), "min": ("inf", "min="), "prod": ("1", "*=")}


def within_groups(
    words: Vocabulary, name: str, items: tuple[Expr | Dots, ...], body: Expr, group: Expr
) -> tuple[str, ...]:
    """How a reduction of `body` over one index is written within groups; nothing where no integers tell the groups."""
    index = next((i.name for i in items if isinstance(i, Name | Binder)), None)
    if index is None or len(items) != 1 or not isinstance(group, Name | Access) or group.name not in words.integers:
        return ()
    at = unparse(group) if isinstance(group, Access) else f"{group.name}[{index}]"
    value = unparse(body)
    score, top, part, total = (_free(words, name) for name in ("score", "top", "part", "total"))
    over = f"`{name}[{index}]` goes over all of `{index}`; over those with the same `{at}`, of `G` groups"
    if name in _SCATTERS:
        start, op = _SCATTERS[name]
        return (f"{over}: `{total}[g < G] = {start}` and `{total}[{at}] {op} {value}`",)
    if name != "softmax":
        return (f"{over}, it is made of scatters, such as `{total}[{at}] += {value}`",)
    lines = (
        f"{score}[{index}] = {value}", f"{top}[g < G] = -inf", f"{top}[{at}] max= {score}[{index}]",
        f"{part}[{index}] = exp({score}[{index}] - {top}[{at}])", f"{total}[g < G] = 0",
        f"{total}[{at}] += {part}[{index}]",
    )  # fmt: skip
    shown = ", ".join(f"`{line}`" for line in lines)
    return (f"{over}, a softmax is `{part}[{index}]/{total}[{at}]`, with {shown}",)


def _free(words: Vocabulary, name: str) -> str:
    return f"{name}_of" if words.knows(name) else name
