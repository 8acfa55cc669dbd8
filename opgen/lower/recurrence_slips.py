"""What is said of recurrences that read their own element, and of starts that stand at the wrong place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Label, Span
from opgen.lang.circles import Step, furthest, is_constant, shift_of
from opgen.lang.habits import along
from opgen.lang.nodes import Access, Assign, Binder, Dots, Expr, Name, Number, Sum, Unary
from opgen.lang.past import of_its_past
from opgen.lang.products import reindexed
from opgen.lang.unparse import unparse, unparse_assign, unparse_target
from opgen.lang.walk import integer, nodes, statement_at, statement_names, transform
from opgen.lower.declare import Declarations
from opgen.lower.gradient_names import cotangents_by, is_stated
from opgen.lower.lost import hangs_on_lost
from opgen.lower.only_started import only_started
from opgen.lower.recurrence_ahead import table_ahead
from opgen.lower.recurrence_components import components_go_on
from opgen.lower.recurrence_ends import target_with_end
from opgen.lower.recurrence_next import extent_along, from_0, next_elements, to_its_own
from opgen.lower.recurrence_sums import sum_spelt_out
from opgen.lower.recurrence_table import MOVED, of_table, without_border
from opgen.lower.scope import BAD, Frame, Typed
from opgen.lower.start_within import comes_to_it, is_element, is_inside, sized
from opgen.lower.step_before import at_a_word
from opgen.lower.steps import unbound
from opgen.lower.updated import renamed

_OTHER = "a recurrence reads another position, such as `h[t - 1]`; a new value of a name is a new name"
_ALONG = "a recurrence runs along an index of its own, which stands on the left, too, and reads it at one less"


def _text(item: Expr | Dots) -> str:
    return "..." if isinstance(item, Dots) else unparse(item)


def one_back(a: Access, places: Sequence[int], steps: Sequence[Step]) -> Access:
    """A read at the step before."""
    items = list(a.items)
    for place, step in zip(places, steps, strict=True):
        item = items[place] if place < len(items) and step.offset else None
        if isinstance(item, Name):
            items[place] = Sum((("+", item), ("+" if step.offset > 0 else "-", Number(1, item.span))), item.span)
    return replace(a, items=tuple(items))


def misplaced(
    d: Declarations, body: Assign, starts: Sequence[Assign], s: Assign, places: Sequence[int], place: int, step: Step
) -> tuple[str, ...]:
    """What a start at the wrong place means. `places`: the positions that run along; `place`: the one that is wrong."""
    if len(places) > 1:
        if len(starts) == 1 and len(_constants(s, places)) == 1 and step.offset < 0 and is_element(s, place):
            along = (body.target.items or ())[place]
            own = replace(step, index=along.name) if isinstance(along, Binder) else step
            line = _with_elements(d, sized(d, body, s, place), [s], place, own)
            return (f"for an element itself, both lines are one: `{line}`",)
        return _of_table(d, body, starts, s, places, place)
    at = ((o, (o.target.items or ())[place]) for o in starts)
    elements = [o for o, item in at if is_inside(item, step) or (o is s and not item.span.text.startswith("-"))]
    return _in_front(d, body, s, elements, starts, place, step)


def _in_front(
    d: Declarations,
    body: Assign,
    s: Assign,
    elements: Sequence[Assign],
    starts: Sequence[Assign],
    place: int,
    step: Step,
) -> tuple[str, ...]:
    """Where the start belongs, and how elements inside are given their values.

    Where several starts are written, or the formula counts by its index, elements are numbered as they stand there.
    """
    items, several = list(s.target.items or ()), len(starts) > 1
    old = items[place]
    where_ = "-1" if step.offset < 0 else extent_along(d, body, place, step.index)
    shown = ["..." if isinstance(i, Dots) else i.name if isinstance(i, Binder) else _text(i) for i in items]
    moved = ", ".join(where_ if k == place else item for k, item in enumerate(shown))
    value = unparse(s.value)
    start = f"the start stands one place before the first element: write `{s.target.name}[{moved}] = {value}`"
    if step.offset > 0:
        start = (
            f"downwards the start stands at the extent, behind the last element: `{s.target.name}[{moved}] = {value}`"
        )
    none = f"or leave it out: without a start, `{s.target.name}[{moved}]` is 0"
    if isinstance(old, Binder | Name):
        return (start, *_turned(d, body, old, place, step))
    if s not in elements:
        return (start, none)  # no element stands there
    along = (body.target.items or ())[place]
    index = along.name if isinstance(along, Binder) else step.index
    line = _with_elements(d, body, elements if several else [s], place, Step(index, step.offset))
    if several:
        one = "for an element itself, write" if len(elements) == 1 else "for elements themselves, in one statement:"
        outside = len(starts) - len(elements)
        if not outside or len(starts) != furthest(d.forward, s.target.name, place):
            return (f"{one} `{line}`",)
        further = f"{where_} + {outside}" if step.offset > 0 else str(-1 - outside)
        shown[place] = further
        beyond = f"`{s.target.name}[{', '.join(shown)}] = {value}`"
        return (f"the next start stands one place further out: {beyond}", f"or {one} `{line}`")
    element = f"for an element itself, both lines are one: `{line}`"
    if not is_element(s, place):
        return (element,) if _looks_back(d, body, index, step) else (element, f"or {start}", none)
    same = comes_to_it(body, s, place, index, s.value)
    least = comes_to_it(body, s, place, index, Number(0, s.span))
    return (element, *([f"or {start}"] if same else []), *([none] if least else []))


def _looks_back(d: Declarations, body: Assign, index: str, step: Step) -> bool:
    """Whether inputs are read one place back, where the first element finds nothing."""
    read = (a for a in nodes(body.value) if isinstance(a, Access) and a.name in d.inputs)
    shifts = (shift for a in read for item in a.items if (shift := shift_of(item)) is not None)
    return any(shift.index == index and shift.offset * step.offset > 0 for shift in shifts)


def _turned(d: Declarations, body: Assign, start: Binder | Name, place: int, step: Step) -> tuple[str, ...]:
    """The recurrence that goes down, where its start stands at the upper end."""
    name = body.target.name
    if step.offset > 0 or start.name != extent_along(d, body, place, step.index):
        return ()

    def turn(e: Expr) -> Expr | None:
        own = shift_of(e.items[place]) if isinstance(e, Access) and e.name == name and place < len(e.items) else None
        if own is None or not isinstance(e, Access):
            return None
        moved = Sum((("+", Name(own.index, e.span)), ("+", Number(abs(own.offset), e.span))), e.span)
        return replace(e, items=(*e.items[:place], moved, *e.items[place + 1 :]))

    return (f"or, where it goes down: `{unparse_assign(replace(body, value=transform(body.value, turn)))}`",)


def _with_elements(d: Declarations, body: Assign, elements: Sequence[Assign], place: int, step: Step) -> str:
    """The statement that goes on, with a choice of the values that some of its elements have by themselves."""
    value = unparse(body.value)
    for s in reversed(elements):
        items, own = s.target.items or (), body.target.items or ()
        there = {
            i.name: o.name for i, o in zip(items, own, strict=True) if isinstance(i, Binder) and isinstance(o, Binder)
        }
        value = f"where({step.index} == {items[place].span.text}, {unparse(reindexed(s.value, there))}, {value})"
    return f"{unparse_target(target_with_end(d, body, elements, place, step))} = {value}"


def _counts(e: Expr, index: str) -> bool:
    """Whether a formula uses an index as a number."""
    bare = transform(e, lambda n: Number(0, n.span) if isinstance(n, Access) else None)
    return any(isinstance(n, Name) and n.name == index for n in nodes(bare))


def _of_table(
    d: Declarations, body: Assign, starts: Sequence[Assign], s: Assign, places: Sequence[int], place: int
) -> tuple[str, ...]:
    """The starts of a recurrence along several indices, which others write into a row and a column at 0.

    Where one stands before the first element already, `s` alone is wrong, and nothing is counted from 1.
    """
    right = [o for o in starts if all(i.span.text == "-1" for i in _constants(o, places))]
    known = [unparse_assign(o) for o in right]
    lines: dict[str, None] = {}
    for o in starts:
        items = o.target.items or ()
        along = [i.name for k, i in enumerate(items) if k in places and isinstance(i, Binder) and not right]
        shown = ["-1" if k in places and is_constant(i) else i.name if isinstance(i, Binder) else _text(i)
                 for k, i in enumerate(items)]  # fmt: skip

        def moved(e: Expr, along: Sequence[str] = along) -> Expr | None:
            if isinstance(e, Name) and e.name in along:
                return Sum((("+", e), ("+", Number(1, e.span))), e.span)
            return None

        start = f"{s.target.name}[{', '.join(shown)}] = {unparse(transform(o.value, moved))}"
        if o not in right and start not in known:
            lines[f"`{start}`"] = None
    told = f"the places before the first element are at -1: {', '.join(lines)}"
    if not right:
        if (table := without_border(d, body, places)) is not None:
            return told, *of_table(table, s.target.name)
        others = [n for n in nodes(body.value) if isinstance(n, Access) and n.name != s.target.name]
        if not any(isinstance(i, Sum) for n in others for i in n.items):
            return (told,)
        return told, f"every other position is one less, too: {MOVED}"
    own = (body.target.items or ())[place]
    if not lines:
        told = "the places before the first element are at -1, where a start stands already: leave this out"
    if not isinstance(own, Binder):
        return (told,)
    line = _with_elements(d, body, [s], place, Step(own.name, -1))
    return (told, f"or, for elements themselves, write `{line}` in place of both lines")


def _constants(s: Assign, places: Sequence[int]) -> list[Expr | Binder]:
    """The positions of a start that stand outside, or should."""
    found = ((s.target.items or ())[k] for k in places)
    return [i for i in found if is_constant(i) and not isinstance(i, Dots)]


def _told_by_calls(d: Declarations, item: Expr | Dots) -> str:
    """The param or dim that an index is moved by, as `lag` in `t - lag`; empty where there is none."""
    if not isinstance(item, Sum) or not isinstance(item.terms[0][1], Name):
        return ""
    moved = (n.name for _, term in item.terms[1:] for n in nodes(term) if isinstance(n, Name))
    return next((n for n in moved if n in d.params or n[0].isupper()), "")


def by_number(d: Declarations, e: Access) -> tuple[str, ...]:
    """What is said of an access that goes back by a param or dim, or over all that there has been."""
    s = statement_at(d.forward, e.span)
    if s is not None and (told := of_its_past(s)):
        return told
    shown = [_text(i) for i in e.items]
    for place, item in enumerate(e.items):
        far = _told_by_calls(d, item)
        if far:
            steps = next((integer(n) for n in d.defaults.get(far, ()) if (integer(n) or 0) > 1), None) or 2
            shown[place] = f"{_text(item).split()[0]} - {steps}"
            return (
                f"how far a recurrence goes back is a number in the spec, as in `{e.name}[{', '.join(shown)}]`, and"
                f" `{far}` is known only when the operator is called{_needless(d, far, e.name)}",
            )
    return ()


def _needless(d: Declarations, param: str, name: str) -> str:
    """What becomes of a param that says how far a recurrence goes back, and nothing else."""
    formulas = [e for s in (*d.forward, *d.backward) for e in (s.value, s.guard)]
    formulas += [i.extent for s in d.forward for i in s.target.items or () if isinstance(i, Binder)]
    formulas += d.derived.values()
    formulas += [*(f.value for f in d.functions.values()), *(e for es in d.defaults.values() for e in es)]
    every = [n for e in formulas if e is not None for n in nodes(e)]
    back = {id(n) for a in every if isinstance(a, Access) and a.name == name for n in nodes(a)}
    domains = [t.domain for t in d.inputs.values()] + [p.domain for n, p in d.params.items() if n != param]
    used = any(isinstance(n, Name) and n.name == param and id(n) not in back for n in every)
    used |= any(f is not None and re.search(rf"\b{param}\b", f.text) is not None for f in domains)
    return "" if used or param not in d.params else f"; the param `{param}` is left out then"


def _step_before(d: Declarations, e: Name | Access) -> str:
    """What a statement that reads its own element means, by where the start of that name stands."""
    if not isinstance(e, Access):
        return _OTHER
    for told in at_a_word(d, e):
        return told
    for told in components_go_on(d, e.name, [s for s in d.forward if s.target.name == e.name]):
        return told
    for s in d.forward:
        items = s.target.items or ()
        if s.target.name != e.name or len(items) != len(e.items):
            continue
        for place, item in enumerate(items):
            if isinstance(item, Unary) and isinstance(e.items[place], Name):
                shown = [_text(i) for i in e.items]
                shown[place] += " - 1"
                return f"the step before is `{e.name}[{', '.join(shown)}]`"
    if any(s.target.name == e.name and unbound(d, s) for s in (*d.forward, *d.backward)):
        return _ALONG
    shown = [_text(i) for i in e.items]
    for told in by_number(d, e):
        return told
    if spelt_out := sum_spelt_out(d, e):
        return spelt_out
    places = [k for k, i in enumerate(e.items) if isinstance(i, Name)]
    if not places:
        return _OTHER
    shown[min(places, key=lambda k: along(shown[k]))] += " - 1"
    return f"a recurrence reads another position, such as `{e.name}[{', '.join(shown)}]`; a new value is a new name"


def nothing_goes_on(d: Declarations, lacking: Mapping[str, Sequence[Assign]], bag: Bag) -> None:
    """Starts without a recurrence, or recurrences that are written to their next elements. In go their statements."""
    told = [_written_beside(d, name, own, bag) for name, own in lacking.items()]
    if any(told):
        return
    name, starts = next(iter(lacking.items()))
    for s in starts:
        if lines := table_ahead(d, s):
            bag.error("OPG241", "these are no plain indices", s.target.span, hints=lines)
            return
    message, hints = f"`{name}` has a start and nothing that goes on from it", components_go_on(d, name, starts)
    message = f"the components of `{name}` read one another" if hints else message
    bag.error("OPG250", message, starts[0].target.span, hints=hints)


def _written_beside(d: Declarations, name: str, own: Sequence[Assign], bag: Bag) -> bool:
    """Whether a name is written beside its index, which goes to the bag."""
    if (late := next_elements(d, own)) is not None and not from_0(d, late[0]):
        message = f"`{name}` is assigned as a whole and by components"
        bag.error("OPG217", message, late[0].target.span, hints=late[1])
        return True
    for s in own:
        beside = [i for i in s.target.items or () if not isinstance(i, Binder) and shift_of(i) is not None]
        line = to_its_own(d, s)
        if line is not None and len(beside) == 1 and not isinstance(beside[0], Dots):
            bag.error("OPG241", "this is no plain index", beside[0].span, hints=from_0(d, s) or line.hints)
            return True
    return False


def another_statement(d: Declarations, s: Assign, bag: Bag, *, first: bool) -> None:
    """A second statement of a recurrence, or the only one (`first`), which adds to what it makes."""
    message = f"`{s.target.name}` is a recurrence and gets another statement"
    bag.error("OPG250", message, s.target.span, hints=assigned(d, s) if first else renamed(d, s.target.name))


def too_early(f: Frame, e: Name | Access, span: Span) -> Typed:
    """A read of what is assigned further down, or in the very statement."""
    if e.name == f.target:
        hints = (
            (cotangents_by(f, e.name) if is_stated(f) else ()) or _of_itself(f.decl, e) or (_step_before(f.decl, e),)
        )
        return f.error("OPG219", f"`{e.name}` reads itself", span, *hints, label="not assigned yet")
    if isinstance(e, Access) and any(map(shift_of, e.items)) and hangs_on_lost(f.decl, e.name):
        return BAD  # it may go on from what could not be read
    circle = _circle(f, e.name)
    notes = (f"they depend on each other in a circle: {' → '.join(circle)}",) if circle else ()
    plain = Label(f.state.later[e.name], "assigned here"), "break the circle" if circle else "move its statement up"
    started = None if circle else only_started(f.decl, e)
    label, related, hints = started or ("not assigned yet", plain[:1], plain[1:])
    at = e.name_span if isinstance(e, Access) else span  # so that all that is read too early is told once
    message = f"`{e.name}` is read before it is assigned"
    f.bag.error("OPG219", message, at, label=label, related=related, notes=notes, hints=hints)
    return BAD


def _of_itself(d: Declarations, e: Name | Access) -> tuple[str, ...]:
    """The lines of an update that reads its own target, `y += f(y)`; none where it is something else."""
    s = statement_at(d.forward, e.span)
    return () if s is None or s.op == "=" else renamed(d, e.name)


def _circle(f: Frame, name: str) -> tuple[str, ...]:
    """A chain of statements from the target at hand through `name` back to the target."""
    graph: dict[str, dict[str, None]] = {}
    for s in f.decl.forward:
        graph.setdefault(s.target.name, {}).update(dict.fromkeys(statement_names(s)))
    came: dict[str, str] = {name: f.target}
    queue = [name]
    while queue:
        current = queue.pop(0)
        for following in graph.get(current, {}):
            if following == f.target:
                chain = [f.target, current]
                while chain[-1] != f.target:
                    chain.append(came[chain[-1]])
                return tuple(reversed(chain))
            if following in graph and following not in came:
                came[following] = current
                queue.append(following)
    return ()


def assigned(d: Declarations, s: Assign) -> tuple[str, ...]:
    """What goes on from itself and is added to, with `=`."""
    own = to_its_own(d, s)
    line = unparse_assign(replace(s if own is None else own.line, op="="))
    hint = f"what goes on from the step before is written with `=`: `{line}`"
    return (hint,) if own is None else (hint, *own.elsewhere)
