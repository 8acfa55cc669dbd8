"""Several masks that a tensor is written through, as NumPy does it, as the one statement that they are.

In go the statements of a block: `y = x`, `y[x > a] = a`, `y[isnan(x)] = 0`, `y[m] *= 2`; out comes one mistake for each
name, with the nested choice. One mask that is assigned to is told elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opgen.diagnostics.model import Bag, Label
from opgen.ir.functions import FUNCTIONS
from opgen.ir.scalar import BATCH
from opgen.lang.nodes import Access, Assign, Binder, Call, Compare, Dots, Expr, Name, Target
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, transform
from opgen.lower.declare import Declarations
from opgen.lower.overwritten import chosen, mask_of

_MEANT = "what an element is under a condition is a choice"
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ELSE = "…"  # what holds where no mask does, where nothing says it


def without_masked(d: Declarations, bag: Bag) -> Declarations:
    """The declarations without the statements of names that are written through several masks; each name is told."""
    told: list[str] = []
    for name in d.targets():
        own = [s for s in d.forward if s.target.name == name]
        masked = [s for s in own if _mask(d, s) is not None]
        if masked and name in d.lost:
            told.append(name)  # what the masks change could not be read, which is told
        if (
            name in told
            or _is_plain(d, own, masked)
            or (name in d.inputs and any(o.name == name for o in d.spec.outputs or ()))
        ):
            continue
        made = _as_one(d, own, masked)
        if made is None:
            continue
        told.append(name)
        line = f"`{unparse_assign(made)}`"
        if name in d.inputs:
            later = any(name in (n.name for n in nodes(s.value) if isinstance(n, Name | Access)) for s in d.forward
                        if s.span.start > own[-1].span.start)  # fmt: skip
            further = ", and read that further down where it is meant" if later else ""
            _report(bag, "OPG236", f"`{name}` is an input and cannot be assigned", own, f"write {line}{further}")
        elif len(own) > len(masked):
            _report(bag, "OPG217", f"`{name}` is assigned through masks", masked, f"write all of it as one: {line}")
        else:
            rest = f", with what holds for the others in place of `{_ELSE}`" if _ELSE in line else ""
            message = f"`{name}` is assigned through masks"
            _report(bag, "OPG217", message, own, f"{_MEANT}: write all of it as one: {line}{rest}")
    forward = tuple(s for s in d.forward if s.target.name not in told)
    return replace(d, forward=forward, lost=(*d.lost, *(n for n in told if n not in d.inputs))) if told else d


def _report(bag: Bag, code: str, message: str, own: Sequence[Assign], hint: str) -> None:
    related = [Label(s.target.name_span if code == "OPG236" else s.target.span, "this too") for s in own[1:]]
    first = own[0].target
    bag.error(code, message, first.name_span if code == "OPG236" else first.span, related=related, hints=(hint,))


def _is_plain(d: Declarations, own: Sequence[Assign], masked: Sequence[Assign]) -> bool:
    """Whether there is no mask, or but one, of a kind of which the statement itself is told."""
    if own[0] in masked and own == masked and own[0].target.name in d.inputs:
        return False
    calls = [s for s in masked if any(isinstance(i, Call | Access) for i in s.target.items or ())]
    other = len(masked) > 1 or (len(own) > 1 and (calls or any(s.op != "=" for s in masked)))
    whole = [s for s in own if s not in masked]
    return not other or len(whole) > 1 or (bool(whole) and whole[0] is not own[0])


def _mask(d: Declarations, s: Assign) -> Expr | None:
    """The condition in the brackets of a target; one with a function of conditions as well."""
    items = s.target.items or ()
    match items:
        case (Call(name=name, args=args) as item,) if name in FUNCTIONS and FUNCTIONS[name].result == "bool":
            read = [n.name for e in args for n in nodes(e) if isinstance(n, Name | Access)]
            return item if any(n in d.inputs or n in d.targets() for n in read) else None
        case (Access(name=name),) if name not in d.words.masks:
            return None  # a position
        case (item,):
            return mask_of(d, item)
        case _:
            return None


def _as_one(d: Declarations, own: Sequence[Assign], masked: Sequence[Assign]) -> Assign | None:
    base = own[0]
    if any(s.guard is not None for s in own):
        return None
    if base not in masked:
        whole: Assign | None = _indexed(d, base)
    else:
        whole = _input(d, base) if base.target.name in d.inputs else _nothing(d, base)
    for s in masked:
        mask = _mask(d, s)
        whole = None if whole is None or mask is None else chosen(d, whole, s, mask)
    if whole is None:
        return None
    match whole.value:
        case Call(args=(second, b, Call(name="where", args=(first, a, Name(name="…"))))) if second == _opposite(first):
            whole = replace(whole, value=Call("where", (first, a, b), whole.span, whole.span))
        case _:
            pass
    return replace(whole, target=replace(whole.target, name=_name(d, base.target.name)))


def _opposite(e: Expr) -> Expr | None:
    match e:
        case Compare(ops=(op,)):
            return replace(e, ops=(_NEGATED[op],))
        case _:
            return None


def _indexed(d: Declarations, s: Assign) -> Assign:
    """`y = x` at the indices of `x`, where that has named dims."""
    read = [n.name for n in nodes(s.value) if isinstance(n, Name) and n.name in d.inputs]
    known = {d.words.letters.get(n, ()) for n in read if d.shapes[n] != (BATCH,)}
    if s.target.items is not None or len(known) != 1 or any(isinstance(n, Access) for n in nodes(s.value)):
        return s
    (items,) = known
    own = tuple(Dots(s.span) if i == "..." else Binder(i, None, s.span) for i in items)
    at = tuple(Dots(s.span) if i == "..." else Name(i, s.span) for i in items)
    value = transform(
        s.value,
        lambda n: (
            Access(n.name, at, n.span, n.span)
            if isinstance(n, Name) and n.name in d.inputs and d.words.letters.get(n.name) == items
            else None
        ),
    )
    return replace(s, target=replace(s.target, items=own), value=value)


def _input(d: Declarations, s: Assign) -> Assign:
    """What an input is before it is written into."""
    name, at = s.target.name, s.span
    return _indexed(d, Assign(Target(name, None, at, at), "=", Name(name, at), None, at))


def _nothing(d: Declarations, s: Assign) -> Assign | None:
    """A statement for all of a name of which only masks are assigned, in the shape of what the first one asks."""
    mask = _mask(d, s)
    read = [] if mask is None else [n.name for n in nodes(mask) if isinstance(n, Name | Access) and n.name in d.inputs]
    if not read or any(isinstance(n, Access) for n in nodes(mask or s.value)):
        return None
    shaped = _indexed(d, Assign(Target(s.target.name, None, s.span, s.span), "=", Name(read[0], s.span), None, s.span))
    return replace(shaped, value=Name(_ELSE, s.span))


def _name(d: Declarations, name: str) -> str:
    """The name itself, or a free one where it is that of an input."""
    taken = (*d.inputs, *d.params, *d.targets(), *d.functions)
    return name if name not in d.inputs else next(n for k in range(2, 99) if (n := f"{name}{k}") not in taken)
