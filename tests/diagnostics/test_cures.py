"""A cure that a message names is followed to the letter, and builds: nobody should need a second round."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.lower.operator import lower
from opgen.schema.load import load

NK = "inputs: {x: {shape: [N, K]}, w: {shape: [K]}, b: {shape: [N]}}"
BATCH = "inputs: {x: {shape: [..., D]}, y0: {shape: [..., D]}}"
TWO = "inputs: {a: {shape: [N, K]}, b: {shape: [K, M]}, t: {shape: [N], dtype: int}}"
GRAPH = "inputs: {src: {shape: [E], dtype: int, domain: 0 <= src < N}, m: {shape: [E, D]}, x: {shape: [N, D]}}"
EDGES = "inputs: {src: {shape: [E], dtype: int}, m: {shape: [..., E, D]}}"
LAST = "inputs: {ids: {shape: [E], dtype: int, domain: 0 <= ids <= N - 1}, m: {shape: [E]}, x: {shape: [N]}}"
OPTIONAL = "inputs: {x: {shape: [N]}, b: {shape: [N], optional: true}}"
SEQUENCE = "inputs: {x: {shape: [..., T]}}\noutputs: [h]"

# fields, the statement at fault, and what takes its place
CASES = [
    (BATCH, "y[...] = x.sum(dim=-1)", "y[...] = sum[d](x[..., d])"),
    (BATCH, "y = x.sum(-1)", "y = sum[d](x[..., d])"),
    (BATCH, "y = x.mean()", "y = mean[..., d](x[..., d])"),
    (BATCH, "y = torch.exp(x)", "y[..., d] = exp(x[..., d])"),
    (BATCH, "y = np.log1p(np.exp(x))", "y[..., d] = log1p(exp(x[..., d]))"),
    (BATCH, "y = F.relu(x) + torch.nn.functional.softplus(y0)", "y[..., d] = relu(x[..., d]) + softplus(y0[..., d])"),
    (BATCH, "y = -x.abs().sqrt()", "y[..., d] = -sqrt(abs(x[..., d]))"),
    (BATCH, "y = x.pow(2).sum(-1).sqrt()", "y = sqrt(sum[d](x[..., d]**2))"),
    (BATCH, "y = x if x > 0 else 0.01*x", "y[..., d] = where(x[..., d] > 0, x[..., d], 0.01 * x[..., d])"),
    (BATCH, "y = x > 0 ? x : 0", "y[..., d] = where(x[..., d] > 0, x[..., d], 0)"),
    (BATCH, "y = 2*(x if x > 0 else -x)", "y[..., d] = 2 * where(x[..., d] > 0, x[..., d], -x[..., d])"),
    (BATCH, "y = sin(2*math.pi*x)", "y[..., d] = sin(2 * pi * x[..., d])"),
    (BATCH, "y = x*y0", "y[..., d] = x[..., d] * y0[..., d]"),
    (BATCH, "y = x.clamp(min=0)", "y[..., d] = clamp(x[..., d], 0, inf)"),
    (BATCH, "y = torch.clamp(x, max=1)", "y[..., d] = clamp(x[..., d], -inf, 1)"),
    (BATCH, "y = nn.ReLU()(x)", "y[..., d] = relu(x[..., d])"),
    (BATCH, "y = x.masked_fill(x < 0, 0)", "y[..., d] = where(x[..., d] < 0, 0, x[..., d])"),
    (BATCH, "y = maximum(x, 0)", "y[..., d] = max(x[..., d], 0)"),
    (BATCH, "y = x.float().add(y0)", "y[..., d] = x[..., d] + y0[..., d]"),
    (BATCH, "y[..., d] = softmax(x, dim=-1)", "y[..., d] = softmax[d](x[..., d])"),
    (BATCH, "y = ln(x)", "y[..., d] = log(x[..., d])"),
    (BATCH, "y = x.std(dim=-1)", "y = sqrt(var[d](x[..., d]))"),
    (BATCH, "y[...] = x[..., -1]", "y[...] = x[..., D - 1]"),
    (NK, "y = softmax(x, dim=1)", "y[n, k] = softmax[k](x[n, k])"),
    (NK, "y = torch.max(x, dim=0)", "y[k] = max[n](x[n, k])"),
    (NK, "y = x.mean(axis=(0, 1))", "y = mean[n, k](x[n, k])"),
    (NK, "y[n] = sum(x[n, k]*w[k])", "y[n] = sum[k](x[n, k] * w[k])"),
    (NK, "y[n] = sum(x*w)", "y[n] = sum[k](x[n, k] * w[k])"),
    (NK, "y[n] = x[n].sum()", "y[n] = sum[k](x[n, k])"),
    (NK, "y[n, k] = x[n, k] - mean(x[n, k])", "y[n, k] = x[n, k] - mean[k](x[n, k])"),
    (NK, "y[n, k] = x[n, k]/norm(x[n])", "y[n, k] = x[n, k] / norm[k](x[n, k])"),
    (NK, "y[n, k] = cumsum(x[n, k])", "y[n, k] = cumsum[k](x[n, k])"),
    (NK, "y[n] = sum[k](x[n][k])", "y[n] = sum[k](x[n, k])"),
    (NK, "y = x.T", "y[k, n] = x[n, k]"),
    (NK, "y[k, n] = x.T[k, n]", "y[k, n] = x[n, k]"),
    (NK, "y[n] = sum[k](x[n, k])/x.shape[1]", "y[n] = sum[k](x[n, k]) / K"),
    (NK, "y[n] = sum[k](x[n, k])/x.size(-1)", "y[n] = sum[k](x[n, k]) / K"),
    (NK, "y[n] = sum[k](x[n, k])/len(x)", None),
    (NK, "y = x @ w", "y[n] = sum[k](x[n, k] * w[k])"),
    (NK, "y[n] = sum[1](x[n, k])", "y[n] = sum[k](x[n, k])"),
    (NK, "y[n, k] = sum[j <= k](x[n, j])", "y[n, k < K] = sum[j](where(j <= k, x[n, j], 0))"),
    (NK, "y[n, k] = max[j < k](x[n, j])", "y[n, k < K] = max[j](where(j < k, x[n, j], -inf))"),
    (NK, "y[n] = std[k](x[n, k])", "y[n] = sqrt(var[k](x[n, k]))"),
    (NK, "y[n] = x[n, -2]", "y[n] = x[n, K - 2]"),
    (NK, "y[n] = median[k](x[n, k])", "y[n] = x[n, order[n, (K - 1)//2]]"),
    (NK, "y[n] = quantile[k](x[n, k], 0.25)", "y[n] = x[n, order[n, int(0.25*(K - 1))]]"),
    (NK, "y = x.median(dim=1)", "y[n] = x[n, order[n, (K - 1)//2]]"),
    (NK, "y = topk(x, 3)", "y[n, j < 3] = x[n, order[n, K - 1 - j]]"),
    (NK, "y = torch.sort(x)", "y[n, k] = x[n, order[n, k]]"),
    (BATCH, "y = x.topk(2)", "y[..., j < 2] = x[..., order[..., D - 1 - j]]"),
    (TWO, "y = a @ b", "y[n, m] = sum[k](a[n, k] * b[k, m])"),
    (TWO, "y = torch.matmul(a, b)", "y[n, m] = sum[k](a[n, k] * b[k, m])"),
    (TWO, "y = einsum('ij,jk->ki', a, b)", "y[k, i] = sum[j](a[i, j] * b[j, k])"),
    (TWO, "y[n] = a[n, t]", None),
    (TWO, "y[n, m] = b[t[n]]", None),
    (OPTIONAL, "y[n] = where(b is not None, x[n], 0)", "y[n] = where(given(b), x[n], 0)"),
    (SEQUENCE, "h[..., t] = 0.5*h[..., t - 2] + x[..., t]", None),
    (GRAPH, "y[src[e], d] += m[e, d]", None),
    (GRAPH, "y[src[e]] max= m[e, 0]", None),
    (EDGES, "y[..., d, src[e]] += m[..., e, d]", None),
    (LAST, "y[ids[e]] *= m[e]", None),
]  # fmt: skip


def diagnosed(text: str) -> tuple[Diagnostic, ...]:
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    if spec is not None:
        lower(spec, bag)
    return bag.items


def whole(fields: str, *statements: str) -> str:
    return f"op: cured\n{fields}\nforward: |\n" + "".join(f"  {s}\n" for s in statements)


def followed(hint: str, fields: str, wrong: str) -> str:
    """The spec with what a hint says: fields are added, an expression takes the place of another, statements do."""
    quoted = re.findall(r"`([^`]+)`", hint)
    added = "\n".join(text for text in quoted if re.match(r"(outputs|dims|params): ", text))
    statements = [text for text in quoted if re.search(r"[^=!<>]=[^=]", text)]
    if hint.startswith(("declare", "or start", "start", "carry")):
        read = re.search(r"read `([^`]+)` for `([^`]+)`", hint)
        statements.append(wrong if read is None else wrong.replace(read[2], read[1]))
    if not statements:  # an access is written otherwise
        name = quoted[0].partition("[")[0]
        statements = [re.sub(rf"\b{name}(\[.*\]|\b(?!\[))(?=[^\]]*\]?$)", quoted[0], wrong)]
    return whole(f"{fields}\n{added}" if added else fields, *statements)


@pytest.mark.parametrize(("fields", "wrong", "right"), CASES, ids=[wrong for _, wrong, _ in CASES])
def test_every_cure_builds_as_it_stands(fields: str, wrong: str, right: str | None) -> None:
    (found,) = diagnosed(whole(fields, wrong))
    cures = [
        hint for hint in found.hints if hint.startswith(("write", "read", "carry", "declare", "or start", "start"))
    ]
    assert cures, found
    assert right is None or any(
        f"`{right}`" in cure or cure == f"write `{right.partition(' = ')[2]}`" for cure in cures
    )
    for cure in cures:
        text = followed(cure, fields, wrong)
        assert diagnosed(text) == (), text
