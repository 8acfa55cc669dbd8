"""One mistake in a statement is told once: what hangs on that statement is not said to be wrong because of it."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

TURNED = "inputs: {x: {shape: [N, 2]}, g: {shape: [N]}}"
FIRST = "y[n, 0] = x[n, 0]*cos(g[n]) - x[n, 1]*sin(g[n])"
SECOND = "y[n, 1] = x[n, 0]*sin(g[n]) + x[n, 1]*cos(g[n])"
GRAPH = "inputs: {h: {shape: [V, F]}, deg: {shape: [V]}, dst: {shape: [E], dtype: int}, m: {shape: [E, F]}}"
CELL = "inputs: {x: {shape: [T, H]}, h0: {shape: [H]}, w: {shape: [H]}}\noutputs: [h]"
SPIKES = "inputs: {u: {shape: [..., T, N]}}\nparams: {decay: {default: 0.9}}"


def codes(text: str) -> list[str]:
    return [found.code for found in diagnosed(text)]


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [("cos(g[n])", "cos(g)", "OPG242"), ("cos(g[n])", "cos(g[n]", "OPG203"), ("*cos(g[n])", "@cos(g[n])", "OPG201")],
)
@pytest.mark.parametrize("at", [0, 1])
def test_a_faulty_component_is_assigned(right: str, wrong: str, code: str, at: int) -> None:
    lines = [FIRST, SECOND]
    built(whole(TURNED, *lines))
    lines[at] = lines[at].replace(right, wrong)
    assert codes(whole(TURNED, *lines)) == [code]


@pytest.mark.parametrize(
    ("fields", "start", "body"),
    [
        ("inputs: {r: {shape: [..., T]}, d: {shape: [..., T]}}", "v[..., T] = 0",
         "v[..., t] = r + d[..., t]*v[..., t + 1]"),
        ("inputs: {r: {shape: [T]}}\nparams: {steps: {type: int}}", "v[steps] = 0", "v[n < steps] = v[n + 1]*r + 1"),
        ("inputs: {r: {shape: [T]}}\nparams: {q: {default: 1.0}}", "v[-1] = q", "v[t] = v[t - 1]*r"),
        ("inputs: {r: {shape: [T]}}", "v[T + 1] = 0", "v[t] = v[t + 2]*r"),
    ],
)  # fmt: skip
def test_the_start_of_a_faulty_recurrence_is_fine(fields: str, start: str, body: str) -> None:
    assert codes(whole(fields, start, body)) == ["OPG242"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("*w[k]", "*w"), ("h[t - 1, k])", "h[t - 1, k]"), ("tanh(x[t, k])", "tanh(x[t, k]"), ("m[t, k]*t", "m[t, k]@t")],
)
def test_one_faulty_statement_of_several_in_a_recurrence(right: str, wrong: str) -> None:
    lines = (
        "h[-1, k] = h0[k]",
        "o[t, k] = sigmoid(x[t, k] + h[t - 1, k])",
        "m[t, k] = o[t, k]*w[k]",
        "h[t, k] = m[t, k]*tanh(x[t, k])",
    )
    text = whole(CELL, *lines)
    built(text)
    assert len(codes(text.replace(right, wrong))) == 1


@pytest.mark.parametrize(
    ("fields", "start", "scatter", "code"),
    [
        (GRAPH, "agg[v, f] = h[v, f]/deg", "agg[dst[e], f] += m[e, f]", "OPG242"),
        (GRAPH, "top[v < V, f < F] = -float('inf')", "top[dst[e], f] max= m[e, f]", "OPG209"),
        (GRAPH, "agg[v, f] = (h[v, f]", "pad(agg[dst[e], f]) += m[e, f]", "OPG203"),
        (GRAPH, "agg[v, f] = (h[v, f]", "agg[dst[e], f] += m[e, f]", "OPG203"),
        (GRAPH, "agg[v, f] = h[v, f]@deg[v]", "pad(agg[dst[e], f]) += m[e, f]", "OPG201"),
    ],
)
def test_a_scatter_into_what_starts_faulty(fields: str, start: str, scatter: str, code: str) -> None:
    assert codes(whole(fields, start, scatter)) == [code]
    assert codes(whole(fields, start, scatter.replace("m[e, f]", "mm[e, f]"))) == [code, "OPG205"]
    assert codes(whole(fields, start, scatter.replace("dst", "dts"))) == [code, "OPG205"]


def test_names_that_a_faulty_line_assigns_are_known() -> None:
    fields = "inputs: {x: {shape: [N]}, w: {shape: [N]}, dst: {shape: [N], dtype: int}}\noutputs: {y: {shape: [N]}}"
    assert codes(whole(fields, "(a, b) = max(x, dim=0)", "y[n] = a + b + x[n]")) == ["OPG201"]
    assert codes(whole(fields, "np.add.at(y, dst, x)", "z[n] = 2*y[n]")) == ["OPG201"]
    assert codes(whole(fields, "pad(y[dst[n]]) += x[n]*w")) == ["OPG242"]


@pytest.mark.parametrize(
    ("fields", "line", "meant"),
    [
        ("s: {shape: [N, M]}", "h[i, j] = max(0, max(h[i - 1, j - 1] + s, h[i - 1, j]))",
         "h[i, j] = max(0, max(h[i - 1, j - 1] + s[i, j], h[i - 1, j]))"),
        ("s: {shape: [..., N, M]}", "h[..., i, j] = h[..., i - 1, j] + s",
         "h[..., i, j] = h[..., i - 1, j] + s[..., i, j]"),
        ("s: {shape: [N, M]}", "h[i, j < M] = h[i - 1, j] + s", "h[i, j < M] = h[i - 1, j] + s[i, j]"),
        ("s: {shape: [N, M]}", "h[i, j] = s", "h[i, j] = s[i, j]"),
        ("s: {shape: [N, N]}", "h[i, j] = s", "h[i, j] = s[i, j]"),
        ("s: {shape: [N, M]}", "h[i] = sum[j](s)", "h[i] = sum[j](s[i, j])"),
        ("s: {shape: [N, M]}", "h[j, i] = h[j - 1, i] + s + s[i, j]*2",
         "h[j, i] = h[j - 1, i] + s[i, j] + s[i, j] * 2"),
        ("s: {shape: [N, M]}, b: {shape: [N]}", "h[i, j] = h[i - 1, j]*s + b[i]",
         "h[i, j] = h[i - 1, j] * s[i, j] + b[i]"),
        ("s: {shape: [N, M]}, b: {shape: [M]}", "h[i] = sum[j](s*b)", "h[i] = sum[j](s[i, j] * b[j])"),
        ("s: {shape: [N, M]}, b: {shape: [M]}", "h[i] = sum[j](s[i, j]*b)", "h[i] = sum[j](s[i, j] * b[j])"),
    ],
)  # fmt: skip
def test_a_bare_tensor_is_read_at_the_indices_of_its_statement(fields: str, line: str, meant: str) -> None:
    text = whole(f"inputs: {{{fields}}}\noutputs: [h]", line)
    assert said(text)[-1] == meant
    built(text.replace(line, meant), warned=True)


@pytest.mark.parametrize(
    ("shape", "line", "reads"),
    [
        ("[N]", "h[i, j] = h[i - 1, j] + h[i, j - 1] + s", ["s[i]", "s[j]"]),
        ("[N, M]", "h[i, j, k] = h[i - 1, j, k] + s", ["s[i, j]", "s[i, k]", "s[j, k]"]),
    ],
)
def test_several_places_are_told_where_either_may_be_meant(shape: str, line: str, reads: list[str]) -> None:
    assert said(whole(f"inputs: {{s: {{shape: {shape}}}}}", line)) == reads


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (("v[..., t, n] = decay*v[..., t - 1, n]*(1 - s) + u[..., t, n]",
          "s[..., t, n] = where(v[..., t, n] > 1, 1, 0)"), "s[..., t - 1, n]"),
        (("v[..., i, j] = decay*v[..., i - 1, j]*(1 - s) + u[..., i, j]", "r[..., i, j] = v[..., i, j] - 1",
          "s[..., i, j] = where(r[..., i, j] > 0, 1, 0)"), "s[..., i - 1, j]"),
        (("v[..., t, n] = decay*v[..., t + 1, n]*(1 - s) + u[..., t, n]",
          "s[..., t, n] = where(v[..., t, n] > 1, 1, 0)"), "s[..., t + 1, n]"),
    ],
)  # fmt: skip
def test_what_a_step_makes_is_read_of_the_step_before(lines: tuple[str, ...], meant: str) -> None:
    fields = f"{SPIKES}\noutputs: [v, s]"
    text = whole(fields, *lines)
    assert said(text) == [meant]
    built(text.replace("- s)", f"- {meant})"))


def test_what_comes_earlier_in_a_step_is_read_of_this_step() -> None:
    lines = (
        "s[..., t, n] = where(v[..., t - 1, n] > 1, 1, 0)",
        "v[..., t, n] = decay*v[..., t - 1, n]*(1 - s) + u[..., t, n]",
    )
    text = whole(f"{SPIKES}\noutputs: [v, s]", *lines)
    (meant,) = said(text)
    built(text.replace(lines[1], meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("var[n](x[n, c], unbiased=False)", "var[n](x[n, c])"),
        ("var[n](x[n, c], ddof=0)", "var[n](x[n, c])"),
        ("var[n](x[n, c], correction=2)", "var[n](x[n, c]) * N / (N - 2)"),
        ("var[n](x[n, c], unbiased=True)", "var[n](x[n, c]) * N / (N - 1)"),
        ("var[n](x[n, c], 1)", "var[n](x[n, c]) * N / (N - 1)"),
        ("var[n](x[n, c], 0)", "var[n](x[n, c])"),
        ("var[n](x[n, c], False)", "var[n](x[n, c])"),
        ("var[n](x[n, c], 1, keepdim=True)", "var[n](x[n, c]) * N / (N - 1)"),
        ("std[n](x[n, c], 1)", "sqrt(var[n](x[n, c]) * N / (N - 1))"),
        ("std[n](x[n, c], ddof=1)", "sqrt(var[n](x[n, c]) * N / (N - 1))"),
        ("std[n](x[n, c], 0)", "sqrt(var[n](x[n, c]))"),
    ],
)
def test_the_correction_of_a_variance_is_told_by_its_size(line: str, meant: str) -> None:
    text = whole("inputs: {x: {shape: [N, C]}}", f"y[c] = {line}")
    factors = [h for h in said(text) if "/" in h and "=" not in h]
    assert said(text)[-1] == f"y[c] = {meant}"
    assert factors == [m[0] for m in re.finditer(r"N / \(N - \d\)", meant)]
    built(text.replace(line, meant))
