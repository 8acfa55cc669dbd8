"""Operators that are made in Python: of a formula, a text, a dict or a file, and what they know of themselves."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import opgen
from opgen.toolchain import load as loading
from opgen.toolchain.spec_text import of_fields, of_formula
from opgen.toolchain.talk import talk
from opgen.write.user_cache import CACHE_VARIABLE, cache_folder

DOT = "y[n] = sum[k](x[n, k]*w[k]) + b"


@pytest.fixture(scope="module")
def dot() -> opgen.Operator:
    return opgen.op(DOT, name="dot", params={"b": 0.5}, compiled=False)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own: what is in it was made by this test."""
    before = [*sys.path]
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    yield cache_folder()
    sys.path[:] = before


@pytest.mark.parametrize(
    ("formula", "name", "params", "fields", "text"),
    [
        (
            DOT,
            "dot",
            {"b": 0.5},
            {},
            "op: dot\ninputs:\n  x: {shape: [N, K]}\n  w: {shape: [K]}\n"
            f"params:\n  b: {{type: float, default: 0.5}}\nforward: |\n  {DOT}\n",
        ),
        ("x*sigmoid(x)", None, {}, {}, "op: y\ninputs: [x]\nforward: |\n  y = x*sigmoid(x)\n"),
        (
            "z = x**n\nloss = mean[...](z)",
            None,
            {"n": int},
            {"inputs": {"x": {"doc": "more"}}, "exact": True},
            "op: loss\nexact: true\ninputs:\n  x: {doc: more}\nparams:\n  n: int\n"
            "forward: |\n  z = x**n\n  loss = mean[...](z)\n",
        ),
        (
            "y[n] = table[ids[n], shift]",
            "take",
            {"mode": {"choices": ["a", "b"]}},
            {},
            "op: take\ninputs:\n  table: {shape: [D1, Shift]}\n  ids: {shape: [N], dtype: int}\n"
            "  shift: {shape: [], dtype: int}\nparams:\n  mode: {choices: [a, b]}\n"
            "forward: |\n  y[n] = table[ids[n], shift]\n",
        ),
    ],
)
def test_what_follows_from_a_formula(formula: str, name: str | None, params: Any, fields: Any, text: str) -> None:
    assert of_formula(formula, name, params, fields) == text


def test_a_dict_is_written_as_a_person_would(cache: Path) -> None:
    spec = {
        "op": "scaled",
        "summary": "Scales: rows, by one number.",
        "inputs": {"x": {"shape": [..., "K"]}, "w": {"shape": [3], "optional": True, "absent": "1/3"}},
        "params": {"eps": {"type": float, "default": 1e-5}},
        "tests": {"sizes": {"K": 3}},
        "forward": """
            h[..., k] = x[..., k]*eps
            y[..., k] = h[..., k]*w[0]
        """,
    }
    text = of_fields(spec)
    assert text == (
        "op: scaled\nsummary: |\n  Scales: rows, by one number.\n"
        'inputs:\n  x: {shape: [..., K]}\n  w: {shape: [3], optional: true, absent: "1/3"}\n'
        "params:\n  eps: {type: float, default: 1e-05}\ntests:\n  sizes: {K: 3}\n"
        "forward: |\n  h[..., k] = x[..., k]*eps\n  y[..., k] = h[..., k]*w[0]\n"
    )
    x = torch.ones(2, 3)
    torch.testing.assert_close(opgen.load(spec, compiled=False)(x, eps=3.0), x)


@pytest.mark.parametrize("forward", ["y = x\u2028op: other", "y = x\x85op: other", "y = x\r\nop: other", "y = \x00"])
def test_text_stays_in_its_field(forward: str) -> None:
    with pytest.raises(opgen.LoadError, match="OPG") as error:
        opgen.load({"op": "mine", "inputs": ["x"], "forward": forward}, compiled=False)
    assert "duplicate" not in str(error.value)


@pytest.mark.parametrize(
    ("formula", "fields", "told"),
    [
        ("y[n] = x[n, k]*w[k]", {}, ("OPG204", "--> <formula>:6:15", "write `y[n] = sum[k](x[n, k] * w[k])`")),
        ("y = x^2", {}, ("--> <formula>:4:8", "x**2")),
        ("", {}, ("OPG201", "assigns nothing")),
        ("y = x", {"parms": {"a": 1}}, ("OPG110", "did you mean `params`?")),
        ("y = x", {"name": "My Op"}, ("OPG113", "--> <formula>:1:")),
    ],
)
def test_a_mistake_is_shown_as_in_files(formula: str, fields: dict[str, Any], told: tuple[str, ...]) -> None:
    with pytest.raises(opgen.LoadError) as error:
        opgen.op(formula, **fields)
    for part in told:
        assert part in str(error.value)


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(opgen.LoadError, match=r"OPG501(?s:.*)nowhere\.yaml"):
        opgen.load(tmp_path / "nowhere.yaml")


