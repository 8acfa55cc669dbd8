"""A line that a message names takes the place of the one at fault, and builds: nobody should need a second round."""

from __future__ import annotations

import re

import pytest

from tests.diagnostics.cures import diagnosed, whole

NK = "inputs: {x: {shape: [N, K]}, w: {shape: [K]}, b: {shape: [N]}}"
BATCH = "inputs: {x: {shape: [..., D]}, y0: {shape: [..., D]}}"
TWO = "inputs: {a: {shape: [N, K]}, b: {shape: [K, M]}, t: {shape: [N], dtype: int}}"
QK = "inputs: {q: {shape: [..., L, E]}, k: {shape: [..., S, E]}}"
XW = "inputs: {x: {shape: [..., K]}, w: {shape: [K, N]}, v: {shape: [N, K]}, b: {shape: [N]}}"
HALF = "inputs: {x: {shape: [..., D]}}\ndims: {H: D//2}"
GRAPH = "inputs: {src: {shape: [E], dtype: int, domain: 0 <= src < N}, m: {shape: [E, D]}, x: {shape: [N, D]}}"
EDGES = "inputs: {src: {shape: [E], dtype: int}, m: {shape: [..., E, D]}}"
LAST = "inputs: {ids: {shape: [E], dtype: int, domain: 0 <= ids <= N - 1}, m: {shape: [E]}, x: {shape: [N]}}"
OPTIONAL = "inputs: {x: {shape: [N]}, b: {shape: [N], optional: true}}"
GAIN = "inputs: {x: {shape: [..., K]}, g: {shape: [1]}}"
NAMED = "inputs: {a: {shape: [I, J]}, i: {shape: [J]}}"
SCATTERED = "inputs: {t: {shape: [N], dtype: int}, m: {shape: [N]}, y0: {shape: [V]}}\noutputs: {y: {shape: [V]}}"

