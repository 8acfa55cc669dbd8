"""Calls of torch, NumPy and TensorFlow by rows and axes: the line that is proposed computes what the library does."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

DRAWN = torch.Generator().manual_seed(0)
TENSORS = {
    "x": torch.randn(3, 4, generator=DRAWN), "w": torch.rand(3, 4, generator=DRAWN),
    "u": torch.randn(4, generator=DRAWN), "v": torch.randn(4, generator=DRAWN), "c": torch.randn(3, 2, generator=DRAWN),
    "k": torch.randn(4, 2, generator=DRAWN), "q": torch.randn(2, 3, generator=DRAWN),
    "ids": torch.tensor([[0, 3, 1, 1], [2, 2, 0, 3], [1, 0, 3, 2]]), "pos": torch.tensor([3, 0, 1, 1, 2]),
    "z": torch.randn(2, 3, 4, generator=DRAWN),
}  # fmt: skip
DECLARED = {
    "x": "{shape: [B, N]}", "w": "{shape: [B, N]}", "u": "{shape: [N]}", "v": "{shape: [N]}", "c": "{shape: [B, M]}",
    "k": "{shape: [N, M]}", "q": "{shape: [P, Q]}", "ids": "{shape: [B, N], dtype: int, domain: 0 <= ids < N}",
    "pos": "{shape: [E], dtype: int, domain: 0 <= pos < 4}", "z": "{shape: [G, C, H]}",
}  # fmt: skip
Values = dict[str, torch.Tensor]
CASES: list[tuple[str, Callable[[Values], torch.Tensor]]] = [
    ("torch.kron(q, x)", lambda t: torch.kron(t["q"], t["x"])),
    ("np.gradient(u)", lambda t: torch.gradient(t["u"])[0]),
    ("np.gradient(x, 0.5, axis=0)", lambda t: torch.gradient(t["x"], spacing=0.5, dim=0)[0]),
    ("torch.histc(x, bins=5, min=-1, max=2)", lambda t: torch.histc(t["x"], 5, -1, 2)),
    ("torch.outer(u, v)", lambda t: torch.outer(t["u"], t["v"])),
    ("np.multiply.outer(u, v)", lambda t: torch.outer(t["u"], t["v"])),
    ("np.add.reduce(x)", lambda t: t["x"].sum(0)),
    ("np.logaddexp.reduce(x, axis=1)", lambda t: t["x"].logsumexp(1)),
    ("np.add.accumulate(x, 1)", lambda t: t["x"].cumsum(1)),
    ("np.average(x, weights=w)", lambda t: (t["x"] * t["w"]).sum() / t["w"].sum()),
    ("np.average(x, axis=0, weights=w)", lambda t: (t["x"] * t["w"]).sum(0) / t["w"].sum(0)),
    ("np.average(x, axis=-1, weights=v)", lambda t: (t["x"] * t["v"]).sum(1) / t["v"].sum()),
    ("cumsum[n](x[b, n], reverse=True)", lambda t: t["x"].flip(1).cumsum(1).flip(1)),
    ("jax.lax.cumsum(x, axis=1, reverse=True)", lambda t: t["x"].flip(1).cumsum(1).flip(1)),
    ("tf.cumsum(x, axis=1, exclusive=True)", lambda t: t["x"].cumsum(1) - t["x"]),
    ("tf.cumsum(x, axis=0, exclusive=True, reverse=True)", lambda t: t["x"].flip(0).cumsum(0).flip(0) - t["x"]),
    ("tf.math.cumprod(x, 1, reverse=True)", lambda t: t["x"].flip(1).cumprod(1).flip(1)),
    ("np.ptp(x, axis=1)", lambda t: t["x"].amax(1) - t["x"].amin(1)),
    ("torch.dist(x, w, p=3)", lambda t: torch.dist(t["x"], t["w"], p=3)),
    ("torch.linalg.vector_norm(x, ord=3, dim=1)", lambda t: torch.linalg.vector_norm(t["x"], ord=3, dim=1)),
    ("np.linalg.norm(x, 'fro')", lambda t: torch.linalg.norm(t["x"])),
    ("F.normalize(x, p=1, dim=1)", lambda t: functional.normalize(t["x"], p=1, dim=1)),
    ("F.normalize(z)", lambda t: functional.normalize(t["z"])),
    ("F.cosine_similarity(z, z)", lambda t: functional.cosine_similarity(t["z"], t["z"])),
    ("torch.tile(x, (2,))", lambda t: torch.tile(t["x"], (2,))),
    ("np.repeat(x, 2, axis=1)", lambda t: t["x"].repeat_interleave(2, 1)),
    ("np.take(x, pos, axis=1)", lambda t: t["x"][:, t["pos"]]),
    ("torch.gather(x, 1, ids)", lambda t: torch.gather(t["x"], 1, t["ids"])),
    ("np.take_along_axis(x, ids, axis=1)", lambda t: torch.gather(t["x"], 1, t["ids"])),
    ("torch.addmm(c, x, k, beta=0.5, alpha=2)", lambda t: torch.addmm(t["c"], t["x"], t["k"], beta=0.5, alpha=2)),
    ("torch.addcmul(x, w, x, value=0.5)", lambda t: torch.addcmul(t["x"], t["w"], t["x"], value=0.5)),
    ("torch.addcdiv(x, x, w)", lambda t: torch.addcdiv(t["x"], t["x"], t["w"])),
    ("torch.add(x, w, alpha=2)", lambda t: torch.add(t["x"], t["w"], alpha=2)),
    ("torch.lerp(x, w, weight=0.3)", lambda t: torch.lerp(t["x"], t["w"], 0.3)),
    ("x.clamp_min(0.2)", lambda t: t["x"].clamp_min(0.2)),
    ("torch.clamp_max(x, max=0.2)", lambda t: t["x"].clamp_max(0.2)),
    ("torch.nan_to_num(x, nan=1.0)", lambda t: torch.nan_to_num(t["x"], nan=1.0)),
    ("x.data*w", lambda t: t["x"] * t["w"]),
    ("cast(x, torch.int4)", lambda t: t["x"].round().clamp(-8, 7)),
    ("torch.tensor(0.5)*x", lambda t: t["x"] * 0.5),
]


@pytest.mark.parametrize(("written", "meant"), CASES, ids=[written for written, _ in CASES])
def test_the_line_computes_what_the_library_does(written: str, meant: Callable[[Values], torch.Tensor]) -> None:
    names = [n for n in DECLARED if n in re.findall(r"\w+", written)]
    fields = f"inputs: {{{', '.join(f'{n}: {DECLARED[n]}' for n in names)}}}"
    line = next(s for s in said(whole(fields, f"out = {written}")) if re.match(r"out\b.* = ", s))
    (variant,) = built(whole(fields, line)).variants
    made = run(variant.program, {n: array(TENSORS[n].tolist()) for n in names})["out"]
    expected = meant(TENSORS).float()
    torch.testing.assert_close(torch.tensor(made.data, dtype=torch.float32).reshape(expected.shape), expected)


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("np.maximum.accumulate(x, axis=1)", ("out[b, -1] = -inf", "out[b, n] = max(out[b, n - 1], x[b, n])")),
        ("np.minimum.accumulate(x)", ("out[-1, n] = inf", "out[b, n] = min(out[b - 1, n], x[b, n])")),
    ],
)
def test_running_extremes_are_recurrences(written: str, lines: tuple[str, ...]) -> None:
    fields = "inputs: {x: {shape: [B, N]}}"
    assert said(whole(fields, f"out = {written}"))[-2:] == [*lines]
    built(whole(fields, *lines))


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("x + 0xFF", "x[b, n] + 255"), ("0b101*x", "5 * x[b, n]"), ("1_000.5*x", "1000.5 * x[b, n]"),
        ("x and w", "x[b, n] != 0 and w[b, n] != 0"), ("not x", "not x[b, n] != 0"),
        ("where(x > 0, x, -Inf)", "where(x[b, n] > 0, x[b, n], -inf)"), ("(x > 0) == True", "(x[b, n] > 0) == true"),
    ],
)  # fmt: skip
def test_numbers_conditions_and_constants_are_as_they_are_written_here(written: str, line: str) -> None:
    fields = "inputs: {x: {shape: [B, N]}, w: {shape: [B, N]}}"
    assert f"out[b, n] = {line}" in said(whole(fields, f"out = {written}"))
    built(whole(fields, f"out[b, n] = {line}", "other[b, n] = x[b, n] + w[b, n]"))


@pytest.mark.parametrize(
    ("lines", "cures"),
    [
        (("with torch.no_grad():", "  m = x*y", "out = m*x"), ("m = detach(x*y)",)),
        (("with torch.autocast('cuda'):", "  out = x*y"), ("out = x*y",)),
    ],
)
def test_blocks_are_statements(lines: tuple[str, ...], cures: tuple[str, ...]) -> None:
    (found,) = diagnosed(whole("inputs: [x, y]", *lines))
    assert all(f"`{cure}`" in found.hints[0] for cure in cures)
    built(whole("inputs: [x, y]", *cures, *lines[2:]))


@pytest.mark.parametrize("line", ["torch.no_grad()", "@torch.no_grad()", "x.requires_grad = False"])
def test_lines_about_gradients_are_left_away(line: str) -> None:
    (found,) = diagnosed(whole("inputs: [x, y]", line, "out = x*y"))
    assert found.hints[0].startswith("leave the line away")


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("cast(x, fp8)", "cast(x, float8_e4m3fn)"), ("cast(x, y.dtype)", "cast(x, y)"),
        ("cast(int8, x)", "cast(x, int8)"),
        ("cast(x, dtype=int8)", "cast(x, int8)"), ("cast(x, torch.uint8)", "cast(x, uint8)"),
        ("cast(x, torch.float16)", "x"), ("np.float32(0.5)*x", "0.5 * x"),
    ],
)  # fmt: skip
def test_dtypes_of_casts_are_named_as_here(written: str, line: str) -> None:
    assert f"out = {line}" in said(whole("inputs: [x, y]", f"out = {written}"))
    built(whole("inputs: [x, y]", f"out = {line}", "other = x*y"))
