"""What a first-class operator does, as checks of `y = x * sigmoid(x)` that raise where it does not.

Every value is compared with `torch.nn.functional.silu`: a transform that runs and gives zeros has failed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.gradcheck import gradcheck, gradgradcheck
from torch.func import grad, hessian, jacfwd, jacrev, jvp, linearize, vmap
from torch.nn.functional import silu

Operation = Callable[[Tensor], Tensor]


def x(*, grad: bool = False) -> Tensor:
    return torch.linspace(-2.0, 2.0, 6, dtype=torch.float64).reshape(2, 3).requires_grad_(grad)


def same(found: Any, expected: Any) -> None:
    torch.testing.assert_close(found, expected, check_device=False)


def total(f: Operation) -> Operation:
    return lambda t: f(t).sum()


def agree(f: Operation, transform: Callable[[Operation], Any]) -> None:
    """A transform of the operation gives what it gives of torch's own."""
    same(transform(f), transform(silu))


def compiled(f: Operation, transform: Callable[[Operation], Operation] = lambda f: f, **options: Any) -> None:
    torch._dynamo.reset()
    function = torch.compile(transform(f), fullgraph=True, backend="aot_eager", **options)
    given = x()
    same(function(given), transform(silu)(given))


def first_order(f: Operation) -> None:
    assert gradcheck(f, x(grad=True), check_batched_grad=True, check_undefined_grad=True, nondet_tol=0.0)


def second_order(f: Operation) -> None:
    assert gradgradcheck(f, x(grad=True), check_batched_grad=True, nondet_tol=0.0)


def forward_mode(f: Operation) -> None:
    with forward_ad.dual_level():
        tangent = forward_ad.unpack_dual(f(forward_ad.make_dual(x(), torch.ones_like(x())))).tangent
    assert tangent is not None, "no tangent"
    same(tangent, jvp(silu, (x(),), (torch.ones_like(x()),))[1])
    assert gradcheck(f, x(grad=True), check_forward_ad=True, check_batched_forward_grad=True)


def forward_over_reverse(f: Operation) -> None:
    assert gradgradcheck(f, x(grad=True), check_fwd_over_rev=True, check_rev_over_rev=True)


def third_order(f: Operation) -> None:
    agree(f, lambda g: vmap(grad(grad(grad(g))))(x().flatten()))


def compiled_backward(f: Operation) -> None:
    torch._dynamo.reset()
    leaf, other = x(grad=True), x(grad=True)
    torch.compile(f, fullgraph=True, backend="aot_eager")(leaf).sum().backward()
    silu(other).sum().backward()
    same(leaf.grad, other.grad)


def compiled_autograd(f: Operation) -> None:
    torch._dynamo.reset()
    leaf, other = x(grad=True), x(grad=True)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager", fullgraph=True)):
        f(leaf).sum().backward()
    silu(other).sum().backward()
    same(leaf.grad, other.grad)


def dynamic_shapes(f: Operation) -> None:
    torch._dynamo.reset()
    function = torch.compile(f, fullgraph=True, backend="aot_eager", dynamic=True)
    for n in (3, 5, 8):
        given = torch.linspace(-1.0, 1.0, n)
        same(function(given), silu(given))


def exported(f: Operation) -> Any:
    class Module(torch.nn.Module):
        def forward(self, t: Tensor) -> Tensor:
            return f(t)

    program = torch.export.export(Module(), (x(),))
    same(program.module()(x()), silu(x()))
    return program


def one_node(f: Operation) -> None:
    """It stays one operation, for which one kernel can run."""
    calls = [n for n in exported(f).graph.nodes if n.op == "call_function"]
    assert len(calls) == 1, f"{len(calls)} operations"


def opchecked(f: Operation) -> None:
    program = exported(f)
    (node,) = [n for n in program.graph.nodes if n.op == "call_function"]
    utilities = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")
    torch.library.opcheck(node.target, (x(grad=True),), test_utils=utilities)


def fake_strides(f: Operation) -> None:
    from torch._subclasses import FakeTensorMode

    given = torch.randn(4, 3, 5).permute(2, 0, 1)
    with FakeTensorMode() as mode:
        fake = f(mode.from_tensor(given))
    real = f(given)
    assert (fake.shape, fake.stride(), fake.dtype) == (real.shape, real.stride(), real.dtype)


def subclass(f: Operation) -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    made = f(TwoTensor(x(), 2 * x()))
    same(made.a, silu(x()))
    same(made.b, silu(2 * x()))


def overridden(f: Operation) -> None:
    """A tensor-like that is no tensor is asked."""

    class Duck:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return "asked"

    assert f(Duck()) == "asked"  # type: ignore[arg-type, comparison-overlap]


