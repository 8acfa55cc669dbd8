"""A mistake in a field that nobody can guess the meaning of hides none that has nothing to do with it."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import diagnosed, whole

Z = "  z: {shape: [N, K]}\n"
WRONG = "d[n] = sum[k](z[n, k]*lacking[k])"


def told(text: str) -> list[str]:
    return [f"{d.code} {d.message}" for d in diagnosed(text)]


@pytest.mark.parametrize(
    "fields",
    [
        f"inputs:\n{Z}  x: {{shape: [N, K], dtype: zork}}",
        f"inputs:\n{Z}  x: {{shape: [N, K], optional: 7}}",
        f"inputs:\n{Z}  x: [N, K]",
        f"inputs:\n{Z}  x: 3",
        f"inputs:\n{Z}params:\n  x: {{type: whatever}}",
        f"inputs:\n{Z}params:\n  x: whatever",
        f"inputs:\n{Z}params:\n  x: {{type: int, default: {{a: 1}}}}",
        f"inputs:\n{Z}params:\n  x: {{default: word}}",
        f"inputs:\n{Z}functions:\n  x(u): {{value: [u]}}",
        f"inputs:\n{Z}dims: {{X: [2]}}",
        f"inputs:\n{Z}wobble: 3",
    ],
)
def test_a_mistake_elsewhere_is_told_in_the_same_run(fields: str) -> None:
    first, second = told(whole(fields, WRONG))
    assert "lacking" not in first
    assert second == "OPG205 there is no tensor `lacking`"


@pytest.mark.parametrize(
    "statements",
    [
        ("a[n] = sum[k](x[n, k]*lacking[k])",),
        ("a[n] = x[n, 0]*2", "b[n] = a[n]*lacking[n]"),
        ("a[n] = x[n,", "  0]*lacking[n]"),
        ("a[m] = sum[k](x[m, k])", "b[m] = a[m]"),
        ("a[n] = x[n]",),
    ],
)
@pytest.mark.parametrize(
    "fields",
    [
        f"inputs:\n{Z}  x: {{shape: [N, K], dtype: zork}}",
        f"inputs:\n{Z}  x: 3",
        f"inputs:\n{Z}params:\n  x: {{type: whatever}}",
    ],
)
def test_what_reads_it_is_not_spoken_of(fields: str, statements: tuple[str, ...]) -> None:
    assert len(told(whole(fields, *statements))) == 1


def test_sizes_that_only_it_has_are_in_doubt() -> None:
    fields = f"inputs:\n{Z}  x: {{shape: [N, M], dtype: zork}}\nmodule: {{dims: {{M: width}}}}"
    assert len(told(whole(fields, "y[n, m < M] = z[n, 0]*m"))) == 1


def test_a_spec_in_doubt_has_no_operator() -> None:
    assert len(told(whole(f"inputs:\n{Z}  x: 3", "y[n] = z[n, 0]"))) == 1


def test_checks_of_fields_go_on() -> None:
    fields = (
        f"inputs:\n{Z}params:\n  p: {{type: whatever}}\n  r: {{choices: [mean, sum], default: summ}}\n"
        "module: {parameters: {z: summ}}"
    )
    _, second, third = told(whole(fields, "y[n] = z[n, 0]"))
    assert second.startswith("OPG119 the default of `r` is not among its choices")
    assert third == "OPG121 `summ` is not an initialiser"
