"""The bodies of the fake kernels of an operator.

In goes a `Surface`; out come lines of Python that give empty results: shapes and dtypes without values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.code.layout import tupled
from opgen.ir.program import Kind, Output, Program, Tensor
from opgen.ir.scalar import BATCH
from opgen.package.shapes import Sizes, carriers, empty_line
from opgen.package.view import Surface
from opgen.package.view_checks import backward_lines, branched, needed
from opgen.torch.functions import is_upcast
from opgen.torch.program import DTYPES


def _float_input(inputs: Sequence[Tensor], optional: Sequence[str]) -> str:
    always = [t.name for t in inputs if t.kind is Kind.FLOAT and t.name not in optional]
    return always[0] if always else ""


def fake_body(s: Surface) -> tuple[str, ...]:
    """`return` of empty results, one branch for each shape that variants give them."""
    upcast = is_upcast(s.programs("forward"), s.operator)
    branches = [_fake_branch(s, p, upcast=upcast) for _, p in s.programs("forward")]
    return tuple(branched(s, branches, returns=True))


def _fake_branch(s: Surface, p: Program, *, upcast: bool) -> tuple[str, ...]:
    sizes = Sizes(p)
    carried = carriers(p)
    like = _float_input(p.inputs, s.operator.optional) or next((t.name for t in p.inputs), "")
    found = {o.name: o for o in p.outputs}
    texts = []
    for name in (*s.output_names, *s.residuals):
        o = found.get(name)
        if o is None:
            texts.append("None")
            continue
        residual = name in s.residuals
        batch = carried[o.value] if residual else sizes.whole()
        texts.append(empty_line(sizes, o, like, _dtype(o, p, like, upcast=upcast and residual), batch))
    return (*sizes.lines, *_return(texts))


def _dtype(o: Output, p: Program, like: str, *, upcast: bool) -> str:
    if o.dtype:
        return DTYPES[o.dtype]
    match o.kind:
        case Kind.INT:
            return "torch.int64"
        case Kind.BOOL:
            return "torch.bool"
        case Kind.FLOAT:
            kind = next((t.kind for t in p.inputs if t.name == like), None)
            if kind is not Kind.FLOAT:
                return "torch.get_default_dtype()"
            return f"compute_dtype({like})" if upcast else ""
        case Kind.COMPLEX:
            raise AssertionError(f"{o.name}: programs are real")


def _return(texts: Sequence[str]) -> list[str]:
    one = f"return {', '.join(texts)}"
    if len(one) <= 100 or len(texts) == 1:
        return [one]
    return ["return (", *(f"    {t}," for t in texts), ")"]


def backward_fake_body(s: Surface, saved: Sequence[str]) -> tuple[str, ...]:
    """An empty gradient for each input that needs one; variants may find the sizes in different ways."""
    arguments = [f"grad_{n}" for n in s.active] + [*saved]
    branches = _joined([_Gradients.of(s, d.backward, saved) for d in s.derived])
    texts = [
        next((t for t in column if t is not None), "None") for column in zip(*(b.texts for b in branches), strict=True)
    ]
    if all(own in (None, t) for b in branches for own, t in zip(b.texts, texts, strict=True)):
        sizes = backward_lines(s, arguments, [b.sizes for b in branches], returns=False)
        return (*sizes, *_return(texts))
    lines = [(*b.sizes, *_return([str(t) for t in b.texts])) for b in branches]
    return tuple(backward_lines(s, arguments, lines, returns=True))


@dataclass(frozen=True, slots=True)
class _Gradients:
    """The gradients of a variant: lines that find sizes, and a text for each input; None where it has no gradient."""

    sizes: tuple[str, ...]
    texts: tuple[str | None, ...]
    there: frozenset[str]  # the tensors that the variant has

    @staticmethod
    def of(s: Surface, p: Program | None, saved: Sequence[str]) -> _Gradients:
        first = f"grad_{s.active[0]}"
        found = {} if p is None else {o.of: o for o in p.outputs}
        lines: dict[str, None] = {}
        texts: list[str | None] = []
        for name in s.wrt:
            text = None
            if name in saved:
                text = f"{name}.new_empty({name}.shape)"
            elif p is not None and name in found:
                o, sizes = found[name], Sizes(p)
                batch = (first,) if BATCH in o.shape else ()
                text = empty_line(sizes, replace(o, like=None), first, _stated_dtype(s, saved), batch)
                lines |= dict.fromkeys(sizes.lines)
            texts.append(text and (f"{text} if {needed(s, name)} else None" if len(s.wrt) > 1 else text))
        always = {n for n in s.inputs if n in saved and n not in s.operator.optional}
        there = always | {f"grad_{n}" for n in s.active} | (set() if p is None else {t.name for t in p.inputs})
        return _Gradients(tuple(lines), tuple(texts), frozenset(there))

    def serves(self, other: _Gradients) -> bool:
        """Are these the gradients of another variant as well, found from what that one has?"""
        pairs = zip(self.texts, other.texts, strict=True)
        read = {name for line in self.sizes for name in re.findall(r"(\w+)\.shape", line)}
        return read <= other.there and all(b is None or a == b for a, b in pairs)


def _stated_dtype(s: Surface, saved: Sequence[str]) -> str:
    """The dtype of gradients, where that of cotangents is another."""
    floats = [t.name for t in s.operator.inputs if t.kind is Kind.FLOAT and t.name in saved]
    always = [n for n in floats if n not in s.operator.optional]
    free = [f"grad_{o.name}" for o in s.outputs if o.name in s.active and not o.dtype]  # cotangents of that dtype
    if not any(o.dtype for o in s.outputs):
        return ""
    if always or free:
        return f"{(always or free)[0]}.dtype"
    given = f"next(t for t in {tupled(floats)} if t is not None).dtype"
    return given if floats else "torch.get_default_dtype()"


def _joined(branches: Sequence[_Gradients]) -> list[_Gradients]:
    """The branches, as few as possible: what is never asked for may be any."""
    return [next(b for b in branches if b.serves(own)) for own in branches]
