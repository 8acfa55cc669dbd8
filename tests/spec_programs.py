"""Every program that is derived from a spec, and arrays to run it on."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opgen.diagnostics.model import Bag, Source
from opgen.ir.interp import Array, run
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Program, Shape
from opgen.ir.scalar import Batch, Dim, Lit, Param, Scalar, substitute
from opgen.lower.operator import lower
from opgen.opt.derive import derive
from opgen.package.sample_arrays import InputSample
from opgen.package.sample_cases import sample_cases
from opgen.package.samples import SampleCase
from opgen.schema.load import load
from tests.cuda.harness import sample


def programs(path: Path, kinds: Sequence[str]) -> Iterator[tuple[str, Program, SampleCase]]:
    bag = Bag()
    spec = load(Source(path.name, path.read_text()), bag)
    assert spec is not None, bag.items
    operator = lower(spec, bag)
    assert operator is not None, bag.items
    every = derive(operator)
    cases = {c.variant.conditions: c for c in reversed(sample_cases(operator, every))}
    for number, derived in enumerate(every):
        for kind in kinds:
            program = getattr(derived, kind)
            if program is not None:
                name = f"{kind}_{number}"
                yield name, replace(program, name=name), cases[derived.variant.conditions]


def arguments(
    p: Program, primal: Program, samples: Mapping[str, InputSample | None], params: Mapping[str, object],
    sizes: Mapping[str, int], batch: tuple[int, ...],
) -> dict[str, Array]:  # fmt: skip
    """Arrays for a program: what comes from outside is as in the samples, the rest has the shape of what it is of."""
    rng = random.Random(1)
    arrays: dict[str, Array] = {}
    for t in primal.inputs:
        given = samples.get(t.name)  # None: a part of a complex input
        shape = shape_of(t.shape, sizes, batch)
        high, limits = (2, None) if given is None else (max(1, int(given.high)), _range(given))
        arrays[t.name] = sample(shape, t.kind, rng, high, limits)
    shapes = {n: a.shape for n, a in (*arrays.items(), *run(primal, arrays, params).items())}
    for t in p.inputs:
        of = t.of if t.of in shapes else t.of.removeprefix("grad_")
        shape = list(shapes[of]) if of in shapes else shape_of(t.shape, sizes, batch)
        arrays.setdefault(t.name, sample(shape, t.kind, rng, 2))
    return {t.name: arrays[t.name] for t in p.inputs}


def _range(given: InputSample) -> tuple[float, float] | None:
    return None if (given.low, given.high) == (-2.0, 2.0) else (given.low, given.high)


def shape_of(shape: Shape, sizes: Mapping[str, int], batch: tuple[int, ...]) -> list[int]:
    found: list[int] = []
    for s in shape:
        if isinstance(s, Batch):
            found.extend(batch)
        else:
            known: dict[Scalar, Scalar] = {kind(n): Lit(size) for n, size in sizes.items() for kind in (Dim, Param)}
            size = polynomial(substitute(s, known)).constant
            assert size is not None
            found.append(size)
    return found
