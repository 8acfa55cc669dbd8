"""What somebody new writes, with what its one message says in it, builds and is what was meant."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, follow, whole

IDS = "inputs: {x: {shape: [N, D]}, ids: {shape: [N], dtype: int}}"
LOGITS = "inputs: {x: {shape: [N, C]}, t: {shape: [N], dtype: int}}"

# A spec with a mistake, what takes the place of what in it, each as a hint says it, and the outputs it has then.
SPECS = [
    (
        whole("inputs: {x: {shape: [L, E]}}", "s[i] = sum[e](x[i, e]*x[j, e])", "y[i] = sum[j](max(s[i, j], 0))"),
        {"s[i]": "s[i, j]"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [..., N, D]}}", "e[...] = max[d](x[..., n, d])", "y[...] = sum[n](e[..., n])"),
        {"e[...]": "e[..., n]"},
        ["y"],
    ),
    (
        whole(IDS, "h[n, d] = exp(x[n, d])", "y[ids[n], d] += h[ids[n], d]"),
        {"forward:": "outputs: {y: {shape: [N, D]}}\nforward:"},
        ["y"],
    ),
    (
        whole(IDS, "y[n, d] = x[n, d]", "y[ids[n], d] = 2*x[n, d]"),
        {"y[ids[n], d] = 2*x[n, d]": "y[ids[n], d] += 2 * x[n, d]"},
        ["y"],
    ),
    (
        whole("inputs: [x]", "y = cast(x, float16)"),
        {"cast(x, float16)": "x", "forward:": "outputs: {y: {dtype: half}}\nforward:"},
        ["y"],
    ),
    (
        whole("inputs: [x]", "y = cast(x, bfloat16)"),
        {"cast(x, bfloat16)": "x", "forward:": "outputs: {y: {dtype: bfloat16}}\nforward:"},
        ["y"],
    ),
    (whole("inputs: {x: {shape: [N, D]}}", "y[n, d] = max[d](x[n, d])"), {"y[n, d] =": "y[n] ="}, ["y"]),
    (
        whole("inputs: {t: {shape: [N], dtype: int}}", "y[n, c] = where(c == t[n], 1, 0)"),
        {"forward:": "params: {num_c: int}\nforward:", "c]": "c < num_c]"},
        ["y"],
    ),
    (
        whole("inputs: {t: {shape: [N]}}\nparams: {topic: int}", "y[n, c] = cos(c*t[n])"),
        {"c]": "c < topic]"},
        ["y"],
    ),
    (whole("inputs: [x]", "y = x").replace("op: cured", "op: cured-op"), {"cured-op": "cured_op"}, ["y"]),
    (
        whole(LOGITS, "y = -mean[n](log_softmax[t[n]](x[n, t[n]]))"),
        {
            "y = -mean[n](log_softmax[t[n]](x[n, t[n]]))": "log_softmax_x[n, c] = log_softmax[c](x[n, c])\n"
            "  y = -mean[n](log_softmax_x[n, t[n]])"
        },
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [B, T, D]}, m: {shape: [B, T]}}", "y[b, d] = x[b, argmax(m[b, :]), d]"),
        {"argmax(m[b, :])": "argmax[t](m[b, t])"},
        ["y"],
    ),
    (
        whole(
            "inputs: {e: {shape: [V, D]}, h: {shape: [B], dtype: int}, t: {shape: [B], dtype: int}}",
            "y[b] = -norm(e[h[b]] - e[t[b]], p=2)",
        ),
        {"norm(e[h[b]] - e[t[b]], p=2)": "norm[d](e[h[b], d] - e[t[b], d])"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [T]}, w: {shape: [K]}}\nparams: {q: int}", "y[t] = sum[k](x[t - q*k]*w[k])"),
        {"x[t - q*k]": "pad(x[t - q*k], 0)", "y[t": "y[t < T"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [B, T]}}", "y[b, t//2] = max(x[b, t], x[b, t + 1])"),
        {"y[b, t//2] = max(x[b, t], x[b, t + 1])": "y[b, t < T // 2] = max(x[b, 2 * t], x[b, 2 * t + 1])"},
        ["y"],
    ),
    (whole("inputs: [x]", "y = min[max(x, 0), 6]"), {"min[max(x, 0), 6]": "min(max(x, 0), 6)"}, ["y"]),
    (
        whole("inputs: {x: {shape: [N]}, seed: {dtype: seed}}", "y[n] = x[n]*bernoulli(seed, 0.5)"),
        {"x[n]*bernoulli(seed, 0.5)": "x[n] * (uniform(seed) < 0.5)"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N]}, mu: {shape: [K]}}", "y = sum[n](max[k](mu[k] - x[n]*mu[n]))"),
        {"mu[n]": "mu[k]"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N]}}", "m = max[n](x[n])", "y[n] = x[n] - m") + "outputs: [m, y[n]]\n",
        {"outputs: [m, y[n]]": "outputs: [m, y]"},
        ["m", "y"],
    ),
    (
        "op: cured\ninputs: [x]\nforward: y = x > 0 ? x : 0.01*x\n",
        {"y = x > 0 ? x : 0.01*x": "y = where(x > 0, x, 0.01*x)"},
        ["y"],
    ),
    (
        whole("inputs: {t: {shape: [N], dtype: int, domain: 't in [0, V)'}, w: {shape: [V]}}", "y[n] = w[t[n]]"),
        {"'t in [0, V)'": "0 <= t < V"},
        ["y"],
    ),
    (
        whole(
            "inputs: {x: {shape: [B, T, H*E]}}\nparams: {heads: {type: int, domain: heads > 0}}\ndims: {H: heads}",
            "y[b, h, t, e] = x[b, t, h*E + e]",
        ),
        {"H*E": "C", "H: heads": "H: heads, C: H*E", "y[b, h": "y[b, h < H", "t, e": "t, e < E"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N, G*D]}, w: {shape: [D]}}", "y[n, g, d] = x[n, g*D + d]*w[d]"),
        {"G*D": "C", "forward:": "dims: {C: G*D}\nforward:", "y[n, g": "y[n, g < G"},
        ["y"],
    ),
    (whole("inputs: [x]\nparams: {a: {type: float, default 2}}", "y = a*x"), {"default 2": "default: 2"}, ["y"]),
    (
        whole("inputs: {x: {shape: [N], doc: logits: all of them}}", "y = sum[n](x[n])"),
        {"doc: logits: all of them": 'doc: "logits: all of them"'},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N], dtype: float doc: logits}}", "y = sum[n](x[n])"),
        {"float doc": "float, doc"},
        ["y"],
    ),
]


@pytest.mark.parametrize(("text", "cure", "outputs"), SPECS)
def test_a_spec_with_what_the_one_message_says_is_what_was_meant(
    text: str, cure: dict[str, str], outputs: list[str]
) -> None:
    assert list(follow(text, cure).outputs) == outputs


def test_inputs_that_are_called_like_fields_are_inputs() -> None:
    names = ("params", "outputs", "dims", "module")
    fields = "inputs:\n  params: {shape: [K]}\n  outputs: {shape: [K], doc: results}\n  dims: {}\n  module:"
    made = built(whole(fields, "y[..., k] = params[k]*outputs[k]*dims*module"))
    assert tuple(t.name for t in made.inputs) == names
