"""A library that cannot be loaded keeps no package from being imported: plain torch runs, and a warning says why."""

from __future__ import annotations

import importlib
import itertools
import json
import logging
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from opgen import build
from opgen.toolchain.compiler import toolchain
from opgen.toolchain.library import compile_op, generation
from tests.compilers import available

_numbers = itertools.count()
FOREIGN = Path(torch._C.__file__ or "")


def nothing(package: Path) -> None:
    pass


def damaged(package: Path) -> None:
    (package / "_native.so").write_bytes(b"this is no library")


def cut_off(package: Path) -> None:
    data = FOREIGN.read_bytes()
    (package / "_native.so").write_bytes(data[: len(data) // 2])


def foreign(package: Path) -> None:
    (package / "_native.so").write_bytes(FOREIGN.read_bytes())


def stale(package: Path) -> None:
    damaged(package)
    (package / "_native.stamp").write_text("another")


def no_manifest(package: Path) -> None:
    damaged(package)
    (package / "_native.stamp").write_text(generation(package.parent, "scale"))
    (package / "manifest.json").unlink()


def strange_manifest(package: Path) -> None:
    no_manifest(package)
    (package / "manifest.json").write_text(json.dumps(["files"]))


def no_text(package: Path) -> None:
    damaged(package)
    (package / "_native.stamp").write_bytes(b"\xff\xfe")


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModuleType]]:
    """A generated package, imported after something was done to it."""
    name = f"loading_{next(_numbers)}"
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(harm: Callable[[Path], None]) -> ModuleType:
        (tmp_path / "scale.yaml").write_text("op: scale\ninputs: [x]\nforward: y = 2*x\n")
        assert not build(tmp_path / "scale.yaml", tmp_path / name).failed
        harm(tmp_path / name / "scale")
        return importlib.import_module(f"{name}.scale")

    yield make
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        del sys.modules[module]


def runs_in_plain_torch(module: ModuleType, caplog: pytest.LogCaptureFixture, *words: str) -> None:
    assert module.scale(torch.ones(2)).tolist() == [2.0, 2.0]
    assert module.scale.backend == "torch"
    (told,) = (r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING)
    package = Path(str(module.__file__)).parent
    assert told.startswith(str(package / "_native.so"))
    assert f"`opgen compile scale --out {package.parent}`" in told
    assert all(word in told for word in words), told


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (damaged, "cannot be loaded here"),
        (cut_off, "is cut off"),
        (foreign, "defines no kernels of this operator for this processor"),
        (stale, "compiled from other sources"),
        (no_manifest, "manifest.json would tell of"),
        (strange_manifest, "manifest.json would tell of"),
        (no_text, "compiled from other sources"),
    ],
)
def test_a_library_that_is_not_ours_is_left_alone(
    imported: Callable[..., ModuleType],
    caplog: pytest.LogCaptureFixture,
    harm: Callable[[Path], None],
    words: str,
) -> None:
    runs_in_plain_torch(imported(harm), caplog, words)


@pytest.mark.parametrize(
    "error",
    [OSError("/lib/libc.so.6: version `GLIBC_2.38' not found"), RuntimeError("undefined symbol: aoti_torch_new")],
)
def test_a_library_that_the_system_refuses_is_left_alone(
    imported: Callable[..., ModuleType],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    def refused(path: str) -> None:
        raise error

    monkeypatch.setattr(torch.ops, "load_library", refused)
    runs_in_plain_torch(imported(foreign), caplog, str(error))


@pytest.mark.thorough
@pytest.mark.skipif(not available(), reason="no C++ compiler")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="processors of one architecture, with and without AVX2")
@pytest.mark.parametrize("has", [False, True])
def test_a_library_for_another_processor_is_left_alone(
    imported: Callable[..., ModuleType], caplog: pytest.LogCaptureFixture, *, has: bool
) -> None:
    def elsewhere(package: Path) -> None:
        header = package.parent / "csrc" / "opgen_step.h"
        text = header.read_text()
        asked = '__builtin_cpu_supports("avx2") &&'
        assert asked in text
        header.write_text(text.replace(asked, "" if has else "false &&"))
        compile_op(package.parent, "scale", replace(toolchain(), sets=("avx2",)))

    if has:
        assert imported(elsewhere).scale.backend == "native"
    else:
        runs_in_plain_torch(imported(elsewhere), caplog, "defines no kernels of this operator for this processor")


def test_no_library_is_nothing_to_talk_about(
    imported: Callable[..., ModuleType], caplog: pytest.LogCaptureFixture
) -> None:
    assert imported(nothing).scale.backend == "torch"
    assert not caplog.records


@pytest.mark.parametrize("has_cuda", [False, True])
def test_the_library_for_cuda_is_loaded_where_there_is_a_device(
    imported: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch, has_cuda: bool
) -> None:
    libraries = importlib.import_module(f"{imported(nothing).__package__}".rpartition(".")[0] + "._runtime.libraries")
    folder = Path(libraries.__file__).parents[1] / "scale"
    names = ["_native.so", "_native_cuda.so"]
    for name in names:
        (folder / name).touch()
    loaded: list[str] = []
    monkeypatch.setattr(torch.ops, "load_library", loaded.append)
    libraries.load("scale", lambda: bool(loaded), lambda: has_cuda)
    assert loaded == [str(folder / name) for name in names[: 1 + has_cuda]]
