"""Forms that the shipped specs do not have: gathers and scatters of every kind, diagonals, literals, lean operands."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from opgen.diagnostics.model import Bag, Source
from opgen.ir import interp
from opgen.ir.program import Role
from opgen.lower.operator import lower
from opgen.opt.derive import derive
from opgen.schema.load import load
from opgen.torch.functions import torch_function
from tests.torch.cases import compare, params_of, to_array, to_tensor
from tests.torch.execute import function, source
from tests.torch.test_specs import BATCHES, STAGES, arguments, remember

FORMS = {
    "rows": (
        "inputs: {ids: {shape: [..., P], dtype: int}, w: {shape: [V, D]}}\n"
        "forward: 'y[..., p, d] = w[ids[..., p], d]'\n"
    ),
    "columns": (
        "inputs: {ids: {shape: [...], dtype: int}, w: {shape: [D, V]}}\nforward: 'y[..., d] = w[d, ids[...]]'\n"
    ),
    "picked": (
        "inputs: {x: {shape: [..., N, C]}, ids: {shape: [..., N], dtype: int}}\n"
        "forward: 'y[..., n] = x[..., n, ids[..., n]]'\n"
    ),
    "shared": (
        "inputs: {x: {shape: [..., C]}, ids: {shape: [K], dtype: int}}\nforward: 'y[..., k] = x[..., ids[k]]**2'\n"
    ),
    "both": (
        "inputs: {x: {shape: [..., C]}, ids: {shape: [..., K], dtype: int}}\n"
        "forward: 'y[..., k] = exp(x[..., ids[..., k]])'\n"
    ),
    "bag": (
        "inputs: {w: {shape: [V, D]}, ids: {shape: [..., K], dtype: int}, s: {shape: [..., K]}}\n"
        "forward: 'y[..., d] = sum[k](s[..., k] * w[ids[..., k], d])'\n"
    ),
    "middle": (
        "inputs: {x: {shape: [A, ..., B]}, w: {shape: [B, C]}}\n"
        "forward: 'y[c, ..., a] = sum[b](x[a, ..., b] * w[b, c])'\n"
    ),
    "attention": (
        "inputs: {q: {shape: [..., I, D]}, k: {shape: [..., J, D]}, v: {shape: [..., J, E]}}\n"
        "forward: |\n"
        "  p[..., i, j] = softmax[j](sum[d](q[..., i, d] * k[..., j, d]) / sqrt(D))\n"
        "  y[..., i, e] = sum[j](p[..., i, j] * v[..., j, e])\n"
        "outputs: [y]\n"
    ),
    "causal": (
        "inputs: {s: {shape: [..., N, N]}}\nforward: 'y[..., i, j] = softmax[j](where(j <= i, s[..., i, j], -inf))'\n"
    ),
    "safe": ("inputs: [x]\nforward: 'y = where(x > 0, sqrt(x) * log(x), exp(x) - 1/x)'\n"),
    "constant": ("inputs: {x: {shape: [..., N]}}\noutputs: {y: {shape: [..., N]}}\nforward: 'y[..., n] = 2'\n"),
    "count": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: |\n"
        "  y[n] = sum[...](1) * max[...](x[..., n])\n"
        "  k[...] = count[n](x[..., n] > 0)\n"
    ),
    "lean": (
        "inputs: {x: {shape: [..., N]}, b: {shape: [N]}, z: {shape: [...]}}\n"
        "forward: |\n"
        "  s[n] = sum[...](x[..., n] * b[n])\n"
        "  y[..., n] = s[n] + z[...]\n"
        "  total = mean[...](z[...])\n"
        "outputs: [y, total]\n"
    ),
    "variance": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: 'y[...] = var[n](x[..., n]) + norm[n](x[..., n]) + logsumexp[n](x[..., n])'\n"
    ),
    "whole": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: |\n"
        "  m = max[n, ...](x[..., n])\n"
        "  l = logsumexp[..., n](x[..., n])\n"
        "  v = var[...,n](x[..., n])\n"
    ),
    "products": ("inputs: {x: {shape: [..., N, M]}}\nforward: 'y[...] = prod[n, m](x[..., n, m])'\n"),
    "tie": ("inputs: [a, b]\nforward: 'y = max(a, b) + min(a, 0.5) + clamp(b, -1, a)'\n"),
    "chain": (
        "inputs: {a: {shape: [..., I, J]}, b: {shape: [J, K]}, c: {shape: [..., K, L]}}\n"
        "forward: 'y[..., l, i] = sum[j, k](a[..., i, j] * b[j, k] * c[..., k, l]) * 3'\n"
    ),
    "outer": (
        "inputs: {a: {shape: [..., I]}, b: {shape: [..., J]}}\nforward: 'y[j, i] = sum[...](a[..., i] * b[..., j])'\n"
    ),
    "matvec": (
        "inputs: {w: {shape: [..., N, K]}, x: {shape: [..., K]}}\n"
        "forward: 'y[..., n] = sum[k](w[..., n, k] * x[..., k])'\n"
    ),
    "masks": (
        "inputs: {x: {}, k: {dtype: int}, m: {dtype: bool}}\n"
        "forward: 'y = x * m + m + k / 2 + (x > 0) - (k % 2 == 1) + sqrt(abs(k) + 1) + where(m, k, 1)'\n"
    ),
    "spread": ("inputs: {x: {}, w: {shape: [N, ...]}}\nforward: 'y[..., n < N] = x[...]'\n"),
    "part": (
        "inputs: {w: {shape: [..., N]}, x: {shape: [N, ...]}, z: {shape: [N, ...]}}\n"
        "forward: |\n"
        "  y[i < 3, n < N] = i*max(i - 1, 0)*n\n"
        "  k[n < N, ..., i < 2] = x[0, ...]*n*z[1, ...]\n"
        "  c[i < 2] = 0.5\n"
    ),
    "outside": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: 'y[...] = exp(pad(x[..., 7], 2))*pad(x[..., 0], 1) + sin(pad(x[..., 1], 0))'\n"
    ),
    "numbers": (
        "inputs: {x: {shape: [..., N]}}\n"
        "forward: |\n"
        "  y = N\n"
        "  z = 0.5\n"
        "  p[i < 3] = where(i <= 1, 2, 0.3 + N/2)\n"
        "  q[...] = x[..., where(x[..., 0] > 0, 1, 0)]\n"
    ),
    "integers": (
        "inputs: {x: {shape: [K]}, ids: {shape: [..., N], dtype: int}, on: {shape: [N], dtype: bool}}\n"
        "forward: |\n"
        "  a[..., n] = softmax[n](ids[..., n])*x[0]\n"
        "  b[..., n] = logcumsumexp[n](ids[..., n])*x[1] + cumsum[n](on[n])\n"
        "  m = mean[n](on[n])*max[n](on[n])*x[0] + argmax[n](on[n]) + var[...](2)\n"
    ),
    "names": (
        "inputs: {sum: {}, torch_: {}, l: {shape: [..., I]}}\nforward: 'max[..., i] = sum * torch_ + l[..., i] * I'\n"
    ),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str, stage: str) -> None:
    bag = Bag()
    spec = load(Source(f"{form}.yaml", f"op: form_{form}\n{FORMS[form]}"), bag)
    operator = lower(spec, bag) if spec else None
    assert spec is not None
    assert operator is not None, [d.message for d in bag.items]
    for d in remember(operator):
        p = getattr(d, stage)
        if p is None:
            pytest.skip("not applicable: nothing is derived at this stage")
        code = source(torch_function("f", [(d.variant, p)], operator))
        assert all(len(line) <= 116 for line in code.splitlines()[1:]), code
        for batch in BATCHES:
            params = params_of(d.variant, operator, {})
            known = arguments(d.variant.program, d.variant, operator, batch, {})
            kept = interp.run(d.forward, {t.name: to_array(known[t.name]) for t in d.forward.inputs}, params)
            for o in d.forward.outputs:
                known.setdefault(o.name, to_tensor(kept[o.name], o.kind))
            known.update({t.name: known[t.of or t.name] for t in p.inputs if t.role is Role.SAVED})
            compare([(d.variant, p)], operator, [arguments(p, d.variant, operator, batch, known)], [params])


def test_untaken_branches_stay_out_of_every_derivative() -> None:
    torch = pytest.importorskip("torch")
    bag = Bag()
    spec = load(Source("safe.yaml", f"op: safe\n{FORMS['safe']}"), bag)
    operator = lower(spec, bag) if spec else None
    assert operator is not None
    f = function(torch_function("f", [(v, v.program) for v in operator.variants], operator))
    x = torch.tensor([-2.0, 3.0, -1e4], dtype=torch.float64, requires_grad=True)
    y = f(x)
    for _ in range(3):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        assert bool(torch.isfinite(y).all()), y


def test_a_missing_param_is_told_by_itself() -> None:
    text = (
        "op: form_missing\ninputs: {x: {}, z: {}}\nparams: {limit: {type: float, default: null}}\n"
        "forward: |\n  y = atan(x*z) if given(limit)\n  y = tanh(z) if not given(limit)\n"
    )
    bag = Bag()
    spec = load(Source("missing.yaml", text), bag)
    operator = lower(spec, bag) if spec else None
    assert operator is not None
    derived = derive(operator)
    for stage in ("backward", "tangent"):
        f = torch_function("f", [(d.variant, getattr(d, stage)) for d in derived], operator)
        assert "limit" in f.arguments
