"""What a spec says beside its formulas, for those who never look at it: documentation, module, tests, callables.

Comes before variants, so that mistakes in these sections are found whatever the formulas are like.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.model import Bag
from opgen.ir.declared import Docs, Module, State, Tests
from opgen.ir.operator import Callable
from opgen.lower.cases import stated_case
from opgen.lower.initialiser import initialisers
from opgen.schema.elsewhere import ALIASES, LIBRARIES, Callee
from opgen.schema.formula import Word
from opgen.schema.model import OpSpec
from opgen.schema.sizes import constructor_sizes


def docs(spec: OpSpec) -> Docs:
    """The words of a spec, and its forward block as its author wrote it."""
    reference = "" if spec.reference is None else str(spec.reference)
    return Docs(str(spec.summary), str(spec.description), tuple(_formula(spec)), reference)


def _formula(spec: OpSpec) -> Iterator[str]:
    if isinstance(spec.forward, Callee):
        results = ", ".join(str(o.name) for o in spec.outputs or ())
        arguments = [*(str(i.name) for i in spec.inputs), *(f"{p.name}={p.name}" for p in spec.params)]
        yield f"{results} = {spec.forward.path}({', '.join(arguments)})"
    else:
        yield from (line.rstrip() for line in str(spec.forward).strip("\n").split("\n"))


def module(spec: OpSpec, bag: Bag) -> Module:
    """The module section; one without anything where there is none."""
    m, sizes, found = spec.module, constructor_sizes(spec), initialisers(spec, bag)
    if m is None:
        return Module()
    buffers = tuple(str(n) for n, _ in m.buffers)
    states = tuple(State(name, i, name in buffers) for name, i in found.items())
    updates = tuple((str(buffer), str(output)) for buffer, output in m.updates)
    training = "" if m.training is None else str(m.training)
    name = "" if m.name is None else str(m.name)
    return Module(name, str(m.doc), tuple(sizes.items()), states, updates, training)


def tests(spec: OpSpec, bag: Bag) -> Tests:
    """The tests section with its cases understood."""
    sizes = tuple((str(name), int(size)) for name, size in spec.tests.sizes.items())
    cases = tuple(stated_case(spec, case, bag) for case in spec.tests.cases)
    return Tests(sizes, cases, tuple(spec.tests.tolerances.items()))


def callables(spec: OpSpec) -> tuple[Callable, ...]:
    """Every callable of Python that a spec names, with its place; who calls a package by another name was told so."""
    found = (path for path in _paths(spec) if path.partition(".")[0] not in ALIASES)
    return tuple(Callable(str(path), span=path.span) for path in found)


def _paths(spec: OpSpec) -> Iterator[Word]:
    if spec.reference is not None:
        yield spec.reference
    for block in (spec.forward, spec.backward):
        if isinstance(block, Callee):
            yield block.path
    for f in spec.functions:
        yield from (name for library, name in f.extern if library in LIBRARIES)
