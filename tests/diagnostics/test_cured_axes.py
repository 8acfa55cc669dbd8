"""Calls of torch whose result has axes of its own: what their one message says gives the same numbers."""

from __future__ import annotations

import re

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, follow, whole

SIZES = {"B": 2, "C": 3, "H": 6, "W": 4, "O": 2, "R": 3, "S": 2, "T": 6, "K": 3, "N": 4, "D": 4, "E": 3, "M": 3}
IMAGE, FILTER = {"x": "B, C, H, W"}, {"w": "O, C, R, S"}
SIGNAL, TAPS = {"x": "B, C, T"}, {"w": "O, C, K"}
ROWS = {"x": "N, D", "y": "N, D"}


@pytest.mark.parametrize(
    ("inputs", "written"),
    [
        (IMAGE | FILTER, "F.conv2d(x, w, padding=1)"),
        (IMAGE | FILTER | {"b": "O"}, "F.relu(F.conv2d(x, w, b, stride=2, padding=(1, 0)))"),
        (IMAGE | {"w": "O, C, R, R"}, "F.conv2d(x, w, dilation=2, padding=1)"),
        (SIGNAL | TAPS, 'F.conv1d(x, w, padding="same")'),
        (SIGNAL | TAPS, "F.conv1d(x, w).mean(-1)"),
        (IMAGE, "F.max_pool2d(x, 2)"),
        (IMAGE, "F.max_pool2d(x, 3, stride=1, padding=1)"),
        (IMAGE, "F.avg_pool2d(x, kernel_size=3, stride=2, padding=1)"),
        (SIGNAL, "F.avg_pool1d(x**2, 2) - F.avg_pool1d(x, 2)**2"),
        (IMAGE, "F.interpolate(x, scale_factor=2)"),
        (ROWS, "torch.cat([x, y], dim=-1)"),
        (ROWS, "torch.cat([x, y])"),
        ({"x": "N, D", "y": "N, E"}, "torch.cat((x, 2*y), 1)"),
        ({"x": "N, D", "y": "N, E", "z": "N, K"}, "torch.cat([x, y, z], dim=1)"),
        (ROWS, "x*y + torch.cat([-x[:, D//2:], x[:, :D//2]], dim=-1)*y"),
        (ROWS, "torch.stack([x, y], dim=1)"),
        (ROWS, "torch.stack((x, y, x - y), dim=-1)"),
        (ROWS, "torch.stack([x, y])"),
        (ROWS, "x - torch.roll(x, 1, dims=1)"),
        (ROWS, "x.roll(-1, 0)"),
        (ROWS, "x.flip(-1)"),
        (ROWS, "torch.flip(x, [0])"),
        (ROWS, "torch.tril(x, diagonal=-1)"),
        (ROWS, "torch.triu(x)"),
        (ROWS, "torch.tril(torch.ones(N, D))*x"),
        ({"x": "N", "y": "M"}, "torch.outer(x, y)"),
        (ROWS, "(torch.diff(x, dim=-1)**2).mean()"),
        (ROWS, "torch.diff(x, dim=0).abs().sum()"),
        (ROWS, "F.kl_div(F.log_softmax(x, dim=-1), F.softmax(y, dim=-1), reduction='batchmean')"),
        (ROWS, "F.kl_div(x, F.softmax(y, -1), reduction='sum')"),
        ({"x": "N, D", "y": "M, D"}, "torch.cdist(x, y)"),
        ({"x": "N, D"}, "torch.cdist(x, x)**2"),
        ({"x": "N, D", "t": "N"}, "F.nll_loss(x, t)"),
        ({"x": "N, D", "t": "N"}, "x.gather(1, t.unsqueeze(1)).squeeze(1)"),
        ({"x": "N, D", "t": "N"}, "-torch.gather(x, 1, t.unsqueeze(-1)).squeeze(-1).mean()"),
        ({"x": "D, K", "t": "N"}, "x.index_select(0, t)"),
        ({"x": "K, D", "t": "N"}, "torch.index_select(x, -1, t)*2"),
        (ROWS, "x.max(dim=1)[0]"),
        (ROWS, "torch.linalg.norm(x, ord=1, dim=-1)"),
        (ROWS, "x.norm(p=3, dim=0)"),
        (ROWS, "torch.norm(x, 2, 1)"),
        (ROWS, "F.normalize(x, dim=1)*2"),
        (ROWS, "F.cosine_similarity(x, y, dim=-1)"),
        ({"x": "B, T, D", "w": "B, T"}, "(x*w.unsqueeze(-1)).sum(1) / w.sum(1, keepdim=True)"),
        ({"x": "B, T, D", "w": "B, T"}, "(x*w[..., None]).sum(dim=1)"),
        ({"x": "T, S"}, "torch.triu(torch.ones(T, S), diagonal=1).bool().float()*x"),
        (IMAGE | {"b": "C"}, "F.group_norm(x, 1, bias=b)"),
        (IMAGE, "F.group_norm(x, 3)"),
        (IMAGE, "F.instance_norm(x)"),
        (IMAGE | {"g": "C", "b": "C"}, "F.batch_norm(x, None, None, g, b, training=True)"),
        (IMAGE | {"m": "C"}, "F.batch_norm(x, m, m**2, eps=0.1)"),
        (ROWS, "x.cumsum(-1) / torch.arange(1, D + 1)"),
        (ROWS, "x*torch.linspace(0, 1, D)"),
        ({"z": "N, N", "y": "N, D"}, "F.cross_entropy(z, torch.arange(N))"),
        (ROWS, "F.mish(x) + F.gelu(2*y)"),
        ({"t": "N", "w": "C, D"}, "F.one_hot(t, C).float() @ w"),
        ({"x": "N", "y": "N"}, "(torch.sort(x)[0] - torch.sort(y)[0]).abs().mean()"),
        (ROWS, "x.clamp_(0, 1)"),
        (ROWS, "x*torch.cat([torch.ones(N, 1), y[:, :-1]], dim=-1)"),
        (ROWS, "torch.cat([torch.zeros_like(x[:2]), x[:-2]], dim=0)"),
        (ROWS, "torch.cat([x[:, 1:], torch.zeros(N, 1)], dim=1)"),
        (ROWS, "x.T @ x - torch.eye(D)"),
        ({"z": "N, N"}, "((torch.diagonal(z) - 1)**2).sum()"),
        (ROWS, "F.glu(x, dim=-1)"),
        (ROWS, "F.glu(x, 0)"),
        (IMAGE, "x.permute((0, 2, 3, 1)) + 1"),
        (IMAGE, "x.mean((2, 3))"),
        (IMAGE, "torch.sum(x, [2, 3])"),
        (IMAGE, "torch.logsumexp(x, (1, 2))"),
    ],
)
def test_a_call_is_written_out(inputs: dict[str, str], written: str) -> None:
    kinds = {n: ", dtype: int" if n == "t" else "" for n in inputs}
    shapes = ", ".join(f"{n}: {{shape: [{s}]{kinds[n]}}}" for n, s in inputs.items())
    text = whole(f"inputs: {{{shapes}}}", f"out = {written}")
    (found,) = diagnosed(text)
    (line,) = [h.partition("write `")[2].removesuffix("`") for h in found.hints if "write `" in h]
    if " and then " in line:
        line = "\n  ".join(re.findall("`([^`]+)`", f"`{line}`"))
    (variant,) = follow(text, {f"out = {written}": line}).variants
    drawn = torch.Generator().manual_seed(0)
    given = {n: torch.randn([SIZES[d] for d in s.split(", ")], generator=drawn) for n, s in inputs.items()}
    if "t" in inputs:
        given["t"] = torch.randint(3, [SIZES[d] for d in inputs["t"].split(", ")], generator=drawn)
    made = run(variant.program, {n: array(v.tolist()) for n, v in given.items()})["out"]
    wanted = eval(written, {"torch": torch, "F": F, **SIZES, **given})
    torch.testing.assert_close(torch.tensor(made.data).reshape(wanted.shape).float(), wanted)


