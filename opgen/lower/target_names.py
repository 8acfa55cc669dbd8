"""Names that statements assign: inputs and params cannot be, and what is written instead has names of its own.

In go the declarations, out come messages. What one statement reads of another is the value that was made last.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.diagnostics.model import Bag, Label
from opgen.lang.nodes import Assign
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.updates import all_new, in_place_hints, read_as
from opgen.lang.walk import names_read
from opgen.lower.declare import Declarations, check_lower, indices
from opgen.schema.model import ModuleSpec


def check_target_names(d: Declarations, bag: Bag) -> None:
    """Every statement assigns a name of its own."""
    for s in (*d.forward, *d.backward):
        _check_target_name(d, s, bag)


def _check_target_name(d: Declarations, s: Assign, bag: Bag) -> None:
    """What a statement assigns is a name of its own."""
    name, span = s.target.name, s.target.name_span
    if name in d.inputs:
        related = (Label(d.inputs[name].span, "declared here"),)
        if any(o.name == name for o in d.spec.outputs or ()):
            return  # said where it is an output as well
        renamed = unparse_assign(in_turn(d)[s.span.start])
        hints: tuple[str, ...] = (f"give the result another name: `{renamed}`",)
        if d.spec.module is not None and any(n == name for n, _ in d.spec.module.buffers):
            other = unparse_assign(replace(s, target=replace(s.target, name=f"next_{name}")))
            made = other if s.op == "=" else f"next_{name} = {name} {s.op[0]} {unparse(s.value)}"
            hints = (f"what a buffer becomes is an output: `{made}`, with {_new_buffers(d, d.spec.module)}",)
        updates = s.op != "=" and name in d.words.inputs
        if updates:
            hints = in_place_hints(d.words, s)
        later = [o for o in d.forward if o.span.start > s.span.start and name in names_read(o.value)]
        if any(o.span.start not in d.words.updates for o in later):
            hints = (f"{hints[0]}, and read that further down where it is meant",)
        if later and not updates:
            hints += _all_results(d, s)
        if (
            updates
            and d.spec.outputs is None
            and s is next((o for o in d.forward if o.span.start in d.words.updates), None)
        ):
            hints += all_new(d.words, [n for n in d.outputs if n not in d.inputs])
        bag.error("OPG236", f"`{name}` is an input and cannot be assigned", span, related=related, hints=hints)
    elif name in d.params:
        related = (Label(d.params[name].span, "declared here"),)
        hints = (f"give the result another name: `{unparse_assign(in_turn(d)[s.span.start])}`",)
        bag.error("OPG236", f"`{name}` is a param and cannot be assigned", span, related=related, hints=hints)
    elif not check_lower(name, span, "tensor", bag, (*d.inputs, *d.params, *d.targets(), *d.functions, *indices(d))):
        return


def _new_buffers(d: Declarations, module: ModuleSpec) -> str:
    """The fields that say what becomes of all buffers that are assigned."""
    made = {str(b): f"next_{b}" for b, _ in module.buffers if b in d.targets()}
    become = {**{str(b): str(o) for b, o in module.updates}, **made}
    updates = f"`updates: {{{', '.join(f'{b}: {o}' for b, o in become.items())}}}`"
    if d.spec.outputs is None:
        return updates
    return f"{updates} and `outputs: [{', '.join([*(str(o.name) for o in d.spec.outputs), *made.values()])}]`"


def _all_results(d: Declarations, s: Assign) -> tuple[str, ...]:
    """How all of an update in place is returned, told once: what is read on the way is no output by itself."""
    own = [o for o in d.forward if o.target.name in d.inputs]
    passed = [o for o in own if o.target.name not in d.outputs]
    once = len(d.targets()) == len(d.forward)
    if d.spec.outputs is not None or d.spec.module is not None or not once or s is not passed[0]:
        return ()
    if passed == own and (d.outputs or len(own) == 1):
        return ()
    found = [o for o in d.forward if o in own or o.target.name in d.outputs]
    names = [in_turn(d)[o.span.start].target.name if o in own else o.target.name for o in found]
    return (f"what is read is no output by itself; to return it: `outputs: [{', '.join(names)}]`",)


def in_turn(d: Declarations) -> dict[int, Assign]:
    """The statements that assign an input or a param, by where they begin, with a name of its own for each value.

    What one of them reads is the newest value, as in languages that assign in turn.
    """
    taken = (*d.inputs, *d.params, *d.targets(), *d.functions)
    own = [s for s in d.forward if s.target.name in (*d.inputs, *d.params)]
    made, newest, before = dict[int, Assign](), dict[str, str](), dict[str, str]()
    told = {at: s.target.name for at, s in d.words.updates.items() if all(o.span.start != at for o in own)}
    alone = len({o.target.name for o in own}) == 1 and not told
    for s in own:
        for new in (new for at, new in told.items() if at < s.span.start):
            name = max((n for n in d.inputs if new.removeprefix(n).isdecimal()), key=len, default="")
            newest |= {name: new} if name else {}
        told = {at: new for at, new in told.items() if at > s.span.start}
        name = s.target.name
        again = s.guard is not None and name in before  # another case of the same value
        read = {**newest, name: before[name]} if again else dict(newest)
        if not again:
            later = any(name in names_read(o.value) for o in d.forward if o.span.start > s.span.start)
            wishes = ("y", "output") if alone and not later else ()
            wishes = (*wishes, *(f"{name}{k}" for k in range(2, 99)))
            before[name] = newest.get(name, name)
            newest[name] = next(n for n in wishes if n not in (*taken, *newest.values(), *before.values()))
        other = read_as(s, read)
        made[s.span.start] = replace(other, target=replace(other.target, name=newest[name]))
        if s.guard is None:
            before.pop(name)
    return made
