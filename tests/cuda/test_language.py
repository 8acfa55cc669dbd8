"""The CUDA kernels of everything the language can say, emulated, compute what the interpreter computes."""

from __future__ import annotations

import pytest

from tests.cuda import emulate
from tests.cuda.harness import CSRC, needs_compiler
from tests.cuda.printed import printed
from tests.native.test_language import check, every_program
from tests.plain import planned
from tests.plan.language import CASES

pytestmark = [pytest.mark.thorough, needs_compiler]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, emulate.Emulated]:
    """The programs of all cases, in one library."""
    plans = {name: planned(p) for name, p in every_program().items()}
    folder = tmp_path_factory.mktemp("emulated")
    source = folder / "language.cu"
    text, launches = printed("language", [*plans.items()])
    source.write_text(text)
    library = emulate.compile_emulated(source, [CSRC], folder / "language.so", ["float64"])
    return {
        name: emulate.Emulated(library, "language", plan, own)
        for (name, plan), own in zip(plans.items(), launches, strict=True)
    }


@pytest.mark.parametrize("name", CASES)
def test_kernels(made: dict[str, emulate.Emulated], name: str) -> None:
    check(made, name)
