"""How a tensor is read, spelt with the letters and indices at hand: what messages propose in place of an access."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opgen.diagnostics.model import Span
from opgen.ir import text
from opgen.ir.program import Shape
from opgen.ir.scalar import Batch
from opgen.lang.nodes import Access, Dots, Name
from opgen.lang.unparse import unparse
from opgen.lang.vocabulary import letters, other_letters
from opgen.lower.scope import Frame, IndexInfo, Known


def shape_text(shape: Shape) -> str:
    return text.shape(shape)


def spelled(f: Frame, name: str, shape: Shape) -> str:
    """How a tensor of this shape is read: `x[..., k]`."""
    return f"{name}[{', '.join(letters_of(f, shape))}]"


def letters_of(f: Frame, shape: Shape) -> tuple[str, ...]:
    instead = other_letters(f.decl.known_dims(), (*f.state.tensors, *f.state.later, *f.decl.params))
    return letters([text.position(size) for size in shape], instead)


def filled(f: Frame, e: Access, known: Known) -> str:
    """The access with what it lacks behind what it has, where it lacks anything and has something computed."""
    assert known.shape is not None
    own = [i for i in e.items if not isinstance(i, Dots) and not (isinstance(i, Name) and i.name == "None")]
    needed = letters_of(f, known.shape)
    names = [i.name for i in own if isinstance(i, Name)]
    if len(names) == len(own):
        return f"{e.name}[{', '.join(_placed(f, names, needed))}]"
    spare = [i for i in needed if i != "..."][len(own) :]
    fits = len(own) == sum(i != "..." for i in needed)
    if not spare and not fits:
        return spelled(f, e.name, known.shape)
    written = iter([*(unparse(i) for i in own), *spare])
    return f"{e.name}[{', '.join(i if i == '...' else next(written) for i in needed)}]"


def _placed(f: Frame, names: Sequence[str], needed: Sequence[str]) -> list[str]:
    """The indices that are written, each at its letter or in order, and those in reach for what is lacking."""
    places = [k for k, i in enumerate(needed) if i != "..."]
    found = {k: needed[k] for k in places if needed[k] in names}
    left = [n for n in names if n not in found.values() and f.scope is not None and f.scope.find(n) is not None]
    reach = [i.name for i in f.scope.visible() if not isinstance(i, Batch)] if f.scope is not None else []
    free = [i for i in reach if i not in names and i not in found.values()]
    for k in places:
        if k in found:
            continue
        if left:
            found[k] = left.pop(0)
        elif needed[k] in free or not free:
            found[k] = needed[k]
        else:
            found[k] = free.pop(0)
    return [found.get(k, i) for k, i in enumerate(needed)]


def idle(f: Frame, span: Span) -> list[str]:
    """The indices in reach that an access does not read, and nothing before it."""
    read = re.findall(r"\w+", span.text)
    reach = [] if f.scope is None else f.scope.visible()
    return [i.name for i in reach if isinstance(i, IndexInfo) and i.name not in read and not i.sites and not i.stated]
