"""What people write by the habits of other tools, with what its one message says in it, builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, whole

SPECS = [
    (
        whole("inputs: {a: {shape: [M, N]}}", "y(m) = sum[n](a(m, n))"),
        {"y(m) = sum[n](a(m, n))": "y[m] = sum[n](a[m, n])"},
    ),
    (
        whole("inputs: {a: {shape: [B, I, J]}, b: {shape: [B, J, K]}}", "bij,bjk->bik"),
        {"bij,bjk->bik": "out[m, i, k] = sum[j](a[m, i, j]*b[m, j, k])"},
    ),
    (whole("inputs: {x: {shape: [N]}}\noutputs: {y: float32}", "y[n] = 2*x[n]"), {"y: float32": "y: {dtype: float32}"}),
    (
        whole("inputs: {x: {shape: [N]}}", "y[n] = 2*x[n]") + "tests: {N: 5}\n",
        {"tests: {N: 5}": "tests: {sizes: {N: 5}}"},
    ),
    (whole("inputs: [x]\nparams: {k: {type: int, value: 3}}", "y = k*x"), {"value": "default"}),
    (whole("inputs: {x: {shape: [_, D]}}", "y[n, d] = 2*x[n, d]"), {"_": "N"}),
    (whole("inputs: {a: {shape: [M, N]}}", "y[m] = exp(a(m, 0))"), {"a(m, 0)": "a[m, 0]"}),
    (
        whole("inputs: {x: {shape: [..., K]}, w: {shape: [K]}}", "y[..., k] = w[k]*x[..., k]")
        + "module: {parameters: {weight: ones}}\n",
        {"weight": "w"},
    ),
]
GRAPH = "inputs: {x: {shape: [N, D]}, src: {shape: [E], dtype: int}, dst: {shape: [E], dtype: int}}"
SPECS += [
    (
        whole(GRAPH, "y = torch.zeros_like(x).index_add(0, dst, x[src])"),
        {
            "y = torch.zeros_like(x).index_add(0, dst, x[src])": "y[dst[e], d] += x[src[e], d]",
            "forward:": "outputs: {y: {shape: [N, D]}}\nforward:",
        },
    ),
    (
        whole(GRAPH, "y[dst[e], d] += x[src[e], d]"),
        {"forward:": "outputs: {y: {shape: [N, D]}}\nforward:"},
    ),
    (
        whole("inputs: {x: {shape: [L]}, w: {shape: [K]}}", "y[t < L - K + 2] = sum[k](x[t + k]*w[k])"),
        {"t < L - K + 2": "t < L + 1 - K"},
    ),
]

NC = "inputs: {x: {shape: [N, C]}, t: {shape: [N], dtype: int}}"
TWO = "inputs: {x: {shape: [B, D]}, t: {shape: [B, D]}}"
QKV = "inputs: {q: {shape: [B, T, D]}, k: {shape: [B, S, D]}, v: {shape: [B, S, D]}}"
PAIRS = "inputs: {x: {shape: [N, D]}, z: {shape: [M, D]}, w: {shape: [N]}}"
SPLIT = "inputs: {x: {shape: [B, T, D]}}\nparams: {heads: int}"
IMAGE = "inputs: {x: {shape: [B, C, H, W]}}"
NAMED = "log_softmax_x[n, c] = log_softmax[c](x[n, c])"

# Inputs, a statement of other libraries, and the statements that its message says, one of them the last.
STATEMENTS = [
    (TWO, "y = mse_loss(x, t)", ["y = mean[b, d]((x[b, d] - t[b, d])**2)"]),
    (TWO, "y = F.mse_loss(x, t, reduction='none')", ["y[b, d] = (x[b, d] - t[b, d])**2"]),
    (TWO, "y = mean[...](l1_loss(x, t))", ["y = mean[b, d](abs(x[b, d] - t[b, d]))"]),
    (
        TWO,
        "y = layer_norm(x, (D,), eps=1e-3)",
        ["y[b, d] = (x[b, d] - mean[d](x[b, d])) * rsqrt(var[d](x[b, d]) + 0.001)"],
    ),
    (TWO, "y = F.leaky_relu(x, negative_slope=0.2)", ["y[b, d] = where(x[b, d] > 0, x[b, d], 0.2 * x[b, d])"]),
    (TWO, "y = softplus(x, beta=2)", ["y[b, d] = softplus(2 * x[b, d]) / 2"]),
    (TWO, "y = clip(x, a_min=0, a_max=1)", ["y[b, d] = clamp(x[b, d], 0, 1)"]),
    (
        TWO,
        "y = cosine_similarity(x, t)",
        ["y[b] = sum[d](x[b, d] * t[b, d]) / max(norm[d](x[b, d]) * norm[d](t[b, d]), 1e-8)"],
    ),
    (
        TWO,
        "y[b, d] = max(x[b, d] if x[b, d] > t[b, d] else 0, 1)",
        ["y[b, d] = max(where(x[b, d] > t[b, d], x[b, d], 0), 1)"],
    ),
    (TWO, "y = softmax(x.float(), dim=-1).to(x.dtype)", ["y[b, d] = softmax[d](x[b, d])"]),
    (TWO, "y = softmax[d](x[b, d].to(torch.float32))", ["y[b, d] = softmax[d](x[b, d])"]),
    (TWO, "y = (x > t).float()", ["y[b, d] = where(x[b, d] > t[b, d], 1.0, 0.0)"]),
    (NC, "y = -mean[n](log_softmax[c](x[n, c])[t[n]])", [NAMED, "y = -mean[n](log_softmax_x[n, t[n]])"]),
    (NC, "y = -F.log_softmax(x, dim=-1)[torch.arange(N), t].mean()", [NAMED, "y = -mean[n](log_softmax_x[n, t[n]])"]),
    (NC, "y = F.cross_entropy(x, t)", [NAMED, "y = -mean[n](log_softmax_x[n, t[n]])"]),
    (QKV, "y = q[:, -1, :]", ["y[b, d] = q[b, T - 1, d]"]),
    (TWO, "y = torch.where(x > t, x, torch.zeros_like(x))", ["y[b, d] = where(x[b, d] > t[b, d], x[b, d], 0)"]),
    (
        TWO,
        "y = smooth_l1_loss(x, t, beta=2)",
        [
            "y = mean[b, d](where(abs(x[b, d] - t[b, d]) < 2, 0.5 * (x[b, d] - t[b, d])**2 / 2, "
            "abs(x[b, d] - t[b, d]) - 0.5 * 2))"
        ],
    ),
    (NC, "y = x[range(N), t]", ["y[n] = x[n, t[n]]"]),
    (NC, "y = x[t]", ["y[n, c] = x[t[n], c]"]),
    (NC, "y = x.transpose(0, 1)*2", ["y[c, n] = x[n, c] * 2"]),
    (QKV, "y = q.permute(0, 2, 1)", ["y[b, d, t] = q[b, t, d]"]),
    (PAIRS, "y = ((x[:, None, :] - z[None, :, :])**2).sum(-1)", ["y[n, m] = sum[d]((x[n, d] - z[m, d])**2)"]),
    (PAIRS, "y = (x[:, None] - x[None]).norm(dim=-1)", ["y[n, m] = norm[d](x[n, d] - x[m, d])"]),
    (PAIRS, "y = x.unsqueeze(1) - z.unsqueeze(0)", ["y[n, m, d] = x[n, d] - z[m, d]"]),
    (PAIRS, "y = x*w[:, None]", ["y[n, d] = x[n, d] * w[n]"]),
    (
        SPLIT,
        "y = rearrange(x, 'b t (h d) -> b h t d', h=heads)",
        ["y[b, h < heads, t, d < D // heads] = x[b, t, h * (D // heads) + d]"],
    ),
    (
        SPLIT,
        "y = x.view(B, T, heads, D//heads).transpose(1, 2)",
        ["y[b, h < heads, t, d < D // heads] = x[b, t, h * (D // heads) + d]"],
    ),
    (SPLIT.partition("\n")[0], "y = x.reshape(-1, D)*2", ["y[b < B * T, d] = x[b // T, b % T, d] * 2"]),
    (IMAGE, "y = x.reshape(B, C, H*W).permute(0, 2, 1)", ["y[b, h < H * W, c] = x[b, c, h // W, h % W]"]),
    (IMAGE, "y = rearrange(x, 'b c h w -> b (c h) w')", ["y[b, c < C * H, w] = x[b, c // H, c % H, w]"]),
    (IMAGE, "y = reduce(x, 'b c h w -> b c', 'mean')", ["y[b, c] = mean[h, w](x[b, c, h, w])"]),
    (
        IMAGE,
        "y = rearrange(x, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1=4, p2=4)",
        [
            "y[b, h < (H // 4) * (W // 4), p1 < 4 * 4 * C] = "
            "x[b, p1 % C, (h // (W // 4)) * 4 + p1 // (4 * C), (h % (W // 4)) * 4 + (p1 // C) % 4]"
        ],
    ),
    (
        QKV,
        "y = softmax(q @ k.mT / sqrt(D), -1) @ v",
        ["y[b, t, d] = sum[s](softmax[s](sum[d](q[b, t, d] * k[b, s, d]) / sqrt(D)) * v[b, s, d])"],
    ),
    (
        QKV,
        "y = scaled_dot_product_attention(q, k, v)",
        ["y[b, t, d] = sum[s](softmax[s](sum[d](q[b, t, d] * k[b, s, d]) / sqrt(D)) * v[b, s, d])"],
    ),
]


@pytest.mark.parametrize(("inputs", "wrong", "right"), STATEMENTS, ids=[wrong for _, wrong, _ in STATEMENTS])
def test_what_other_libraries_write_is_written_out(inputs: str, wrong: str, right: list[str]) -> None:
    (found,) = diagnosed(whole(inputs, wrong))
    assert all(f"`{line}`" in " ".join(found.hints) for line in right), found.hints
    built(whole(inputs, *right))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        (r"\frac{1}{N} \sum_{i=1}^{N} x_i^2", "1/N*sum[i](x[i]**2)"),
        (r"\sum_i x_i w_i", "sum[i](x[i]*w[i])"),
        (r"\exp(-\frac{s^2}{2 \sigma^2})", "exp(-(s**2)/(2*sigma**2))"),
        (r"\sqrt{\sum_i x_i^2}", "sqrt(sum[i](x[i]**2))"),
        (r"\sum_i x_i \log x_i", "sum[i](x[i]*log(x[i]))"),
    ],
)
def test_a_formula_of_latex_is_translated(wrong: str, right: str) -> None:
    fields = "inputs: {x: {shape: [N]}, w: {shape: [N]}}\nparams: {s: float, sigma: float}"
    (found, *_) = diagnosed(whole(fields, f"y = {wrong}"))
    assert found.hints == (f"write `{right}`",)
    built(whole(fields, f"y = {right}"))


def test_what_goes_on_from_itself_is_read_along_time() -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [B, T]}}", "y[b, t] = 0.5*y[b, t] + x[b, t]"))
    assert "`y[b, t - 1]`" in found.hints[0]


def test_a_tensor_that_is_made_of_itself_keeps_its_name_where_both_lines_are_foreign() -> None:
    statements = ["p = q @ k.mT", "p = p.softmax(dim=-1)", "y = p @ v"]
    hints = [hint for d in diagnosed(whole(QKV, *statements)) for hint in d.hints]
    lines = ["p1[b, t, s] = sum[d](q[b, t, d] * k[b, s, d])", "p[b, t, s] = softmax[s](p1[b, t, s])"]
    assert f"each value has a name of its own: write `{lines[0]}` and `{lines[1]}`" in hints
    assert hints[-1] == "write `y[b, t, d] = sum[s](p[b, t, s] * v[b, s, d])`"
    built(whole(QKV, *lines, "y[b, t, d] = sum[s](p[b, t, s] * v[b, s, d])"))


def test_what_is_unclear_is_not_written_out() -> None:
    inputs = "inputs: {x: {shape: [M, D]}, q: {shape: [N, D]}}"
    (found, *_) = diagnosed(whole(inputs, "y = interpolate(x, q)"))
    assert not [hint for hint in found.hints if hint.startswith("write `y")]


@pytest.mark.parametrize(("text", "cure"), SPECS)
def test_what_is_proposed_builds(text: str, cure: dict[str, str]) -> None:
    follow(text, cure)
