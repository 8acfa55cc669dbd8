"""`inline` and `set_inline`: compilers that see through an operator, and for whom it stays one operation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd

from opgen import build
from tests.compilers import available

SPEC = """
op: bent
inputs: [x, w]
params: {p: {type: float, default: 2.0}}
forward: y = w*log(cosh(x))**p
"""
ROWS = """
op: rows
inputs: {ids: {shape: [N], dtype: int, domain: 0 <= ids < V}, at: {shape: [N], dtype: int}, x: {shape: [V, D]}}
forward: y[n] = x[ids[n], at[n]]
"""


def nodes(function: Callable[..., Any], *args: Any) -> list[str]:
    """What graphs of forward and backward call; the results are those of the function itself."""
    found: list[str] = []

    def note(graph: Any, _: Any) -> Any:
        found.extend(str(n.target) for n in graph.graph.nodes if n.op == "call_function")
        return make_boxed_func(graph)

    torch._dynamo.reset()
    compiled = torch.compile(function, fullgraph=True, backend=aot_autograd(fw_compiler=note, bw_compiler=note))
    leaves = [a for a in args if a.requires_grad]
    results = [f(*args) for f in (compiled, function)]
    torch.testing.assert_close(*results)
    torch.testing.assert_close(*[torch.autograd.grad(r.sum(), leaves, allow_unused=True) for r in results])
    return found


def kept_whole(found: list[str], package: ModuleType) -> bool:
    """Is an operator one node in forward, and one in backward? Or there is no trace of it."""
    op = runtime(package).entry(package.__name__.rpartition(".")[2])
    whole = [n for n in found if n in (str(op.call), str(op.backward.call))]
    assert len(whole) in (0, 2)
    return bool(whole)


@pytest.fixture
def package(build_alone: Callable[[str], ModuleType]) -> Iterator[ModuleType]:
    made = build_alone(SPEC)
    yield made
    runtime(made).set_inline(False)


def runtime(package: ModuleType) -> ModuleType:
    return sys.modules[f"{package.__package__.rpartition('.')[0]}._runtime"]


def operands() -> tuple[torch.Tensor, torch.Tensor]:
    x, w = torch.randn(2, 4, 3, dtype=torch.float64)
    return x.requires_grad_(), w.requires_grad_()


def test_an_operator_stays_one_operation_unless_somebody_says_so(package: ModuleType) -> None:
    assert kept_whole(nodes(package.bent, *operands()), package)


def test_one_call_is_seen_through(package: ModuleType) -> None:
    inline, bent = runtime(package).inline, package.bent
    assert not kept_whole(nodes(inline(bent), *operands()), package)
    both = nodes(lambda x, w: inline(bent)(x, w) + bent(x, w, p=3.0), *operands())
    assert kept_whole(both, package)
    assert "aten.softplus.default" in both


def test_switched_for_an_operator_and_for_all(package: ModuleType, build_alone: Callable[[str], ModuleType]) -> None:
    set_inline, other = runtime(package).set_inline, build_alone("op: other\ninputs: [x]\nforward: y = x*exp(x)")
    x, w = operands()

    def call(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return package.bent(other.other(x), w)

    with set_inline(True, package.bent):
        found = nodes(call, x, w)
        assert not kept_whole(found, package)
        assert kept_whole(found, other)
    assert kept_whole(nodes(call, x, w), package)
    set_inline(True)
    later = build_alone("op: later\ninputs: [x]\nforward: y = x*sin(x)")
    found = nodes(lambda x, w: later.later(call(x, w)), x, w)
    assert not any(kept_whole(found, n) for n in (package, other, later))
    with set_inline(False, other.other):
        assert kept_whole(nodes(call, x, w), other)


def test_a_compiled_function_follows_the_switch(package: ModuleType) -> None:
    seen: list[set[str]] = []

    def note(graph: Any, _: Any) -> Any:
        seen.append({str(n.target) for n in graph.graph.nodes if n.op == "call_function"})
        return make_boxed_func(graph)

    torch._dynamo.reset()
    compiled = torch.compile(package.bent, fullgraph=True, backend=aot_autograd(fw_compiler=note))
    args = [a.detach() for a in operands()]
    for mode in (False, True, False):
        runtime(package).set_inline(mode)
        torch.testing.assert_close(compiled(*args), package.bent(*args))
    assert [len(s) > 1 for s in seen] == [False, True]  # the third call runs what the first one compiled


def test_transforms_and_autocast(package: ModuleType, build_alone: Callable[[str], ModuleType]) -> None:
    x, w = (a.detach() for a in operands())
    matmul = build_alone(
        "op: matmul\ninputs: {a: {shape: [..., K]}, b: {shape: [N, K]}}\nforward: y[..., n] = sum[k](a[..., k]*b[n, k])"
    ).matmul

    def scalar(x: torch.Tensor) -> torch.Tensor:
        return package.bent(x, w[0]).sum()

    with runtime(package).set_inline(True):
        for f in (
            lambda x: torch.func.jvp(scalar, (x,), (x,))[1],
            torch.func.vmap(torch.func.grad(scalar)),
            torch.func.grad(scalar),
        ):
            torch._dynamo.reset()
            torch.testing.assert_close(torch.compile(f, fullgraph=True, backend="aot_eager")(x), f(x))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = torch.compile(matmul, fullgraph=True, backend="aot_eager")(x.float(), w.float())
    assert product.dtype == torch.bfloat16


@pytest.mark.thorough
def test_exported_programs_keep_the_operation(package: ModuleType) -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, w: torch.Tensor) -> Any:
            return package.bent(x, w)

    with runtime(package).set_inline(True):
        for strict in (False, True):
            exported = torch.export.export(Model(), tuple(a.detach() for a in operands()), strict=strict)
            assert runtime(package).entry("bent").call in [n.target for n in exported.graph.nodes]


@pytest.mark.parametrize(("ids", "at"), [([0, -1], [0, 0]), ([0, 3], [0, 0]), ([0, 1], [-1, 0]), ([0, 1], [0, 2])])
def test_positions_are_checked_in_the_graph(build_alone: Callable[[str], ModuleType], ids: Any, at: Any) -> None:
    made = build_alone(ROWS)
    rows, x, good = made.rows, torch.randn(3, 2), torch.tensor([0, 1])
    compiled = torch.compile(runtime(made).inline(rows), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(good, good, x), rows(good, good, x))
    message = "rows: ids must satisfy 0 <= ids < V" if at == [0, 0] else "a position is out of range"
    with pytest.raises(RuntimeError, match=message):
        compiled(torch.tensor(ids), torch.tensor(at), x)


@pytest.mark.thorough
def test_the_name_tells_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [_overload_of(tmp_path / f"made_{k}", body) for k, body in enumerate(("x*x", "x*x + 1", "x*x"))]
    assert found[0] == found[2] != found[1]


def _overload_of(out: Path, body: str) -> str:
    """What the overload is called in a process that imports this package alone."""
    out.mkdir()
    (out / "told.yaml").write_text(f"op: told\ninputs: [x]\nforward: y = {body}\n")
    assert not build(out / "told.yaml", out / "package").failed
    code = (
        "from package._runtime import entry, set_inline\nimport package.told\nset_inline(True)\n"
        "print(entry('told').inlined._overloadname)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=out, check=True, capture_output=True, text=True)
    return done.stdout.strip()


_STEP = """
import torch
from package._runtime import inline
from package.told import told
x = torch.arange(6.0)
print(torch.compile(lambda x: inline(told)(x) * 2, fullgraph=True)(x).sum().item())
"""


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="no C++ compiler")
def test_no_cache_gives_what_another_formula_said(tmp_path: Path) -> None:
    found = []
    for body in ("x*x", "x*x + 1"):
        (tmp_path / "told.yaml").write_text(f"op: told\ninputs: [x]\nforward: y = {body}\n")
        assert not build(tmp_path / "told.yaml", tmp_path / "package").failed
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", _STEP], cwd=tmp_path, check=True, capture_output=True, text=True, env=environment
        )
        found.append(float(done.stdout))
    assert found == [110.0, 122.0]
