"""Guards and variants: which switches an operator has, and which statements hold in which variant.

A switch is an optional input, a param that may be missing, or a bool or choices param that a guard (or a reduction
name) tests. Variants are all combinations of their settings, in order of declaration, the last varying fastest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Bag, Hint, Label
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir.program import Chosen, Condition, Given
from opgen.ir.reductions import REDUCTIONS
from opgen.lang.circles import constant_part
from opgen.lang.nodes import Access, Assign, Call, Compare, Dots, Expr, Logic, Name, Reduction, Text, Unary
from opgen.lang.unparse import unparse, unparse_target
from opgen.lang.walk import nodes, statement_names
from opgen.lower.apart import apart, asked_together, goes_on, is_missing, other_choice, unquoted
from opgen.lower.declare import Declarations, every
from opgen.lower.overwritten import choice_of
from opgen.lower.parts import as_one, next_component
from opgen.lower.replaced import replaced
from opgen.lower.told import as_null, has_no_default
from opgen.lower.updated import renamed
from opgen.schema.model import InputSpec
from opgen.schema.spelling import is_respelt

MAX_VARIANTS = 64
_MOST_SETTINGS = 4096  # of the switches in the guards of one name
_APART = "give each its own name, or guards that exclude each other"
_OPPOSITES = {"eval": "training", "evaluating": "training", "evaluation": "training", "inference": "training"}
Setting = tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """What is decided per variant, and its settings in order."""

    name: str
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One combination of settings."""

    given: dict[str, bool]
    chosen: dict[str, str | bool]

    def describe(self) -> str:
        parts = [f'{n} == "{v}"' if isinstance(v, str) else (n if v else f"not {n}") for n, v in self.chosen.items()]
        missing = [f"given({n})" if present else f"not given({n})" for n, present in self.given.items()]
        return " and ".join((*missing, *parts))


_OF_NUMBERS = (
    "for a condition over numbers write one statement with `where(condition, a, b)`",
    'or give the cases words: `choices: [a, b]` in place of the type, and `if mode == "a"`',
)


def case_of(conditions: Sequence[Condition]) -> Case:
    given = {c.name: c.present for c in conditions if isinstance(c, Given)}
    chosen = {c.name: c.value for c in conditions if isinstance(c, Chosen)}
    return Case(given, chosen)


def switches(d: Declarations, computed: frozenset[str]) -> tuple[Switch, ...]:
    """All switches in order of declaration; `computed` are the params whose default reads dims or other params."""
    tested = _tested(d)
    found = [Switch(name, ((Given(name, True),), (Given(name, False),))) for name, t in d.inputs.items() if t.optional]
    for name, p in d.params.items():
        values: list[Setting] = []
        if p.choices and name in tested:
            values = [(Chosen(name, str(c)),) for c in p.choices]
        elif p.type == "bool" and p.length is None and name in tested:
            values = [(Chosen(name, True),), (Chosen(name, False),)]
        if p.null or name in computed:
            values = [(Given(name, True), *v) for v in values or [()]] + [(Given(name, False),)]
        if values:
            found.append(Switch(name, tuple(values)))
    return tuple(found)


def combinations(found: Sequence[Switch]) -> Iterator[tuple[Condition, ...]]:
    """The conditions of every variant."""
    for choice in itertools.product(*(s.settings for s in found)):
        yield tuple(itertools.chain.from_iterable(choice))


def _tested(d: Declarations) -> frozenset[str]:
    """Params that a guard names or that stand for a reduction."""
    names: set[str] = set()
    for s in (*d.forward, *d.backward):
        names.update(n.name for n in nodes(s.value) if isinstance(n, Reduction))
        if s.guard is not None:
            names.update(n.name for n in nodes(s.guard) if isinstance(n, Name))
    return frozenset(names & set(d.params))


# --- what a guard says -----------------------------------------------------------------------------------------------


def holds(d: Declarations, guard: Expr | None, case: Case) -> bool:
    """Whether a checked guard holds in a case."""
    match guard:
        case None:
            return True
        case Name(name="true" | "false") if guard.name not in d.params:
            return guard.name == "true"
        case Name(name=name):
            return case.chosen.get(name) is True
        case Unary(operand=operand):
            return not holds(d, operand, case)
        case Logic(op="and", operands=operands):
            return all(holds(d, o, case) for o in operands)
        case Logic(operands=operands):
            return any(holds(d, o, case) for o in operands)
        case Call(args=(Name(name=name),)):
            return case.given.get(name, True)
        case Compare(operands=(left, right), ops=(op,)):
            name, value = _comparison(d, left, right)
            return (case.chosen.get(name) == value) == (op == "==")
        case _:
            return False


