"""The sharding rules of an operator, as `ops.py` states them.

In goes a `Surface`; out come fields of the definition: the dims of every tensor, and a row of text for each dim that
slices may be along. `K: bias -> output` reads: slices of all that have the dim K, `bias` as a part of a sum, all else
whole, and `output` comes out as a part of a sum; a result behind `!` cannot be had. Variants share rows if they can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.code.layout import WIDTH, quoted, strings, tupled
from opgen.ir.program import Chosen, Condition, Given, Program, Shape
from opgen.ir.scalar import Batch, Dim
from opgen.opt.sharding import BATCH_DIM, Held, shardings
from opgen.package.view import Surface
from opgen.package.view_checks import counted_dims

_INDENT = 8
_NO_DIM = "_"  # an axis of a fixed or computed size
_NONE = "-"  # an intermediate that some variants do not have

Row = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]  # arguments in parts, results in parts, results lost


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a program by dim, and the tensors that it knows."""

    tensors: frozenset[str] = frozenset()
    of: Mapping[str, Row] | None = None

    def covers(self, other: _Rows) -> bool:
        """Are these the same rows, but for tensors that the other program does not have?"""
        own, others = self.of or {}, other.of or {}
        return own.keys() == others.keys() and all(
            tuple(n for n in a if n in other.tensors) == b
            for dim, row in own.items()
            for a, b in zip(row, others[dim], strict=True)
        )


@dataclass(frozen=True, slots=True)
class _Case:
    """The rows of some variants, and what these have in common."""

    conditions: tuple[Condition, ...]
    layouts: Mapping[str, str]
    forward: _Rows
    backward: _Rows

    def covers(self, other: _Case) -> bool:
        """Does what is said here hold for the other variants as well?"""
        return (
            self.layouts == other.layouts
            and self.forward.covers(other.forward)
            and self.backward.covers(other.backward)
        )


def sharding_fields(s: Surface) -> tuple[str, ...]:
    """`sharding=…`, unless every tensor has to be whole."""
    cases = [
        _Case(
            d.variant.conditions,
            {t.name: _layout(t.shape) for t in s.operator.inputs}
            | {o.name: _layout(o.shape) for o in d.forward.outputs},
            _rows(d.forward, counted_dims(s, d.forward), whole=True),
            _rows(d.backward) if d.backward else _Rows(),
        )
        for d in s.derived
    ]
    for c in cases[0].conditions:
        cases = _without(cases, c.name)
    tensors = (*s.inputs, *s.output_names, *s.residuals)
    cases = [c for c in cases if c.forward.of or c.backward.of or len(c.layouts) < len(tensors)]
    if not cases:
        return ()
    texts = [line for c in cases for line in _printed(c, tensors)]
    return ("\n".join(["sharding=(", *texts, " " * _INDENT + ")"]),)


def _layout(shape: Shape) -> str:
    return " ".join(map(_dim, shape))


def _dim(extent: object) -> str:
    match extent:
        case Batch():
            return BATCH_DIM
        case Dim(name):
            return name
        case _:
            return _NO_DIM


def _rows(p: Program, counted: Sequence[str] = (), *, whole: bool = False) -> _Rows:
    """The rows of a program, but for dims that checks count with, and perhaps for those that lose a result."""
    found: dict[str, Row] = {}
    for sharding in shardings(p):
        arguments, results = (
            list(zip(p.inputs, sharding.arguments, strict=True)),
            list(zip(p.outputs, sharding.results, strict=True)),
        )
        lost = tuple(o.name for o, held in results if held is Held.NOTHING)
        if sharding.dim not in counted and not (lost and whole):
            parts = tuple(t.name for t, held in arguments if held is Held.PART)
            found[sharding.dim] = parts, tuple(o.name for o, held in results if held is Held.PART), lost
    return _Rows(frozenset((*(t.name for t in p.inputs), *(o.name for o in p.outputs))), found)


def _without(cases: Sequence[_Case], switch: str) -> list[_Case]:
    """The cases without a condition that makes no difference."""
    groups: dict[tuple[Condition, ...], _Case] = {}
    for case in cases:  # what is present comes before what is absent
        others = tuple(c for c in case.conditions if c.name != switch)
        first = groups.setdefault(others, replace(case, conditions=others))
        if not first.covers(case):
            return list(cases)
    return list(groups.values())


def _printed(case: _Case, tensors: Sequence[str]) -> list[str]:
    given = [c.name for c in case.conditions if isinstance(c, Given) and c.present]
    absent = [c.name for c in case.conditions if isinstance(c, Given) and not c.present]
    chosen = [f"({quoted(c.name)}, {_literal(c.value)})" for c in case.conditions if isinstance(c, Chosen)]
    indent = _INDENT + 8
    lines = [f"given={strings(given)}"] if given else []
    lines += [f"absent={strings(absent)}"] if absent else []
    lines += [f"chosen={tupled(chosen)}"] if chosen else []
    lines += _listed("layouts", [case.layouts.get(n, _NONE) for n in tensors], indent)
    for field, rows in (("forward", case.forward), ("backward", case.backward)):
        lines += _listed(field, [_row(dim, row) for dim, row in (rows.of or {}).items()], indent)
    outer = " " * (_INDENT + 4)
    return [f"{outer}Sharding(", *(f"{' ' * indent}{line}," for line in lines), f"{outer}),"]


def _row(dim: str, row: Row) -> str:
    parts, results, lost = row
    made = [*results, *(f"!{n}" for n in lost)]
    text = " ".join([f"{dim}:", *parts, *(["->", *made] if made else [])])
    return text.removesuffix(":")


def _literal(value: str | bool) -> str:
    return str(value) if isinstance(value, bool) else quoted(value)


def _listed(field: str, texts: Sequence[str], indent: int) -> list[str]:
    if not texts:
        return []
    one = f"{field}={strings(texts)}"
    if indent + len(one) + 1 <= WIDTH:
        return [one]
    return ["\n".join([f"{field}=(", *(f"{' ' * (indent + 4)}{quoted(t)}," for t in texts), f"{' ' * indent})"])]
