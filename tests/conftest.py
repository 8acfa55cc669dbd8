"""Fixtures that several test folders share."""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # a machine with other work on it is no mistake

# what tests compile is kept between runs, out of the way of what people compile
os.environ.setdefault("OPGEN_CACHE_DIR", str(Path(__file__).resolve().parents[1] / ".opgen_cache" / "tests"))
gc.set_threshold(100_000, 20, 20)  # derivations make many objects and few cycles
# there is a worker of pytest for each core: threads of torch beside it would only wait for one another
os.environ.setdefault("OMP_NUM_THREADS", "1")
_numbers = itertools.count()


@pytest.fixture(scope="session")
def built_operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operators]:
    """Where the operators of tests are built one after another, so that what they share is made once."""
    with _importable(tmp_path_factory.mktemp("operators")) as folder:
        yield Operators(folder)


@pytest.fixture
def build_operator(built_operators: Operators, tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Build the spec in a string and import the generated package, which is gone after the test."""
    names: list[str] = []
    yield lambda text: built_operators.build(text, tmp_path, names)
    for name in names:
        built_operators.forget(name)


@pytest.fixture
def build_alone(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """As `build_operator`, into a folder of the test's own: its runtime has seen no other operators."""
    with _importable(tmp_path) as folder:
        operators = Operators(folder)
        yield lambda text: operators.build(text, tmp_path, [])
    for loaded in [m for m in sys.modules if m.split(".")[0] == folder.name]:
        del sys.modules[loaded]


@contextmanager
def _importable(parent: Path) -> Iterator[Path]:
    """A folder for operators that is imported by a name of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(parent))
        yield parent / f"built_{next(_numbers)}"


@dataclass(frozen=True)
class Operators:
    """Generated packages in a folder that can be imported."""

    folder: Path

    def build(self, text: str, specs: Path, names: list[str]) -> ModuleType:
        """Build a spec that is written to `specs`; the operator's name is added to `names`."""
        from opgen import build

        name = text.partition("op:")[2].split(maxsplit=1)[0]
        spec = specs / f"{name}.yaml"
        spec.write_text(text)
        result = build(spec, self.folder)
        assert not result.failed, result.diagnostics
        names.append(name)
        importlib.invalidate_caches()
        with pytest.MonkeyPatch.context() as patch:  # another operator of this name may be as long and as old
            patch.setattr(sys, "dont_write_bytecode", True)
            return importlib.import_module(f"{self.folder.name}.{name}")

    def forget(self, name: str) -> None:
        """Remove an operator, and what was imported of it."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        whole = f"{self.folder.name}.{name}"
        for loaded in [m for m in sys.modules if m == whole or m.startswith(f"{whole}.")]:
            del sys.modules[loaded]
