"""A choices param that a formula compares with a string: told with the statements that are meant by it."""

from __future__ import annotations

from opgen.lang.choices import asked, by_choice
from opgen.lang.nodes import Access, Compare, Text
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.walk import nodes
from opgen.lower.scope import BAD, Frame, Typed

_GENERAL = 'a choice of formula is a guard at the end of a statement: `y = … if mode == "a"`'


def compared(f: Frame, e: Compare) -> Typed | None:
    """`mode == "a"` outside of a guard, which is told as one mistake; None for any other comparison."""
    found = asked(e)
    if found is None or found[0] not in f.decl.params or not f.decl.params[found[0]].choices:
        return None
    if f"choice {found[0]}" in f.reported:  # of this statement, all of which is told
        return BAD
    f.reported.update(f"choice {name}" for name, p in f.decl.params.items() if p.choices)
    message = f"`{found[0]}` is a string, which only a guard compares"
    return f.error("OPG231", message, e.span, _cases(f, e) or _GENERAL)


def string(f: Frame, e: Text) -> Typed:
    """A string by itself, or beside what a tensor holds."""
    own = (s.value for s in (*f.decl.forward, *f.decl.backward))
    compared = (c for value in own for c in nodes(value) if isinstance(c, Compare) and e in c.operands)
    read = next((o for c in compared for o in c.operands if isinstance(o, Access)), None)
    if read is None:
        return f.error("OPG231", "a string stands only in a guard", e.span, _GENERAL)
    shown = unparse(read)
    hint = (
        f"compare with the number that stands for {e.value!r}, `{shown} == 0`, or with a param: `params: {{code: int}}`"
    )
    return f.error("OPG231", f"`{read.name}` holds numbers and no strings", e.span, f"{hint} and `{shown} == code`")


def _cases(f: Frame, e: Compare) -> str:
    """The statement at hand as one for each case; empty where a case is no formula."""
    start, end = e.span.start, e.span.end
    own = (s for s in (*f.decl.forward, *f.decl.backward) if s.span.start <= start and end <= s.span.end)
    s = next(own, None)
    made = () if s is None else by_choice(f.decl.words, s)
    return f"write {', '.join(f'`{unparse_assign(m)}`' for m in made)}" if made else ""
