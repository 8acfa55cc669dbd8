"""What students of other fields write: extents, running reductions, tables and functions of two values."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

WINDOW = (
    "inputs: {x: {shape: [..., T]}}\n"
    "params: {window: {type: int, default: 5, domain: window > 0}}\n"
    "dims: {P: T - window + 1}"
)


def lines(text: str) -> list[str]:
    """What the one message about a spec says to write, in order."""
    (found,) = diagnosed(text)
    return re.findall(r"`([^`]*)`", " ".join(found.hints))


@pytest.mark.parametrize(
    ("line", "meant", "other"),
    [
        ("y[..., p < P] = mean[w <= window](@)", "y[..., p < P] = mean[w < window](@)", True),
        ("y[..., p < P] = mean[window >= w](@)", "y[..., p < P] = mean[w < window](@)", True),
        ("y[..., p < P] = argmax[w <= window](@)", "y[..., p < P] = argmax[w < window](@)", True),
        ("y[..., p <= P] = sum[w < window](@)", "y[..., p < P] = sum[w < window](@)", True),
        ("y[..., p < P] = sum[0 <= w <= window](@)", "y[..., p < P] = sum[w < window](@)", True),
        ("y[..., p < P] = sum[w <= window - 1](@)", "y[..., p < P] = sum[w < window](@)", False),
        ("y[..., p <= P - 1] = sum[w < window](@)", "y[..., p < P] = sum[w < window](@)", False),
        ("y[..., p < P] = sum[window > w](@)", "y[..., p < P] = sum[w < window](@)", False),
        ("y[...] = sum[t <= T](x[..., t])", "y[...] = sum[t](x[..., t])", False),
        ("y[...] = sum[t <= T - 1](x[..., t])", "y[...] = sum[t](x[..., t])", False),
        (
            "y[..., t < T] = sum[-window <= k <= window](pad(x[..., t - k], 0))",
            "y[..., t < T] = sum[k < 2 * window + 1](pad(x[..., t + window - k], 0))",
            False,
        ),
    ],
)  # fmt: skip
def test_an_extent_that_is_written_otherwise(line: str, meant: str, other: bool) -> None:
    line, meant = (written.replace("@", "x[..., p + w]") for written in (line, meant))
    text = whole(WINDOW, line)
    (found,) = diagnosed(text)
    assert f"write `{meant}`" in found.hints
    assert (found.edit is None) == other
    assert any(hint.startswith("or, where") for hint in found.hints) == other
    built(whole(WINDOW, meant), warned=True)


def test_a_limit_within_an_axis_stays_a_condition() -> None:
    text = whole("inputs: {x: {shape: [..., T]}}\nparams: {order: int}", "y[...] = sum[i <= order](x[..., i])")
    assert lines(text) == ["y[...] = sum[i](where(i <= order, x[..., i], 0))"]
    built(text.replace("sum[i <= order](x[..., i])", "sum[i](where(i <= order, x[..., i], 0))"))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[i] = cumsum[N - 1 - i](x[i])", "y[i < N] = sum[k](where(k >= i, x[k], 0))"),
        ("y[i] = cumsum[-i](2*x[i])", "y[i < N] = sum[k](where(k >= i, 2 * x[k], 0))"),
        ("y[i] = cumprod[N - i](x[i])", "y[i < N] = prod[k](where(k >= i, x[k], 1))"),
        ("y[i] = logcumsumexp[N - i - 1](x[i])", "y[i < N] = logsumexp[k](where(k >= i, x[k], -inf))"),
        ("y[i] = cummax[N - 1 - i](x[i])", "y[i < N] = max[k](where(k >= i, x[k], -inf))"),
        ("y[i] = x[i] - log(cumsum[N - 1 - i](exp(x[i])))", "y[i] = x[i] - log(sum[k](where(k >= i, exp(x[k]), 0)))"),
        ("y[i] = cumsum[j >= i](x[j])", "y[i < N] = sum[j](where(j >= i, x[j], 0))"),
        ("y[i] = cumprod[j < i](x[j])", "y[i < N] = prod[j](where(j < i, x[j], 1))"),
        ("y[i] = softmax[N - 1 - i](x[i])", "y[i] = softmax[i](x[i])"),
    ],
)
def test_a_running_reduction_from_the_end(line: str, meant: str) -> None:
    inputs = "inputs: {x: {shape: [N]}}"
    assert lines(whole(inputs, line)) == [meant]
    built(whole(inputs, meant), warned=True)


def test_a_scan_is_offered_no_batch() -> None:
    offered = said(whole("inputs: {x: {shape: [N]}}", "y[i] = cumsum[i + 1](x[i])"))
    assert offered == ["cumsum[i](…)", "cumsum[i < N](…)"]


STATES = "inputs: {emit: {shape: [T, S]}, trans: {shape: [S, S]}, x: {shape: [S]}}\noutputs: [best]"


@pytest.mark.parametrize(
    ("before", "line", "meant"),
    [
        (
            ["d[-1, s] = x[s]"],
            "d[t, s] = max[s](d[t - 1, s] + trans[s, s]) + emit[t, s]",
            "d[t, s] = max[m](d[t - 1, m] + trans[{}, {}]) + emit[t, s]",
        ),
        ([], "d[s] = logsumexp[s](x[s] + trans[s, s])", "d[s] = logsumexp[m](x[m] + trans[{}, {}])"),
        ([], "d[s] = sum[s](x[s]*trans[s, s]) + x[s]", "d[s] = sum[m](x[m] * trans[{}, {}]) + x[s]"),
    ],
)
def test_a_letter_bound_anew_may_be_meant_at_either_place(before: list[str], line: str, meant: str) -> None:
    inputs = STATES if before else STATES.replace("emit: {shape: [T, S]}, ", "").replace("best", "d")
    after = ["best = max[s](d[T - 1, s])"] if before else []
    offered = lines(whole(inputs, *before, line, *after))
    for places in (("s", "m"), ("m", "s")):
        assert meant.format(*places) in offered
        built(whole(inputs, *before, meant.format(*places), *after))


PAIR = "inputs: {a: {shape: [N, T]}, b: {shape: [N, T]}, c: {shape: [N, T]}}"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("logsumexp(a[n, t], b[n, t])", "logaddexp(a[n, t], b[n, t])"),
        ("logsumexp(a[n, t], b[n, t], c[n, t])", "logaddexp(logaddexp(a[n, t], b[n, t]), c[n, t])"),
        ("logsumexp([a[n, t], b[n, t]])", "logaddexp(a[n, t], b[n, t])"),
        ("logsumexp[k](a[n, t], b[n, t])", "logaddexp(a[n, t], b[n, t])"),
        ("mean(a[n, t], b[n, t])", "(a[n, t] + b[n, t]) / 2"),
        ("mean(a[n, t], b[n, t], c[n, t])", "(a[n, t] + b[n, t] + c[n, t]) / 3"),
        ("2*sum(a[n, t], b[n, t], 3)", "2 * (a[n, t] + b[n, t] + 3)"),
        ("prod(a[n, t], 1 - b[n, t])", "a[n, t] * (1 - b[n, t])"),
        ("norm(a[n, t], b[n, t])", "hypot(a[n, t], b[n, t])"),
        ("max[k](a[n, t], b[n, t])", "max(a[n, t], b[n, t])"),
        ("any(a[n, t] > 0, b[n, t] > 0)", "a[n, t] > 0 or b[n, t] > 0"),
        ("count(a[n, t] > 0, b[n, t] > 0)", "(a[n, t] > 0) + (b[n, t] > 0)"),
        ("softmax(a[n, t], b[n, t])", "sigmoid(a[n, t] - b[n, t])"),
    ],
)
def test_a_reduction_of_values_beside_one_another(value: str, meant: str) -> None:
    assert f"y[n, t] = {meant}" in lines(whole(PAIR, f"y[n, t] = {value}"))
    built(whole(PAIR, f"y[n, t] = {meant}"), warned=True)


def test_of_two_shares_either_may_be_meant() -> None:
    text = whole(PAIR, "y[n, t] = softmax(a[n, t], b[n, t])")
    assert lines(text)[-1] == "sigmoid(b[n, t] - a[n, t])"
    assert diagnosed(text)[0].edit is None


@pytest.mark.parametrize("value", ["sum(a, 1)", "logsumexp(a, -1)", "mean(a, T)", "sum(a)"])
def test_an_axis_is_no_value(value: str) -> None:
    assert "single values" not in diagnosed(whole(PAIR, f"y = {value}"))[0].message


EDGES = "inputs: {x: {shape: [V, D]}, dst: {shape: [E], dtype: int, domain: 0 <= dst < V}}"


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("count[e](dst == v)", "count[e](dst[e] == v)"),
        ("count[e](v == dst)", "count[e](v == dst[e])"),
        ("count(dst == v)", "count[e](dst[e] == v)"),
        ("sum[e](dst == v)", "sum[e](dst[e] == v)"),
        ("sum[e](where(dst == v, 1, 0)) + 1", "sum[e](where(dst[e] == v, 1, 0)) + 1"),
        ("any[e](dst == v)", "any[e](dst[e] == v)"),
    ],
)
def test_an_index_that_numbers_what_integers_say_gets_its_extent(value: str, meant: str) -> None:
    rest = "y[v, d] = x[v, d]*rsqrt(deg[v] + 1)"
    assert lines(whole(EDGES, f"deg[v] = {value}", rest)) == [f"deg[v < V] = {meant}"]
    built(whole(EDGES, f"deg[v < V] = {meant}", rest), warned=True)


def test_an_index_that_nothing_bounds_is_told_to_state_its_extent() -> None:
    text = whole("inputs: {ids: {shape: [N], dtype: int}}", "h[b] = count[n](ids == b)")
    (found,) = diagnosed(text)
    assert found.edit is None
    assert lines(text) == ["h[b] = count[n](ids[n] == b)", "b", "b < num_b", "params: {num_b: int}"]
    fields = "inputs: {ids: {shape: [N], dtype: int}}\nparams: {num_b: int}"
    built(whole(fields, "h[b < num_b] = count[n](ids[n] == b)"), warned=True)


@pytest.mark.parametrize(
    "field",
    [
        "optional: true",
        "nullable: true",
        "required: false",
        "allow_none: true",
        "default: none",
        "default: nil",
        "absent: 1.0",
    ],
)
def test_a_param_that_may_be_missing_is_told_once(field: str) -> None:
    fields = f"inputs: {{q: {{shape: [N]}}}}\nparams:\n  scale: {{type: float, {field}}}"
    text = whole(fields, "s[n] = q[n]/scale if given(scale)", "s[n] = q[n] if not given(scale)")
    assert len(diagnosed(text)) == 1
    built(text.replace(field, "default: null"))


def test_what_is_missing_elsewhere_is_told_as_well() -> None:
    fields = (
        "inputs: {q: {shape: [N], optional: true}}\nparams:\n  a: {type: float, optional: true}\n  b: {type: float}"
    )
    text = whole(fields, "s[n] = q[n]/a if given(b)", "s[n] = q[n] if not given(b)")
    hints = " ".join(hint for found in diagnosed(text) for hint in found.hints)
    assert "write `default: null`" in hints
    assert "declare it with `b: {type: float, default: null}`" in hints


ALIGNED = "inputs: {score: {shape: [..., N, M]}}\nparams: {gap: {type: float, default: 1.0}}\noutputs: [best]\n"
STEPS = (
    "h[..., i, j] = max(0, max(h[..., i-1, j-1] + score[..., i, j], max(h[..., i-1, j] - gap, h[..., i, j-1] - gap)))",
    "best[...] = max[i, j](h[..., i, j])",
)


@pytest.mark.parametrize("section", ["initial: {h: 0}", "init: {h: 0}", "start: {h: 0.0}", "state: {h: 0}"])
def test_a_section_for_a_start_at_0_is_left_away(section: str) -> None:
    (hint,) = diagnosed(whole(ALIGNED + section, *STEPS))[0].hints
    assert hint.startswith("leave it away: a recurrence starts at 0")
    built(whole(ALIGNED, *STEPS))


@pytest.mark.parametrize("section", ["initial", "init", "start", "boundary", "initial_state"])
def test_a_section_for_a_start_is_statements(section: str) -> None:
    offered = lines(whole(f"{ALIGNED}{section}: {{h: -inf}}", *STEPS))
    assert offered == ["forward", "h[..., -1, j] = -inf", "h[..., i, -1] = -inf"]
    built(whole(ALIGNED, *offered[1:], *STEPS))


def test_sections_of_a_recurrence_are_statements() -> None:
    fields = "inputs: {x: {shape: [..., T]}, h0: {shape: [...]}}\noutputs: [h]\n"
    step = "h[..., t] = 0.5*h[..., t - 1] + x[..., t]"
    assert lines(whole(f"{fields}init: {{h: h0}}", step)) == ["forward", "h[..., -1] = h0"]
    built(whole(fields, "h[..., -1] = h0", step))
    assert lines(whole(f"{fields}init: 'h[..., -1] = h0'", step)) == ["forward", "h[..., -1] = h0"]
    assert "h[..., t] = … h[..., t - 1] …" in lines(whole(f"{fields}scan: h", step))
    assert lines(whole(f"{fields}init: {{h0: zeros}}", step)) == ["module: {parameters: {h0: zeros}}"]


SCORES = "inputs: {score: {shape: [..., N, M]}}\nparams: {gap: {type: float, default: 1.0}}\n"
TABLE = "max(f[..., i-1, j-1] + score[..., i-1, j-1], max(f[..., i-1, j] - gap, f[..., i, j-1] - gap))"
BORDERED = [
    "f[..., -1, -1] = 0",
    "f[..., i, -1] = -gap * (i + 1)",
    "f[..., -1, j] = -gap * (j + 1)",
    "f[..., i, j] = max(f[..., i - 1, j - 1] + score[..., i, j], max(f[..., i - 1, j] - gap, f[..., i, j - 1] - gap))",
]


@pytest.mark.parametrize(
    ("dims", "i", "j", "last"),
    [
        ("dims: {N1: N + 1, M1: M + 1}\n", "i < N1", "j < M1", "N, M"),
        ("dims: {N1: N + 1, M1: M + 1}\n", "i < N1", "j < M1", "N1 - 1, M1 - 1"),
        ("", "i < N + 1", "j < M + 1", "N, M"),
        ("", "i < 1 + N", "j < 1 + M", "N, M"),
        ("", "i", "j", "N, M"),
    ],
)
def test_a_table_with_a_border_is_told_every_line_at_once(dims: str, i: str, j: str, last: str) -> None:
    starts = ["f[..., 0, 0] = 0", f"f[..., {i}, 0] = -gap*i", f"f[..., 0, {j}] = -gap*j"]
    text = whole(
        f"{SCORES}{dims}outputs: [best]", *starts, f"f[..., {i}, {j}] = {TABLE}", f"best[...] = f[..., {last}]"
    )
    meant = [*BORDERED, "best[...] = f[..., N - 1, M - 1]"]
    offered = lines(text)
    assert [line for line in offered if " = " in line] == meant
    assert ("N1" in offered and "M1" in offered) == bool(dims)
    built(whole(f"{SCORES}outputs: [best]", *meant))


def test_a_table_of_an_edit_distance() -> None:
    fields = "inputs: {a: {shape: [N], dtype: int}, b: {shape: [M], dtype: int}}\n"
    value = "min(min(f[i - 1, j] + 1, f[i, j - 1] + 1), f[i - 1, j - 1] + where(a[i - 1] == b[j - 1], 0, 1))"
    dims = "dims: {N1: N + 1, M1: M + 1}\noutputs: [best]"
    text = whole(
        fields + dims, "f[i < N1, 0] = i", "f[0, j < M1] = j", f"f[i < N1, j < M1] = {value}", "best = f[N, M]"
    )
    meant = [line for line in lines(text) if " = " in line]
    assert meant[-1] == "best = f[N - 1, M - 1]"
    assert len(meant) == len(text.splitlines()) - 5
    built(whole(f"{fields}outputs: [best]", *meant))


def test_what_reads_a_table_at_indices_is_named() -> None:
    dims = "dims: {N1: N + 1, M1: M + 1}\noutputs: [best]"
    starts = ["f[..., 0, 0] = 0", "f[..., i < N1, 0] = -gap*i", "f[..., 0, j < M1] = -gap*j"]
    reader = "best[...] = max[j < M1](f[..., N, j])"
    offered = lines(whole(SCORES + dims, *starts, f"f[..., i < N1, j < M1] = {TABLE}", reader))
    assert [line for line in offered if " = " in line] == [*BORDERED, reader]
    assert "M1" not in offered


def test_a_running_table_keeps_the_element_that_nothing_stands_before() -> None:
    fields = "inputs: {x: {shape: [T]}}\ndims: {T1: T + 1}\noutputs: [y]"
    meant = "c[t < T1] = where(t == 0, 0, c[t - 1] + x[t - 1])"
    assert lines(whole(fields, "c[0] = 0", "c[t < T1] = c[t - 1] + x[t - 1]", "y = c[T]")) == [meant]
    built(whole(fields, meant, "y = c[T]"))


def test_a_name_in_capitals_that_is_listed_is_told_once() -> None:
    text = whole("inputs: {x: {shape: [T]}}\noutputs: [Y]", "Y[t] = 2*x[t]")
    assert [found.code for found in diagnosed(text)] == ["OPG113"]
    built(text.replace("Y", "y"))
