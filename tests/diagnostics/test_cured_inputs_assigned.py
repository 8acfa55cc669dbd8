"""Inputs that are assigned as elsewhere, `w = w - lr*g`: new values of the same element, and no recurrences."""

from __future__ import annotations

import re

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

PAIR = "inputs: {w: {shape: [K]}, g: {shape: [K]}}"
BUFFER = "module: {name: Centre, dims: {K: dim}, buffers: {c: zeros}}"
TEACHER = "inputs: {t: {shape: [N, K]}, c: {shape: [K]}}\nparams: {m: {type: float, default: 0.9}}"


@pytest.mark.parametrize(
    ("line", "meant", "value"),
    [
        ("w = 0.75*w + 0.25*g", "w2[k] = 0.75 * w[k] + 0.25 * g[k]", [1.75, 3.0]),
        ("w[k] = w - g", "w2[k] = w[k] - g[k]", [-3.0, -4.0]),
        ("w -= g", "w2[k] = w[k] - g[k]", [-3.0, -4.0]),
        ("w = lerp(w, g, 0.25)", "w2[k] = lerp(w[k], g[k], 0.25)", [1.75, 3.0]),
        ("w = where(g > 5, w, g)", "w2[k] = where(g[k] > 5, w[k], g[k])", [4.0, 2.0]),
        ("w = torch.maximum(w, g)", "w2[k] = max(w[k], g[k])", [4.0, 6.0]),
        ("w = w + w.sum()", "w2[k] = w[k] + sum[k](w[k])", [4.0, 5.0]),
        ("w = w.mul(0.5).add(g)", "w2[k] = w[k] * 0.5 + g[k]", [4.5, 7.0]),
    ],
)
def test_it_reads_its_own_element(line: str, meant: str, value: list[float]) -> None:
    fields = PAIR if "g" in line else "inputs: {w: {shape: [K]}}"
    text = whole(fields, line)
    assert said(text)[-1] == meant
    (found,) = diagnosed(text)
    assert found.code == "OPG236"
    assert found.edit is not None
    program = built(whole(fields, meant)).variants[0].program
    given = {"w": array([1.0, 2.0]), "g": array([4.0, 6.0])}
    made = run(program, {n: t for n, t in given.items() if f"{n}:" in fields}, {})["w2"]
    assert list(made.data) == value


def test_matrices_and_batches_have_all_their_indices() -> None:
    for shape, at in (("[K, L]", "k, l"), ("[..., K]", "..., k"), ("[N, 3]", "n, i")):
        fields = f"inputs: {{w: {{shape: {shape}}}, g: {{shape: {shape}}}}}"
        (meant,) = said(whole(fields, "w = 0.9*w + 0.1*g"))
        assert meant == f"w2[{at}] = 0.9 * w[{at}] + 0.1 * g[{at}]"
        built(whole(fields, meant))


def test_values_that_are_read_further_down_are_the_new_ones() -> None:
    fields = "inputs: {m: {shape: [K]}, g: {shape: [K]}, w: {shape: [K]}}"
    lines = said(whole(fields, "m = 0.9*m + g", "w = w - m"))
    assert lines == ["m2[k] = 0.9 * m[k] + g[k]", "w2[k] = w[k] - m2[k]"]
    built(whole(fields, *lines))


@pytest.mark.parametrize("line", ["w = w - g", "w -= g"])
def test_nothing_is_applied_where_a_plain_statement_reads_it_further_down(line: str) -> None:
    text = whole(PAIR, line, "y[k] = 2*w[k]")
    (found,) = diagnosed(text)
    lines = said(text)[-2:]
    assert lines == ["w2[k] = w[k] - g[k]", "y[k] = 2 * w2[k]"]
    assert found.edit is None
    built(whole(PAIR, *lines))


@pytest.mark.parametrize("line", ["c = m*c + (1 - m)*mean[n](t[n, k])", "c = m*c + (1 - m)*t.mean(0)"])
def test_what_a_buffer_becomes_is_an_output(line: str) -> None:
    text = f"{whole(TEACHER, 'p[n, k] = softmax[k](t[n, k] - c[k])', line)}{BUFFER}\n"
    updates, meant = said(text)
    assert meant == "next_c[k] = m * c[k] + (1 - m) * mean[n](t[n, k])"
    (found,) = diagnosed(text)
    assert found.edit is None
    become = BUFFER.replace("{c: zeros}", f"{{c: zeros}}, {updates}")
    built(text.replace(line, meant).replace(BUFFER, become))


def test_the_cases_of_a_buffer_have_one_name() -> None:
    fields = "inputs: {t: {shape: [N, K]}, c: {shape: [K]}}\nparams: {training: {type: bool, default: true}}"
    module = BUFFER.replace("}}", "}, updates: {c: new_c}, training: training}")
    cases = ("c = 0.9*c + mean[n](t[n, k]) if training", "c = c if not training")
    lines = said(f"{whole(fields, *cases, 'p[n, k] = t[n, k] - c[k]')}{module}\n")
    statements = [
        "new_c[k] = 0.9 * c[k] + mean[n](t[n, k]) if training",
        "new_c[k] = c[k] if not training",
        "p[n, k] = t[n, k] - new_c[k]",
    ]
    assert {line for line in lines if "=" in line} == {*statements}
    built(f"{whole(f'{fields}{chr(10)}outputs: [p, new_c]', *statements)}{module}\n")


def test_an_input_that_is_listed_as_an_output_keeps_its_element_too() -> None:
    fields = f"{PAIR}\noutputs: [w]"
    (first,) = said(whole(fields, "w = w - g"))
    assert first == "w[k] = w[k] - g[k]"
    line, outputs = said(whole(fields, first))
    assert line == "w_out[k] = w[k] - g[k]"
    built(whole(f"{PAIR}\n{outputs}", line))


def test_no_message_reads_the_step_before() -> None:
    for line in ("w = w - g", "w = w - mean(w)", "w = (1 - 0.5)*w + g.sum()"):
        assert all("- 1]" not in hint for hint in said(whole(PAIR, line)))


def test_an_input_that_is_assigned_again_is_told_once_of_each_statement() -> None:
    found = diagnosed(whole("inputs: [x]", "x = x * 2", "x = relu(x)", "x = x + 1"))
    assert [d.code for d in found] == ["OPG236"] * 3
    lines = [re.findall(r"`(\w+ = [^`]*)`", d.hints[0])[0] for d in found]
    assert lines == ["x2 = x * 2", "x3 = relu(x2)", "y = x3 + 1"]
    built(whole("inputs: [x]", *lines))
