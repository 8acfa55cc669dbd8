"""What physicists bring from paper, MATLAB, Julia and Mathematica: what is said of it builds and means it."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


def lines(text: str) -> list[str]:
    """What the one message about a spec says to write."""
    (found,) = diagnosed(text)
    return re.findall(r"`([^`]*)`", " ".join(found.hints))


WINDOW = (
    "inputs: {x: {shape: [..., T]}, w: {shape: [K]}}\n"
    "params: {m0: {type: int, default: 2, domain: m0 >= 0}}\noutputs: {y: {shape: [..., T]}}"
)


@pytest.mark.parametrize(
    "over",
    [
        "m = -m0:m0",
        "m = -m0, m0",
        "-m0 <= m <= m0",
        "m0 >= m >= -m0",
        "-m0 <= m < m0 + 1",
        "m >= -m0 and m <= m0",
        "m >= -m0, m <= m0",
        "m in -m0:m0",
        "m in range(-m0, m0 + 1)",
        "m = -m0..m0",
        "abs(m) <= m0",
        "abs(m) < m0 + 1",
    ],
)
def test_a_range_that_begins_below_0_is_moved(over: str) -> None:
    text = whole(WINDOW, f"y[..., t] = sum[{over}](m*pad(x[..., t + m], 0))/(2*m0 + 1) + w[0]")
    meant = "y[..., t] = sum[m < 2 * m0 + 1]((m - m0) * pad(x[..., t + m - m0], 0)) / (2 * m0 + 1) + w[0]"
    assert lines(text) == [meant]
    built(whole(WINDOW, meant))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("sum[m=-2:2](pad(x[..., t - m], 0))", "sum[m < 5](pad(x[..., t - m + 2], 0))"),
        ("sum[m = 1-m0:m0-1](pad(x[..., t + m], 0))", "sum[m < 2 * m0 - 1](pad(x[..., t + m - m0 + 1], 0))"),
        ("mean[-m0 < m < m0](pad(x[..., t + m], 0))", "mean[m < 2 * m0 - 1](pad(x[..., t + m - m0 + 1], 0))"),
        (
            "sum[-m0 <= m <= m0, abs(n) < 2](pad(x[..., t + m - n], 0))",
            "sum[m < 2 * m0 + 1, n < 3](pad(x[..., t + m - m0 - n + 1], 0))",
        ),
        (
            "max[-(K//2) <= k <= K//2](pad(x[..., t + k], -inf)*w[k + K//2])",
            "max[k < 2 * (K // 2) + 1](pad(x[..., t + k - K // 2], -inf) * w[k])",
        ),
    ],
)
def test_a_range_below_0_of_any_width(value: str, meant: str) -> None:
    fields = WINDOW if "w[" in value else WINDOW.replace(", w: {shape: [K]}", "")
    fields = fields if "m0" in value else fields.replace("params: {m0: {type: int, default: 2, domain: m0 >= 0}}\n", "")
    assert lines(whole(fields, f"y[..., t] = {value}")) == [f"y[..., t] = {meant}"]
    built(whole(fields, f"y[..., t] = {meant}"), warned=True)


@pytest.mark.parametrize("over", ["abs(x) < 2", "-1 <= x <= 1"])
def test_a_condition_on_elements_is_no_range(over: str) -> None:
    found = said(whole("inputs: {x: {shape: [N]}}", f"y = sum[{over}](x)"))
    assert not [line for line in found if "x <" in line and "where" not in line]


def test_a_range_that_moves_with_an_index_stays_a_condition() -> None:
    text = whole(WINDOW, "y[..., t] = sum[j = t-m0:t+m0](x[..., j]) + w[0]")
    assert "sum[j](where(t-m0 <= j and j < t+m0, x[..., j], 0))" in said(text)
    assert "j <= t+m0" in said(text)


TENSORS = "inputs: {a: {shape: [..., 3, 3]}, s: {shape: [..., 3, 3]}, v: {shape: [..., 3]}}"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (
            "0.5*a[..., i, i]**2 + 3*s[..., i, j]*a[..., i, j]",
            [
                "0.5 * sum[i](a[..., i, i])**2 + sum[i, j](3 * s[..., i, j] * a[..., i, j])",
                "sum[i](0.5 * a[..., i, i]**2) + sum[i, j](3 * s[..., i, j] * a[..., i, j])",
            ],
        ),
        ("0.5*a[..., i, i]**2", ["0.5 * sum[i](a[..., i, i])**2", "sum[i](0.5 * a[..., i, i]**2)"]),
        (
            "(a[..., i, j]*s[..., i, j])**2",
            ["sum[i, j](a[..., i, j] * s[..., i, j])**2", "sum[i, j]((a[..., i, j] * s[..., i, j])**2)"],
        ),
        ("exp(a[..., i, i])", ["exp(sum[i](a[..., i, i]))", "sum[i](exp(a[..., i, i]))"]),
        (
            "1/sqrt(v[..., i]*v[..., i])",
            ["1 / sqrt(sum[i](v[..., i] * v[..., i]))", "sum[i](1 / sqrt(v[..., i] * v[..., i]))"],
        ),
        (
            "log(a[..., i, i])*s[..., j, j]",
            ["log(sum[i](a[..., i, i])) * sum[j](s[..., j, j])", "sum[i, j](log(a[..., i, i]) * s[..., j, j])"],
        ),
        ("v[..., i]**2", ["sum[i](v[..., i]**2)"]),
        ("2*a[..., i, i]", ["sum[i](2 * a[..., i, i])"]),
    ],
)
def test_an_index_twice_under_a_power_or_a_function_is_summed_there(value: str, meant: list[str]) -> None:
    shapes = {"a": "[..., 3, 3]", "s": "[..., 3, 3]", "v": "[..., 3]"}
    own = ", ".join(f"{n}: {{shape: {shape}}}" for n, shape in shapes.items() if f"{n}[" in value)
    fields = f"inputs: {{{own}}}"
    assert lines(whole(fields, f"w[...] = {value}")) == [f"w[...] = {m}" for m in meant]
    for line in meant:
        built(whole(fields, f"w[...] = {line}"))


def test_each_factor_has_the_sum_over_its_own_index() -> None:
    text = whole(TENSORS, "y[..., i] = a[..., i, j]*v[..., j]/sqrt(s[..., k, k])")
    meant = "y[..., i] = sum[j](a[..., i, j] * v[..., j]) / sqrt(sum[k](s[..., k, k]))"
    assert lines(text)[0] == meant
    built(whole(TENSORS, meant))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (("v = v - dt*x", "x = x + dt*v"), ("v2 = v - dt * x", "x2 = x + dt * v2")),
        (("x = x + dt*v", "v = v - dt*x"), ("x2 = x + dt * v", "v2 = v - dt * x2")),
        (("v -= dt*x", "x = x + dt*v"), ("v2 = v - dt * x", "x2 = x + dt * v2")),
        (("v = v - dt*x", "x += dt*v"), ("v2 = v - dt * x", "x2 = x + dt * v2")),
        (("x = x + dt*v", "v -= dt*x"), ("x2 = x + dt * v", "v2 = v - dt * x2")),
        (
            ("v = dt*v if on", "v = 2*v if not on", "x = v*x"),
            ("v2 = dt * v if on", "v2 = 2 * v if not on", "x2 = v2 * x"),
        ),
    ],
)
def test_inputs_that_are_updated_in_turn_read_the_new_value(written: tuple[str, ...], meant: tuple[str, ...]) -> None:
    on = ", on: {type: bool, default: true}" if "on" in written[0] else ""
    fields = f"inputs: [x, v]\nparams: {{dt: {{type: float, default: 0.1}}{on}}}"
    found = said(whole(fields, *written))
    assert [line for line in found if line in meant] == [*meant]
    assert not [line for line in found if re.match(r"\w+ = ", line) and line not in meant]
    built(whole(f"{fields}\noutputs: [x2, v2]", *meant), warned=True)


SCORES = "inputs: {s: {shape: [N, N]}, near: {shape: [N, N], dtype: bool}, far: {shape: [N, N]}}"


@pytest.mark.parametrize(
    ("statements", "meant"),
    [
        (["softmax[j](near[i, j]*s[i, j])"], "softmax[j](where(near[i, j], s[i, j], -inf))"),
        (["log_softmax[j](0.5*near[i, j]*s[i, j])"], "log_softmax[j](where(near[i, j], 0.5 * s[i, j], -inf))"),
        (["softmax[j](-(far[i, j] < 2)*s[i, j])"], "softmax[j](where(far[i, j] < 2, -s[i, j], -inf))"),
        (["softmax[j](where(near[i, j], s[i, j], 0)/2)"], "softmax[j](where(near[i, j], s[i, j] / 2, -inf))"),
        (["softmax[j](where(near[i, j], 1, 0)*s[i, j])"], "softmax[j](where(near[i, j], s[i, j], -inf))"),
        (["near[i, j]*s[i, j]/sqrt(N)", "softmax[j](a[i, j])"], "where(near[i, j], s[i, j] / sqrt(N), -inf)"),
        (
            ["where(near[i, j], 0, s[i, j])/sqrt(N)", "softmax[j](2*a[i, j])"],
            "where(near[i, j], -inf, s[i, j] / sqrt(N))",
        ),
    ],
)
def test_a_condition_that_scores_are_multiplied_with_hides_nothing(statements: list[str], meant: str) -> None:
    idle = "0*far[i, j] + 0*near[i, j]"
    *before, last = [
        f"a[i, j] = {v}" if len(statements) > k + 1 else f"y[i, j] = {v}" for k, v in enumerate(statements)
    ]
    text = whole(SCORES, *before, last, f"z[i, j] = {idle}")
    (found,) = [w for w in diagnosed(text) if w.code == "OPG268"]
    old = before[0] if before else last
    line = f"{old.partition(' = ')[0]} = {meant}"
    assert found.hints == (f"write `{line}`",)
    assert not [w for w in diagnosed(text.replace(old, line)) if w.code == "OPG268"]
    built(text.replace(old, line), warned=True)


@pytest.mark.parametrize(
    "statements",
    [
        ["y[i, j] = softmax[j](s[i, j])*near[i, j]"],
        ["y[i, j] = near[i, j]*s[i, j]"],
        ["y[i, j] = softmax[j]((s[i, j] > 0)*s[i, j])"],
        ["y[i, j] = softmax[j](near[i, i]*s[i, j])"],
        ["y[i, j] = softmax[j](near[i, j]*s[i, j] + where(near[i, j], 0, -inf))"],
        ["a[i, j] = near[i, j]*s[i, j]", "y[i, j] = softmax[j](a[i, j] + far[i, j])"],
    ],
)
def test_a_condition_as_a_factor_elsewhere_is_none_of_it(statements: list[str]) -> None:
    assert "OPG268" not in [w.code for w in diagnosed(whole(SCORES, *statements))]


PAIR = "inputs: {x: {shape: [B, N]}, y: {shape: [B, N]}}"


@pytest.mark.parametrize(
    ("statements", "meant"),
    [
        (
            ["num = sum((x - y)**2, dims=2)", "loss = mean(sqrt(num))"],
            ["num[b] = sum[n]((x[b, n] - y[b, n])**2)", "loss = mean[b](sqrt(num[b]))"],
        ),
        (
            ["num = sum((x - y)**2, dims=1)", "loss = mean(sqrt(num))"],
            ["num[n] = sum[b]((x[b, n] - y[b, n])**2)", "loss = mean[n](sqrt(num[n]))"],
        ),
        (
            ["num = sum((x - y)**2, axis=1)", "loss = mean(num)"],
            ["num[b] = sum[n]((x[b, n] - y[b, n])**2)", "loss = mean[b](num[b])"],
        ),
        (["loss[...] = sum(x*y, dims=(1, 2))"], ["loss[...] = sum[b, n](x[b, n] * y[b, n])"]),
        (["z = x/sum(x*y, dims=2)"], ["z[b, n] = x[b, n] / sum[n](x[b, n] * y[b, n])"]),
    ],
)
def test_dims_of_julia_count_from_1(statements: list[str], meant: list[str]) -> None:
    assert [line for line in said(whole(PAIR, *statements)) if "=" in line] == meant
    built(whole(PAIR, *meant))


def test_an_index_of_a_reduction_that_nothing_reads_takes_the_place_of_an_axis() -> None:
    text = whole(PAIR, "num = sum[k]((x - y)**2)", "loss = mean[k](sqrt(num))")
    first, second, last = said(text)
    assert [first, second] == ["num[n] = sum[k]((x[k, n] - y[k, n])**2)", "num[b] = sum[k]((x[b, k] - y[b, k])**2)"]
    assert last == "loss = mean[k](sqrt(num[k]))"
    built(whole(PAIR, first, last))
    built(whole(PAIR, second, last))
    (only,) = said(whole("inputs: {x: {shape: [N]}}", "num = sum[k](x**2)"))
    assert only == "num = sum[k](x[k]**2)"


STEPS = "inputs: {a: {shape: [T]}, src: {shape: [T]}}\nparams: {dt: {type: float, default: 0.1}}\noutputs: [u]"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("u[t-1] + dt*(src[t] - a[t]*u[t])", "(u[t - 1] + dt * src[t]) / (1 + dt * a[t])"),
        (
            "u[t-1] - dt*a[t]*(u[t] + u[t-1])/2 + src[t]",
            "(u[t - 1] + src[t] - dt * a[t] * u[t - 1] / 2) / (1 + dt * a[t] / 2)",
        ),
        ("u[t-1] - dt*u[t]*a[t]/src[t]", "u[t - 1] / (1 + dt * a[t] / src[t])"),
        ("-a[t]*u[t] + src[t]*u[t-1]*dt", "src[t] * u[t - 1] * dt / (1 + a[t])"),
        ("(u[t-1] + dt*u[t]*src[t])/a[t]", "u[t - 1] / a[t] / (1 - dt * src[t] / a[t])"),
    ],
)
def test_a_step_that_reads_its_own_value_is_an_equation(value: str, meant: str) -> None:
    line = f"u[t] = {meant}"
    assert lines(whole(STEPS, f"u[t] = {value}")) == [line, "u[t - 1]"]
    built(whole(STEPS, line))
    own = {"dt": 0.1, "a[t]": 1.7, "src[t]": 0.6, "u[t-1]": 0.8}

    def number(formula: str, u: float) -> float:
        for name, held in {**own, "u[t]": u}.items():
            formula = formula.replace(" ", "").replace(name, f"({held})")
        return float(eval(formula))

    solved = number(meant, 0)
    assert number(value, solved) == pytest.approx(solved)


def test_an_equation_that_is_not_linear_is_not_solved() -> None:
    text = whole(STEPS, "u[t] = u[t-1] + dt*tanh(u[t])*a[t]*src[t]")
    assert lines(text) == ["u[t]", "u[t - 1]"]
    both = whole(STEPS, "u[t] = u[t-1] + dt*v[t]", "v[t] = v[t-1] - dt*u[t]*a[t]*src[t]")
    assert lines(both) == ["v[t - 1]"]
    built(both.replace("v[t]\n", "v[t - 1]\n"), warned=True)


BODIES = "inputs: {m: {shape: [N]}, v: {shape: [N, 3]}, w: {shape: [3]}}"


@pytest.mark.parametrize(
    ("statements", "meant"),
    [
        (["t += 0.5*m[i]*v[i, a]**2*w[a]"], "t = sum[i, a](0.5 * m[i] * v[i, a]**2 * w[a])"),
        (["t[...] += m[i]*v[i, a]*w[a]"], "t[...] = sum[i, a](m[i] * v[i, a] * w[a])"),
        (["s[n] += v[n, i]*w[i]*m[n]"], "s[n] = sum[i](v[n, i] * w[i] * m[n])"),
        (["t += m[i]", "t += v[i, a]*w[a]"], "t = sum[i](m[i]) + sum[i, a](v[i, a] * w[a])"),
        (["t max= m[i]*v[i, a]*w[a]"], "t = max[i, a](m[i] * v[i, a] * w[a])"),
        (["t *= m[i]*sum[a](v[i, a]*w[a])"], "t = prod[i](m[i] * sum[a](v[i, a] * w[a]))"),
    ],
)
def test_what_is_accumulated_over_indices_that_the_target_lacks_is_a_reduction(
    statements: list[str], meant: str
) -> None:
    assert meant in lines(whole(BODIES, *statements))
    built(whole(BODIES, meant))


def test_a_tensor_without_indices_is_not_read_at_one_that_nobody_said() -> None:
    assert not [line for line in said(whole(BODIES, "t += m*v[i, a]*w[a]")) if "sum[" in line]


SERIES = "inputs: {c: {shape: [K]}, x: {shape: [N]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[n] = Sum[c[k]*sin(k*x[n]), {k, 0, K-1}]", "y[n] = sum[k](c[k] * sin(k * x[n]))"),
        ("y[n] = Sum[c[k]*Sin[k*x[n]], {k, K}]", "y[n] = sum[k](c[k] * sin((k + 1) * x[n]))"),
        ("y[n] = Sum[c[k]*c[k+1]*x[n], {k, 1, K-1}]", "y[n] = sum[k < K - 1](c[k] * c[k + 1] * x[n])"),
        ("y[n] = 2*Sum[c[k]*Exp[-x[n]], {k, 0, K-2}] + 1", "y[n] = 2 * sum[k < K - 1](c[k] * exp(-x[n])) + 1"),
        ("y[n] = Product[c[k] - x[n], {k, 0, K-1}]", "y[n] = prod[k](c[k] - x[n])"),
        ("y[n] = Sum[c[k]*x[n]**j, {k, 0, K-1}, {j, 0, 4}]", "y[n] = sum[k, j < 5](c[k] * x[n]**j)"),
        ("y = Sum[c[k]*Sum[x[n]**k, {n, 0, N-1}], {k, 0, K-1}]", "y = sum[k](c[k] * sum[n](x[n]**k))"),
    ],
)
def test_a_sum_of_mathematica_is_a_reduction(line: str, meant: str) -> None:
    assert lines(whole(SERIES, line))[-1] == meant
    built(whole(SERIES, meant), warned=True)


def test_all_axes_of_size_1_are_told_in_one_round() -> None:
    fields = (
        "inputs: {x: {shape: [N, K]}, mu: {shape: [1, K]}, sd: {shape: [1, K]}, g: {shape: [N, 1]}, c: {shape: [1, 1]}}"
    )
    text = whole(fields, "z[n, k] = (x[n, k] - mu[n, k])/sd[n, k]*g[n, k] + c[n, k]")
    meant = "z[n, k] = (x[n, k] - mu[0, k]) / sd[0, k] * g[n, 0] + c[0, 0]"
    assert lines(text) == ["mu[0, k]", "sd[0, k]", "g[n, 0]", "c[0, 0]", meant]
    built(whole(fields, meant))


@pytest.mark.parametrize(
    ("shape", "line"),
    [
        ("[..., N-1]", "d[..., i] = u[..., i+1] - u[..., i]"),
        ("[..., N-2]", "d[..., i] = u[..., i+2] - 2*u[..., i+1] + u[..., i]"),
        ("[..., N//2]", "d[..., i] = u[..., 2*i] + u[..., 2*i + 1]"),
        ("[..., N+1]", "d[..., i] = pad(u[..., i], 0) + pad(u[..., i - 1], 0)"),
        ("[..., N-1]", "d[..., i] = u[..., i]*v[i]"),
    ],
)
def test_what_follows_from_a_shape_that_is_none_is_not_told(shape: str, line: str) -> None:
    more = ", v: {shape: [M]}" if "v[" in line else ""
    text = whole(f"inputs: {{u: {{shape: [..., N]}}{more}}}\noutputs: {{d: {{shape: {shape}}}}}", line)
    assert [found.code for found in diagnosed(text)] == ["OPG224"]


def test_an_extent_is_the_one_size_there_is() -> None:
    text = whole(
        "inputs: {a: {shape: [..., 3]}, b: {shape: [..., 3]}}",
        "c[..., i] = sum[j, k]((i - j)*(j - k)*(k - i)/2*a[..., j]*b[..., k])",
    )
    assert lines(text) == ["i < 3"]
    built(text.replace("c[..., i]", "c[..., i < 3]"))
