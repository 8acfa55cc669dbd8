"""Calls: scalar functions of the table, the words of the language that look like calls, and local functions.

Local functions are replaced by their formulas, unless they state a derivative: those stay calls until after
differentiation, and go into the program beside its statements.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import counted, did_you_mean, did_you_mean_function
from opgen.ir.complex_functions import PARTS
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Kind
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import Apply, Batch, Cast, Lit, Param, walk, where
from opgen.ir.storage import STORED, Stored
from opgen.lang import habits
from opgen.lang.conversions import as_integer
from opgen.lang.depth import MAX_NODES_DEPTH
from opgen.lang.formulas import otherwise
from opgen.lang.joins import LIST
from opgen.lang.nodes import Access, Call, Expr, Name, Text
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes
from opgen.lower.arguments import in_its_place, of_conditions
from opgen.lower.complex import complex_call, complex_row
from opgen.lower.declare import CALLABLE, SPECIAL, LocalFunction
from opgen.lower.draw import draw
from opgen.lower.draw import unknown as unknown_draw
from opgen.lower.guards import check_given
from opgen.lower.kinds import condition, numeric, promote, real_number
from opgen.lower.lazy import named
from opgen.lower.lookalikes import by_formula, gradient, is_place, of_a_param, order_first
from opgen.lower.loose import over_all
from opgen.lower.missing import identity
from opgen.lower.pad import padded
from opgen.lower.power import power_of
from opgen.lower.row_functions import takes_rows
from opgen.lower.scope import BAD, Frame, Typed, measure
from opgen.lower.step_before import by_call
from opgen.lower.stored import rounded

MAX_SIZE, MAX_EXPANSIONS = 200_000, 20_000
_WIDE = ("float", "float32", "float64", "double")
_STORED_AS = {n: "float64" if n in _WIDE[2:] else "float32" for n in _WIDE}
_ON_THE_WAY = "nothing is rounded to {0} on the way: what shall be is a result here, and goes into another operator"
_STORED_AS |= {"float16": "half", "half": "half", "bfloat16": "bfloat16"}
_FEW = 12  # nodes of an argument that is written out wherever it stands
_RESULTS = {"float": Kind.FLOAT, "int": Kind.INT, "bool": Kind.BOOL}
_INTEGERS = ("bitand", "bitor", "bitxor")


def call(f: Frame, e: Call) -> Typed:
    """`name(…)`, whatever the name stands for."""
    match e.name:
        case "where":
            return _where(f, e)
        case "cast":
            return _cast(f, e)
        case "given":
            return _given(f, e)
        case "pad":
            return padded(f, e)
        case "uniform" | "normal" | "integer":
            return draw(f, e)
    if e.name in PARTS:
        return complex_call(f, e)
    if e.name in f.decl.functions:
        return _local(f, e, f.decl.functions[e.name])
    if e.name in CALLABLE:
        return _table(f, e)
    found = _unknown(f, e)
    for inner in (n for a in e.args for n in nodes(a) if isinstance(n, Call)):  # which are not looked at otherwise
        if inner.name not in (*CALLABLE, *SPECIAL, *PARTS, *f.decl.functions, LIST):
            _unknown(f, inner)
    return found


def _where(f: Frame, e: Call) -> Typed:
    """Lazy: each branch is lowered under its condition; one that this variant never takes may say what would be wrong
    in it."""
    if len(e.args) != 3:
        text = otherwise("where", e.args)
        hints = (*((f"write `{text}`",) if text else of_conditions(e)), "it is written `where(condition, a, b)`")
        return f.error("OPG210", f"`where` takes 3 arguments, not {len(e.args)}", e.span, *hints)
    test, yes, no = e.args
    decided = condition(f, f.lower(test), test)
    if isinstance(decided.scalar, Lit) and decided.kind is not None:
        taken, other = (yes, no) if decided.scalar.value else (no, yes)
        return _as_beside(f.lower(taken), _passed_over(f, other))
    path = f.path
    f.path = (*path, decided.scalar)
    a = f.lower(yes)
    f.path = (*path, Apply("not", (decided.scalar,)))
    b = f.lower(no)
    f.path = path
    if None in (decided.kind, a.kind, b.kind):
        return BAD
    if not (a.kind is Kind.BOOL and b.kind is Kind.BOOL):
        a, b = numeric(a), numeric(b)
    return Typed(where(decided.scalar, a.scalar, b.scalar), promote((a.kind, b.kind)))


def _passed_over(f: Frame, e: Expr) -> Typed:
    """A branch that is not taken, for what it says about kinds, batch dims and how far indices run."""
    return f.apart().lower(e)


def _as_beside(taken: Typed, other: Typed) -> Typed:
    """A literal in the kind that it has where both branches count."""
    if other.kind is Kind.FLOAT and isinstance(taken.scalar, Lit) and taken.kind in (Kind.INT, Kind.BOOL):
        return Typed(Lit(Fraction(taken.scalar.value)), Kind.FLOAT)
    return taken


def _cast(f: Frame, e: Call) -> Typed:
    if len(e.args) == 2 and isinstance(e.args[1], Access) and e.args[1].name in f.state.tensors:
        name = e.args[1].name
        return f.error("OPG210", "`cast` takes the name of a tensor alone", e.args[1].span, f"write `{name}`")
    if len(e.args) == 2 and isinstance(e.args[1], Text):
        hint = f"write `cast({unparse(e.args[0])}, {e.args[1].value.rpartition('.')[2]})`"
        return f.error("OPG210", "`cast` takes the name of a dtype or of a tensor, not a string", e.args[1].span, hint)
    if len(e.args) != 2 or not isinstance(e.args[1], Name):
        return f.error("OPG210", "`cast` takes an expression and the name of a tensor", e.span, "`cast(e, t)`")
    like = e.args[1]
    value = numeric(f.lower(e.args[0]))
    known = f.state.tensors.get(like.name)
    if known is None and like.name in STORED and STORED[like.name].quantised:
        return _quantised(f, value, STORED[like.name], e)
    if known is None and (dtype := habits.DTYPE.fullmatch(like.name)):
        return _no_dtype(f, e, like, integer=dtype["whole"] is not None)
    if known is None:
        hints = did_you_mean(like.name, f.state.tensors)
        return f.error("OPG205", f"there is no tensor `{like.name}` to cast to", like.span, *hints)
    if known.kind not in (Kind.FLOAT, Kind.COMPLEX):
        return f.error("OPG223", f"`{like.name}` is of dtype {known.kind}; `cast` rounds to a float dtype", like.span)
    kind = promote((value.kind, Kind.FLOAT))
    return Typed(value.scalar if known.absent is not None else Cast(value.scalar, like.name), kind)


def _quantised(f: Frame, value: Typed, to: Stored, e: Call) -> Typed:
    """Rounded to a dtype of few bits; one of integers gives an integer."""
    if value.kind is None:
        return BAD
    if value.kind is Kind.COMPLEX:
        return f.error("OPG223", f"`{unparse(e.args[0])}` is complex, and {to.name} holds real numbers", e.args[0].span)
    return Typed(rounded(value.scalar, value.kind, to), to.kind)


def _no_dtype(f: Frame, e: Call, like: Name, *, integer: bool) -> Typed:
    message, value = f"`{like.name}` is a dtype, and `cast` takes a tensor whose dtype is used", unparse(e.args[0])
    message += "" if integer else ", or `int8` and its like"
    if integer:
        meant = as_integer(e.args[0], like.name)
        or_not = "" if like.name[-1:].isdigit() else ", or leave `cast` away"
        return f.error("OPG205", message, like.span, f"write `{unparse(meant or e.args[0])}`{or_not}")
    floats = (name for name, t in f.state.tensors.items() if t.declared and t.kind is Kind.FLOAT)
    tensor = next(floats, None)
    hints = () if tensor is None else (f"write `cast({value}, {tensor})` for the dtype of `{tensor}`",)
    if (stored := _STORED_AS.get(like.name)) is not None:
        output = f.target if f.target in f.decl.outputs else next(iter(f.decl.outputs), "y")
        way = () if any(e == s.value for s in f.decl.forward) or like.name in _WIDE else (_ON_THE_WAY.format(stored),)
        return f.error(
            "OPG205", message, like.span, *way,
            f"formulas are computed in the dtype of their inputs, and at least in float32: write `{value}`",
            f"a result that is stored in {stored} is declared: `outputs: {{{output}: {{dtype: {stored}}}}}`",
            *(() if like.name in _WIDE else hints),
        )  # fmt: skip
    return f.error("OPG205", message, like.span, *hints)


def _given(f: Frame, e: Call) -> Typed:
    if not check_given(f.decl, e, e.args, f.bag):
        return BAD
    arg = e.args[0]
    assert isinstance(arg, Name)
    return Typed(Lit(f.state.given.get(arg.name, True)), Kind.BOOL)


def _is_free(f: Frame, name: str) -> bool:
    """Whether a name stands as an index somewhere in the statement, and nothing binds it here."""
    known = (*f.state.tensors, *f.state.later, *f.decl.params, *f.args)
    return name in f.index_names and name not in known and f.scope is not None and f.scope.find(name) is None


def _table(f: Frame, e: Call) -> Typed:
    row = FUNCTIONS[e.name]
    least, most = len(row.args) - row.optional, len(row.args)
    count = len(e.args)
    if count < least or (count > most and not row.variadic):
        shown = f"{e.name}({', '.join(row.args)})"
        text = otherwise(e.name, e.args)
        hints = [f"write `{text}`" if text else f"it is written `{shown}`"]
        if e.name in REDUCTIONS:
            hints.append(f"the reduction names its index: `{e.name}[i](…)`")
        if e.name == "heaviside" and count == 1:
            hints = [f"its second argument is the value at 0: `heaviside({unparse(e.args[0])}, 0)`"]
        if e.name == "clamp" and count == 2:
            value, bound = (unparse(a) for a in e.args)
            hints.append(
                f"without an upper end it is `max({value}, {bound})`, without a lower one `min({value}, {bound})`"
            )
        return f.error("OPG210", f"`{e.name}` takes {counted(most, 'argument')}, not {count}", e.span, *hints)
    last = e.args[-1]
    if e.name in REDUCTIONS and count > 1 and isinstance(last, Name) and _is_free(f, last.name):
        shown = f"{e.name}[{last.name}]({', '.join(unparse(a) for a in e.args[:-1])})"
        message = f"`{last.name}` is no number, but an index that nothing binds"
        return f.error("OPG206", message, last.span, f"a reduction names its index in brackets: `{shown}`")
    args = [numeric(f.lower(a)) for a in e.args]
    kind = promote(a.kind for a in args)
    if kind is None:
        return BAD
    if kind is Kind.COMPLEX:
        return complex_row(f, e, args)
    if e.name in _INTEGERS and kind is not Kind.INT:
        return f.error("OPG223", f"`{e.name}` is for integers", e.span, "`int(…)` truncates to an integer")
    scalars = [a.scalar for a in args]
    for order, a in zip(args[: row.orders], e.args, strict=False):
        if order.kind is not Kind.INT or any(map(is_place, walk(order.scalar))):
            message = f"the order of `{e.name}` is an integer of literals, int params and dims"
            return f.error("OPG223", message, a.span, *order_first(row.orders, e, args))
    if e.name == "pow":
        return power_of(f, args[0], args[1], e.span)
    result = scalars[0]
    if row.variadic:  # of two at a time, so that ties share the derivative as they do for two
        for other in scalars[1:]:
            result = Apply(e.name, (result, other))
    else:
        result = Apply(e.name, tuple(scalars))
    return Typed(result, _RESULTS.get(row.result, kind))


def _local(f: Frame, e: Call, function: LocalFunction) -> Typed:
    if len(e.args) != len(function.params):
        message = f"`{function.name}` takes {counted(len(function.params), 'argument')}, not {len(e.args)}"
        return f.error("OPG210", message, e.span, *in_its_place(f, e, function))
    if function.name in f.calls:
        return _circle(f, e, f.calls[f.calls.index(function.name) :])
    if takes_rows(function) and function.name in f.state.alone and f.state.alone[function.name].kind is None:
        return BAD  # told where it stands, and so is what it takes
    args = [numeric(f.lower(a)) for a in e.args]
    if any(a.kind is None for a in args):
        return BAD
    if function.opaque or function.value is None:
        checked = [real_number(f, t, a.span, f"`{function.name}`") for t, a in zip(args, e.args, strict=True)]
        if any(t.kind is None for t in checked):
            return BAD
        return Typed(Apply(function.symbol, tuple(a.scalar for a in args)), Kind.FLOAT)
    if f.alone and _says_all(function, f, args):
        return Typed(Apply(function.symbol, tuple(a.scalar for a in args)), Kind.FLOAT)
    return _written_out(f, e, function, tuple(args))


def _written_out(f: Frame, e: Call, function: LocalFunction, args: tuple[Typed, ...]) -> Typed:
    """The formula of a function in place of a call. A formula of which came nothing but itself (no statement of its
    own, no check, no message) is the same wherever its function is called with these arguments, and made once.
    """
    assert function.value is not None
    key = function.name, args, f.alone, f.scope is None and f.around is None
    if key in f.state.written:
        return f.state.written[key]
    if f.state.expansions > MAX_EXPANSIONS:  # which has been said
        return BAD
    f.state.expansions += 1
    if f.state.expansions > MAX_EXPANSIONS:
        message = f"the functions of this spec are written out more than {MAX_EXPANSIONS} times"
        return f.error("OPG227", message, e.span)
    if f.depth > MAX_NODES_DEPTH:
        return _too_large(f, e)
    before = _left_behind(f)
    outer = f.args, f.calls, f.place, f.scope, f.around
    f.around = f.around if f.scope is None else f.scope
    f.args = {p: _argument(f, function, p, a) for p, a in zip(function.params, args, strict=True)}
    f.calls = (*f.calls, function.name)
    f.place, f.scope = "a local function", None
    result = f.lower(function.value)
    f.args, f.calls, f.place, f.scope, f.around = outer
    size, depth = measure(result.scalar, f.state.sizes)
    if size > MAX_SIZE or depth > MAX_NODES_DEPTH:
        return _too_large(f, e)
    if _left_behind(f) == before:
        f.state.written[key] = result
    return result


def _left_behind(f: Frame) -> tuple[int, ...]:
    """How many statements, checks and messages there are."""
    return len(f.pending), len(f.checks), len(f.bag.items)


def _too_large(f: Frame, e: Call) -> Typed:
    """What is too large once would be larger still in what it stands in, so nothing else is written out."""
    f.state.expansions = MAX_EXPANSIONS + 1
    message = f"with `{e.name}` written out, this formula becomes too large"
    return f.error("OPG227", message, e.span, "name a part of it in a statement of its own")


def _argument(f: Frame, function: LocalFunction, param: str, value: Typed) -> Typed:
    """What a param stands for: what is more than a few operations and stands more than once is computed once.

    Calls within each other would otherwise double what is in them with every level.
    """
    assert function.value is not None
    used = sum(isinstance(n, Name) and n.name == param for n in nodes(function.value))
    if used < 2 or value.kind is not Kind.FLOAT or measure(value.scalar, f.state.sizes)[0] <= _FEW:
        return value
    return named(f, f"{function.name}_{param}", value)


def _circle(f: Frame, e: Call, names: tuple[str, ...]) -> Typed:
    members = frozenset(names)
    if members not in f.state.circles:
        f.state.circles.add(members)
        hint = "what goes on from its own value is a recurrence, over an index: `y[t] = x[t]*y[t - 1]`"
        f.error("OPG239", f"the function `{e.name}` calls itself", e.span, hint, label=" → ".join((*names, e.name)))
    return BAD


def look_at(function: LocalFunction, frame: Frame) -> Typed:
    """A function by itself, for the mistakes in it; those in functions that it calls are found where these stand."""
    known = frame.state.alone.get(function.name)
    if known is not None or function.value is None or frame.depth > MAX_NODES_DEPTH:
        return known or BAD
    inner = replace(placeholder(function, frame), calls=(*frame.calls, function.name), path=(), alone=True)
    known = frame.state.alone[function.name] = inner.lower(function.value)
    return known


def _says_all(function: LocalFunction, f: Frame, args: list[Typed]) -> bool:
    """Is a function by itself, of numbers that are not known, all there is to say about a call?"""
    if any(a.kind is not Kind.FLOAT or isinstance(a.scalar, Lit) for a in args):
        return False
    known = look_at(function, f)
    return known.kind is Kind.FLOAT and not isinstance(known.scalar, Lit)


def placeholder(function: LocalFunction, frame: Frame) -> Frame:
    """A frame in which the arguments of a function are params of their names, for lowering its formulas alone."""
    names = argument_names(function, frame)
    args = {p: Typed(Param(n), Kind.FLOAT) for p, n in zip(function.params, names, strict=True)}
    return replace(frame, args=args, calls=(function.name,), scope=None, place="a local function")


def argument_names(function: LocalFunction, frame: Frame) -> tuple[str, ...]:
    """The arguments under names that no param of the spec has."""
    taken = (*frame.decl.params, *function.params)
    return tuple(p if p not in frame.decl.params else _free(p, taken) for p in function.params)


def _free(name: str, taken: tuple[str, ...]) -> str:
    n = 1
    while f"{name}_{n}" in taken:
        n += 1
    return f"{name}_{n}"


def _unknown(f: Frame, e: Call) -> Typed:
    tensor = f.state.tensors.get(e.name)
    if e.name in f.decl.broken or e.name in f.decl.lost or (tensor is not None and tensor.shape is None):
        return BAD
    if e.name in REDUCTIONS:
        hint = f"name the index in brackets: `{e.name}[k](…)`"
        return f.error("OPG206", f"`{e.name}` reduces over an index that is not named", e.name_span, hint)
    if tensor is not None:
        items = [*map(unparse, e.args)] or ["…"]
        if tensor.shape and isinstance(tensor.shape[0], Batch) and len(items) == len(tensor.shape) - 1:
            items = ["...", *items]
        shown = f"{e.name}[{', '.join(items)}]"
        return f.error("OPG206", f"`{e.name}` is a tensor", e.name_span, f"read it with brackets: `{shown}`")
    if e.name in f.decl.params and f.decl.params[e.name].type == "str" and not f.decl.params[e.name].choices:
        return BAD  # told where it is declared
    if e.name in f.decl.params:
        hint = of_a_param(e)
        if any(c in REDUCTIONS for c in f.decl.params[e.name].choices):
            shown = over_all(f, e) or f"{e.name}[k](x[k])"
            hint = f"it stands for a reduction, which names its indices: `{shown}`"
        return f.error("OPG206", f"`{e.name}` is a param", e.name_span, hint)
    if e.name in f.decl.known_dims():
        return f.error("OPG206", f"`{e.name}` is a dim", e.name_span, "multiplication is written `*`")
    known = (*CALLABLE, *SPECIAL, *f.decl.functions, *REDUCTIONS)
    hints = did_you_mean_function(e.name, known) or did_you_mean_function(e.name.lower(), known)
    indices = e.args and all(isinstance(a, Name) and f.scope is not None and f.scope.find(a.name) for a in e.args)
    if indices and not any(isinstance(h, Hint) for h in hints):
        shown = f"{e.name}[{', '.join(unparse(a) for a in e.args)}]"
        hints = (f"an intermediate is read with brackets, `{shown}`, and has a statement of its own",)
    hints = identity(e) or by_call(f.decl, e) or hints
    if drawn := unknown_draw(f, e):
        return f.error("OPG209", f"there is no function `{e.name}`", e.name_span, drawn, label="unknown function")
    if e.name in habits.FUNCTIONS:
        hints = by_formula(f, e) or (habits.FUNCTIONS[e.name],)
    if e.name in STORED and STORED[e.name].quantised and len(e.args) == 1:
        hints = (f"write `cast({unparse(e.args[0])}, {e.name})`",)
    if e.name in habits.GRADIENTS:
        hints = (gradient(e),)
    if not hints:
        hints = ("write out what it computes, or declare it under `functions`",)
    return f.error("OPG209", f"there is no function `{e.name}`", e.name_span, *hints, label="unknown function")
