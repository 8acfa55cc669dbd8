"""Recurrences and sums over dims that do not fit, and indices that nothing says the end of: none goes untold."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

U = "inputs: {u: {shape: [T, D]}, g: {shape: [T, K]}}"


def codes(text: str) -> list[str]:
    return [found.code for found in diagnosed(text)]


@pytest.mark.parametrize(
    ("fields", "lines", "code"),
    [
        (U, ("z[t, d] = sigmoid(u[t, d])", "h[t, d] = z[t, d]*h[t - 1, d] + g[t, d]"), "OPG213"),
        (U, ("z[t, d] = sigmoid(u[t, d])", "h[t, d] = z[t, d]*h[t - 1, d] + u[d, t]"), "OPG213"),
        (U, ("z[t, d] = exp(u[t, d])", "h[t] = h[t - 1] + sum[d](z[t, d]*g[t, d])"), "OPG213"),
        (U, ("z[t, d] = exp(u[t, d])", "a[t] = h[t - 1]", "h[t] = a[t] + sum[d](z[t, d]*g[t, d])"), "OPG213"),
        (
            U,
            (
                "z[t, d] = exp(u[t, d])",
                "a[t] = where(true, 1.0, sum[d](z[t, d]*g[t, d]))",
                "h[t] = a[t] + sum[d](z[t, d]*g[t, d])",
            ),
            "OPG213",
        ),
        (f"{U}\nparams: {{p: float}}", ("h[t] = h[t - 1]*p[1] + u[t, 0]",), "OPG206"),
        (f"{U}\nparams: {{p: float}}", ("a[t] = where(true, u[t, 0], p[1])", "h[t] = a[t]*p[1]"), "OPG206"),
    ],
)
def test_what_is_found_in_a_trial_is_told_where_it_counts(fields: str, lines: tuple[str, ...], code: str) -> None:
    for outputs in ("[h]", f"[h, {lines[0][0]}]" if lines[0][0] in "za" else "[h]"):  # alone, and beside another
        assert codes(whole(f"{fields}\noutputs: {outputs}", *lines)) == [code]


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        (U, ("y[t] = u[]*2",)),
        ("inputs: {x: {shape: [..., K]}, w: {shape: [K, N]}}", ("y[..., k] = linear(x, w)",)),
        (U, ("n[t, d] = sum - 1[j](u[t, j])", "a, b = chunk(n, 2)", "y[t, d] = a[t, d]*b[t, d]")),
        ("inputs: {x: {shape: [N, M]}}", ("r[-1, j] = 0", "r[i, -1] = 1", "r[i, j + 1] = x[i, j] + r[i - 1, j - 1]")),
        (
            f"inputs: [x]\nparams: {{{', '.join(f'f{k}: bool' for k in range(10))}}}",
            ("y = x", f"y = 0 if not ({' and '.join(f'f{k}' for k in range(10))})"),
        ),
    ],
)
def test_what_cannot_be_mended_in_words_is_told_nevertheless(fields: str, lines: tuple[str, ...]) -> None:
    assert codes(whole(fields, *lines))


def test_a_clash_in_a_recurrence_reads_like_that_of_inputs() -> None:
    text = whole("inputs: {u: {shape: [T, D]}}\noutputs: [h, dt]", "dt[t, d] = softplus(u[t, d])", "{}")
    text = text.replace("{}", "h[t, d] = dt[t, d]*h[t - 1, d] + u[d, t]")
    assert said(text) == ["u[t, d]"]
    built(text.replace("u[d, t]", "u[t, d]"))


LSTM = """op: cell
inputs: {gates: {shape: [..., R]}, c: {shape: [..., H]}}
dims: {R: 4*H}
outputs: [h_new, c_new]
forward: |
  i_g[..., h] = sigmoid(gates[..., h])
  f_g[..., h] = sigmoid(gates[..., H + h])
  g_g[..., h] = tanh(gates[..., 2*H + h])
  o_g[..., h] = sigmoid(gates[..., 3*H + h])
  c_new[..., h] = f_g[..., h]*c[..., h] + i_g[..., h]*g_g[..., h]
  h_new[..., h] = o_g[..., h]*tanh(c_new[..., h])
