"""What a reader with fresh eyes found missing in messages: one mistake is told once, by the line that is meant."""

from __future__ import annotations

import pytest

from opgen.diagnostics.repeats import gathered
from tests.diagnostics.cures import built, diagnosed, said, whole

GRAY = whole("inputs: {img: {shape: [N, C, H, W]}, w: {shape: [C]}}", "y[n, h, v] = sum[c](img[n, c, h, v]*w[c])")
FORWARD = "inputs: {x: {shape: [T, D]}, a: {shape: [D]}}"


@pytest.mark.parametrize(
    ("step", "code", "line"),
    [
        ("a[d]*h[t - 1, d] + x[t]", "OPG212", "x[t, d]"),
        ("h[t - 1, d] + x[t, d]*b[d]", "OPG205", "inputs: {b: {shape: [D]}}"),
        ("max[j](h[t - 1, j]) + x[t]", "OPG212", "x[t, d]"),
    ],
)
def test_a_start_is_not_blamed_for_what_goes_on_from_it(step: str, code: str, line: str) -> None:
    (found,) = diagnosed(whole(FORWARD, "h[-1, d] = 1", f"h[t, d] = {step}"))
    assert found.code == code
    assert line in " ".join(found.hints)


def test_how_far_an_index_runs_is_asked_once() -> None:
    text = whole("inputs: {x: {shape: [T]}, a: {shape: [D]}}", "h[-1, d] = 1", "h[t, d] = h[t - 1, d] + x[t]")
    (found,) = diagnosed(text)
    assert found.span is not None
    assert text[: found.span.start].endswith("h[t, ")
    built(text.replace("h[t, d]", "h[t, d < D]"))


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        ("dw[k] = sum[n](grad_y[n]*x[n, k])", "`grad_w`"),
        ("w_grad[k] = sum[n](grad_y[n]*x[n, k])", "`grad_w`"),
        ("v[k] = sum[n](grad_y[n]*x[n, k])", "`grad_w`"),
        ("dx[n, k] = grad_y[n]*w[k]\n  dw[k] = sum[n](grad_y[n]*x[n, k])", "`grad_x` and `grad_w`"),
    ],
)
def test_a_gradient_under_another_name_is_the_one_that_it_says(stated: str, meant: str) -> None:
    fields = whole("inputs: {x: {shape: [N, K]}, w: {shape: [K]}}", "y[n] = sum[k](x[n, k]*w[k])")
    text = f"{fields}backward: |\n  {stated}\n"
    (found,) = diagnosed(text)
    assert found.hints == (f"assign {meant}",)
    for name in meant.replace("`", "").split(" and "):
        of = name.removeprefix("grad_")
        text = text.replace(f"d{of}[", f"{name}[").replace(f"{of}_grad[", f"{name}[").replace("v[k] =", f"{name}[k] =")
    built(text)


@pytest.mark.parametrize(
    ("tests", "line"),
    [
        ("{cases: [{img: [2, 3, 8, 8], w: [3, 1, 2]}]}", "{N: 2, C: 3, H: 8, W: 8}"),
        ("{sizes: {img: [2, 3, 8, 8], w: [3]}}", "sizes: {N: 2, C: 3, H: 8, W: 8}"),
        ("{sizes: [2, 3, 8, 8]}", "sizes: {N: 2, C: 3, H: 8, W: 8}"),
        ("{cases: [{sizes: {img: [2, 3, 8, 8], w: [3]}}]}", "{N: 2, C: 3, H: 8, W: 8}"),
    ],
)
def test_sizes_are_written_by_dims(tests: str, line: str) -> None:
    assert {*said(f"{GRAY}tests: {tests}\n")} == {line}
    built(f"{GRAY}tests: {{{line}}}\n" if line.startswith("sizes") else f"{GRAY}tests: {{cases: [{line}]}}\n")


@pytest.mark.parametrize("sizes", ["[2, 3]", "{img: [2, 3]}", "{N: [2]}", "{img: [2, 3, 8, 8], w: [4]}"])
def test_sizes_that_fit_no_shape_are_shown_by_an_example(sizes: str) -> None:
    assert {*said(f"{GRAY}tests: {{sizes: {sizes}}}\n")} == {"sizes: {N: 2}"}


@pytest.mark.parametrize(
    ("cases", "meant"),
    [
        ("[[2, 3, 8, 8], [1, 3, 4, 4]]", "[{N: 2, C: 3, H: 8, W: 8}, {N: 1, C: 3, H: 4, W: 4}]"),
        ("[[2, 3, 8, 8], [3]]", "[{N: 2, C: 3, H: 8, W: 8}]"),
        ("[2, 3, 8, 8]", "[{N: 2, C: 3, H: 8, W: 8}]"),
        ("{img: [2, 3, 8, 8]}", "[{N: 2, C: 3, H: 8, W: 8}]"),
        ("{img: [2, 3, 8, 8], w: [3]}", "[{N: 2, C: 3, H: 8, W: 8}]"),
        ("[[2, 3]]", "[{N: 3}]"),
        ('["2x3"]', "[{N: 3}]"),
        ("3", "[{N: 3}]"),
    ],
)
def test_shapes_in_the_place_of_cases_are_told_once_with_the_field_of_sizes(cases: str, meant: str) -> None:
    found = gathered(diagnosed(f"{GRAY}tests: {{cases: {cases}}}\n"))
    assert len(found) == 1
    first = meant[1:].partition("}")[0]
    assert said(f"{GRAY}tests: {{cases: {cases}}}\n")[:2] == [f"cases: {meant}", f"sizes: {first}}}"]
    built(f"{GRAY}tests: {{cases: {meant}, sizes: {first}}}}}\n")


