"""Operators and functions that other libraries compute: what a program says about them.

An operator computed by a callable has programs without statements: their arguments and outputs are its surface. A
function from elsewhere that has neither a formula nor a stated derivative cannot be differentiated, so that no gradient
flows through the outputs that depend on it: a gradient of the other paths alone would be wrong without a word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag
from opgen.ir.operator import Callable, Elsewhere
from opgen.ir.program import Function, Kind, Output, Statement, Tensor, parts, statement_scalars
from opgen.ir.scalar import Apply, Batch, Read, Scalar, children, walk
from opgen.lower.constant import dims_in
from opgen.lower.declare import Declarations
from opgen.lower.scope import Known, Variation
from opgen.schema.elsewhere import Callee
from opgen.schema.model import OpSpec


def elsewhere(spec: OpSpec) -> Elsewhere | None:
    """The callables of an operator that is computed elsewhere as a whole."""
    if not isinstance(spec.forward, Callee):
        return None
    back = _callable(spec.backward) if isinstance(spec.backward, Callee) else None
    return Elsewhere(_callable(spec.forward), back)


def _callable(c: Callee) -> Callable:
    return Callable(str(c.path), c.library == "numpy")


def declared_results(d: Declarations, state: Variation) -> None:
    """The outputs of a callable are known from their declarations alone."""
    for o in d.spec.outputs or ():
        shape = d.output_shapes.get(str(o.name))
        state.tensors[str(o.name)] = Known(str(o.name), shape, Kind(o.kind or "float"), o.span)


def check_sizes(d: Declarations, outputs: Sequence[Output], known: Sequence[str], bag: Bag) -> None:
    """Every size of a declared output comes from an input that is there."""
    for o in outputs:
        for size in o.shape:
            for name in () if isinstance(size, Batch) else sorted(dims_in(size) - {*known}):
                bag.error(
                    "OPG238", f"the size `{name}` is not always known", d.output_spans[o.name],
                    label="it stands only in the shape of an input that may be missing",
                )  # fmt: skip


def differentiable_outputs(
    inputs: Sequence[Tensor], statements: Sequence[Statement], outputs: Sequence[Output], functions: Sequence[Function]
) -> tuple[Output, ...]:
    """The outputs, without gradients for those that depend on a function that has no derivative."""
    dull = frozenset(f.name for f in functions if not f.differentiable)
    if not dull:
        return tuple(outputs)
    varies = {t.name: t.differentiable for t in inputs}
    lost: dict[str, bool] = {}
    for s in parts(statements):
        bodies = statement_scalars(s)
        varies[s.target] = s.kind is Kind.FLOAT and any(_moves(e, varies) for e in bodies)
        lost[s.target] = any(_is_lost(e, dull, varies, lost) for e in bodies)
    return tuple(replace(o, differentiable=o.differentiable and not lost.get(o.value, False)) for o in outputs)


def _moves(e: Scalar, varies: Mapping[str, bool]) -> bool:
    """Does its value change with a differentiable input?"""
    if isinstance(e, Apply) and e.fn == "detach":
        return False
    return (isinstance(e, Read) and varies.get(e.tensor, False)) or any(_moves(c, varies) for c in children(e))


def _is_lost(e: Scalar, dull: frozenset[str], varies: Mapping[str, bool], lost: Mapping[str, bool]) -> bool:
    nodes = tuple(walk(e))
    here = any(isinstance(n, Apply) and n.fn in dull and _moves(n, varies) for n in nodes)
    return here or any(isinstance(n, Read) and lost.get(n.tensor, False) for n in nodes)
