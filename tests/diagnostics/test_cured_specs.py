"""A spec with what its one message says in it builds, and has the outputs that were meant."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import follow, whole

SEQUENCE = "inputs: {x: {shape: [..., T]}}\noutputs: [h]"
MASKED = "inputs: {x: {shape: [N, K]}, e: {shape: [N]}, t: {shape: [N], dtype: int}, m: {shape: [N], dtype: bool}}"
PARAM = "inputs:\n  x: {shape: [..., K]}\nparams:\n  tau: {type: float, default: 1.0}"
AS_INPUT = {"params:\n  tau: {type: float, default: 1.0}": "  tau: {shape: []}"}

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
        {"y[..., t] = cummin[t](x[..., t])": "y[..., -1] = inf\n  y[..., t] = min(y[..., t - 1], x[..., t])"},
        ["y"],
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
        {"params": "dims: {S: size}\noutputs: {y: {shape: [S]}}\nparams"},
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


MORE = [
    *(
        (whole(f"inputs: {{x: {{shape: {shape}}}}}", "y[..., k] = x[..., k]"), {shape: "[..., K]"}, ["y"])
        for shape in ("(*, K)", '"(*, K)"', '"[*, K]"', "..., K")
    ),
    (whole("inputs: {x: {shape: N, K, optional: true}}", "y = 1"), {"N, K": "[N, K]"}, ["y"]),
    (whole("inputs:\n  x:\n    shape: (*, K)", "y[..., k] = x[..., k]"), {"(*, K)": "[..., K]"}, ["y"]),
    (
        whole('inputs: [x]\nfunctions:\n  spike(v): {value: "where(v > 0, 1, 0)", backward: 1}', "y = spike(x)"),
        {"backward": "derivative"},
        ["y"],
    ),
    (whole(f"{PARAM}\nmodule: {{parameters: {{tau: ones}}}}", "y[..., k] = x[..., k]/tau"), AS_INPUT, ["y"]),
    (whole(f"{PARAM}\nbackward: grad_tau = 0", "y[..., k] = x[..., k]/tau"), AS_INPUT, ["y"]),
    (
        whole(PARAM.replace("1.0", "1.0, trainable: true"), "y[..., k] = x[..., k]/tau"),
        {old.replace("1.0", "1.0, trainable: true"): new for old, new in AS_INPUT.items()},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [..., 2*D]}}", "y[..., d] = x[..., d]*sigmoid(x[..., d + D])"),
        {"2*D": "E", "forward:": "dims: {E: 2*D}\nforward:", "y[..., d": "y[..., d < D"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [..., E]}}\ndims: {D: E//2}", "y[..., d] = x[..., d]*sigmoid(x[..., d + D])"),
        {"y[..., d": "y[..., d < D"},
        ["y"],
    ),
    *(
        (whole("inputs: {x: {shape: [B, T, D]}, w: {shape: [D]}}", "y[..., d] = x[..., d]*w[d]"), cure, ["y"])
        for cure in (
            {"y[..., d] = x[..., d]*w[d]": "y[b, t, d] = x[b, t, d] * w[d]"},
            {"x: {shape: [B, T, D]}": "x: {shape: [..., D]}"},
        )
    ),
    (
        whole(
            "inputs: {a: {shape: [N, D]}, b: {shape: [M, D]}}",
            "sim[i, j] = sum[d](a[i, d]*b[j, d])",
            "loss = mean[i](logsumexp[j](sim[i, j]) - sim[i, i])",
        ),
        {"[M, D]": "[N, D]"},
        ["loss"],
    ),
    (
        whole("inputs: {x: {shape: [..., T]}}", "y[..., t] = x[..., t] - x[..., t - 2]"),
        {"x[..., t] - x[..., t - 2]": "where(t >= 2, x[..., t] - x[..., t - 2], 0)"},
        ["y"],
    ),
    (
        whole("inputs: {x: {shape: [N, K]}}", "v[n], i[n] = max[k](x[n, k])"),
        {"v[n], i[n] = max[k](x[n, k])": "v[n] = max[k](x[n, k])\n  i[n] = argmax[k](x[n, k])"},
        ["v", "i"],
    ),
    (
        whole("inputs: {x: {shape: [N, K]}}", "a[n], b[n, k] = sum[k](x[n, k]), max(x[n, k], 0)"),
        {"a[n], b[n, k] = sum[k](x[n, k]), max(x[n, k], 0)": ("a[n] = sum[k](x[n, k])\n  b[n, k] = max(x[n, k], 0)")},
        ["a", "b"],
    ),
    *(
        (
            whole("inputs: {x: {shape: [N, 2]}}\nparams: {p: int, q: int}", f"y[{wrong}] += 1"),
            {"forward:": added},
            ["y"],
        )
        for wrong, added in {
            "int(x[n, 0]*p)": "dims: {M: p}\noutputs: {y: {shape: [M]}}\nforward:",
            "min(int(x[n, 0]*p), p - 1)": "dims: {M: p}\noutputs: {y: {shape: [M]}}\nforward:",
            "clamp(int(x[n, 0]), 0, q - 1)": "dims: {M: q}\noutputs: {y: {shape: [M]}}\nforward:",
            "int(x[n, 0]) % q": "dims: {M: q}\noutputs: {y: {shape: [M]}}\nforward:",
            "int(x[n, 0]*p), int(floor(x[n, 1]*q))": "dims: {M: p, V: q}\noutputs: {y: {shape: [M, V]}}\nforward:",
        }.items()
    ),
    *(
        (whole(MASKED, wrong), {wrong: right}, ["y"])
        for wrong, right in {
            "y = mean[n](e[m[n]])": "y = sum[n](where(m[n], e[n], 0)) / count[n](m[n])",
            "y = mean[n](2*e[m])": "y = sum[n](where(m[n], 2 * e[n], 0)) / count[n](m[n])",
            "y = -max[n](e[t[n] != -1])": "y = -max[n](where(t[n] != -1, e[n], -inf))",
            "y[k] = sum[n](x[not m[n], k])": "y[k] = sum[n](where(not m[n], x[n, k], 0))",
            "y[n] = 2*e[e[n] > 0]": "y[n] = 2 * where(e[n] > 0, e[n], 0)",
            "y = e[m]": "y[n] = where(m[n], e[n], 0)",
            "y[n] = e[n]\n  y[m[n]] = 0": "y[n] = where(m[n], 0, e[n])",
            "y[n] = e[n]\n  y[m] = 2": "y[n] = where(m[n], 2, e[n])",
        }.items()
    ),
]


@pytest.mark.parametrize(("text", "cure", "outputs"), [*SPECS, *MORE])
def test_a_spec_with_what_the_one_message_says_is_what_was_meant(
    text: str, cure: dict[str, str], outputs: list[str]
) -> None:
    assert list(follow(text, cure).outputs) == outputs
