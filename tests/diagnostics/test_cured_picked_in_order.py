"""What torch picks by order, with its values and places, and what it computes so far or in windows: one message."""

from __future__ import annotations

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole

N, D, K = 3, 5, 2
FIELDS = (
    "inputs: {x: {shape: [N, D]}, w: {shape: [3]}, v: {shape: [K]}}\n"
    "params: {k: {type: int, default: 2, domain: 0 < k <= D}}\noutputs: [y]"
)
DRAWN = torch.Generator().manual_seed(0)
VALUES = {"x": torch.randn(N, D, generator=DRAWN), "w": torch.randn(3, generator=DRAWN),
          "v": torch.randn(K, generator=DRAWN)}  # fmt: skip
CALLS = [
    "torch.sort(x, -1, True)[0]",
    "x.sort(-1)[0]",
    "x.sort(descending=True)[0]",
    "torch.sort(x)[0][..., :k]",
    "torch.sort(x, descending=True)[0][:, :k]",
    "torch.sort(x).indices",
    "x.sort(dim=0, descending=True).indices",
    "x.topk(3)[0]",
    "torch.topk(x, k).values",
    "torch.topk(x, k)[1]",
    "x.topk(k, dim=0).indices",
    "x.topk(k, largest=False)[1]",
    "x.topk(k)[0].sum(-1)",
    "x.topk(k).values.mean(dim=-1)",
    "x.median(-1)[0]",
    "x.max(-1).indices",
    "x.cummax(-1)[0]",
    "torch.cummin(x, dim=0).values",
    "x.unfold(-1, 3, 1).mean(-1)",
    "x.unfold(1, k, 2)",
    "x.unfold(0, 2, 1).amax(-1)",
    "(x.unfold(-1, 3, 1) * w).sum(-1)",
    "x.unfold(-1, K, 1) @ v",
    "(2*x.unfold(0, 2, 1)).mean(-1)",
    "(2*x.T).mean(-1)",
    "torch.exp(x.T).sum(0)",
    "x.amax(-1)",
]


@pytest.mark.parametrize("call", CALLS)
def test_the_lines_give_what_the_call_gives(call: str) -> None:
    text = whole(FIELDS, f"y = {call}")
    (found,) = diagnosed(text)
    lines = [line for line in said(text) if " = " in line]
    assert lines, found
    read = {n: v for n, v in VALUES.items() if any(f"{n}[" in line for line in lines)}
    declared = ", ".join(f"{n}: {{shape: [{s}]}}" for n, s in (("x", "N, D"), ("w", "3"), ("v", "K")) if n in read)
    fields = FIELDS.replace(FIELDS.partition("\n")[0], f"inputs: {{{declared}}}")
    if not any("k" in line for line in lines):
        fields = fields.replace("params: {k: {type: int, default: 2, domain: 0 < k <= D}}\n", "")
    program = built(whole(fields, *lines)).variants[0].program
    made = run(program, {n: array(v.tolist()) for n, v in read.items()}, {"k": 2} if "params" in fields else {})["y"]
    wanted = eval(call, {"torch": torch, "k": 2, "K": K, **VALUES})
    torch.testing.assert_close(torch.tensor(made.data).reshape(wanted.shape).float(), wanted.float())


def test_what_is_around_the_greatest_stays() -> None:
    (hint,) = [h for d in diagnosed(whole(FIELDS, "y = 2*x.topk(k)[0]")) for h in d.hints if "order" in h]
    assert hint.endswith("`x[n, order[n, D - 1 - j]]` here, over `j < k`, as in `y[n, j < k] = …`")


def test_what_nothing_reads_is_no_statement() -> None:
    assert said(whole(FIELDS, "y, _ = x.sort(descending=True)")) == ["y[n, d] = -sort[d](-x[n, d])"]


def test_a_window_that_is_reduced_lends_the_target_no_index() -> None:
    assert said(whole(FIELDS, "y[n, d] = x.unfold(-1, 3, 1).mean(-1)")) == [
        "y[n, d < D - 2] = mean[i < 3](x[n, d + i])"
    ]


@pytest.mark.parametrize("call", ["x.rolling(3).mean()", "x.ewm(alpha=0.1).mean()"])
def test_data_frames_are_answered(call: str) -> None:
    (found,) = diagnosed(whole(FIELDS, f"y = {call}"))
    assert any("y[t" in hint for hint in found.hints)
