"""Tensors that a formula reads under a name with a capital, as on paper: `A[i, j]` is spelt `a[i, j]`.

In go the frame of a statement and such an access, out comes the statement with all of them in small letters.
"""

from __future__ import annotations

import re
from dataclasses import replace

from opgen.ir.program import Kind
from opgen.lang.nodes import Access, Dots, Expr, Name, Number
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, statement_at, statement_names, transform
from opgen.lower.proposals import shape_read
from opgen.lower.scope import Frame

_SMALL = "tensors are spelt in small letters: write"


def in_small_letters(f: Frame, e: Access) -> tuple[str, ...]:
    """The statement with small names, and how those are declared that nothing declares yet."""
    s = statement_at((*f.decl.forward, *f.decl.backward), e.span)
    if s is None or not e.name[:1].isupper():
        return ()
    known = (*f.decl.known_dims(), *f.decl.params, *f.decl.targets())
    read = sorted((a for a in nodes(s.value) if isinstance(a, Access)), key=lambda a: -a.span.start)
    capital = {a.name: a for a in reversed(read) if a.name[:1].isupper() and not _is_call(f, a)}
    taken = [*f.index_names, *f.decl.params, *f.decl.functions, *statement_names(s)]
    small: dict[str, str] = {}
    for name in (n for n in capital if n not in known):
        wishes = (_small(name), *(f"{_small(name)}{k}" for k in range(2, 99)))
        small[name] = next(n for n in wishes if n not in taken and n not in small.values())
    if e.name not in small:
        return ()

    def step(n: Expr) -> Expr | None:
        if not isinstance(n, Access) or n.name not in small:
            return None
        items = tuple(i if isinstance(i, Dots) else transform(i, step) for i in n.items)
        return replace(n, name=small[n.name], items=items)

    line = f"{_SMALL} `{unparse_assign(replace(s, value=transform(s.value, step)))}`"
    inputs = [f"{n}: {{shape: {shape_read(capital[c])}}}" for c, n in small.items() if n not in f.decl.inputs]
    return (line, *((f"where it is not declared yet: `inputs: {{{', '.join(inputs)}}}`",) if inputs else ()))


def _is_call(f: Frame, a: Access) -> bool:
    """Whether it is a function in square brackets, `Log[2, x[n]]`: what stands in them is no position."""
    read = [n for item in a.items if not isinstance(item, Dots) for n in nodes(item)]
    inner = [f.state.tensors.get(n.name) for n in read if isinstance(n, Access | Name)]
    real = any(isinstance(n, Number) and not isinstance(n.value, int) for n in read)
    params = [f.decl.params[n.name].type for n in read if isinstance(n, Name) and n.name in f.decl.params]
    return real or "float" in params or any(t is not None and t.kind is Kind.FLOAT for t in inner)


def is_told(f: Frame, name: str) -> bool:
    """Whether this has been said of a statement with the name."""
    read = re.compile(rf"\b{re.escape(_small(name))}\d*\[")
    return name[:1].isupper() and any(h.startswith(_SMALL) and read.search(h) for d in f.bag.items for h in d.hints)


def _small(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
