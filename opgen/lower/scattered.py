"""A statement that gathers along the edges of a graph and says nothing of where they go: the scatter that is meant."""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Span
from opgen.ir import text
from opgen.lang.nodes import Access, Binder, Dots, Name
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import names_read, statement_names
from opgen.lower.loose import around
from opgen.lower.scatter_shape import ENDS, is_read
from opgen.lower.scope import Frame


def as_scattered(f: Frame, name: str, place: Span) -> tuple[str, ...]:
    """`y[v] = x[source[e]]` where nothing says `v`: what each `e` adds to, as a scatter."""
    s = next((s for s in f.decl.forward if s.target.name == f.target), None)
    if s is None or s.op != "=" or not s.target.items or around(f, place):
        return ()
    read = names_read(s.value)
    free = [b for b in s.target.items if isinstance(b, Binder) and b.extent is None and b.name not in read]
    ints = [n for n, a in read.items() if isinstance(a, Access) and a.items == (Name(name, place),) and _is_list(f, n)]
    if len(free) != 1 or not ints:
        return ()
    known = f.state.tensors[ints[0]]
    used = {n for s in f.decl.forward for n in statement_names(s)}
    unread = [
        n
        for n, t in f.decl.inputs.items()
        if t.kind == "int" and n not in used and t.shape == f.decl.inputs[ints[0]].shape
    ]
    ends = {one: other for pair in ENDS for one, other in (pair, pair[::-1])}
    to = unread[0] if len(unread) == 1 else ends.get(ints[0], f"to_{f.target}")
    position = Access(to, (Name(name, s.span),), s.span, s.span)
    target = replace(s.target, items=tuple(position if i is free[0] else i for i in s.target.items))
    written = f"`{unparse_assign(replace(s, target=target, op='+='))}`"
    if to not in f.decl.inputs:
        written += f", with `inputs: {{{to}: {{shape: {text.shape(known.shape or ())}, dtype: int}}}}`"
    sizes = ["..." if isinstance(i, Dots) else i.name.upper() for i in s.target.items if isinstance(i, Dots | Binder)]
    if f.target not in f.decl.output_shapes and {*sizes} <= {*f.decl.known_dims(), "..."}:
        own = ", ".join(i if i == "..." else f"{i.lower()} < {i}" for i in sizes)
        if is_read(f, f.target):
            written = f"`{f.target}[{own}] = 0`, then {written}"
        else:
            joint = " and" if ", with" in written else ", with"
            written += f"{joint} `outputs: {{{f.target}: {{shape: [{', '.join(sizes)}]}}}}`"
    what = f"`{free[0].name}` is read nowhere: where each `{name}` adds to a place, that is a scatter"
    return what, f"write {written}"


def _is_list(f: Frame, tensor: str) -> bool:
    """Whether an input is a list of integers."""
    t = f.decl.inputs.get(tensor)
    return t is not None and t.kind == "int" and len(t.shape or ()) == 1
