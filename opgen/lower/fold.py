"""Past some number of variants, switches are decided in the call: what bounds the code that is written out.

In go declarations with their switches; out come declarations with fewer of them, which mean the same. A guard becomes a
condition in the formula, what it asks for a bool param that no caller states, and a missing optional input a tensor of
what it reads as, so that an operator with many switches is one program with conditions (docs/decisions/0018).

Not every switch can go: one that names a reduction, decides on a rank or guards a part of a name, a scatter or a
recurrence stays a variant, and so does an input whose shape, or what it reads as, another call would have to tell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from opgen.diagnostics.model import Bag
from opgen.ir.names import Names
from opgen.ir.operator import Fill
from opgen.ir.program import Chosen, Condition, Given, Kind, Program, Shape, definitions
from opgen.ir.scalar import Apply, Const, Dim, Lit, Scalar
from opgen.lang.circles import circles, constant_part
from opgen.lang.nodes import Assign, Call, Compare, Expr, Name, Number, Reduction, Text, Unary
from opgen.lang.unparse import unparse_target
from opgen.lang.walk import nodes, rebuild
from opgen.lower.constant import absent_value
from opgen.lower.declare import Declarations
from opgen.lower.guards import MAX_VARIANTS, Setting, Switch, case_of, holds
from opgen.lower.scope import Variation
from opgen.schema.elsewhere import Callee
from opgen.schema.model import ParamSpec

MOST = 16  # variants that are written out where switches could be conditions
FEW, WRITTEN = 8, 64  # of more than few variants, so many statements in all
LEFT = 2  # and how many are left, if possible, where there would be more

Lowered = Callable[[tuple[Condition, ...]], Program | None]


@dataclass(frozen=True, slots=True)
class Folded:
    """The declarations, what fills missing inputs, and what the params say that no caller states."""

    declarations: Declarations
    fills: tuple[Fill, ...] = ()
    tells: tuple[tuple[str, Condition], ...] = ()


def folded(d: Declarations, found: Sequence[Switch], lowered: Lowered) -> Folded:
    """The declarations with no more variants than need be; `lowered` gives the program of a variant."""
    groups = _together(d, found)
    while True:
        gone = _chosen(found, groups, len(d.forward))
        left = math.prod(len(s.settings) for s in found if s.name not in gone)
        if not gone or left > MAX_VARIANTS:
            return Folded(d)
        unlike = _unlike(d, found, gone, lowered)
        if not unlike:
            return _without(d, [s for s in found if s.name in gone])
        groups = [g for g in groups if not g & unlike]


def _together(d: Declarations, found: Sequence[Switch]) -> list[frozenset[str]]:
    """The switches that can be conditions, in groups: those that stand in guards of one name go together."""
    if isinstance(d.spec.forward, Callee) or any(f.spellings for f in d.functions.values()):
        return []
    kept = {s.name for s in found if not _may_go(d, s)}
    kept |= {n.name for s in (*d.forward, *d.backward) for n in nodes(s.value) if isinstance(n, Reduction)}
    groups = {s.name: frozenset((s.name,)) for s in found}
    for block in (d.forward, d.backward):
        recurrent = {n for names in circles(block) for n in names}
        for target in dict.fromkeys(s.target.name for s in block):
            own = [s for s in block if s.target.name == target]
            named = {n.name for s in own if s.guard for n in nodes(s.guard) if isinstance(n, Name) and n.name in groups}
            if named and (target in recurrent or not _one_form(own)):
                kept |= named
            if named:
                group = frozenset[str]().union(*(groups[n] for n in named))
                groups.update((n, group) for n in group)
    return [g for g in dict.fromkeys(groups.values()) if not g & kept]


def _one_form(statements: Sequence[Assign]) -> bool:
    """Are all statements of a name assignments to the same indices?"""
    plain = all(s.op == "=" and constant_part(s) is None for s in statements)
    return plain and len({unparse_target(s.target) for s in statements}) == 1


def _may_go(d: Declarations, s: Switch) -> bool:
    t = d.inputs.get(s.name)
    if t is None:  # a param that may be missing has no value to go on with
        return all(isinstance(c, Chosen) for setting in s.settings for c in setting)
    known = {x for n, other in d.inputs.items() if not other.optional for x in d.shapes[n] if isinstance(x, Dim)}
    sized = all(x in known for x in d.shapes[s.name] if isinstance(x, Dim))
    if t.dtype == "complex" or t.domain is not None or not sized:
        return False
    return any(not other.optional for other in d.inputs.values()) and _fill(d, s.name) is not None


def _fill(d: Declarations, name: str) -> Fill | None:
    value = absent_value(d, Variation({}, {}), name, Bag())
    return Fill(name, value) if _is_plain(value) else None


def neutral(d: Declarations) -> tuple[Fill, ...]:
    """The optional inputs that nothing asks for: a call without one is a call with a number in its place."""
    formulas = [*d.derived.values(), *(e for es in d.defaults.values() for e in es), *d.absent.values()]
    formulas += [e for s in (*d.forward, *d.backward) for e in (s.value, s.guard) if e is not None]
    formulas += [e for f in d.functions.values() for e in (f.value, *(f.partials or ())) if e is not None]
    asked = {e.args[0] for f in formulas for e in nodes(f) if isinstance(e, Call) and e.name == "given" and e.args}
    names = {e.name for e in asked if isinstance(e, Name)}
    found = (
        _fill(d, n) for n, t in d.inputs.items() if t.optional and t.kind == "float" and n not in names and not t.stored
    )
    return tuple(f for f in found if f is not None)


def _is_plain(e: Scalar) -> bool:
    match e:
        case Lit() | Const("inf") | Apply("neg", (Lit() | Const("inf"),)):
            return True
        case _:
            return False


def _chosen(found: Sequence[Switch], groups: Sequence[frozenset[str]], statements: int) -> frozenset[str]:
    """The switches to go: the last ones declared, until few enough variants are left."""
    left = {s.name: len(s.settings) for s in found}
    gone: frozenset[str] = frozenset()
    count = math.prod(left.values())
    if count <= (FEW if count * statements > WRITTEN else MOST):
        return gone
    for g in reversed(groups):
        if math.prod(left.values()) <= LEFT:
            break
        gone |= g
        left = {n: count for n, count in left.items() if n not in g}
    return gone


def _unlike(d: Declarations, found: Sequence[Switch], gone: frozenset[str], lowered: Lowered) -> frozenset[str]:
    """The switches on which rank, sizes or kind of a tensor depend, or that guard what is in none of the programs.

    Programs are looked at with one of these switches and one of the others away from its first setting: what a
    statement makes depends on what it reads, which is the same in all of them.
    """
    seen: set[int] = set()
    unlike: frozenset[str] = frozenset()
    numbers = {s.target.name for s in d.forward if s.target.items is None and isinstance(s.value, Number)}
    loose = frozenset[str]().union(*(_guarding(d, n, gone) for n in numbers))
    if math.prod(len(s.settings) for s in found if s.name in loose) > MAX_VARIANTS:
        numbers, loose = set(), frozenset()
    for others in _steps([s for s in found if s.name not in gone]):
        forms: dict[str, tuple[Shape, Kind]] = {}
        for own in _steps([s for s in found if s.name in gone], loose):
            settings = others | own
            conditions = tuple(c for s in found for c in settings[s.name])
            case = case_of(conditions)
            seen |= {id(s) for s in (*d.forward, *d.backward) if holds(d, s.guard, case)}
            program = lowered(conditions)
            for made in () if program is None else definitions(program):
                if made.target in numbers and isinstance(made.body, Lit):
                    continue  # it becomes a tensor like the others; all are looked at that may be numbers together
                form = (made.shape, made.kind)
                if forms.setdefault(made.target, form) != form:
                    unlike |= _guarding(d, made.target, gone) or gone
    for s in (*d.forward, *d.backward):
        if id(s) not in seen:
            unlike |= _guarding(d, s.target.name, gone)
    return unlike


def _steps(found: Sequence[Switch], together: Collection[str] = ()) -> Iterator[dict[str, Setting]]:
    """All switches at their first setting, and each of them at its others; of those `together` all combinations."""
    first = {s.name: s.settings[0] for s in found}
    joint = [s for s in found if s.name in together]
    for settings in product(*(s.settings for s in joint)):
        yield first | {s.name: setting for s, setting in zip(joint, settings, strict=True)}
    for s in found:
        if s.name not in together:
            yield from (first | {s.name: other} for other in s.settings[1:])


def _guarding(d: Declarations, target: str, gone: frozenset[str]) -> frozenset[str]:
    own = [s.guard for s in (*d.forward, *d.backward) if s.target.name == target and s.guard is not None]
    return gone & {n.name for g in own for n in nodes(g) if isinstance(n, Name)}


# --- what comes out --------------------------------------------------------------------------------------------------


def _without(d: Declarations, gone: Sequence[Switch]) -> Folded:
    names = Names((*d.inputs, *d.params, *d.targets(), *d.functions, *(s.target.name for s in d.backward)))
    asked = _Asked(d, frozenset(s.name for s in gone), names, {})
    forward, backward = asked.block(d.forward), asked.block(d.backward)
    fills = tuple(f for s in gone if s.name in d.inputs and (f := _fill(d, s.name)) is not None)
    inputs = {n: t.model_copy(update={"optional": False}) if n in asked.gone else t for n, t in d.inputs.items()}
    found = replace(
        d,
        inputs=inputs,
        absent={n: e for n, e in d.absent.items() if n not in asked.gone},
        params=d.params | {n: _flag(d, n) for n in asked.told.values()},
        forward=forward,
        backward=backward,
    )
    return Folded(found, fills, tuple((name, condition) for condition, name in asked.told.items()))


def _flag(d: Declarations, name: str) -> ParamSpec:
    made = next(iter(d.params.values()), None)
    span = d.spec.op.span if made is None else made.span
    return ParamSpec.model_construct(
        name=name, span=span, type="bool", length=None, choices=(), default=None, null=False, domain=None, doc=""
    )


@dataclass(slots=True)
class _Asked:
    """What conditions ask for, as params: made when first met."""

    d: Declarations
    gone: frozenset[str]
    names: Names
    told: dict[Condition, str]

    def block(self, statements: Sequence[Assign]) -> tuple[Assign, ...]:
        """The statements, those of one name that had guards as one, in the place of the last of them."""
        rewritten = [replace(s, value=self.inside(s.value)) for s in statements]
        last = {s.target.name: k for k, s in enumerate(statements)}
        out: list[Assign] = []
        for k, s in enumerate(rewritten):
            own = [x for x in rewritten if x.target.name == s.target.name]
            if not any(self._asks(x.guard) for x in own) or any(x.guard is None for x in own):  # which is told
                out.append(s)
            elif last[s.target.name] == k:
                value = own[-1].value
                for x in reversed(own[:-1]):
                    assert x.guard is not None
                    span = x.value.span
                    value = Call("where", (self.inside(x.guard), x.value, value), span, span)
                out.append(replace(s, value=value, guard=None))
        return tuple(out)

    def _asks(self, guard: Expr | None) -> bool:
        return guard is not None and any(isinstance(n, Name) and n.name in self.gone for n in nodes(guard))

    def inside(self, e: Expr) -> Expr:
        """A formula or a guard with params for what it asks of the switches that are gone."""
        match e:
            case Call(name="given", args=(Name(name=name),)) if name in self.gone:
                return self._param(Given(name, present=True), f"{name}_given", e)
            case Compare(operands=(left, right), ops=(op,)) if self._switch(left) or self._switch(right):
                switch, value = (left, right) if self._switch(left) else (right, left)
                assert isinstance(switch, Name)
                asked = self._value(switch, value)
                return asked if op == "==" else Unary("not", asked, e.span)
            case _:
                return rebuild(e, self.inside)

    def _switch(self, e: Expr) -> bool:
        return isinstance(e, Name) and e.name in self.gone and e.name in self.d.params

    def _value(self, name: Name, value: Expr) -> Expr:
        text = value.value if isinstance(value, Text) else value.name if isinstance(value, Name) else ""
        if not self.d.params[name.name].choices:
            return name if text == "true" else Unary("not", name, name.span)
        word = re.sub(r"\W", "_", text).lower()
        return self._param(Chosen(name.name, text), f"{name.name}_is_{word}", name)

    def _param(self, condition: Condition, wish: str, at: Expr) -> Name:
        if condition not in self.told:
            self.told[condition] = self.names.fresh(wish)
        return Name(self.told[condition], at.span)
