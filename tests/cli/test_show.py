"""`opgen show`: every stage of the way from a spec to code prints what it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.ir.parse_program import program
from opgen.ir.text import program as exact_text

Run = Callable[..., tuple[int, str, str]]
SPEC = """
op: halved
inputs: {x: {shape: [..., N]}}
forward: y[..., n] = tanh(x[..., n])/2
"""
SHOWN = {
    "spec": "forward: y[..., n] = tanh(x[..., n])/2",
    "program": "y[..., n < N] = tanh(x[..., n])/2",
    "adjoint": "output grad_x[..., N] = grad_x: float of x, summed to the shape of x",
    "tangent": "input x[..., N]: float",
    "second": "cotangent grad_y[..., N]: float of y",
    "plan": "map over [..., n < N] -> y",
    "kernel": "for n < N parallel",
    "torch": "def forward(",
    "cpp": "halved_forward",
    "cuda": "// CUDA kernels of halved",
}


@pytest.mark.parametrize("stage", SHOWN)
def test_every_stage_is_shown(stage: str, opgen: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("halved.yaml").write_text(SPEC)
    code, out, err = opgen("show", "halved.yaml", "--stage", stage)
    assert (code, err) == (0, "")
    assert SHOWN[stage] in out


NAIVE = """
op: smooth
inputs: [x]
forward: y = log(1 + exp(x))
"""


@pytest.fixture
def naive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    spec = Path("smooth.yaml")
    spec.write_text(NAIVE)
    return spec


def test_a_pass_is_shown_before_and_after(opgen: Run, naive: Path) -> None:
    code, out, err = opgen("show", str(naive), "--pass", "stabilise")
    assert (code, err) == (0, "")
    before, after = out.split("# and makes of it")
    assert before.startswith("# stabilise is given\nprogram smooth\n")
    assert "y[...] = log(exp(x[...]) + 1)" in before
    assert "y[...] = softplus(x[...])" in after
    assert "# stabilise leaves smooth_backward as it is" in after


def test_every_pass_that_is_listed_can_be_shown(opgen: Run, naive: Path) -> None:
    _, _, err = opgen("show", str(naive), "--pass", "none")
    listed = err.split("the passes here are ")[1].split("\n")[0].split("`")[1::2]
    assert {"stabilise", "divide", "tidy", "drop"} < set(listed)
    for name in listed:
        code, out, err = opgen("show", str(naive), "--pass", name)
        assert (code, err) == (0, "")
        assert f"# {name} " in out


def test_a_pass_that_is_not_there_is_a_diagnostic(opgen: Run, naive: Path) -> None:
    code, out, err = opgen("show", str(naive), "--pass", "stabilize")
    assert (code, out) == (1, "")
    assert "error[OPG510]: no pass `stabilize` runs here" in err
    assert "did you mean `stabilise`?" in err
    naive.write_text(f"{NAIVE}exact: true\n")
    code, _, err = opgen("show", str(naive), "--pass", "stabilise")
    assert code == 1
    assert "`stabilise`" not in err.split("the passes here are")[1]


def test_a_stage_and_a_pass_at_once_are_refused(opgen: Run, naive: Path) -> None:
    code, _, err = opgen("show", str(naive), "--pass", "tidy", "--stage", "plan")
    assert code == 2
    assert "exclude each other" in err


@pytest.mark.parametrize("shown", [["--stage", "program"], ["--stage", "adjoint"], ["--pass", "stabilise"]])
def test_an_exact_program_is_read_back(opgen: Run, naive: Path, shown: list[str]) -> None:
    naive.write_text(NAIVE.replace("y = ", "y = k*") + "params: {k: {type: int, default: 3, doc: a factor}}\n")
    code, out, err = opgen("show", str(naive), *shown, "--exact")
    assert (code, err) == (0, "")
    texts = [f"program{block}".split("\n#")[0].rstrip("\n") + "\n" for block in f"\n{out}".split("\nprogram")[1:]]
    assert texts
    for text in texts:
        assert '  param k: int = 3, doc "a factor"' in text
        assert exact_text(program(text), exact=True) == text


def test_an_operator_is_shown_by_its_name(opgen: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "there is no folder specs" in opgen("show", "halved")[2]
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/other_name.yaml").write_text(SPEC)
    code, out, err = opgen("show", "halved", "--stage", "cuda")
    assert (code, err) == (0, "")
    assert SHOWN["cuda"] in out
    code, _, err = opgen("show", "other")
    assert code == 2
    assert "there is no operator 'other'" in err
    assert "there is no spec specs/none.yaml" in opgen("show", "specs/none.yaml")[2]
