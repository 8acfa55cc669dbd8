"""Positions that go on behind their tensor, of an index that says how far it runs: what to write instead.

In go such a position and how far its indices run with which it does not; out come hints that build as they stand: the
shorter extent is none of them where the statement's name is read beside something longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.lang.nodes import Binder, Call, Compare, Name, Number
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import names_read
from opgen.lower.earlier import less, shift
from opgen.lower.read_further import is_read_further
from opgen.lower.scope import Check, Frame


def shorter_or_filled(f: Frame, c: Check, ends: Sequence[tuple[str, str]], filled: str) -> tuple[str, ...]:
    """All that a read behind the end may mean: fewer places (`ends`: of an index), a fill, or a value for all of it."""
    shorter = [f"write `{index} < {end}`" for index, end in ends if not is_read_further(f, f.target, index, end)]
    rest = [f"or {filled}" if shorter else filled]
    return (*shorter, *rest, *_all_of_it(f, c))


def _all_of_it(f: Frame, c: Check) -> tuple[str, ...]:
    """The statement with a value of its own where a number of places behind the index are none."""
    own = [s for s in f.decl.forward if s.target.name == f.target]
    ahead = shift(c)
    if ahead is None or len(own) != 1 or own[0].op != "=" or f.target in names_read(own[0].value):
        return ()
    s, index, span = own[0], Name(c.indices[0][1].name, c.span), own[0].span
    shifts = [shift(o) for o in f.checks if c.indices[0] in o.indices]
    loops = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    if index.name not in loops or not all(o is not None and 0 <= o <= ahead for o in shifts):
        return ()
    inside = Compare((index, less(c, ahead)), ("<",), span)
    line = unparse_assign(replace(s, value=Call("where", (inside, s.value, Number(0, span)), span, span)))
    return (f"or say what all of it is there, 0 for one: `{line}`",)
