"""A name that is not there is told once, however it may be replaced at each place where it stands."""

import pytest

from opgen.diagnostics.repeats import gathered
from tests.diagnostics.cures import diagnosed, whole

X = "inputs: {x: {shape: [N]}, y: {shape: [N]}}"


@pytest.mark.parametrize(
    "line",
    [
        "a[n] = x[n]*ndtr(y[n]) + ndtr(y[n] - ndtr(x[n]))",
        "a[n] = mystep(n, n) + mystep(x[n], n)",
        "a[n] = grad(x[n], y[n])*grad(y[n], x[n])",
        "a[n] = supremum[k](x[k]) + supremum[k](supremum[n](y[n])*x[k])",
        "a[n] = z[n]*z[n + 1] + z[0]",
    ],
)
def test_a_name_that_is_not_there_is_told_once(line: str) -> None:
    (found,) = gathered(diagnosed(whole(X, line)))
    assert found.code in ("OPG205", "OPG209", "OPG211")
    assert found.related


def test_what_a_place_has_of_its_own_stands_there() -> None:
    (found,) = gathered(diagnosed(whole(X, "a[n] = x[n]*ndtr(x[n]) + ndtr(y[n])")))
    assert found.hints[0] == "write it out: `erfc(-x[n]/sqrt(2))/2`"
    assert [label.text for label in found.related] == ["this too: write it out: `erfc(-y[n]/sqrt(2))/2`"]