# fields, the statement at fault, and what takes its place
CASES = [
    (BATCH, "y[..., d] = sofmax[d](x[..., d], dim=-1)", "y[..., d] = softmax[d](x[..., d])"),
    (BATCH, "y = np.log(sofmax(x))", "y[..., d] = log(softmax[d](x[..., d]))"),
    (BATCH, "y = np.exp(sigmod(x))", "y[..., d] = exp(sigmoid(x[..., d]))"),
    (BATCH, "y[...] = std[d](x[..., d], unbiased=False)", "y[...] = sqrt(var[d](x[..., d]))"),
    (BATCH, "y[...] = var[d](x[..., d], correction=1)", "y[...] = var[d](x[..., d]) * D / (D - 1)"),
    (BATCH, "y[...] = norm[d](x[..., d], 1)", "y[...] = sum[d](abs(x[..., d]))"),
    (BATCH, "y[...] = norm[d](x[..., d], p=3)", "y[...] = sum[d](abs(x[..., d])**3)**(1 / 3)"),
    (BATCH, "y[...] = norm[d](x[..., d], ord=-inf)", "y[...] = min[d](abs(x[..., d]))"),
    (BATCH, "y[...] = norm[d](x[..., d], 0)", "y[...] = count[d](x[..., d] != 0)"),
    (BATCH, "y[...] = norm[d](x[..., d], 2, keepdim=True)", "y[...] = norm[d](x[..., d])"),
    (BATCH, "y[...] = sum[d](x[..., d], d)", "y[...] = sum[d](x[..., d])"),
    (BATCH, "y[...] = quantile[d](x[..., d], 0.5, dim=-1)", "y[...] = quantile[d](x[..., d], 0.5)"),
    (BATCH, "y[...] = sum(x[..., d]*y0[..., d], d)", "y[...] = sum[d](x[..., d] * y0[..., d])"),
    (BATCH, "y[..., d] = (x[..., d]*2).to(x.dtype)", "y[..., d] = x[..., d] * 2"),
    (BATCH, "y = x.type(y0.dtype).exp()", "y[..., d] = exp(x[..., d])"),
    (BATCH, "x **= 2", "x2[..., d] = x[..., d]**2"),
    (NK, "y[N] = sum[K](x[N, K]*w[K])/K", "y[n] = sum[k](x[n, k] * w[k]) / K"),
    (NK, "y[n] = sum[k](x[n, K]*w[K])", "y[n] = sum[k](x[n, k] * w[k])"),
    (NK, "y[n, k] = x[n, k] - mean[N](x[N, k])", "y[n, k] = x[n, k] - mean[n](x[n, k])"),
    (NK, "y[i, k] = x[k]", "y[i, k] = x[i, k]"),
    (NAMED, "y = a.sum(0)", "y[j] = sum[m](a[m, j])"),
    (NAMED, "y[b, j] = a[j]", "y[b, j] = a[b, j]"),
    (SCATTERED, "y[t[n]] -= m[n]", "y[t[n]] += -m[n]"),
    (SCATTERED, "y[t[n]] /= m[n]", "y[t[n]] *= 1 / m[n]"),
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
    (BATCH, "y = x.std(dim=-1)", "y = sqrt(var[d](x[..., d]) * D / (D - 1))"),
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
    (NK, "y = x.median(dim=1)", "y[n] = median[k](x[n, k])"),
    (NK, "y = topk(x, 3)", "y[n, j < 3] = x[n, order[n, K - 1 - j]]"),
    (NK, "y = torch.sort(x)", "y[n, k] = sort[k](x[n, k])"),
    (BATCH, "y = x.topk(2)", "y[..., j < 2] = x[..., order[..., D - 1 - j]]"),
    (TWO, "y = a @ b", "y[n, m] = sum[k](a[n, k] * b[k, m])"),
    (TWO, "y = torch.matmul(a, b)", "y[n, m] = sum[k](a[n, k] * b[k, m])"),
    (TWO, "y = einsum('ij,jk->ki', a, b)", "y[k, i] = sum[j](a[i, j] * b[j, k])"),
    (TWO, "y[n] = a[n, t]", None),
    (TWO, "y[n, m] = b[t[n]]", None),
    (HALF, "y[..., h] = sigmoid(x[..., :H])", "y[..., h < H] = sigmoid(x[..., h])"),
    (HALF, "y = x[..., :H]*sigmoid(x[..., H:])", "y[..., d < H] = x[..., d] * sigmoid(x[..., d + H])"),
    (HALF, "y[..., h] = x[..., ::2] - x[..., 1::2]", "y[..., h < D // 2] = x[..., 2 * h] - x[..., 2 * h + 1]"),
    (HALF, "y = x[..., ::-1]", "y[..., d < D] = x[..., D - d - 1]"),
    (HALF, "y[..., h < H] = x[..., H:2*H]", "y[..., h < H] = x[..., h + H]"),
    (BATCH, "y = x[1:] - x[:-1]", "y[..., d < D - 1] = x[..., d + 1] - x[..., d]"),
    (BATCH, "y[..., i] = x[..., 1:] - x[..., :-1]", "y[..., i < D - 1] = x[..., i + 1] - x[..., i]"),
    (BATCH, "y[...] = x[..., -3:].mean(dim=-1)", "y[...] = mean[d < 3](x[..., d + D - 3])"),
    (BATCH, "y[..., d] = x[..., d:d+3].sum()", "y[..., d < D - 2] = sum[m < 3](x[..., m + d])"),
    (BATCH, "y[..., i] = softmax(x[..., :5], dim=-1)", "y[..., i < 5] = softmax[i](x[..., i])"),
    (NK, "y[n] = x[:, 0]", "y[n] = x[n, 0]"),
    (NK, "y = x[1:] - x[:-1]", "y[n < N - 1, k] = x[n + 1, k] - x[n, k]"),
    (NK, "y[n] = sum[k](x[n, :]*w[k])", "y[n] = sum[k](x[n, k] * w[k])"),
    (NK, "y[n] = sum(x[n, :]*w[:])", "y[n] = sum[k](x[n, k] * w[k])"),
    (NK, "y[n, k] = x[n, k] - x[n, 1:].mean()", "y[n, k] = x[n, k] - mean[k < K - 1](x[n, k + 1])"),
    (NK, "y = x[1:-1, 1:-1]", "y[n < N - 2, k < K - 2] = x[n + 1, k + 1]"),
    (QK, "s[..., i, j] = 2*(q[..., i, e] @ k[..., j, e])", "s[..., i, j] = 2 * sum[e](q[..., i, e] * k[..., j, e])"),
    (QK, "s[..., i, j] = q @ k.mT", "s[..., i, j] = sum[e](q[..., i, e] * k[..., j, e])"),
    (QK, "s = softmax(q @ k.transpose(-2, -1), dim=-1)",
     "s[..., l, m] = softmax[m](sum[e](q[..., l, e] * k[..., m, e]))"),
    (XW, "y = relu(x @ w + b)", "y[..., n] = relu(sum[k](x[..., k] * w[k, n]) + b[n])"),
    (XW, "y[..., o] = tanh(x @ w)", "y[..., o] = tanh(sum[k](x[..., k] * w[k, o]))"),
    (XW, "y[..., o] = x[..., i] @ w[j, o]", "y[..., o] = sum[i](x[..., i] * w[i, o])"),
    (XW, "y[..., o] = x @ w[i, o]", "y[..., o] = sum[i](x[..., i] * w[i, o])"),
    (XW, "y = x @ v.T", "y[..., n] = sum[k](x[..., k] * v[n, k])"),
    (TWO, "y[i, j] = exp(a @ b)", "y[i, j] = exp(sum[k](a[i, k] * b[k, j]))"),
    (TWO, "y[p, q] = einsum('ij,jk->ki', a, b)", "y[p, q] = sum[j](a[q, j] * b[j, p])"),
    (OPTIONAL, "y[n] = where(b is not None, x[n], 0)", "y[n] = where(given(b), x[n], 0)"),
    (GRAPH, "y[src[e], d] += m[e, d]", None),
    (GRAPH, "y[src[e]] max= m[e, 0]", None),
    (EDGES, "y[..., d, src[e]] += m[..., e, d]", None),
    (LAST, "y[ids[e]] *= m[e]", None),
    (NK, "y[n] = max[k](x[n, k], 0)", "y[n] = max(max[k](x[n, k]), 0)"),
    (NK, "y[n] = min[k](x[n, k] - b[n], b[n])", "y[n] = min(min[k](x[n, k] - b[n]), b[n])"),
    (NK, "y[n] = max[k](0, x[n, k]*w[k])", "y[n] = max[k](max(0, x[n, k] * w[k]))"),
    (NK, "y[n] = max[k](x[n, k], 1)", "y[n] = max[k](x[n, k])"),
    (NK, "y[n] = max[k](x[n, k], -1)", "y[n] = max[k](x[n, k])"),
    (BATCH, "y[...] = 1 - max[d](x[..., d], 0)", "y[...] = 1 - max(max[d](x[..., d]), 0)"),
    (BATCH, "y[...] = max[d](x[..., d], 1)", "y[...] = max[d](x[..., d])"),
    (GAIN, "y = g*x", "y[..., k] = g[0] * x[..., k]"),
    (GAIN, "y[..., k] = x[..., k]*g.exp()", "y[..., k] = x[..., k] * exp(g[0])"),
    (GAIN, "y = g*2", "y = g[0] * 2"),
]  # fmt: skip


