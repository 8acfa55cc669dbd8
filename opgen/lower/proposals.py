"""Lines to write instead: what a mistake most likely means, spelt with the names and sizes of the spec.

Where a size is not known, `…` stands for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from opgen.ir.program import Kind
from opgen.ir.scalar import Dim, Lit
from opgen.lang.limits import over_picked
from opgen.lang.nodes import (
    Access,
    Assign,
    Binder,
    Call,
    Compare,
    Dots,
    Expr,
    Logic,
    Name,
    Number,
    Product,
    Reduction,
    Sum,
    Unary,
)
from opgen.lang.slices import total
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import names_read, nodes, rebuild
from opgen.lower.declare import Declarations
from opgen.lower.scope import UNKNOWN, Frame

BETWEEN = "a domain holds for each element by itself: leave a relation between elements out, or say it under `doc`"
WITHOUT_TENSORS: Mapping[str, tuple[str, ...]] = {  # what is said where a formula reads a tensor and cannot
    "a domain": (BETWEEN,),
    **dict.fromkeys(("a local function", "a derivative"), ("pass it as an argument",)),
}

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _size_of(f: Frame, e: Expr, index: str) -> Expr | None:
    """How far an index runs, by the tensors that are read at it."""
    for a in nodes(e):
        known = f.state.tensors.get(a.name) if isinstance(a, Access) else None
        if known is None or known.shape is None or not isinstance(a, Access) or len(known.shape) != len(a.items):
            continue
        for item, size in zip(a.items, known.shape, strict=True):
            if not isinstance(item, Name) or item.name != index:
                continue
            if isinstance(size, Dim) and size.name != UNKNOWN:
                return Name(size.name, item.span)
            if isinstance(size, Lit):
                return Number(int(size.value), item.span)
    return None


def letters(f: Frame, wishes: str) -> Iterable[str]:
    """Names that an index may have in the statement at hand."""
    taken = {*f.index_names, *f.state.tensors, *f.state.later, *f.decl.params}
    return (c for c in (*wishes, *(f"i{n}" for n in range(2, 100))) if c not in taken)


# --- one index for several -------------------------------------------------------------------------------------------


def one_index(f: Frame, e: Reduction) -> tuple[str, ...]:
    """What is meant by a reduction over several indices that takes one."""
    own = [b for b in e.binders if isinstance(b, Binder)]
    if len(own) < len(e.binders):
        return (f"name the dim that is meant: with `shape: [..., K]` it is `{e.name}[k](x[..., k])`",)
    names = [b.name for b in own]
    if not own or len({*names}) < len(names):
        return (f"write `{e.name}[k](…)`",)
    if e.name in ("argmax", "argmin"):
        return _joint(f, e, own)
    if e.name == "argsort" or any(b.extent is not None for b in own):
        return (f"write `{e.name}[{names[-1]}](…)`",)
    made = e.body
    for b in reversed(own):
        made = Reduction(e.name, (b,), made, e.span, e.name_span)
    return (f"one after the other: write `{unparse(made)}`",)


def _joint(f: Frame, e: Reduction, own: Sequence[Binder]) -> tuple[str, ...]:
    """The position among the places of several indices, from which each of them follows."""
    found = [b.extent or _size_of(f, e.body, b.name) for b in own]
    sizes = [size for size in found if size is not None]
    again = any(isinstance(r, Reduction) and {*r.binders} & {*own} for r in nodes(e.body))
    if len(sizes) < len(own) or again:
        general = f"write `{e.name}[k < H*W](x[k//W, k%W])`, with the sizes `H` and `W` of the two dims"
        return ("a position counts along one index; for two of them take one that runs over both", general)
    letter = Name(next(iter(letters(f, "kpqrmsuvw"))), e.span)
    places: dict[str, Expr] = {}
    for n, b in enumerate(own):
        factors: list[tuple[str, Expr]] = [("*", letter)]
        if n + 1 < len(own):
            factors.append(("//", _times(sizes[n + 1 :])))
        if n:
            factors.append(("%", sizes[n]))
        places[b.name] = Product(tuple(factors), e.span)
    joint = replace(e, binders=(Binder(letter.name, _times(sizes), e.span),), body=_instead(e.body, places))
    parts = ", ".join(f"`{name}` is `{unparse(place)}`" for name, place in places.items())
    return (f"write `{unparse(joint)}`, the position among all of them", f"of such a position `{letter.name}`, {parts}")


def _times(sizes: Sequence[Expr]) -> Expr:
    return sizes[0] if len(sizes) == 1 else Product(tuple(("*", size) for size in sizes), sizes[0].span)


def _instead(e: Expr, names: Mapping[str, Expr]) -> Expr:
    if isinstance(e, Name):
        return names.get(e.name, e)
    return rebuild(e, lambda part: _instead(part, names))


# --- an index that stands twice --------------------------------------------------------------------------------------


def diagonal(f: Frame, s: Assign, *, declared: bool) -> str:
    """`y[i, i] = e` with two indices. `declared`: the shape of the target says how far they run."""
    unused = iter(letters(f, "jklmnpqrs"))
    first: dict[str, Binder] = {}
    items: list[Binder | Dots | Expr] = []
    equal: list[Expr] = []
    for item in s.target.items or ():
        if not isinstance(item, Binder) or item.name not in first:
            if isinstance(item, Binder):
                first[item.name] = item
            items.append(item)
            continue
        size = item.extent or first[item.name].extent or _size_of(f, s.value, item.name)
        other = Binder(next(unused), None if declared else size or Name("…", item.span), item.span)
        if size is None and not declared:  # nothing says it of the first one either
            items[items.index(first[item.name])] = replace(first[item.name], extent=Name("…", item.span))
        items.append(other)
        equal.append(Compare((Name(item.name, item.span), Name(other.name, item.span)), ("==",), item.span))
    condition = equal[0] if len(equal) == 1 else Logic("and", tuple(equal), s.span)
    holds = isinstance(s.value, Compare | Logic) or (isinstance(s.value, Unary) and s.value.op == "not")
    other_value: Expr = Name("false", s.span) if holds else Number(0, s.span)
    value = Call("where", (condition, s.value, other_value), s.span, s.span)
    target = replace(s.target, items=tuple(items))
    return unparse_assign(Assign(target, s.op, value, s.guard, s.span))


def _at_place(e: Expr, old: Expr, new: Expr) -> Expr:
    return new if e is old else rebuild(e, lambda part: _at_place(part, old, new))


# --- a guard that is no case of its own ------------------------------------------------------------------------------


def one_statement(d: Declarations, s: Assign) -> tuple[str, ...]:
    """Two statements whose guards are opposite conditions on numbers, as one; a single one with one on its indices."""
    both = [o for o in (*d.forward, *d.backward) if o.target.name == s.target.name]
    if len(both) == 1:
        return _per_element(s)
    if len(both) != 2 or both[0].target != both[1].target or {o.op for o in both} != {"="}:
        return ()
    first, second = both
    if first.guard is None or second.guard is None:
        return ()
    indices = [i.name for i in first.target.items or () if isinstance(i, Binder)]
    if _is_opposite(first.guard, second.guard, indices):
        made = Call("where", (first.guard, first.value, second.value), s.span, s.span)
    elif _is_opposite(second.guard, first.guard, indices):
        made = Call("where", (second.guard, second.value, first.value), s.span, s.span)
    else:
        return ()
    return (f"write both as one: `{unparse_assign(replace(first, value=made, guard=None))}`",)


def _per_element(s: Assign) -> tuple[str, ...]:
    """`y[i, j] = a[i, j] if i < j` as a choice, of which the other side is not known, or is nothing to add."""
    left = [i.name for i in s.target.items or () if isinstance(i, Binder)]
    nothing = {"=": 0, "+=": 0, "*=": 1}.get(s.op)
    if s.guard is None or nothing is None:
        return ()
    parts = s.guard.operands if isinstance(s.guard, Logic) else (s.guard,)
    if not all(isinstance(p, Compare) and {*left} & {*names_read(p)} for p in parts):
        return ()
    if (inner := _inside(s, s.guard, left)) is not None:
        bound, value = inner
        line = unparse_assign(replace(s, value=value, guard=None))
        return (f"the condition reads `{bound}`, which the reduction binds: it stands in the body: `{line}`",)
    made = Call("where", (s.guard, s.value, Number(nothing, s.span)), s.span, s.span)
    line = f"for a condition per element write `{unparse_assign(replace(s, value=made, guard=None))}`"
    return (f"{line}, with what holds elsewhere in place of `0`" if s.op == "=" else line,)


def _inside(s: Assign, guard: Expr, left: Sequence[str]) -> tuple[str, Expr] | None:
    """The value with a condition in the body of the one reduction whose index it reads, and that index."""
    read = names_read(guard)
    for r in (n for n in nodes(s.value) if isinstance(n, Reduction)):
        bound = [b.name for b in r.binders if isinstance(b, Binder) and b.name in read and b.name not in left]
        picked = over_picked(r.name, r.binders, r.body, [guard]) if bound else None
        if picked is not None:
            return bound[0], _at_place(s.value, r, picked)
    return None


def own_bounds(e: Expr, name: str, known: Iterable[str]) -> tuple[str, ...]:
    """A domain that bounds an unknown name in place of its own."""
    if not isinstance(e, Compare) or not {*e.ops} <= {"<", "<=", ">", ">="} or len(e.operands) > 3:
        return ()
    unknown = [o for o in e.operands if isinstance(o, Name) and o.name[:1].islower() and o.name not in known]
    if len(unknown) != 1 or (len(e.operands) == 3 and unknown[0] is not e.operands[1]):
        return ()
    return (f"write `{unparse(_instead(e, {unknown[0].name: replace(unknown[0], name=name)}))}`",)


def _is_opposite(first: Expr, second: Expr, indices: Sequence[str]) -> bool:
    """Whether the second of two conditions holds where the first does not; indices run from 0 to their last place."""
    if second == _negated(first):
        return True
    one, other = _of_index(first, indices), _of_index(second, indices)
    if one is None or other is None or one[0] != other[0]:
        return False
    (index, sign, place), (_, negated, limit) = one, other
    at = index.span
    last = isinstance(place, Sum) and place.terms[-1] == ("-", Number(1, at))
    zero = place == Number(0, at)
    match sign, negated:
        case "==", ">":
            return zero and limit == place
        case "==", ">=":
            return zero and limit == Number(1, at)
        case "==", "<":
            return last and limit == place
        case _:
            more = {"<=": 1, "<": 0, ">=": 0, ">": 1}
            return {sign[0], negated[0]} == {"<", ">"} and total(
                [(1, place), (more[sign], Number(1, at))], at
            ) == total([(1, limit), (more[negated], Number(1, at))], at)


def _of_index(e: Expr, indices: Sequence[str]) -> tuple[Name, str, Expr] | None:
    """A condition on an index by itself, with what it is compared to behind it."""
    match e:
        case Compare(operands=(Name(name=name) as index, limit), ops=(sign,)) if name in indices:
            return index, sign, limit
        case Compare(operands=(limit, Name(name=name) as index), ops=(sign,)) if name in indices:
            return index, _TURNED.get(sign, sign), limit
        case _:
            return None


def _negated(e: Expr) -> Expr:
    match e:
        case Unary(op="not", operand=operand):
            return operand
        case Compare(ops=(op,)):
            return replace(e, ops=(_NEGATED[op],))
        case _:
            return Unary("not", e, e.span)


# --- a float as a position -------------------------------------------------------------------------------------------


def assigned_float(f: Frame, item: Expr) -> Assign | None:
    """The statement that gives a position its float, with an integer in its place."""
    floats = [n for n in names_read(item) if n in f.state.tensors and f.state.tensors[n].kind is Kind.FLOAT]
    own = [s for s in f.decl.forward if s.target.name in floats]
    if len(own) != 1 or own[0].op != "=":
        return None
    return replace(own[0], value=Call("int", (own[0].value,), own[0].value.span, own[0].value.span))


# --- a tensor that is not declared -----------------------------------------------------------------------------------


def as_it_stays(d: Declarations, name: str) -> str:
    """The statement of what a buffer becomes, for the settings in which it has none and the buffer stays as it is."""
    statements = [s for s in d.forward if s.target.name == name]
    updates = () if d.spec.module is None else d.spec.module.updates
    buffer = next((str(b) for b, output in updates if output == name), None)
    guard = statements[0].guard if len(statements) == 1 else None
    if buffer is None or guard is None:
        return ""
    target = statements[0].target
    items = (
        None
        if target.items is None
        else tuple(Name(i.name, i.span) if isinstance(i, Binder) else i for i in target.items)
    )
    value: Expr = Name(buffer, target.span) if items is None else Access(buffer, items, target.span, target.span)
    return f"say what it is there: `{unparse_assign(replace(statements[0], value=value, guard=_negated(guard)))}`"


def shape_read(e: Access) -> str:
    """A shape that a tensor read like this may have."""
    found = dict.fromkeys(i.name.upper() for i in e.items if isinstance(i, Name))
    spare = (d for d in (*"NMKLPQ", *(f"D{n}" for n, _ in enumerate(e.items))) if d not in found)
    dims = [
        "..." if isinstance(i, Dots) else i.name.upper() if isinstance(i, Name) else next(spare, "N") for i in e.items
    ]
    return f"[{', '.join(dims)}]"
