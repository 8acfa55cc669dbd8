"""What a spec declares, assigns or binds and never reads, or as what it is not: warnings for a spec that is right.

In: a spec without mistakes. Out: an `OPG240` per name and an `OPG252` per width, in the order of the file. What is
assigned for nothing is told where a spec is lowered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.diagnostics.model import Bag, Diagnostic, Severity, Span
from opgen.diagnostics.suggest import listed
from opgen.ir.scalar import Dim
from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Reduction
from opgen.lang.parser import parse_expression
from opgen.lang.walk import nodes
from opgen.lower.declare import Declarations, declare
from opgen.lower.list_params import unread as unread_elements
from opgen.lower.unmoved import reductions, unmoved
from opgen.schema.elsewhere import Callee
from opgen.schema.formula import Formula
from opgen.schema.model import OpSpec, ParamSpec

_FOLLOWS = "remove it, here and as `training` under `module`, or read it in a formula"


def unused(spec: OpSpec) -> tuple[Diagnostic, ...]:
    """A warning for every name without a use, or with one that is hardly meant."""
    d = declare(spec, Bag())
    if d is None:
        return ()
    read = frozenset(_mentioned(d))
    found = [*_declared(d, read), *_bound(d), *_widths(d)]
    return tuple(sorted(found, key=lambda w: w.span.start if w.span is not None else 0))


def _warning(what: str, name: str, span: Span, hint: str) -> Diagnostic:
    return Diagnostic(
        "OPG240", f"the {what} `{name}` is never used", span, "unused", hints=(hint,), severity=Severity.WARNING
    )


def _declared(d: Declarations, read: frozenset[str]) -> Iterator[Diagnostic]:
    hint = "remove it, or read it in a formula"
    passed_on = isinstance(d.spec.forward, Callee)  # a callable is given every input and param
    for t in d.spec.inputs:
        sizes = [s.name for s in d.shapes[t.name] if isinstance(s, Dim)]
        if not passed_on and t.name not in read and not any(s in read and _only_source(d, t.name, s) for s in sizes):
            yield _warning("input", t.name, t.span, hint)
    for p in d.spec.params:
        if not passed_on and p.name not in read:
            follows = d.spec.module is not None and d.spec.module.training == p.name
            yield _warning("param", p.name, p.span, _FOLLOWS if follows else hint)
        elif elements := () if passed_on else unread_elements(d, p):
            yield _unread_elements(p, elements)
    for dim in d.spec.dims:
        checked = any(Dim(str(dim.name)) in shape for shape in d.shapes.values())
        if dim.name not in read and not checked:
            yield _warning("dim", dim.name, dim.span, "remove it, or use it as an extent or in a shape")
    for f in d.spec.functions:
        if f.name not in read:
            yield _warning("function", f.name, f.span, "remove it, or call it in a formula")


def _unread_elements(p: ParamSpec, elements: Sequence[str]) -> Diagnostic:
    what = f"elements {listed(elements, 'and')} are" if len(elements) > 1 else f"element `{elements[0]}` is"
    last, more = (p.length or 1) - 1, listed(elements, "and")
    hints = (f"a list of {p.length} is numbered from 0 to {last}: read {more} as well, or declare fewer",)
    return Diagnostic(
        "OPG240", f"the {what} never used", p.span, "read in part", hints=hints, severity=Severity.WARNING
    )


def _only_source(d: Declarations, tensor: str, size: str) -> bool:
    """Whether a dim is known from the shape of this input alone."""
    return [name for name, shape in d.shapes.items() if Dim(size) in shape] == [tensor]


def unread(d: Declarations) -> Iterator[Diagnostic]:
    """Names that are assigned and are neither an output nor read by a statement of another name, for nothing."""
    readers: dict[str, set[str]] = {}  # of each name, the targets of the statements that it stands in
    for s in (*d.forward, *d.backward):
        for n in _of_statement(s):
            readers.setdefault(n, set()).add(s.target.name)
    for name, span in d.targets().items():
        if name not in d.outputs and readers.get(name, set()) <= {name}:
            yield _warning("tensor", name, span, "read it in another statement, remove it, or list it under `outputs`")


def _bound(d: Declarations) -> Iterator[Diagnostic]:
    """Indices of reductions that their body does not mention: it is the same term every time."""
    for s in (*d.forward, *d.backward):
        for r, around in reductions(s):
            body = frozenset(_of(r.body))
            for b in (b for b in r.binders if isinstance(b, Binder) and b.name not in body):
                hint = f"read something at `{b.name}` in the reduction"
                yield unmoved(s, r, b, around) or _warning("index", b.name, b.span, hint)


def _widths(d: Declarations) -> Iterator[Diagnostic]:
    """Values read outside of a tensor that are params which sizes are made of: a width is meant."""
    sizes = frozenset(n.name for e in d.derived.values() for n in nodes(e) if isinstance(n, Name))
    for s in (*d.forward, *d.backward):
        for node in nodes(s.value):
            match node:
                case Call(name="pad", args=(Access() as read, Name(name=fill, span=span))) if fill in sizes:
                    shown = f"pad({read.name}[…], 0)"
                    hint = f"`{shown}` reads 0 outside, however far; the position says where: `i - {fill}`"
                    message = f"`{fill}` is the value that `{read.name}` has outside, not a width"
                    yield Diagnostic("OPG252", message, span, hints=(hint,), severity=Severity.WARNING)


def _mentioned(d: Declarations) -> Iterator[str]:
    """Every name that stands in a formula of the spec, a `given(name)` and the sizes of outputs included."""
    for s in (*d.forward, *d.backward):
        yield from _of_statement(s)
    for f in d.functions.values():
        bodies = (f.value, *(f.partials or ()))
        yield from (n for e in bodies if e is not None for n in _of(e) if n not in (*f.params, f.name))
    for e in (*d.absent.values(), *d.derived.values(), *(e for es in d.defaults.values() for e in es)):
        yield from _of(e)
    domains = (*((t.name, t.domain) for t in d.spec.inputs), *((p.name, p.domain) for p in d.spec.params))
    for own, domain in domains:
        yield from (n for n in _of_formula(domain) if n != own)
    for shape in d.output_shapes.values():
        yield from (item.name for item in shape if isinstance(item, Dim))


def _of_formula(formula: Formula | None) -> Iterable[str]:
    e = None if formula is None else parse_expression(formula, Bag())
    return () if e is None else _of(e)


def _of_statement(s: Assign) -> Iterator[str]:
    yield from _of(s.value)
    if s.guard is not None:
        yield from _of(s.guard)
    for item in s.target.items or ():
        if isinstance(item, Binder):
            yield from () if item.extent is None else _of(item.extent)
        elif not isinstance(item, Dots):
            yield from _of(item)


def _of(e: Expr) -> Iterator[str]:
    for node in nodes(e):
        if isinstance(node, Name | Access | Call | Reduction):
            yield node.name
