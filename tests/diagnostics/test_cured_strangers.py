"""What strangers write who know other tools: what its one message says, in its place, builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import follow, whole

POOL = (
    "inputs: {x: {shape: [V, D]}, batch: {shape: [V], dtype: int, domain: batch >= 0}}\n"
    "params: {count: int}\ndims: {G: count}"
)

CACHE = (
    "inputs:\n  cache: {shape: [S, D]}\n  at: {shape: [T], dtype: int, domain: 0 <= at < S}\n"
    "  pos: {shape: [], dtype: int, domain: 0 <= pos < S}\n  k: {shape: [T, D]}\n  r: {shape: [D]}"
)

SPECS = [
    (
        whole(CACHE, "out[s, d] = cache[s, d]", "out[at[t], d] = k[t, d]"),
        {"out[at[t], d] = k[t, d]": "out[at[t], d] += k[t, d] - cache[at[t], d]"},
    ),
    (
        whole(CACHE, "cache[at[t], d] = k[t, d]"),
        {"cache[at[t], d] = k[t, d]": "y[s, d] = cache[s, d]\n  y[at[t], d] += k[t, d] - cache[at[t], d]"},
    ),
    (
        whole("inputs: {x: {shape: [M, K]}, z: {shape: [N, K]}}", "d[i, j] = sum[k](abs(x[:, None, k]*z[None, :, k]))"),
        {"sum[k](abs(x[:, None, k]*z[None, :, k]))": "sum[k](abs(x[i, k] * z[j, k]))"},
    ),
    (
        whole("inputs: {x: {shape: [M, K]}, z: {shape: [N, K]}}", "d[i, j, k] = x[:, None] - z[None]"),
        {"x[:, None] - z[None]": "x[i, k] - z[j, k]"},
    ),
    (
        whole(CACHE, "cache[pos, d] = r[d]"),
        {"cache[pos, d] = r[d]": "y[s, d] = where(s == pos, r[d], cache[s, d])"},
    ),
    (
        whole(CACHE, "out[s, d] = cache[s, d]", "out[pos + 1, d] = r[d]"),
        {"out[s, d] = cache[s, d]\n  out[pos + 1, d] = r[d]": "out[s, d] = where(s == pos + 1, r[d], cache[s, d])"},
    ),
    (
        whole(f"{POOL}\noutputs: {{y: {{shape: [G, D]}}}}", "y = scatter_add(x, batch, dim=0)"),
        {"y = scatter_add(x, batch, dim=0)": "y[batch[v], d] += x[v, d]"},
    ),
    (
        whole(POOL, "y = global_max_pool(x, batch)"),
        {"y = global_max_pool(x, batch)": "y[g < G, d < D] = -inf\n  y[batch[v], d] max= x[v, d]"},
    ),
    (
        whole("inputs: {a: {shape: [N, E]}}\nparams: {k: {type: int, default: 2}}", "v[n, j], i[n, j] = topk(a[n], k)"),
        {
            "v[n, j], i[n, j] = topk(a[n], k)": "order[n, e] = argsort[e](-a[n, e])\n"
            "  v[n, j < k] = a[n, order[n, j]]\n  i[n, j < k] = order[n, j]"
        },
    ),
    *(
        (whole("inputs: {x: {shape: [B, I]}}\nparams: {n: {type: int, domain: n > 0}}", *lines), {wrong: right})
        for lines, wrong, right in (
            (["o[b, k] = argsort[k](x[b, k])", "y[b, j < n] = x[b, o[b, I - j]]"], "o[b, I - j]", "o[b, I - 1 - j]"),
            (["y[b, j < n] = x[b, -j + I]"], "x[b, -j + I]", "x[b, -j + I - 1]"),
        )
    ),
    (
        whole("inputs: {x: {shape: [N, D]}, w: {shape: [D]}}", "h = x*w", "h = relu(h)", "h = h/(1 + abs(h))"),
        {
            "h = x*w\n  h = relu(h)\n  h = h/(1 + abs(h))": "h1[n, d] = x[n, d] * w[d]\n"
            "  h2[n, d] = relu(h1[n, d])\n  h[n, d] = h2[n, d] / (1 + abs(h2[n, d]))"
        },
    ),
    *(
        (
            whole("inputs: {c: {shape: [E]}, r: {shape: [E]}, r0: {shape: [E]}}\nparams: {k: float}", wrong),
            {wrong: right},
        )
        for wrong, right in (
            (r"y = 2 k \sum_e (r_e - r0_e)^2", "y = 2*k*sum[e]((r[e] - r0[e])**2)"),
            (r"y = k \sum_e c_e \sqrt{r_e}", "y = k*sum[e](c[e]*sqrt(r[e]))"),
            (
                r"y = -\sum_e c_e \log r_e - \sum_e r0_e \log c_e",
                "y = -sum[e](c[e]*log(r[e])) - sum[e](r0[e]*log(c[e]))",
            ),
        )
    ),
    *(
        (whole("inputs: {a: {shape: [R, K]}, b: {shape: [N, R]}}", f"y[n] = {wrong}"), {wrong: right})
        for wrong, right in (
            ("2*sum[k](a[r, k])*b[n, r]", "2 * sum[r](sum[k](a[r, k]) * b[n, r])"),
            ("b[n, r]*sum[k](a[r, k]) + 1", "sum[r](b[n, r] * sum[k](a[r, k])) + 1"),
            ("exp(b[n, r] + sum[k](a[r, k]))", "exp(sum[r](b[n, r] + sum[k](a[r, k])))"),
        )
    ),
    *(
        (whole("inputs: {x: {shape: [..., D]}}", f"y[...] = {wrong}(x[..., d])"), {f"{wrong}(x[..., d])": right})
        for wrong, right in (
            ("sum[1 <= d < D]", "sum[d < D](where(d >= 1, x[..., d], 0))"),
            ("max[1 <= d]", "max[d](where(d >= 1, x[..., d], -inf))"),
            ("sum[0 < d <= D - 2]", "sum[d](where(0 < d <= D - 2, x[..., d], 0))"),
            ("sum[D > d]", "sum[d < D](x[..., d])"),
        )
    ),
]


@pytest.mark.parametrize(("text", "cure"), SPECS)
def test_what_is_proposed_builds(text: str, cure: dict[str, str]) -> None:
    follow(text, cure)
