"""Every shipped spec: its printed kernels, run through the emulation, equal the interpreter.

The quick tier takes the forward and backward programs, the slow one the second-order and tangent programs as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.emit.cuda_code import cuda_text
from opgen.ir.interp import Array, run
from opgen.ir.lower import lower
from opgen.ir.program import Kind, Program
from opgen.ir.scalar import Batch, Dim, Lit
from opgen.native import emulate
from opgen.opt.derive import Flags, derive
from opgen.plan.build import build
from opgen.spec.load import load
from tests.cuda.harness import CSRC, near, needs_compiler, sample
from tests.spec_files import SPECS

pytestmark = needs_compiler

QUICK = ("forward", "backward")
OTHERS = ("gradient", "tangent", "second", "backward_tangent")
SIZES = ((3, 4, 2, 5), (37, 9, 5, 3))
BATCHES = ((2, 3), (3,), (0,))


def programs(path: Path, kinds: Sequence[str]) -> Iterator[tuple[str, Program]]:
    bag = Bag()
    spec = load(Source(path.name, path.read_text()), bag)
    assert spec is not None, bag.items
    operator = lower(spec, bag)
    assert operator is not None, bag.items
    for number, derived in enumerate(derive(operator, Flags(spec.exact, spec.once_differentiable))):
        for kind in kinds:
            program = getattr(derived, kind)
            if program is not None:
                name = f"{kind}_{number}"
                yield name, replace(program, name=name)


def arguments(p: Program, sizes: Mapping[str, int], batch: tuple[int, ...]) -> dict[str, Array]:
    rng = random.Random(1)
    arrays = {}
    for t in p.inputs:
        shape: list[int] = []
        for s in t.shape:
            if isinstance(s, Batch):
                shape.extend(batch)
            else:
                assert isinstance(s, Lit | Dim)
                shape.append(int(s.value) if isinstance(s, Lit) else sizes[s.name])
        arrays[t.name] = sample(shape, t.kind, rng, min(sizes.values(), default=2))
    return arrays


def compare(path: Path, kinds: Sequence[str], folder: Path) -> None:
    plans = [(name, p, build(p)) for name, p in programs(path, kinds)]
    if not plans:
        return
    source = folder / f"{path.stem}.cu"
    source.write_text(cuda_text(path.stem, [(name, plan) for name, _, plan in plans]))
    library = emulate.compile_emulated(source, [CSRC], folder / f"{path.stem}.so", ["float64"])
    values = {"float": 0.75, "int": 1, "bool": True}
    for name, p, plan in plans:
        emulated = emulate.Emulated(library, path.stem, name, plan)
        params = {a.name: values.get(a.type) for a in p.params}
        for numbers, batch, spread in zip((*SIZES, SIZES[0]), BATCHES, (1, 2, 1), strict=True):
            given = (d.name for d in p.dims if d.value is None)
            arrays = arguments(p, dict(zip(given, numbers, strict=False)), batch)
            expected = run(p, arrays, params)
            got = emulated.run(arrays, params, "float64", spread, spread - 1)
            for output, want in expected.items():
                assert got[output].shape == want.shape
                pairs = zip(got[output].data, want.data, strict=True)
                wrong = [(x, y) for x, y in pairs if not near(float(x), float(y), 1e-9)]
                assert not wrong, f"{name}: {output} for {numbers}, batch {batch}: {wrong[:3]}"


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_forward_and_backward(path: Path, tmp_path: Path) -> None:
    compare(path, QUICK, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_everything_derived(path: Path, tmp_path: Path) -> None:
    compare(path, OTHERS, tmp_path)


def test_kinds_of_arguments_are_sampled() -> None:
    assert {type(sample((1,), k, random.Random(0)).data[0]) for k in Kind} == {float, int, bool}
