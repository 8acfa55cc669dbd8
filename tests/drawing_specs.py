"""The operators of the catalogue that draw random numbers, and what two back ends have to agree on."""

from __future__ import annotations

from pathlib import Path

import torch

SPECS = {p.stem: p.read_text() for p in sorted((Path(__file__).parents[1] / "specs").glob("*.yaml"))}
DRAWING = tuple(name for name, text in SPECS.items() if "dtype: seed" in text)
SETTINGS: dict[str, tuple[dict[str, float | bool], ...]] = {
    "dropout_residual": ({"p": 0.4, "training": True}, {"training": False}),
    "gumbel_softmax": ({"tau": 0.7, "hard": False}, {"tau": 0.7, "hard": True}),
    "stochastic_round": ({"step": 0.25},),
}
ROUNDED = ("log", "exp", "softmax")  # libraries round these differently, a vector and what is left of one, too


def same(name: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
    """The same bits, or, behind a logarithm, the same choices and close values."""
    if not any(f"{f}(" in SPECS[name] or f"{f}[" in SPECS[name] for f in ROUNDED):
        assert torch.equal(found, wanted)
    else:
        torch.testing.assert_close(found, wanted, rtol=2e-5, atol=1e-6)
        assert torch.equal(found.argmax(-1), wanted.argmax(-1))
