"""Section 9 of the language page: safety, errors, YAML, closure, what is reserved."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from opgen import build

from .sections import Build, Refused, randn, refused


@refused(
    Refused(
        "code_in_a_formula", "op: a\ninputs: [x]\nforward: y = __import__('os').system('true')\n", "OPG201", "system"
    ),
    Refused("attribute", "op: a\ninputs: [x]\nforward: y = x.data\n", "OPG201", "x.data"),
    Refused("op_leads_out_of_the_folder", "op: ../a\ninputs: [x]\nforward: y = x\n", "OPG113", "../a"),
    Refused(
        "tag", "op: !!python/name:os.system ''\ninputs: [x]\nforward: y = x\n", "OPG104", "!!python/name:os.system"
    ),
    Refused("random_numbers", "op: a\ninputs: [x]\nforward: y = rand(x)\n", "OPG209", "rand"),
    Refused("shape_of_data", "op: a\ninputs: {n: {dtype: int, shape: []}}\nforward: y[i < n] = i\n", "OPG226", "n"),
    Refused("second_batch", "op: a\ninputs: {x: {shape: [..., K, ...]}}\nforward: y = 1\n", "OPG215", "..."),
)
def test_meaning_refused(case: Refused) -> None:
    case.check()


def test_all_mistakes_of_a_run_are_reported_together(tmp_path: Path) -> None:
    for name, formula in (("one", "y = x + foo + bar"), ("two", "y = sigmod(x)")):
        (tmp_path / f"{name}.yaml").write_text(f"op: {name}\ninputs: [x]\nforward: {formula}\n")
    result = build(tmp_path, tmp_path / "out")
    assert [d.code for d in result.diagnostics] == ["OPG205", "OPG205", "OPG209"]
    assert not (tmp_path / "out").exists()


def test_a_mistake_leaves_the_earlier_output_untouched(tmp_path: Path) -> None:
    spec = tmp_path / "one.yaml"
    spec.write_text("op: one\ninputs: [x]\nforward: y = x\n")
    assert not build(spec, tmp_path / "out").failed
    before = {p: p.read_bytes() for p in (tmp_path / "out/one").rglob("*") if p.is_file()}
    spec.write_text("op: one\ninputs: [x]\nforward: y = z\n")
    assert build(spec, tmp_path / "out").failed
    assert {p: p.read_bytes() for p in (tmp_path / "out/one").rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-5", 1e-5), ("010", 10.0), ("1_000", None), (".5", 0.5), ("1.", 1.0)],
)
def test_yaml_means_what_it_looks_like(build_operator: Build, text: str, value: float | None) -> None:
    spec = f"op: scaled\ninputs: [x]\nparams: {{s: {{type: float, default: {text}}}}}\nforward: y = s*x\n"
    if value is None:
        with pytest.raises(AssertionError):
            build_operator(spec)
    else:
        assert build_operator(spec).scaled(torch.ones(1)).item() == pytest.approx(value)


def test_no_is_a_choice_and_not_a_bool(build_operator: Build) -> None:
    spec = (
        "op: chosen\ninputs: [x]\nparams: {how: {choices: [no, yes], default: no}}\n"
        'forward: |\n  y = x if how == "no"\n  y = 2*x if how == "yes"\n'
    )
    op = build_operator(spec).chosen
    assert op(torch.ones(1)).item() == 1
    assert op(torch.ones(1), how="yes").item() == 2


def test_the_gradient_of_the_gradient_of_the_gradient(build_operator: Build) -> None:
    op = build_operator(
        "op: quartic\ninputs: {x: {shape: [..., K]}}\nforward: |\n  y[...] = sum[k](x[..., k]**4)\n"
    ).quartic
    x = randn(2, 3).requires_grad_()
    value, factors = op(x).sum(), (lambda t: 4 * t**3, lambda t: 12 * t**2, lambda t: 24 * t)
    for expected in factors:
        (gradient,) = torch.autograd.grad(value, x, create_graph=True)
        torch.testing.assert_close(gradient.detach(), expected(x.detach()))
        value = gradient.sum()
