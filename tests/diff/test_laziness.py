"""A cotangent that is surely zero stays zero through slopes that are infinite or nan, in every derivative."""

from __future__ import annotations

from math import inf, isfinite

import pytest

from opgen.diff.adjoint import adjoint
from opgen.diff.tangent import tangent
from opgen.ir.interp import Array, run
from opgen.ir.program import Program
from opgen.ir.verify import verify
from opgen.opt.derive import derive
from tests.lower.specs import built

X = "op: made\ninputs: {x: {shape: [..., K]}}\n"
MASKED = {
    "in the branch": X + 'forward: "y[..., k] = where(all[j](x[..., j] == -inf), 0, softmax[k](x[..., k]))"\n',
    "in a statement of its own": X
    + "forward: |\n  p[..., k] = softmax[k](x[..., k])\n  y[..., k] = where(all[j](x[..., j] == -inf), 0, p[..., k])\n",
    "through a step between": X
    + "forward: |\n"
    + "  p[..., k] = log_softmax[k](x[..., k])\n"
    + "  q[..., k] = 2*p[..., k]\n"
    + "  y[..., k] = where(any[j](x[..., j] > -inf), where(x[..., k] > -inf, q[..., k], 0), 0)\n",
    "in a sum": X + 'forward: "y[...] = where(all[j](x[..., j] == -inf), 0, logsumexp[k](x[..., k]))"\n',
    "of two": X
    + "forward: |\n"
    + "  p[..., k] = softmax[k](x[..., k])\n"
    + "  s[...] = sum[k](where(x[..., k] > -inf, p[..., k]*x[..., k], 0))\n"
    + "  y[...] = where(all[j](x[..., j] == -inf), 0, s[...])\n"
    + "  z[..., k] = where(any[j](x[..., j] > -inf), p[..., k], 1)\n",
}
SINGULAR = {
    "a root of its own": X
    + "forward: |\n  r[..., k] = sqrt(x[..., k])\n  y[..., k] = where(x[..., k] > 0, 3*r[..., k], 0)\n",
    "a root under a sum": X
    + "forward: |\n  r[...] = sqrt(sum[k](x[..., k]))\n  t[...] = -r[...]/2\n"
    + "  y[..., k] = where(sum[j](x[..., j]) > 0, x[..., k]*t[...], x[..., k])\n",
    "a logarithm that is scanned": X
    + "forward: |\n  r[..., k] = log(x[..., k])\n"
    + "  y[..., k] = cumsum[k](where(x[..., k] > 0, r[..., k], 0))\n",
}


def seeds(p: Program, arrays: dict[str, Array]) -> dict[str, Array]:
    """Arguments that are not there yet, no two elements alike."""
    given = dict(arrays)
    for t in p.inputs:
        if t.name not in given:
            like = given[t.of]
            given[t.name] = Array(like.shape, [0.3 + 0.25 * k for k in range(len(like.data))])
    return given


def finite(what: str, p: Program, arrays: dict[str, Array]) -> dict[str, Array]:
    given = seeds(p, arrays)
    found = run(verify(p), given)
    for name, a in found.items():
        assert all(map(isfinite, a.data)), f"{what}: {name} is {a.data}"
    return {**given, **found}


@pytest.mark.parametrize(("name", "row"), [(n, "masked") for n in MASKED] + [(n, "zero") for n in SINGULAR])
def test_what_is_not_taken_gives_zero(name: str, row: str) -> None:
    primal = built((MASKED | SINGULAR)[name])
    x = [[-inf] * 3, [0.5, -inf, 1.0]] if row == "masked" else [[0.0, 0.0, 0.0], [0.5, 0.25, 1.0]]
    arrays = {"x": Array((2, 3), [v for r in x for v in r])}
    arrays |= run(primal.variants[0].program, arrays)
    backward = adjoint(primal.variants[0].program)
    known = finite("gradient", backward, arrays)
    assert known["grad_x"].data[:3] == [0, 0, 0] or name == "a root under a sum"
    finite("tangent", tangent(primal.variants[0].program), arrays)
    finite("second order", adjoint(backward), known)
    finite("tangent of the gradient", tangent(backward), known)
    (d,) = derive(primal)
    assert d.gradient is not None
    assert d.second is not None
    assert d.tangent is not None
    assert d.source is not None
    assert finite("optimised", d.gradient, arrays)["grad_x"].data == pytest.approx(known["grad_x"].data)
    finite("optimised tangent", d.tangent, arrays)
    kept = run(d.forward, arrays)
    known |= {o.of: kept[o.name] for o in d.forward.outputs if o.of}
    finite("optimised second order", d.second, known)
