"""Calls that look like one thing and are another: a function of other libraries under the name of a param, a gradient.

Calls in, hints out.
"""

from __future__ import annotations

import re

from opgen.lang import habits
from opgen.lang.nodes import Access, Call, Name
from opgen.lang.unparse import unparse

_CALLED = re.compile(r"it is called `(\w+)`")


def of_a_param(e: Call) -> str:
    """What a call of a param means: a function that has its name, or a product."""
    known = _CALLED.fullmatch(habits.FUNCTIONS.get(e.name, ""))
    if known is not None and len(e.args) > 1:
        return f"the function is called `{known[1]}`: `{known[1]}({', '.join(map(unparse, e.args))})`"
    if len(e.args) != 1:
        return "a function has a name of its own, other than that of a param"
    return "multiplication is written `*`"


def gradient(e: Call) -> str:
    """Where the gradient of one tensor with respect to another comes from."""
    shown = [a.name if isinstance(a, Name) else f"{a.name}.sum()" for a in e.args[:1] if isinstance(a, Name | Access)]
    by = [a.name for a in e.args[1:] if isinstance(a, Name | Access)]
    of, by = (shown[0], by) if len(shown) + len(by) == len(e.args) == 2 else ("y.sum()", ["x"])
    return (
        "gradients are derived, and no statement asks for them: leave this out, and take"
        f" `torch.autograd.grad({of}, {by[0]}, create_graph=True)` of what the operator returns"
    )
