"""Rewriting whole statements and programs: the same change to every scalar, or the same renaming everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import assert_never

from opgen.ir.program import Compute, Recurrence, Scatter, Statement
from opgen.ir.scalar import Batch, Cast, Read, Scalar, transform


def map_scalars(s: Statement, f: Callable[[Scalar], Scalar]) -> Statement:
    """The statement with `f` applied to its body, base and positions (extents are left alone)."""
    match s:
        case Compute():
            body = f(s.body)
            return s if body is s.body else replace(s, body=body)
        case Scatter():
            at = tuple(p if isinstance(p, Batch) else f(p) for p in s.at)
            return replace(s, body=f(s.body), base=f(s.base), at=at)
        case Recurrence():
            return replace(s, steps=tuple(replace(step, body=f(step.body)) for step in s.steps))
        case _:
            assert_never(s)


def retarget(s: Statement, mapping: Mapping[str, str]) -> Statement:
    """The statement reading other tensors."""

    def swap(e: Scalar) -> Scalar:
        match e:
            case Read(tensor) if tensor in mapping:
                return replace(e, tensor=mapping[tensor])
            case Cast(_, like) if like in mapping:
                return replace(e, like=mapping[like])
            case _:
                return e

    return map_scalars(s, lambda e: transform(e, swap)) if mapping else s


def renamed(s: Statement, mapping: Mapping[str, str]) -> Statement:
    """The statement reading and defining other tensors."""
    s = retarget(s, mapping)
    if isinstance(s, Recurrence):
        return replace(s, steps=tuple(replace(c, target=mapping.get(c.target, c.target)) for c in s.steps))
    return replace(s, target=mapping.get(s.target, s.target))
