"""What is brought from torch, NumPy and einops: an input with one element more, masks, kept dims, groups of a shape."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

SAME = "inputs: {r: {shape: [B, T]}, v: {shape: [B, T]}}"
LONGER = "inputs: {{r: {{shape: [B, T]}}, v: {{shape: [B, S]}}}}\ndims: {{T: S - {}}}"


@pytest.mark.parametrize(
    ("lines", "more", "bound"),
    [
        (["d[b, t] = r[b, t] + v[b, t + 1] - v[b, t]"], 1, ["d[b, t < T]"]),
        (["d[b, t] = r[b, t] + v[b, t + 1]"], 1, []),
        (["d[b, t] = r[b, t]*v[b, t + 1] - v[b, t]", "a[b, t] = d[b, t] + 0.9*a[b, t + 1]"], 1, ["d[b, t < T]"]),
        (["a[b, t] = r[b, t] + v[b, t + 1] - v[b, t] + 0.9*a[b, t + 1]"], 1, ["a[b, t < T]"]),
        (["y[b] = sum[t]((r[b, t] + v[b, t + 1] - v[b, t])**2)"], 1, ["sum[t < T]"]),
        (
            ["d[b, t] = r[b, t] + v[b, t + 2] - v[b, t]", "e[b, t] = d[b, t] + v[b, t]"],
            2,
            ["d[b, t < T]", "e[b, t < T]"],
        ),
        (["d[b, t] = r[b, t] + v[b, t + 1]*v[b, t + 2]"], 2, []),
    ],
)
def test_an_input_that_is_read_behind_the_dim_of_others_may_have_more(
    lines: list[str], more: int, bound: list[str]
) -> None:
    hints = {found.hints[-1] for found in diagnosed(whole(SAME, *lines))}
    (proposed,) = [re.findall(r"`([^`]*)`", hint)[2:] for hint in hints]
    assert proposed[:2] == ["v: {shape: [B, S]}", f"dims: {{T: S - {more}}}"]
    text = whole(LONGER.format(more), *lines)
    assert len(proposed) == len(bound) + 2
    for line, head in zip(proposed[2:], bound, strict=True):
        assert line.startswith(head)
        text = text.replace(head.replace(" < T", ""), head, 1)
    built(text)


@pytest.mark.parametrize(
    "text",
    [
        whole("inputs: {v: {shape: [B, T]}}", "d[b, t] = v[b, t + 1] - v[b, t]"),
        whole(SAME, "d[b, t] = r[b, t] + v[b, t + 1] - v[b, t - 1]"),
        whole(SAME + "\ntests: {sizes: {T: 4}}", "d[b, t] = r[b, t] + v[b, t + 1]"),
        whole("inputs: {r: {shape: [T]}, v: {shape: [T, T]}}", "d[t] = r[t] + v[t, t + 1]"),
    ],
)
def test_no_longer_input_is_proposed_where_its_dim_is_stated_or_its_own(text: str) -> None:
    assert not any("more than" in hint for found in diagnosed(text) for hint in found.hints)


NAMED = "inputs: {x: {shape: [N, K]}, m: {shape: [N, K], dtype: bool}}"
PLAIN = "inputs: [x]\nparams: {lo: {default: -1.0}, hi: {default: 1.0}}"


@pytest.mark.parametrize(
    ("fields", "lines", "meant"),
    [
        (PLAIN, ["y = x", "y[x > hi] = hi", "y[x < lo] = lo"], "y = where(x < lo, lo, where(x > hi, hi, x))"),
        (PLAIN, ["y = hi", "y[x > 1] = 1", "y[x < lo] = -x[x < lo]"], "y = where(x < lo, -x, where(x > 1, 1, hi))"),
        (PLAIN, ["y = x", "y[x > 1] = y[x > 1]*2", "y[x < lo] = 0"], "y = where(x < lo, 0, where(x > 1, x * 2, x))"),
        (PLAIN, ["y = x", "y[x > 1] *= 2"], "y = where(x > 1, x * 2, x)"),
        (PLAIN, ["y = x + 1", "y[x > 1 and x < 2] += hi"], "y = where(x > 1 and x < 2, (x + 1) + hi, x + 1)"),
        (PLAIN, ["y = x", "y[isnan(x)] = 0"], "y = where(isnan(x), 0, x)"),
        (PLAIN, ["y[x > 0] = x", "y[x <= 0] = lo*x"], "y = where(x > 0, x, lo * x)"),
        (
            PLAIN,
            ["x[x > hi] = hi", "x[x < lo] = lo"],
            "x2 = where(where(x > hi, hi, x) < lo, lo, where(x > hi, hi, x))",
        ),
        (
            NAMED,
            ["y[n, k] = x[n, k]", "y[x > 1] = 1", "y[m] = 0"],
            "y[n, k] = where(m[n, k], 0, where(x[n, k] > 1, 1, x[n, k]))",
        ),
    ],
)
def test_several_masks_are_one_nested_choice(fields: str, lines: list[str], meant: str) -> None:
    assert said(whole(fields, *lines)) == [meant]
    built(whole(fields, meant), warned=True)


def test_masks_of_something_unread_are_told_with_it() -> None:
    line = "y[n, k] = where(m[n, k], 0, where(x[n, k] > 1, 1, 2 * x[n, k]))"
    assert said(whole(NAMED, "y = 2*x", "y[x > 1] = 1", "y[m] = 0")) == [line]


def test_masks_without_a_whole_leave_open_what_the_others_are() -> None:
    lines = ["y[x > 1] = 1", "y[x < -1] = -1", "z = 2*y"]
    assert said(whole(PLAIN, *lines)) == ["y = where(x < -1, -1, where(x > 1, 1, …))", "…"]
    assert said(whole(PLAIN, "y[x < 1] = 1", "z = y*2")) == ["y[...] = where(x[...] < 1, 1, …)"]


@pytest.mark.parametrize(
    ("line", "kept", "without"),
    [
        ("y[n, k, 1, 1] = mean[i, j](v[n, k, i, j])", "y[n, k, l < 1, m < 1]", "y[n, k]"),
        ("y[n, k, 0, 0] = mean[i, j](v[n, k, i, j])", "y[n, k, l < 1, m < 1]", "y[n, k]"),
        ("y[1, k] = sum[n](x[n, k])", "y[i < 1, k]", "y[k]"),
        ("y[n, 1] = sum[k](x[n, k])", "y[n, i < 1]", "y[n]"),
        ("y[0, 0] = sum[n, k](x[n, k])", "y[i < 1, j < 1]", "y"),
    ],
)
def test_a_result_that_keeps_dims_of_size_1_has_an_index_for_each(line: str, kept: str, without: str) -> None:
    inputs = "inputs: {x: {shape: [N, K]}, v: {shape: [N, K, P, Q]}}"
    value = line.partition(" = ")[2]
    lines = said(whole(inputs, line))
    assert lines[0] == f"{kept} = {value}"
    assert lines[1].replace("[]", "") == f"{without} = {value}"
    for made in lines:
        built(whole(inputs, made), warned=True)
    sizes = ", ".join({"n": "N", "k": "K"}.get(i, "1") for i in re.findall(r"(\w+)(?: < 1)?(?=[,\]])", kept))
    declared = f"{inputs}\noutputs: {{y: {{shape: [{sizes}]}}}}"
    assert said(whole(declared, line)) == lines[:1]
    built(whole(declared, lines[0]), warned=True)


def test_a_kept_dim_that_is_read_is_left_out_and_a_component_is_none() -> None:
    lines = ["y[n, 1, 1] = sum[k](x[n, k])", "z[n, k] = x[n, k] - y[n, 1, 1]"]
    assert said(whole(NAMED, *lines)) == ["y[n] = sum[k](x[n, k])", "z[n, k] = x[n, k] - y[n]"]
    two = whole(f"{NAMED}\noutputs: {{y: {{shape: [N, 2]}}}}", "y[n, 1] = sum[k](x[n, k])")
    assert said(two) == ["y[n, 0] = …"]


@pytest.mark.parametrize("group", ["(H, D)", "( H,D )", "[H, D]", "(H D)"])
def test_a_group_of_einops_in_a_shape_is_a_dim_that_others_are_worked_out_of(group: str) -> None:
    wrong = whole(f"inputs: {{x: {{shape: [B, H]}}, w: {{shape: [B, {group}]}}}}", "y[b, c] = w[b, c]*x[b, c//D]")
    (found,) = diagnosed(wrong)
    assert found.span is not None
    assert (found.code, found.span.text) == ("OPG224", group)
    assert said(wrong)[:2] == ["C", "dims: {C: H*D}"]
    built(wrong.replace(f"{group}]}}}}", "C]}}\ndims: {C: H*D}"))


def test_a_group_of_a_result_is_a_product() -> None:
    fields = "inputs: {{x: {{shape: [B, H, D]}}}}\noutputs: {{y: {{shape: [B, {}]}}}}"
    (found,) = diagnosed(whole(fields.format("(H, D)"), "y[b, c] = x[b, c//D, c % D]"))
    assert found.hints == ("write a name here, such as `P`, and `dims: {P: H*D}`",)
    built(whole(fields.format("P") + "\ndims: {P: H*D}", "y[b, c] = x[b, c//D, c % D]"))


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (["y = a +", "    b"], ["y = (a +", "b)"]),
        (["y = a*", "  0.5*log(2*pi)  # half", "z = 2*y"], ["y = (a*", "0.5*log(2*pi))"]),
        (["y = a -", "   exp(b) +", "   2"], ["y = (a -", "2)"]),
        (["y = where(a > 0 and", "  b > 0, a, b)", "z = y -", "  (a + b)"], ["z = (y -", "(a + b))"]),
        (["y =", "  a + b"], ["y = a + b"]),
        (["y = a *", "z = 2*b"], []),
    ],
)
def test_a_line_that_ends_in_an_operator_is_told_once(lines: list[str], meant: list[str]) -> None:
    text = whole("inputs: [a, b]", *lines)
    (found,) = diagnosed(text)
    assert re.findall(r"`([^`]*)`", found.hints[0].removeprefix("a formula begins on the line of its `=`")) == meant


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[k, k] = sum[n](x[n, k]*x[n, k])", "y[k, j] = sum[n](x[n, k] * x[n, j])"),
        ("y[n, n] = sum[k]((x[n, k] - x[n, k])**2)", "y[n, j] = sum[k]((x[n, k] - x[j, k])**2)"),
        ("y[n, n] = sum[k](x[n, k] * where(m[n, k], 1, 0))", "y[n, j] = sum[k](x[n, k] * where(m[j, k], 1, 0))"),
    ],
)
def test_an_index_that_stands_twice_may_mean_all_pairs(line: str, meant: str) -> None:
    lines = said(whole(NAMED, line))
    assert lines[0] == meant
    assert all("where(" in diagonal for diagonal in lines[1:])
    for made in lines:
        built(whole(NAMED, made), warned=True)


def test_one_read_at_an_index_that_stands_twice_is_a_diagonal() -> None:
    assert len(said(whole(NAMED, "y[n, n] = x[n, 0]"))) == 1


@pytest.mark.parametrize(
    ("line", "meant", "inputs"),
    [
        ("y[i] = sum[j](A[i, j]*x[j])", "y[i] = sum[j](a[i, j] * x[j])", "a: {shape: [I, J]}"),
        ("y[a] = sum[b](A[a, b]*x[b])", "y[a] = sum[b](a2[a, b] * x[b])", "a2: {shape: [A, B]}"),
        (
            "y[i] = sum[j](W1[i, j]*InProj[j]) + B[i]",
            "y[i] = sum[j](w1[i, j] * in_proj[j]) + b[i]",
            "w1: {shape: [I, J]}, in_proj: {shape: [J]}, b: {shape: [I]}",
        ),
    ],
)
def test_tensors_with_a_capital_are_told_once_in_small_letters(line: str, meant: str, inputs: str) -> None:
    assert said(whole("inputs: {x: {shape: [J]}}", line)) == [meant, f"inputs: {{{inputs}}}"]
    own = "" if "x[" not in meant else ", x: {shape: [B]}" if "a2" in meant else ", x: {shape: [J]}"
    built(whole(f"inputs: {{{inputs}{own}}}", meant))


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("{N: 4, D: 8}", "{sizes: {N: 4, D: 8}}"),
        ("{sizes: {N: 4}, D: 8}", "{sizes: {N: 4, D: 8}}"),
        ("{D: 8, tolerances: {rtol: 0.001}}", "{sizes: {D: 8}, tolerances: {rtol: 0.001}}"),
    ],
)
def test_sizes_in_tests_itself_are_told_in_one_line(wrong: str, meant: str) -> None:
    text = whole("inputs: {x: {shape: [N, D]}}", "z[n] = sum[d](x[n, d])") + f"tests: {wrong}\n"
    (found,) = diagnosed(text)
    assert found.hints == (f"a size stands under `sizes`: `tests: {meant}`",)
    assert found.edit is not None
    assert (found.edit.span.text, found.edit.text) == (wrong, meant)
    built(text.replace(wrong, meant))


def test_sizes_in_a_block_of_tests_are_told_once() -> None:
    text = whole("inputs: {x: {shape: [N, D]}}", "z[n] = sum[d](x[n, d])") + "tests:\n  N: 4\n  D: 8\n"
    assert said(text) == ["sizes", "tests: {sizes: {N: 4, D: 8}}"]


@pytest.mark.parametrize(
    ("case", "meant"),
    [
        ("{hi: 0.5, rtol: 0.001, atol: 0.01}", "tolerances: {rtol: 0.001, atol: 0.01}"),
        ("{hi: 0.5, tolerances: {rtol: 0.001}}", "tolerances: {rtol: 0.001}"),
    ],
)
def test_tolerances_in_a_case_stand_beside_the_cases(case: str, meant: str) -> None:
    text = whole(PLAIN, "y = where(x > lo, hi, x)")
    assert said(f"{text}tests:\n  cases:\n    - {case}\n") == [meant]
    built(f"{text}tests:\n  cases:\n    - {{hi: 0.5}}\n  {meant}\n")


GRAPH = "inputs: {dst: {shape: [E], dtype: int, domain: 0 <= dst < num}, x: {shape: [E, D]}}\nparams: {num: int}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y = zeros(num).at[dst].add(1)", ["y[n < num] = 0", "y[dst[e]] += 1"]),
        ("y = jnp.zeros((num, D)).at[dst].add(x)", ["y[n < num, d < D] = 0", "y[dst[e], d] += x[e, d]"]),
        ("y = full((num, D), -inf).at[dst].max(x)", ["y[n < num, d < D] = -inf", "y[dst[e], d] max= x[e, d]"]),
        ("y = ones((num, D)).at[dst].multiply(x)", ["y[n < num, d < D] = 1", "y[dst[e], d] *= x[e, d]"]),
    ],
)
def test_what_a_scatter_begins_with_is_a_statement_where_no_shape_says_it(line: str, meant: list[str]) -> None:
    assert said(whole(GRAPH, line)) == meant
    built(whole(GRAPH, *meant), warned=True)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("x.permute(0, 2, 1, 3)", "y[..., h, l, e] = x[..., l, h, e]"),
        ("x.permute(0, 1, 3, -1, 2)*2", "y[..., h, e, l] = x[..., l, h, e] * 2"),
        ("x.transpose(-1, -3)", "y[..., e, h, l] = x[..., l, h, e]"),
        ("x.permute(1, 0, 2, 3)", None),
        ("x.transpose(0, 1)", None),
    ],
)
def test_axes_behind_batch_dims_change_places_by_their_indices(value: str, meant: str | None) -> None:
    fields = "inputs: {x: {shape: [..., L, H, E]}}"
    lines = [line for line in said(whole(fields, f"y = {value}")) if line.startswith("y")]
    assert lines == ([] if meant is None else [meant])
    built(whole(fields, meant or "y[..., h, l] = x[..., l, h, 0]"))


@pytest.mark.parametrize(
    ("interval", "meant"),
    [
        ("t in [0, C)", "0 <= t < C"),
        ("t in (0, C]", "0 < t < C"),
        ("t ∈ [0, 8)", "0 <= t < 8"),
        ("t in [0, inf)", "t >= 0"),
    ],
)
def test_an_interval_inside_of_braces_is_told_at_once(interval: str, meant: str) -> None:
    fields = "inputs: {{p: {{shape: [N, C]}}, t: {{shape: [N], dtype: int, domain: {}}}}}"
    lines = said(whole(fields.format(interval), "y[n] = p[n, t[n] % C]"))
    assert f"domain: {meant}" in lines
    built(whole(fields.format(meant), "y[n] = p[n, t[n] % C]"), warned=True)


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        (whole("inputs: {x: {shape: [N, d]}}", "y[n] = sum[d](x[n, d])"), [("d", "D")]),
        (whole("inputs: {x: {shape: [N], domain: '[0, 1]'}}", "y[n] = x[n]"), [("'[0, 1]'", "0 <= x <= 1")]),
        (
            whole("inputs: {k: {shape: [N, K]}}", "y[n] = sum[k](k[n, k])"),
            [("y[n] = sum[k](k[n, k])", "y[n] = sum[i](k[n, i])")],
        ),
        (whole("inputs: {h: {shape: [N, T]}}", "y[n] = 2*h[n, -1]"), [("h[n, -1]", "h[n, T - 1]")]),
        (
            whole("inputs: {x: {shape: [N, K]}, m: {shape: [N, 1]}}", "y[n, k] = x[n, k]*m[n, k]"),
            [("m[n, k]", "m[n, 0]")],
        ),
        (whole("inputs: [x]", "y = 2*x") + "backward: grad_x = 2*grad_output\n", [("grad_output", "grad_y")]),
    ],
)
def test_the_one_line_that_is_certain_is_an_edit(text: str, edits: list[tuple[str, str]]) -> None:
    found = [d.edit for d in diagnosed(text)]
    assert [(e.span.text, e.text) for e in found if e is not None] == edits
    (old, new), (edit,) = edits[0], found
    assert edit is not None
    built(f"{text[: edit.span.start]}{new}{text[edit.span.start + len(old) :]}", warned=True)


def test_no_edit_where_a_number_of_places_may_be_meant() -> None:
    fields = "inputs: {x: {shape: [N, K]}}\nparams: {k: {type: int}}"
    assert all(d.edit is None for d in diagnosed(whole(fields, "y[n] = sum[k](x[n, 0])")))
