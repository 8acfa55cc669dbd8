"""Calls that change a tensor in place, `x.add_(b)`, and inputs that are assigned: the lines that are offered build."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: {a: {shape: [N, N]}, b: {shape: [N]}, m: {shape: [N, N], dtype: bool}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("a.fill_diagonal_(0)", "a2[n, n2] = where(n == n2, 0, a[n, n2])"),
        ("np.fill_diagonal(a, 1)", "a2[n, n2] = where(n == n2, 1, a[n, n2])"),
        ("a.masked_fill_(m, -inf)", "a2[n, n2] = where(m[n, n2], -inf, a[n, n2])"),
        ("a.clamp_(min=0)", "a2[n, n2] = clamp(a[n, n2], 0, inf)"),
        ("a = a.tril()", "a2[n, n2] = where(n2 <= n, a[n, n2], 0)"),
        ("b = torch.exp(b)", "b2[n] = exp(b[n])"),
    ],
)
def test_an_input_that_is_changed_is_a_new_value(line: str, meant: str) -> None:
    text = whole(FIELDS, line, "y[i, j] = a[i, j]*b[j]")
    name = meant.partition("[")[0]
    below = "y[i, j] = a[i, j] * b[j]".replace(f"{name[0]}[", f"{name}[")
    assert said(text) == [meant, below]
    (found,) = diagnosed(text)
    assert any("a new value is a new name, also where it is read further down" in hint for hint in found.hints)
    assert found.edit is None
    built(whole(FIELDS, meant, below))


def test_changes_one_after_the_other_read_what_is_there_then() -> None:
    lines = said(whole(FIELDS, "b.relu_()", "b.mul_(2)", "y[n] = torch.exp(b)[n]"))
    assert lines == ["b2[n] = relu(b[n])", "b3[n] = b2[n] * 2", "y[n] = exp(b3[n])"]
    built(whole(FIELDS, *lines))


def test_a_value_of_the_spec_keeps_its_name() -> None:
    lines = said(whole(FIELDS, "s[i, j] = b[i]*b[j]", "s.fill_diagonal_(-inf)", "y[i, j] = softmax[j](s[i, j])"))
    assert lines == ["s1[i, j] = b[i] * b[j]", "s[i, j] = where(i == j, -inf, s1[i, j])"]
    built(whole(FIELDS, *lines, "y[i, j] = softmax[j](s[i, j])"))


@pytest.mark.parametrize("line", ["a.exp()", "torch.exp(3)"])
def test_a_call_alone_assigns_nothing(line: str) -> None:
    found, *_ = diagnosed(whole(FIELDS, line, "y[i, j] = a[i, j]"))
    assert found.message == "this line assigns nothing"
