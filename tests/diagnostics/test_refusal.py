"""What is proposed where a compiler refuses an operator: by what it printed, and by what the spec names."""

from __future__ import annotations

import pytest

from opgen.diagnostics.model import Source, Span
from opgen.toolchain.library import CompileError
from opgen.toolchain.refusal import refusal

SPEC = """op: waves
functions:
  own(x): x*x
  flat(x): {extern: {cpp: "::j0"}}
  deep(x):
    value: x
    extern:
      cpp: ::j0
forward: y = own(x)
"""


def said(command: str, output: str, head: str = "") -> str:
    error = CompileError(f"{command}\n{output}")
    if head:
        start = SPEC.index(head)
        error.place = Span(Source("waves.yaml", SPEC), start, start + len(head))
    return " ".join(refusal("waves", error).hints)


@pytest.mark.parametrize("head", ["flat(x)", "deep(x)"])
def test_a_function_of_another_library_is_named_in_the_spec(head: str) -> None:
    assert "`extern` names the function" in said("g++ -c waves.cpp", "error: what is this?", head)


@pytest.mark.parametrize("head", ["own(x)", "y = own(x)"])
def test_a_formula_is_no_function_of_another_library(head: str) -> None:
    assert "CXX=" in said("g++ -c waves.cpp", "error: what is this?", head)


@pytest.mark.parametrize(
    ("command", "output", "hint"),
    [
        ("g++ -c", "a.cpp:1:10: fatal error: boost/math.hpp: No such file or directory", "what `boost/math.hpp`"),
        ("clang++ -c", "a.cpp:1:10: fatal error: 'omp.h' file not found", "what `omp.h` belongs to"),
        ("g++ -c", "g++: fatal error: Killed signal terminated program cc1plus", "opgen compile -j 1"),
        ("/cuda/bin/nvcc -c", "error: what is this?", "CUDA_HOME="),
        ("c++ -c", "error: what is this?", "report it"),
    ],
)
def test_what_is_missing_is_told(command: str, output: str, hint: str) -> None:
    assert hint in said(command, output)
