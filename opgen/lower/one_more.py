"""Reads behind the end of an input that has some elements more than what is declared beside it.

In go such a position; out comes the declaration with a dim of its own, which the shorter one is worked out of, and the
statements in which an index that both are read at says how far it runs. Nothing comes out where no other input has the
dim, and where a size that is stated elsewhere would no longer be one that a caller chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opgen.ir.scalar import Dim
from opgen.ir.text import shape as shape_text
from opgen.lang.nodes import Access, Assign, Binder, Name, Reduction, Target
from opgen.lang.unparse import unparse, unparse_target
from opgen.lang.walk import nodes
from opgen.lower.earlier import shift
from opgen.lower.scope import Check, Frame

_LETTERS = "SRUVWXYZ"


def one_more(f: Frame, c: Check) -> tuple[str, ...]:
    """The declaration of an input that is read some places behind the dim that it has in common with others."""
    name, size = c.site.tensor, c.extent
    ahead = [shift(o) or 0 for o in f.checks if o.site.tensor == name and o.extent == size]
    more = max(ahead, default=0)
    if (
        min(shift(c) or 0, *ahead, 1) < 0
        or not shift(c)
        or name not in f.decl.inputs
        or not isinstance(size, Dim)
        or not _is_chosen(f, size.name)
    ):
        return ()
    shape = f.decl.shapes[name]
    taken = (*f.decl.known_dims(), *f.decl.params, *f.decl.inputs, *f.decl.targets())
    letter = next((d for d in _LETTERS if d not in taken), "")
    if not letter or shape.count(size) != 1 or not any(size in s for n, s in f.decl.shapes.items() if n != name):
        return ()
    longer = shape_text(tuple(Dim(letter) if n == size else n for n in shape))
    bound = [f"`{line}`" for line in dict.fromkeys(_bounded(f, name, shape.index(size), size.name))]
    lines = (f"`{name}: {{shape: {longer}}}`", f"`dims: {{{size.name}: {letter} - {more}}}`", *bound)
    return (f"where `{name}` has {more} more than `{size.name}`: {', '.join(lines[:-1])} and {lines[-1]}",)


def _is_chosen(f: Frame, size: str) -> bool:
    """Whether a dim is one that nothing but the shapes of inputs says."""
    spec = f.decl.spec
    stated = dict(spec.module.dims) if spec.module is not None else {}
    cases = [str(n) for case in spec.tests.cases for n in dict(case)]
    return size in f.decl.sizes and size not in stated and size not in spec.tests.sizes and size not in cases


def _bounded(f: Frame, name: str, place: int, size: str) -> Iterator[str]:
    """Targets and reductions with the size at each index that runs over the longer dim and has none stated."""
    for s in (*f.decl.forward, *f.decl.backward):
        read = [a for a in nodes(s.value) if isinstance(a, Access) and a.name == name and place < len(a.items)]
        alone = dict.fromkeys(i.name for a in read if isinstance(i := a.items[place], Name))
        own = [r for r in nodes(s.value) if isinstance(r, Reduction)]
        for index in alone:
            around = [r for r in own if any(isinstance(b, Binder) and b.name == index for b in r.binders)]
            if around:
                yield from (made for r in around if (made := _reduction(r, index, size)))
            elif s.target.name not in f.decl.output_shapes and (line := _target(s, index, size)):
                yield line


def _target(s: Assign, index: str, size: str) -> str:
    made = tuple(_with(i, index, size) if isinstance(i, Binder) else i for i in s.target.items or ())
    return unparse_target(replace(s.target, items=made)) if made != s.target.items and s.target.items else ""


def _reduction(r: Reduction, index: str, size: str) -> str:
    made = tuple(_with(b, index, size) if isinstance(b, Binder) else b for b in r.binders)
    if made == r.binders:
        return ""
    return f"{unparse_target(Target(r.name, made, r.span, r.name_span))}({unparse(r.body)})"


def _with(b: Binder, index: str, size: str) -> Binder:
    return replace(b, extent=Name(size, b.span)) if b.name == index and b.extent is None else b