def followed(hint: str, fields: str, wrong: str) -> str:
    """The spec with what a hint says: fields are added, an expression takes the place of another, statements do."""
    quoted = re.findall(r"`([^`]+)`", hint)
    added = "\n".join(text for text in quoted if re.match(r"(outputs|dims|params): ", text))
    statements = [text for text in quoted if re.search(r"[^=!<>]=[^=]", text)]
    if hint.startswith(("declare", "or start", "start")):
        read = re.search(r"read `([^`]+)` for `([^`]+)`", hint)
        statements.append(wrong if read is None else wrong.replace(read[2], read[1]))
    if not statements:  # an access is written otherwise
        name = quoted[0].partition("[")[0]
        statements = [re.sub(rf"\b{name}(\[.*\]|\b(?!\[))(?=[^\]]*\]?$)", quoted[0], wrong)]
    return whole(f"{fields}\n{added}" if added else fields, *statements)


UNCLEAR = [
    (BATCH, "y[..., 1:] = x[..., 1:] - x[..., :-1]"),
    (BATCH, "y[..., i, j] = x[..., :3]"),
    (NK, "y[n, k] = x[n, :k + 1].sum()"),
    (NK, "y[n] = b[n - 1:n + 2].mean()"),
    (NK, "y[n] = b[:n].max()"),
    (NK, "y = x.argmax()"),
    (QK, "s[..., i, j] = q[..., i, e] @ k[..., j, f]"),
    (QK, "s[..., i, j] = q[..., i, j] @ k[..., i, j]"),
    (XW, "y = relu(w @ x)"),
    (XW, "y = x*b @ w"),
]


@pytest.mark.parametrize(("fields", "wrong"), UNCLEAR, ids=[wrong for _, wrong in UNCLEAR])
def test_no_line_is_proposed_where_it_is_not_clear_which(fields: str, wrong: str) -> None:
    (found,) = diagnosed(whole(fields, wrong))
    assert found.hints
    assert not [hint for hint in found.hints if hint.startswith("write")]


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
