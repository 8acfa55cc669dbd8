"""A choices param that a formula compares with a string: the statements with guards that are meant by it."""

from __future__ import annotations

from dataclasses import replace

from opgen.lang.nodes import Assign, Call, Compare, Expr, Logic, Name, Text
from opgen.lang.unparse import unparse_assign
from opgen.lang.walk import nodes, transform
from opgen.lower.scope import BAD, Frame, Typed

_GENERAL = 'a choice of formula is a guard at the end of a statement: `y = … if mode == "a"`'


def compared(f: Frame, e: Compare) -> Typed | None:
    """`mode == "a"` outside of a guard, which is told as one mistake; None for any other comparison."""
    asked = _asked(e)
    if asked is None or asked[0] not in f.decl.params or not f.decl.params[asked[0]].choices:
        return None
    if f"choice {asked[0]}" in f.reported:  # of this statement, all of which is told
        return BAD
    f.reported.add(f"choice {asked[0]}")
    message = f"`{asked[0]}` is a string, which only a guard compares"
    return f.error("OPG231", message, e.span, _cases(f, e, asked[0]) or _GENERAL)


def string(f: Frame, e: Text) -> Typed:
    """A string by itself."""
    return f.error("OPG231", "a string stands only in a guard", e.span, _GENERAL)


def _cases(f: Frame, e: Compare, param: str) -> str:
    """The statement at hand as one for each case of a param; empty where a case is no formula."""
    start, end = e.span.start, e.span.end
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.span.start <= start and end <= s.span.end)
    s = next(own, None)
    if s is None:
        return ""
    of: dict[Expr, list[str]] = {}
    for choice in f.decl.params[param].choices:
        of.setdefault(_taken(s.value, param, choice), []).append(choice)
    if len(of) == 1 or any(isinstance(n, Text) for value in of for n in nodes(value)):
        return ""
    first = next(iter(of.values()))
    rest = len(of) == 2 and len(first) == 1
    made = [
        _guarded(s, value, _among(param, first if rest else found, "==" if found is first or not rest else "!=", e))
        for value, found in of.items()
    ]
    return f"write {', '.join(f'`{m}`' for m in made)}"


def _taken(e: Expr, param: str, choice: str) -> Expr:
    """A formula as it is for one choice."""

    def step(n: Expr) -> Expr | None:
        if not isinstance(n, Call) or n.name != "where" or len(n.args) != 3:
            return None
        condition, yes, no = n.args
        asked = _asked(condition) if isinstance(condition, Compare) else None
        if asked is None or asked[0] != param:
            return None
        return _taken(yes if (asked[1] == choice) == asked[2] else no, param, choice)

    return transform(e, step)


def _asked(e: Compare) -> tuple[str, str, bool] | None:
    """The param, the string, and whether they are to be equal."""
    match e:
        case Compare((Name(name), Text(word)) | (Text(word), Name(name)), ("==" | "!=" as op,)):
            return name, word, op == "=="
        case _:
            return None


def _among(param: str, words: list[str], op: str, at: Compare) -> Expr:
    """The guard that a param is one of these, or (`!=`) that it is not the one."""
    each: tuple[Expr, ...] = tuple(Compare((Name(param, at.span), Text(w, at.span)), (op,), at.span) for w in words)
    return each[0] if len(each) == 1 else Logic("or", each, at.span)


def _guarded(s: Assign, value: Expr, guard: Expr) -> str:
    whole = guard if s.guard is None else Logic("and", (s.guard, guard), guard.span)
    return unparse_assign(replace(s, value=value, guard=whole))
