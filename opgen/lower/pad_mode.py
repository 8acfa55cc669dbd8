"""What is read outside of a tensor by the word of another library, `pad(x[i - 1], "edge")`, as a position within it."""

from __future__ import annotations

from opgen.lang.nodes import Access, Call, Dots, Expr, Name, Text
from opgen.lang.unparse import respelled
from opgen.lower.along import sizes_at
from opgen.lower.declare import Declarations

_WORDS = {
    **dict.fromkeys(("edge", "replicate", "nearest"), "edge"),
    **dict.fromkeys(("wrap", "circular", "periodic"), "wrap"),
    "reflect": "reflect",
}
_MEANT = {
    "edge": ("what repeats the border is a position that stays within: write", "clamp({at}, 0, {last})"),
    "wrap": ("what begins again is a position round a ring: write", "({at}) % {size}"),
    "reflect": ("what is mirrored is a position that is folded twice: write", "{last} - abs({last} - abs({at}))"),
}


def mode_of(d: Declarations, e: Call) -> Text | None:
    """The word that a `pad` has in place of a number, or behind it; in quotes or, where it names nothing, without."""
    for a in e.args[1:]:
        if isinstance(a, Text):
            return a
        if isinstance(a, Name) and a.name in _WORDS and not d.words.knows(a.name):
            return Text(a.name, a.span)
    return None


def by_position(d: Declarations, of: Expr, mode: Text) -> str:
    """What to write for the access; where the word or a size is not known, how a `pad` is written."""
    if not isinstance(of, Access):
        return "the position of an access says what is repeated: `x[clamp(i - 1, 0, N - 1)]`"
    word = _WORDS.get(mode.value.lower(), "")
    moved = [(k, i) for k, i in enumerate(of.items) if not isinstance(i, Dots | Name)]
    sizes = [sizes_at(d, of, k) for k, _ in moved]
    if not word or not moved or any(len(found) != 1 for found in sizes):
        return f"write `pad({respelled(of)}, 0)`, or what there is outside in place of 0"
    said, form = _MEANT[word]
    places = ((i, _place(form, i, found.pop())) for (_, i), found in zip(moved, sizes, strict=True))
    return f"{said} `{respelled(of, *places)}`"


def _place(form: str, item: Expr, size: str) -> str:
    last = str(int(size) - 1) if size.isdigit() else f"{size} - 1"
    return form.format(at=respelled(item), size=size, last=last)