def profiled(f: Operation) -> None:
    """The forward shows under one name of its own."""
    with torch.profiler.profile() as profile:
        f(x())
    names = {e.key for e in profile.key_averages()}
    assert [n for n in names if "::" in n and not n.startswith(("aten::", "prims::"))], sorted(names)


def counted(f: Operation) -> None:
    """`FlopCounterMode` knows what it costs."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        f(x())
    assert counter.get_total_flops() > 0


def saved(f: Operation) -> None:
    """No more is kept for backward than torch's own operation keeps."""

    def size(g: Operation) -> int:
        kept: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.nbytes) or t, lambda t: t):
            g(x(grad=True))
        return sum(kept)

    assert size(f) <= size(silu), f"{size(f)} bytes, torch keeps {size(silu)}"


def sharded(f: Operation) -> None:
    """A DTensor stays sharded through forward and backward."""
    import torch.distributed as dist
    from torch.distributed._local_tensor import LocalTensorMode
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    dist.init_process_group("fake", rank=0, world_size=2)
    try:
        with LocalTensorMode(2):
            mesh = init_device_mesh("cpu", (2,))
            given = distribute_tensor(x(), mesh, [Shard(0)]).requires_grad_()
            made = f(given)
            assert made.placements == (Shard(0),), made.placements
            (gradient,) = torch.autograd.grad(made.sum(), given)
            assert gradient.placements == (Shard(0),), gradient.placements
    finally:
        dist.destroy_process_group()


def accurate(f: Operation) -> None:
    """float32 at the ends of its range: no NaN, in value and derivative, where there is a number."""
    given = torch.tensor([-1e30, -104.0, -88.0, 0.0, 88.0, 1e30], requires_grad=True)
    value = f(given)
    (gradient,) = torch.autograd.grad(value.sum(), given)
    assert not value.isnan().any()
    assert not gradient.isnan().any()
    assert gradient[0] == 0
    assert gradient[-1] == 1


def batched(f: Operation) -> None:
    for dims in (0, 1):
        same(vmap(f, in_dims=dims)(x()), silu(x()).movedim(dims, 0))
    same(vmap(vmap(f))(x()), silu(x()))


CHECKS: dict[str, Callable[[Operation], None]] = {
    "gradcheck, batched and undefined gradients": first_order,
    "gradgradcheck": second_order,
    "forward mode": forward_mode,
    "forward over reverse": forward_over_reverse,
    "third order": third_order,
    "`func.grad`, `jacrev`": lambda f: (agree(f, lambda g: grad(total(g))(x())), agree(f, lambda g: jacrev(g)(x())))[0],
    "`func.jvp`, `jacfwd`": lambda f: agree(f, lambda g: jacfwd(g)(x())),
    "`func.hessian`": lambda f: agree(f, lambda g: hessian(total(g))(x())),
    "`func.linearize`": lambda f: agree(f, lambda g: linearize(g, x())[1](torch.ones_like(x()))),
    "`vmap`, nested, without fallback": batched,
    "`vmap(grad)`": lambda f: agree(f, lambda g: vmap(grad(total(g)))(x())),
    "`compile(fullgraph)`": compiled,
    "its backward": compiled_backward,
    "dynamic shapes": dynamic_shapes,
    "compiled `vmap`": lambda f: compiled(f, vmap),
    "compiled `grad`": lambda f: compiled(f, lambda g: grad(total(g))),
    "compiled `jvp`": lambda f: compiled(f, lambda g: lambda t: jvp(g, (t,), (torch.ones_like(t),))[1]),
    "compiled autograd": compiled_autograd,
    "`export`": lambda f: void(exported(f)),
    "stays one operation": one_node,
    "opcheck": opchecked,
    "fake strides are the real ones": fake_strides,
    "tensor subclasses": subclass,
    "`__torch_function__`": overridden,
    "a name in the profiler": profiled,
    "FLOP count": counted,
    "saves no more than torch's own": saved,
    "no NaN over the range of float32": accurate,
    "DTensor stays sharded": sharded,
}


def void(_: Any) -> None:
    """For what is called for its errors."""


def failure(f: Operation, check: Callable[[Operation], None]) -> str:
    """Why a check does not hold, in a line; empty where it does."""
    from torch._C import _functorch

    _functorch._set_vmap_fallback_enabled(False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(f)
    except Exception as e:  # whatever it is, the check has failed
        return (str(e).strip() or type(e).__name__).splitlines()[0][:160]
    finally:
        _functorch._set_vmap_fallback_enabled(True)
        torch._dynamo.reset()
    return ""
