"""The error of a compiled sum does not grow with the number of its terms."""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.code.templates import root
from tests.cuda import emulate
from tests.cuda.harness import needs_compiler
from tests.cuda.printed import printed
from tests.native.cpu import Compiled, compile_plans
from tests.plain import planned
from tests.plan.long_sums import BOUND, LONG

pytestmark = [pytest.mark.thorough, needs_compiler]


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory: pytest.TempPathFactory) -> dict[str, emulate.Emulated]:
    """Every program as kernels for the CPU."""
    plans = [(name, planned(case.program())) for name, case in LONG.items()]
    library, numbers = compile_plans(plans, tmp_path_factory.mktemp("cpu"))
    return {name: Compiled(plan, library, n) for (name, plan), n in zip(plans, numbers, strict=True)}


@pytest.fixture(scope="module")
def on_cuda(tmp_path_factory: pytest.TempPathFactory) -> dict[str, emulate.Emulated]:
    """Every program as emulated kernels for CUDA."""
    folder: Path = tmp_path_factory.mktemp("cuda")
    plans = [(name, planned(case.program())) for name, case in LONG.items()]
    source = folder / "long.cu"
    text, launches = printed("long", plans)
    source.write_text(text)
    library = emulate.compile_emulated(source, [root() / "csrc"], folder / "long.so", ["float32"])
    return {name: emulate.Emulated(library, "long", p, own) for (name, p), own in zip(plans, launches, strict=True)}


@pytest.mark.parametrize("name", LONG)
def test_on_the_cpu(name: str, on_cpu: dict[str, emulate.Emulated]) -> None:
    check(name, on_cpu[name])


@pytest.mark.parametrize("name", LONG)
def test_on_cuda(name: str, on_cuda: dict[str, emulate.Emulated]) -> None:
    check(name, on_cuda[name])


def check(name: str, made: emulate.Emulated) -> None:
    case = LONG[name]
    found = made.run(case.arrays(), dtype="float32")
    for output, want in case.expected().items():
        errors = [abs(a - b) / abs(b) for a, b in zip(found[output].data, want, strict=True)]
        assert max(errors) < BOUND, f"{output}: {max(errors)}"
