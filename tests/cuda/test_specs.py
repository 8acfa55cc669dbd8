"""Every shipped spec: its printed kernels, run through the emulation, equal the interpreter.

The quick tier takes the forward and backward programs, the slow one the second-order and tangent programs as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from opgen.code.cuda_code import cuda_text
from opgen.diagnostics.model import Bag, Source
from opgen.ir.interp import Array, run
from opgen.ir.program import Kind, Program, Shape
from opgen.ir.scalar import Batch, Dim, Lit, Param
from opgen.lower.operator import lower
from opgen.opt.derive import Flags, derive
from opgen.package.sample_arrays import InputSample
from opgen.package.sample_cases import sample_cases
from opgen.package.samples import SampleCase, default_value
from opgen.plan.build import build
from opgen.schema.load import load
from tests.cuda import emulate
from tests.cuda.harness import CSRC, near, needs_compiler, sample
from tests.spec_files import SPECS

pytestmark = [pytest.mark.thorough, needs_compiler]

QUICK = ("forward", "backward")
OTHERS = ("gradient", "tangent", "second", "backward_tangent")
SIZES = (37, 9, 5, 3)  # beyond a block
CONSTRAINED = ("rope",)  # dims that do not go with any size of the others
BATCHES = ((2, 3), (3,), (0,))


def programs(path: Path, kinds: Sequence[str]) -> Iterator[tuple[str, Program, SampleCase]]:
    bag = Bag()
    spec = load(Source(path.name, path.read_text()), bag)
    assert spec is not None, bag.items
    operator = lower(spec, bag)
    assert operator is not None, bag.items
    every = derive(operator, Flags(spec.exact, spec.once_differentiable))
    cases = {c.variant.conditions: c for c in reversed(sample_cases(spec, operator, every))}
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
        shape = _sizes(t.shape, sizes, batch)
        high, limits = (2, None) if given is None else (max(1, int(given.high)), _range(given))
        arrays[t.name] = sample(shape, t.kind, rng, high, limits)
    shapes = {n: a.shape for n, a in (*arrays.items(), *run(primal, arrays, params).items())}
    for t in p.inputs:
        of = t.of if t.of in shapes else t.of.removeprefix("grad_")
        shape = list(shapes[of]) if of in shapes else _sizes(t.shape, sizes, batch)
        arrays.setdefault(t.name, sample(shape, t.kind, rng, 2))
    return {t.name: arrays[t.name] for t in p.inputs}


def _range(given: InputSample) -> tuple[float, float] | None:
    return None if (given.low, given.high) == (-2.0, 2.0) else (given.low, given.high)


def _sizes(shape: Shape, sizes: Mapping[str, int], batch: tuple[int, ...]) -> list[int]:
    found: list[int] = []
    for s in shape:
        if isinstance(s, Batch):
            found.extend(batch)
        else:
            assert isinstance(s, Lit | Dim | Param)
            found.append(int(s.value) if isinstance(s, Lit) else sizes[s.name])
    return found


def compare(path: Path, kinds: Sequence[str], folder: Path) -> None:
    plans = [(name, p, build(p), case) for name, p, case in programs(path, kinds)]
    if not plans:
        return
    source = folder / f"{path.stem}.cu"
    source.write_text(cuda_text(path.stem, [(name, plan) for name, _, plan, _ in plans]))
    library = emulate.compile_emulated(source, [CSRC], folder / f"{path.stem}.so", ["float64"])
    for name, p, plan, case in plans:
        emulated = emulate.Emulated(library, path.stem, name, plan)
        stated = dict(case.params)
        params = {a.name: stated.get(a.name, default_value(a)) for a in case.variant.program.params}
        large = {n: size for (n, _), size in zip(case.sizes, SIZES, strict=False)}
        free = path.stem not in CONSTRAINED and not any(d.value is not None for d in p.dims)
        sizes_of = (dict(case.sizes), large if free else dict(case.sizes), dict(case.sizes))
        for sizes, batch, spread in zip(sizes_of, BATCHES, (1, 2, 1), strict=True):
            known = {n: value for n, value in params.items() if isinstance(value, int)} | sizes
            arrays = arguments(p, case.variant.program, dict(case.inputs), params, known, batch)
            expected = run(p, arrays, params)
            got = emulated.run(arrays, params, "float64", spread, spread - 1)
            for output, want in expected.items():
                assert got[output].shape == want.shape
                pairs = zip(got[output].data, want.data, strict=True)
                wrong = [(x, y) for x, y in pairs if not near(float(x), float(y), 1e-9)]
                assert not wrong, f"{name}: {output} for {sizes}, batch {batch}: {wrong[:3]}"


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_forward_and_backward(path: Path, tmp_path: Path) -> None:
    compare(path, QUICK, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_everything_derived(path: Path, tmp_path: Path) -> None:
    compare(path, OTHERS, tmp_path)


def test_kinds_of_arguments_are_sampled() -> None:
    assert {type(sample((1,), k, random.Random(0)).data[0]) for k in Kind if k is not Kind.COMPLEX} == {
        float,
        int,
        bool,
    }
