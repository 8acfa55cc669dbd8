"""What engineers bring from C and NumPy, and words in guards: what is said of it builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

X = "inputs: {x: {shape: [N, K]}, m: {shape: [N, K], dtype: bool}}"


def lines(text: str) -> list[str]:
    """What the one message about a spec says to write, in order, at each of its places."""
    (hints,) = {found.hints for found in diagnosed(text)}
    return re.findall(r"`([^`]*)`", " ".join(hints))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("2 - (x > 0 ? 3*(x - 1) : 0)", "2 - where(x > 0, 3*(x - 1), 0)"),
        ("2*(x > 0 ? x : 0.1*x)", "2*where(x > 0, x, 0.1*x)"),
        ("max(0, x > 0 ? (x > 1 ? 1 : x) : 2)", "max(0, where(x > 0, where(x > 1, 1, x), 2))"),
        ("x == 0 ? 1 : x < 0 ? 2 : 3", "where(x == 0, 1, where(x < 0, 2, 3))"),
        ("relu(x > 0 ? x : 1) + 1", "relu(where(x > 0, x, 1)) + 1"),
    ],
)
def test_a_choice_of_c_in_a_plain_line_stays_within_its_brackets(value: str, meant: str) -> None:
    text = f"op: cured\ninputs: [x]\nforward: y = {value}\n"
    assert lines(text) == [f"y = {meant}"]
    built(text.replace(value, meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("mean[k](x[n, k], where=m[n, k])", "sum[k](where(m[n, k], x[n, k], 0)) / max(count[k](m[n, k]), 1)"),
        ("sum[k](x[n, k], where=(x[n, k] > 0), initial=2)", "sum[k](where(x[n, k] > 0, x[n, k], 0)) + 2"),
        ("sum[k](x[n, k], initial=2, where=x[n, k] > 0)", "sum[k](where(x[n, k] > 0, x[n, k], 0)) + 2"),
        ("max[k](x[n, k], initial=-inf, where=m[n, k])", "max[k](where(m[n, k], x[n, k], -inf))"),
        ("min[k](x[n, k], initial=1)", "min(min[k](x[n, k]), 1)"),
        ("prod[k](x[n, k], initial=2)", "prod[k](x[n, k]) * 2"),
        ("sum[k](x[n, k], initial=0)", "sum[k](x[n, k])"),
        ("quantile[k](x[n, k], q=0.3)", "quantile[k](x[n, k], 0.3)"),
        ("kth[k](x[n, k], n=2)", "kth[k](x[n, k], 2)"),
    ],
)
def test_keywords_of_reductions_have_a_counterpart(line: str, meant: str) -> None:
    assert lines(whole(X, f"y[n] = {line}"))[-1] == f"y[n] = {meant}"
    built(whole(X, f"y[n] = {meant}"), warned=True)


@pytest.mark.parametrize("line", ["var[k](x[n, k], where=m[n, k])", "median[k](x[n, k], initial=0)"])
def test_nothing_is_proposed_where_a_keyword_has_none(line: str) -> None:
    assert lines(whole(X, f"y[n] = {line}")) == []


@pytest.mark.parametrize(
    ("function", "meant"),
    [
        ('act(u): {value: "where(u > 0, 1, 0)", derivative: "max(0, 1 - abs(x))"}', "max(0, 1 - abs(u))"),
        ("act(u): where(v > 0, v, 0)", "where(u > 0, u, 0)"),
        ("act(u): {value: tanh(u), derivative: 1 - y**2}", "1 - act(u)**2"),
        ("act(u): {value: tanh(u), derivative: alpha - u*y}", "alpha - u*act(u)"),
    ],
)
def test_a_name_in_a_function_that_is_its_argument_or_value(function: str, meant: str) -> None:
    fields = f"inputs: {{z: {{shape: [N]}}}}\nparams: {{alpha: {{default: 1.0}}}}\nfunctions:\n  {function}"
    text = whole(fields, "a[n] = act(z[n])*alpha")
    assert lines(text)[-1] == meant
    wrong = re.search(r"(?:derivative|act\(u\)): (?!\{)\"?(.*?)\"?\}?\n", text)
    assert wrong is not None
    built(text.replace(wrong[1], meant, 1))


def test_a_name_in_a_function_of_several_arguments() -> None:
    fields = "inputs: {{z: {{shape: [N]}}}}\nfunctions:\n  mix(a, b): {}"
    assert lines(whole(fields.format("a*c"), "y[n] = mix(z[n], z[n])")) == ["mix", "a", "b", "a*b"]
    for formula in ("a*b + c", "c*d"):  # a param is meant, or nobody knows what
        for found in diagnosed(whole(fields.format(formula), "y[n] = mix(z[n], z[n])")):
            assert "params: {" in " ".join(found.hints)


WORDS = (
    "inputs: {x: {shape: [N]}}\n"
    "params: {mode: {choices: [mean, average, none]}, flag: {type: bool}, p: {type: float, default: null}}"
)


@pytest.mark.parametrize(
    ("guard", "meant"),
    [
        ('mode in ("mean", "average")', 'mode == "mean" or mode == "average"'),
        ("mode in [mean, average]", 'mode == "mean" or mode == "average"'),
        ('mode not in ("none",)', 'mode != "none"'),
        ('mode not in ["none"] and flag', 'mode != "none" and flag'),
        ('flag and mode in ["mean", "average"]', 'flag and (mode == "mean" or mode == "average")'),
        ("p is not None and flag", "given(p) and flag"),
        ('mode == "mean" or "average"', 'mode == "mean" or mode == "average"'),
        ('mode == ("mean" or "average")', 'mode == "mean" or mode == "average"'),
        ('mode != "none" and "mean"', 'mode != "none" and mode != "mean"'),
        ("mode == none", 'mode == "none"'),
        ("none != mode", 'mode != "none"'),
    ],
)
def test_words_in_a_guard_are_compared_one_by_one(guard: str, meant: str) -> None:
    both = [f"y = x[0] if {guard}", f"y = x[1] if not ({meant})"]
    assert lines(whole(WORDS, *both))[-1].removeprefix("y = x[0] if ") == meant
    built(whole(WORDS, f"y = x[0] if {meant}", both[1]))


@pytest.mark.parametrize("guard", ['mode == "mean" and "average"', 'mode == "mean" or "other"', 'mode == ("a" or "b")'])
def test_nothing_is_proposed_for_words_that_no_guard_can_have(guard: str) -> None:
    assert "mode ==" not in " ".join(lines(whole(WORDS, f"y = x[0] if {guard}", "y = x[1] if not flag")))


@pytest.mark.parametrize(
    ("written", "meant"),
    [("[float, 3]", "[float, float, float]"), ("[2, bool]", "[bool, bool]"), ("[int, 1]", "[int]")],
)
def test_a_type_and_a_count_are_a_type_for_each_element(written: str, meant: str) -> None:
    text = "op: cured\ninputs: [x]\nparams: {{p: {{type: {}}}}}\nforward: y = where(p[0] > 0, x, 0)\n"
    text = text.replace("p[0] > 0", "p[0]") if "bool" in meant else text
    assert lines(text.format(written)) == [f"type: {meant}"]
    built(text.format(meant))


GRID = "inputs: {x: {shape: [T, K]}, z: {shape: [K]}}"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("x[t, k] - mean[n](x[t, k])", ["mean[t](x[t, k])", "mean[k](x[t, k])"]),
        ("x[t, k]*z[k]/max[j](z[k])", ["max[k](z[k])"]),
        ("x[t, k] - mean[t](mean[n](x[t, k]))", ["mean[k](x[t, k])"]),
    ],
)
def test_what_a_reduction_goes_over_is_what_it_reads(value: str, meant: list[str]) -> None:
    (index,) = re.findall(r"\[([nj])\]", value)
    assert lines(whole(GRID, f"y[t, k] = {value}")) == [index, *meant]
    for right in meant:
        wrong = re.sub(r"\[\w\]", f"[{index}]", right, count=1)
        built(whole(GRID, f"y[t, k] = {value.replace(wrong, right)}"), warned=True)


@pytest.mark.parametrize("value", ["sum[n](n*x[t, k])", "mean[n](1)*x[t, k]"])
def test_a_reduction_that_reads_its_index_or_nothing_lacks_an_extent(value: str) -> None:
    assert lines(whole(GRID, f"y[t, k] = {value}"))[0] == "n < length"


ALIGNED = "inputs: {m: {shape: [N, M]}}"
STARTED = ["s[-1, j] = -j", "s[i, -1] = -i", "s[-1, -1] = 0"]


@pytest.mark.parametrize(
    ("starts", "value", "meant"),
    [
        (STARTED, "max(max(s[i - 1, j - 1] + m[i, j], s[i - 1, j]), s[i, j + 1])", "s[i, j - 1]"),
        (STARTED, "max(s[i-1, j-1] + m[i, j], s[i-1, j], s[i, j+2])", "s[i, j-2]"),
        (["s[i, M] = 0"], "max(s[i - 1, j + 1] + m[i, j], s[i, j - 1])", "s[i, j + 1]"),
    ],
)
def test_the_one_read_that_goes_the_other_way_is_turned(starts: list[str], value: str, meant: str) -> None:
    text = whole(ALIGNED, *starts, f"s[i, j] = {value}") + "outputs: [s]\n"
    assert lines(text)[0] == meant
    odd = meant.replace("-", "*").replace("+", "-").replace("*", "+")
    if "j-2" not in meant:  # which reads further back than the starts are
        built(text.replace(odd, meant))


@pytest.mark.parametrize(
    ("starts", "value"),
    [
        (["u[-1] = 1"], "0.3*u[i - 1] + 0.4*u[i + 1] + m[i, 0]"),
        (["u[-1] = 1", "u[N] = 2"], "u[i - 1] - u[i + 2] + m[i, 0]"),
        ([], "u[i - 1] - u[i + 2] + m[i, 0]"),
    ],
)
def test_reads_of_which_neither_is_odd_are_not_turned(starts: list[str], value: str) -> None:
    text = whole(ALIGNED, *starts, f"u[i] = {value}") + "outputs: [u]\n"
    assert not any("one way, write" in hint for found in diagnosed(text) for hint in found.hints)


def test_choices_in_capitals_are_told_once_for_all_places() -> None:
    text = whole(
        "inputs: {w: {shape: [K]}}\nparams: {kind: {choices: [L1, L2], default: L1}}",
        'y = sum[k](abs(w[k])) if kind == "L1"',
        'y = sum[k](w[k]**2) if kind == "L2"',
    )
    assert [d.hints for d in diagnosed(text)] == [
        ("write `l1`, here and in all places",),
        ("write `l2`, here and in all places",),
    ]
    built(text.replace("L", "l"))


def test_a_number_is_compared_as_it_is_written() -> None:
    assert lines(whole(X, "y[n] = count[k](x[n, k]*x[n, k])")) == ["x[n, k]*x[n, k] != 0"]
    assert lines(whole(X, f"y[n] = count[k]({'x[n, k]*' * 8}2)")) == ["… != 0"]
