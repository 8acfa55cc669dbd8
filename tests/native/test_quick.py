"""The short way into a compiled kernel: it gives what the full way gives, and bypasses nobody who takes part in a call.

Whoever takes part must see the operator's own dispatcher op, or its derivatives; the kernel's name must never show.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._python_dispatch import TorchDispatchMode

from generated._runtime import native
from generated.int8_linear import int8_linear
from generated.linear import linear
from generated.max_with_index import max_with_index
from generated.rms_norm import rms_norm
from generated.silu import SiLU, silu

from .conftest import needs_compiler

pytestmark = [pytest.mark.thorough, needs_compiler, pytest.mark.usefixtures("short_ops")]


def x(**options: Any) -> torch.Tensor:
    return torch.linspace(-2.0, 2.0, 6, **options)


def test_plain_calls_are_short(short: list[str]) -> None:
    leaf = x(requires_grad=True)
    silu(x())
    silu(leaf).sum().backward()
    with torch.no_grad():
        silu(leaf)
    with torch.inference_mode():
        silu(x())
    assert short == ["forward", "forward", "backward", "forward", "forward"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_both_ways_agree(dtype: torch.dtype) -> None:
    arguments = [torch.randn(4, 6).to(dtype).requires_grad_() for _ in range(2)]
    for operator, args in (
        (silu, arguments[:1]),
        (linear, (*arguments, None)),
        (lambda t: rms_norm(t, eps=1e-3), arguments[:1]),
        (max_with_index, arguments[:1]),
    ):
        found = []
        for full in (False, True):
            with pytest.MonkeyPatch.context() as patch:
                if full:
                    for op in native._ops.values():
                        ways = {backend: replace(way, quick=None) for backend, way in op.routes.items()}
                        patch.setattr(op, "routes", ways)
                out = operator(*args)
                first = out[0] if isinstance(out, tuple) else out
                found.append([first, *torch.autograd.grad(first.sum(), [a for a in args if torch.is_tensor(a)])])
        for a, b in zip(*found, strict=True):
            assert torch.equal(a, b)
            assert a.stride() == b.stride()


def test_operands_of_few_bits(short: list[str]) -> None:
    weight, scale = torch.arange(-9, 9, dtype=torch.int8).reshape(3, 6), torch.ones(3, requires_grad=True)
    found = int8_linear(x(), weight, scale)
    torch.testing.assert_close(found, torch.nn.functional.linear(x(), weight.float()))
    found.sum().backward()
    assert short == ["forward", "backward"]
    with pytest.raises(TypeError, match=r"weight must be torch\.int8"):
        int8_linear(x(), weight.to(torch.int64), scale)


def test_gradients_of_gradients(short: list[str]) -> None:
    assert torch.autograd.gradgradcheck(silu, x(dtype=torch.float64, requires_grad=True))
    assert "forward" in short


def test_forward_mode(short: list[str]) -> None:
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(silu(forward_ad.make_dual(x(), torch.ones(6)))).tangent
    assert torch.allclose(tangent, torch.func.jvp(torch.nn.functional.silu, (x(),), (torch.ones(6),))[1])
    assert not short


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: torch.func.vmap(f)(x()),
        lambda f: torch.func.grad(lambda t: f(t).sum())(x()),
        lambda f: torch.func.vjp(f, x())[1](torch.ones(6))[0],
        lambda f: torch.func.jvp(f, (x(),), (torch.ones(6),))[1],
        lambda f: torch.func.hessian(lambda t: f(t).sum())(x()),
        lambda f: torch.func.vmap(torch.func.grad(f))(x()),
        lambda f: torch.func.functionalize(f)(x()),
    ],
)
def test_transforms(transform: Callable[[Any], torch.Tensor], short: list[str]) -> None:
    assert torch.allclose(transform(silu), transform(torch.nn.functional.silu), atol=1e-6)
    assert not short


@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning")  # torch's own
def test_linearization() -> None:
    tangent = torch.func.linearize(silu, x())[1](torch.ones(6))
    assert torch.allclose(tangent, torch.func.jvp(silu, (x(),), (torch.ones(6),))[1])


def test_batched_gradients() -> None:
    leaf = x(requires_grad=True)
    out = silu(leaf)
    (rows,) = torch.autograd.grad(out, leaf, torch.eye(6), is_grads_batched=True)
    assert torch.allclose(rows, torch.func.jacrev(torch.nn.functional.silu)(x()))


class Seen(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func.name())
        return func(*args, **(kwargs or {}))


def test_dispatch_modes() -> None:
    with Seen() as seen:
        silu(x(requires_grad=True)).sum().backward()
    assert "opgen::silu" in seen.names
    assert "opgen::silu_backward" in seen.names
    assert not [n for n in seen.names if n.startswith("opgen_native")]


def test_function_modes(short: list[str]) -> None:
    seen: list[Any] = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return "answered"

    given = x()
    with Mode():
        assert silu(given) == "answered"
    assert seen == [silu]
    assert not short


def test_fake_tensors(short: list[str]) -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode() as mode:
        made = silu(mode.from_tensor(x(requires_grad=True)))
    assert type(made).__name__ == "FakeTensor"
    assert made.requires_grad
    assert not short


def test_subclasses(short: list[str]) -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    made = silu(TwoTensor(x(), 2 * x()))
    assert isinstance(made, TwoTensor)
    assert torch.equal(made.b, silu(2 * x()))
    assert short == ["forward"]  # the line above


def test_saved_tensor_hooks() -> None:
    packed: list[torch.Tensor] = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        out = silu(x(requires_grad=True))
    assert len(packed) == 1
    out.sum().backward()


def test_tensor_and_node_hooks() -> None:
    leaf, seen = x(requires_grad=True), []
    out = silu(leaf)
    assert "silu" in out.grad_fn.name()
    out.grad_fn.register_hook(lambda *_: seen.append("node"))
    leaf.register_hook(lambda g: seen.append("leaf"))
    out.sum().backward()
    assert seen == ["node", "leaf"]


def test_tracers(short: list[str]) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    for grad in (False, True):
        traced = torch.jit.trace(silu, x(requires_grad=grad), check_trace=False)
        assert "opgen::silu" in str(traced.graph)
        assert not traced.graph.findAllNodes("prim::PythonOp")
    graph = make_fx(SiLU())(x()).graph  # of a function it wants a value for every keyword
    assert any(n.target is torch.ops.opgen.silu.default for n in graph.nodes)
    assert not short


def test_compilers(short: list[str]) -> None:
    torch._dynamo.reset()
    targets: list[Any] = []

    def backend(module: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        targets.extend(n.target for n in module.graph.nodes)
        return module.forward

    compiled = torch.compile(silu, fullgraph=True, backend=backend)
    assert torch.allclose(compiled(x()), torch.nn.functional.silu(x()))
    assert torch.ops.opgen.silu.default in targets
    assert not short


def test_compiled_autograd(short: list[str]) -> None:
    torch._dynamo.reset()
    leaf = x(requires_grad=True)
    out = silu(leaf).sum()
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager", fullgraph=True)):
        out.backward()
    assert torch.allclose(leaf.grad, torch.func.jacrev(torch.nn.functional.silu)(x()).diagonal())
    assert short == ["forward"]


def test_export(short: list[str]) -> None:
    class Module(torch.nn.Module):
        def forward(self, t: torch.Tensor) -> torch.Tensor:
            return silu(t)

    for strict in (False, True):
        exported = torch.export.export(Module(), (x(),), strict=strict)
        assert any(n.target is torch.ops.opgen.silu.default for n in exported.graph.nodes)
    assert not short


def test_profiler(short: list[str]) -> None:
    with torch.profiler.profile(acc_events=True) as profile:  # torch 2.11 warns without
        silu(x())
    assert "opgen::silu" in {e.key for e in profile.key_averages()}
    assert not short


def test_autocast() -> None:
    a, b = torch.randn(3, 4), torch.randn(5, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert linear(a, b).dtype == torch.bfloat16
    assert linear(a, b).dtype == torch.float32


def test_unusual_tensors() -> None:
    pair = torch.complex(x(), -x())
    assert torch.allclose(silu(pair.conj().imag), torch.nn.functional.silu(x()))
    assert silu(x().to("meta")).is_meta
    assert silu(x(dtype=torch.float64)[::2]).shape == (3,)


def test_errors_are_those_of_the_full_way() -> None:
    with pytest.raises(TypeError, match="silu: input must have a floating-point dtype"):
        silu(torch.arange(3))
    with pytest.raises(TypeError, match="silu: input must be a Tensor, not list"):
        silu([1.0])
    with pytest.raises(ValueError, match="linear: weight"):
        linear(torch.ones(2, 3), torch.ones(4, 5))
    assert linear(torch.ones(2, 3), torch.ones(4, 3, dtype=torch.float64)).dtype == torch.float64


def test_a_module_pickles_and_its_calls_are_short(short: list[str]) -> None:
    stored = io.BytesIO()
    torch.save(SiLU(), stored)
    stored.seek(0)
    torch.load(stored, weights_only=False)(x())
    assert short == ["forward"]
