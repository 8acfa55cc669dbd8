"""Vectors without their component, and modes of `pad` without quotes: an index over another dim is no help."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import diagnosed, follow, whole

BODIES = "inputs: {pos: {shape: [N, 3]}, mass: {shape: [N]}}\noutputs: [acc]"


@pytest.mark.parametrize(
    "line",
    [
        "acc[i] = sum[j](mass[j]*(pos[j] - pos[i])/r2[i, j])",
        "acc[i] = -sum[j](mass[i]*mass[j]*(pos[i] - pos[j]))",
    ],
)
def test_an_index_over_particles_is_not_that_of_a_component(line: str) -> None:
    found = diagnosed(whole(BODIES, "r2[i, j] = sum[a]((pos[i, a] - pos[j, a])**2)", line))
    assert {d.code for d in found} == {"OPG212"}
    assert all("`pos[" not in str(hint) for d in found for hint in d.hints)


def test_components_at_their_own_index_are_told() -> None:
    """The letter of a dim of 3, where nothing else runs along it."""
    spec = whole("inputs: {pos: {shape: [N, 3]}}\noutputs: [acc]", "acc[n, i < 3] = 2*pos[n]")
    (d,) = diagnosed(spec)
    assert any("`pos[n, i]`" in str(hint) for hint in d.hints)


@pytest.mark.parametrize(
    ("mode", "meant"),
    [
        ("reflect", "x[n, W - 1 - abs(W - 1 - abs(i - 1))]"),
        ("replicate", "x[n, clamp(i - 1, 0, W - 1)]"),
        ("circular", "x[n, (i - 1) % W]"),
    ],
)
def test_a_mode_without_quotes_is_a_position(mode: str, meant: str) -> None:
    spec = whole("inputs: {x: {shape: [N, W]}}\noutputs: [y]", f"y[n, i < W] = pad(x[n, i - 1], {mode})")
    (d,) = diagnosed(spec)
    assert d.code == "OPG210"
    assert any(f"`{meant}`" in str(hint) for hint in d.hints)
    follow(spec, {f"pad(x[n, i - 1], {mode})": meant})


def test_a_param_of_that_name_is_a_number() -> None:
    fields = "inputs: {x: {shape: [N, W]}}\nparams: {reflect: float}\noutputs: [y]"
    assert not diagnosed(whole(fields, "y[n, i < W] = pad(x[n, i - 1], reflect)"))
