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
QK = "inputs: {q: {shape: [..., L, E]}, k: {shape: [..., S, E]}}"
XW = "inputs: {x: {shape: [..., K]}, w: {shape: [K, N]}, v: {shape: [N, K]}, b: {shape: [N]}}"
HALF = "inputs: {x: {shape: [..., D]}}\ndims: {H: D//2}"
GRAPH = "inputs: {src: {shape: [E], dtype: int, domain: 0 <= src < N}, m: {shape: [E, D]}, x: {shape: [N, D]}}"
EDGES = "inputs: {src: {shape: [E], dtype: int}, m: {shape: [..., E, D]}}"
LAST = "inputs: {ids: {shape: [E], dtype: int, domain: 0 <= ids <= N - 1}, m: {shape: [E]}, x: {shape: [N]}}"
OPTIONAL = "inputs: {x: {shape: [N]}, b: {shape: [N], optional: true}}"
SEQUENCE = "inputs: {x: {shape: [..., T]}}\noutputs: [h]"
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
    (NK, "y = b[:, None]*x"),
    (NK, "y = x.argmax()"),
    (TWO, "y = a[t, :2]"),
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


# A spec with a mistake, what takes the place of what in it, each as a hint says it, and the outputs it has then.
SPECS = [
    (
        whole(SEQUENCE, "h[..., t] = h_prev[...]/2 + x[..., t]"),
        {"h_prev[...]": "h[..., t - 1]"},
        ["h"],
    ),
    (
        whole(SEQUENCE, "h[..., 0] = x[..., 0]", "h[..., t + 1] = h[..., t]/2 + x[..., t + 1]"),
        {
            "  h[..., 0] = x[..., 0]\n": "",
            "h[..., t + 1] = h[..., t]/2 + x[..., t + 1]": (
                "h[..., t] = where(t == 0, x[..., 0], h[..., t - 1] / 2 + x[..., t])"
            ),
        },
        ["h"],
    ),
    (
        whole(SEQUENCE, "h[..., -1] = 1", "h[..., t] = h[..., t + 1]/2 + x[..., t]"),
        {"h[..., -1] = 1": "h[..., T] = 1"},
        ["h"],
    ),
    (
        whole("inputs: {x: {shape: [..., T]}, w: {shape: [R]}}", "y[..., t] = sum[r](w[r]*x[..., t - r])"),
        {"x[..., t - r]": "pad(x[..., t - r], 0)", "y[..., t": "y[..., t < T"},
        ["y"],
    ),
    (
        whole("inputs: [x]\nparams: {b: float}\nfunctions: {f: 'lambda x: x*sigmoid(b*x)'}", "y = f(x)"),
        {"f: 'lambda x: x*sigmoid(b*x)'": "f(x): x*sigmoid(b*x)"},
        ["y"],
    ),
    (
        whole("inputs: [x]\nparams: {b: float}\nfunctions: {f: x*sigmoid(b*x)}", "y = f(x)"),
        {"f: x*sigmoid(b*x)": "f(x): x*sigmoid(b*x)"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N]}, w: {shape: [N], optional: true}}", "y[n] = x[n]*(w[n] or 1)"),
        {"(w[n] or 1)": "w[n]", "optional: true": "optional: true, absent: 1"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [..., D]}}", "a, b = x.chunk(2, dim=-1)", "y[..., d] = a[..., d]*b[..., d]"),
        {"a, b = x.chunk(2, dim=-1)": "a[..., d < D//2] = x[..., d]\n  b[..., d < D//2] = x[..., d + D//2]"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N, K]}}", "v, i = torch.min(x, dim=1)"),
        {"v, i = torch.min(x, dim=1)": "v[n] = min[k](x[n, k])\n  i[n] = argmin[k](x[n, k])"},
        ["v", "i"],
    ),
    (
        whole("inputs: {a: {shape: [..., N]}, b: {shape: [..., M]}}", "y = cat([a, b], -1)"),
        {"y = cat([a, b], -1)": "y[..., i < N + M] = where(i < N, a[..., i], b[..., i - N])"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [..., T]}}", "y[..., t] = cummin[t](x[..., t])"),
        {"y[..., t] = cummin[t](x[..., t])": "m[..., -1] = inf\n  m[..., t] = min(m[..., t - 1], x[..., t])"},
        ["m"],
    ),
    (
        whole("inputs: [x]\nparams: {mode: {choices: [a, b]}}", 'if mode == "a":', "  y = x", "else:", "  y = 2*x"),
        {
            'if mode == "a":\n    y = x': 'y = x if mode == "a"',
            "else:\n    y = 2*x": 'y = 2*x if not (mode == "a")',
        },
        ["y"],
    ),
    (
        whole("inputs: [a, b]\nbackward: |\n  return grad_y*b, grad_y*a", "y = a*b"),
        {"return grad_y*b, grad_y*a": "grad_a = grad_y*b\n  grad_b = grad_y*a"},
        ["y"],
    ),
    (
        whole("inputs: {t: {shape: [N], dtype: int}, m: {shape: [N]}}\nparams: {size: int}", "y[t[n]] += m[n]"),
        {"params": "dims: {M: size}\noutputs: {y: {shape: [M]}}\nparams"},
        ["y"],
    ),
    (
        whole("inputs: {image: {shape: [..., H, W]}}", "place[...] = argmax[h, w](image[..., h, w])"),
        {"argmax[h, w](image[..., h, w])": "argmax[k < H * W](image[..., k // W, k % W])"},
        ["place"],
    ),
    (
        whole("inputs: {z: {shape: [B, C, H, W]}}", "p[b] = 2*argmin[c < C, i, j](abs(z[b, c, i, j]))"),
        {
            "argmin[c < C, i, j](abs(z[b, c, i, j]))": (
                "argmin[k < C * H * W](abs(z[b, k // (H * W), k // W % H, k % W]))"
            )
        },
        ["p"],
    ),
    (
        whole("inputs: {x: {shape: [M, N]}}", "y[m, n] = cumsum[m, n](x[m, n])"),
        {"cumsum[m, n](x[m, n])": "cumsum[m](cumsum[n](x[m, n]))"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [..., N]}}", "d[..., i, i] = 1/x[..., i]"),
        {"d[..., i, i] = 1/x[..., i]": "d[..., i, j < N] = where(i == j, 1 / x[..., i], 0)"},
        ["d"],
    ),
    (
        whole("inputs: {x: {shape: [N]}}", "d[i, i, i] = x[i] > 0"),
        {"d[i, i, i] = x[i] > 0": "d[i, j < N, k < N] = where(i == j and i == k, x[i] > 0, false)"},
        ["d"],
    ),
    (
        whole("inputs: {x: {shape: [N]}}\noutputs: {d: {shape: [N, N]}}", "d[n, n] = 1"),
        {"d[n, n] = 1": "d[n, j] = where(n == j, 1, 0)"},
        ["d"],
    ),
    (
        whole(
            "inputs: {x: {shape: [..., T, D]}, mask: {shape: [..., T], dtype: bool}}",
            "n[...] = count[t](mask[..., t]) if given(mask)",
            "n[...] = T if not given(mask)",
            "y[..., d] = sum[t](where(mask[..., t], x[..., t, d], 0))/n[...]",
        ),
        {"dtype: bool": "dtype: bool, optional: true, absent: true"},
        ["y"],
    ),
    (
        whole(
            "inputs: {x: {shape: [N]}, b: {shape: [N]}}",
            "y[n] = x[n] + b[n] if given(b)",
            "y[n] = x[n] if not given(b)",
        ),
        {"b: {shape: [N]": "b: {shape: [N], optional: true"},
        ["y"],
    ),
    (
        whole(
            "inputs: [x]\nparams: {mode: {type: str, default: soft}}",
            'y = softplus(x) if mode == "soft"',
            'y = relu(x) if mode == "hard"',
        ),
        {"mode: {type: str, default: soft}": "mode: {choices: [soft, hard], default: soft}"},
        ["y"],
    ),
    *(
        (
            whole(f"inputs: [x]\nparams: {{flag: {{type: bool, default: {word}}}}}", "y = where(flag, x, -x)"),
            {word: meant},
            ["y"],
        )
        for word, meant in {"yes": "true", "on": "true", "no": "false", "Off": "false"}.items()
    ),
    (
        whole("inputs: {t: {shape: [N], dtype: int, domain: 0 <= labels < C}, x: {shape: [C]}}", "y[n] = x[t[n]]"),
        {"0 <= labels < C": "0 <= t < C"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N]}, m: {shape: [N], dtype: bool}}", "y[n] = x[n] if m[n]", "y[n] = 0 if not m[n]"),
        {"y[n] = x[n] if m[n]\n  y[n] = 0 if not m[n]": "y[n] = where(m[n], x[n], 0)"},
        ["y"],
    ),
    *(
        (whole(f"inputs: {{u: {{shape: [N], domain: {wrong}}}}}", "y[n] = 2*u[n]"), {wrong: right}, ["y"])
        for wrong, right in {
            '"(0, 1)"': "0 < u < 1",
            '"(0, 0.5]"': "0 < u <= 0.5",
            "[-1, 1]": "-1 <= u <= 1",
            '"[0, inf)"': "u >= 0",
        }.items()
    ),
    (
        whole("inputs: {z: {shape: [N], dtype: complex}}", "y[n] = real(z[n]*exp(-2j*pi*n/N))"),
        {"2j": "complex(0, 2)"},
        ["y"],
    ),
    (
        whole(
            "inputs: {x: {shape: [..., I]}, w: {shape: [O, I]}}\nmodule: {dims: {in_size: I, out_size: O}}",
            "y[..., o] = sum[i](x[..., i]*w[o, i])",
        ),
        {"{in_size: I, out_size: O}": "{I: in_size, O: out_size}"},
        ["y"],
    ),
    *(
        (
            whole(f"inputs: {{x: {{shape: [..., T]}}}}\nparams: {given}", f"y[..., q] = max[r < {size}](x[..., {at}])"),
            {"q": "q < Q", "forward:": f"dims: {{Q: {count}}}\nforward:"},
            ["y"],
        )
        for given, size, at, count in [
            (
                "{size: {type: int, domain: size > 0}, by: {type: int, domain: by > 0}}",
                "size",
                "q*by + r",
                "(T - size)//by + 1",
            ),
            ("{by: {type: int, domain: 1 <= by}}", "3", "by*q + 2*r + 1", "(T - 6)//by + 1"),
        ]
    ),
    *(
        (whole("inputs: {u: {shape: [N]}}", f"y[n] = 2*{wrong}"), {wrong: right}, ["y"])
        for wrong, right in {
            "cast(round(u[n]), int)": "int(round(u[n]))",
            "cast(u[n]/3, bfloat16)": "cast(u[n] / 3, u)",
        }.items()
    ),
    (
        whole(
            "inputs: {x: {shape: [..., T]}, v0: {shape: [...]}}",
            "v[..., 0] = v0[...]",
            "v[..., t + 1] = 0.9*v[..., t] + x[..., t]",
        ),
        {
            "v[..., 0] = v0[...]": "v[..., -1] = v0[...]",
            "v[..., t + 1] = 0.9*v[..., t] + x[..., t]": "v[..., t] = 0.9 * v[..., t - 1] + x[..., t]",
        },
        ["v"],
    ),
    (
        whole("inputs: {x: {shape: [..., K]}}", "y[...] = sum[k](x[..., k])/k"),
        {"/k": "/K"},
        ["y"],
    ),
]


@pytest.mark.parametrize(("text", "cure", "outputs"), SPECS)
def test_a_spec_with_what_the_one_message_says_is_what_was_meant(
    text: str, cure: dict[str, str], outputs: list[str]
) -> None:
    (found,) = diagnosed(text)
    said = re.findall(r"`([^`]+)`", " ".join(found.hints))
    for old, new in cure.items():
        added = new.removesuffix(old.strip()).removeprefix(old).strip(" ,/\n")
        assert all(any(line.strip() in part for part in said) for line in added.splitlines()), (added, said)
        text = text.replace(old, new, 1)
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    operator = lower(spec, bag) if spec is not None else None
    assert bag.items == (), text
    assert operator is not None
    assert list(operator.outputs) == outputs
