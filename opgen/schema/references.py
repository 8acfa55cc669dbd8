"""Names in a spec that stand for others: whether there is what they name, and whether each is used once."""

from __future__ import annotations

import re
from collections.abc import Iterable

from opgen.diagnostics.model import Bag, Hint, Label, Span
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.schema.formula import Formula, Word
from opgen.schema.model import OpSpec


def no_repeats(names: Iterable[tuple[str, Span]], bag: Bag, *, outputs: bool = False) -> None:
    first: dict[str, Span] = {}
    for name, span in names:
        if name in first:
            related = (Label(first[name], "first used here"),)
            message, hints = (
                f"the name `{name}` is used twice",
                (f"give one of the two another name: `{name}_out`, say",),
            )
            bag.error("OPG115", message, span, label="again here", related=related, hints=hints)
        first.setdefault(name, span)


def is_updated(spec: OpSpec, name: str) -> bool:
    """Whether a statement seems to assign an input that is an output as well, which is told there."""
    text = spec.forward.text if isinstance(spec.forward, Formula) else ""
    own = any(t.name == name for t in spec.inputs)
    line = rf"^[ \t]*{re.escape(name)}[ \t]*(?:\[[^=\n]*\])?[ \t]*(?:[+*/%-]|\*\*|//|max|min)?=(?!=)"
    return own and re.search(line, text, re.MULTILINE) is not None


def sizes_of(spec: OpSpec) -> tuple[str, ...]:
    """Dims that come from input shapes, in order."""
    items = [item.text for tensor in spec.inputs for item in tensor.shape or ()]
    return tuple(dict.fromkeys(text for text in items if text[:1].isupper()))


def refers_to_dim(spec: OpSpec, name: str, bag: Bag, otherwise: str = "") -> bool:
    """Whether a name is a dim of an input, which is reported if not; a name in small letters may be one all the same.

    `otherwise`: the hint where it is none.
    """
    known, span = sizes_of(spec), name.span if isinstance(name, Word) else None
    same = next((dim for dim in known if dim.lower() == name.lower()), "")
    if name in known or not same or otherwise:
        return refers(name, known, "dim of an input", bag, otherwise)
    message, label = f"`{name}` is not the name of a dim (a capital first)", "not the name of a dim"
    bag.error("OPG113", message, span, label=label, hints=(Hint(f"write `{same}`", name, same),))
    return False


def refers(name: str, known: tuple[str, ...], what: str, bag: Bag, otherwise: str = "") -> bool:
    """Whether a name is known, which is reported if not. `otherwise`: the hint where no known name is near."""
    if name in known:
        return True
    span = name.span if isinstance(name, Word) else None
    article = "an" if what[0] in "aeiou" else "a"
    notes = (f"known here: {listed(dict.fromkeys(known), 'and')}",) if known else ()
    label = f"not {article} {what}"
    short = [n for n in known if len(n) < 3 and name.startswith(n)]  # `w` for `weight`
    meant = (f"did you mean `{short[0]}`?",) if len(short) == 1 else ()
    hints = did_you_mean(name, known) or meant or ((otherwise,) if otherwise else ())
    bag.error("OPG116", f"`{name}` is not {article} {what}", span, label=label, notes=notes, hints=hints)
    return False
