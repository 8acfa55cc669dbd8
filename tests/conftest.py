"""Fixtures that several test folders share."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # a machine with other work on it is no mistake

# what tests compile is kept between runs, out of the way of what people compile
os.environ.setdefault("OPGEN_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".opgen_cache" / "tests"))
_numbers = itertools.count()


@pytest.fixture
def build_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Build the spec in a string into a folder of its own and import the generated package."""
    from opgen import build

    folder = tmp_path / f"built_{next(_numbers)}"
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(text: str) -> ModuleType:
        name = text.partition("op:")[2].split(maxsplit=1)[0]
        spec = tmp_path / f"{name}.yaml"
        spec.write_text(text)
        result = build(spec, folder)
        assert not result.failed, result.diagnostics
        return importlib.import_module(f"{folder.name}.{name}")

    yield make
    for loaded in [m for m in sys.modules if m.split(".")[0] == folder.name]:
        del sys.modules[loaded]
