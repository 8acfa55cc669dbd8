"""What people bring with them gets one message, at the right place, that says what to write."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.model import Bag, Source
from opgen.lower.operator import lower
from opgen.schema.load import load

ROW = "inputs: {x: {shape: [..., N]}}\n"
DRAWN = "inputs: {x: {shape: [..., N]}, s: {dtype: seed}}\n"

# fields, a statement, what is marked, what the message says to write
CASES = [
    (ROW + "params: {eps: {type: float, default: 0.0, domain: eps > 0}}", "y = max[n](x[..., n]) + eps", "0.0",
     "eps > 0"),
    (ROW + "params: {p: {type: float, default: 3/2, domain: 0 <= p < 1}}", "y = max[n](x[..., n])*p", "3/2",
     "0 <= p < 1"),
    (ROW + "params: {k: {type: [int, int], default: [1, 0], domain: k >= 1}}", "y = max[n](x[..., n])*k[0]*k[1]", "0",
     "k >= 1"),
    (ROW, "y = quantile[n](x[..., n], 95)", "95", "write `0.95`"),
    (ROW, "y = quantile[n](x[..., n], -0.1)", "-0.1", "`0.5`"),
    (ROW, "y = kth[n](x[..., n], 0)", "0", "`1`"),
    (ROW, "y = kth[n](x[..., n], -2)", "-2", "`-kth[n](-x[..., n], 2)`"),
    (ROW, "y[..., n] = x[..., n] .* 2 .+ exp.(x[..., n])", ".", "leave the `.` away"),
    (ROW, "y[..., n] = where(training, x[..., n], 0)", "training", "`params: {training: {type: bool, default: true}}`"),
    (ROW, 'y[..., n] = cast(x[..., n], "torch.int8")', '"torch.int8"', "`cast(x[..., n], int8)`"),
    (ROW, "y[..., n] = cast(x[..., n], torch.int8)", "torch.int8", "`y[..., n] = cast(x[..., n], int8)`"),
    (ROW, "y[..., n] = x[..., n].to(int8)", "x[..., n].to", "`y[..., n] = cast(x[..., n], int8)`"),
    (ROW, "y[..., n] = uint8(x[..., n])", "uint8", "store it so: `outputs: {y: {dtype: uint8}}`"),
    (ROW, "y[..., n] = x[..., n]*uniform(key)", "uniform(key)", "`inputs: {key: {dtype: seed}}`"),
    (ROW + "params: {seed: int}", "y[..., n] = x[..., n]*uniform(seed)", "uniform(seed)", "a seed is no param"),
    (DRAWN, "y[..., n] = x[..., n]*uniform(s, n)", "uniform(s, n)", "no index is named"),
    (ROW, "y[..., n] = x[..., n] + normal(0, 2)", "normal(0, 2)", "`2*normal(seed)`"),
    (DRAWN, "y[..., n] = x[..., n]*uniform(-1, 1)", "uniform(-1, 1)", "`-1 + (1 + 1)*uniform(s)`"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "statement", "marked", "way_out"), CASES)
def test_one_message_says_what_to_write(fields: str, statement: str, marked: str, way_out: str) -> None:
    bag = Bag()
    spec = load(Source("spec.yaml", f"op: tried\n{fields.rstrip()}\nforward: |\n  {statement}\n"), bag)
    if spec is not None:
        lower(spec, bag)
    (found,) = bag.items
    assert found.span is not None
    assert found.span.text == marked
    assert way_out in " ".join(found.hints)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("fp16", "half"), ("bf16", "bfloat16"), ("f32", "float32"), ("fp64", "float64"), ("i32", "int32"),
        ("u8", "uint8"), ("torch.int8", "int8"), ("e4m3", "float8_e4m3fn"), ("torch.float8_e5m2", "float8_e5m2"),
    ],
)  # fmt: skip
def test_dtypes_have_other_names_elsewhere(written: str, meant: str) -> None:
    bag = Bag()
    load(Source("spec.yaml", f"op: tried\ninputs: {{x: {{dtype: {written}}}}}\nforward: y = 2*x\n"), bag)
    (found,) = bag.items
    assert found.code == "OPG114"
    assert found.hints == (f"write `{meant}`",)


GRAPH = "inputs: {x: {shape: [V, D]}, ends: {shape: [2, E], dtype: int}, w: {shape: [E]}}"
CODES = "inputs: {x: {shape: [N, C]}, running: {shape: [C], differentiable: false}}\nparams: {training: bool}\n"
TABLE = "inputs: {cost: {shape: [N, M]}}\noutputs: [d]"
HALVES = "inputs: {x: {shape: [..., T, D]}, c: {shape: [T, H]}}\ndims: {H: D//2}\noutputs: [a, b]"

# fields, statements, code, what is marked, and parts of the way out
SPECS = [
    (GRAPH, ["out[ends[1, e], d] += w[e]*x[ends[0, e], d]"], "OPG248", "out[ends[1, e], d]",
     ["`outputs: {out: {shape: [V, D]}}`", "`out[v < V, d < D] = 0`"]),
    (GRAPH + "\noutputs: {y: {shape: [V, D]}}", ["m[ends[1, e]] += w[e]", "y[ends[1, e], d] += m[ends[1, e]]*x[0, d]"],
     "OPG248", "m[ends[1, e]]", ["`m[v < V] = 0`"]),
    ("inputs: {z: {shape: [B, T]}, h0: {shape: [B]}}", ["h[b, -1] = h0[b]", "h[b, t] = z[b, t]*h[b, t]"], "OPG219",
     "h[b, t]", ["`h[b, t - 1]`"]),
    ("inputs: {q: {shape: [N]}}", ["e = sum[j, i < j](q[i]*q[j])"], "OPG226", "j",
     ["`sum[j, i](where(i < j, q[i] * q[j], 0))`"]),
    ("inputs: {a: {shape: [..., K]}, w: {shape: [K, M]}, b: {shape: [M]}}",
     ["y[...] = sum[k, m](a[..., k]) * w[k, m] / b[m]"], "OPG204", "k",
     ["`y[...] = sum[k, m](a[..., k] * w[k, m] / b[m])`"]),
    ("inputs: {t: {shape: [G]}, u: {shape: [...]}}",
     ["lo[...] = floor(u[...])", "y[...] = t[lo[...]]*u[...] + t[lo[...] + 1]"], "OPG223", "lo[...]",
     ["`lo[...] = int(floor(u[...]))`"]),
    (HALVES, ["l[..., t, i] = x[..., t, i]", "r[..., t, i < H] = x[..., t, i + H]",
              "a[..., t, i] = l[..., t, i]*c[t, i] - r[..., t, i]",
              "b[..., t, i] = r[..., t, i] + l[..., t, i]*c[t, i]"],
     "OPG213", "c[t, i]", ["`l[..., t, i < H] = x[..., t, i]`"]),
    ("inputs: {x: {shape: [N, K]}}", ["mu[n] = mean[k](x[n, k])", "y[n, k] = x[n, k] - mu[k]"], "OPG213", "mu[k]",
     ["`mu[n]`"]),
    ("inputs: {x: {shape: [N, C]}, t: {shape: [N], dtype: int}}", ["l = -mean[n](x[t[n], n])"], "OPG213",
     "x[t[n], n]", ["`x[n, t[n]]`"]),
    ("inputs: {img: {shape: [..., H, W]}, k: {shape: [3]}}",
     ["g[..., h, j] = sum[a](pad(img[..., h, j + a - 1], 0)*k[a])"],
     "OPG214", "j", ["`j < W`"]),
    (TABLE, ["r[0, 0] = 0", "r[i, 0] = i", "r[0, j] = j",
             "r[i, j] = min(r[i - 1, j], r[i, j - 1]) + cost[i - 1, j - 1]", "d = r[N, M]"], "OPG250", "r[0, 0]",
     ["`r[-1, -1] = 0`", "`r[i, -1] = i + 1`", "`r[-1, j] = j + 1`"]),
    ("inputs: {x: {shape: [K]}}", ["x[k] = x[k] - 1", "y[k] = 2*x[k]"], "OPG236", "x", ["`x2[k] = x[k] - 1`"]),
    ("inputs: {x: {shape: [K]}}\noutputs: {x: {shape: [K]}}", ["x[k] = x[k] - 1"], "OPG236", "x",
     ["`x_out[k] = x[k] - 1`", "in place of `x`"]),
    ("inputs: {h: {shape: [K]}, B: {shape: [K]}}", ["y[b] = h[b]"], "OPG113", "B", ["`b_`"]),
    (CODES + "outputs: {y: {}, new: {differentiable: false}}\n"
     "module: {name: Ema, dims: {C: channels}, buffers: {running: zeros}, updates: {new: running}, training: training}",
     ["y[n, c] = x[n, c] - running[c]", "new[c] = mean[n](x[n, c]) if training"], "OPG117", "new",
     ["`updates: {running: new}`"]),
    ("inputs: {x: {shape: [N, K]}, s: {dtype: seed}}\nmodule: {name: Drop, buffers: {s: zeros}}",
     ["y[n, k] = uniform(s)*x[n, k]"], "OPG117", "s", ["leave it away"]),
    ("inputs: {x: {shape: [N, K]}}", ["l = mean[n](norm(x[n, :]))"], "OPG206", "norm",
     ["`l = mean[n](norm[k](x[n, k]))`"]),
    ("inputs: {p: {shape: [N, 3]}}", ["d[i, j] = norm(p[i] - p[j])"], "OPG206", "norm",
     ["`d[i, j] = norm[m](p[i, m] - p[j, m])`"]),
    ("inputs: {x: {shape: [..., K]}}\noutputs: {q: {dtype: int4}}", ["q[..., k] = x[..., k]*7"], "OPG114", "int4",
     ["`int8`"]),
    ("inputs: {x: {shape: [..., K]}}", ["y[...] = sum_k x[..., k]"], "OPG201", "x", ["`sum[k](x[..., k])`"]),
    ("inputs: [x]\nparams: {alpha: {type: float, default: 1.0}}", ["y = α*x"], "OPG201", "α", ["`alpha`"]),
    ("inputs: [x, w]\nbackward: grad_y = 2*grad_x", ["y = x*w"], "OPG228", "grad_y", ["`grad_x = 2*grad_y`"]),
    ("inputs: {x: {shape: [K]}}", ["y[k] = x[k] + randn_like(x[k])"], "OPG209", "randn_like",
     ["`y[k < K] = x[k] + normal(seed)`", "`inputs: {seed: {dtype: seed}}`"]),
    ("inputs: {u: {shape: [T, S]}}", ["a[t, s] = softmax[s <= t](u[t, s])"], "OPG246", "s <= t",
     ["`a[t, s] = softmax[s](where(s <= t, u[t, s], -inf))`"]),
    ("inputs: {x: {shape: [T]}}", ["y[t] = mean[s < t + 1](x[s])"], "OPG246", "s < t + 1",
     ["sum[s](where(s < t + 1, x[s], 0)) / count[s < T](s < t + 1)"]),
    ("inputs: {a: {shape: [N, D]}, b: {shape: [M, D]}}", ["y[i, j] = norm[d](a[i, d] - b[i, d])"],
     "OPG213", "b[i, d]", ["`j` is read nowhere", "`b[j, d]`"]),
    ("inputs: {s: {shape: [N, N]}}", ["e = sum[i, j > i](s[i, j])"], "OPG246", "j > i",
     ["`e = sum[i, j](where(j > i, s[i, j], 0))`"]),
    ("inputs: {x: {shape: [..., K]}, seed: {dtype: seed}}", ["y[..., k] = x[..., k]*uniform(seed, [..., k])"],
     "OPG201", "[",
     ["`uniform(seed)` draws a number at each point"]),
    ("inputs: [x]\nparams: {reduction: {choices: [mean, sum, none]}}", ["loss = reduction(x**2)"], "OPG206",
     "reduction",
     ["`reduction[...](x**2)`"]),
    ("inputs: {x: {shape: [K]}, m: {shape: [K], dtype: bool, optional: true, default: true}}",
     ["y[k] = softmax[k](where(m[k], x[k], -inf))"], "OPG110", "default", ["`absent: true`"]),
    ("inputs: {a: {shape: [N]}, b: {shape: [N]}}", ["y = sum[n](a[n] \\cdot b[n])"], "OPG201", "\\cdot",
     ["`y = sum[n](a[n] * b[n])`"]),
    ("inputs: [x]", ["y = log(i0(x))"], "OPG209", "i0", ["`abs(x) + log(i0e(x))`"]),
    ("inputs: [x]", ["y = gelu(x)"], "OPG209", "gelu", ["`x*(1 + erf(x/sqrt(2)))/2`"]),
    ("inputs: [z]", ["y = z*norm.cdf(z)"], "OPG201", "norm.cdf", ["`erfc(-x/sqrt(2))/2`"]),
    ("inputs: {v: {shape: [S]}, w: {shape: [S, S]}}", ["y[j] = max(v[i] + w[i, j], i)"], "OPG206", "i",
     ["`max[i](v[i] + w[i, j])`"]),
    ("inputs: {x: {shape: [E]}, at: {shape: [E], dtype: int}}\noutputs: [m]",
     ["m[g < 16] = -inf", "m[at[e]] = max(m[at[e]], x[e])"], "OPG241", "at[e]", ["`m[at[e]] max= x[e]`"]),
    ("inputs: {x: {shape: [..., K]}, w: {shape: [N, K]}}\nbackward: grad_w[n, k] = grad_y[..., n]*x[..., k]",
     ["y[..., n] = sum[k](x[..., k]*w[n, k])"], "OPG216", "...", ["`sum[...](…)`"]),
    ("inputs: {x: {shape: [..., K]}}", ["v[...] = mean[d](square(x[..., k]))"], "OPG204", "k",
     ["`v[...] = mean[k](square(x[..., k]))`"]),
    ("inputs: {x: {shape: [N]}, steps: {shape: [], dtype: int}}\nmodule: {name: Count, buffers: {steps: zeros}}",
     ["y[n] = 2*x[n]", "steps += 1"], "OPG236", "steps",
     ["`next_steps = steps + 1`", "`updates: {steps: next_steps}`"]),
    ("inputs: {x: {shape: [N, C]}, mean_: {shape: [C], differentiable: false}}\nparams: {training: bool}\n"
     "module: {name: Ema, dims: {C: channels}, buffers: {mean_: zeros}, training: training}",
     ["mean_[c] = 0.9*mean_[c] + 0.1*mean[n](x[n, c]) if training", "y[n, c] = x[n, c]"], "OPG236", "mean_",
     ["`next_mean_[c] = 0.9 * mean_[c]", "`updates: {mean_: next_mean_}`"]),
    ("inputs: {x: {shape: [B, E]}, table: {shape: [E]}}\nparams: {n: int}\ndims: {K: n}",
     ["order[b, e] = argsort[e](-x[b, e])", "w[b, j < K] = x[b, order[b, j]]", "p[b, j] = softmax[j](w[b, j])",
      "y[b] = sum[j](p[b, j]*table[order[b, j]])"], "OPG213", "order[b, j]", ["`j` is bound: `j < K`"]),
    ("inputs: {x0: {shape: [V, D]}}\nparams: {steps: int}\ndims: {T: steps}",
     ["x[-1, i, a] = x0[i, a]", "x[t < T, i < V, a < V] = 0.5*x[t - 1, i, a]"], "OPG250", "x[-1, i, a]", []),
    ("inputs: {window: {shape: [W]}}\nparams: {n: int}\ndims: {P: n, T: P + W - 1}\noutputs: {y: {shape: [T]}}",
     ["y[p + w] += window[w]"], "OPG214", "p", ["`each[p < P, w] = window[w]`", "`each[p, w]`"]),
    ("inputs: {x: {shape: [..., D]}}", ["y = cat(-x[..., D//2:], x[..., :D//2])"], "OPG209", "cat",
     ["`y[..., d < D] = where(d < D // 2, -x[..., d + D // 2], x[..., d - D // 2])`"]),
    ("inputs: {at: {shape: [N], dtype: int, domain: 0 <= at < B}, w: {shape: [N]}, edges: {shape: [B]}}",
     ["h[at[n]] = w[n]", "y[b] = h[b]/edges[b]"], "OPG241", "at[n]", ["`h[at[n]] += w[n]`", "`h[b < B] = 0`"]),
    ("inputs: {x: {shape: [..., T]}}", ["level = max(abs(x), 0.9*level)"], "OPG242", "x",
     ["`level[..., t] = max(abs(x[..., t]), 0.9 * level[..., t - 1])`"]),
    ("inputs: {x: {shape: [..., T]}}", ["s[..., -1] = 0", "s[..., t] = 0.9*s + torch.exp(x[..., t])"], "OPG201",
     "torch.exp", ["`s[..., t] = 0.9 * s[..., t - 1] + exp(x[..., t])`"]),
    ("inputs: {m: {shape: [T, D]}}", ["h[t, d] = m[t, d] + h[t, d]"], "OPG219", "h[t, d]", ["`h[t - 1, d]`"]),
    ("inputs: {r: {shape: [..., T]}}", ["g[..., -1] = 0", "g[..., t] = r[..., t] + g[..., t + 1]"], "OPG250",
     "g[..., -1]", ["behind the last element: `g[..., T] = 0`", "`g[..., T]` is 0"]),
    ("inputs: {r: {shape: [..., T]}}", ["g[..., -1] = 1", "g[..., t < T - 1] = r[..., t + 1]*g[..., t + 1]"], "OPG250",
     "g[..., -1]", ["behind the last element: `g[..., T - 1] = 1`"]),
    ("inputs: {x: {shape: [K]}, w: {shape: [K]}}", ["y = sum_k(w_k*x_k)"], "OPG209", "sum_k",
     ["`y = sum[k](w[k] * x[k])`"]),
    ("inputs: {m: {shape: [I, K]}, x: {shape: [K]}}", ["y[i] = sum[k](m_ik*x[k])"], "OPG205", "m_ik",
     ["`y[i] = sum[k](m[i, k] * x[k])`"]),
    ("inputs: {x: {shape: [..., 2]}}", ["y = x_0 - x_1"], "OPG205", "x_0", ["`y = x[..., 0] - x[..., 1]`"]),
    ("inputs: {c: {shape: [K]}}", ["y = sum[k=0..K-1](c[k]*2)"], "OPG201", "k=0..K-1", ["write `k < K`"]),
    ("inputs: {c: {shape: [K]}}", ["y = sum[k in 0..K - 1](c[k])"], "OPG201", "k in 0..K - 1", ["write `k < K`"]),
    ("inputs: {c: {shape: [K]}}", ["y = sum[k=0..K](c[k])"], "OPG201", "k=0..K", ["write `k < K`"]),
    ("inputs: {c: {shape: [K]}}", ["y = sum[k=0..3](c[k])"], "OPG201", "k=0..3", ["write `k < 4`"]),
    ("inputs: {c: {shape: [K]}}", ["y = sum[k=1..K-1](c[k])"], "OPG201", "k=1..K-1", ["read at `k + 1`"]),
    ("inputs: [x]", ["y = |x - 1|*2"], "OPG201", "|x - 1|", ["`abs(x - 1)`"]),
    ("inputs: [x]", ["y = max(1, |x|)"], "OPG201", "|x|", ["`abs(x)`"]),
    ("inputs: [x]", ["y = x - ⌊x⌋"], "OPG201", "⌊x⌋", ["`floor(x)`"]),
    ("inputs: {x: {shape: [K]}}", ["y = ||x||"], "OPG201", "||x||", ["`norm[k](x[k])`"]),
    ("inputs: [x]", ["y = √(x)"], "OPG201", "√(x)", ["`sqrt(x)`"]),
    ("inputs: [x]", ["y = x*sg(cosine(x))"], "OPG209", "sg", ["`detach(x)`", "no `cosine` either"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("stop_gradient(x[k])", "detach(x[k])"), ("lax.stop_gradient(x)", "detach(x[k])"),
        ("jax.lax.stop_gradient(x)", "detach(x[k])"), ("tf.stop_gradient(x)", "detach(x[k])"),
        ("sg(x[k])", "detach(x[k])"), ("x.detach()", "detach(x[k])"),
        ("jnp.where(x > 0, x, 0)", "where(x[k] > 0, x[k], 0)"), ("ifelse(x[k] > 0, 1, 0)", "where(x[k] > 0, 1, 0)"),
        ("tf.reduce_sum(x)*x", "sum[k](x[k]) * x[k]"), ("reduce_max[j](x[j])*x[k]", "max[j](x[j]) * x[k]"),
        ("tf.math.log_sigmoid(x)", "logsigmoid(x[k])"), ("jax.nn.relu(x)", "relu(x[k])"),
        ("logsoftmax[k](x[k])", "log_softmax[k](x[k])"), ("std_dev(x)*x", "sqrt(var[k](x[k])) * x[k]"),
        ("np.arcsinh(x)", "asinh(x[k])"), ("rint(x[k])", "round(x[k])"), ("fract(x[k])", "frac(x[k])"),
        ("mix(x[k], 1, 0.5)", "lerp(x[k], 1, 0.5)"), ("inversesqrt(x[k])", "rsqrt(x[k])"),
        ("mod(x[k], 3)", "remainder(x[k], 3)"), ("square_root(x[k])", "sqrt(x[k])"),
        ("np.negative(x)", "-x[k]"), ("saturate(x[k])", "clamp(x[k], 0, 1)"), ("x.gt(0)*x", "(x[k] > 0) * x[k]"),
        ("floor_divide(x[k], 2)", "x[k] // 2"), ("torch.div(x, 2)", "x[k] / 2"),
    ],
)  # fmt: skip
def test_functions_have_other_names_elsewhere(written: str, meant: str) -> None:
    head = "op: tried\ninputs: {x: {shape: [K]}}\nforward: "
    bag = Bag()
    spec = load(Source("spec.yaml", f"{head}y[k] = {written}\n"), bag)
    assert spec is not None
    assert lower(spec, bag) is None
    (found,) = bag.items
    assert any(hint.endswith(f"rite `y[k] = {meant}`") for hint in found.hints), found.hints
    right = Bag()
    mended = load(Source("spec.yaml", f"{head}y[k] = {meant}\n"), right)
    assert mended is not None
    assert lower(mended, right) is not None
    assert right.items == ()


@pytest.mark.parametrize(
    ("text", "marked", "ways_out"),
    [
        ("op:tv\nsummary: a b\ninputs: [x]\nforward: y = x\n", ":", ["write `op: tv`"]),
        ("op:tv\ninputs:[x]\nforward:y = x\n", ":",
         ["write `op: tv`", "write `inputs: [x]`", "write `forward: y = x`"]),
        ("op: tv\ninputs: [x]\nparams:\n  a:float\n  b: int\nforward: y = a*b*x\n", ":", ["write `a: float`"]),
        ("op: tv\ninputs: [x]\nforward:|\n  y = x\n", ":", ["write `forward: |`"]),
        ("op: tv\ninputs: [x]\nforward: y = x\nmodule:\n  name:Foo\n", "name:Foo", ["write `name: Foo`"]),
        ("op: tv\ninputs: [x]\nforward: y = x\nmodule: {parameters: [x, w]}\n", "[x, w]",
         ["write `{x: normal(std=0.02), w: normal(std=0.02)}`"]),
        ("op: tv\ninputs: [x]\nforward: y = x\nmodule: {buffers: [x: ones, w]}\n", "[x: ones, w]",
         ["write `{x: ones, w: zeros}`"]),
        ("op: tv\ninputs: [x]\nforward: y = x\nmodule: {parameters: x}\n", "x", ["write `{x: normal(std=0.02)}`"]),
    ],
)  # fmt: skip
def test_yaml_that_reads_otherwise(text: str, marked: str, ways_out: list[str]) -> None:
    bag = Bag()
    load(Source("spec.yaml", text), bag)
    (found,) = bag.items
    assert found.span is not None
    assert found.span.text == marked
    assert list(found.hints) == ways_out


@pytest.mark.parametrize(("fields", "statements", "code", "marked", "ways_out"), SPECS)
def test_one_mistake_is_one_message(
    fields: str, statements: list[str], code: str, marked: str, ways_out: list[str]
) -> None:
    text = f"op: tried\n{fields.rstrip()}\nforward: |\n" + "".join(f"  {s}\n" for s in statements)
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    if spec is not None:
        lower(spec, bag)
    (found,) = bag.items
    assert found.span is not None
    assert (found.code, found.span.text) == (code, marked)
    said = " ".join(found.hints)
    assert all(way in said for way in ways_out), said


@pytest.mark.parametrize(
    ("fields", "statement", "warned"),
    [
        ("inputs: {x: {shape: [N, K]}}\noutputs: {y: {shape: [K]}}", "y[n] = sum[k](x[n, k])", True),
        ("inputs: {x: {shape: [N, K]}}\noutputs: {y: {shape: [N]}}", "y[n] = sum[k](x[n, k])", False),
        ("inputs: {x: {shape: [N, K]}}\noutputs: {y: {shape: [K]}}", "y[n < K] = sum[k](x[n, k])", False),
        ("inputs: {x: {shape: [T, D]}, p: {shape: [M, D]}}\noutputs: {y: {shape: [T, D]}}",
         "y[t, d] = x[t, d] + p[t, d]",
         False),
        ("inputs: {x: {shape: [D]}}\ndims: {H: D//2}\noutputs: {y: {shape: [H]}}", "y[i] = x[i]", False),
        ("inputs: {x: {shape: [D]}, w: {shape: [H]}}\noutputs: {y: {shape: [H]}}", "y[i] = x[i] + x[i + H]", False),
    ],
)  # fmt: skip
def test_an_index_that_runs_along_another_dim_is_a_warning(fields: str, statement: str, warned: bool) -> None:
    bag = Bag()
    spec = load(Source("spec.yaml", f"op: tried\n{fields}\nforward: {statement}\n"), bag)
    assert spec is not None
    assert lower(spec, bag) is not None
    assert [d.code for d in bag.items] == (["OPG253"] if warned else [])


MASKED = "inputs: {x: {shape: [T]}, m: {shape: [T], dtype: bool, optional: true}, w: {shape: [T], optional: true}}\n"


OTHER = "without `w`, nothing of `x` is left in `y` where it is a number: it is made of `m` alone"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("y = sum[t](where(m[t], x[t], 0)) + 0*w[0]", "without `m`, `y` is 0 everywhere"),
        ("y = sum[t](where(m[t], x[t], 0))/count[t](m[t]) + 0*w[0]", "without `m`, `y` is nan everywhere, 0/0"),
        ("y = sum[t](where(m[t], x[t], 0))/T + 0*w[0]", "without `m`, `y` is 0 everywhere"),
        ("y = sum[t](w[t]*x[t])/norm[t](x[t]) + count[t](m[t])", OTHER),
        ("y = sum[t](w[t]*x[t])/norm[t](x[t]) + 0*count[t](m[t])", "without `w`, `y` is 0 wherever it is a number"),
        ("y = sum[t](w[t]*x[t])/sum[t](w[t]) + 0*count[t](m[t])", "without `w`, `y` is nan everywhere, 0/0"),
    ],
)
def test_no_value_is_claimed_that_is_not_sure(statement: str, told: str) -> None:
    bag = Bag()
    spec = load(Source("spec.yaml", f"op: tried\n{MASKED}forward: {statement}\n"), bag)
    assert spec is not None
    assert lower(spec, bag) is not None, bag.items
    assert [d.message for d in bag.items] == [told]


@pytest.mark.parametrize(
    ("fields", "statements", "results"),
    [
        ("", ["y[t] = g[t - 1]*x[t]", "g[-1] = 1", "g[t] = g[t - 1] - y[t]"], "`y` and `g` are results"),
        (
            "",
            ["y[t] = g[t - 1]*x[t]", "e[t] = 1 - y[t]", "g[-1] = 1", "g[t] = g[t - 1] - e[t]"],
            "`y`, `e` and `g` are results",
        ),
        ("outputs: [y]\n", ["y[t] = g[t - 1]*x[t]", "g[-1] = 1", "g[t] = g[t - 1] - y[t]"], ""),
        ("", ["y[t] = g[t - 1]*x[t]", "g[-1] = 1", "g[t] = g[t - 1] - y[t]", "z = sum[t](y[t]*g[t])"], ""),
        ("", ["g[t] = 0.5*g[t - 1] + x[t]"], ""),
        ("", ["y[t] = g[t - 1]*x[t]", "g[-1] = 1", "g[t] = g[t - 1] - y[t]", "z[t] = y[t]"], ""),
        ("", ["r[t] = g[t - 1]*x[t]", "g[-1] = 1", "g[t] = g[t - 1] - r[t]", "y = g[T - 1]"], "`r` is a result"),
        ("outputs: [y]\n", ["r[t] = g[t - 1]*x[t]", "g[-1] = 1", "g[t] = g[t - 1] - r[t]", "y = g[T - 1]"], ""),
        (
            "",
            [
                "q[t] = x[t]*h[t - 1]",
                "r[t] = g[t - 1]*q[t]",
                "g[-1] = 1",
                "h[-1] = 1",
                "g[t] = g[t - 1] - r[t]",
                "h[t] = g[t] + r[t]",
                "y = h[0]",
            ],
            "`q`, `r` and `g` are results",
        ),
    ],
)
def test_results_of_one_recurrence_are_named(fields: str, statements: list[str], results: str) -> None:
    bag = Bag()
    block = "".join(f"  {s}\n" for s in statements)
    spec = load(Source("spec.yaml", f"op: tried\ninputs: {{x: {{shape: [T]}}}}\n{fields}forward: |\n{block}"), bag)
    assert spec is not None
    assert lower(spec, bag) is not None, bag.items
    assert [d.code for d in bag.items] == (["OPG255"] if results else [])
    assert all(results in d.message and "`outputs: [y]`" in d.hints[0] for d in bag.items)


@pytest.mark.parametrize(
    ("param", "module", "told"),
    [
        ("training: {type: bool, default: true}", "name: Turned", "training"),
        ("is_training: {type: bool, default: false}", "name: Turned", "is_training"),
        ("train: {type: bool}", "{}", "train"),
        ("training: {type: bool, default: true}", "training: training", ""),
        ("exact: {type: bool, default: true}", "name: Turned", ""),
    ],
)
def test_a_param_that_is_called_like_the_mode_follows_it_where_the_hint_says(
    param: str, module: str, told: str
) -> None:
    name = param.partition(":")[0]
    text = f"op: tried\ninputs: [x]\nparams: {{{param}}}\nforward: y = where({name}, x, 2*x)\n"
    bag = Bag()
    load(Source("spec.yaml", f"{text}module: {{{module.strip('{}')}}}\n"), bag)
    assert [(d.code, d.message.split("`")[1]) for d in bag.items] == ([("OPG256", told)] if told else [])
    for d in bag.items:
        meant = re.findall(r"add `([^`]+)` under `module`", d.hints[0])
        cured, fields = Bag(), ", ".join(filter(None, (module.strip("{}"), *meant)))
        spec = load(Source("spec.yaml", f"{text}module: {{{fields}}}\n"), cured)
        assert spec is not None
        assert spec.module is not None
        assert spec.module.training == name
        assert cured.items == ()
