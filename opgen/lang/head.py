"""The key of a local function: formula text in, its name and argument names out."""

from __future__ import annotations

from opgen.diagnostics.model import Bag
from opgen.lang.nodes import Call, FunctionHead, Name
from opgen.lang.parser import parse_expression
from opgen.spec.formula import Formula


def parse_head(f: Formula, bag: Bag) -> FunctionHead | None:
    """The key of a local function: `name(arg, …)`."""
    before = len(bag.items)
    expr = parse_expression(f, Bag())
    if not isinstance(expr, Call) or not all(isinstance(a, Name) for a in expr.args) or not expr.args:
        bag.error(
            "OPG234",
            "a function is declared as `name(argument, …)`",
            f.whole,
            hints=("for example `swish(x): x * sigmoid(x)`",),
        )
        return None
    params = tuple(a.name for a in expr.args if isinstance(a, Name))
    for i, arg in enumerate(expr.args):
        if params[i] in params[:i]:
            bag.error("OPG234", f"the argument `{params[i]}` stands twice", arg.span)
    return FunctionHead(expr.name, params, expr.span) if len(bag.items) == before else None
