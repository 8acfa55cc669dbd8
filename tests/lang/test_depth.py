"""What is asked of Python while a spec is walked is given back by the last who needs it, whoever comes and goes."""

from __future__ import annotations

import gc
import sys
from contextlib import AbstractContextManager
from typing import Any

import pytest

from opgen.lang.depth import deep_trees, few_collections

SETTINGS = {
    "room": (deep_trees, sys.getrecursionlimit),
    "collections": (few_collections, lambda: gc.get_threshold()[0]),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_last_one_gives_it_back(name: str) -> None:
    needed, get = SETTINGS[name]
    before = get()
    first: AbstractContextManager[Any] = needed()
    second: AbstractContextManager[Any] = needed()
    first.__enter__()
    raised = get()
    assert raised > before
    second.__enter__()
    first.__exit__(None, None, None)
    assert get() == raised
    second.__exit__(None, None, None)
    assert get() == before


def test_collections_that_are_switched_off_stay_so() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        with few_collections():
            assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
