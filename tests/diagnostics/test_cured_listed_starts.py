"""Recurrences that start from a list: one statement that chooses by the place."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole

FIELDS = "inputs: {x: {shape: [N, 4]}, a: {shape: []}}"


@pytest.mark.parametrize(
    ("line", "meant", "value"),
    [
        ("p[-1, c] = [1, 0, 0, 0]", "p[-1, c < 4] = where(c == 0, 1, 0)", [1.0, 0.0, 0.0, 0.0]),
        ("p[-1, k] = [0, 0, 1, 0]", "p[-1, k < 4] = where(k == 2, 1, 0)", [0.0, 0.0, 1.0, 0.0]),
        ("p[-1] = [2, 0, a, 0]", "p[-1, c < 4] = where(c == 0, 2, where(c == 2, a, 0))", [2.0, 0.0, 3.0, 0.0]),
    ],
)
def test_a_list_is_a_choice(line: str, meant: str, value: list[float]) -> None:
    body = "p[n, c] = p[n - 1, c] * x[n, c] * a"
    assert said(whole(FIELDS, line, body))[-1] == meant
    program = built(whole(FIELDS, meant, body)).variants[0].program
    made = run(program, {"x": array([[1.0] * 4]), "a": array(3.0)}, {})["p"]
    assert list(made.data) == [3.0 * v for v in value]


def test_a_start_at_0_is_an_element_or_stands_before_it() -> None:
    lines = ("p[0, c] = [1, 0, 0, 0]", "p[n, c] = p[n - 1, c] * x[n, c] * a")
    whole_, before = said(whole(FIELDS, *lines))
    assert whole_ == "p[n, c] = where(n == 0, where(c == 0, 1, 0), p[n - 1, c] * x[n, c] * a)"
    assert before == "p[-1, c < 4] = where(c == 0, 1, 0)"
    built(whole(FIELDS, before, lines[1]))
    program = built(whole(FIELDS, whole_)).variants[0].program
    made = run(program, {"x": array([[2.0] * 4] * 2), "a": array(3.0)}, {})["p"]
    assert list(made.data) == [1.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0]


def test_a_start_has_no_extent_that_goes_on_otherwise() -> None:
    fields, body = "inputs: {a: {shape: [C, C]}, x: {shape: [T]}}", "p[t, c] = sum[d](p[t - 1, d]*a[d, c])*x[t]"
    (line,) = said(whole(fields, "p[-1, c] = [1, 0, 0]", body))
    assert line == "p[-1, c] = where(c == 0, 1, 0)"
    built(whole(fields, line, body))


@pytest.mark.parametrize(
    ("starts", "meant"),
    [
        (["p[-1, 0] = 1"], "p[-1, c] = where(c == 0, 1, 0)"),
        (["p[-1, 0] = 1", "p[-1, 1] = 0"], "p[-1, c] = where(c == 0, 1, 0)"),
        (["p[-1, 2] = a", "p[-1, 1] = 2"], "p[-1, c] = where(c == 2, a, where(c == 1, 2, 0))"),
        (["p[-1, k] = a", "p[-1, 0] = 1"], "p[-1, c] = where(c == 0, 1, a)"),
        (["p[0, 0] = 1"], "p[-1, c] = where(c == 0, 1, 0)"),
    ],
)
def test_a_start_has_all_components(starts: list[str], meant: str) -> None:
    body = "p[n, c] = p[n - 1, c]*x[n, c] + a"
    assert meant in said(whole(FIELDS, *starts, body))
    built(whole(FIELDS, meant, body))


def test_elements_that_are_given_one_by_one_are_one_choice() -> None:
    first, *_ = said(whole(FIELDS, "p[0, 0] = 1", "p[0, 1] = a", "p[n, c] = p[n - 1, c]*x[n, c]"))
    assert first == "p[n, c] = where(n == 0, where(c == 0, 1, where(c == 1, a, 0)), p[n - 1, c] * x[n, c])"
    made = run(built(whole(FIELDS, first)).variants[0].program, {"x": array([[2.0] * 4] * 2), "a": array(3.0)}, {})["p"]
    assert list(made.data) == [1.0, 3.0, 0.0, 0.0, 2.0, 6.0, 0.0, 0.0]


def test_rows_without_a_recurrence_stay_components() -> None:
    assert said(whole(FIELDS, "r[0, c] = [a, 2*a]"))[0] == "r[0, 0] = a"


@pytest.mark.parametrize("call", ["torch.tensor([1, 0, 0, 0])", "np.array([1, 0, 0, 0])"])
def test_a_list_in_a_call_is_a_list(call: str) -> None:
    body = "p[n, c] = p[n - 1, c]*x[n, c] + a"
    assert said(whole(FIELDS, f"p[-1] = {call}", body))[-1] == "p[-1, c < 4] = where(c == 0, 1, 0)"
    assert said(whole(FIELDS, f"q = {call}"))[-4:] == ["q[0] = 1", "q[1] = 0", "q[2] = 0", "q[3] = 0"]
