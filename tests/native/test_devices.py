"""What the generated runtime says and does about devices that have no compiled kernel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from generated._runtime import native


def on(device: str) -> Any:
    return SimpleNamespace(device=SimpleNamespace(type=device))


def test_a_device_without_kernels_is_refused_where_nothing_else_may_run() -> None:
    call = native._only("op", lambda x: x, ("cpu",), lambda args: args[0].device.type)
    assert call(x := on("cpu")) is x
    with pytest.raises(RuntimeError, match="op: no compiled kernel for cuda is loaded"):
        call(on("cuda"))


@pytest.mark.parametrize(
    ("devices", "has_cuda", "expected"),
    [
        (("cpu",), False, "native"),
        (("cpu",), True, "native on cpu"),
        (("cpu", "cuda"), True, "native"),
    ],
)
def test_the_back_end_says_where_it_runs(
    monkeypatch: pytest.MonkeyPatch, devices: tuple[str, ...], has_cuda: bool, expected: str
) -> None:
    monkeypatch.setattr(native, "_devices", lambda op, which: devices)
    monkeypatch.setattr(native, "_has_cuda", lambda: has_cuda)
    assert native._described("op", lambda: None) == expected
    assert native._described("op", None) == "torch"
