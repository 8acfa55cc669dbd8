"""Plain torch where there is nothing to read: an IndexError that names the operator and the operand."""

from __future__ import annotations

import pytest
import torch

import opgen

NOTHING = {
    "a part of a dim": (
        "{x: {shape: [D]}, z: {shape: [G]}}", "y[d] = x[d]*z[d//2]",
        (torch.ones(4), torch.ones(0)), "z",
    ),
    "a rest": (
        "{ids: {shape: [N], dtype: int}, table: {shape: [T]}}", "y[n] = table[ids[n]%T]",
        (torch.tensor([3, 4]), torch.ones(0)), "table",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTHING)
def test_it_is_said_what_is_empty(name: str) -> None:
    inputs, formula, given, named = NOTHING[name]
    op = opgen.load(f"op: made\ninputs: {inputs}\nforward: '{formula}'", compiled=False)
    with pytest.raises(IndexError, match="made: ") as raised:
        op(*given)
    assert named in str(raised.value)
