"""The pages on modules are true: what their specs become does what they say."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from .sections import Build

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def _block(page: str, language: str, begins: str = "") -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    return next(b for b in blocks if b.startswith(begins))


def test_the_guide_to_modules(build_operator: Build) -> None:
    package = build_operator(_block("modules.md", "yaml"))
    code = _block("modules.md", "python")
    assert "assert" in code
    exec(code.replace("generated.track_mean", package.__name__), {})


def test_the_module_of_the_language_page(build_operator: Build) -> None:
    layer = build_operator(_block("language.md", "yaml", "op: batch_centre")).BatchCentre(2)
    x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    assert layer(x).tolist() == [[-1.0, -2.0], [1.0, 2.0]]
    torch.testing.assert_close(layer.running, torch.tensor([0.2, 0.4]))
    torch.testing.assert_close(layer.eval()(x), x - torch.tensor([0.2, 0.4]))
