"""Axes that other libraries group anew or put in another order: the line that is said computes what torch does."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

SIZES = {"B": 2, "T": 5, "H": 2, "K": 3, "M": 4, "L": 6}
SHAPES = {
    "x": "BTL", "z": "BTL", "h": "BHTK", "q": "BHTK", "a": "BHTT", "m": "BMTK", "w": "LL", "c": "M", "r": "TK",
    "s": "LM",
}  # fmt: skip
PARAMS = "params: {heads: {type: int, default: 2}}"
SIXTHS = torch.tensor([0, 2, 1, 1, 0])


def fields(formula: str) -> str:
    used = [n for n in SHAPES if re.search(rf"\b{n}\b", formula)]
    inputs = [f"{n}: {{shape: [{', '.join(SHAPES[n])}]}}" for n in used]
    if re.search(r"\bi\b", formula):
        inputs.append("i: {shape: [T], dtype: int}")
    return f"inputs: {{{', '.join(inputs)}}}\n{PARAMS}"


def numbers() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    made = {n: torch.randn([SIZES[d] for d in dims], dtype=torch.float64) for n, dims in SHAPES.items()}
    return {**made, "i": SIXTHS}


def followed(target: str, formula: str) -> torch.Tensor:
    """What is computed by the lines that the message about one statement says."""
    (found,) = diagnosed(whole(fields(formula), f"{target} = {formula}"))
    said = [line for hint in found.hints for line in re.findall(r"`(\w+(?:\[[^`=]*\])? = [^`]*)`", hint)]
    (variant,) = built(whole(fields(formula), *said)).variants
    given = {n: array(v.tolist()) for n, v in numbers().items() if re.search(rf"\b{n}\b", formula)}
    made = run(variant.program, given, {"heads": 2})["y"]
    return torch.tensor(made.data, dtype=torch.float64).reshape(made.shape)


FORMULAS = [
    "h.transpose(1, 2).reshape(B, T, H*K)",
    "h.transpose(1, 2).contiguous().view(B, T, -1)",
    "h.permute(0, 2, 1, 3).flatten(2)",
    "x.view(B, T, heads, -1).transpose(1, 2)",
    "x.reshape((B, T, heads, L//heads)).permute(0, 2, 1, 3)",
    "x.unflatten(-1, (heads, -1)).transpose(1, 2)",
    "x.unflatten(2, (2, 3)).sum(-1)",
    "m.flatten(1)",
    "m.flatten(1, 2)",
    "m.flatten(start_dim=1, end_dim=-2)",
    "torch.flatten(m, 2).transpose(1, 2)",
    "m.flatten().sum()",
    "m.ravel()",
    "m.permute(0, 2, 3, 1).reshape(B, -1, M)",
    "(a @ q).transpose(1, 2).reshape(B, T, H*K)",
    "(a.softmax(-1) @ q).transpose(1, 2).flatten(2)",
    "(q @ q.transpose(-2, -1)).flatten(1)",
    "(x @ w).view(B, T, 2, 3).transpose(1, 2)",
    "(2*x + 1).view(B*T, L).sum(0)",
    "(x.view(B*T, L) @ w).view(B, T, L)",
    "(x.view(B, T, 2, 3) * z.view(B, T, 2, 3)).sum(-1)",
    "x.view(B, T, heads, L//heads).softmax(-1).view(B, T, L)",
    "x.view(B, T, 2, 3).mean(2).flatten()",
    "s.view(L//2, 2, M).mean(1)",
    "s.reshape(-1, 2, M).amax(1)",
    "x.reshape(B, T//5, 5, L//2, 2).mean((2, 4))",
    "m * c.view(1, M, 1, 1)",
    "m * c.reshape(-1, 1, 1)",
    "m.permute(3, 2, 1, 0)",
    "x.movedim(0, -1)",
    "x.moveaxis(2, 0)",
    "x.mT.sum(-1)",
    "x.adjoint()",
    "x.swapaxes(0, 2)",
    "r.T.roll(1, 0)",
    "r.T.flip(0)",
    "torch.diff(r.T, dim=0)",
    "r.T.repeat(2, 1)",
    "r.T.repeat_interleave(2, dim=0)",
    "r.T.unfold(0, 2, 1)",
    "x.transpose(1, 2).roll(1, 1)",
    "x.mT.flip(1)",
    "F.glu(s.T, 1)",
    "r[-1] * r[:, -1].sum()",
]


def expected(formula: str) -> torch.Tensor:
    names = {**numbers(), **SIZES, "heads": 2, "torch": torch, "F": torch.nn.functional}
    return torch.as_tensor(eval(formula, names)).double()


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_line_computes_what_torch_does(formula: str) -> None:
    torch.testing.assert_close(followed("y", formula), expected(formula))


@pytest.mark.parametrize(
    ("formula", "as_torch"),
    [
        ("rearrange(x, '... (h d) -> ... h d', h=heads)", "x.view(B, T, 2, 3)"),
        ("rearrange(h, 'b h t d -> b t (h d)')", "h.transpose(1, 2).flatten(2)"),
        ("rearrange(a @ q, 'b h t d -> b t (h d)')", "(a @ q).transpose(1, 2).flatten(2)"),
        ("rearrange(x, 'b ... d -> b d ...')", "x.mT"),
        ("reduce(x + z, 'b t (h d) -> b h', 'sum', h=2)", "(x + z).view(B, T, 2, 3).sum((1, 3))"),
        ("np.transpose(x, (0, 2, 1))", "x.mT"),
        ("x.transpose(0, 2, 1)", "x.mT"),
        ("np.transpose(x)", "x.permute(2, 1, 0)"),
        ("x.T", "x.permute(2, 1, 0)"),
        ("2*x.T", "2*x.permute(2, 1, 0)"),
        ("np.moveaxis(x, 0, -1)", "x.movedim(0, -1)"),
        ("r.H", "r.T"),
        ("one_hot(i, 3).T", "torch.nn.functional.one_hot(i, 3).T"),
    ],
)
def test_the_line_computes_what_numpy_and_einops_do(formula: str, as_torch: str) -> None:
    torch.testing.assert_close(followed("y", formula), expected(as_torch))


@pytest.mark.parametrize(
    ("target", "formula", "as_torch"),
    [
        ("y[b, h, t, d]", "x.view(B, T, 2, 3).transpose(1, 2)", "x.view(B, T, 2, 3).transpose(1, 2)"),
        ("y[b, h, d, t]", "x.view(B, T, 2, 3).permute(0, 2, 3, 1)", "x.view(B, T, 2, 3).permute(0, 2, 3, 1)"),
        ("y[b, t, h, d]", "x.unflatten(-1, (2, 3))", "x.view(B, T, 2, 3)"),
        ("y[p, e]", "one_hot(i, 3).T", "torch.nn.functional.one_hot(i, 3).T"),
    ],
)
def test_the_indices_of_the_target_stand_at_the_places_of_the_axes(target: str, formula: str, as_torch: str) -> None:
    torch.testing.assert_close(followed(target, formula), expected(as_torch))


@pytest.mark.parametrize("formula", ["x.view(T, B, L)", "x.view(B, H, K, T)", "x.flatten(1).view(7, 11)"])
def test_no_line_is_said_where_the_sizes_do_not_tell_how(formula: str) -> None:
    (found,) = diagnosed(whole(fields(formula), f"y = {formula}"))
    assert not [hint for hint in found.hints if hint.startswith("write")]
