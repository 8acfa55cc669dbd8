"""A step that is written into an input, `h = 0.9*h + x[t]`: a recurrence that starts from it."""

from __future__ import annotations

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

T, D = 3, 2


@pytest.mark.parametrize(
    ("x", "h", "step", "shape", "line", "start"),
    [
        ("[T]", "[...]", "h = 0.9*h + x[t]", (4,), "y[..., t] = 0.9 * y[..., t - 1] + x[t]", "y[..., -1] = h[...]"),
        ("[T]", "[]", "h = 0.9*h + x[t]", (), "y[t] = 0.9 * y[t - 1] + x[t]", "y[-1] = h[]"),
        ("[T]", "[D]", "h = 0.9*h + x[t]", (D,), "y[t, d] = 0.9 * y[t - 1, d] + x[t]", "y[-1, d] = h[d]"),
        ("[T]", "[D]", "h[d] = 0.9*h[d] + x[t]", (D,), "y[t, d] = 0.9 * y[t - 1, d] + x[t]", "y[-1, d] = h[d]"),
        ("[T, D]", "[D]", "h = 0.9*h + x[t]", (D,), "y[t, d] = 0.9 * y[t - 1, d] + x[t, d]", "y[-1, d] = h[d]"),
        ("[T, D]", "[D]", "h = 0.9*h + x[t, d]", (D,), "y[t, d] = 0.9 * y[t - 1, d] + x[t, d]", "y[-1, d] = h[d]"),
    ],
)
def test_a_step_goes_on_from_the_input(
    x: str, h: str, step: str, shape: tuple[int, ...], line: str, start: str
) -> None:
    fields = f"inputs: {{x: {{shape: {x}}}, h: {{shape: {h}}}}}"
    (found,) = diagnosed(whole(fields, step))
    assert found.code == "OPG219"
    proposed, first, last = (line for line in said(whole(fields, step)) if "=" in line)
    assert (proposed, first) == (line, start)
    operator = built(whole(f"{fields}\noutputs: [{last.partition(' =')[0].partition('[')[0]}]", first, line, last))
    drawn = torch.Generator().manual_seed(0)
    given = torch.randn((T, D) if "D" in x else (T,), generator=drawn), torch.randn(shape, generator=drawn)
    (made,) = run(
        operator.variants[0].program, dict(zip("xh", (array(v.tolist()) for v in given), strict=True))
    ).values()
    state = given[1]
    for row in given[0]:
        state = 0.9 * state + row
    torch.testing.assert_close(torch.tensor(made.data).reshape(state.shape).float(), state)
