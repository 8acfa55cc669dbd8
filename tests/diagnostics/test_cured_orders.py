"""Places in the order of elements that are out of range with any value of a param, or with its default."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

POSITIVE = "params: {k: {type: int, domain: k > 0}}"
BY_DEFAULT = "params: {k: {type: int, default: 2}}"


@pytest.mark.parametrize("params", [POSITIVE, BY_DEFAULT])
@pytest.mark.parametrize(("place", "falling"), [("-k", "k"), ("0 - k", "k"), ("-k - 1", "k + 1"), ("-2*k", "2*k")])
def test_the_greatest_elements_are_counted_as_the_message_says(params: str, place: str, falling: str) -> None:
    text = whole(f"inputs: {{x: {{shape: [N]}}}}\n{params}", f"y = kth[n](x[n], {place})")
    (found,) = diagnosed(text)
    assert "`kth` counts from 1" in found.message
    meant = f"-kth[n](-x[n], {falling})"
    assert found.hints == (f"counted from the greatest: `{meant}`",)
    program = built(text.replace(f"kth[n](x[n], {place})", meant)).variants[0].program
    values = [3.0, 1.0, 5.0, 2.0, 4.0]
    at = {"k": 2, "k + 1": 3, "2*k": 4}[falling]
    assert run(program, {"x": array(values)}, {"k": 2})["y"].data == [sorted(values)[-at]]


@pytest.mark.parametrize("place", ["k", "N - k", "N - k + 1", "clamp(k, 1, N)", "2 - k + N"])
def test_a_place_that_may_be_one_is_let_be(place: str) -> None:
    assert diagnosed(whole(f"inputs: {{x: {{shape: [N]}}}}\n{POSITIVE}", f"y = kth[n](x[n], {place})")) == ()


@pytest.mark.parametrize(
    ("share", "domain", "hint"),
    [
        ("-q", "0 < q < 1", "the median is at `0.5`"),
        ("q", "1 < q <= 100", "for percent write `q/100`"),
        ("q + 1", "q > 0", "for percent write `(q + 1)/100`"),
        ("q", "0 <= q <= 100", None),
    ],
)
def test_so_is_a_share(share: str, domain: str, hint: str | None) -> None:
    fields = f"inputs: {{x: {{shape: [N]}}}}\nparams: {{q: {{type: float, domain: {domain}}}}}"
    hints = [h for d in diagnosed(whole(fields, f"y = quantile[n](x[n], {share})")) for h in d.hints]
    assert hints == ([] if hint is None else [hint])


def test_a_place_behind_the_end_is_counted_from_it() -> None:
    text = whole(f"inputs: {{x: {{shape: [N]}}}}\n{POSITIVE}", "y = x[-k]")
    (found,) = diagnosed(text)
    assert found.hints[0] == "counted from the end: `x[N - k]`"
    built(text.replace("x[-k]", "x[N - k]"))
