"""What statisticians bring from R, Stan and Julia, and from the board: what is said of it builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


def told(text: str) -> str:
    """All hints of the one message about a spec."""
    (found,) = diagnosed(text)
    return " ".join(found.hints)


PAST = "inputs: {l: {shape: [N, N]}, b: {shape: [N]}, k: {shape: [N]}}\noutputs: [z]"


@pytest.mark.parametrize(
    "line",
    [
        "z[i] = (b[i] - sum[j < i](l[i, j]*z[j]))/l[i, i]",
        "z[i] = b[i] - sum[j](where(j < i, l[i, j]*z[j], 0))",
        "z[i] = b[i] - sum[j](where(j < i, l[i, j]*z[j - 1], 0))",
        "z[i] = b[i] - sum[j](l[i, j]*z[j])",
        "z[i] = b[i] + max[j < i](z[j])",
        "z[i] = b[i] + sum[j < i](k[i - j]*z[j])",
        "z[i] = b[i] + sum[j < i](k[j]*z[i - j - 1])",
        "z[i] = b[i] + mean[j <= i - 1](z[j])",
        "z[i] = b[i] + sum(z[:i])",
        "z[i] = sum(z[j] for j in range(i)) + b[i]",
        "z[i] = b[i] + sum[j < i](l[i, j]*z[j]*z[i - 1])",
    ],
)
def test_nothing_is_proposed_for_a_recurrence_over_its_whole_past(line: str) -> None:
    hints = told(whole(PAST, line))
    assert "a fixed number of places back, such as `z[i - 1]` and `z[i - 2]`, and no sum" in hints
    assert "`forward: {torch: package.function}`" in hints
    assert "z[i] = " not in hints


def test_an_update_in_place_is_still_the_step_before() -> None:
    assert said(whole(PAST, "z[t] = z[t]*k[t] + np.exp(b[t])"))[-1] == "z[t] = z[t - 1] * k[t] + exp(b[t])"


STEPS = "inputs: {a: {shape: [K, K]}, x: {shape: [T, K]}, w: {shape: [T, M]}}\noutputs: [h]"


@pytest.mark.parametrize(
    ("line", "read", "meant"),
    [
        ("h[t, j] = x[t, j] + logsumexp[i](h[t - 1] + a[i, j])", "h[t - 1]", ["h[t - 1, i]", "h[t - 1, j]"]),
        ("h[t, i] = tanh(sum[j](a[i, j]*h[t - 1]) + x[t, i])", "h[t - 1]", ["h[t - 1, j]", "h[t - 1, i]"]),
        ("h[..., t, i] = x[t, i] + sum[j](a[i, j]*h[..., t - 1])", "h[..., t - 1]",
         ["h[..., t - 1, j]", "h[..., t - 1, i]"]),
        ("h[t, i] = x[t, i] + mean[k < K](h[t - 1])", "h[t - 1]", ["h[t - 1, k]"]),
        ("h[t, i] = x[t, i] + mean[i < K](h[t - 1])", "h[t - 1]", ["h[t - 1, i]"]),
        ("h[t, j] = x[t, j]*h[t - 1] + max[i](a[i, j])", "h[t - 1]", ["h[t - 1, j]"]),
        ("h[t, i] = x[t, i] + sum[m](w[t, m]*h[t - 1])", "h[t - 1]", ["h[t - 1, i]"]),
        ("h[t, i, j] = x[t, i] + a[i, j] + sum[k](a[i, k]*h[t - 1, j])", "h[t - 1, j]",
         ["h[t - 1, k, j]", "h[t - 1, i, j]"]),
    ],
)  # fmt: skip
def test_a_read_of_the_step_before_lacks_an_index_that_is_reduced_over_or_one_of_its_own(
    line: str, read: str, meant: list[str]
) -> None:
    assert said(whole(STEPS, line)) == meant
    for one in meant:
        built(whole(STEPS, line.replace(read, one)))


MODEL = (
    "inputs: {y: {shape: [N]}, x: {shape: [N], domain: 0 < x < 1}, mu: {shape: [N]}, s: {shape: [], domain: s > 0},"
    " k: {shape: [N], dtype: int}}"
)


@pytest.mark.parametrize(
    ("value", "call", "meant"),
    [
        ("normal_lpdf(y[n] | mu[n], s)", "", "-((y[n] - mu[n])/s)**2/2 - log(s) - log(2*pi)/2"),
        ("normal_lpdf(y[n], mu[n], s)", "", "-((y[n] - mu[n])/s)**2/2 - log(s) - log(2*pi)/2"),
        ("-normal_lpdf(y[n] | mu[n], s)", "normal_lpdf(y[n] | mu[n], s)",
         "(-((y[n] - mu[n])/s)**2/2 - log(s) - log(2*pi)/2)"),
        ("bernoulli_logit_lpmf(k[n] | mu[n])", "", "k[n]*mu[n] - softplus(mu[n])"),
        ("dnorm(y[n], mu[n], s)", "", "exp(-((y[n] - mu[n])/s)**2/2)/(s*sqrt(2*pi))"),
        ("dnorm(x[n])", "", "exp(-x[n]**2/2)/sqrt(2*pi)"),
        ("pnorm(y[n], mu[n], s)", "", "erfc(-(y[n] - mu[n])/(s*sqrt(2)))/2"),
        ("Φ(y[n])", "", "erfc(-y[n]/sqrt(2))/2"),
        ("2*lchoose(k[n], 3)", "lchoose(k[n], 3)", "(lgamma(k[n] + 1) - lgamma(3 + 1) - lgamma(k[n] - 3 + 1))"),
        ("lfactorial(k[n])", "", "lgamma(k[n] + 1)"),
        ("log1m(x[n])", "", "log1p(-x[n])"),
    ],
)  # fmt: skip
def test_functions_of_r_and_stan_are_written_out(value: str, call: str, meant: str) -> None:
    text = whole(MODEL, f"z[n] = {value}")
    assert said(text) == [meant]
    built(text.replace(call or value, meant), warned=True)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("lp = sum[n](dnorm(x[n], mu[n], s, log=TRUE))",
         "lp = sum[n](-((x[n] - mu[n]) / s)**2 / 2 - log(s) - log(2 * pi) / 2)"),
        ("z[n] = dnorm(y[n], mean=mu[n], sd=s)", "z[n] = exp(-((y[n] - mu[n]) / s)**2 / 2 - log(s) - log(2 * pi) / 2)"),
        ("z[n] = inv_logit(x)", "z[n] = sigmoid(x[n])"),
        ("y ~ normal(mu, s)", "lp = sum[n](-((y[n] - mu[n])/s)**2/2 - log(s) - log(2*pi)/2)"),
        ("k[n] ~ poisson(exp(mu[n]))", "lp = sum[n](xlogy(k[n], exp(mu[n])) - exp(mu[n]) - lgamma(k[n] + 1))"),
    ],
)  # fmt: skip
def test_lines_of_r_and_stan_are_told_as_a_whole(line: str, meant: str) -> None:
    assert said(whole(MODEL, line))[-1] == meant
    built(whole(MODEL, meant), warned=True)


SEED = MODEL.replace("inputs: {", "inputs: {seed: {dtype: seed}, ")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("z[n] = mu[n] + rnorm(N)", "z[n] = mu[n] + normal(seed)"),
        ("z[n] = rnorm(N)", "z[n < N] = normal(seed)"),
        ("z[n] = rnorm(N, mu[n], s)", "z[n] = mu[n] + s * normal(seed)"),
        ("z[n] = normal_rng(mu[n], s)", "z[n] = mu[n] + s * normal(seed)"),
        ("z[n] = runif(N)", "z[n < N] = uniform(seed)"),
        ("z[n] = bernoulli_rng(x[n])", "z[n] = uniform(seed) < x[n]"),
        ("z[n] ~ normal(mu[n], s)", "z[n] = mu[n] + s*normal(seed)"),
        ("z ~ normal(mu, s)", "z[n] = mu[n] + s*normal(seed)"),
    ],
)
def test_draws_of_r_and_stan_are_made_from_a_seed(line: str, meant: str) -> None:
    assert said(whole(SEED, line))[0] == meant
    built(whole(SEED, meant), warned=True)


def test_a_draw_without_a_formula_and_an_unknown_distribution_are_told_in_words() -> None:
    assert "pass them as an input" in told(whole(MODEL, "z[n] = rpois(N, 3)"))
    assert "a draw of a distribution is made from a seed" in told(whole(MODEL, "z[n] ~ wishart(3)"))


def test_a_bar_between_conditions_is_none_of_a_density() -> None:
    assert "write `or`" in told(whole(MODEL, "z[n] = where(x[n] > 0 | y[n] > 0, 1, 0)"))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (r"\frac{1}{N}\sum_{n=1}^{N} x_n^2", "1/N*sum[n](x[n]**2)"),
        (r"-\frac{1}{N} \sum_{n=1}^{N} \log x_n", "-1/N*sum[n](log(x[n]))"),
        (r"\frac{1}{2N}\sum_n x_n", "1/(2*N)*sum[n](x[n])"),
        (r"2\frac{a}{b}", "2*a/b"),
        (r"\frac{a}{b}\sqrt{a}", "a/b*sqrt(a)"),
        (r"\frac{a}{b}^2", "(a/b)**2"),
        (r"\log\frac{a}{b}", "log(a/b)"),
        (r"\log \sum_n x_n", "log(sum[n](x[n]))"),
        (r"a\sum_n x_n", "a*sum[n](x[n])"),
        (r"\exp(-\frac{a^2}{2b^2})", "exp(-(a**2)/(2*b**2))"),
    ],
)
def test_factors_of_latex_side_by_side_are_a_product(value: str, meant: str) -> None:
    fields = "inputs: {x: {shape: [N], domain: x > 0}, a: {shape: [], domain: a > 0}, b: {shape: [], domain: b > 0}}"
    assert said(whole(fields, f"y = {value}"))[-1].removeprefix("y = ") == meant
    built(whole(fields, f"y = {meant}"), warned=True)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("which.max(x)", "argmax[n](x[n])"),
        ("which.min(abs(x))", "argmin[n](abs(x[n]))"),
        ("sum[n](is.na(x[n]))", "sum[n](isnan(x[n]))"),
        ("sum[n](as.integer(x[n]))", "sum[n](int(x[n]))"),
    ],
)
def test_functions_of_r_with_a_dot_are_no_methods(value: str, meant: str) -> None:
    fields = "inputs: {x: {shape: [N]}}"
    assert said(whole(fields, f"y = {value}"))[-1] == f"y = {meant}"
    built(whole(fields, f"y = {meant}"), warned=True)


HEAT = "inputs: {u: {shape: [T, N]}}\nparams: {nu: {type: float, default: 0.1}}\noutputs: [v]"
START = "v[0, i] = u[0, i]"
EXPLICIT = "v[t < T, i] = where(t == 0, u[0, i], v[t - 1, i] + nu * (v[t - 1, i + 1] - v[t - 1, i - 1]))"


@pytest.mark.parametrize(
    "line",
    [
        "v[t + 1, i] = v[t, i] + nu*(v[t, i + 1] - v[t, i - 1])",
        "v[t, i] = v[t - 1, i] + nu*(v[t - 1, i + 1] - v[t - 1, i - 1])",
    ],
)
def test_a_first_row_with_neighbours_is_an_element_itself(line: str) -> None:
    assert said(whole(HEAT, START, line)) == [EXPLICIT]
    built(whole(HEAT, EXPLICIT))


@pytest.mark.parametrize(
    ("value", "typed", "meant"),
    [
        ("0.5*log(2π*x) + 1", "2π", "2*pi"),
        ("x/2π", "2π", "(2*pi)"),
        ("2π", "2π", "2*pi"),
    ],
)
def test_a_sign_of_paper_is_told_once_and_with_all_that_is_in_it(value: str, typed: str, meant: str) -> None:
    text = f"op: cured\ninputs: {{x: {{shape: [], domain: x > 0}}}}\nforward: y = {value}\n"
    assert said(text)[0] == meant
    built(text.replace(typed, meant), warned=True)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("s = trapz(y[n], x[n])", "s = sum[n < N - 1]((y[n] + y[n + 1]) / 2 * (x[n + 1] - x[n]))"),
        ("s = trapezoid(y, x)", "s = sum[n < N - 1]((y[n] + y[n + 1]) / 2 * (x[n + 1] - x[n]))"),
        ("s = trapz(y)", "s = sum[n < N - 1]((y[n] + y[n + 1]) / 2)"),
        ("s = average[n](y[n], weights=x[n])", "s = sum[n](x[n] * y[n]) / sum[n](x[n])"),
        ("s = weighted_mean[n](y[n], x[n])", "s = sum[n](x[n] * y[n]) / sum[n](x[n])"),
        ("s = average(y, weights=x)", "s = sum[n](x[n] * y[n]) / sum[n](x[n])"),
        ("s[n] = rank(y[n])", "s[n] = (count[m](y[m] < y[n]) + count[m](y[m] <= y[n]) + 1) / 2"),
    ],
)
def test_statistics_of_vectors_have_the_names_of_the_spec(line: str, meant: str) -> None:
    fields = "inputs: {y: {shape: [N]}, x: {shape: [N], domain: x > 0}}"
    assert said(whole(fields, line))[-1] == meant
    built(whole(fields, meant), warned=True)


@pytest.mark.parametrize("name", ["solve", "logdet", "inv", "cholesky"])
def test_what_takes_a_matrix_as_a_whole_may_come_from_another_library(name: str) -> None:
    text = whole("inputs: {a: {shape: [N, N]}}", f"y = {name}(a)")
    assert "`forward: {torch: package.function}`" in " ".join(h for found in diagnosed(text) for h in found.hints)
