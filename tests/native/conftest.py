"""Compiled operators for the tests: built once, compiled once per state of the sources, shared by all workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.compilers import available

ROOT = Path(__file__).resolve().parents[2]

needs_compiler = pytest.mark.skipif(not available(), reason="no C++ compiler")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], object]:
    """The raw kernels of a shipped spec: `compiled("softmax").forward(...)`."""
    import torch

    from opgen import build
    from opgen.toolchain.library import compile_op

    folder = tmp_path_factory.mktemp("native") / "out"
    loaded: dict[str, object] = {}

    class Kernels:
        def __init__(self, op: str) -> None:
            if not hasattr(torch.ops.opgen_native, f"{op}_forward"):  # else the package of it has loaded one
                self._load(op)
            self.forward = getattr(torch.ops.opgen_native, f"{op}_forward")
            self.backward = getattr(torch.ops.opgen_native, f"{op}_backward", None)

        def _load(self, op: str) -> None:
            result = build(ROOT / "specs" / f"{op}.yaml", folder, namespace="opgen")  # that of `generated`
            assert not result.failed
            torch.ops.load_library(str(compile_op(folder, op)))

    def get(op: str) -> object:
        if op not in loaded:
            loaded[op] = Kernels(op)
        return loaded[op]

    return get


@pytest.fixture
def short_ops(compiled: Callable[[str], object]) -> Iterator[None]:
    """Compiled kernels of the operators whose short way is tested."""
    from generated import int8_linear, linear, max_with_index, rms_norm, silu
    from generated._runtime import native, use_backend

    for function in (silu, linear, rms_norm, max_with_index, int8_linear):
        op = function.__name__
        if native.kernel(op, "forward") is None:  # else a library lies beside the package
            compiled(op)
            native._devices.cache_clear()
    with use_backend("native"):
        yield


@pytest.fixture
def short(short_ops: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The short calls of `silu` and of `int8_linear` that came through, in order."""
    from generated._runtime import native

    made: list[str] = []
    for name, which in product(("silu", "int8_linear"), ("forward", "backward")):
        op = native._ops[name, which]
        way = op.routes["native"]
        kernel = way.quick
        assert kernel is not None

        def recorded(*args: Any, kernel: Any = kernel, which: str = which) -> Any:
            result = kernel(*args)
            made.append(which)
            return result

        monkeypatch.setitem(op.routes, "native", replace(way, quick=recorded))
    return made
