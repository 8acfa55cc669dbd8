"""Recurrences of specs in torch code, with their derivatives before any optimisation, against the interpreter."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from opgen.diagnostics.model import Bag, Source  # noqa: E402
from opgen.diff.adjoint import adjoint  # noqa: E402
from opgen.diff.tangent import tangent  # noqa: E402
from opgen.ir.operator import Operator, Variant  # noqa: E402
from opgen.lower.operator import lower  # noqa: E402
from opgen.schema.load import load  # noqa: E402
from opgen.torch.functions import torch_function  # noqa: E402
from tests.torch.cases import compare  # noqa: E402
from tests.torch.execute import function  # noqa: E402
from tests.torch.test_specs import BATCHES, arguments, remember  # noqa: E402

FORMS = {
    "linear": (
        "inputs: {a: {shape: [..., T]}, x: {shape: [..., T]}, h0: {}}\n"
        "forward: |\n"
        "  h[..., -1] = h0\n"
        "  h[..., t] = a[..., t]*h[..., t - 1] + x[..., t]\n"
    ),
    "cell": (
        "inputs: {w: {shape: [D, D]}, x: {shape: [..., T, D]}, h0: {shape: [..., D]}}\n"
        "forward: |\n"
        "  h[..., -1, d] = h0[..., d]\n"
        "  h[..., t, d] = tanh(sum[k](w[d, k]*h[..., t - 1, k]) + x[..., t, d])\n"
    ),
    "pair": (
        "inputs: {f: {shape: [..., T]}, g: {shape: [..., T]}}\n"
        "forward: |\n"
        "  c[..., t] = sigmoid(f[..., t])*c[..., t - 1] + h[..., t - 1]\n"
        "  h[..., t] = tanh(c[..., t])*g[..., t]\n"
    ),
    "down": (
        "inputs: {a: {shape: [..., T]}, x: {shape: [..., T]}}\n"
        "forward: |\n"
        "  h[..., t] = a[..., t]*h[..., t + 1] + x[..., t]\n"
    ),
    # beside a product of a matrix and a vector stands a factor that varies along a loop of neither
    "beside": (
        "inputs: {x: {shape: [T, N, D]}, m: {shape: [N]}, w: {shape: [N, N]}}\n"
        "forward: |\n"
        "  h[t, n, d] = h[t - 1, n, d] + v[t - 1, n, d] + x[t, n, d]\n"
        "  v[t, n, d] = sum[k](m[k]*h[t, n, d]*exp(w[n, k]*m[k]))\n"
    ),
    "first": (
        "inputs: {a: {shape: [T, ...]}, b: {shape: [T]}}\n"
        "forward: |\n"
        "  h[t, ...] = max(a[t, ...], h[t - 1, ...]*b[t])\n"
    ),
    "product": "inputs: {x: {shape: [..., T, N]}}\nforward: 'h[..., t, n] = cumprod[t](x[..., t, n])'\n",
    "logsum": "inputs: {x: {shape: [..., T]}}\nforward: 'h[..., t] = logcumsumexp[t](x[..., t])'\n",
}  # fmt: skip


def operator_of(form: str) -> Operator:
    bag = Bag()
    outputs = "outputs: [c, h]\n" if form == "pair" else "outputs: [h]\n"
    spec = load(Source(f"{form}.yaml", f"op: {form}\n{FORMS[form]}{outputs}"), bag)
    operator = lower(spec, bag) if spec else None
    assert spec is not None
    assert operator is not None, [d.message for d in bag.items]
    remember(operator)
    return operator


@pytest.mark.parametrize("order", ["primal", "adjoint", "tangent", "second", "adjoint_tangent"])
@pytest.mark.parametrize("form", FORMS)
def test_against_interpreter(form: str, order: str) -> None:
    operator = operator_of(form)
    primal = operator.variants[0].program
    steps = {
        "primal": (),
        "adjoint": (adjoint,),
        "tangent": (tangent,),
        "second": (adjoint, adjoint),
        "adjoint_tangent": (adjoint, tangent),
    }
    p = primal
    known = [primal]
    for step in steps[order]:
        p = step(p)
        known.append(p)
    for batch in BATCHES:
        given = arguments(primal, operator.variants[0], operator, batch, {})
        given["c"] = given["h"] = torch.zeros(_result_shape(operator, given))
        for q in known[1:]:
            given = arguments(q, operator.variants[0], operator, batch, given)
            given.update({o.name: given[o.like] for o in q.outputs if o.like is not None})
        compare([(Variant((), p), p)], operator, [given], [{}])


def _result_shape(operator: Operator, given: dict[str, torch.Tensor]) -> tuple[int, ...]:
    f = torch_function("f", [(v, v.program) for v in operator.variants], operator)
    out = function(f)(*(given[n] for n in f.arguments))
    return tuple((out[0] if isinstance(out, tuple) else out).shape)


@pytest.mark.parametrize("form", FORMS)
def test_autograd_and_vmap(form: str) -> None:
    operator = operator_of(form)
    v = operator.variants[0]
    made = torch_function("f", [(v, v.program)], operator)
    f = function(made)
    given = arguments(v.program, v, operator, (2,), {})
    args = [given[n].requires_grad_() for n in made.arguments]

    def first(*args: torch.Tensor) -> torch.Tensor:
        out = f(*args)
        return out[0] * out[1] if isinstance(out, tuple) else out

    assert torch.autograd.gradcheck(first, args)
    several = [torch.stack((a, a + 1)) for a in args]
    mapped = torch.func.vmap(first)(*several)
    torch.testing.assert_close(mapped[1], first(*(a + 1 for a in args)))
