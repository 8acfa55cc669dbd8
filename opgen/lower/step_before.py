"""The step before, as other notations have it: `h_prev`, `prev(h)`, `h[prev]`, where a spec reads `h[t - 1]`."""

from __future__ import annotations

import re
from dataclasses import replace

from opgen.lang.habits import along
from opgen.lang.nodes import Access, Binder, Call, Dots, Expr, Name
from opgen.lang.unparse import unparse
from opgen.lower.declare import Declarations

_WORD = r"(?:prev|previous|old)"
_EARLIER = re.compile(r"(?:prev|previous|last|old)_(?P<after>\w+)|(?P<before>\w+?)_?(?:prev|previous|last|old|tm1)")
_CALLED = re.compile(rf"{_WORD}|lag|delay|before|prior")


def _text(item: Expr | Dots) -> str:
    return "..." if isinstance(item, Dots) else unparse(item)


def earlier(d: Declarations, e: Name | Access) -> tuple[str, ...]:
    """What `h_prev` means beside statements of `h`: its step before."""
    named = _EARLIER.fullmatch(e.name)
    return () if named is None else _before(d, str(named["after"] or named["before"]), e)


def by_call(d: Declarations, e: Call) -> tuple[str, ...]:
    """What `prev(h)` means beside statements of `h`."""
    of = e.args[0] if len(e.args) == 1 and _CALLED.fullmatch(e.name) else None
    return _before(d, of.name, of) if isinstance(of, Name | Access) else ()


def means_before(word: str) -> bool:
    """Whether a word at a position is no index, but says that the step before is read."""
    return _CALLED.fullmatch(word) is not None


def at_a_word(d: Declarations, e: Access) -> tuple[str, ...]:
    """What `h[prev]` and `h[prev, d]` mean in a statement of `h`."""
    rest = tuple(i for i in e.items if not (isinstance(i, Name) and means_before(i.name)))
    return _before(d, e.name, replace(e, items=rest)) if len(rest) < len(e.items) else ()


def _before(d: Declarations, of: str, e: Name | Access) -> tuple[str, ...]:
    """The read of a recurrence at the likeliest of its indices that an access of it does not have, one less."""
    s = next((s for s in d.forward if s.target.name == of), None)
    if s is None:
        return ()
    items = [_text(Name(i.name, i.span) if isinstance(i, Binder) else i) for i in s.target.items or ()]
    read = [_text(i) for i in e.items] if isinstance(e, Access) else []
    free = [k for k, i in enumerate(items) if i.isidentifier() and i not in read]
    free = free or [k for k, i in enumerate(items) if i.isidentifier()]
    if not free:
        return (f"what `{of}` was a step before is read of a recurrence, `{of}[t - 1]`, with an index over the steps",)
    items[min(free, key=lambda k: along(items[k]))] += " - 1"
    return (f"the step before is `{of}[{', '.join(items)}]`",)
