"""Indices that are written below, as in LaTeX, `sum_k(w_k*x_k)` is `sum[k](w[k]*x[k])`, and letters of components.

A name with `_` in it that nobody declares is read so, where what stands before is known to have as many indices. The
other way round, a target is made of the names of its indices.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from opgen.diagnostics.model import Span
from opgen.lang.lexer import T, Token
from opgen.lang.nodes import Access, Binder, Dots, Expr, Name, Number, Reduction, Target
from opgen.lang.vocabulary import Vocabulary
from opgen.lang.walk import nodes

# What components are called elsewhere, and those of a box, which has four.
_COMPONENTS = ((*"xyzw",), (*"rgba",), (*"uv",))
_CORNERS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))


def bound_by(tokens: Sequence[Token], reductions: Container[str]) -> frozenset[str]:
    """Names that stand alone in the brackets of a target or a reduction: these are indices, whatever they look like."""
    found: set[str] = set()
    opened: list[bool] = []  # whether what stands in each of the brackets around is bound there
    for k, (head, token, after) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        if token.is_op("(", "[", "{"):
            begins = k == 0 or tokens[k - 1].kind is T.NEWLINE
            opened.append(token.is_op("[") and head.kind is T.NAME and (begins or head.text in reductions))
        elif token.is_op(")", "]", "}"):
            del opened[-1:]
        elif token.kind is T.NAME and any(opened[-1:]) and head.is_op("[", ",") and after.is_op("]", ",", "<"):
            found.add(token.text)
    return frozenset(found)


def element(words: Vocabulary, name: str, at: Span, tokens: Sequence[Token]) -> Access | None:
    """`x_k`, `w_ij` or `x_0` as an element of a tensor; None where it is none, as where one of `tokens` binds it."""
    tensor, _, below = name.rpartition("_")
    shape = words.shapes.get(tensor, ())
    if not below or words.knows(name) or not words.knows(tensor):
        return None
    indices = (below,) if below.isdigit() else tuple(below)
    if not indices or len(indices) != sum(size != "..." for size in shape):
        return None
    left = iter(Number(int(i), at) if i.isdigit() else Name(i, at) for i in indices)
    if name in bound_by(tokens, words.reductions):
        return None
    return Access(tensor, tuple(Dots(at) if size == "..." else next(left) for size in shape), at, at)


def component(words: Vocabulary, of: Expr, word: str, at: Span) -> Access | None:
    """`p.x` or `p[n].x`, `c.g`, of what has a few components in its last axis; None where it is none."""
    shape = words.shapes.get(of.name, ()) if isinstance(of, Name | Access) else ()
    called = (*_COMPONENTS, *_CORNERS) if shape[-1:] == ("4",) else _COMPONENTS
    place = next((parts.index(word) for parts in called if word in parts), None)
    if place is None or not isinstance(of, Name | Access) or not shape or shape[-1] not in ("2", "3", "4"):
        return None
    letters = words.letters.get(of.name, ())[:-1]
    items = of.items if isinstance(of, Access) else tuple(Dots(at) if i == "..." else Name(i, at) for i in letters)
    if len(items) != len(shape) - 1 or place >= int(shape[-1]):
        return None
    return Access(of.name, (*items, Number(place, at)), at, of.span)


def reduced(words: Vocabulary, name: str, args: tuple[Expr, ...], at: Span, span: Span) -> Reduction | None:
    """`sum_k(…)` as a reduction over the indices below, which its body reads; None where it is none."""
    reduction, _, below = name.partition("_")
    if (
        reduction not in words.reductions
        or not below
        or len(args) != 1
        or name in (*words.functions, *words.reductions)
    ):
        return None
    read = {n.name for n in nodes(args[0]) if isinstance(n, Name)}
    bound = (below,) if below in read else tuple(below.replace("_", ""))
    if not read.issuperset(bound):
        return None
    return Reduction(reduction, tuple(Binder(i, None, at) for i in bound), args[0], span, at)


def target_of(name: str, items: Sequence[str], span: Span) -> Target:
    """A target with indices of these names; a bare one where it has the batch alone, or nothing."""
    made = tuple(Dots(span) if i == "..." else Binder(i, None, span) for i in items)
    return Target(name, made if made and items != ("...",) else None, span, span)