@pytest.mark.parametrize(
    ("fields", "written", "line"),
    [
        ("inputs: {a: {shape: [N, D]}, b: {shape: [N, E]}}", "y[n, k] = cat(a[n, d], b[n, e])",
         "y[n, k < D + E] = where(k < D, a[n, k], b[n, k - D])"),
        ("inputs: {u: {shape: [N]}, v: {shape: [N]}}", "y[n] = stack([u[n], v[n]], dim=-1)",
         "y[n, i < 2] = where(i == 0, u[n], v[n])"),
        ("inputs: {t: {shape: [B, T], dtype: int}}\nparams: {num_classes: int}", "y = F.one_hot(t, num_classes)",
         "y[b, m, c < num_classes] = where(c == t[b, m], 1, 0)"),
        ("inputs: {t: {shape: [N], dtype: int}, x: {shape: [N, C]}}", "y[n, c] = 0.9*one_hot(t[n], C) + x[n, c]",
         "y[n, c] = 0.9 * where(c == t[n], 1, 0) + x[n, c]"),
        ("inputs: {x: {shape: [..., T]}}", "y[..., t] = x[..., t] - roll(x[..., t], 1, dims=-1)",
         "y[..., t] = x[..., t] - x[..., (t - 1) % T]"),
        ("inputs: {x: {shape: [N, D]}, y: {shape: [M, D]}}", "s[n, m] = cosine_similarity(x[n, d], y[m, d])",
         "s[n, m] = sum[d](x[n, d] * y[m, d]) / max(norm[d](x[n, d]) * norm[d](y[m, d]), 1e-8)"),
        ("inputs: {x: {shape: [N, D]}, y: {shape: [M, D]}}", "s[n, m] = cdist(x[n, d], y[m, d])",
         "s[n, m] = norm[d](x[n, d] - y[m, d])"),
        ("inputs: {x: {shape: [N, C]}}", "y[n, c] = one_hot(argmax[c](x[n, c])) + x[n, c]",
         "y[n, c] = where(c == argmax[m](x[n, m]), 1, 0) + x[n, c]"),
        ("inputs: {x: {shape: [N, C]}}", "y = F.one_hot(x.argmax(dim=-1), C)*x",
         "y[n, c] = where(c == argmax[m](x[n, m]), 1, 0) * x[n, c]"),
        ("inputs: {x: {shape: [N, K]}}", "y[n] = sum([x[n, k]**2 for k in range(K)])",
         "y[n] = sum[k < K](x[n, k]**2)"),
        ("inputs: {x: {shape: [N, K]}}", "y[n] = max(x[n, k] for k in range(K)) + 1",
         "y[n] = max[k < K](x[n, k]) + 1"),
        ("inputs: {x: {shape: [B, T, D]}, w: {shape: [B, T]}}", "y[b, d] = (x*w[..., None]).mean(1)",
         "y[b, d] = mean[t](x[b, t, d] * w[b, t])"),
        ("inputs: {a: {shape: [N, 4]}, b: {shape: [M, 4]}}", "y[n, m] = max(a[n, :2], b[m, :2])",
         "y[n, m, i < 2] = max(a[n, i], b[m, i])"),
        ("inputs: {x: {shape: [T, D]}}", "y = torch.arange(T)*2", "y[t < T] = t * 2"),
        ("inputs: {x: {shape: [N]}, m: {shape: []}}", "y[n] = (x[n] - m)^2 + m^2", "y[n] = (x[n] - m)**2 + m**2"),
        ("inputs: {h: {shape: [N, D]}, dst: {shape: [N], dtype: int}}\noutputs: {y: {shape: [N, D]}}",
         "y[dst[e], d] = sum[e](h[e, d])", "y[dst[e], d] += h[e, d]"),
        ("inputs: {x: {shape: [B, C, H, W]}}", "y = F.adaptive_avg_pool2d(x, 1)",
         "y[b, c] = mean[h, w](x[b, c, h, w])"),
    ],
)  # fmt: skip
def test_a_line_of_elements_is_written_out(fields: str, written: str, line: str) -> None:
    follow(whole(fields, written), {written: line})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("where(x[n] > 0, x[n])", "where(x[n] > 0, x[n], 0)"),
        ("log(x[n], 2)", "log(x[n])/log(2)"),
        ("softplus(x[n] + 1, beta)", "softplus(beta*(x[n] + 1))/beta"),
        ("round(x[n], 2)", "round(x[n]*10**2)/10**2"),
    ],
)
def test_a_call_with_other_arguments_is_written_out(written: str, meant: str) -> None:
    text = whole("inputs: {x: {shape: [N]}}\nparams: {beta: float}", f"y[n] = beta*{written}")
    (found,) = diagnosed(text)
    assert found.hints[0] == f"write `{meant}`"
    built(text.replace(written, meant))


