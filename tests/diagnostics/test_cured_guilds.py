"""What other trades write in a spec where opgen has a word of its own: what is proposed in its place builds."""

from __future__ import annotations

import pytest
from torch.nn import functional

from opgen.diagnostics.model import Bag, Diagnostic, Source, Span
from opgen.diagnostics.suggest import did_you_mean_part
from opgen.schema.formula import Word
from opgen.schema.paths import not_in_torch
from tests.diagnostics.cures import built, diagnosed, whole

LABELS = "inputs: {x: {shape: [N], dtype: int}, v: {shape: [N]}}"


def lone(text: str) -> Diagnostic:
    (found,) = diagnosed(text)
    return found


@pytest.mark.parametrize(
    ("formula", "code", "meant"),
    [
        ("1//2*(1 + erf(v/sqrt(2)))", "OPG275", "1/2"),
        ("where(v == nan, 0, v)", "OPG274", "isnan(v)"),
        ("clamp(v, 1, -1)", "OPG276", "clamp(v, -1, 1)"),
        ("v - v", "OPG284", None),
        ("relu(-abs(v))", "OPG284", None),
        ("v*sin(pi*2)", "OPG288", None),
    ],
)
def test_a_formula_of_a_function_is_doubted_like_a_statement(formula: str, code: str, meant: str | None) -> None:
    text = whole(f"inputs: [x]\nfunctions: {{'f(v)': '{formula}'}}", "y = f(x) + f(2*x)")
    found = lone(text)
    plain = lone(whole("inputs: [v]", f"y = {formula}"))
    assert (found.code, found.message, found.hints) == (plain.code, plain.message, plain.hints)
    assert found.code == code
    if meant is not None:
        assert f"`{meant}`" in found.hints[0]
        built(text.replace(found.span.text if found.span else "", meant))


def test_arguments_hide_what_has_their_names() -> None:
    fields = "inputs: {x: {}, k: {dtype: int, domain: k > 1}}"
    fields += "\nparams: {a: float, b: {type: float, domain: b > a}}"
    fields += "\nfunctions: {'f(k)': 'k % 1', 'g(a)': 'relu(a - b)'}"
    built(whole(fields, "y = f(x) + g(x) + a*k"))


def test_a_quotient_in_a_position_is_no_fraction() -> None:
    fields = "inputs: {x: {shape: [N]}, k: {shape: [M], dtype: int}}\nfunctions: {'at(i)': 'i + 1//2'}"
    found = lone(whole(fields, "y[m] = x[at(k[m])]"))
    assert found.code == "OPG275"
    assert found.hints == ()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("x[n] == 0 or 1", "x[n] == 0 or x[n] == 1"),
        ("x[n] == 0 or 1 or -1", "x[n] == 0 or x[n] == 1 or x[n] == -1"),
        ("x[n] != 0 and 1", "x[n] != 0 and x[n] != 1"),
        ("x[n] != 0 or 1", "x[n] != 0 and x[n] != 1"),
        ("0 or 1 == x[n]", "0 == x[n] or 1 == x[n]"),
        ("x[n] > 3 and 5", "x[n] > 3 and x[n] > 5"),
        ("x[n] == k or 1", "x[n] == k or x[n] == 1"),
        ("x[n] == 0 or k", "x[n] == 0 or x[n] == k"),
    ],
)
def test_a_number_beside_a_comparison_is_compared_too(typed: str, meant: str) -> None:
    text = whole(f"{LABELS}\nparams: {{k: {{type: int, default: 3}}}}", f"y = sum[n](where({typed}, v[n], k))")
    assert lone(text).hints[0] == f"write `{meant}`"
    built(text.replace(typed, meant))


def test_a_number_alone_is_not() -> None:
    found = lone(whole(LABELS, "y = sum[n](where(v[n] > 0 and x[n], v[n], 0))"))
    assert found.hints == ("compare it, for example `x[n] != 0`",)


X = "inputs: {x: {shape: [N, D]}, seed: {dtype: seed}}\nparams: {k: {type: int}, m: {type: int}}"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("y[n, d] = x[n, d] + 2*normal(seed, N, D)", "y[n, d] = x[n, d] + 2*normal(seed)"),
        ("y[n, d] = x[n, d] + uniform(seed, D)", "y[n, d] = x[n, d] + uniform(seed)"),
        ("y[n, d] = x[n, d] + integer(seed, k, N)", "y[n, d] = x[n, d] + integer(seed, k)"),
        ("y[n, d] = x[n, d] + integer(seed, N, N, D)", "y[n, d] = x[n, d] + integer(seed, N)"),
        ("y[n, j < k] = x[n, 0] + normal(seed, N, k)", "y[n, j < k] = x[n, 0] + normal(seed)"),
        ("y[n, d] = normal(seed, N, D)", "y[n < N, d < D] = normal(seed)"),
        ("y[n, j < k] = normal(seed, N, k)", "y[n < N, j < k] = normal(seed)"),
        ("y = uniform(seed, N, D)", "y[n < N, d < D] = uniform(seed)"),
    ],
)
def test_a_draw_is_told_to_leave_sizes_out(typed: str, meant: str) -> None:
    text = whole(X, typed, "z[n] = x[n, 0]*k*m")
    (hint,) = lone(text).hints
    why, _, written = hint.partition(": leave the sizes out: ")
    assert why == "a number is drawn for each place of the statement"
    assert written.strip("`") in (meant, meant.partition(" + ")[2].removeprefix("2*"))
    built(text.replace(typed, meant))


