"""Int params that messages propose for what nothing else counts, with the line that declares them."""

from __future__ import annotations

from opgen.lower.declare import Declarations


def new_param(d: Declarations, name: str, default: int | None = None) -> tuple[str, str]:
    """A name of its own for an int param that is at least 1, and where it is declared."""
    taken = d.words.knows(name) or name in (*d.targets(), *d.functions)
    own = f"num_{name}" if taken else name
    said = "" if default is None else f", default: {default}"
    line = f"{own}: {{type: int{said}, domain: {own} >= 1}}"
    return own, f"with `{line}` under `params`" if d.params else f"with `params: {{{line}}}`"