"""


def test_blocks_of_a_dim_are_as_long_as_they_are() -> None:
    *blocks, joined = diagnosed(LSTM)
    assert {found.hints for found in blocks} == {("state its extent: `h < H`",)}
    assert joined.code == "OPG213"
    assert "write `i_g[..., h < H] = sigmoid(gates[..., h])`" in joined.hints[0]
    text = LSTM
    for gate in "ifgo":
        text = text.replace(f"{gate}_g[..., h] =", f"{gate}_g[..., h < H] =")
    built(text)


def test_the_shorter_dim_is_the_part() -> None:
    fields = "inputs: {a: {shape: [..., R]}, c: {shape: [..., H]}}\ndims: {R: 4*H}"
    assert "the first `H` of `R`" in diagnosed(whole(fields, "y[..., h] = a[..., h]*c[..., h]"))[0].hints[0]


def test_an_index_of_the_sum_around_is_meant_beside_what_is_assigned() -> None:
    fields = "inputs: {q: {shape: [B, H, S, D]}, k: {shape: [B, H, T, D]}, v: {shape: [B, H, T, D]}}"
    scores = "p[b, h, i, j] = softmax[j](sum[d](q[b, h, i, d]*k[b, h, j, d]))"
    text = whole(fields, scores, "out[b, h, i, d] = sum[j](p[b, h, i, j]*v[b, h, i, d])")
    assert said(text) == ["v[b, h, j, d]"]
    built(text.replace("v[b, h, i, d])", "v[b, h, j, d])"))


def test_dims_that_callers_choose_are_no_part_of_each_other() -> None:
    (found,) = diagnosed(whole(U, "z[t, d] = sigmoid(u[t, d])", "y[t, d] = z[t, d]*g[t, d]"))
    assert found.hints == ("use two indices, or give the dims one name if they are always equal",)


HALVES = """op: turn
inputs: {x: {shape: [T, D]}}
dims: {H: D//2}
forward: |
  angle[t < T, h < H] = t*exp(-h)
  y[t, d] = where(d < H, x[t, d + H]*angle[t, d], x[t, d - H]*angle[t, d - H])
"""


def test_an_index_that_ends_half_way_is_told_by_what_is_read_there() -> None:
    (found,) = diagnosed(HALVES)
    assert found.hints == (
        "`d` runs over `H` only, for `angle[t, d]`: for all of `D` write `y[t, d < D] = …`",
        "or declare it: `outputs: {y: {shape: [T, D]}}`",
    )
    for text in (HALVES.replace("y[t, d] =", "y[t, d < D] ="), HALVES + "outputs: {y: {shape: [T, D]}}\n"):
        made = built(text)
        assert str(made.variants[0].program.outputs[0].shape) == str(made.inputs[0].shape)


def test_a_start_at_the_upper_end_may_be_that_of_a_recurrence_downwards() -> None:
    fields = "inputs: {td: {shape: [B, T]}, decay: {shape: [B, T]}}\noutputs: [adv]"
    line = "adv[b, t] = td[b, t] + decay[b, t] * adv[b, t {} 1]"
    text = whole(fields, "adv[b, T] = 0", line.format("-"))
    assert said(text) == ["adv[b, -1] = 0", line.format("+")]
    built(text.replace("adv[b, T]", "adv[b, -1]"))
    built(text.replace("t - 1]", "t + 1]"))


def test_a_declared_shape_with_another_dim_is_pointed_at() -> None:
    fields = "inputs: {x: {shape: [..., K]}, weight: {shape: [N, K]}}\noutputs: {y: {shape: [..., K]}}"
    text = whole(fields, "y[..., n] = sum[k](x[..., k]*weight[n, k])")
    (found,) = diagnosed(text)
    assert found.span is not None
    assert (found.code, found.span.text) == ("OPG253", "y")
    assert found.hints == ("write `y: {shape: [..., N]}`", "or write `n < K` where the first places are meant")
    built(text.replace("{y: {shape: [..., K]}}", "{y: {shape: [..., N]}}"))
    built(text.replace("y[..., n] =", "y[..., n < K] ="))


X = "inputs: {x: {shape: [N, Q]}, y: {shape: [N, Q]}}"


def test_an_index_of_a_sum_that_is_read_nowhere_is_left_out() -> None:
    fields = "inputs: {x: {shape: [N, D]}, prec: {shape: [D, D]}}"
    text = whole(fields, "y[n] = sum[d, e, f](x[n, d]*prec[d, e]*x[n, e])")
    (found,) = diagnosed(text)
    assert found.hints[0].startswith("`f` is read nowhere: leave it out, `sum[d, e](…)`; or state its extent")
    built(text.replace("sum[d, e, f]", "sum[d, e]"))


@pytest.mark.parametrize("name", ["mean", "sum", "max"])
def test_an_index_that_is_bound_again_within_is_left_out_once(name: str) -> None:
    text = whole(X, f"loss = {name}[n](mean[n, q](square(x[n, q] - y[n, q])))")
    once, apart = ("mean[n, q](square(x[n, q] - y[n, q]))", f"{name}[n](mean[q](square(x[n, q] - y[n, q])))")
    assert said(text)[2:] == [once, apart]
    for meant in (once, apart):
        built(whole(X, f"loss = {meant}"))


CONV = "inputs: {{x: {{shape: [N, C, L]}}}}\nparams: {{k: int}}\ndims: {{O: L - k + 1}}\noutputs: {{y: {{shape: {}}}}}"


def test_a_worked_out_dim_in_the_place_of_another_is_told() -> None:
    line = "y[n, c, o] = sum[r < k](x[n, c, o + r])"
    text = whole(CONV.format("[N, O, C]"), line)
    (found,) = diagnosed(text)
    assert found.code == "OPG253"
    assert said(text) == ["y: {shape: [N, C, O]}", "y[n, o, c]"]
    built(whole(CONV.format("[N, C, O]"), line))
    built(text.replace("y[n, c, o]", "y[n, o, c]"))


@pytest.mark.parametrize(
    ("inputs", "more", "shape", "line"),
    [
        ("x: {shape: [N, D]}", "dims: {H: D//2}", "[N, H]", "y[n, h] = x[n, h] + x[n, h + H]"),
        ("x: {shape: [D]}", "dims: {H: D//2}", "[H, D]", "y[h, d] = x[h]*x[(h + d) % D]"),
        ("x: {shape: [N]}, i: {shape: [M], dtype: int}", "description: a", "[N, M]", "y[n, m] = x[n]*x[i[m]]"),
        ("x: {shape: [L]}", "params: {k: int}\ndims: {W: k, O: L - k + 1}", "[O, W]", "y[o, r] = x[o + r]"),
    ],
)
def test_dims_in_their_own_places_are_not_warned_of(inputs: str, more: str, shape: str, line: str) -> None:
    assert codes(whole(f"inputs: {{{inputs}}}\n{more}\noutputs: {{y: {{shape: {shape}}}}}", line)) == []


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("i <= j", "i < j"), ("i >= j", "i > j"), ("j <= i", "j < i"), ("i < j", ""), ("i != j", ""), ("j > i", "")],
)
def test_half_of_the_pairs_may_hold_each_with_itself(asked: str, meant: str) -> None:
    fields = "inputs: {pos: {shape: [N, 3]}, charge: {shape: [N]}}"
    distance = "r2[i, j] = sum[a](square(pos[i, a] - pos[j, a]))"
    line = "energy = sum[i, j](where({}, charge[i] * charge[j] / sqrt(r2[i, j]), 0))"
    text = whole(fields, distance, line.format(asked))
    if not meant:
        built(text)
        return
    assert codes(text) == ["OPG261"]
    assert said(text) == [line.format(meant).removeprefix("energy = ")]
    built(whole(fields, distance, line.format(meant)))
