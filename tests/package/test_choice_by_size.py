"""A kernel that is slower than torch runs for small calls all the same; the kernels here are the formulas."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from types import ModuleType
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.fx.experimental.proxy_tensor import make_fx

Build = Callable[[str], ModuleType]
TAIL = """
op: sized_tail
inputs: {x: {shape: [..., D]}, shift: {shape: [D], optional: true}}
forward: y[..., d] = x[..., d]*tan(-x[..., d]) + shift[d]
"""
SMALL, LARGE = 8, 20000  # rows of four


@pytest.fixture
def tail(build_alone: Build) -> Iterator[Any]:
    """The operator, with a kernel of each direction on a CPU."""
    module = build_alone(TAIL)
    function: Any = module.sized_tail
    runtime = runtime_of(function)
    library = torch.library.Library(runtime.native.LIBRARY_NAMESPACE, "FRAGMENT")
    for which in ("forward", "backward"):
        op = runtime.native._ops["sized_tail", which]

        def kernel(*args: Any, op: Any = op) -> Any:
            given = op.complete(args)
            return op.formula(*[given[k] for k in op.order])

        library.define(f"sized_tail_{which}{op.schema}")
        library.impl(f"sized_tail_{which}", kernel, "CPU")
    runtime.native._devices.cache_clear()  # as it is when a library is loaded
    runtime.native.refresh()
    yield function
    library._destroy()


def expected(x: torch.Tensor) -> torch.Tensor:
    return x * torch.tan(-x)


def runtime_of(function: Any) -> Any:
    return sys.modules[f"{function.__module__.partition('.')[0]}._runtime"]


def module_of(function: Any) -> Any:
    """The operator as a module: of a function, `make_fx` wants a value for every keyword."""
    return sys.modules[function.__module__.rpartition(".")[0]].SizedTail()


def ran(function: Any, call: Callable[[], Any]) -> list[str]:
    """The back ends that ran, in order of their names."""
    known = runtime_of(function).native.CALLS
    before = asdict(known)
    call()
    return [n for n, count in sorted(asdict(known).items()) for _ in range(count - before[n])]


def test_the_size_of_a_call_decides(tail: Any) -> None:
    native = runtime_of(tail).native
    assert tail.backend == "torch (native when small)"
    most = native.GAIN // native.entry("sized_tail").definition.forward_excess(torch.zeros(1, 4), None)
    for rows, chosen in ((SMALL, "native"), (most, "native"), (most + 1, "torch"), (LARGE, "torch"), (0, "native")):
        x = torch.randn(rows, 4)
        assert ran(tail, lambda x=x: tail(x)) == [chosen]
        assert ran(tail, lambda x=x: tail(x[None])) == [chosen]
        torch.testing.assert_close(tail(x), expected(x))
    assert ran(tail, lambda: tail(torch.randn(SMALL, 4), torch.ones(4))) == ["native"]
    for back_end, rows in (("native", LARGE), ("torch", SMALL)):
        with runtime_of(tail).use_backend(back_end):
            assert tail.backend == back_end
            assert ran(tail, lambda rows=rows: tail(torch.randn(rows, 4))) == [back_end]


def test_gradients_choose_by_size_too(tail: Any) -> None:
    for rows, chosen in ((SMALL, "native"), (LARGE, "torch")):
        x = torch.randn(rows, 4, requires_grad=True)
        (ours,), (theirs,) = (torch.autograd.grad(f(x).sum(), x) for f in (tail, expected))
        torch.testing.assert_close(ours, theirs)
        y = tail(x)
        assert ran(tail, lambda x=x, y=y: torch.autograd.grad(y.sum(), x, create_graph=True)) == [chosen]
        assert ran(tail, lambda x=x, y=y: torch.autograd.grad(y.sum(), x)) == [chosen]


def test_what_cannot_be_measured_is_refused_as_ever(tail: Any) -> None:
    with pytest.raises(TypeError, match="x must be a Tensor"):
        tail([1.0])
    with pytest.raises(ValueError, match="x must have shape"):
        tail(torch.tensor(1.0))


def test_a_graph_does_not_depend_on_the_size_it_was_traced_for(tail: Any) -> None:
    torch._dynamo.reset()
    counter = CompileCounter()  # type: ignore[no-untyped-call]
    compiled = torch.compile(tail, backend=counter, dynamic=True, fullgraph=True)
    x, large = torch.randn(SMALL, 4), torch.randn(LARGE, 4)
    assert (ran(tail, lambda: compiled(x)), ran(tail, lambda: compiled(large))) == (["native"], ["torch"])
    assert counter.frame_count == 1
    traced = make_fx(module_of(tail), tracing_mode="symbolic")(x)
    assert traced.shape_env.guards == []
    assert (ran(tail, lambda: traced(x)), ran(tail, lambda: traced(large))) == (["native"], ["torch"])
    recorded = torch.jit.trace(tail, (x,), check_trace=False)
    torch.testing.assert_close(recorded(large), expected(large))


def test_transforms_take_the_formula(tail: Any) -> None:
    x = torch.randn(3, SMALL, 4)
    assert "native" not in ran(tail, lambda: torch.testing.assert_close(torch.vmap(tail)(x), expected(x)))
