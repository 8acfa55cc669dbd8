"""Tensors that a formula reads and nothing declares: what is meant by them."""

from __future__ import annotations

import re

from opgen.lang.nodes import Access, Call, Compare, Dots, Name, Number
from opgen.lang.unparse import unparse
from opgen.lower.proposals import shape_read
from opgen.lower.scope import Frame

_ONE_HOT = re.compile(r"(\w*_)?one_?hot(_?\w+)?")


def undeclared(f: Frame, e: Access) -> tuple[str, ...]:
    """Where a tensor of this name may come from: a gradient reads no new inputs."""
    own = in_gradient(f, unparse(e))
    return (own or f"declare it: `inputs: {{{e.name}: {{shape: {shape_read(e)}}}}}`",)


def in_gradient(f: Frame, shown: str) -> str:
    """What is said of a name in a stated gradient; nothing elsewhere."""
    stated = any(s.target.name == f.target for s in f.decl.backward)
    if not stated:
        return ""
    line = f"assign it above, or in `forward`: `{shown} = …`"
    return line if shown.endswith("]") else f"{line}; a number is declared under `params`"


def one_hot(f: Frame, e: Access) -> tuple[str, ...]:
    """A row of zeros and a one, which is a condition: by the input of integers that says where it stands."""
    if not _ONE_HOT.fullmatch(e.name) or not all(isinstance(i, Name) for i in e.items[-1:]):
        return ()
    words, (*rest, last), at = f.decl.words, e.items, e.span
    fitting = [n for n in f.decl.inputs if n in words.ends and len(words.letters.get(n, ())) == len(rest)]
    whole = [n for n, t in f.decl.inputs.items() if t.kind == "int" and len(words.letters.get(n, ())) == len(rest)]
    if len(fitting or whole) != 1 or isinstance(last, Dots):
        return ()
    (name,) = fitting or whole
    place = Access(name, tuple(rest), at, at) if rest else Name(name, at)
    chosen = Call("where", (Compare((last, place), ("==",), at), Number(1, at), Number(0, at)), at, at)
    return (f"a row with a single one is a condition: `{unparse(chosen)}`",)
