"""Guards of one name that do not exclude each other, or that ask for what is no choice: what to write."""

from __future__ import annotations

import re
from dataclasses import replace

from opgen.diagnostics.model import Bag, Span
from opgen.diagnostics.suggest import listed
from opgen.lang.nodes import Access, Assign, Binder, Compare, Expr, Logic, Name, Reduction, Text, Unary
from opgen.lang.unparse import unparse, unparse_assign, unparse_target
from opgen.lang.walk import names_read, nodes, statement_at, transform
from opgen.lower.declare import Declarations
from opgen.schema.model import ParamSpec

_MISSING = ("null", "none")  # words for what is missing, in small letters
_COMMENT = re.compile(r"#[^\n]*")


def apart(d: Declarations, first: Assign, second: Assign) -> str:
    """The statements with guards that exclude each other: what goes on from another has that by a name of its own."""
    name = first.target.name
    if first.guard is not None and second.guard is not None:
        both = f"{_bracketed(second.guard)} and {_not(first.guard)}"
        return f"make the guards exclude each other: `if {both}` in the second"
    plain, guarded = (first, second) if first.guard is None else (second, first)
    assert guarded.guard is not None
    other = _not(guarded.guard)
    if name not in names_read(guarded.value):
        return f"make the guards exclude each other: write `{unparse_assign(plain)} if {other}`"
    taken = (*d.inputs, *d.params, *d.targets(), *d.functions)
    free = next(f"{name}{k}" for k in range(1, 99) if f"{name}{k}" not in taken)
    before = replace(plain, target=replace(plain.target, name=free))
    after = replace(guarded, value=transform(guarded.value, lambda e: _called(e, name, free)))
    items = tuple(replace(i, extent=None) if isinstance(i, Binder) else i for i in plain.target.items or ())
    read = replace(before.target, padded=False, items=items or None)
    kept = f"{unparse_target(plain.target)} = {unparse_target(read)} if {other}"
    lines = (unparse_assign(before), unparse_assign(after), kept)
    return f"a new value is a new name: write {', '.join(f'`{line}`' for line in lines)}"


def _called(e: Expr, name: str, other: str) -> Expr | None:
    return replace(e, name=other) if isinstance(e, Access | Name) and e.name == name else None


def _not(guard: Expr) -> str:
    return _bracketed(guard.operand) if isinstance(guard, Unary) else f"not {_bracketed(guard)}"


def goes_on(s: Assign, bag: Bag) -> bool:
    """Whether the line behind a statement was not understood: it may belong to that, with the guard."""
    spans = (d.span for d in bag.items if d.code == "OPG201" and d.span is not None)
    starts = (at.start for at in spans if at.source is s.span.source and at.start > s.span.end)
    behind = (_COMMENT.sub("", s.span.source.text[s.span.end : start]).split("\n") for start in starts)
    return any(len(lines) > 1 and not "".join(lines[:-1]).strip() for lines in behind)


def _bracketed(guard: Expr) -> str:
    shown = unparse(guard)
    return f"({shown})" if " " in shown else shown


def other_choice(d: Declarations, param: ParamSpec, value: str, at: Span) -> tuple[str, ...]:
    """What a word means that is none of the choices: one that no guard names, or one more; `at`: where it stands.

    Of several that no guard names it is the one that the statement computes, a reduction.
    """
    named = {n.value for s in d.forward if s.guard is not None for n in nodes(s.guard) if isinstance(n, Text)}
    free = [c for c in param.choices if c not in named]
    if not value:
        return ()
    more = f"add it: `choices: [{', '.join((*param.choices, value))}]`"
    own = statement_at(d.forward, at)
    made = [n.name for n in nodes(own.value) if isinstance(n, Reduction)] if own is not None else []
    meant = free if len(free) == 1 else [c for c in free if c in made]
    quoted = {c: f'"{c}"' for c in free}
    others = listed(q for c, q in quoted.items() if c not in meant)
    if not meant:
        return (f"no guard names {others}: did you mean one of these?", f"or {more}") if others else (more,)
    first = f"did you mean {listed(quoted[c] for c in meant)}, which no guard names?"
    return (first, *((f"none names {others} either",) if others else ()), f"or {more}")


def asked_together(d: Declarations, guard: Expr) -> Expr | None:
    """`mode == "a" or "b"` and `mode == ("a" or "b")`, with a comparison of each choice; None for any other guard."""
    match guard:
        case Compare((Name() as name, Logic(op=op, operands=words)), ("==" | "!=" as sign,)):
            pass
        case Logic(op=op, operands=(Compare((Name() as name, Text() as first), ("==" | "!=" as sign,)), *rest)):
            words = (first, *rest)
        case _:
            return None
    known = d.params[name.name].choices if name.name in d.params else ()
    if not all(isinstance(w, Text) and w.value in known for w in words) or (sign == "==" and op == "and"):
        return None
    each = tuple(Compare((name, w), (sign,), guard.span) for w in words)
    return Logic("or" if sign == "==" else "and", each, guard.span)


def unquoted(d: Declarations, guard: Expr) -> tuple[str, str] | None:
    """`mode == none` where that is a choice: the word, and the comparison with it; None for any other guard."""
    match guard:
        case Compare((Name(name=left), Name(name=right)), ("==" | "!=" as sign,)):
            name, word = (right, left) if left.lower() in _MISSING else (left, right)
            known = d.params[name].choices if name in d.params and word.lower() in _MISSING else ()
            return (word, f'{name} {sign} "{word}"') if word in known else None
        case _:
            return None


def is_missing(guard: Expr) -> str | None:
    """What is meant by `p != null`; None for any other guard."""
    if not isinstance(guard, Compare) or guard.ops not in (("==",), ("!=",)):
        return None
    names = [o.name for o in guard.operands if isinstance(o, Name)]
    known = [n for n in names if n.lower() not in _MISSING]
    asked = f"given({known[0]})" if len(names) == 2 and len(known) == 1 else None
    return asked if asked is None or guard.ops == ("!=",) else f"not {asked}"
