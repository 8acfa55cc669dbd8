"""Elements of params: of a list by their numbers, of one that is none, and those that nothing reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from opgen.diagnostics.model import Bag, Label, Span
from opgen.diagnostics.suggest import listed
from opgen.ir.scalar import Lit
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number
from opgen.lang.parser import parse_expression
from opgen.lang.unparse import unparse
from opgen.lang.walk import integer, names_read, nodes
from opgen.lower.along import size_of
from opgen.lower.declare import Declarations
from opgen.lower.missing import extents_of
from opgen.lower.scope import BAD, Frame, Typed
from opgen.schema.model import ParamSpec
from opgen.schema.param_types import LONGEST_LIST

_FEW = 4  # elements that are named one by one


def elements(p: ParamSpec) -> str:
    """The elements of a list, of which nothing tells which one is meant."""
    length = p.length or 1
    if length > _FEW:
        return f"`{p.name}[0]` to `{p.name}[{length - 1}]`"
    return listed([f"{p.name}[{k}]" for k in range(length)], "or")


def beyond(f: Frame, p: ParamSpec, span: Span) -> Typed:
    """An element that a list has not: all are told at once where they are counted from 1."""
    assert p.length is not None
    name, message = str(p.name), f"`{p.name}` has {p.length} elements, numbered from 0"
    read = [*_read(f.decl, name)]
    if {integer(a.items[0]) for a in read if not isinstance(a.items[0], Dots)} != {*range(1, p.length + 1)}:
        return f.error("OPG232", message, span, f"the last of them is `{name}[{p.length - 1}]`")
    first, *others = sorted(read, key=lambda a: a.span.start)
    lines = [line for s in (*f.decl.forward, *f.decl.backward) if (line := _from_0(s, name)) is not None]
    hint = f"write {listed(lines, 'and')}"
    if len(read) > sum(1 for s in (*f.decl.forward, *f.decl.backward) for _ in _in_statement(s, name)):
        before, after = ([f"{name}[{k + start}]" for k in range(p.length)] for start in (1, 0))
        hint = f"in place of {listed(before, 'and')} write {listed(after, 'and')}"
    related = [Label(a.span, "this too") for a in others]
    f.bag.error("OPG232", message, first.span, label="counts from 1", hints=(hint,), related=related)
    return BAD


def not_chosen(f: Frame, e: Access) -> Typed:
    """Positions in a list param that are no literal."""
    message, length = "an element of a list param is chosen by an integer literal", f.decl.params[e.name].length
    back = integer(e.items[0]) if len(e.items) == 1 and not isinstance(e.items[0], Dots) else None
    if back is not None and length is not None and -length <= back < 0:
        return f.error("OPG206", message, e.span, f"counted from the first it is `{e.name}[{length + back}]`")
    own = next((s for s in f.decl.forward if any(n is e for n in nodes(s.value))), None)
    line = "" if own is None or length is None else _by_choice(f, own, e, length)
    chosen = (f"write `{line}`",) if line else ()
    if any(e.name in names_read(size) for size in (*f.decl.derived.values(), *extents_of(f.decl))):
        return f.error("OPG206", message, e.span, *(chosen or (f"the first of them is `{e.name}[0]`",)))
    sizes = [size_of(f.decl, own, i.name) if own and isinstance(i, Name) else "" for i in e.items]
    shape = ", ".join(sizes) if all(sizes) else "Q"
    hint = f"numbers that an index runs over are an input: `inputs: {{{e.name}: {{shape: [{shape}]}}}}`"
    return f.error("OPG206", message, e.span, *chosen, hint)


def _by_choice(f: Frame, s: Assign, e: Access, length: int) -> str:
    """A statement with choices in place of what is read at an index that runs over all of a short list."""
    index = e.items[0] if len(e.items) == 1 else None
    info = f.scope.find(index.name) if f.scope is not None and isinstance(index, Name) else None
    if info is None or not isinstance(index, Name) or length not in (2, 3):
        return ""
    if info.stated != Lit(length) and (info.stated is not None or size_of(f.decl, s, index.name) != str(length)):
        return ""
    made = f"{e.name}[{length - 1}]"
    for k in reversed(range(length - 1)):
        made = f"where({index.name} == {k}, {e.name}[{k}], {made})"
    return " ".join(re.sub(r"#[^\n]*", "", s.span.text).replace(e.span.text, made).split())


def no_list(f: Frame, p: ParamSpec, item: int, span: Span) -> Typed:
    """An element of a param that is one number: told once if several are read, and not if its default is a list."""
    name = str(p.name)
    values = [e for s in (*f.decl.forward, *f.decl.backward) for e in (s.value, s.guard) if e is not None]
    read = [a.items[0] for e in values for a in nodes(e) if isinstance(a, Access) and a.name == name and a.items]
    count = 1 + max(item, *(i.value for i in read if isinstance(i, Number) and isinstance(i.value, int)), 0)
    if isinstance(p.default, tuple):
        return BAD
    if count == 1:
        return f.error("OPG206", f"`{name}` is not a list", span, f"write `{name}`")
    if name not in f.state.lists:
        types = f"[{', '.join([p.type] * count)}]" if count <= LONGEST_LIST else f"[{p.type}, {p.type}, …]"
        hint = f"a list says the type of each element: `{name}: {{type: {types}}}`"
        f.error("OPG206", f"`{name}` is not a list", span, hint)
    f.state.lists.add(name)
    return BAD


def _formulas(d: Declarations) -> Iterator[Expr]:
    """Every formula of a spec that may read an element of a param."""
    for s in (*d.forward, *d.backward):
        yield from _of_statement(s)
    yield from (e for f in d.functions.values() for e in (f.value, *(f.partials or ())) if e is not None)
    yield from (*d.absent.values(), *d.derived.values(), *(e for es in d.defaults.values() for e in es))
    for domain in (*(t.domain for t in d.spec.inputs), *(p.domain for p in d.spec.params)):
        if domain is not None and (e := parse_expression(domain, Bag())) is not None:
            yield e


def _of_statement(s: Assign) -> Iterator[Expr]:
    yield s.value
    if s.guard is not None:
        yield s.guard
    for item in s.target.items or ():
        if isinstance(item, Binder):
            yield from () if item.extent is None else (item.extent,)
        elif not isinstance(item, Dots):
            yield item


def unread(d: Declarations, p: ParamSpec) -> tuple[str, ...]:
    """The elements of a list that nothing reads, while others are read."""
    read = {integer(i) for a in _read(d, str(p.name)) for i in a.items if not isinstance(i, Dots)}
    return tuple(f"{p.name}[{k}]" for k in range(p.length or 0) if k not in read) if read else ()


def _read(d: Declarations, name: str) -> Iterator[Access]:
    """The elements of a param that are read."""
    found = (n for e in _formulas(d) for n in nodes(e))
    return (n for n in found if isinstance(n, Access) and n.name == name and len(n.items) == 1)


def _in_statement(s: Assign, name: str) -> Iterator[Access]:
    return (n for e in _of_statement(s) for n in nodes(e) if isinstance(n, Access) and n.name == name)


def _one_less(a: Access) -> Access:
    """The element before."""
    items = (Number((integer(i) or 1) - 1, i.span) for i in a.items if not isinstance(i, Dots))
    return replace(a, items=tuple(items))


def _from_0(s: Assign, name: str) -> str | None:
    """A statement as it is written, with the elements of a list counted from 0; None where it reads none."""
    text, found = s.span.text, [*_in_statement(s, name)]
    for a in sorted(found, key=lambda a: a.span.start, reverse=True):
        start, end = a.span.start - s.span.start, a.span.end - s.span.start
        text = f"{text[:start]}{unparse(_one_less(a))}{text[end:]}"
    return " ".join(re.sub(r"#[^\n]*", "", text).split()) if found else None