def test_an_operator_is_its_function_and_more(dot: opgen.Operator) -> None:
    x, w = torch.randn(4, 3, dtype=torch.float64, requires_grad=True), torch.randn(3, dtype=torch.float64)
    torch.testing.assert_close(dot(x, w, b=1.0), x @ w + 1)
    assert torch.autograd.gradcheck(dot, (x, w))
    assert torch.equal(torch.func.jacrev(dot)(x, w), torch.func.jacrev(dot.function)(x, w))
    assert torch.equal(torch.compile(dot, fullgraph=True, backend="eager")(x, w), dot(x, w))
    assert inspect.signature(dot) == inspect.signature(dot.function)
    assert (dot.__name__, dot.backend, dot.__doc__) == ("dot", "torch", dot.function.__doc__)
    assert issubclass(dot.Module, torch.nn.Module)
    assert torch.equal(dot.Module(b=1.0)(x, w), dot(x, w, b=1.0))
    assert repr(dot) == "<operator dot of <formula>: torch>"


def test_sources(dot: opgen.Operator) -> None:
    assert dot.source("spec").startswith("op: dot\n")
    heads = {part: dot.source(part).partition("\n")[0] for part in ("torch", "ops", "module", "cpp", "cuda", "test")}
    assert all("@generated by opgen from a spec" in head for head in heads.values())
    with pytest.raises(ValueError, match="a source is `spec`"):
        dot.source("rust")
    elsewhere = {"op": "roots", "inputs": ["x"], "outputs": {"y": {"shape": [...]}}, "forward": {"numpy": "numpy.cbrt"}}
    with pytest.raises(ValueError, match=r"roots has no kernels in C\+\+"):
        opgen.load(elsewhere, compiled=False).source("cpp")


def test_a_notebook_shows_an_operator_as_text() -> None:
    shown = opgen.op("where(x < 1, x, 1)", name="shown", summary="<b>", compiled=False)._repr_html_()
    assert "where(x &lt; 1, x, 1)" in shown
    assert "<b>shown</b> &lt;b&gt;" in shown
    assert "<mtext>otherwise</mtext>" in shown
    elsewhere = {"op": "roots", "inputs": ["x"], "outputs": {"y": {"shape": [...]}}, "forward": {"numpy": "numpy.cbrt"}}
    assert "<math" not in opgen.load(elsewhere, compiled=False)._repr_html_()


def test_pickles_are_specs(dot: opgen.Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    assert pickle.loads(pickle.dumps(dot)) is dot
    assert copy.deepcopy({"op": dot})["op"] is dot
    pickled = pickle.dumps(dot)
    monkeypatch.setattr(loading, "_loaded_operators", {})  # as in another process
    found = pickle.loads(pickled)
    assert found is not dot
    assert torch.equal(found(torch.ones(2, 3), torch.ones(3)), torch.tensor([3.5, 3.5]))


@pytest.mark.thorough
def test_a_spawned_process_gets_an_operator_of_a_formula(dot: opgen.Operator) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(dot, (torch.ones(2, 3), torch.ones(3))).get(timeout=300)
    assert found.tolist() == [3.5, 3.5]


def test_an_edited_spec_is_loaded_again(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("op: mine\ninputs: [x]\nforward: y = 2*x\n")
    mine = opgen.load(path, compiled=False)
    assert opgen.reload(mine) is mine
    path.write_text("op: mine\ninputs: [x]\nforward: y = 3*x +\n")
    with pytest.raises(opgen.LoadError, match=r"mine\.yaml"):
        opgen.reload(mine)
    assert mine(torch.tensor(1.0)) == 2
    path.write_text("op: mine\ninputs: [x]\nforward: y = 3*x\n")
    assert opgen.reload(mine) is mine is opgen.load(path, compiled=False)
    assert mine(torch.tensor(1.0)) == 3
    path.write_text("op: mine\ninputs: [x]\nforward: y = 2*x\n")
    assert opgen.load(path, compiled=False)(torch.tensor(1.0)) == 2


def test_only_a_file_can_be_read_again(dot: opgen.Operator) -> None:
    with pytest.raises(opgen.LoadError, match="dot was not loaded from a file"):
        opgen.reload(dot)


def test_who_watches_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    talk()("dot is being compiled")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    talk()("dot is being compiled")
    assert capsys.readouterr().err == "opgen: dot is being compiled\n"


def test_completion_knows_what_there_is() -> None:
    assert {"op", "load", "reload", "build", "compile", "Operator", "LoadError"} <= {*dir(opgen)}
    assert all(hasattr(opgen, name) for name in dir(opgen))
