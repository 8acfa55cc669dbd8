"""An operator with more arguments than torch takes is refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

import opgen
from opgen.pipeline import SpecFile, run


def outputs(count: int, flag: str = "") -> str:
    rows = "".join(f"  y{k} = {k + 2}*x\n" for k in range(count))
    return f"op: many\ninputs: [x]\n{flag}forward: |\n{rows}"


def inputs(count: int, fields: str = "") -> str:
    names = [f"x{k}" for k in range(count)]
    listed = ", ".join(f"{n}: {{{fields}}}" for n in names) if fields else ", ".join(names)
    given = f"{{{listed}}}" if fields else f"[{listed}]"
    return f"op: many\ninputs: {given}\nforward: y = {' + '.join(names)}\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (outputs(62), ("`many_backward.batched` would have 65", "as `y0` and `y1`")),
        (outputs(64, "outputs: {" + ", ".join(f"y{k}: {{differentiable: false}}" for k in range(64)) + "}\n"),
         ("`many.out` would have 65", "as `y0` and `y1`")),
        (inputs(64, "dtype: int"), ("`many.batched` would have 65", "as `x0` and `x1`")),
        (inputs(32, "dtype: complex"), ("would have 68", "as `x0` and `x1`")),
    ],
)  # fmt: skip
def test_it_is_told_what_torch_does_not_take(text: str, told: tuple[str, str]) -> None:
    found = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"))
    (error,) = (d for d in found.diagnostics if d.code == "OPG403")
    assert error.span is not None
    assert error.span.text == "many"
    assert told[0] in error.message
    assert told[1] in error.hints[0]
    assert found.files is None


@pytest.mark.parametrize("text", [outputs(61), inputs(63, "dtype: int")])
def test_as_many_as_torch_takes_build(text: str) -> None:
    found = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"))
    assert found.diagnostics == ()
    assert found.files


DEEP = 31


def test_what_is_kept_is_never_too_much(tmp_path: Path) -> None:
    """Each softmax leaves two numbers of a row; with too many of them, all is computed again."""
    torch = pytest.importorskip("torch")
    rows = "".join(f"  t{k + 1}[..., k] = softmax[k](t{k}[..., k]*w[..., k])\n" for k in range(DEEP))
    text = (
        f"op: deep\ninputs: {{t0: {{shape: [..., K]}}, w: {{shape: [..., K]}}}}\noutputs: [t{DEEP}]\nforward: |\n{rows}"
    )
    x, w = torch.randn(2, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64, requires_grad=True)
    wanted = x
    for _ in range(DEEP):
        wanted = (wanted * w).softmax(-1)
    (tmp_path / "deep.yaml").write_text(text)
    found = opgen.load(tmp_path / "deep.yaml", compiled=False)(x, w)
    torch.testing.assert_close(found, wanted)
    weights = torch.randn_like(wanted)
    slopes = [torch.autograd.grad(y, w, weights)[0] for y in (found, wanted)]
    torch.testing.assert_close(*slopes)
