"""Values that are made of themselves once more, with the names that are said: what PyTorch computes."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

X = torch.rand((3, 4), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "lines",
    [
        ("w[n, j] = relu(x[n, j]) + 1", "w[n, j] = w[n, j]/sum[j](w[n, j])"),
        ("w[n, e] = 2*x[n, e]", "w[n, e] = w[n, e] + 2", "w[n, j] = w[n, j]/sum[j](w[n, j])"),
    ],
)
def test_the_last_value_is_what_is_returned(lines: tuple[str, ...]) -> None:
    text = whole("inputs: {x: {shape: [N, E]}}\noutputs: [w]", *lines)
    (found,) = diagnosed(text)
    said = re.findall(r"`(w[^`]+)`", found.hints[0])
    for old, new in zip(lines, said, strict=True):
        text = text.replace(old, new)
    got = run(built(text).variants[0].program, {"x": array(X.tolist())})["w"]
    before = 2 * X + 2 if len(lines) > 2 else X + 1
    torch.testing.assert_close(torch.tensor(got.data).reshape(3, 4).float(), before / before.sum(1, keepdim=True))


def test_what_is_for_nothing_is_told_when_it_is_built() -> None:
    (found,) = diagnosed(whole("inputs: {x: {}}\noutputs: [y]", "y = relu(x)", "y2 = y + 1"))
    assert (found.code, found.message) == ("OPG240", "the tensor `y2` is never used")


def test_a_line_of_another_library_is_told_with_the_line_above() -> None:
    lines = ("s[n, m] = sum[e](x[n, e]*x[m, e])", "s[n, m] = masked_fill(s[n, m], eye(N), -1.5)")
    text = whole("inputs: {x: {shape: [N, E]}}\noutputs: [s]", *lines)
    (found,) = diagnosed(text)
    for old, new in zip(lines, re.findall(r"`(s[^`]+)`", found.hints[-1]), strict=True):
        text = text.replace(old, new)
    got = run(built(text).variants[0].program, {"x": array(X.tolist())})["s"]
    wanted = (X @ X.T).masked_fill(torch.eye(3, dtype=torch.bool), -1.5)
    torch.testing.assert_close(torch.tensor(got.data).reshape(3, 3).float(), wanted)


def test_the_sum_that_is_said_for_a_transform_back_is_that() -> None:
    (found,) = diagnosed(whole("inputs: {z: {shape: [K], dtype: complex}}", "y[n] = irfft[k](z[k], 6)"))
    line = re.findall(r"`(y[^`]+)`", found.hints[0])[0].replace("[..., ", "[")
    spectrum = torch.fft.rfft(X.flatten()[:6])
    program = built(whole("inputs: {z: {shape: [K], dtype: complex}}\ndims: {N: 2*K - 2}", line)).variants[0].program
    parts = [(spectrum.imag if "imag" in t.name else spectrum.real).tolist() for t in program.inputs]
    made = run(program, {t.name: array(p) for t, p in zip(program.inputs, parts, strict=True)})
    torch.testing.assert_close(torch.tensor(made["y"].data).float(), X.flatten()[:6])


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (("h[n, d] = 2*x[n, d]", "h += x"), 3 * X),
        (("h[n, d] = x[n, d]", "h += x[0, d]"), X + X[0]),
        (("h[n, d] = x[n, d]", "h *= 2"), 2 * X),
    ],
)
def test_an_update_without_indices_is_told_as_a_whole(lines: tuple[str, ...], wanted: torch.Tensor) -> None:
    text = whole("inputs: {x: {shape: [N, D]}}", *lines)
    (found,) = diagnosed(text)
    (line,) = re.findall(r"^write `([^`]+)`$", found.hints[0])
    got = run(built(text.replace(lines[-1], line)).variants[0].program, {"x": array(X.tolist())})["h"]
    torch.testing.assert_close(torch.tensor(got.data).reshape(3, 4).float(), wanted)
