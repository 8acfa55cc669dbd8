"""What comes together in a tensor that is read further down, and means at computed positions: what is said builds."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import built, diagnosed, whole

EDGES = "inputs: {msg: {shape: [E, D]}, dst: {shape: [E], dtype: int, domain: 0 <= dst < N}, x: {shape: [N, D]}}"
BATCH = "inputs: {msg: {shape: [..., E]}, dst: {shape: [E], dtype: int, domain: 0 <= dst < N}, x: {shape: [..., N]}}"


def lines(text: str) -> list[str]:
    """All that the messages about a spec say to write, in order."""
    return re.findall(r"`([^`]*)`", " ".join(hint for found in diagnosed(text) for hint in found.hints))


@pytest.mark.parametrize(
    ("fields", "statements", "meant"),
    [
        (
            EDGES,
            ("agg = zeros_like(x).at[dst].add(msg)", "y = x + agg"),
            ["agg[n < N, d < D] = 0", "agg[dst[e], d] += msg[e, d]", "y[n, d] = x[n, d] + agg[n, d]"],
        ),
        (
            EDGES,
            ("agg = torch.zeros((N, D)).index_add(0, dst, msg)", "y = tanh(x + agg)"),
            ["agg[n < N, d < D] = 0", "agg[dst[e], d] += msg[e, d]", "y[n, d] = tanh(x[n, d] + agg[n, d])"],
        ),
        (
            BATCH,
            ("agg = zeros_like(x).at[..., dst].max(msg)", "y = x + agg"),
            ["agg[..., n < N] = 0", "agg[..., dst[e]] max= msg[..., e]", "y[..., n] = x[..., n] + agg[..., n]"],
        ),
    ],
)
def test_what_is_added_up_and_read_further_down_begins_with_0(
    fields: str, statements: tuple[str, ...], meant: list[str]
) -> None:
    assert lines(whole(fields, *statements)) == meant
    built(whole(fields, *meant))


def test_no_statement_is_proposed_with_a_tensor_whose_dims_are_open() -> None:
    said = lines(whole(EDGES, "agg = init.at[dst].add(msg)", "y = x + agg"))
    assert said == ["agg[dst[e], d] += msg[e, d]", "x[n, d]"]


POINTS = "inputs: {x: {shape: [N, D]}, a: {shape: [N], dtype: int, domain: 0 <= a < K}, w: {shape: [K]}}"
ROWS = "inputs: {x: {shape: [B, N, D]}, a: {shape: [B, N], dtype: int, domain: 0 <= a < K}, w: {shape: [K]}}"


@pytest.mark.parametrize(
    ("fields", "line", "meant"),
    [
        (
            POINTS,
            "y[a[n], d] = mean[n](x[n, d])",
            [
                "total[k < K, d < D] = 0",
                "total[a[n], d] += x[n, d]",
                "number[k < K] = 0",
                "number[a[n]] += 1",
                "y[k, d] = total[k, d] / max(number[k], 1)",
            ],
        ),
        (
            ROWS,
            "y[b, a[b, n], d] = mean[n](x[b, n, d])",
            [
                "total[b < B, k < K, d < D] = 0",
                "total[b, a[b, n], d] += x[b, n, d]",
                "number[b < B, k < K] = 0",
                "number[b, a[b, n]] += 1",
                "y[b, k, d] = total[b, k, d] / max(number[b, k], 1)",
            ],
        ),
    ],
)
def test_the_mean_of_what_comes_together_is_a_sum_over_a_count(fields: str, line: str, meant: list[str]) -> None:
    assert [m for m in lines(whole(fields, line)) if "=" in m and not m.startswith("=")] == meant
    built(whole(fields, *meant), warned=True)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("max[n](x[n, d])", "y[a[n], d] max= x[n, d]"),
        ("min[n](x[n, d])", "y[a[n], d] min= x[n, d]"),
        ("prod[n](x[n, d])", "y[a[n], d] *= x[n, d]"),
        ("sum[n](x[n, d])", "y[a[n], d] += x[n, d]"),
        ("2*sum[n](x[n, d])", "y[a[n], d] += …"),
    ],
)
def test_a_reduction_over_what_comes_together_is_the_scatter(value: str, meant: str) -> None:
    said = [m for m in lines(whole(POINTS, f"y[a[n], d] = {value}")) if m.startswith("y[")]
    assert said[0] == meant
    if "…" not in meant:
        built(whole(POINTS, said[1], meant), warned=True)


@pytest.mark.parametrize(
    ("statements", "meant"),
    [
        (("y[0] = a", "y[1] = 2*c + a"), ["y[0, n] = a[n]", "y[1, n] = 2 * c[n] + a[n]"]),
        (("y[0] = b", "y[1] = b - c"), ["y[..., 0, n] = b[..., n]", "y[..., 1, n] = b[..., n] - c[n]"]),
        (("y[-1] = a", "y[t, n] = 0.5*y[t - 1, n] + x[t, n]"), ["y[-1, n] = a[n]"]),
    ],
)
def test_rows_that_are_given_as_whole_tensors_have_their_index(statements: tuple[str, ...], meant: list[str]) -> None:
    fields = "inputs: {a: {shape: [N]}, b: {shape: [..., N]}, c: {shape: [N]}, x: {shape: [T, N]}}"
    assert lines(whole(fields, *statements)) == meant
    built(whole(fields, *meant, *statements[len(meant) :]), warned=True)


def test_a_row_of_numbers_is_no_row_of_tensors() -> None:
    fields = "inputs: {a: {shape: [N]}}\noutputs: {y: {shape: [2]}}"
    assert not any("y[" in line for line in lines(whole(fields, "y[0] = a", "y[1] = 2*a")))


@pytest.mark.parametrize(
    ("fields", "statements", "meant"),
    [
        (
            "inputs: {A: {shape: [N, N]}, x: {shape: [N, D]}}",
            (r"y_{i,d} = \sum_{j} A_{ij} x_{jd}",),
            ["y[i, d] = sum[j](a[i, j]*x[j, d])"],
        ),
        (
            "inputs: {logp: {shape: [T]}, r: {shape: [T]}}",
            ("G[t] = r[t] + 0.9*G[t + 1]", "loss = -sum[t](logp[t]*stop_gradient(G[t]))"),
            ["g[t] = r[t] + 0.9*g[t + 1]", "loss = -sum[t](logp[t] * detach(g[t]))"],
        ),
    ],
)
def test_lines_have_the_small_names_that_are_asked_for(
    fields: str, statements: tuple[str, ...], meant: list[str]
) -> None:
    said = lines(whole(fields, *statements))
    assert meant[-1] in said
    built(whole(re.sub(r"\bA: ", "a: ", fields), *meant), warned=True)


def test_all_values_that_need_quotes_in_a_mapping_are_told_at_once() -> None:
    fields = (
        "inputs: {x: {shape: [N, H, W]}, w: {shape: [R, S]}}\nparams: {stride: {type: [int, int], default: 1}}\n"
        "dims: {P: (H - R)//stride[0] + 1, M: 2*N, Q: (W - S)//stride[1] + 1}"
    )
    line = "y[n, p < P, q < Q] = sum[r, s](x[n, p*stride[0] + r, q*stride[1] + s]*w[r, s]) + M"
    said = lines(whole(fields, line))
    assert said == ['P: "(H - R)//stride[0] + 1"', 'Q: "(W - S)//stride[1] + 1"']
    (found,) = diagnosed(whole(fields, line))
    assert [label.span.text for label in found.related if label.text == "this too"] == ["Q"]
    for value in said:
        fields = fields.replace(value.replace('"', ""), value)
    built(whole(fields, line), warned=True)


def test_lines_have_the_signs_that_are_asked_for() -> None:
    fields = "inputs: {u: {shape: [T, N]}}\nparams: {dx: {type: float, default: 1.0}}"
    line = "y[t, i] = (u[t, i-1] \u2212 2*u[t, i] + u[t, i+1])/dx^2"
    found = [hint for d in diagnosed(whole(fields, line)) if d.code == "OPG232" for hint in d.hints]
    said = [m for m in re.findall(r"`([^`]*)`", " ".join(found)) if m.startswith("y[")]
    assert len(said) == 3
    for meant in said:
        assert "dx**2" in meant
        assert meant.isascii()
        built(whole(fields, meant), warned=True)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[...] = sum(x[..., k] * w[k])", "y[...] = sum[i](x[..., i] * w[i])"),
        ("y[...] = 2*mean(x[..., k]) + k", "y[...] = 2 * mean[i](x[..., i]) + k"),
    ],
)
def test_a_reduction_over_what_is_a_param_has_an_index_of_another_letter(line: str, meant: str) -> None:
    fields = "inputs: {x: {shape: [..., K]}, w: {shape: [K]}}\nparams: {k: {type: int, default: 3}}"
    (said,) = (m for m in lines(whole(fields, line)) if m.startswith("y["))
    letter = re.search(r"\[(\w)\]\(", said)
    assert letter is not None
    assert said == re.sub(r"\bi\b", letter[1], meant)
    built(whole(fields, said), warned=True)
