"""Printed torch code under autograd, vmap and torch.func, in half precision and on empty tensors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from opgen.ir.operator import Operator, Variant  # noqa: E402
from opgen.ir.program import Given, Kind, Program, Role  # noqa: E402
from opgen.torch.functions import TorchFunction  # noqa: E402
from tests.spec_files import EACH_SPEC  # noqa: E402
from tests.torch.cases import Arguments, dtype_of, result_names  # noqa: E402
from tests.torch.execute import function, source  # noqa: E402
from tests.torch.test_specs import arguments, derived, printed  # noqa: E402
from tests.torch.test_specs import params as params_for  # noqa: E402


def call(f: TorchFunction, given: Arguments, params: Arguments, v: Variant) -> tuple[Any, ...]:
    """Call with every gradient asked for that exists."""
    absent = [c.name for c in v.conditions if isinstance(c, Given) and not c.present]
    every = {**dict.fromkeys(f.arguments), **{n: x for n, x in given.items() if n not in absent}, **params}
    if f.mask:
        every[f.mask_name] = tuple(name not in absent for name in f.mask)
    out = function(f)(*(every[n] for n in f.arguments))
    return out if isinstance(out, tuple) else (out,)


def floats(p: Program) -> list[str]:
    return [t.name for t in p.inputs if t.kind is Kind.FLOAT and t.differentiable]


def overridden(operator: Operator) -> bool:
    return any(v.program.override.inputs or v.program.functions for v in operator.variants)


@pytest.mark.parametrize("path", EACH_SPEC, ids=lambda p: p.stem)
@pytest.mark.parametrize("batch", [(), (2, 3), (0,)], ids=str)
def test_autograd_through_forward_is_backward(path: Path, batch: tuple[int, ...]) -> None:
    operator, variants = derived(path)
    if overridden(operator) or any(d.gradient is None for d in variants):
        pytest.skip("not applicable: another gradient is stated")
    forward = printed(path, "primal")
    gradient = printed(path, "gradient", masked=True)
    for d in variants:
        _check_adjoint(forward, gradient, d.variant, d.primal, d.gradient, operator, batch)


@pytest.mark.parametrize("path", EACH_SPEC, ids=lambda p: p.stem)
@pytest.mark.parametrize("batch", [(), (2, 3)], ids=str)
def test_autograd_through_backward_is_second_order(path: Path, batch: tuple[int, ...]) -> None:
    operator, variants = derived(path)
    if any(d.second is None or d.primal.functions or d.primal.override.inputs for d in variants):
        pytest.skip("not applicable: another gradient is stated, or none")
    gradient = printed(path, "source", masked=True)
    second = printed(path, "second", masked=True)
    for d in variants:
        _check_adjoint(gradient, second, d.variant, d.source, d.second, operator, batch)


def _check_adjoint(
    f: TorchFunction, g: TorchFunction, v: Variant, p: Program, q: Program, operator: Operator, batch: tuple[int, ...]
) -> None:
    """The gradients that autograd takes of `f` are those that `g` computes."""
    params = params_for(operator, v)
    every = arguments(v.program, v, operator, batch, {})
    every = arguments(p, v, operator, batch, every)
    leaves = {
        n: x.clone().requires_grad_(n in floats(p)) for n, x in every.items() if any(t.name == n for t in p.inputs)
    }
    others = {n: x for n, x in every.items() if n not in leaves}  # read by other variants, or asked for whether there
    outputs = dict(zip(_names(f, p), call(f, others | leaves, params, v), strict=True))
    cotangents = {t.name: t.of for t in q.inputs if t.role is Role.COTANGENT and t.of in outputs}
    seed = torch.Generator().manual_seed(2)
    seeds = {n: torch.randn(outputs[of].shape, generator=seed, dtype=torch.float64) for n, of in cotangents.items()}
    pairs = [(outputs[of], seeds[n]) for n, of in cotangents.items() if outputs[of].requires_grad]
    wrt = [o for o in q.outputs if o.of in leaves and leaves[o.of].requires_grad]
    expected = torch.autograd.grad(
        [a for a, _ in pairs],
        [leaves[o.of] for o in wrt],
        [b for _, b in pairs],
        allow_unused=True,
        materialize_grads=True,
    )
    given = {**others, **{n: x.detach() for n, x in leaves.items()}, **seeds}
    actual = dict(zip(g.returns, call(g, given, params, v), strict=True))
    undefined = any(x is not None and x.isnan().any() for x in outputs.values())  # statistics of nothing: gradients too
    for o, want in zip(wrt, expected, strict=True):
        got = actual[_local(g, q, o.name)]
        known = torch.where(got.isnan(), got, want) if undefined else want
        torch.testing.assert_close(
            got, known, rtol=1e-9, atol=1e-9, equal_nan=True, msg=lambda m, o=o: f"{o.name}: {m}\n{source(g)}"
        )


def _names(f: TorchFunction, p: Program) -> list[str]:
    """What the results of a function are the results of, for a program with all of them in the same places."""
    known = [o.name for o in p.outputs]
    return [r if r in known else r.rstrip("_") for r in f.returns]


def _local(f: TorchFunction, p: Program, name: str) -> str:
    return name if name in f.returns else next(r for r in f.returns if r.startswith(name))


@pytest.mark.parametrize("path", EACH_SPEC, ids=lambda p: p.stem)
@pytest.mark.parametrize("stage", ["gradient", "second"])
def test_every_mask_gives_the_same_gradients(path: Path, stage: str) -> None:
    operator, variants = derived(path)
    if any(getattr(d, stage) is None for d in variants):
        pytest.skip("not applicable: nothing is derived")
    f = printed(path, stage, masked=True)
    run = function(f)
    for d in variants if f.mask else ():
        p = getattr(d, stage)
        known = arguments(p, d.variant, operator, (2,), arguments(d.variant.program, d.variant, operator, (2,), {}))
        params = params_for(operator, d.variant)
        absent = [c.name for c in d.variant.conditions if isinstance(c, Given) and not c.present]
        given = {**dict.fromkeys(f.arguments), **{n: x for n, x in known.items() if n not in absent}, **params}
        whole = run(*({**given, f.mask_name: tuple(n not in absent for n in f.mask)}[n] for n in f.arguments))
        made = {
            name: (r, x)
            for name, r, x in zip(result_names(programs_of(variants, stage)), f.returns, whole, strict=True)
        }
        for o in p.outputs:
            mask = tuple(n == o.of for n in f.mask)
            alone = dict(zip(f.returns, run(*({**given, f.mask_name: mask}[n] for n in f.arguments)), strict=True))
            local, value = made[o.name]
            torch.testing.assert_close(alone.pop(local), value, rtol=0, atol=0, equal_nan=True)
            assert all(x is None for x in alone.values()), source(f)


def programs_of(variants: tuple[Any, ...], stage: str) -> list[tuple[Variant, Program]]:
    return [(d.variant, getattr(d, stage)) for d in variants]


@pytest.mark.filterwarnings("ignore:There is a performance drop")  # torch has no rule for the gradient of windows
@pytest.mark.parametrize("path", EACH_SPEC, ids=lambda p: p.stem)
def test_vmap_and_func_grad(path: Path) -> None:
    operator, variants = derived(path)
    f = printed(path, "primal")
    for d in variants:
        params = params_for(operator, d.variant)
        known = arguments(d.variant.program, d.variant, operator, (2,), {})
        stacked = {n: torch.stack([x, x + 1 if x.is_floating_point() else x]) for n, x in known.items()}
        single = _with(f, params, d.variant)
        batched = torch.func.vmap(single)(stacked)
        for i in range(2):
            one = single({n: x[i] for n, x in stacked.items()})
            for a, b in zip(batched, one, strict=True):
                torch.testing.assert_close(a[i], b)
        if any(o.differentiable and o.kind is Kind.FLOAT for o in d.primal.outputs):
            wrt = {n: x for n, x in known.items() if x.is_floating_point()}
            rest = {n: x for n, x in known.items() if n not in wrt}
            loss = lambda w: sum(o.square().sum() for o in single({**w, **rest}) if o.is_floating_point())  # noqa: B023, E731
            torch.func.grad(loss)(wrt)
            torch.func.vmap(torch.func.grad(loss))({n: torch.stack([x, x]) for n, x in wrt.items()})


def _with(f: TorchFunction, params: Arguments, v: Variant) -> Callable[[Arguments], tuple[Any, ...]]:
    return lambda given: call(f, given, params, v)


@pytest.mark.parametrize("path", EACH_SPEC, ids=lambda p: p.stem)
@pytest.mark.parametrize("stage", ["primal", "gradient"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_low_precision_rounds_once(path: Path, stage: str, dtype: torch.dtype) -> None:
    operator, variants = derived(path)
    if any(getattr(d, stage) is None for d in variants):
        pytest.skip("not applicable: nothing is derived")
    f = printed(path, stage, masked=stage == "gradient")
    for d in variants:
        params = params_for(operator, d.variant)
        p = getattr(d, stage)
        known = arguments(p, d.variant, operator, (2,), arguments(d.variant.program, d.variant, operator, (2,), {}))
        low = {n: x.to(dtype) if x.is_floating_point() else x for n, x in known.items()}
        exact = {n: x.double() if x.is_floating_point() else x for n, x in low.items()}
        results = zip(call(f, low, params, d.variant), call(f, exact, params, d.variant), strict=True)
        stated = {o.name: dtype_of(o) for o in p.outputs}
        for name, (a, b) in zip(result_names(programs_of(variants, stage)), results, strict=True):
            if a is None:
                continue
            held = stated.get(name) or (dtype if b.is_floating_point() else b.dtype)
            assert a.dtype == held
            scale = float(b.double().abs().max()) if b.is_floating_point() and b.numel() else 0.0
            slack = (4 if dtype is torch.bfloat16 else 64) * torch.finfo(dtype).eps
            if held.is_floating_point and held != dtype:
                slack = max(slack, torch.finfo(held).eps)  # neighbours, where what is rounded differs by a little
            torch.testing.assert_close(a.double(), b.double(), rtol=slack, atol=slack * (1 + scale))
