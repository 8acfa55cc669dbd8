"""What is said of what stands around formulas, done at once: the spec builds and is what was meant."""

from __future__ import annotations

import re

import pytest

from opgen.ir.text import shape as text_of
from tests.diagnostics.cures import built, diagnosed, whole

QKV = "inputs: {Q: {shape: [L, E]}, K: {shape: [S, E]}, V: {shape: [S, D]}}"
EDGES = "inputs: {x: {shape: [V, D]}, src: {shape: [E], dtype: int, domain: 0 <= src < V}}"
CONV = "inputs: {x: {shape: [N, L]}, w: {shape: [K]}}"
PAIRS = "inputs: {u: {shape: [B, D]}, p: {shape: [B, D]}}"

# A spec with mistakes, what takes the place of what everywhere in it, and the shapes of what it returns then.
SPECS = [
    (
        whole(QKV, "A[i, j] = softmax[j](sum[e](Q[i, e]*K[j, e]))", "Y[i, d] = sum[j](A[i, j]*V[j, d])"),
        {r"\bQ\b": "q", r"\bK\b": "k", r"\bV\b": "v", r"\bA\b": "a", r"\bY\b": "y"},
        ["[L, D]"],
    ),
    (
        whole("inputs: {x: {shape: [T]}}\nparams: {W: int}", "y[t < T] = mean[r < W](pad(x[t + r - W//2], 0))"),
        {r"\bW\b": "w"},
        ["[T]"],
    ),
    (
        whole("inputs: {x: {shape: [N, D]}}", "D[n] = max[d](abs(x[n, d]))", "y[n, d] = x[n, d]/D[n]"),
        {r"\bD\[": "d2["},
        ["[N, D]"],
    ),
    (
        whole(CONV + "\ndims: {out_len: L - K + 1}", "y[n, p < out_len] = sum[k](x[n, p + k]*w[k])"),
        {"out_len": "OutLen"},
        ["[N, OutLen]"],
    ),
    (
        whole(CONV + "\noutputs: {y: {shape: [N, L - K + 1]}}", "y[n, p] = sum[k](x[n, p + k]*w[k])"),
        {r"L - K \+ 1\]": "P]", "outputs:": "dims: {P: L - K + 1}\noutputs:"},
        ["[N, P]"],
    ),
    (
        whole(EDGES + "\noutputs: {y: {shape: [D, E]}}", "y[e, d] = x[src[e], d]"),
        {r"y: \{shape: \[D, E\]\}": "y: {shape: [E, D]}"},
        ["[E, D]"],
    ),
    (
        whole(EDGES + "\noutputs: {y: {shape: [D, E]}}", "y[e, d] = x[src[e], d]"),
        {r"y\[e, d\]": "y[d, e]"},
        ["[D, E]"],
    ),
    (
        whole(PAIRS, "pos[b] = sum[d](u[b, d]*p[b, d])", "loss = mean[b](pos_score[b])"),
        {"pos_score": "pos"},
        ["[]"],
    ),
    (
        whole("inputs: {x: {shape: [N, 2]}}\noutputs: {y: {shape: [N, 2]}}", "y[n, 1] = x[n, 0]", "y[n, 2] = 0"),
        {r"y\[n, 1\]": "y[n, 0]", r"y\[n, 2\]": "y[n, 1]"},
        ["[N, 2]"],
    ),
    (
        whole("inputs: [x]\nparams: {k: {type: int, default: 2.0}}", "y = x**k"),
        {r"2\.0": "2"},
        ["[...]"],
    ),
    (
        whole("inputs: [x]\nparams: [lo, hi]", "y = clamp(x, lo, hi)"),
        {r"\[lo, hi\]": "{lo: float, hi: float}"},
        ["[...]"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cure", "shapes"), SPECS, ids=range(len(SPECS)))
def test_what_is_said_builds_and_is_what_was_meant(text: str, cure: dict[str, str], shapes: list[str]) -> None:
    said = " ".join(hint for d in diagnosed(text) for hint in d.hints)
    for pattern, new in cure.items():
        assert all(part.strip(" ,[]{}") in said for part in re.split(r"\n\w+:|, (?=hi)", new)), (new, said)
        text = re.sub(pattern, new, text)
    operator = built(text)
    assert [text_of(o.shape) for o in operator.variants[0].program.outputs] == shapes


@pytest.mark.parametrize("written", ["h[n]: 2*x[n]", "- h[n] = 2*x[n]"])
def test_statements_in_another_form_are_written_out_as_lines(written: str) -> None:
    last = written.replace("h[n]", "y[n]").replace("x", "h")
    text = f"op: cured\ninputs: {{x: {{shape: [N]}}}}\nforward:\n  {written}\n  {last}\n"
    (found,) = diagnosed(text)
    said = re.findall(r"`([^`]+)`", found.hints[0])
    assert said[-2:] == ["h[n] = 2*x[n]", "y[n] = 2*h[n]"]
    built(whole("inputs: {x: {shape: [N]}}", *said[-2:]))
