"""The key of a local function: formula text in, its name and argument names out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.diagnostics.model import Bag
from opgen.lang.nodes import Access, Call, FunctionHead, Name
from opgen.lang.parser import parse_expression
from opgen.lang.walk import names_read
from opgen.schema.formula import Formula

_LAMBDA = re.compile(r"\s*lambda(?P<args>[\w, ]+):\s*(?P<body>.+?)\s*", re.DOTALL)
_DEFAULT = re.compile(r"\s*=\s*[\w.+-]+(?=\s*[,)])")
CONSTANTS = ("pi", "inf", "nan", "true", "false")


def is_anonymous(value: str) -> bool:
    """Whether a formula is a function of Python without a name."""
    return _LAMBDA.fullmatch(value) is not None


def parse_head(f: Formula, bag: Bag, value: Formula | None = None, params: Sequence[str] = ()) -> FunctionHead | None:
    """The key of a local function: `name(arg, …)`.

    `value` is its formula, for what is said where there is none; `params` are seen in it, and so are dims.
    """
    before = len(bag.items)
    expr = parse_expression(f, Bag())
    if not isinstance(expr, Call) or not all(isinstance(a, Name) for a in expr.args) or not expr.args:
        hint = "for example `swish(x): x * sigmoid(x)`"
        if isinstance(expr, Name) and value is not None and (anonymous := _LAMBDA.fullmatch(value.text)) is not None:
            hint = (
                f"its arguments stand in parentheses: `{expr.name}({anonymous['args'].strip()}): {anonymous['body']}`"
            )
        elif isinstance(expr, Name) and value is not None and (body := parse_expression(value, Bag())) is not None:
            args = [n for n in names_read(body) if n not in (*CONSTANTS, *params) and not n[:1].isupper()]
            hint = f"name its arguments: `{expr.name}({', '.join(args) or 'x'}): {value.text.strip()}`"
        elif isinstance(expr, Access) and all(isinstance(i, Name) for i in expr.items):
            inside = ", ".join(i.name for i in expr.items if isinstance(i, Name))
            hint = f"its arguments stand in parentheses: `{expr.name}({inside})`"
        elif plain := _DEFAULT.sub("", f.text):
            given = _DEFAULT.findall(f.text)
            hint = f"arguments have no defaults: `{plain.strip()}`, and every call gives all of them" if given else hint
        bag.error("OPG234", "a function is declared as `name(argument, …)`", f.whole, hints=(hint,))
        return None
    params = tuple(a.name for a in expr.args if isinstance(a, Name))
    for i, arg in enumerate(expr.args):
        if params[i] in params[:i]:
            bag.error("OPG234", f"the argument `{params[i]}` stands twice", arg.span)
    return FunctionHead(expr.name, params, expr.span) if len(bag.items) == before else None
