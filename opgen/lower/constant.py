"""Values outside statements: defaults of params, what a missing input reads as, derived dims, domains.

They are formulas of dims and params, without tensors and indices.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from opgen.diagnostics.model import Bag
from opgen.diagnostics.suggest import listed
from opgen.ir.arithmetic import comparison_of
from opgen.ir.declared import Domain, Multiple
from opgen.ir.formula import CONSTANTS
from opgen.ir.interp_functions import SCALARS
from opgen.ir.program import Argument, Kind
from opgen.ir.scalar import ZERO, Apply, Const, Dim, Lit, Param, Scalar, call, transform, walk
from opgen.lang.nodes import Access, Call, Compare, Expr, Name, Reduction
from opgen.lang.parser import parse_expression
from opgen.lang.unparse import respelled, unparse
from opgen.lang.walk import names_read, nodes
from opgen.lower.counts import as_param
from opgen.lower.declare import Declarations
from opgen.lower.domain import is_at_least
from opgen.lower.equations import bounded
from opgen.lower.kinds import ARTICLES, numeric, promote
from opgen.lower.proposals import BETWEEN, own_bounds
from opgen.lower.scope import Typed, Variation
from opgen.lower.statement import frame_of
from opgen.lower.whole import integer
from opgen.schema.formula import Formula
from opgen.schema.model import InputSpec, ParamSpec
from opgen.schema.reductions import REDUCTIONS

Value = int | Fraction | bool | Scalar


def computed_defaults(d: Declarations) -> frozenset[str]:
    """Params whose default depends on the call: it reads dims or other params."""
    known = {*d.params, *d.known_dims()}
    return frozenset(n for n, es in d.defaults.items() if any(name in known for e in es for name in names_read(e)))


def arguments(d: Declarations, computed: frozenset[str], bag: Bag) -> tuple[Argument, ...]:
    """The params as arguments. One with a computed default may be left out, which makes a variant of its own."""
    state = Variation({}, {})
    found = []
    for name, p in d.params.items():
        default: str | Value | tuple[int | Fraction | bool, ...] | None = None
        if p.choices:
            default = p.default.text.strip() if isinstance(p.default, Formula) else None
        elif name in d.defaults and name not in computed:
            values = [_default(d, state, p, e, bag) for e in d.defaults[name]]
            if p.length is None:
                default = values[0]
            else:
                default = tuple(v for v in values if isinstance(v, int | Fraction | bool))
                if len(default) != len(values):
                    bag.error("OPG119", f"the default of `{name}` is a list of literals", d.defaults[name][0].span)
        elif name in computed and p.length is not None:
            bag.error("OPG225", "a computed default of a list is not supported yet", d.defaults[name][0].span)
        null = p.null or name in computed
        choices, positive = tuple(map(str, p.choices)), is_at_least(name, p, 1)
        found.append(Argument(name, p.type, p.length, default, null, choices, p.doc, positive))
    return tuple(found)


def _default(d: Declarations, state: Variation, p: ParamSpec, e: Expr, bag: Bag) -> Value | None:
    typed = value_of(d, state, e, "a default", bag)
    if typed.kind is None:
        return None
    wanted = Kind(p.type)
    fits = typed.kind is wanted or (wanted is Kind.FLOAT and typed.kind is Kind.INT)
    if not fits:
        bag.error("OPG119", f"the default of `{p.name}` is not of type {p.type}", e.span, label="of another type")
        return None
    value = _number(typed.scalar)
    if value is None or not math.isfinite(value):
        return typed.scalar
    return Fraction(value) if wanted is Kind.FLOAT else int(value) if wanted is Kind.INT else bool(value)


def _number(e: Scalar) -> int | float | bool | Fraction | None:
    """What a formula of constants is worth; None for `nan` and where a part is no number."""
    match e:
        case Lit(value):
            return value
        case Const("pi"):
            return math.pi
        case Apply("neg", (arg,)) if isinstance(arg, Lit):
            return -arg.value
        case Apply(fn, args) if fn in SCALARS:
            parts = [_number(a) for a in args]
            known = [float(p) if isinstance(p, Fraction) else p for p in parts if p is not None]
            found = SCALARS[fn](*known) if len(known) == len(parts) else math.nan
            return None if math.isnan(found) else found
        case _:
            return None


def value_of(d: Declarations, state: Variation, e: Expr, place: str, bag: Bag) -> Typed:
    """A formula without tensors and indices."""
    frame = frame_of(d, state, bag)
    frame.place = place
    return frame.lower(e)


def computed_values(d: Declarations, state: Variation, computed: frozenset[str], bag: Bag) -> None:
    """What the params left out in this variant stand for."""
    for name in d.params:
        if name in computed and state.given.get(name) is False:
            (e,) = d.defaults[name][:1]
            typed = numeric(value_of(d, state, e, "a default", bag))
            if typed.kind is Kind.FLOAT and d.params[name].type == "int":
                bag.error("OPG119", f"the default of `{name}` is not of type int", e.span, label="of another type")
            state.defaults[name] = typed.scalar


def absent_value(d: Declarations, state: Variation, name: str, bag: Bag) -> Scalar:
    """What a missing optional input reads as; a complex one has both parts, so that all functions take it for one."""
    wanted = Kind(d.inputs[name].kind)
    e = d.absent.get(name)
    if e is None:
        return {Kind.BOOL: Lit(False), Kind.COMPLEX: call("complex", ZERO, ZERO)}.get(wanted, ZERO)
    typed = value_of(d, state, e, "`absent`", bag)
    if wanted is Kind.BOOL:
        if typed.scalar in (Lit(0), Lit(1)):
            return Lit(typed.scalar == Lit(1))
        if typed.kind not in (Kind.BOOL, None):
            hints = ("write `true` or `false`",)
            bag.error("OPG223", f"`{name}` is of dtype bool, and this is a number", e.span, hints=hints)
        return typed.scalar
    typed = numeric(typed)
    if promote((typed.kind, wanted)) is not wanted and typed.kind is not None:
        bag.error("OPG223", f"`{name}` is of dtype {wanted}, and this is {ARTICLES[typed.kind]}", e.span)
    whole = wanted is not Kind.COMPLEX or typed.kind is Kind.COMPLEX
    return typed.scalar if whole else call("complex", typed.scalar, ZERO)


def derived_dims(d: Declarations, state: Variation, bag: Bag) -> dict[str, Scalar | None]:
    """The values of the derived dims, each after those it reads."""
    values: dict[str, Scalar | None] = {}
    open_: list[str] = []
    broken: set[str] = set()

    def visit(name: str) -> None:
        if name in values:
            return
        e = d.derived[name]
        if name in open_:
            circle = " → ".join((*open_[open_.index(name) :], name))
            hint = "a dim is made of those of inputs, of params, and of dims that are made of these"
            bag.error("OPG237", "these dims depend on each other in a circle", e.span, label=circle, hints=(hint,))
            broken.update(open_[open_.index(name) :])
            return
        if of_data := [(k, n.span) for k, n in names_read(e).items() if k in d.inputs]:
            values[name] = None
            number = f"num_{name.lower()}"
            hint = f"sizes do not depend on data; a caller gives them: `dims: {{{name}: {number}}}`, with"
            hint += f" `params: {{{number}: int}}`"
            read, span = of_data[0]
            hints = as_param(d, read) or (hint,)
            bag.error("OPG206", f"a derived dim cannot read the tensor `{read}`", span, hints=hints)
            return
        open_.append(name)
        for other in names_read(e):
            if other in d.derived:
                visit(other)
        open_.pop()
        typed = integer(frame_of(d, state, bag), value_of(d, state, e, "a derived dim", bag), e, "a dim")
        values[name] = None if typed.kind is None or name in broken else typed.scalar

    for name in d.derived:
        visit(name)
    return values


def multiples_of(d: Declarations) -> tuple[Multiple, ...]:
    """The dims of inputs that are multiples; what is wrong with one is told of the derived dim that is made of it."""
    state = Variation({}, {})
    return tuple(Multiple(p.dim, p.text, value_of(d, state, p.by, "a derived dim", Bag()).scalar) for p in d.parts)


def domains(d: Declarations, bag: Bag) -> tuple[Domain, ...]:
    """The domains of inputs and params: comparisons (or chains of them) that the name itself stands in alone."""
    state = Variation({}, {})
    declared: tuple[InputSpec | ParamSpec, ...] = (*d.inputs.values(), *d.params.values())
    known = {*d.params, *d.known_dims(), *CONSTANTS}
    found = []
    for entry in declared:
        name, formula = str(entry.name), entry.domain
        e = None if formula is None else parse_expression(formula, bag)
        if e is None:
            continue
        parts = e.operands if isinstance(e, Compare) else ()
        own = [o for o in parts if isinstance(o, Name) and o.name in (name, entry.span.text)]  # which may be misspelt
        ops = e.ops if isinstance(e, Compare) else ()
        if len(own) != 1 or len(parts) > 3 or (len(parts) == 3 and own[0] is not parts[1]) or {"==", "!="} & set(ops):
            bag.error(
                "OPG233", f"the domain of `{name}` is an inequality over `{name}`", e.span,
                hints=_for_each(d, e, name) or own_bounds(e, name, known) or _by_itself(e, name, known)
                or (f"for example `{name} > 0` or `0 <= {name} < 1`",),
            )  # fmt: skip
            continue
        values = [Param(name) if o is own[0] else value_of(d, state, o, "a domain", bag).scalar for o in parts]
        if _is_empty(values, ops):
            low, high = (respelled(o) for o in (parts[0], parts[2]))
            hints = (f"exchange the bounds: `{high} {ops[0]} {name} {ops[1]} {low}`",)
            if _is_empty(values[::-1], ops):
                hints = (f"for example `{name} {ops[1]} {high}`",)
            bag.error("OPG233", f"the domain of `{name}` is empty", e.span, label="no number is in it", hints=hints)
            continue
        found.append(Domain(name, str(formula), comparison_of(values, ops)))
    return tuple(found)


def _by_itself(e: Expr, name: str, known: Collection[str]) -> tuple[str, ...]:
    """The domain with its name alone on one side, where that is what it comes to."""
    found = bounded(e, name) if all(n in (name, *known) for n in names_read(e)) else None
    if found is None:
        return ()
    own, others = found
    own = f'"{own}"' if "," in own else own  # which ends a value in `{ }`
    told = f", and {listed(others, 'and')} in the domain of what it is about" if others else ""
    return (f"the name stands alone: write `{own}`{told}",)


def _for_each(d: Declarations, e: Expr, name: str) -> tuple[str, ...]:
    """What is said of a domain that reads elements: `a[n] > 0` is of each, a relation between several is no domain."""
    reads = [n for n in nodes(e) if isinstance(n, Access | Reduction) or (isinstance(n, Name) and n.name in d.inputs)]
    read = reads[0] if len(reads) == 1 else None
    parts = e.operands if isinstance(e, Compare) else ()
    if isinstance(e, Compare) and isinstance(read, Access) and read.name == name and len(parts) < 4:
        place = next((k for k, o in enumerate(parts) if o is read), None)
        indices = {i.name: i for i in read.items if isinstance(i, Name)}
        if len(indices) == len(read.items) and place is not None and (len(parts) == 2 or place == 1):
            whole = tuple(Name(name, read.span) if o is read else o for o in parts)
            return (f"a domain holds for each element: write `{unparse(replace(e, operands=whole))}`",)
    reduced = any(isinstance(n, Call) and n.name in REDUCTIONS and len(n.args) == 1 for n in nodes(e))
    return (BETWEEN,) if reduced or len(reads) > 1 or isinstance(read, Access | Reduction) else ()


def _is_empty(values: Sequence[Scalar], ops: Sequence[str]) -> bool:
    """Whether no number lies between two bounds, both of which it has to keep to; for certain."""
    if len(values) != 3 or {op[0] for op in ops} not in ({"<"}, {">"}):
        return False
    strictest = min(ops, key=len)  # `<` of `<` and `<=`
    return _number(comparison_of([values[0], values[2]], [strictest])) is False


def check_defaults(d: Declarations, arguments: tuple[Argument, ...], found: tuple[Domain, ...], bag: Bag) -> None:
    """A default that is a number lies in the domain of its param, where that bounds it by numbers."""
    for domain in found:
        argument = next((a for a in arguments if a.name == domain.name), None)
        values = argument.default if argument is not None else None
        for place, value in enumerate(values if isinstance(values, tuple) else (values,)):
            if isinstance(value, bool) or not isinstance(value, int | Fraction):
                continue
            if _is_outside(domain, Lit(value)):
                e = d.defaults[domain.name][place]
                message = f"the default of `{domain.name}` is outside of its domain"
                hint = f"a call that leaves `{domain.name}` out has this value: choose one with `{domain.text.strip()}`"
                bag.error("OPG119", message, e.span, label=f"not `{domain.text.strip()}`", hints=(hint,))
                break


def _is_outside(domain: Domain, value: Lit) -> bool:
    """Whether one of the comparisons of a domain fails for certain."""
    holds = transform(domain.holds, lambda e: value if e == Param(domain.name) else e)
    links = holds.args if isinstance(holds, Apply) and holds.fn == "and" else (holds,)
    return any(_number(link) is False for link in links)


def dims_in(e: Scalar) -> frozenset[str]:
    return frozenset(n.name for n in walk(e) if isinstance(n, Dim))


def params_in(e: Scalar) -> frozenset[str]:
    return frozenset(n.name for n in walk(e) if isinstance(n, Param))