def test_a_mean_and_a_deviation_are_no_sizes() -> None:
    (hint,) = lone(whole(X, "y[n, d] = x[n, d] + normal(seed, m, k)")).hints
    assert hint == "with this mean and deviation it is written `m + k*normal(seed)`"


@pytest.mark.parametrize("typed", ["tuple", "list", "List[int]", "Tuple[int, int]", "Tuple[int, ...]", "int[2]"])
def test_a_list_has_the_types_of_its_default(typed: str) -> None:
    text = whole(f"inputs: [x]\nparams: {{s: {{type: {typed}, default: [2, 3]}}}}", "y = x*s[0] + s[1]")
    assert lone(text).hints == ("a list says the type of each element: write `type: [int, int]`",)
    built(text.replace(typed, "[int, int]"))


@pytest.mark.parametrize(
    ("default", "meant"),
    [("[0.5, 2]", "[float, float]"), ("[true, false]", "[bool, bool]"), ("[1, 2, 3]", "[int, int, int]")],
)
def test_the_elements_of_a_default_say_it(default: str, meant: str) -> None:
    (hint,) = lone(whole(f"inputs: [x]\nparams: {{s: {{type: tuple, default: {default}}}}}", "y = x*s[0]")).hints
    assert hint == f"a list says the type of each element: write `type: {meant}`"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("gelu_tanh", "gelu"), ("leaky_relu_slope", "leaky_relu"), ("log_softmx", "log_softmax"), ("siluu", "silu")],
)
def test_a_function_with_a_word_behind_it_is_the_function(typed: str, meant: str) -> None:
    bag = Bag()
    path = f"torch.nn.functional.{typed}"
    not_in_torch(Word(path, Span(Source("s.yaml", path), 0, len(path))), bag)
    assert bag.items[0].hints == (f"did you mean `torch.nn.functional.{meant}`?",)
    assert did_you_mean_part(typed, dir(functional)) == (f"did you mean `{meant}`?",)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("y = (1./w.^2) .* exp(-2*r.^2./w.^2)", "y = (1/w**2) * exp(-2*r**2/w**2)"),
        ("y = r2.^2 .+ exp.(w)", "y = r2**2 + exp(w)"),
        ("y = 0.5.*r.^2 - 1.5*w", "y = 0.5*r**2 - 1.5*w"),
        ("y = r.*w^2", "y = r*w**2"),
        ("y = w^2 + 2.^r.*w", "y = w**2 + 2**r*w"),
        ("y = 1.5e0*r ./ w", "y = 1.5e0*r / w"),
    ],
)
def test_operators_for_each_element_are_written_without_a_dot(typed: str, meant: str) -> None:
    text = whole("inputs: [r, w, r2]\noutputs: [y]", "z = r2*r*w", typed)
    (hint,) = lone(text).hints
    assert hint.partition("leave the `.` away: ")[2] == f"`{meant}`"
    built(whole("inputs: [r, w, r2]\noutputs: [y, z]", "z = r2*r*w", meant))


def test_all_lines_are_written_without_dots() -> None:
    (hint,) = lone(whole("inputs: [r, w]", "z = r.^2", "y = z.*w.^3")).hints
    assert hint.endswith("leave the `.` away: `z = r**2` and `y = z*w**3`")


TOP = "inputs: {x: {shape: [..., K]}}\nparams: {k: {type: int, default: 3, domain: k > 0}}"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("o[..., k] = argsort[k](-x[..., k])", "o[..., i] = argsort[i](-x[..., i])"),
        ("o[..., k] = x[..., k] - mean[j](x[..., j])", "o[..., i] = x[..., i] - mean[j](x[..., j])"),
        ("o[..., j] = x[..., j] - mean[k](x[..., k])", "o[..., j] = x[..., j] - mean[i](x[..., i])"),
    ],
)
def test_an_index_along_a_whole_axis_has_another_letter(typed: str, meant: str) -> None:
    text = whole(TOP, typed, "y[...] = mean[j < k](x[..., j])")
    (hint,) = lone(text).hints
    assert hint == f"use another letter, such as `i`: `{meant}`"
    built(text.replace(typed, meant))


def test_an_index_that_may_be_the_param_as_well_has_no_line() -> None:
    (hint,) = lone(whole(TOP, "o[..., k] = k*x[..., k]")).hints
    assert hint == "use another letter, such as `i`"


def test_what_a_declared_shape_needs_is_padded() -> None:
    fields = "inputs: {u: {shape: [..., H]}}\noutputs: {v: {shape: [..., H]}}"
    text = whole(fields, "v[..., i] = u[..., i + 1] + u[..., i - 1] - 2*u[..., i]")
    (found,) = diagnosed(text)
    line = "v[..., i] = pad(u[..., i + 1], 0) + pad(u[..., i - 1], 0) - 2*u[..., i]"
    assert found.hints[0] == f"write `{line}`, or what there is outside in place of 0"
    assert not any("let `i` end earlier" in h for h in found.hints)
    built(text.replace("v[..., i] = u[..., i + 1] + u[..., i - 1] - 2*u[..., i]", line))


def test_an_index_that_says_how_far_it_runs_ends_earlier() -> None:
    (found,) = diagnosed(whole("inputs: {u: {shape: [..., H]}}", "v[..., i < H] = u[..., i + 1]*2"))
    assert found.hints[0] == "write `i < H - 1`"
