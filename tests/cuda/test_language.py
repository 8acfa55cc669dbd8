"""The CUDA kernels of everything the language can say, emulated, compute what the interpreter computes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opgen.diff.adjoint import adjoint
from tests.cuda.harness import Emulation, needs_compiler
from tests.native.test_language import arguments, compare
from tests.plan.language import CASES

pytestmark = [pytest.mark.thorough, needs_compiler]


@pytest.mark.parametrize("name", CASES)
def test_kernels(emulation: Callable[..., Emulation], name: str) -> None:
    case = CASES[name]
    p = case.program()
    made = emulation(name, p)
    if case.raises:
        with pytest.raises(IndexError):
            made.emulated.run(arguments(p, case, {}), case.params)
        return
    results = compare(made.emulated, p, case, {}, 1)
    compare(made.emulated, p, case, {}, 2)
    if case.gradient:
        backward = adjoint(p)
        compare(emulation(f"{name}_backward", backward).emulated, backward, case, results, 1)
