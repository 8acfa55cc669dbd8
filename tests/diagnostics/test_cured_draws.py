"""Draws with the line that is said are operators about which there is nothing more to say."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("m[n, k] = bernoulli(1 - q)", "m[n < N, k < K] = uniform(seed) < 1 - q"),
        ("m[n, k] = x[n, k]*bernoulli(q)", "m[n, k] = x[n, k] * (uniform(seed) < q)"),
        ("m[n, k] = -log(uniform(seed))", "m[n < N, k < K] = -log(uniform(seed))"),
        ("m[n, k] = gumbel(seed)", "m[n < N, k < K] = -log(-log(uniform(seed)))"),
        ("m[n, k] = gumbel()", "m[n < N, k < K] = -log(-log(uniform(seed)))"),
        ("m[n, k] = exponential(seed, q)", "m[n < N, k < K] = -log1p(-uniform(seed)) / q"),
        ("m[n, k] = exponential(seed)", "m[n < N, k < K] = -log1p(-uniform(seed))"),
        ("m[n, k] = x[n, k]*bernoulli(seed, q)", "m[n, k] = x[n, k] * (uniform(seed) < q)"),
    ],
)
def test_the_line_that_is_said_builds(line: str, meant: str) -> None:
    text = whole("inputs: {x: {shape: [N, K]}}\nparams: {q: float}", line, "y[n, k] = x[n, k]*m[n, k]*q")
    said = re.findall(r"`([^`]+)`", " ".join(hint for found in diagnosed(text) for hint in found.hints))
    assert meant in said
    built(text.replace(line, meant).replace("K]}}", "K]}, seed: {dtype: seed}}"))
