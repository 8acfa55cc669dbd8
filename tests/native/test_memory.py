"""Memory grows with the rows of what is given, not with their pairs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any

import pytest
import torch

from tests.native.conftest import needs_compiler
from tests.native.memory import SUBJECTS, Memory, Subject, measure

ROWS = (256, 512, 1024)


pytestmark = [pytest.mark.thorough, needs_compiler]

Loaded = tuple[Subject, Any, Callable[[str], AbstractContextManager[None]], Memory]


@pytest.fixture(scope="module", params=SUBJECTS)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    subject = SUBJECTS[request.param]
    operation, use_backend = subject.operation(tmp_path_factory.mktemp("memory"))
    return subject, operation, use_backend, measure(operation, subject.arguments(512))


def test_memory_grows_with_the_rows(loaded: Loaded) -> None:
    subject, operation, use_backend, _ = loaded
    with use_backend("native"):
        compiled = [measure(operation, subject.arguments(n)) for n in ROWS]
    with use_backend("torch"):
        plain = [measure(operation, subject.arguments(n)) for n in ROWS]
    composed = [measure(subject.composed, subject.arguments(n)) for n in ROWS]
    for n, m in zip(ROWS, compiled, strict=True):
        assert m.saved <= 8 * n  # two numbers per row at most
        assert max(m.forward, m.backward) <= 64 * n
    assert [m.saved for m in plain] == [m.saved for m in compiled]
    for a, b in pairwise(composed):
        assert b.saved > 3.5 * a.saved  # the measure does see pairs where they are kept


def test_back_ends_and_composition_agree(loaded: Loaded) -> None:
    subject, operation, use_backend, _ = loaded
    arguments = subject.arguments(200)
    expected = subject.composed(*arguments)
    gradients = torch.autograd.grad(expected.sin().sum(), arguments)
    for backend in ("torch", "native"):
        with use_backend(backend):
            found = operation(*arguments)
            torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)
            for a, b in zip(torch.autograd.grad(found.sin().sum(), arguments), gradients, strict=True):
                torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


def test_what_runs_without_being_asked_for_is_what_the_operator_says(loaded: Loaded) -> None:
    _, operation, _, memory = loaded
    said = operation.backend
    assert said in ("native", "forward native, backward torch (native when small)")
    assert memory.forward <= 64 * 512
    assert (memory.backward <= 64 * 512) == (said == "native")
