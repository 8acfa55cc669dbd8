"""Draws by the names of other libraries in a spec without a seed: the line and the inputs that are offered build."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

LISTED, SEEDED = "inputs: [mu, logvar]", "inputs: {mu: {}, logvar: {}, seed: {dtype: seed}}"


@pytest.mark.parametrize("draw", ["randn_like(mu)", "torch.randn_like(mu)", "randn()", "normal(seed)"])
@pytest.mark.parametrize("inputs", [LISTED, "inputs:\n  - mu\n  - logvar"])
def test_a_seed_is_declared_with_the_inputs_of_a_list(draw: str, inputs: str) -> None:
    line = "z = mu + exp(0.5 * logvar) * normal(seed)"
    told = said(whole(inputs, f"z = mu + exp(0.5*logvar)*{draw}"))
    assert SEEDED in told
    assert line in told or "(seed)" in draw
    built(whole(SEEDED, line))


@pytest.mark.parametrize(
    ("fields", "statement", "line"),
    [
        ("mu: {shape: [N]}, s: {shape: [N]}", "z[n] = mu[n] + s[n]*randn_like(mu)",
         "z[n] = mu[n] + s[n] * normal(seed)"),
        ("mu: {shape: [...]}", "z = where(rand_like(mu) > 0.5, mu, 0)", "z = where(uniform(seed) > 0.5, mu, 0)"),
        ("mu: {}", "z = randn_like(mu)", "z[...] = normal(seed)"),
    ],
)  # fmt: skip
def test_a_draw_beside_others_is_as_large_as_these(fields: str, statement: str, line: str) -> None:
    assert said(whole(f"inputs: {{{fields}}}", statement)) == [line, "inputs: {seed: {dtype: seed}}"]
    built(whole(f"inputs: {{{fields}, seed: {{dtype: seed}}}}", line), warned=True)
