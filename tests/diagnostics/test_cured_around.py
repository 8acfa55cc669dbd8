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
        whole("inputs: {x: {shape: [E]}, to: {shape: [E], dtype: int, domain: 0 <= to < S}}\nparams: {S: int}",
              "y[s < S] = 0", "y[to[e]] += x[e]"),
        {r"\bS\b": "num_s"},
        ["[num_s]"],
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


LINEAR = "inputs: {x: {shape: [..., K]}, w: {shape: [N, K]}, b: {shape: [N], optional: true}}"
PROJECT = "inputs: {x: {shape: [..., K]}, w: {shape: [N, K]}}"
TO_NODES = "inputs: {x: {shape: [E]}, to: {shape: [E], dtype: int, domain: 0 <= to < V}, z: {shape: [V]}}"
MODES = "inputs: [x]\nparams: {mode: {choices: [one, two]}}"
EMBED = "inputs: {ids: {shape: [N], dtype: int, domain: 0 <= ids < V}, table: {shape: [V, D]}}"

# A spec with a mistake, and what takes the place of what in it, as its one message says it.
PLAIN = [
    ("op: f\ninputs:\n  x: {shape: [N, D}\nforward: y[n] = sum[d](x[n, d])\n", {"[N, D}": "[N, D]}"}),
    ("op: f\ninputs:\n  x: {shape: [N]\n  z: {shape: [N]}\nforward: y[n] = x[n] + z[n]\n", {"[N]\n": "[N]}\n"}),
    ("op: f\ninputs: {x: {shape:[N]}}\nforward: y[n] = x[n]\n", {"shape:[N]": "shape: [N]"}),
    ("op: f\nsummary: one: two\ninputs: [x]\nforward: y = x\n", {"one: two": '"one: two"'}),
    ("op: f\nsummary: 'one\ninputs: [x]\nforward: y = x\n", {"'one": "'one'"}),
    ("op: f\n summary: one\ninputs: [x]\nforward: y = x\n", {" summary": "summary"}),
    ("op: f\ninputs:\n  x:\n    shape: [N]\n   dtype: float\nforward: y[n] = x[n]\n", {"   dtype": "    dtype"}),
    ("op: f\ninputs:\n  x: {shape: [N]}\n   z: {shape: [N]}\nforward: y[n] = x[n] + z[n]\n", {"   z": "  z"}),
    ("op: f\ninputs:\nx: {shape: [N]}\nforward: y[n] = x[n]\n", {"\nx:": "\n  x:"}),
    ("f:\n  inputs: [x]\n  forward: y = x\n", {"f:\n": "op: f\n", "  inputs": "inputs", "  forward": "forward"}),
    ("op: f\ninputs: [x]\nrun: y = x\n", {"run": "forward"}),
    ("op: f\ninputs: {x: {shape: N x D}}\nforward: y[n] = sum[d](x[n, d])\n", {"N x D": "[N, D]"}),
    (
        whole(LINEAR, "y[..., n] = sum[k](x[..., k]*w[n, k])", "y[..., n] = y[..., n] + b[n] if given(b)"),
        {
            "y[..., n] = sum[k](x[..., k]*w[n, k])": "y1[..., n] = sum[k](x[..., k] * w[n, k])",
            "y[..., n] = y[..., n] + b[n] if given(b)": "y[..., n] = y1[..., n] + b[n] if given(b)\n"
            "  y[..., n] = y1[..., n] if not given(b)",
        },
    ),
    (
        whole(
            "inputs: [x]\nparams: {a: {type: bool, default: false}, b: {type: bool, default: false}}",
            "y = x if a", "y = 2*x if b", "y = 3*x if not a and not b",
        ),
        {"if b": "if b and not a"},
    ),
    (
        whole(MODES, 'y = x if mode == "one"', 'y = 2*x if mode == "last"'),
        {'"last"': '"two"'},
    ),
    (
        whole("inputs: [x]\nparams: {on: {choices: [true, false]}}", "y = where(on, x, 0)"),
        {"choices: [true, false]": "type: bool"},
    ),
    (
        whole(PROJECT + "\noutputs: {y: {shape: [N]}}", "y[..., n] = sum[k](x[..., k]*w[n, k])"),
        {"y: {shape: [N]}": "y: {shape: [..., N]}"},
    ),
    (
        whole(PROJECT + "\noutputs: {y: {shape: [..., M]}}", "y[..., n] = sum[k](x[..., k]*w[n, k])"),
        {"y: {shape: [..., M]}": "y: {shape: [..., N]}"},
    ),
    (
        whole("inputs: {x: {shape: [..., D]}, g: {shape: [B, D]}}", "y[..., d] = x[..., d]*g[b, d]"),
        {"g: {shape: [B, D]}": "g: {shape: [..., D]}", "g[b, d]": "g[..., d]"},
    ),
    (
        whole("inputs: {a: {shape: [N, 3]}}\nparams: {w: [float, float, float]}", "y[n] = sum[c](w[c]*a[n, c])"),
        {"inputs: {": "inputs: {w: {shape: [3]}, ", "params: {w: [float, float, float]}\n": ""},
    ),
    (whole("inputs:\n  x: float32[N, D]", "y[n] = sum[d](x[n, d])"), {"float32[N, D]": "{shape: [N, D]}"}),
    (whole("inputs: {x: int64[N, D]}", "y[n] = sum[d](x[n, d])"), {"int64[N, D]": "{shape: [N, D], dtype: int}"}),
    (whole('inputs: ["x[N, D]"]', "y[n] = sum[d](x[n, d])"), {'["x[N, D]"]': "{x: {shape: [N, D]}}"}),
    (
        whole("inputs: {x: {shape: [N, T]}, len: {shape: [N]}}", "y[n] = x[n, len[n] - 1]"),
        {"len: {shape: [N]}": "len: {shape: [N], dtype: int}"},
    ),
    (
        whole("inputs: {x: {shape: [N]}}\noutputs: {b: {dtype: int}}", "b[n] = floor(x[n]/2)"),
        {"floor(x[n]/2)": "int(floor(x[n] / 2))"},
    ),
    (
        whole("inputs: {q: {shape: [B, L, E]}}", "s[b, i, j] = q[b, i, 0]*q[b, j, 0]", "y[b, i] = sum[j](s[b, j])"),
        {"(s[b, j])": "(s[b, i, j])"},
    ),
    (
        whole("inputs: [x]", "y = k*x") + "constants: {k: 3.0}\n",
        {"constants: {k: 3.0}": "params: {k: {type: float, default: 3.0}}"},
    ),
    (
        whole("inputs: [x]", "y = tanh(x)") + "backward: |\n  grad_x = grad_y\n  grad_x = grad_x*(1 - y**2)\n",
        {"grad_x = grad_y": "dx1 = grad_y", "grad_x*(1": "dx1 * (1"},
    ),
    (
        whole("inputs: [x]\nparams: {c: {type: float, default: null}}", "y = c if c != null", "y = x if not given(c)"),
        {"c != null": "given(c)"},
    ),
    (
        whole("inputs: {f: {shape: [T]}}\nparams: {steps: {type: float}}", "y[t < steps] = f[0]*t"),
        {"type: float": "type: int"},
    ),
    (whole("inputs: {x: {shape: [N, D=3]}}", "y[n] = sum[d](x[n, d])"), {"D=3": "3"}),
    (whole("inputs: {x: {shape: {N, 3}}}", "y[n] = sum[d](x[n, d])"), {"{N, 3}": "[N, 3]"}),
    (whole("inputs: {x: {shape: [N]}, tau: {}}", "y[n] = x[n]/tau"), {"tau: {}": "tau: {shape: []}"}),
    (whole("inputs: {x: {shape: [N], domain: x > 0 and x < 1}}", "y[n] = x[n]"), {"x > 0 and x < 1": "0 < x < 1"}),
    (whole("inputs: {x: {shape: [N], domain: positive}}", "y[n] = x[n]"), {"positive": "x > 0"}),
    (
        whole("inputs: {x: {shape: [N, E]}}\nparams: {c: {type: float, default: 1/sqrt(e)}}", "y[n, e] = c*x[n, e]"),
        {"sqrt(e)": "sqrt(E)"},
    ),
    (
        whole("inputs: {x: {shape: [N, D]}}\nparams: {col: {type: float, default: 0}}", "y[n] = x[n, col]"),
        {"type: float": "type: int"},
    ),
    (
        whole("inputs: {t: {shape: [N], dtype: int}}\ndims: {C: max(t) + 1}", "y[n, c < C] = where(t[n] == c, 1, 0)"),
        {"max(t) + 1}": "num_c}\nparams: {num_c: int}"},
    ),
    (
        whole(TO_NODES, "y = 0", "y[to[e]] += x[e]"),
        {"y = 0": "y[v < V] = 0"},
    ),
    (whole(PROJECT, "y[..., n] = sum[k](x[..., k]*w[n, k])") + "module: Lin\n", {"module: Lin": "module: {name: Lin}"}),
    (
        whole(EMBED, "y[n, d] = table[ids[n], d]") + "backward: |\n  grad_table[ids[n], d] = grad_y[n, d]\n",
        {"grad_table[ids[n], d] =": "grad_table[ids[n], d] +="},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cure"), PLAIN, ids=range(len(PLAIN)))
def test_one_message_says_all_of_it(text: str, cure: dict[str, str]) -> None:
    (found,) = diagnosed(text)
    assert found.hints
    for old, new in cure.items():
        assert old in text
        text = text.replace(old, new, 1)
    built(text)