@pytest.mark.parametrize(
    ("fields", "written", "lines"),
    [
        ("inputs: {x: {shape: [N]}}\nparams: {mode: {choices: [a, b]}}",
         'y[n] = where(mode == "a" and x[n] > 0, x[n], 0)',
         ['y[n] = where(x[n] > 0, x[n], 0) if mode == "a"', 'y[n < N] = 0 if mode != "a"']),
        ("inputs: {x: {shape: [N]}}\nparams: {mode: {choices: [a, b, c]}}",
         'y[n] = relu(x[n]) if mode == "a" else tanh(x[n]) if mode == "b" else x[n]',
         ['y[n] = relu(x[n]) if mode == "a"', 'y[n] = tanh(x[n]) if mode == "b"', 'y[n] = x[n] if mode == "c"']),
        ("inputs: {x: {shape: [N]}}\nparams: {mode: {choices: [a, b]}, how: {choices: [u, v]}}",
         'y[n] = where(not (mode == "a"), x[n], where(how == "u", 2*x[n], 1))',
         ['y[n] = 2 * x[n] if mode == "a" and how == "u"', 'y[n < N] = 1 if mode == "a" and how != "u"',
          'y[n] = x[n] if mode != "a"']),
        ("inputs: {x: {shape: [N]}}\nparams: {mode: {choices: [a, b]}}", 'y = x.sum() if mode == "a" else x.mean()',
         ['y = sum[n](x[n]) if mode == "a"', 'y = mean[n](x[n]) if mode != "a"']),
    ],
)  # fmt: skip
def test_a_choice_is_written_with_guards(fields: str, written: str, lines: list[str]) -> None:
    text = whole(fields, written)
    (found,) = diagnosed(text)
    assert [m for h in found.hints for m in re.findall(r"`([^`]+)`", h)][-len(lines) :] == lines
    follow(text, {written: "\n  ".join(lines)})


