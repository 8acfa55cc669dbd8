"""Updates as JAX writes them, with what their one message says in their place, are the scatters that were meant."""

from __future__ import annotations

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import diagnosed, follow, whole

DRAWN = torch.Generator().manual_seed(0)
M, OLD = torch.randn(5, 2, generator=DRAWN), torch.randn(3, 2, generator=DRAWN)
DST = torch.tensor([0, 2, 2, 0, 1])
INPUTS = "inputs: {m: {shape: [E, D]}, dst: {shape: [E], dtype: int, domain: 0 <= dst < 3}, old: {shape: [3, D]}}"
COPY = "y[i, d] = old[i, d]"


@pytest.mark.parametrize(
    ("fields", "written", "first", "line", "start"),
    [
        ("", "y = jnp.zeros((3, D)).at[dst].add(m)", "", "y[dst[e], d] += m[e, d]", torch.zeros(3, 2)),
        ("outputs: {y: {shape: [3, D]}}", "y = y.at[dst[j], d].add(m[j, d])", "", "y[dst[j], d] += m[j, d]", 0 * OLD),
        ("", "y = old.at[dst, :].add(m)", COPY, "y[dst[e], d] += m[e, d]", OLD),
        ("", "y = old.at[dst].add(m)", COPY, "y[dst[e], d] += m[e, d]", OLD),
        ("", "y[i, d] = old.at[dst[e], d].add(m[e, d])", COPY, "y[dst[e], d] += m[e, d]", OLD),
    ],
)
def test_what_is_added_is_a_scatter(fields: str, written: str, first: str, line: str, start: torch.Tensor) -> None:
    text = whole(f"{INPUTS}\n{fields}", written)
    outputs = {"forward:": "outputs: {y: {shape: [3, D]}}\nforward:"} if "zeros" in written else {}
    operator = follow(text, {written: "\n  ".join(filter(None, (first, line)))} | outputs)
    (variant,) = operator.variants
    given = {n: array(v.tolist()) for n, v in {"m": M, "dst": DST, "old": OLD}.items()}
    made = run(variant.program, given)["y"]
    torch.testing.assert_close(torch.tensor(made.data).reshape(3, 2).float(), start.index_add(0, DST, M))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("y = old.at[dst].set(m)", "positions that are computed may be the same"),
        ("y = old.at[dst].add(m) + 1", "a statement of its own"),
        ("y = old.at[dst].max(m)", "`y[dst[e], d] max= m[e, d]`"),
        ("y = old.at[0].add(1)", "`y[0, d] += 1`"),
    ],
)
def test_other_updates_are_told(written: str, said: str) -> None:
    (found,) = diagnosed(whole(INPUTS, written))
    assert said in found.hints[0]
