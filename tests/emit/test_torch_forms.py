"""Forms that the shipped specs do not have: gathers and scatters of every kind, diagonals, literals, lean operands."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from opgen.diagnostics.model import Bag, Source  # noqa: E402
from opgen.emit.torch_code import torch_function  # noqa: E402
from opgen.ir import interp  # noqa: E402
from opgen.ir.lower import lower  # noqa: E402
from opgen.ir.program import Role  # noqa: E402
from opgen.opt.derive import derive  # noqa: E402
from opgen.spec.load import load  # noqa: E402
from tests.emit.test_torch_specs import BATCHES, STAGES, arguments  # noqa: E402
from tests.emit.torch_cases import compare, params_of, to_array, to_tensor  # noqa: E402
from tests.emit.torch_exec import source  # noqa: E402

FORMS = {
    "rows": "inputs: {ids: {shape: [..., P], dtype: int}, w: {shape: [V, D]}}\nforward: 'y[..., p, d] = w[ids[..., p], d]'",
    "columns": "inputs: {ids: {shape: [...], dtype: int}, w: {shape: [D, V]}}\nforward: 'y[..., d] = w[d, ids[...]]'",
    "picked": "inputs: {x: {shape: [..., N, C]}, ids: {shape: [..., N], dtype: int}}\nforward: 'y[..., n] = x[..., n, ids[..., n]]'",
    "shared": "inputs: {x: {shape: [..., C]}, ids: {shape: [K], dtype: int}}\nforward: 'y[..., k] = x[..., ids[k]]**2'",
    "both": "inputs: {x: {shape: [..., C]}, ids: {shape: [..., K], dtype: int}}\nforward: 'y[..., k] = exp(x[..., ids[..., k]])'",
    "bag": "inputs: {w: {shape: [V, D]}, ids: {shape: [..., K], dtype: int}, s: {shape: [..., K]}}\n"
    "forward: 'y[..., d] = sum[k](s[..., k] * w[ids[..., k], d])'",
    "middle": "inputs: {x: {shape: [A, ..., B]}, w: {shape: [B, C]}}\nforward: 'y[c, ..., a] = sum[b](x[a, ..., b] * w[b, c])'",
    "attention": "inputs: {q: {shape: [..., I, D]}, k: {shape: [..., J, D]}, v: {shape: [..., J, E]}}\n"
    "forward: |\n  p[..., i, j] = softmax[j](sum[d](q[..., i, d] * k[..., j, d]) / sqrt(D))\n"
    "  y[..., i, e] = sum[j](p[..., i, j] * v[..., j, e])\noutputs: [y]",
    "causal": "inputs: {s: {shape: [..., N, N]}}\nforward: 'y[..., i, j] = softmax[j](where(j <= i, s[..., i, j], -inf))'",
    "safe": "inputs: [x]\nforward: 'y = where(x > 0, sqrt(x) * log(x), exp(x) - 1/x)'",
    "constant": "inputs: {x: {shape: [..., N]}}\noutputs: {y: {shape: [..., N]}}\nforward: 'y[..., n] = 2'",
    "count": "inputs: {x: {shape: [..., N]}}\nforward: |\n  y[n] = sum[...](1) * max[...](x[..., n])\n  k[...] = count[n](x[..., n] > 0)",
    "lean": "inputs: {x: {shape: [..., N]}, b: {shape: [N]}, z: {shape: [...]}}\n"
    "forward: |\n  s[n] = sum[...](x[..., n] * b[n])\n  y[..., n] = s[n] + z[...]\n  total = mean[...](z[...])\noutputs: [y, total]",
    "variance": "inputs: {x: {shape: [..., N]}}\nforward: 'y[...] = var[n](x[..., n]) + norm[n](x[..., n]) + logsumexp[n](x[..., n])'",
    "whole": "inputs: {x: {shape: [..., N]}}\nforward: |\n  m = max[n, ...](x[..., n])\n  l = logsumexp[..., n](x[..., n])\n  v = var[...,n](x[..., n])",
    "products": "inputs: {x: {shape: [..., N, M]}}\nforward: 'y[...] = prod[n, m](x[..., n, m])'",
    "tie": "inputs: [a, b]\nforward: 'y = max(a, b) + min(a, 0.5) + clamp(b, -1, a)'",
    "chain": "inputs: {a: {shape: [..., I, J]}, b: {shape: [J, K]}, c: {shape: [..., K, L]}}\n"
    "forward: 'y[..., l, i] = sum[j, k](a[..., i, j] * b[j, k] * c[..., k, l]) * 3'",
    "outer": "inputs: {a: {shape: [..., I]}, b: {shape: [..., J]}}\nforward: 'y[j, i] = sum[...](a[..., i] * b[..., j])'",
    "matvec": "inputs: {w: {shape: [..., N, K]}, x: {shape: [..., K]}}\nforward: 'y[..., n] = sum[k](w[..., n, k] * x[..., k])'",
    "masks": "inputs: {x: {}, k: {dtype: int}, m: {dtype: bool}}\n"
    "forward: 'y = x * m + m + k / 2 + (x > 0) - (k % 2 == 1) + sqrt(abs(k) + 1) + where(m, k, 1)'",
    "names": "inputs: {sum: {}, torch_: {}, l: {shape: [..., I]}}\nforward: 'max[..., i] = sum * torch_ + l[..., i] * I'",
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str, stage: str) -> None:
    bag = Bag()
    spec = load(Source(f"{form}.yaml", f"op: {form}\n{FORMS[form]}\n"), bag)
    operator = lower(spec, bag) if spec else None
    assert operator is not None, [d.message for d in bag.items]
    for d in derive(operator):
        p = getattr(d, stage)
        if p is None:
            pytest.skip("not derived")
        code = source(torch_function("f", [(d.variant, p)], operator))
        assert all(len(line) <= 116 for line in code.splitlines()[1:]), code  # noqa: PLR2004
        for batch in BATCHES:
            params = params_of(d.variant, operator, {})
            known = arguments(d.variant.program, d.variant, operator, batch, {})
            kept = interp.run(d.forward, {t.name: to_array(known[t.name]) for t in d.forward.inputs}, params)
            for o in d.forward.outputs:
                known.setdefault(o.name, to_tensor(kept[o.name], o.kind))
            known.update({t.name: known[t.of or t.name] for t in p.inputs if t.role is Role.SAVED})
            compare([(d.variant, p)], operator, [arguments(p, d.variant, operator, batch, known)], [params])
