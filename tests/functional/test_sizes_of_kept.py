"""What stands for a tensor of which backward needs no more than the size."""

from __future__ import annotations

import pytest
import torch

from generated._runtime.registration import sized


def test_the_cotangent_where_nothing_records() -> None:
    like = torch.ones(2, 3)
    with torch.no_grad():
        assert sized(like, (2, 3), torch.float32) is like


@pytest.mark.parametrize(("shape", "dtype"), [((3, 2), torch.float32), ((2, 3), torch.float64), ((0,), torch.float32)])
def test_another_size_or_dtype_takes_one_element_of_memory(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    with torch.no_grad():
        made = sized(torch.ones(2, 3), shape, dtype)
    assert (tuple(made.shape), made.dtype, made.untyped_storage().nbytes()) == (shape, dtype, made.element_size())


def test_what_is_recorded_is_not_taken_for_another_tensor() -> None:
    like = torch.ones(2, 3, requires_grad=True)
    assert sized(like, (2, 3), torch.float32) is not like