def _comparison(d: Declarations, left: Expr, right: Expr) -> tuple[str, str | bool | None]:
    """The param and the value that a checked comparison of a guard names."""
    if not (isinstance(left, Name) and left.name in d.params):
        left, right = right, left
    assert isinstance(left, Name)
    value: str | bool | None = None
    if isinstance(right, Text):
        value = right.value
    elif isinstance(right, Name):
        value = right.name
        if not d.params[left.name].choices:
            value = right.name == "true"
    return left.name, value


def check_guard(d: Declarations, guard: Expr, bag: Bag, hints: tuple[str, ...] = ()) -> bool:
    """Report what a guard may not say; `hints`: what to write in place of a condition on numbers."""
    if (meant := asked_together(d, guard)) is not None:
        bag.error("OPG222", "each choice is compared by itself", guard.span, hints=(f"write `{unparse(meant)}`",))
        return False
    match guard:
        case Name(name=name):
            return _check_flag(d, guard, name, bag)
        case Unary(op="not", operand=operand):
            return check_guard(d, operand, bag, hints)
        case Logic(operands=operands):
            return every(check_guard(d, o, bag, hints) for o in operands)
        case Call(name="given", args=args):
            return check_given(d, guard, args, bag)
        case _ if hints and any(told.hints == hints for told in bag.items):
            return False  # both statements are one, which is told at the first
        case Compare(operands=(left, right), ops=("==" | "!=",)):
            return _check_comparison(d, guard, left, right, bag, hints)
        case _:
            bag.error(
                "OPG222", "a guard tests bool and choices params and `given(name)`", guard.span,
                notes=_what_tensors_are(d, guard),
                hints=hints or ("for a condition per element or over numbers write `where(condition, a, b)`",),
            )  # fmt: skip
            return False


def _check_flag(d: Declarations, guard: Expr, name: str, bag: Bag) -> bool:
    param = d.params.get(name)
    if param is not None and param.type == "bool" and param.length is None:
        return True
    if param is None and name in ("true", "false"):
        return True
    if param is not None and param.type == "str" and not param.choices:
        return False  # told where it is declared
    hints: tuple[str, ...] = ()
    if param is not None and param.choices:
        hints = (f'compare it: `{name} == "{param.choices[0]}"`',)
    elif (name in d.inputs and d.inputs[name].optional) or (param is not None and param.null):
        hints = (f"write `given({name})`",)
    elif param is None:
        hints = _opposite(d, guard, name) or did_you_mean(name, d.params) or _declared(d, guard, name)
    what = "is not a bool param" if param is not None or name in d.inputs else "is no param of this spec"
    bag.error("OPG222", f"`{name}` {what}", guard.span, hints=hints)
    return False


def _opposite(d: Declarations, guard: Expr, name: str) -> tuple[str, ...]:
    """A flag that is another one's opposite, where that one is a param."""
    flag = _OPPOSITES.get(name, "")
    if flag not in d.params or d.params[flag].type != "bool":
        return ()
    negated = guard.span.source.text[: guard.span.start].rstrip().endswith(" not")
    return (f"write `{flag}` for `not {name}`",) if negated else (Hint(f"write `not {flag}`", name, f"not {flag}"),)


def _declared(d: Declarations, guard: Expr, name: str) -> tuple[str, ...]:
    """How a flag is declared that is no param yet; nothing where it is said already, or something else has the name."""
    on = "true" if d.spec.module is not None and d.spec.module.training == name else "false"
    hint = f"declare it: `params: {{{name}: {{type: bool, default: {on}}}}}`"
    return () if name in d.inputs or name in d.targets() else (hint,)


def check_given(d: Declarations, call: Expr, args: tuple[Expr, ...], bag: Bag) -> bool:
    """`given(name)` asks for one optional input or param that may be missing."""
    arg = args[0] if len(args) == 1 else None
    if not isinstance(arg, Name):
        hint = (f"write `given({arg.value})`",) if isinstance(arg, Text) else ()
        bag.error("OPG229", "`given` takes the name of one optional input or param", call.span, hints=hint)
        return False
    name = arg.name
    if (name in d.inputs and d.inputs[name].optional) or (name in d.params and d.params[name].null):
        return True
    hints: tuple[str, ...]
    optional = [n for n, t in d.inputs.items() if t.optional] + [n for n, p in d.params.items() if p.null]
    if name in d.inputs:
        message, hints = f"`{name}` is not optional, it is always passed", _made_optional(d, d.inputs[name])
    elif has_no_default(d, name):
        return False
    elif name in d.params:
        message, hints = f"`{name}` cannot be missing", (f"declare it with `{name}: {as_null(d.params[name])}`",)
        hints += (f"or leave out `given({name})`: it has a default",) if d.params[name].default is not None else ()
    else:
        message, hints = f"`{name}` is no input or param of this spec", ()
    if any(told.message == message for told in bag.items):
        return False
    bag.error("OPG229", message, arg.span, hints=did_you_mean(name, optional) or hints)
    return False


