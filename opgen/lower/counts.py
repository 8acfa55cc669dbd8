"""Int params that messages propose for what nothing else counts, and for sizes that stand under `inputs`."""

from __future__ import annotations

from opgen.lang.nodes import Access
from opgen.lang.walk import nodes
from opgen.lower.declare import Declarations


def new_param(d: Declarations, name: str, default: int | None = None) -> tuple[str, str]:
    """A name of its own for an int param that is at least 1, and where it is declared."""
    taken = d.words.knows(name) or name in (*d.targets(), *d.functions)
    own = f"num_{name}" if taken else name
    said = "" if default is None else f", default: {default}"
    line = f"{own}: {{type: int{said}, domain: {own} >= 1}}"
    return own, f"with `{line}` under `params`" if d.params else f"with `params: {{{line}}}`"


def as_param(d: Declarations, name: str) -> tuple[str, ...]:
    """What to write where an input that is one number is meant to be a size: it is a param then."""
    t = d.inputs.get(name)
    if t is None or t.shape or t.optional or t.dtype == "seed" or t.kind not in ("int", "float"):
        return ()
    if any(isinstance(n, Access) and n.name == name for s in (*d.forward, *d.backward) for n in nodes(s.value)):
        return ()
    domain = "" if t.domain is None else f", domain: {t.domain.text.strip()}"
    own = f"params: {{{name}: {{type: int{domain}}}}}"
    return (f"a number that callers choose is a param: move it from `inputs`, `{own}`",)
