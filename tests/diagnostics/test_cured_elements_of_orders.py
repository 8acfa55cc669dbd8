"""Elements of an order that begins at the greatest: its statement and what reads it have the other sign."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {x: {shape: [..., V]}}\nparams: {k: {type: int, domain: 0 < k <= V}}"


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("sort[v](x[..., v], descending=true)[k - 1]", 2.0),
        ("sort[v](x[..., v], descending=true)[..., k - 1]", 2.0),
        ("1 - sort[v](x[..., v], descending=true)[k - 1]", -1.0),
        ("2 * sort[v](x[..., v], descending=true)[k - 1]", 4.0),
        ("sort(x, descending=True)[k - 1]", 2.0),
        ("argsort[v](x[..., v], descending=true)[k - 1]", 1),
    ],
)
def test_an_element_has_its_own_sign(call: str, value: float) -> None:
    text = whole(FIELDS, f"f[...] = {call}")
    assert len(diagnosed(text)) == 1
    named, read = [line for line in said(text) if " = " in line]
    assert "(-x[..., v])" in named
    program = built(whole(FIELDS, named, read)).variants[0].program
    assert list(run(program, {"x": array([1.0, 2.0, 4.0])}, {"k": 2})["f"].data) == [value]


def test_what_torch_gives_second_is_an_order_without_a_sign() -> None:
    lines = said(whole("inputs: {x: {shape: [N, V]}}", "i[n, v] = torch.sort(x, -1, descending=True)[1]"))
    assert lines[-1] == "i[n, v] = argsort[v](-x[n, v])"
