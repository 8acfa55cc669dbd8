"""Rings, starts, counts and names that are nearly right: what is said of them builds, and means what was meant."""

from __future__ import annotations

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


X = "inputs: {x: {shape: [N]}, w: {shape: [N]}}"


@pytest.mark.parametrize(
    ("called", "meant"),
    [
        ("cosine", "cos"), ("Cosine", "cos"), ("sine", "sin"), ("tangent", "tan"), ("exponential", "exp"),
        ("logarithm", "log"), ("absolute", "abs"), ("square_root", "sqrt"), ("squareroot", "sqrt"),
        ("arctangent", "atan"), ("hyperbolic_cosine", "cosh"), ("logsig", "logsigmoid"),
    ],
)  # fmt: skip
def test_a_function_in_words_is_told_its_name(called: str, meant: str) -> None:
    assert said(whole(X, f"y[n] = {called}(x[n])"))[0] == meant
    built(whole(X, f"y[n] = {meant}(x[n])"))


def test_a_name_that_looks_the_same_is_nearer_than_that_of_the_statement_itself() -> None:
    text = whole(
        "inputs: {i: {shape: [..., N]}, v0: {shape: [..., N]}}", "v[..., n] = v[..., n - 1]*i[..., n] + vo[..., n]"
    )
    assert said(text) == ["v0"]
    built(text.replace("vo", "v0"))


def test_what_a_statement_makes_is_no_way_out_where_it_would_read_itself() -> None:
    fields = "inputs: {x: {shape: [N]}, stata: {shape: [N]}}"
    assert said(whole(fields, "state[n] = stat[n] + x[n]")) == ["stata"]
    assert said(whole(fields, "state[n] = state[n - 1]*stat[n - 1] + x[n]")) == ["stata"]


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        ("w[n]*log(i0(x[n]))", "log(i0(x[n]))", "(abs(x[n]) + log(i0e(x[n])))"),
        ("log(i0(2*x[n]))", "log(i0(2*x[n]))", "abs(2 * x[n]) + log(i0e(2 * x[n]))"),
        ("x[n] - log(normpdf(x[n]))", "log(normpdf(x[n]))", "(-square(x[n])/2 - log(2*pi)/2)"),
        ("2*log(beta(x[n], w[n]))", "log(beta(x[n], w[n]))", "(lgamma(x[n]) + lgamma(w[n]) - lgamma(x[n] + w[n]))"),
    ],
)
def test_the_logarithm_of_an_exponential_is_not_computed(value: str, old: str, new: str) -> None:
    assert said(whole(X, f"y[n] = {value}"))[0] == new
    built(whole(X, f"y[n] = {value.replace(old, new)}"))


TABLE = "h[..., i, j] = max(h[..., i - 1, j], h[..., i, j - 1]) + x[..., i, j]"


def test_a_start_beside_a_right_one_is_left_out_or_an_element() -> None:
    right, wrong = "h[..., -1, j] = 1", "h[..., 0, j] = 1"
    text = whole("inputs: {x: {shape: [..., I, J]}}", right, wrong, TABLE)
    (found,) = diagnosed(text)
    assert right not in said(text)
    assert "leave this out" in found.hints[0]
    built(text.replace(f"  {wrong}\n", ""))
    (line,) = said(text)
    built(text.replace(f"  {wrong}\n", "").replace(TABLE, line))


def test_a_start_beside_a_right_one_along_the_other_index_is_moved_alone() -> None:
    right, wrong = "h[..., -1, j] = 1", "h[..., i, 0] = c[..., i]"
    text = whole("inputs: {x: {shape: [..., I, J]}, c: {shape: [..., I]}}", right, wrong, TABLE)
    assert said(text)[0] == "h[..., i, -1] = c[..., i]"
    built(text.replace(wrong, said(text)[0]))
    built(text.replace(f"  {wrong}\n", "").replace(TABLE, said(text)[1]))


@pytest.mark.parametrize(
    ("fields", "statements", "start"),
    [
        (
            "{label: {shape: [N], dtype: int, domain: 0 <= label < K}, score: {shape: [N, K]}}",
            ["guess[n] = argmax[k](score[n, k])", "cm[label[n], guess[n]] += 1"],
            "cm[k < K, k2 < K] = 0",
        ),
        (
            "{x: {shape: [N, D]}, c: {shape: [K, D]}}",
            ["a[n] = argmin[k](sum[d](square(x[n, d] - c[k, d])))", "s[a[n], d] += x[n, d]"],
            "s[k < K, d < D] = 0",
        ),
        (
            "{x: {shape: [N, K]}}",
            ["o[n, k] = argsort[k](x[n, k])", "t[n] = o[n, 0]", "s[t[n]] += x[n, 0]"],
            "s[k < K] = 0",
        ),
    ],
)
def test_a_position_that_an_argmax_makes_tells_how_many_there_are(
    fields: str, statements: list[str], start: str
) -> None:
    fields = f"inputs: {fields}\noutputs: [{start[: start.index('[')]}]"
    assert said(whole(fields, *statements))[-1] == start
    built(whole(fields, start, *statements))


def test_the_rest_of_a_module_stays_where_its_mode_is_a_truth_value() -> None:
    fields = (
        "inputs: {x: {shape: [N, C]}, var: {shape: [C]}}\nparams: {training: {type: bool, default: true}}\n"
        "outputs: [y, next_var]\nmodule:\n  buffers: {var: ones}\n  updates: {var: next_var}\n  training: true"
    )
    text = whole(fields, "y[n, c] = x[n, c]*rsqrt(var[c])", "next_var[c] = mean[n](x[n, c]**2) if training")
    (found,) = diagnosed(text)
    assert found.code == "OPG112"
    (meant,) = said(text)
    built(text.replace("training: true", meant))


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("sum[h, w](prob[n, c, h, w]*label[n, c, ...])", "sum[...](prob[n, c, ...] * label[n, c, ...])"),
        ("mean[h](prob[n, c, h] - label[n, c, h])", "mean[...](prob[n, c, ...] - label[n, c, ...])"),
    ],
)
def test_a_reduction_over_indices_in_place_of_batch_dims_is_told_whole(read: str, meant: str) -> None:
    fields = "inputs: {prob: {shape: [N, C, ...]}, label: {shape: [N, C, ...]}}"
    text = whole(fields, f"y[n, c] = 2*{read}")
    assert said(text) == [meant]
    built(text.replace(read, meant))


def test_a_reduction_over_an_index_that_others_have_is_none_over_batch_dims() -> None:
    fields = "inputs: {prob: {shape: [N, C, ...]}, a: {shape: [H]}}"
    assert said(whole(fields, "y[n, c] = sum[h](prob[n, c, h]*a[h])")) == ["prob[n, c, ...]"]
