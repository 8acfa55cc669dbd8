"""The formulas of local functions, for warnings about statements as they are written.

In: the declarations. Out: the same ones with one formula of a function as their only statement, whose arguments are
inputs of which nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Diagnostic
from opgen.ir.operator import Variant
from opgen.lang.nodes import Assign, Call, Expr, Target
from opgen.lang.parser import parse_expression
from opgen.lang.walk import names_read, nodes
from opgen.lower.bounds import bounded, bounds
from opgen.lower.declare import Declarations, LocalFunction
from opgen.lower.doubts import not_numbers
from opgen.lower.signs import signs
from opgen.lower.turns import half_turns
from opgen.lower.whole_numbers import in_positions, of_literals, remainders
from opgen.schema.model import InputSpec, ParamSpec


def bodies(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each part of such a formula that is something else than it looks like."""
    positions = in_positions(d)
    for f in d.functions.values():
        within = any(
            n.name == f.name and id(n) in positions for a in d.forward for n in nodes(a.value) if isinstance(n, Call)
        )
        for e in (e for e in (f.value, *(f.partials or ())) if e is not None):
            own = _alone(d, f, e)
            places = frozenset(map(id, nodes(e))) if within else in_positions(own)
            told: set[tuple[str, int]] = set()
            for w in (
                *signs(own, variants),
                *not_numbers(own),
                *bounds(own),
                *bounded(own),
                *of_literals(own, places),
                *remainders(own),
                *half_turns(own),
            ):
                if w.span is not None and (w.code, w.span.start) not in told:
                    told.add((w.code, w.span.start))
                    yield w


def _alone(d: Declarations, f: LocalFunction, e: Expr) -> Declarations:
    """The declarations with a formula of a function alone; its arguments hide what else has their names."""
    arguments = {p: InputSpec.model_construct(name=p, span=f.span) for p in f.params}
    params = {n: _unbound(p, f) for n, p in d.params.items() if n not in f.params}
    statement = Assign(Target(f.name, None, f.span, f.span), "=", e, None, e.span)
    return replace(
        d, inputs=d.inputs | arguments, shapes=d.shapes | dict.fromkeys(f.params, ()), forward=(statement,),
        backward=(), params=params,
        defaults={n: v for n, v in d.defaults.items() if n not in f.params},
    )  # fmt: skip


def _unbound(p: ParamSpec, f: LocalFunction) -> ParamSpec:
    """A param without a domain that names what the arguments of a function hide."""
    domain = None if p.domain is None else parse_expression(p.domain, Bag())
    return p.model_copy(update={"domain": None}) if domain and {*names_read(domain)} & {*f.params} else p
