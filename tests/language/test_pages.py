"""The module of the language page does what the page says."""

from __future__ import annotations

import torch

from tests.pages.blocks import blocks

from .sections import Build


def test_the_module_of_the_language_page(build_operator: Build) -> None:
    spec = next(b.text for b in blocks("docs/language.md") if b.text.startswith("op: batch_centre"))
    layer = build_operator(spec).BatchCentre(2)
    x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    assert layer(x).tolist() == [[-1.0, -2.0], [1.0, 2.0]]
    torch.testing.assert_close(layer.running, torch.tensor([0.2, 0.4]))
    torch.testing.assert_close(layer.eval()(x), x - torch.tensor([0.2, 0.4]))