def _made_optional(d: Declarations, t: InputSpec) -> tuple[str, ...]:
    """How an input is declared that may be missing, and what it then reads as."""
    plain = t.shape is None and t.dtype == "float" and t.domain is None
    fields = "optional: true" if plain else "…, optional: true"
    always = f"or leave out `given({t.name})`, if it is always passed"
    if not any(t.name in statement_names(s) and not _asks(s.guard, t.name) for s in (*d.forward, *d.backward)):
        return f"declare it with `{t.name}: {{{fields}}}`", always
    if t.dtype != "bool":
        hint = f"declare it with `{t.name}: {{{fields}}}`; where it was not passed it reads as 0, or as `absent` says"
        return hint, always
    meaning = "where `absent` is what it reads as when it was not passed (false, where that is not stated)"
    return f"declare it with `{t.name}: {{{fields}, absent: true}}`, {meaning}", always


def _asks(guard: Expr | None, name: str) -> bool:
    """Whether a guard holds only where something was passed."""
    match guard:
        case Call(name="given", args=(Name(name=asked),)):
            return asked == name
        case Logic(op="and", operands=operands):
            return any(_asks(o, name) for o in operands)
        case _:
            return False


def _what_tensors_are(d: Declarations, guard: Expr) -> tuple[str, ...]:
    read = [n.name for n in nodes(guard) if isinstance(n, Access) and n.name in d.inputs]
    return (f"`{read[0]}` is an input, which a guard can only ask to be given",) if read else ()


def _check_comparison(d: Declarations, guard: Expr, left: Expr, right: Expr, bag: Bag, whole: tuple[str, ...]) -> bool:
    if (word := unquoted(d, guard)) is not None:
        bag.error("OPG222", f"the choice `{word[0]}` stands in quotes", guard.span, hints=(f"write `{word[1]}`",))
        return False
    if (asked := is_missing(guard)) is not None:
        message = "whether something is missing is asked by its name"
        bag.error("OPG222", message, guard.span, hints=(f"write `{asked}`",))
        return False
    if not (isinstance(left, Name) and left.name in d.params):
        left, right = right, left
    if not (isinstance(left, Name) and left.name in d.params):
        span = left.span if isinstance(left, Name) else guard.span
        names = [n for n, p in d.params.items() if p.choices or p.type == "bool"]
        hints = did_you_mean(left.name, names) if isinstance(left, Name) else ()
        if not hints and isinstance(right, Name):
            hints = did_you_mean(right.name, names)
        if not hints and isinstance(right, Name) and isinstance(left, Text):
            hints = (f"declare it: `params: {{{right.name}: {{choices: [{left.value}, …]}}}}`",)
        hints = hints or whole or ("a guard decides for the whole call; per element write `where(condition, a, b)`",)
        bag.error("OPG222", "no bool or choices param is compared here", span, hints=hints)
        return False
    param = d.params[left.name]
    value = right.value if isinstance(right, Text) else right.name if isinstance(right, Name) else None
    if param.choices:
        if value in param.choices or is_respelt(value or "", param.choices):
            return value in param.choices
        hints = did_you_mean(value or "", param.choices) or other_choice(d, param, value or "", right.span)
        bag.error(
            "OPG231", f"`{left.name}` is never that", right.span,
            label="not a choice", related=(Label(param.span, f"the choices are {listed(param.choices, 'and')}"),),
            hints=hints,
        )  # fmt: skip
        return False
    if param.type == "bool" and param.length is None and isinstance(right, Name) and value in ("true", "false"):
        return True
    if param.type == "bool":
        hint = f"write `{left.name}` or `not {left.name}`"
        bag.error("OPG222", f"`{left.name}` is true or false", guard.span, hints=(hint,))
    elif param.type != "str":  # a string without choices is told where it is declared
        bag.error(
            "OPG222", f"`{left.name}` is of type {param.type}; a guard tests bool and choices params", guard.span,
            hints=whole or _OF_NUMBERS,
        )  # fmt: skip
    return False


