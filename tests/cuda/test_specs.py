"""Every shipped spec: its printed kernels, run through the emulation, equal the interpreter.

The quick tier takes the forward and backward programs, the slow one the second-order and tangent programs as well.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from opgen.ir.interp import run
from opgen.ir.program import Kind
from opgen.package.samples import default_value
from tests.cuda import emulate
from tests.cuda.harness import CSRC, near, needs_compiler, sample
from tests.cuda.printed import printed
from tests.plain import planned
from tests.spec_files import SPECS
from tests.spec_programs import arguments, programs

pytestmark = [pytest.mark.thorough, needs_compiler]

QUICK = ("forward", "backward")
OTHERS = ("gradient", "tangent", "second", "backward_tangent")
SIZES = (37, 9, 5, 3)  # beyond a block
NEAR = {"float64": 1e-9, "float32": 2e-5}
BATCHES = ((2, 3), (3,), (0,), ())


def compare(
    path: Path, kinds: Sequence[str], folder: Path, dtype: str = "float64", large_sizes: Sequence[int] = SIZES
) -> None:
    plans = [(name, p, planned(p), case) for name, p, case in programs(path, kinds)]
    if not plans:
        return
    source = folder / f"{path.stem}.cu"
    text, launches = printed(path.stem, [(name, plan) for name, _, plan, _ in plans])
    source.write_text(text)
    library = emulate.compile_emulated(source, [CSRC], folder / f"{path.stem}.so", [dtype])
    for (name, p, plan, case), own in zip(plans, launches, strict=True):
        emulated = emulate.Emulated(library, path.stem, plan, own)
        stated = dict(case.params)
        params = {a.name: stated.get(a.name, default_value(a)) for a in case.variant.program.params}
        floats = {t.name for t in p.inputs if t.kind is Kind.FLOAT}
        large = {n: size for (n, _), size in zip(case.sizes, large_sizes, strict=False)}
        free = not any(d.value is not None for d in p.dims)
        known_sizes, large = dict(case.sizes), large if free else dict(case.sizes)
        sizes_of = (known_sizes, large, known_sizes, large)
        for sizes, batch, spread in zip(sizes_of, BATCHES, (1, 2 if dtype == "float64" else 1, 1, 1), strict=True):
            known = {n: value for n, value in params.items() if isinstance(value, int)} | sizes
            arrays = arguments(p, case.variant.program, dict(case.inputs), params, known, batch)
            arrays = {n: emulate.rounded(dtype, a) if n in floats else a for n, a in arrays.items()}
            expected = run(p, arrays, params)
            got = emulated.run(arrays, params, dtype, spread, spread - 1)
            for output, want in expected.items():
                assert got[output].shape == want.shape
                pairs = zip(got[output].data, want.data, strict=True)
                wrong = [(x, y) for x, y in pairs if not near(float(x), float(y), NEAR[dtype])]
                assert not wrong, f"{name}: {output} for {sizes}, batch {batch}: {wrong[:3]}"


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_forward_and_backward(path: Path, tmp_path: Path) -> None:
    compare(path, QUICK, tmp_path)


HELD = ("softmax", "log_softmax", "rms_norm", "layer_norm", "rms_norm_residual", "logsumexp", "cosine_similarity")


@pytest.mark.parametrize("path", [p for p in SPECS if p.stem in HELD], ids=lambda p: p.stem)
def test_rows_held_in_registers(path: Path, tmp_path: Path) -> None:
    compare(path, QUICK, tmp_path, "float32", (136, 72, 8))


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