def test_new_axes_line_up_beside_fewer_indices() -> None:
    written = "z[n, m] = ((x[:, None, :] - y[None, :, :])**2).sum(-1)"
    text = whole("inputs: {x: {shape: [N, D]}, y: {shape: [M, D]}}", written)
    follow(text, {written: "z[n, m] = sum[d]((x[n, d] - y[m, d])**2)"})


def test_so_far_back_as_a_param_says_is_padded() -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [T]}}\nparams: {lag: int}", "y[t] = x[t] - x[t - lag]"))
    assert found.hints[0].startswith("write `pad(x[t - lag], 0)`")


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("y = F.dropout(x, p=0.3)", "y[n, d] = where(uniform(seed) >= 0.3, x[n, d] / (1 - 0.3), 0)"),
        ("y[n, d] = dropout(x[n, d], 0.3)", "y[n, d] = where(uniform(seed) >= 0.3, x[n, d] / (1 - 0.3), 0)"),
        ("y = x + 0.1*torch.randn_like(x)", "y[n, d] = x[n, d] + 0.1 * normal(seed)"),
        ("y = torch.rand_like(x)", "y[n < N, d < D] = uniform(seed)"),
    ],
)
def test_what_is_drawn_says_that_it_needs_a_seed(written: str, line: str) -> None:
    text = whole("inputs: {x: {shape: [N, D]}}", written)
    follow(text, {written: line, "inputs: {": "inputs: {seed: {dtype: seed}, "})


