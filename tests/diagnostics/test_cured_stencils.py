"""Rings, starts, counts and names that are nearly right: what is said of them builds, once, and means what was meant."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

U = "inputs: {u: {shape: [X]}}"
LEFT = "left[i < X] = u[(i - 1) % X]"
STEP = "y[i] = u[i] + 0.1*(right[i] - left[i])"


def test_a_neighbour_behind_the_end_is_told_all_that_builds() -> None:
    text = whole(f"{U}\noutputs: [y]", "right[i < X] = u[i + 1]", LEFT, STEP)
    read, line, ring = said(text)
    assert (read, ring) == ("pad(u[i + 1], 0)", "u[(i + 1) % X]")
    for way in (read, ring):
        built(text.replace("u[i + 1]", way))
    built(text.replace("right[i < X] = u[i + 1]", line))


def test_a_neighbour_in_front_of_the_start_is_not_told_what_is_read_too_far() -> None:
    text = whole(f"{U}\noutputs: [y]", "left[i < X] = u[i - 1]", "right[i < X] = u[(i + 1) % X]", STEP)
    assert "left[i < X - 1] = u[i]" not in said(text)
    for line in (line for line in said(text) if line.startswith("left")):
        built(text.replace("left[i < X] = u[i - 1]", line))


@pytest.mark.parametrize("further", ["z = sum[i](right[i])", "z[i] = right[i]*right[i]", "z[i < X - 1] = 2*right[i]"])
def test_an_index_ends_earlier_where_nothing_longer_is_read_beside(further: str) -> None:
    text = whole(f"{U}\noutputs: [right, z]", "right[i < X] = u[i + 1]", further)
    assert said(text)[0] == "i < X - 1"
    built(text.replace("right[i < X]", "right[i < X - 1]"))


@pytest.mark.parametrize("further", ["z[i] = 2*right[i] + u[i]", "z[i < X] = right[i]"])
def test_an_index_does_not_end_earlier_where_something_longer_is_read_beside(further: str) -> None:
    text = whole(f"{U}\noutputs: [right, z]", "right[i < X] = u[i + 1]", further)
    assert "i < X - 1" not in said(text)


def test_a_difference_that_runs_too_far_is_told_each_way_once() -> None:
    ways = said(whole(U, "y[i < X] = u[i + 1] - u[i]"))
    assert ways[0] == "i < X - 1"
    assert len(ways) == len(dict.fromkeys(ways))
