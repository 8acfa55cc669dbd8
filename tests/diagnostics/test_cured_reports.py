"""Sizes, batch dims and indices that the rest of a formula tells: what is said of what lacks them builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

POSITIONS = "inputs: {ids: {shape: [N], dtype: int}, w: {shape: [N]}, bias: {shape: [V]}, x: {shape: [V, K]}}"


@pytest.mark.parametrize(
    ("scatter", "after", "start"),
    [
        ("pop[ids[n]] += w[n]", "y[v] = bias[v]*log1p(pop[v])", "pop[v < V] = 0"),
        ("pop[ids[n]] max= w[n]", "y[v] = bias[v]*pop[v]", "pop[v < V] = -inf"),
        ("pop[ids[n]] += w[n]", "y[k] = sum[v](x[v, k]*pop[v])", "pop[v < V] = 0"),
        ("pop[ids[n]] += w[n]", "y[i < V] = pop[i]*2", "pop[v < V] = 0"),
        ("pop[ids[n], n % 3] += w[n]", "y[a, k] = pop[a, k]*x[a, k]", "pop[v < V, k < K] = 0"),
    ],
)
def test_a_scatter_has_the_size_it_is_read_with(scatter: str, after: str, start: str) -> None:
    fields = f"{POSITIONS}\noutputs: [y]"
    assert start in said(whole(fields, scatter, after))
    built(whole(fields, start, scatter, after), warned=True)


def test_a_scatter_that_is_read_with_two_sizes_gets_a_size_of_its_own() -> None:
    lines = ("pop[ids[n]] += w[n]", "a[v] = bias[v]*pop[v]", "b[n] = w[n]*pop[n]")
    assert "params: {num_m: int}" in said(whole(f"{POSITIONS}\noutputs: [a, b]", *lines))


MODULE = "module: {dims: {C: channels}, buffers: {amax: ones}, parameters: {w: ones}}"


@pytest.mark.parametrize(
    ("lines", "owned"),
    [
        (("y[n, c] = x[n, c]/amax[c]*w[c]",), {"amax": "[C]", "w": "[C]"}),
        (("s[c] = mean[n](x[n, c]) + amax[c]", "y[n, k] = x[n, k]*s[k]*w[k]"), {"amax": "[C]", "w": "[C]"}),
        (("y[n, c] = sum[d](x[n, d]*w[c, d])/amax",), {"amax": "[]", "w": "[C, C]"}),
    ],
)
def test_what_a_module_owns_and_no_input_declares_is_told_once_with_its_shape(
    lines: tuple[str, ...], owned: dict[str, str]
) -> None:
    fields = f"inputs: {{x: {{shape: [N, C]}}}}\n{MODULE}"
    found = diagnosed(whole(fields, *lines))
    assert [d.code for d in found] == ["OPG116"] * len(owned)
    written = [f"{name}: {{shape: {shape}}}" for name, shape in owned.items()]
    assert all(any(f"`{text}`" in d.hints[0] for d in found) and found[0].related for text in written)
    built(whole(fields.replace("[N, C]}", f"[N, C]}}, {', '.join(written)}"), *lines), warned=True)


BATCHES = "inputs: {x: {shape: [..., E, D]}, gate: {shape: [..., E]}, w: {shape: [D, E]}}"


@pytest.mark.parametrize(
    ("lines", "meant"),
    [
        (
            ("p[e] = softmax[e](gate[..., e])", "y[d] = sum[e](p[e]*x[..., e, d])"),
            ("p[..., e] = softmax[e](gate[..., e])", "y[..., d] = sum[e](p[..., e]*x[..., e, d])"),
        ),
        (
            ("p[e] = gate[..., e]**2", "q[d] = sum[e](p[e]*w[d, e])", "y[d] = q[d] - w[d, 0]"),
            ("p[..., e] = gate[..., e]**2", "q[..., d] = sum[e](p[..., e]*w[d, e])", "y[..., d] = q[..., d] - w[d, 0]"),
        ),
        (
            ("h[-1] = 0", "h[e] = h[e - 1]*0.5 + gate[..., e]", "y[d] = sum[e](h[e]*w[d, e])"),
            (
                "h[..., -1] = 0",
                "h[..., e] = h[..., e - 1]*0.5 + gate[..., e]",
                "y[..., d] = sum[e](h[..., e]*w[d, e])",
            ),
        ),
        (("y[d] = sum[e](x[..., e, d]*w[d, e])",), ("y[..., d] = sum[e](x[..., e, d]*w[d, e])",)),
        (
            ("p[e] = gate[..., e]", "y = sum[..., e](p[e]*w[0, e])"),
            ("p[..., e] = gate[..., e]", "y = sum[..., e](p[..., e]*w[0, e])"),
        ),
    ],
)
def test_batch_dims_that_are_left_over_stand_on_the_left_of_all_statements(
    lines: tuple[str, ...], meant: tuple[str, ...]
) -> None:
    fields = f"{BATCHES}\noutputs: [y]"
    told = [line.replace(" ", "") for line in said(whole(fields, *lines))]
    assert all(line.replace(" ", "") in told for line in meant)
    built(whole(fields, *meant), warned=True)


@pytest.mark.parametrize(
    ("outputs", "line"),
    [("{y: {shape: [E]}}", "y[e] = gate[..., e]*2"), ("[y]", "y[d] += x[..., 0, d]")],
)
def test_no_line_where_the_result_has_no_batch_dims(outputs: str, line: str) -> None:
    assert not any(text.startswith("y[...") for text in said(whole(f"{BATCHES}\noutputs: {outputs}", line)))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "y = x0*(sum[k](x[i, k]*w[j, k]) + b) + x",
            "y[i, j] = x0[i, j]*(sum[k](x[i, k]*w[j, k]) + b[j]) + x[i, j]",
        ),
        ("y = sum[k](x[n, k]*w[j, k]) + b", "y[n, j] = sum[k](x[n, k]*w[j, k]) + b[j]"),
        ("y = b*sum[k](w[i, k]*w[j, k])", "y[i, j] = b[j]*sum[k](w[i, k]*w[j, k])"),
        ("y = w - sum[k](w[i, k]*w[j, k])", "y[i, j] = w[i, j] - sum[k](w[i, k]*w[j, k])"),
        ("y = softmax[k](w[i, k]) + b", "y[i, k] = softmax[k](w[i, k]) + b[k]"),
        ("y = max[k](x[n, k]) + b", "y[n, d] = max[k](x[n, k]) + b[d]"),
    ],
)
def test_a_bare_tensor_beside_a_reduction_has_the_index_that_it_leaves_over_the_same_dim(line: str, meant: str) -> None:
    fields = "inputs: {x0: {shape: [N, D]}, x: {shape: [N, D]}, w: {shape: [D, D]}, b: {shape: [D]}}"
    (told,) = {text.replace(" ", "") for text in said(whole(fields, line)) if text.startswith("y[")}
    assert told == meant.replace(" ", "")
    built(whole(fields, meant), warned=True)


AHEAD = "d[i + 1, j + 1] = c[i, j] + min(d[i, j + 1], d[i + 1, j], d[i, j])"
PLAIN = "d[i, j] = c[i, j] + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])"


@pytest.mark.parametrize(
    "starts", [(), ("d[0, 0] = 0",), ("d[-1, -1] = 0",), ("d[0, j] = inf", "d[i, 0] = inf", "d[0, 0] = 0")]
)
def test_a_table_written_to_its_next_element_is_counted_from_its_first(starts: tuple[str, ...]) -> None:
    fields = "inputs: {c: {shape: [N, M]}}\noutputs: [loss]"
    (found,) = diagnosed(whole(fields, *starts, AHEAD, "loss = d[N, M]"))
    moved = tuple(line.replace("[0", "[-1").replace("0]", "-1]") for line in starts)
    meant = (*moved, PLAIN, "loss = d[N - 1, M - 1]")
    assert found.span is not None
    assert found.span.text == "d[i + 1, j + 1]"
    assert re.findall(r"`([^`]+)`", found.hints[0])[1:] == [*meant]
    built(whole(fields, *meant), warned=True)
    built(whole(fields, "d[-1, -1] = 0", "d[-1, j] = inf", "d[i, -1] = inf", *meant[len(moved) :]), warned=True)
    assert len(found.hints) == 1 or "`d[-1, j] = inf` and `d[i, -1] = inf`" in found.hints[1]


@pytest.mark.parametrize(
    ("outputs", "line"), [("[d]", AHEAD), ("[loss]", "d[i + 1, j + 1] = c[i, j] + d[i + 1, j + 1]")]
)
def test_no_line_where_the_table_itself_is_asked_for_or_reads_its_own_element(outputs: str, line: str) -> None:
    fields = f"inputs: {{c: {{shape: [N, M]}}}}\noutputs: {outputs}"
    assert "loss = d[N - 1, M - 1]" not in said(whole(fields, "d[0, 0] = 0", line, "loss = d[N, M]"))
