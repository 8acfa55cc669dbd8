"""Conditions that hold wherever the value beside them can be computed: an access that is out of range is an error.

    w[c // S]*(g[c] + where(c // S < G, v[c // S], 0))    with    w[G]

reads `w` at every point, so that the comparison decides nothing. What goes in is a program; in each of its values the
comparisons that such an access implies are gone. One that is filled outside, or stands under a condition itself,
implies nothing. Statements that a user wrote (`keep`) stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from opgen.ir.lazy import always_read, deciding
from opgen.ir.program import Compute, Program, Shape, Statement, definitions
from opgen.ir.scalar import ZERO, Apply, Batch, Scalar, transform, walk


def decide(p: Program, keep: Collection[str] = ()) -> Program:
    """The program without conditions that hold where nothing is read out of range."""
    kept = dict.fromkeys(keep)
    shapes = {t.name: t.shape for t in p.inputs} | {s.target: s.shape for s in definitions(p)}
    return replace(p, statements=tuple(s if s.target in kept else _decided(s, shapes) for s in p.statements))


def _decided(s: Statement, shapes: Mapping[str, Shape]) -> Statement:
    if not isinstance(s, Compute) or not any(isinstance(e, Apply) and e.fn == "where" for e in walk(s.body)):
        return s
    hold = frozenset(_implied(s.body, shapes))
    return replace(s, body=transform(s.body, deciding(lambda e: e in hold)))


def _implied(e: Scalar, shapes: Mapping[str, Shape]) -> Iterator[Scalar]:
    """Comparisons that hold where the accesses of a value do not fail."""
    for r in always_read(e):
        for at, size in zip(r.at, shapes[r.tensor], strict=True):
            if r.fill is None and not isinstance(at, Batch) and not isinstance(size, Batch):
                yield Apply("ge", (at, ZERO))
                yield Apply("lt", (at, size))
