"""Running means and variances, as messages say them."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole


@pytest.mark.parametrize(
    ("name", "body", "meant"),
    [
        ("cummean", "x[n, t]", [1.0, 2.0, 4.0]),
        ("cum_mean", "x[n, t] - 1", [0.0, 1.0, 3.0]),
        ("cumvar", "x[n, t]", [0.0, 1.0, 26 / 3]),
        ("cumvar", "2*x[n, t]", [0.0, 4.0, 104 / 3]),
        ("cumstd", "x[n, t]", [0.0, 1.0, (26 / 3) ** 0.5]),
    ],
)
def test_what_runs_along_an_axis_is_made_of_running_sums(name: str, body: str, meant: list[float]) -> None:
    fields = "inputs: {x: {shape: [N, T]}}"
    (value,) = (s for s in said(whole(fields, f"y[n, t] = {name}[t]({body})")) if "cumsum" in s)
    program = built(whole(fields, f"y[n, t] = {value}")).variants[0].program
    assert list(run(program, {"x": array([[1.0, 3.0, 8.0]])}, {})["y"].data) == pytest.approx(meant)


def test_without_an_axis_the_form_is_said() -> None:
    assert "cumsum[t](x[t])/(t + 1)" in said(whole("inputs: {x: {shape: [N, T]}}", "y = cummean(x)"))
