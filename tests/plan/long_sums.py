"""Sums of very many terms, one of each kind that a plan has; added up one by one, errors grow with their number.

Every term is near 0.1, which float32 rounds the same way again and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from opgen.ir.interp import Array
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Program
from opgen.torch.functions import torch_function
from tests.cuda.emulate import rounded
from tests.lower.specs import elementwise, program
from tests.torch.cases import to_tensor
from tests.torch.execute import function

COUNT = 8_000
BOUND = 4e-7  # relative, whatever the number of terms; added up one by one, 8,000 are off by up to 3e-5


@dataclass(frozen=True)
class Long:
    """A formula over inputs some of whose dims are long."""

    formula: str
    inputs: str
    shapes: dict[str, tuple[int, ...]]
    more: str = ""

    def program(self) -> Program:
        return program(elementwise(self.formula, self.inputs, self.more))

    def arrays(self) -> dict[str, Array]:
        made = {name: Array(s, [0.1 + 1e-4 * (k % 7) for k in range(prod(s))]) for name, s in self.shapes.items()}
        return {name: rounded("float32", a) for name, a in made.items()}

    def expected(self) -> dict[str, list[float]]:
        """What torch says in double precision; the interpreter would take too long."""
        p = self.program()
        variant = Variant((), p)
        operator = Operator("f", p.inputs, (), p.params, tuple(o.name for o in p.outputs), (variant,))
        given = {t.name: to_tensor(self.arrays()[t.name], t.kind) for t in p.inputs}
        printed = torch_function("f", [(variant, p)], operator)
        found = function(printed)(*(given[n] for n in printed.arguments))
        results = found if isinstance(found, tuple) else (found,)
        return {o.name: r.flatten().tolist() for o, r in zip(p.outputs, results, strict=True)}


ROWS = "{x: {shape: [..., N]}}"
ROW = {"x": (1, COUNT)}
LONG: dict[str, Long] = {
    "row": Long("y[...] = sum[n](x[..., n])", ROWS, ROW),
    "columns": Long("y[d] = sum[n](x[n, d])", "{x: {shape: [N, D]}}", {"x": (COUNT, 3)}),
    "whole": Long("y = mean[...](x)", "{x: {shape: [...]}}", {"x": (COUNT,)}),
    "norm": Long("y[...] = norm[n](x[..., n])", ROWS, ROW),
    "var": Long("y[...] = var[n](x[..., n])", ROWS, ROW),
    "logsumexp": Long("y[...] = logsumexp[n](x[..., n])", ROWS, ROW),
    "softmax": Long("y[...] = max[n](softmax[n](x[..., n]))", ROWS, ROW),
    "several": Long("s[...] = sum[n](x[..., n])\nq[...] = mean[n](x[..., n]**2)", ROWS, ROW),
    "running": Long("y[..., n] = cumsum[n](x[..., n])", ROWS, ROW, "outputs: {y: {shape: [..., N]}}"),
    "step": Long("h[t] = 0.5*h[t - 1] + sum[n](x[t, n]*(h[t - 1] + 1))", "{x: {shape: [T, N]}}", {"x": (2, COUNT)}),
    "attention": Long(
        "o[i, e] = sum[j](softmax[j](sum[d](q[i, d]*k[j, d]))*v[j, e])",
        "{q: {shape: [M, D]}, k: {shape: [N, D]}, v: {shape: [N, E]}}",
        {"q": (1, 1), "k": (COUNT, 1), "v": (COUNT, 2)},
    ),
    "distances": Long(
        "a[i] = sum[j](sum[d]((x[i, d] + y[j, d])**2)*b[j])",
        "{x: {shape: [M, D]}, y: {shape: [N, D]}, b: {shape: [N]}}",
        {"x": (1, COUNT), "y": (2, COUNT), "b": (2,)},
    ),
}
