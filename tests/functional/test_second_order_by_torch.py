"""Operators too long for second order to be written out: torch derives it from what is printed of first order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from opgen.opt.derive import is_long
from opgen.pipeline import SpecFile, Stage, run

torch = pytest.importorskip("torch")

Build = Callable[[str], ModuleType]
SPEC = """
op: by_torch_steps
inputs:
  x: {shape: [..., N]}
  w: {shape: [M]}
  ids: {shape: [N], dtype: int, domain: 0 <= ids < M}
  b: {shape: [N], optional: true}
params: {c: {type: float, default: 0.5}}
forward: |
  t0[..., n] = x[..., n]*w[ids[n]]
  t1[..., n] = tanh(c*t0[..., n] + b[n]) - 0.1*t0[..., n]*sigmoid(t0[..., n]) + where(t0[..., n] > 0, t0[..., n]**2, 0)
  y[...] = sum[n](t1[..., n])
"""


@pytest.fixture
def long(build_operator: Build, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An operator with a sum, an optional operand, a condition, positions and a param: 10 operations are many here."""
    monkeypatch.setattr("opgen.opt.derive._LONGEST", 10)
    return build_operator(SPEC)


def eager(
    x: torch.Tensor, w: torch.Tensor, ids: torch.Tensor, b: torch.Tensor | None = None, c: float = 0.5
) -> torch.Tensor:
    t = x * w[ids]
    shifted = c * t if b is None else c * t + b
    t = shifted.tanh() - 0.1 * t * t.sigmoid() + torch.where(t > 0, t**2, 0)
    return t.sum(-1)


def operands(*batch: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    x, w, b = (torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((*batch, 4), (3,), (4,)))
    return x, w, torch.tensor([0, 2, 1, 2]), b


def test_nothing_is_written_out(long: ModuleType) -> None:
    ops = Path(long.by_torch_steps.__globals__["__file__"]).read_text()
    assert "by_torch=True" in ops
    assert "_second(" not in ops


def test_length_and_stated_derivatives_decide() -> None:
    chain = "\n".join(f"  t{k} = f(t{k - 1}*w)" for k in range(1, 120))
    for function, written in (("f(v): tanh(v) + v", False), ("f(v): {value: tanh(v) + v, derivative: 1 + v}", True)):
        text = f"op: c\ninputs: [x, w]\nfunctions:\n  {function}\nforward: |\n  t0 = x*w\n{chain}\n  y = t119\n"
        made = run(SpecFile(Path("c.yaml"), text.encode(), "c.yaml"), Stage.PROGRAM)
        assert made.operator is not None
        assert is_long(made.operator.variants[0].program) is not written


def test_gradients_of_every_order(long: ModuleType) -> None:
    x, w, ids, b = operands(2)
    for given in ((x, w, b), (x, w)):
        ours, theirs = (f(x, w, ids, *given[2:]) for f in (long.by_torch_steps, eager))
        for _ in range(3):
            torch.testing.assert_close(ours, theirs)
            grads = [torch.autograd.grad(y.sin().sum(), given, create_graph=True) for y in (ours, theirs)]
            ours, theirs = (sum(g.tanh().sum() for g in found) for found in grads)


def test_checks_of_torch(long: ModuleType) -> None:
    x, w, ids, b = operands()

    def call(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return long.by_torch_steps(x, w, ids, b, c=0.7)

    assert torch.autograd.gradcheck(call, (x, w, b), check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(call, (x, w, b), check_batched_grad=True, check_fwd_over_rev=True)


def test_transforms(long: ModuleType) -> None:
    x, w, ids, b = (t.detach() for t in operands())
    hessians = [torch.func.hessian(f, (0, 1, 3)) for f in (long.by_torch_steps, eager)]
    for ours, theirs in zip(*(torch.utils._pytree.tree_leaves(f(x, w, ids, b)) for f in hessians), strict=True):
        torch.testing.assert_close(ours, theirs)
    several = torch.randn(3, 4, dtype=torch.float64)
    for twice in (lambda f: torch.func.jacrev(torch.func.jacrev(f)), lambda f: torch.func.jacfwd(torch.func.jacfwd(f))):
        ours, theirs = (torch.vmap(twice(f), (0, None, None))(several, w, ids) for f in (long.by_torch_steps, eager))
        torch.testing.assert_close(ours, theirs)


def test_half_is_computed_in_single(long: ModuleType) -> None:
    x, w, ids, b = operands(2)
    found = []
    for dtype in (torch.float64, torch.bfloat16):
        given = [t.detach().bfloat16().to(dtype).requires_grad_() for t in (x, w, b)]
        first = torch.autograd.grad(long.by_torch_steps(*given[:2], ids, given[2]).sum(), given, create_graph=True)
        second = torch.autograd.grad(sum(g.float().square().sum() for g in first), given)
        assert all(g.dtype == dtype for g in second)
        found.append([g.double() for g in second])
    for exact, rounded in zip(*found, strict=True):
        torch.testing.assert_close(rounded, exact, rtol=0.1, atol=0.1)


@pytest.mark.slow
def test_compiled(long: ModuleType) -> None:
    x, w, ids, b = (t.detach() for t in operands())
    for way in (torch.func.hessian, lambda f: torch.func.jacfwd(torch.func.grad(f))):
        second = way(lambda x: long.by_torch_steps(x, w, ids, b))
        torch.testing.assert_close(torch.compile(second, backend="aot_eager", fullgraph=True)(x), second(x))
