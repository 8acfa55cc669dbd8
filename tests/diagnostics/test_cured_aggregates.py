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