@pytest.mark.parametrize("step", ["y[n] += x[n, k]**2  # of all", "y[n] = y[n] + x[n, k]**2"])
def test_a_loop_that_adds_up_is_a_sum(step: str) -> None:
    written = ["y[n] = 0", "for k in range(K):", f"  {step}"]
    (found,) = diagnosed(whole("inputs: {x: {shape: [N, K]}}", *written))
    assert "`y[n] = sum[k](x[n, k]**2)` in place of the loop and of `y[n] = 0`" in found.hints[0]


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("y = scatter_sum(m, dst, dim=0)", "y[n < N, d < D] = 0\n  y[dst[e], d] += m[e, d]"),
        ('y = scatter(m, dst, dim=0, reduce="sum")', "y[n < N, d < D] = 0\n  y[dst[e], d] += m[e, d]"),
        (
            "y = h + scatter_sum(m, dst)",
            "total[n < N, d < D] = 0\n  total[dst[e], d] += m[e, d]\n  y[n, d] = h[n, d] + total[n, d]",
        ),
    ],
)
def test_a_sum_within_groups_has_a_value_for_each_group(written: str, lines: str) -> None:
    dst = "dst: {shape: [E], dtype: int, domain: 0 <= dst < N}"
    text = whole(f"inputs: {{m: {{shape: [E, D]}}, {dst}, h: {{shape: [N, D]}}}}", written)
    follow(text, {written: lines})


@pytest.mark.parametrize("back", ["t - p - 1", "t - p"])
def test_a_recurrence_goes_back_by_numbers_and_no_index(back: str) -> None:
    fields = "inputs: {x: {shape: [T]}, a: {shape: [P]}}"
    (found,) = diagnosed(whole(fields, f"y[t] = x[t] + sum[p](a[p]*y[{back}])"))
    assert "`a[0] * y[t - 1] + a[1] * y[t - 2]`" in found.hints[0]
    built(whole(fields, "y[t] = x[t] + a[0]*y[t - 1] + a[1]*y[t - 2]"))


def test_a_tensor_that_is_reduced_under_its_own_name_has_two() -> None:
    text = whole("inputs: {p: {shape: [B, N]}}", "loss = 1 - p.sum(-1)", "loss = loss.mean()")
    (found,) = diagnosed(text)
    lines = ["loss1[b] = 1 - sum[n](p[b, n])", "loss = mean[b](loss1[b])"]
    assert re.findall(r"`([^`]+)`", found.hints[-1]) == lines
    built(whole("inputs: {p: {shape: [B, N]}}", *lines))


@pytest.mark.parametrize("written", [["def f(v):", "  return v*sigmoid(v)"], ["f = lambda v: v*sigmoid(v)"]])
def test_a_function_of_python_is_declared(written: list[str]) -> None:
    fields = "inputs: {x: {shape: [N]}}"
    (found,) = diagnosed(whole(fields, *written, "y[n] = f(x[n])"))
    assert "`f(v): v*sigmoid(v)`" in found.hints[0]
    built(whole(f"{fields}\nfunctions:\n  f(v): v*sigmoid(v)", "y[n] = f(x[n])"))
