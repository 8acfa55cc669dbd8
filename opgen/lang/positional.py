"""Arguments by name, `act(x, beta=2)`, of functions that are the spec's own: the same call in the order of these."""

from __future__ import annotations

from opgen.diagnostics.model import Span
from opgen.lang.beside import Arguments
from opgen.lang.idioms import Idioms
from opgen.lang.nodes import Call, Expr


def in_order(idioms: Idioms, name: str, at: Span, arguments: Arguments) -> Expr | None:
    """The call without names, which is told; None where none has a name, or the function is another one."""
    order = idioms.words.signatures.get(name)
    if order is None or arguments.at is None:
        return None
    named = {key: value for key, value in arguments.named.items() if not isinstance(value, tuple)}
    values = {**dict(zip(order, arguments.given, strict=False)), **named}
    whole = len(arguments.given) + len(arguments.named) == len(order) and {*values} == {*order}
    hints = () if whole else (f"it is declared as `{name}({', '.join(order)})`",)
    idioms.note(arguments.at, "arguments are positional", *hints)
    idioms.unclear |= not whole
    return Call(name, tuple(values[key] for key in order) if whole else arguments.given, at.to(arguments.end), at)
