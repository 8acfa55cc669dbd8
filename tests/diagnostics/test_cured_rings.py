"""Neighbours on a ring, and masks that may be missing, with what their messages say: what PyTorch computes."""

from __future__ import annotations

import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

N = 5
U = torch.randn(N, generator=torch.Generator().manual_seed(0))


def test_a_neighbour_beside_one_that_wraps_around_is_read_around_too() -> None:
    text = whole("inputs: {u: {shape: [N]}}", "y[i] = u[i - 1] - 2*u[i] + u[(i + 1) % N]")
    (found,) = diagnosed(text)
    assert found.hints[0].endswith("write `u[(i - 1) % N]`")
    program = built(text.replace("u[i - 1]", "u[(i - 1) % N]")).variants[0].program
    got = run(program, {"u": array(U.tolist())})["y"]
    wanted = U.roll(1) - 2 * U + U.roll(-1)
    torch.testing.assert_close(torch.tensor(got.data).float(), wanted)


def test_a_mask_that_reads_as_true_where_it_is_missing_moves_nothing() -> None:
    text = whole(
        "inputs: {u: {shape: [N]}, mask: {shape: [N], dtype: bool, optional: true}}",
        "y[i] = softmax[i](u[i] - 1e9*(1 - mask[i]))",
    )
    (found,) = diagnosed(text)
    assert found.code == "OPG251"
    assert "`mask: {…, absent: true}`" in found.hints[0]
    cured = built(text.replace("optional: true", "optional: true, absent: true"))
    plain = built(whole("inputs: {u: {shape: [N]}}", "y[i] = softmax[i](u[i])"))
    missing = next(v.program for v in cured.variants if not all(c.present for c in v.conditions))
    assert missing.statements == plain.variants[0].program.statements


def test_what_is_far_from_0_with_the_input_as_well_is_told_nothing() -> None:
    for formula in ("101325 - w[i]*u[i]", "where(w[i] > 0, u[i], 0) + 20000", "u[i] + 500*w[i]"):
        text = whole("inputs: {u: {shape: [N]}, w: {shape: [N], optional: true}}", f"y[i] = u[i]*({formula})")
        assert not [d for d in diagnosed(text) if "moved" in d.message], formula
