"""A shape that is no list of dims: text such as `batch n 3` or `Tensor[B, N]`, a mapping, a list in a list.

In goes the node of a shape, out come its items, or the list that is meant, by which the rest of the spec is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from pydantic_core import PydanticCustomError

from opgen.diagnostics.model import Hint
from opgen.schema.flow import as_group
from opgen.schema.leaves import camel, dim, expected
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence, typed

_WHAT = "a list of dims"
_LIKE = re.compile(r"(\w+)\.(?:shape|size\(\))|(?:same|like)(?:[ _]as)?(?:[ _](\w+))?", re.IGNORECASE)
_SCALAR = ("scalar", "()", "none", "null")
_ANY = re.compile(r"(?:any|arbitrary|all)(?: (?:shape|size|dims?|number of dims))?|\*", re.IGNORECASE)
_RANK = re.compile(r"(\d)[- ]?[dD]")
_TYPED = re.compile(r"[A-Za-z_][\w.]*\s*(?=[\[(].*[\])]$)")  # `torch.Size([…])`, `Float[…]`
_CLOSED = {"(": ")", "[": "]", "{": "}", "<": ">"}
_GROUP = r"\([^()]*\)"
_STEM = r"(?:[A-Z]|[a-z](?![a-z])|\d+)"
_TIMES = re.compile(rf"{_STEM}(?:x{_STEM})+")  # `BxNx3`
_CUTS = (r"[,;]", r"\s*\u00d7\s*|\s+(?:x|by)\s+|-by-", r"x", r"\s+")
_STATED = re.compile(r"\w+\s*[=:]\s*(\d+)")  # a dim with its size
_FREE = ("none", "?", "-1", ":", "_", "nan")  # sizes that may be any
_FORMULA = re.compile(r"\w+(?:\s*(?:[-+*]|//|\*\*)\s*\w+)+")  # no item, as is told where it is read
_LETTERS = "NMKPQRSUVW"
_EXAMPLE = f"{_WHAT} holds names and numbers: `[N, 3]`, with `...` for any number of batch dims"


def items(node: object) -> list[Node]:
    """The items of a shape."""
    match node:
        case Scalar():
            raise _of_text(node)
        case Mapping(entries=entries):
            dims = tuple(key for key, _ in entries if re.fullmatch(r"[A-Za-z]\w*|\d+", key.text))
            if not dims or len(dims) < len(entries):
                raise expected(_WHAT, node)
            sizes = [f"{dim(k.text)}: {v.text}" for k, v in entries if isinstance(v, Scalar) and v.text.isdecimal()]
            beside = f"; sizes for tests stand there: `tests: {{sizes: {{{', '.join(sizes)}}}}}`" if sizes else ""
            raise _meant(node, map(_dim, dims), beside, "" if sizes else "a list has square brackets: ")
        case Sequence(items=(Sequence(items=inner) as group,)) if inner and _stands_alone(group):
            raise _meant(node, (_dim(i) for i in inner if isinstance(i, Scalar)))
        case Sequence(items=(Scalar() as alone,)) if alone.text[:1] != "(" and len(found := _read(alone)) > 1:
            raise _meant(node, found)
        case Sequence():
            return [as_group(item) for item in node.items]
        case _:
            raise expected(_WHAT, node)


def _stands_alone(group: Sequence) -> bool:
    """Whether a list of dims is nowhere an axis among others, as the group of an einops pattern is."""
    text, own = group.span.source.text, group.span.text
    return all(isinstance(i, Scalar) for i in group.items) and text.count(own) == text.count(f"[{own}]")


def _dim(node: Scalar) -> Scalar:
    return replace(node, text=dim(node.text), value=typed(dim(node.text)))


def _of_text(node: Scalar) -> PydanticCustomError:
    if (of := _LIKE.fullmatch(node.text)) is not None:
        hint = f"dims of one name are equal: write what `{of[1] or of[2] or 'x'}` has, such as `[N, D]`"
        return expected(_WHAT, node, hint)
    if not node.text:
        return expected(_WHAT, node)
    if node.text.lower() in _SCALAR:
        return expected(_WHAT, node, "a scalar has no dims: write `[]`", meant=Sequence((), node.span))
    found = _read(node)
    return _meant(node, found, ", without quotes" if node.style else "") if found else expected(_WHAT, node, _EXAMPLE)


def _meant(node: Node, found: Iterable[Scalar], beside: str = "", before: str = "") -> PydanticCustomError:
    """The error that proposes a list; `beside` and `before`: what else is said."""
    dims = tuple(found)
    right = f"[{', '.join(item.text for item in dims)}]"
    hint = Hint(f"{before}write `{right}`{beside}", node.span.text, right, node.span)
    return expected(_WHAT, node, hint, meant=Sequence(dims, node.span, node.key))


def _read(node: Scalar) -> tuple[Scalar, ...]:
    """The items of a shape that is written as text; none where a part of it may be anything."""
    text = node.text.strip()
    if _ANY.fullmatch(text):
        text = "..."
    if (rank := _RANK.fullmatch(text)) is not None:
        text = ",".join(_LETTERS[: int(rank[1])])
    inner = _unwrapped(_TYPED.sub("", text, count=1))
    inner = re.sub(r"(?<=\w)\s*([-+*/]+)\s*(?=\w)", r"\1", inner)
    parts = [*_parts(inner)] if re.search(r"\b(?:or|and)\b", text) is None else []
    free = (c for c in _LETTERS if c not in parts)
    words = [next(free) if part.lower() in _FREE else _item(part) for part in parts]
    if not words or "" in words or words.count("...") > 1:
        return ()
    at, made = 0, []
    for part, word in zip(parts, words, strict=True):
        at = max(node.text.find(part, at), 0)
        span = node.span
        if node.text in span.text and part in node.text:
            start = span.start + span.text.find(node.text) + at
            span = replace(span, start=start, end=start + len(part))
        made.append(replace(node, text=word, value=typed(word), span=span, style=""))
        at += len(part)
    return tuple(made)


def _unwrapped(text: str) -> str:
    """What stands within brackets around all of it."""
    text = text.strip()
    closing = _CLOSED.get(text[:1])
    inside = text[1:-1]
    whole = closing is not None and text[-1:] == closing and closing not in inside.partition(text[:1])[0]
    return _unwrapped(inside) if whole else text


def _parts(text: str) -> Iterator[str]:
    """The parts of a text between the first kind of sign that separates any."""
    bare = re.sub(_GROUP, lambda m: "g" * len(m[0]), text)  # as long, and with nothing to cut
    cut = next((c for c in _CUTS if re.search(c, bare.strip()) and (c != "x" or _TIMES.fullmatch(bare))), None)
    ends = [m.span() for m in re.finditer(cut, bare)] if cut is not None else []
    for (_, start), (end, _) in zip([(0, 0), *ends], [*ends, (len(text), len(text))], strict=True):
        if text[start:end].strip():
            yield text[start:end].strip()


def _item(part: str) -> str:
    """A dim, a size or the batch dims; empty for what may be anything."""
    if part in ("...", "*", "\u2026"):
        return "..."
    if (stated := _STATED.fullmatch(part)) is not None:
        return stated[1]
    if re.fullmatch(r"\d+", part) or _FORMULA.fullmatch(part):
        return part
    if re.fullmatch(_GROUP, part):  # one axis, whatever it is made of
        part = camel(part[1:-1])
    return dim(part) if re.fullmatch(r"[A-Za-z]\w*", part) else ""