def check_cover(d: Declarations, name: str, statements: Sequence[Assign], found: Sequence[Switch], bag: Bag) -> bool:
    """The guards of one name leave no case out; those of one part of it, such as a component, never hold together."""
    guards = [s.guard for s in statements]
    named = {n.name for g in guards if g is not None for n in nodes(g) if isinstance(n, Name)}
    concerned = [s for s in found if s.name in named]
    count = math.prod(len(s.settings) for s in concerned)
    if count > _MOST_SETTINGS:
        bag.error(
            "OPG247", f"the guards of `{name}` tell {count} settings apart, more than {_MOST_SETTINGS}",
            statements[0].target.span, hints=("test bool params in `where` instead of guards",),
        )  # fmt: skip
        return False
    wanted = name.removeprefix("grad_") if name.startswith("grad_") else None
    missing: list[str] = []
    for conditions in combinations(concerned):
        case = case_of(conditions)
        matching = [s for s in statements if holds(d, s.guard, case)]
        same: dict[str | None, list[Assign]] = {}
        for s in matching:
            same.setdefault(constant_part(s), []).append(s)
        twice = next((part for part in same.values() if len(part) > 1), None)
        if twice is not None:
            _overlap(d, name, twice, case, bag)
            return False
        if not matching and not (wanted in case.given and not case.given[wanted]):
            missing.append(case.describe())
    if missing and name not in d.inputs and not _may_stay(d, name):  # of an input it is said that it cannot be assigned
        bag.error(
            "OPG220", f"`{name}` has no statement for some settings", statements[0].target.span,
            label="left out: " + "; ".join(missing[:4]) + ("; …" if len(missing) > 4 else ""),
            related=[Label(s.guard.span, "covered here") for s in statements if s.guard is not None],
            hints=(f"add `{_left_out(d, statements, missing[0])} if {missing[0]}`",),
        )  # fmt: skip
        return False
    return True


def _left_out(d: Declarations, statements: Sequence[Assign], case: str) -> str:
    """The statement of a case that has none: of a choice `none`, what the others reduce, where that is the same."""
    target, values = statements[0].target, [s.value for s in statements if s.op == "="]
    rows = {n: row for n, row in REDUCTIONS.items() if not row.keeps_index}
    alike = {(v.binders, v.body) for v in values if isinstance(v, Reduction) and v.name in rows}
    known = all(isinstance(v, Reduction) and v.name in rows for v in values) and len(values) == len(statements)
    if not case.endswith('== "none"') or not known or len(alike) > 1:
        return f"{unparse_target(target)} = …"
    binders, body = next(iter(alike))
    tensors = (*d.inputs, *(s.target.name for s in d.forward))
    bare = any(isinstance(n, Name) and n.name in tensors for n in nodes(body))
    batch = bare or any(isinstance(i, Dots) for n in nodes(body) if isinstance(n, Access) for i in n.items)
    front = (Dots(target.span),) if batch and not any(isinstance(b, Dots) for b in binders) else ()
    items = (*(front if target.items is None else target.items), *binders)
    return f"{unparse_target(replace(target, items=items))} = {unparse(body)}"


def _may_stay(d: Declarations, name: str) -> bool:
    """Is it what a buffer becomes? Where it has no statement, the buffer stays as it is.

    Output and buffer may stand in the other order, which is told where they do.
    """
    return d.spec.module is not None and any(name in pair for pair in d.spec.module.updates)


def _overlap(d: Declarations, name: str, matching: Sequence[Assign], case: Case, bag: Bag) -> None:
    listed = any(o.name == name for o in d.spec.outputs or ())
    told = name in (*d.inputs, *d.params) and not listed  # of each statement: what it makes has another name
    if told or any(goes_on(s, bag) for s in matching):
        return
    first, second = matching[:2]
    related = (Label(first.guard.span if first.guard is not None else first.target.span, "holds as well"),)
    when = case.describe()
    if not when or (first.guard is None and second.guard is None):
        hints = replaced(d, second) or choice_of(d, first, matching[1:]) or as_one(d, first, matching[1:])
        bag.error(
            "OPG217", f"`{name}` is assigned twice", second.target.span, label="again here",
            related=(Label(first.target.span, "assigned here first"),),
            hints=hints or renamed(d, name) or next_component(d, second) or (_APART,),
        )  # fmt: skip
        return
    span = second.guard.span if second.guard is not None else second.target.span
    bag.error(
        "OPG221", f"two statements of `{name}` hold when {when}", span, label="holds", related=related,
        hints=(apart(d, first, second),),
    )  # fmt: skip
