"""What is proposed for shapes of scatters, functions, extents and lists is the very text that builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

BINS = (
    "inputs: {x: {shape: [N], domain: 0 <= x <= 1}, w: {shape: [N]}, ids: {shape: [N], dtype: int}, t: {shape: [V]}}\n"
    "params: {bins: {type: int, default: 16, domain: bins > 0}}"
)


@pytest.mark.parametrize(
    ("before", "position"),
    [
        (("b[n] = min(int(x[n]*bins), bins - 1)",), "b[n]"),
        (("b[n] = x[n]*bins",), "min(int(b[n]), bins - 1)"),
        (("b[n] = x[n]*bins", "c[n] = min(int(b[n]), bins - 1)"), "c[n]"),
        (("b[n] = ids[n]*7 % bins",), "b[n]"),
        (("b[n] = x[n]*bins",), "int(floor(b[n]))"),
    ],
)
def test_a_scatter_at_a_step_on_the_way_has_the_places_that_it_counts(before: tuple[str, ...], position: str) -> None:
    lines = (*before, f"hist[{position}] += w[n]*sum[v](t[v])")
    output, dims, start = said(whole(BINS, *lines))
    assert (output, dims, start) == ("outputs: {hist: {shape: [M]}}", "dims: {M: bins}", "hist[m < bins] = 0")
    built(whole(f"{BINS}\n{output}\n{dims}", *lines), warned=True)
    built(whole(BINS, *before, start, lines[-1]), warned=True)


def test_a_scatter_at_a_copy_of_an_input_goes_as_far_as_what_is_read_there() -> None:
    lines = ("b[n] = ids[n]", "hist[b[n]] += w[n]*t[ids[n]]*bins*x[n]")
    assert said(whole(BINS, *lines)) == ["outputs: {hist: {shape: [V]}}", "hist[v < V] = 0"]


def test_steps_that_read_each_other_count_nothing() -> None:
    lines = ("b[n] = c[n]", "c[n] = b[n]", "hist[b[n]] += w[n]")
    assert diagnosed(whole(BINS, *lines))


def test_each_computed_size_of_outputs_gets_a_name_of_its_own() -> None:
    fields = "inputs: {{x: {{shape: [N, C, H, W]}}}}\noutputs: {{y: {{shape: {}}}, z: {{shape: {}}}}}"
    lines = ("y[n, c, i, j] = x[n, c, i//2, j//2]", "z[j, i] = x[0, 0, i//2, j//2]")
    found = diagnosed(whole(fields.format("[N, C, 2*H, 2*W]", "[2*W, 2 * H]"), *lines))
    told = [re.findall("`([^`]*)`", " ".join(d.hints)) for d in found]
    assert told == [
        ["P", "dims: {P: 2*H}"],
        ["Q", "dims: {Q: 2*W}"],
        ["Q", "dims: {Q: 2*W}"],
        ["P", "dims: {P: 2 * H}"],
    ]
    built(whole(fields.format("[N, C, P, Q]", "[Q, P]") + "\ndims: {P: 2*H, Q: 2*W}", *lines), warned=True)


@pytest.mark.parametrize(
    ("head", "value", "listed", "meant"),
    [
        ("f(v, b)", "v*tanh(b*v)", '["tanh(b*v)", "0"]', '{v: "tanh(b*v)", b: "0"}'),
        ("f(v, b)", "v + b**2", "[1, 2*b]", "{v: 1, b: 2*b}"),
        ("f(v, b)", '"max(v, 0) + b"', "\n    - where(v > 0, 1, 0)\n    - 1", '{v: "where(v > 0, 1, 0)", b: 1}'),
        ("f(v, b)", "v + b", "['1', '1']", "{v: '1', b: '1'}"),
    ],
)
def test_a_list_of_derivatives_is_named_by_the_arguments(head: str, value: str, listed: str, meant: str) -> None:
    fields = f"inputs: [x, a]\nfunctions:\n  {head}:\n   value: {value}\n   derivative: {listed}"
    assert said(whole(fields, "y = f(x, a)")) == [f"derivative: {meant}"]
    built(whole(fields.replace(listed, meant), "y = f(x, a)"))


def test_a_list_of_too_few_derivatives_names_the_arguments() -> None:
    fields = "inputs: [x, a]\nfunctions:\n  f(v, b): {value: v*b, derivative: [b]}"
    assert said(whole(fields, "y = f(x, a)")) == ["derivative: {v: …, b: …}"]


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("scipy.special.voigt_profile", ["{numpy: scipy.special.voigt_profile}"]),
        ("np.sinc", ["{numpy: numpy.sinc}"]),
        ("F.gelu", ["{torch: torch.nn.functional.gelu}"]),
        ("mine.act", ["{torch: mine.act}", "{numpy: mine.act}"]),
        ("std::erf", ['{cpp: "std::erf"}', 'cuda: "std::erf"']),
    ],
)
def test_a_function_of_a_library_is_named_for_the_back_end_that_runs_it(path: str, meant: list[str]) -> None:
    text = whole(f"inputs: [x]\nfunctions:\n  f(v): {{extern: {path}}}", "y = f(x)")
    assert said(text) == meant
    for right in meant[: 2 if path == "mine.act" else 1]:
        built(text.replace(path, right))


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("", "y[n, i < size] = x[n]*i/size"),
        ("", "y[n] = sum[i < size](x[n] + i)"),
        ("dims: {P: size//2}\n", "y[n, p < P] = x[n]*p"),
    ],
)
@pytest.mark.parametrize("size", ["{dtype: int}", "{shape: [], dtype: int32}", "{shape: [], domain: size > 0}"])
def test_a_number_among_the_inputs_that_is_a_size_moves_to_the_params(fields: str, line: str, size: str) -> None:
    text = whole(f"inputs: {{x: {{shape: [N]}}, size: {size}}}\n{fields}", line)
    (found, *_) = diagnosed(text)
    name, right = re.findall("`([^`]*)`", " ".join(found.hints))
    assert name == "inputs"
    built(text.replace(f", size: {size}}}", f"}}\n{right}"), warned=True)


@pytest.mark.parametrize(("size", "value"), [("{shape: [N], dtype: int}", ""), ("{dtype: int}", "*size[...]")])
def test_a_tensor_of_integers_is_no_param(size: str, value: str) -> None:
    found = diagnosed(whole(f"inputs: {{x: {{shape: [N]}}, size: {size}}}", f"y[n, i < size] = x[n]{value}"))
    assert not any("params" in hint for d in found for hint in d.hints)


@pytest.mark.parametrize(
    ("length", "meant"),
    [(1, ["pad[0]"]), (2, ["pad[0]", "pad[1]"]), (3, ["pad[0]", "pad[1]", "pad[2]"]), (6, ["pad[0]", "pad[5]"])],
)
def test_all_elements_are_named_where_nothing_tells_which_is_meant(length: int, meant: list[str]) -> None:
    fields = f"inputs: {{x: {{shape: [H, W]}}}}\nparams: {{pad: {{type: [{', '.join(['int'] * length)}]}}}}"
    line = "y[p < H + pad, q < W] = pad(x[p - pad, q], 0)"
    assert said(whole(fields, line)) == meant
    built(whole(fields, line.replace("+ pad", "+ pad[0]").replace("- pad", f"- {meant[-1]}")), warned=True)


@pytest.mark.parametrize("start", ["a[0]", "0", "2 * a[1] + 1", "sum[k](a[k])"])
def test_a_scatter_into_a_number_starts_from_that_number(start: str) -> None:
    fields = "inputs: {t: {shape: [...]}, a: {shape: [K]}}"
    lines = ("y[...] += a[1]*cos(t)", "y += a[2]*cos(2*t)")
    assert said(whole(fields, f"y = {start}", *lines)) == [f"y[...] = {start}"]
    built(whole(fields, f"y[...] = {start}", *lines), warned=True)


def test_a_scatter_at_positions_into_a_number_starts_from_that_number() -> None:
    fields = "inputs: {x: {shape: [N]}, ids: {shape: [N], dtype: int}, a: {shape: [3]}}"
    start, params = said(whole(fields, "y = a[0]", "y[ids[n]] += x[n]"))
    assert start == "y[m < num_m] = a[0]"
    built(whole(f"{fields}\n{params}", start, "y[ids[n]] += x[n]"))
