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
