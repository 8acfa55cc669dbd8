"""What the generated runtime says and does about devices that have no compiled kernel."""

from __future__ import annotations

from types import MethodType, SimpleNamespace
from typing import Any

import pytest
import torch

from generated._runtime import native
from generated._runtime.dispatch import Op


def on(device: str, excess: int = 0) -> Any:
    return SimpleNamespace(device=SimpleNamespace(type=device), excess=excess)


def test_a_device_without_kernels_is_refused_where_nothing_else_may_run() -> None:
    call = native._only("op", lambda x: x, ("cpu",), device_of)
    assert call(x := on("cpu")) is x
    with pytest.raises(RuntimeError, match="op: no compiled kernel for cuda is loaded"):
        call(on("cuda"))


def made(
    monkeypatch: pytest.MonkeyPatch,
    kernels: dict[str, tuple[str, ...]],
    left: tuple[str, ...] = (),
    sized: bool = False,
    on_gpu: tuple[str, ...] = (),
) -> None:
    """An operator `op` with kernels of each direction on these devices, of which those `left` are slower on a CPU.

    `sized`: the operator tells how much slower they are.
    """
    excess = {f"{which}_excess": counted if sized else None for which in ("forward", "backward")}
    slow = {"faster_in_torch": dict.fromkeys(left, ""), "faster_in_torch_on_gpu": on_gpu}
    definition = SimpleNamespace(elsewhere=False, kinds="f", **slow, **excess)
    for which in ("forward", "backward"):
        op = SimpleNamespace(definition=definition, which=which, is_copy=False, unordered=False, device=device_of)
        op.arguments = ("x",)
        op.may_be_unordered = MethodType(Op.may_be_unordered, op)
        op.left_to_torch = MethodType(Op.left_to_torch, op)
        monkeypatch.setitem(native._ops, ("op", which), op)
    monkeypatch.setattr(native, "kernel", lambda op, which: (lambda x: x) if kernels.get(which) else None)
    monkeypatch.setattr(native, "_devices", lambda op, which: kernels[which])
    monkeypatch.setattr(native.private, "refuse_all_but_plain", lambda *_: None)
    monkeypatch.setattr(native.private, "has_default", lambda _: False)


def counted(x: Any) -> int:
    return int(x.excess)


def device_of(args: Any) -> str:
    return str(args[0].device.type)


def choose(monkeypatch: pytest.MonkeyPatch, back_end: str) -> str:
    """What the operator says when this back end is chosen."""
    monkeypatch.setattr(native.choice, "DEFAULT", back_end)
    for which in ("forward", "backward"):
        native._refresh("op", which)
    return native.described("op")


BOTH = ("cpu", "cuda")


@pytest.mark.parametrize(
    ("kernels", "left", "has_cuda", "expected"),
    [
        ({"forward": (), "backward": ()}, (), False, "torch"),
        ({"forward": ("cpu",), "backward": ("cpu",)}, (), False, "native"),
        ({"forward": ("cpu",), "backward": ("cpu",)}, (), True, "native on cpu"),
        ({"forward": BOTH, "backward": BOTH}, (), True, "native"),
        ({"forward": ("cpu",), "backward": ("cpu",)}, ("forward", "backward"), False, "torch"),
        ({"forward": ("cpu",), "backward": ("cpu",)}, ("backward",), False, "forward native, backward torch"),
        ({"forward": BOTH, "backward": BOTH}, ("forward",), True, "forward native on cuda, backward native"),
    ],
)
def test_the_back_end_says_what_runs_where(
    monkeypatch: pytest.MonkeyPatch,
    kernels: dict[str, tuple[str, ...]],
    left: tuple[str, ...],
    has_cuda: bool,
    expected: str,
) -> None:
    made(monkeypatch, kernels, left)
    monkeypatch.setattr(native, "_has_cuda", lambda: has_cuda)
    assert choose(monkeypatch, "auto") == expected
    assert choose(monkeypatch, "torch") == "torch"
    forced = (
        "none" if not kernels["forward"] else "native on cpu" if has_cuda and kernels["forward"] != BOTH else "native"
    )
    assert choose(monkeypatch, "native") == forced


def test_the_short_way_is_for_the_devices_whose_kernels_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    made(monkeypatch, {"forward": BOTH, "backward": BOTH}, ("forward",))
    choose(monkeypatch, "auto")
    forward, backward = (native._ops["op", which] for which in ("forward", "backward"))
    assert (forward.route.devices, backward.route.devices) == (("cuda",), BOTH)
    assert forward.route.quick(on("cuda")) is not None
    with pytest.raises(RuntimeError):  # the full way then runs the formula
        forward.route.quick(on("cpu"))
    assert backward.route.quick(on("cpu")) is not None


def test_the_short_way_is_not_for_sums_in_no_order_where_bits_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made(monkeypatch, {"forward": BOTH, "backward": BOTH})
    backward = native._ops["op", "backward"]
    backward.unordered = True
    choose(monkeypatch, "auto")
    assert backward.route.quick(on("cuda")) is not None
    monkeypatch.setattr(torch, "are_deterministic_algorithms_enabled", lambda: True)
    assert backward.route.quick(on("cpu")) is not None
    with pytest.raises(RuntimeError):
        backward.route.quick(on("cuda"))


@pytest.mark.parametrize(
    ("left", "sized", "expected"),
    [
        ((), False, "native on cpu"),
        (("forward", "backward"), False, "torch"),
        (("forward", "backward"), True, "torch (native when small)"),
    ],
)
def test_what_is_slower_on_a_gpu_is_left_to_torch_there(
    monkeypatch: pytest.MonkeyPatch, left: tuple[str, ...], sized: bool, expected: str
) -> None:
    directions = ("forward", "backward")
    made(monkeypatch, {"forward": BOTH, "backward": BOTH}, left, sized, directions)
    monkeypatch.setattr(native, "_has_cuda", lambda: True)
    assert choose(monkeypatch, "auto") == expected
    assert "cuda" not in native._ops["op", "forward"].route.devices
    assert choose(monkeypatch, "native") == "native"


@pytest.mark.parametrize(
    ("kernels", "has_cuda", "expected"),
    [
        (("cpu",), False, "torch (native when small)"),
        (("cpu",), True, "torch (native when small)"),
        (BOTH, True, "native on cuda (on cpu when small)"),
    ],
)
def test_small_calls_are_for_kernels_wherever_they_are(
    monkeypatch: pytest.MonkeyPatch, kernels: tuple[str, ...], has_cuda: bool, expected: str
) -> None:
    made(monkeypatch, {"forward": kernels, "backward": kernels}, ("forward", "backward"), sized=True)
    monkeypatch.setattr(native, "_has_cuda", lambda: has_cuda)
    assert choose(monkeypatch, "auto") == expected
    op = native._ops["op", "forward"].route
    assert op.devices == kernels
    assert [op.small((on("cpu", n),)) for n in (0, native.GAIN, native.GAIN + 1)] == [True, True, False]
    assert op.small((on("cuda", native.GAIN + 1),))
    for back_end in ("native", "torch"):
        choose(monkeypatch, back_end)
        assert native._ops["op", "forward"].route.small is None
