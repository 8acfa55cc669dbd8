"""Calls that leave out arguments, have one tensor for several or name one that there is not, on every back end."""

from __future__ import annotations

import importlib
import inspect
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.compilers import available

ROOT = Path(__file__).resolve().parents[2]
Build = Callable[[str], ModuleType]
PASSING = """op: passing
inputs:
  x: {shape: [V, D]}
  source: {shape: [E], dtype: int, domain: 0 <= source < V}
  target: {shape: [E], dtype: int, domain: 0 <= target < V}
  w: {shape: [E], optional: true, absent: 1}
outputs: {y: {shape: [V, D]}}
forward: y[target[e], d] += w[e]*x[source[e], d]
"""
X, W, EDGES = torch.ones(4, 3), torch.ones(3), torch.tensor([[0, 1, 2], [1, 2, 3]])
ROWS = "; where one tensor holds source and target, pass its parts, as in edge_index[0], edge_index[1]"
COLUMNS = ROWS.replace("[0]", "[:, 0]").replace("[1]", "[:, 1]")
TAKES = "; it takes x, source, target, w, out"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    from opgen import build

    folder = tmp_path_factory.mktemp("missing")
    (folder / "passing.yaml").write_text(PASSING)
    result = build(folder / "passing.yaml", folder / "lacking")
    assert not result.failed, result.diagnostics
    sys.path.insert(0, str(folder))
    yield importlib.import_module("lacking.passing")
    sys.path.remove(str(folder))
    for loaded in [m for m in sys.modules if m.split(".")[0] == "lacking"]:
        del sys.modules[loaded]


@pytest.fixture(
    params=[
        "torch",
        pytest.param("native", marks=[pytest.mark.slow, pytest.mark.skipif(not available(), reason="no C++ compiler")]),
    ]
)
def passing(
    package: ModuleType, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ModuleType]:
    """The package on one back end, compiled once."""
    from opgen.toolchain.library import compile_op
    from opgen.write.user_cache import CACHE_VARIABLE

    runtime = importlib.import_module("lacking._runtime")
    if request.param == "native" and runtime.kernel("passing", "forward") is None:
        monkeypatch.setenv(CACHE_VARIABLE, os.environ.get(CACHE_VARIABLE, str(ROOT / ".opgen_cache" / "tests")))
        runtime.load_library(compile_op(Path(package.__file__ or "").parents[1], "passing"))
    with runtime.use_backend(request.param):
        yield package


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: f(X, EDGES), f" is missing target{ROWS}"),
        (lambda f: f(X, EDGES, w=W), f" is missing target{ROWS}"),
        (lambda f: f(X, source=EDGES.int()), f" is missing target{ROWS}"),
        (lambda f: f(X, EDGES.t(), w=W), f" is missing target{COLUMNS}"),
        (lambda f: f(X.clone().requires_grad_(), EDGES), f" is missing target{ROWS}"),
        (lambda f: f(X, EDGES, out=X), f" is missing target{ROWS}"),
        (lambda f: f(X, EDGES, W), f": source must have shape [E], not [2, 3]{ROWS}"),
        (lambda f: f(X, EDGES, None), f": source must have shape [E], not [2, 3]{ROWS}"),
        (lambda f: f(X, EDGES.t(), W), f": source must have shape [E], not [3, 2]{COLUMNS}"),
        (lambda f: f(X, EDGES[:, :2], W), ": source must have shape [E], not [2, 2]"),
        (lambda f: f(X, EDGES[0], EDGES, W), ": target must have shape [E], not [2, 3]"),
        (
            lambda f: f(X, EDGES.float(), W),
            ": source must be integers of shape [E] (0 <= source < V), not torch.float32 of shape [2, 3]",
        ),
        (lambda f: f(X[0], EDGES[0], W), ": x must have shape [V, D], not [3]"),
        (lambda f: f(X, target=EDGES[1]), f" is missing source{TAKES}"),
        (lambda f: f(X), f" is missing source and target{TAKES}"),
        (lambda f: f(), f" is missing x, source and target{TAKES}"),
        (lambda f: f([1.0], EDGES[0]), f" is missing target{TAKES}"),
        (lambda f: torch.func.grad(lambda t: f(t, EDGES).sum())(X), f" is missing target{ROWS}"),
    ],
)
def test_one_tensor_for_several_and_none(passing: ModuleType, call: Callable[[Any], object], said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as told:
        call(passing.passing)
    assert str(told.value) == f"passing{said}"


def test_calls_that_are_right_and_what_is_known_of_them(passing: ModuleType) -> None:
    expected = torch.zeros(4, 3).index_add(0, EDGES[1], X[EDGES[0]])
    for call in (passing.passing, passing.Passing(), torch.compile(passing.passing, backend="eager", fullgraph=True)):
        assert torch.equal(call(X, EDGES[0], target=EDGES[1]), expected)
    assert list(inspect.signature(passing.passing).parameters) == ["x", "source", "target", "w", "out"]
    for function in (passing.passing, passing.Passing().forward):
        assert [p.default for p in inspect.signature(function).parameters.values()][:4] == [
            inspect.Parameter.empty
        ] * 3 + [None]
    assert pickle.loads(pickle.dumps(passing.passing)) is passing.passing


def test_a_module_and_a_compiler_say_the_same(passing: ModuleType) -> None:
    compiled = torch.compile(passing.passing, backend="eager")
    for name, call in (("Passing", passing.Passing()), ("passing", compiled)):
        with pytest.raises(TypeError, match=re.escape(f"{name} is missing target{ROWS}")):
            call(X, EDGES, w=W)


POOLED = """op: pooled
inputs: {x: {shape: [E]}, ids: {shape: [E], dtype: int, domain: 0 <= ids < S}}
params: {num_segments: {type: int, domain: num_segments > 0}, scale: {type: float, default: 1.0}}
dims: {S: num_segments}
outputs: {y: {shape: [S]}}
forward: y[ids[e]] += scale*x[e]
"""
IDS = EDGES[0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda p: p.pooled(W, IDS, num_nodes=5), "has no argument num_nodes; did you mean num_segments? it takes"),
        (lambda p: p.pooled(W, IDS, n=5), "has no argument n; did you mean num_segments? it takes"),
        (lambda p: p.pooled(W, IDS, num_segment=5), "has no argument num_segment; did you mean num_segments? it takes"),
        (lambda p: p.pooled(W, dim_size=5, index=IDS), "has no argument dim_size; it takes"),
        (lambda p: p.pooled(W, IDS, num_nodes="5"), "has no argument num_nodes; it takes"),
        (lambda p: p.pooled(W, IDS, 5, num_nodes=5), "has no argument num_nodes; it takes"),
        (lambda p: p.pooled(W, IDS, scal=5.0), "has no argument scal; did you mean scale? it takes"),
        (lambda p: p.pooled(W, index=IDS, num_segments=5), "has no argument index; did you mean ids? it takes"),
        (lambda p: p.pooled(W, IDS), "is missing num_segments; it takes x, ids, num_segments, scale, out"),
        (lambda p: p.pooled(W, num_segments=5), "is missing ids; it takes x, ids, num_segments, scale, out"),
        (lambda p: p.Pooled(5)(W), "is missing ids; it takes x, ids"),
        (
            lambda p: p.Pooled(num_nodes=5),
            "has no argument num_nodes; did you mean num_segments? it takes num_segments",
        ),
    ],
)
def test_the_one_that_is_missing_may_be_meant(build_operator: Build, call: Callable[[Any], object], said: str) -> None:
    with pytest.raises(TypeError) as told:
        call(build_operator(POOLED))
    assert str(told.value).removeprefix("pooled ").removeprefix("Pooled ").startswith(said)


