"""How the CUDA tests print a program, compile it for the emulation and compare it with the interpreter."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from math import inf, isnan, prod
from pathlib import Path

import pytest

from opgen.code.templates import root
from opgen.ir.interp import Array, run
from opgen.ir.program import Kind, Program
from tests.cuda import emulate
from tests.cuda.printed import printed
from tests.plain import planned

CSRC = root() / "csrc"
TOLERANCE = {"float64": 1e-11, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}

needs_compiler = pytest.mark.skipif(emulate.compiler() is None, reason="no C++ compiler is installed")


def near(a: float, b: float, tolerance: float) -> bool:
    if isnan(a) or isnan(b):
        return isnan(a) and isnan(b)
    return a == b if inf in (abs(a), abs(b)) else abs(a - b) <= tolerance * (1 + abs(b))


def sample(
    shape: Sequence[int], kind: Kind, rng: random.Random, below: int = 3, span: tuple[float, float] | None = None
) -> Array:
    draw: dict[Kind, Callable[[], float]] = {
        Kind.FLOAT: lambda: rng.gauss(0, 1) if span is None else rng.uniform(*span),
        Kind.INT: lambda: rng.randrange(below),
        Kind.BOOL: lambda: rng.random() < 0.5,
    }
    return Array(tuple(shape), [draw[kind]() for _ in range(prod(shape))])


class Emulation:
    """One program, printed, compiled for some dtypes, and compared with the interpreter call by call."""

    def __init__(self, name: str, program: Program, folder: Path, dtypes: Sequence[str]) -> None:
        self.program = program
        self.plan = planned(program)
        source = folder / f"{name}.cu"
        text, (launches,) = printed(name, [("run", self.plan)])
        source.write_text(text)
        library = emulate.compile_emulated(source, [CSRC], folder / f"{name}.so", dtypes)
        self.emulated = emulate.Emulated(library, name, self.plan, launches)

    def check(
        self,
        shapes: Mapping[str, Sequence[int]],
        dtype: str = "float64",
        params: Mapping[str, object] | None = None,
        spread: int = 1,
        margin: int = 0,
    ) -> None:
        rng = random.Random(1)
        arrays = {}
        for t in self.program.inputs:
            held = {Kind.FLOAT: dtype, Kind.INT: "int64", Kind.BOOL: "bool"}[t.kind]
            arrays[t.name] = emulate.rounded(held, sample(shapes[t.name], t.kind, rng))
        expected = run(self.program, arrays, params)
        got = self.emulated.run(arrays, params, dtype, spread, margin)
        assert got.keys() == expected.keys()
        for name, want in expected.items():
            assert got[name].shape == want.shape, name
            wrong = [
                (i, x, y)
                for i, (x, y) in enumerate(zip(got[name].data, want.data, strict=True))
                if not near(float(x), float(y), TOLERANCE[dtype])
            ]
            assert not wrong, f"{name}: {wrong[:5]}"
