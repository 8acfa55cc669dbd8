"""Windows without elements: nothing is reshaped, as torch comes to no end where that is empty and sharded."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from tests.torch.execute import runtime  # noqa: E402


class Reshaped(TorchDispatchMode):
    """Notes what is reshaped."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if "view" in func.__name__ or "reshape" in func.__name__:
            self.found.append(func.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("length", [0, 2])
@pytest.mark.parametrize("sizes", [(0,), (0, 3), (4, 0), (4, 0, 2)])
def test_a_window_without_elements(length: int, sizes: tuple[int, ...]) -> None:
    x = torch.ones(2, length, 3, dtype=torch.float64, requires_grad=True)
    with Reshaped() as seen:
        y = runtime()["window"](x, 1, 0, *((n, 1) for n in sizes))
        (grad,) = torch.autograd.grad(y.sum(), x)
    assert y.shape == (2, sizes[0], 3, *sizes[1:])
    assert torch.equal(grad, torch.zeros_like(x))
    assert not seen.found


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64])
def test_it_has_the_dtype_of_its_elements(dtype: torch.dtype) -> None:
    assert runtime()["window"](torch.ones(0, dtype=dtype), 0, 0, (2, 1), (0, 1)).dtype is dtype