MADE = """op: ramp_of
inputs: []
params: {n: {type: int, domain: n > 0}, step: {type: float, default: 1.0}}
outputs: {y: {shape: [N]}}
dims: {N: n}
forward: y[k] = k*step
"""


def test_an_operator_without_tensors(build_operator: Build) -> None:
    ramp = build_operator(MADE).ramp_of
    assert ramp(3).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match=r"^ramp_of is missing n; it takes n, step"):
        ramp()
    with pytest.raises(TypeError, match=r"^ramp_of: n must be an int, not '3' of type str; write 3$"):
        ramp("3")
    with pytest.raises(TypeError, match=r"^ramp_of has no argument size; did you mean n\?"):
        ramp(size=3)


INPLACE = """op: added
inputs: {x: {shape: [N]}, z: {shape: [N]}}
inplace: x
params: {size: {type: int}, half: {type: int, default: size//2}}
forward: y[n] = x[n] + z[n]*size*half
"""


def test_what_overwrites_says_the_same(build_operator: Build) -> None:
    package = build_operator(INPLACE)
    assert package.added(W, W, 4).tolist() == [9.0] * 3
    with pytest.raises(TypeError, match=r"^added is missing size; it takes x, z, size, half, out$"):
        package.added(W, W)
    with pytest.raises(TypeError, match=r"^added_ is missing x$"):
        package.added_(z=W, size=4)
    with pytest.raises(TypeError, match=r"^added_ is missing z; it takes x, z, size, half$"):
        package.added_(W.clone(), size=4)
    with pytest.raises(TypeError, match=r"^added_ has no argument by; did you mean size\?"):
        package.added_(W.clone(), W, by=4)