def test_values_in_a_case_stay_values() -> None:
    (found,) = diagnosed(f"{GRAY}tests: {{cases: [{{values: {{w: [3]}}}}]}}\n")
    assert found.hints == ("values stand directly in the case: `{w: [3]}`",)


@pytest.mark.parametrize("product", ["G*D", "D*G"])
def test_a_param_that_is_the_size_of_nothing_else_is_a_factor_of_a_shape(product: str) -> None:
    text = whole(
        f"inputs: {{x: {{shape: [N, {product}, L]}}}}\nparams: {{groups: {{type: int, default: 2}}, eps: float}}",
        "m[n, g] = mean[d, l](x[n, g*D + d, l])",
        "v[n, g] = mean[d, l]((x[n, g*D + d, l] - m[n, g])**2)",
        "y[n, c, l] = (x[n, c, l] - m[n, c//D])*rsqrt(v[n, c//D] + eps)",
    )
    assert f"dims: {{G: groups, C: {product}}}" in said(text)
    assert {"g < G", "d < D"} <= {*said(text)}
    text = text.replace(product, "C").replace("forward", f"dims: {{G: groups, C: {product}}}\nforward")
    built(text.replace("[n, g] =", "[n, g < G] =").replace("[d, l]", "[d < D, l]"))


def test_a_param_stands_for_a_factor_of_a_shape() -> None:
    text = whole("inputs: {x: {shape: [B, T, heads*D]}}\nparams: {heads: int}", "y[b, t, h, d] = x[b, t, h*D + d]")
    (found,) = diagnosed(text)
    assert found.hints == (
        "write a name of its own here, such as `E`, and `dims: {E: heads*D}`; where nothing else says how far its "
        "parts run, `h < heads` and `d < D`",
    )
    text = text.replace("heads*D", "E").replace("forward", "dims: {E: heads*D}\nforward")
    built(text.replace("h, d]", "h < heads, d < D]"))


def test_a_factor_that_nothing_tells_has_a_param_that_is_declared() -> None:
    text = whole("inputs: {x: {shape: [N, G*D]}}", "y[n, g, d] = x[n, g*D + d]")
    assert "params: {num_g: int}" in said(text)


def test_a_computed_size_has_one_name_in_all_shapes() -> None:
    fields = "inputs: {x: {shape: [N, G*D]}, w: {shape: [G * D]}}\nparams: {groups: int}"
    first, second = diagnosed(whole(fields, "y[n, c] = x[n, c]*w[c]"))
    assert "`C`" in first.hints[0]
    assert second.hints == ("write `C` here, too",)


@pytest.mark.parametrize("batch", ["", "..., "])
def test_attention_of_a_transpose_is_one_whole_line(batch: str) -> None:
    shapes = f"inputs: {{q: {{shape: [{batch}L, E]}}, k: {{shape: [{batch}M, E]}}}}"
    text = whole(shapes, "y = softmax(q @ k.T/sqrt(E), dim=-1)")
    line = f"y[{batch}l, m] = softmax[m](sum[e](q[{batch}l, e] * k[{batch}m, e]) / sqrt(E))"
    assert line in said(text)
    built(whole(shapes, line))


def test_what_is_meant_is_all_that_is_said_of_a_second_argument() -> None:
    (found,) = diagnosed(whole("inputs: [x]", "y = log(x, 2)"))
    assert found.hints == ("write `log(x)/log(2)`",)


def test_a_row_of_a_tensor_is_read_along_the_reduction_around_it() -> None:
    shapes, line = "inputs: {x: {shape: [B, N, D]}}", "y[b, i, j] = sum[k]((x[b, i] - x[b, j])**2)"
    assert said(whole(shapes, line)) == ["x[b, i, k]", "x[b, j, k]"]
    built(
        whole(
            shapes, line.replace("i]", "i, k]").replace("- x[b, j]", "- x[b, j, k]").replace("y[b, i, k]", "y[b, i, j]")
        )
    )


@pytest.mark.parametrize("place", ["p < P", "p"])
def test_one_window_too_many_is_mended_where_they_are_counted(place: str) -> None:
    fields = "inputs: {x: {shape: [..., L]}}\nparams: {size: {type: int, default: 2}}\ndims: {P: L - size + 2}"
    fields += "\noutputs: {y: {shape: [..., P]}}" if place == "p" else ""
    text = whole(fields, f"y[..., {place}] = mean[r < size](x[..., p + r])")
    first, *others = said(text)
    assert first == "dims: {P: L + 1 - size}"
    assert not any(line.startswith(("r <", "p <")) for line in others)
    built(text.replace("dims: {P: L - size + 2}", first))


def test_a_convolution_of_vectors_is_a_window_of_vectors() -> None:
    fields = "inputs: {x: {shape: [N]}, w: {shape: [R]}}"
    for call in ("conv1d(x, w)", "convolve(x, w)"):
        lines = [line for line in said(whole(fields, f"y = {call}")) if line.startswith("y[n")]
        assert len(lines) == 1
        built(whole(fields, lines[0]))


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("pad(x, 1)[..., t + r]", "pad(x[..., t + r - 1], 0)"),
        ("pad(x, 2)[..., t + r + 1]", "pad(x[..., t + r - 1], 0)"),
        ("pad(x, 1)[..., t + 1]*r", "pad(x[..., t], 0)*r"),
    ],
)
def test_positions_behind_a_tensor_padded_by_a_width_begin_earlier(read: str, meant: str) -> None:
    fields = "inputs: {x: {shape: [..., T]}, w: {shape: [3]}}"
    text = whole(fields, f"y[..., t < T] = sum[r](w[r]*{read})")
    assert any(meant.split("*", maxsplit=1)[0] in line for line in said(text))
    built(text.replace(read, meant), warned=True)
