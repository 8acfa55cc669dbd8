"""Functions that are called with other arguments than they take, and other habits: what is said builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

FIELDS = "inputs: [x, z]\nparams: {beta: {default: 1.5}, threshold: {default: 20.0}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("silu(x, beta)", "x*sigmoid(beta*x)"),
        ("sigmoid(x, beta)", "sigmoid(beta*x)"),
        ("softplus(x, beta, threshold)", "softplus(beta*x)/beta"),
        ("relu(x, 0.1)", "where(x > 0, x, 0.1*x)"),
        ("relu(x, 6)", "clamp(x, 0, 6)"),
        ("sqrt(x, 3)", "x**(1/3)"),
        ("sqrt(x, 0.1)", "sqrt(x + 0.1)"),
        ("rsqrt(x, 0.1)", "rsqrt(x + 0.1)"),
        ("reciprocal(x, 0.1)", "reciprocal(x + 0.1)"),
        ("log(x, 0.01)", "log(x + 0.01)"),
        ("log(x, 2)", "log(x)/log(2)"),
        ("hypot(x, z, x)", "hypot(hypot(x, z), x)"),
        ("logaddexp(x, z, x)", "logaddexp(logaddexp(x, z), x)"),
    ],
)
def test_arguments_that_a_function_has_no_place_for(line: str, meant: str) -> None:
    text = whole(FIELDS, f"y = {line} + z*beta*threshold")
    assert said(text)[0] == meant
    built(text.replace(line, meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("swish(x, beta)", "x * sigmoid(beta * x)"),
        ("F.silu(x, inplace=True)", "silu(x)"),
        ("relu(x, inplace=True)", "relu(x)"),
        ("sigmoid(x, beta=2)", "sigmoid(2 * x)"),
        ("round(x, decimals=2)", "round(x * 10**2) / 10**2"),
        ("log(x, base=2)", "log(x) / log(2)"),
        ("threshold(x, 0.1, 20)", "where(x > 0.1, x, 20)"),
        ("logit(x, 0.01)", "log(clamp(x, 0.01, 1 - 0.01)) - log1p(-clamp(x, 0.01, 1 - 0.01))"),
    ],
)
def test_a_whole_line_where_functions_of_other_libraries_are_called(line: str, meant: str) -> None:
    text = whole("inputs: [x]\nparams: {beta: {default: 1.5}}", f"y = beta + {line}")
    assert any(part in (f"y = beta + {meant}", f"y = beta + ({meant})") for part in said(text)), said(text)
    built(text.replace(line, f"({meant})"))


def test_bounds_may_be_negative() -> None:
    text = whole("inputs: [x]", "y = hardtanh(x, -1, 1)")
    assert said(text) == ["clamp(x, -1, 1)"]


def test_a_keyword_that_means_nothing_is_told() -> None:
    (found,) = diagnosed(whole("inputs: [x]", "y = abs(x, min=2)"))
    assert found.hints == ("`abs` has no such argument: leave it away, or write out what it stands for",)


FUNCTION = "inputs: [x]\nparams: {{beta: {{default: 1.5}}}}\nfunctions:\n  swish({}): t*sigmoid({}*t)"


@pytest.mark.parametrize(
    ("arguments", "scale", "line", "meant"),
    [
        ("t, beta", "beta", "swish(x)", "swish(x, beta)"),
        ("t", "beta", "swish(x, beta)", "swish(x)"),
        ("t, b", "b", "swish(x, b=beta)", "y = swish(x, beta)"),
        ("t, b", "b", "swish(b=beta, t=x)", "y = swish(x, beta)"),
    ],
)
def test_a_local_function_is_called_as_it_is_declared(arguments: str, scale: str, line: str, meant: str) -> None:
    fields = FUNCTION.format(arguments.replace("beta", "b"), scale.replace("beta", "b") if "," in arguments else scale)
    if line == "swish(x)":
        fields = fields.replace("params: {beta: ", "params: {b: ")
        meant = meant.replace("beta", "b")
    text = whole(fields, f"y = {line}")
    assert meant in said(text)
    built(text.replace(f"y = {line}", f"y = {meant.removeprefix('y = ')}"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("swish(x)", "a call gives all of them: `b` is missing"),
        ("swish()", "a call gives all of them: `t` and `b` are missing"),
        ("swish(x, 1, 2)", "write `swish(x, 1)`, or give the function 1 further argument"),
    ],
)
def test_where_it_is_not_certain_what_a_call_means_the_declaration_is_shown(line: str, told: str) -> None:
    (found,) = diagnosed(whole(FUNCTION.format("t, b", "b"), f"y = beta*{line}"))
    assert found.hints == (told, "it is declared as `swish(t, b): t * sigmoid(b * t)`")


X = "inputs: {x: {shape: [N, M]}, v: {shape: [N]}}"


@pytest.mark.parametrize(
    ("target", "shape"),
    [
        ("out[argmax[m](x[n, m])]", "M"),
        ("out[argmin[m](x[n, m])]", "M"),
        ("out[n, argmax[m](x[n, m])]", "N, M"),
        ("out[int(median[m](x[n, m]))]", "M"),
    ],
)
def test_a_reduction_in_a_position_of_a_scatter_has_its_own_index(target: str, shape: str) -> None:
    built(whole(f"{X}\noutputs: {{out: {{shape: [{shape}]}}}}", f"{target} += v[n]"), warned=True)


def test_a_scatter_at_an_argmax_fills_the_dim_that_this_goes_over() -> None:
    text = whole(X, "out[argmax[m](x[n, m])] += v[n]")
    assert said(text) == ["outputs: {out: {shape: [M]}}", "out[m < M] = 0"]
    built(text.replace("forward:", "outputs: {out: {shape: [M]}}\nforward:"))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("log_ndtr(x)", "log(erfc(-x/sqrt(2))/2)"),
        ("log1mexp(x)", "log(1 - exp(-x))"),
        ("log1pexp(x)", "softplus(x)"),
        ("logcosh(x)", "log(cosh(x))"),
        ("logsubexp(x, z)", "x + log(1 - exp(z - x))"),
        ("rel_entr(x, z)", "xlogy(x, x) - xlogy(x, z)"),
        ("binom(x, z)", "exp(lgamma(x + 1) - lgamma(z + 1) - lgamma(x - z + 1))"),
    ],
)
def test_functions_of_scipy_are_written_out(line: str, meant: str) -> None:
    text = whole("inputs: [x, z]", f"y = z + {line}")
    assert meant in said(text)
    built(text.replace(line, f"({meant})"))


def test_functions_that_no_formula_says_come_from_elsewhere() -> None:
    text = whole("inputs: [a, x]", "y = gammainc(a, x)")
    line = next(part for part in said(text) if "extern" in part)
    built(text.replace("forward:", f"functions:\n  {line}\nforward:"))


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("x.cumsum(1)[:, -1]", ["c[b, t, d] = cumsum[t](x[b, t, d])", "y[b, d] = c[b, T - 1, d]"]),
        ("torch.cumsum(x, 1)[:, -1]", ["c[b, t, d] = cumsum[t](x[b, t, d])", "y[b, d] = c[b, T - 1, d]"]),
        ("x.softmax(-1)[..., 0]", ["c[b, t, d] = softmax[d](x[b, t, d])", "y[b, t] = c[b, t, 0]"]),
    ],
)
def test_an_element_of_a_result_is_not_dropped(line: str, lines: list[str]) -> None:
    fields = "inputs: {x: {shape: [B, T, D]}}"
    assert [
        re.sub(r"cumsum_x|softmax_x", "c", part) for part in said(whole(fields, f"y = {line}")) if " = " in part
    ] == lines
    built(whole(f"{fields}\noutputs: [y]", *lines))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("jax.vmap(f)(x)", "a formula holds for each element"),
        ("lax.scan(f, 0, x)", "a recurrence"),
        ("np.percentile(x, 90)", "quantile[k](x[..., k], 0.9)"),
    ],
)
def test_functions_of_functions_have_a_counterpart(line: str, told: str) -> None:
    found = diagnosed(whole("inputs: {x: {shape: [B, T]}}", f"y = {line}"))
    assert any(told in hint for d in found for hint in d.hints)
