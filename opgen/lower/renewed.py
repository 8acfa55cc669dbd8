"""Inputs that are updated and listed as outputs, as an optimiser has them: new values with names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from opgen.diagnostics.model import Bag, Label
from opgen.lang.layout import access_at
from opgen.lang.nodes import Assign, Binder, Dots, Expr, Name, Target
from opgen.lang.unparse import unparse_assign
from opgen.lang.updates import new_value, read_as
from opgen.lang.walk import statement_names
from opgen.lower.declare import Declarations


@dataclass(slots=True)
class _Renewed:
    """The statements as they are meant: those of new values and those that read them."""

    newest: dict[str, str] = field(default_factory=dict)
    before: dict[str, str] = field(default_factory=dict)  # what each was called before its newest value
    values: list[Assign] = field(default_factory=list)
    readers: list[Assign] = field(default_factory=list)


def renewed(d: Declarations) -> tuple[str, ...]:
    """The inputs that are listed as outputs and assigned."""
    listed = [str(o.name) for o in d.spec.outputs or ()]
    return tuple(n for n in listed if n in d.inputs and n in d.targets())


def check_renewed(d: Declarations, bag: Bag) -> None:
    """Tell of all of them at once, where the first one is assigned."""
    names = renewed(d)
    own = [s for s in d.forward if s.target.name in names]
    if not own:
        return
    made = _meant(d, names)
    first, *others = own
    related = [Label(d.inputs[first.target.name].span, "declared here")]
    related += [Label(s.target.name_span, "this too") for s in others if s.target.name_span != first.target.name_span]
    hints = [f"a new value is a new name: write {_quoted(made.values)}"]
    if made.readers:
        hints.append(f"and read that further down: {_quoted(made.readers)}")
    hints += as_listed(d, made.newest)
    message = f"`{first.target.name}` is an input and cannot be assigned"
    bag.error("OPG236", message, first.target.name_span, related=related, hints=hints)


def as_listed(d: Declarations, newest: Mapping[str, str]) -> list[str]:
    """How new values are listed as outputs in place of the inputs they come from, and as what buffers become."""
    hints: list[str] = []
    buffers = {str(b) for b, _ in d.spec.module.buffers} if d.spec.module else set()
    outputs = d.spec.outputs or ()
    if any(o.model_fields_set - {"name", "span"} for o in outputs):
        hints.append(f"under `outputs` it is {', '.join(f'`{n}` in place of `{o}`' for o, n in newest.items())}")
    else:
        hints.append(f"and list it: `outputs: [{', '.join(newest.get(str(o.name), str(o.name)) for o in outputs)}]`")
    if updates := [f"{o}: {n}" for o, n in newest.items() if o in buffers]:
        hints.append(f"what a buffer becomes: `updates: {{{', '.join(updates)}}}`")
    return hints


def _quoted(lines: list[Assign]) -> str:
    return ", ".join(f"`{unparse_assign(s)}`" for s in lines)


def _meant(d: Declarations, names: tuple[str, ...]) -> _Renewed:
    found = _Renewed()
    for k, s in enumerate(d.forward):
        name, before = s.target.name, dict(found.newest)
        if name not in names:
            if any(n in before for n in statement_names(s)):
                found.readers.append(read_as(s, before))
            continue
        again = s.guard is not None and name in before  # another case of the same value
        at_hand = {**before, name: found.before[name]} if again else before
        read = replace(read_as(s, at_hand), target=s.target)
        later = [o for o in d.forward[k + 1 :] if o.target.name == name]
        value = read if s.op == "=" else new_value(d.words, read, at_hand.get(name, name), name)
        if value is None and name not in before:
            found.newest[name], found.before[name] = _free(d, found, name, last=not later), name
            found.values.append(_copy(d, s, found.newest[name]))
        elif value is not None and not again:
            found.before[name] = before.get(name, name)
            found.newest[name] = _free(d, found, name, last=not later or s.guard is not None)
        made = read if value is None else value
        found.values.append(replace(made, target=replace(made.target, name=found.newest[name])))
    return found


def _free(d: Declarations, so_far: _Renewed, name: str, *, last: bool) -> str:
    """A name for the value at hand, that of the result for the last one."""
    taken = (*d.inputs, *d.params, *d.targets(), *d.functions, *so_far.newest.values())
    wishes = [*([f"{name}_out"] if last else []), *(f"{name}{k}" for k in range(2, 99))]
    return next(n for n in wishes if n not in taken)


def _copy(d: Declarations, s: Assign, new: str) -> Assign:
    """What is scattered into: the input itself."""
    name, at = s.target.name, s.span
    letters = d.words.letters.get(name, ())
    plain = letters in ((), ("...",))
    items = None if plain else tuple(Dots(at) if i == "..." else Binder(i, None, at) for i in letters)
    value: Expr = Name(name, at) if plain else access_at(name, letters, Name(name, at))
    return Assign(Target(new, items, at, at), "=", value, None, at)
