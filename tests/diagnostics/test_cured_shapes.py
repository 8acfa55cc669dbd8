"""A shape that is no list of dims: the list that is proposed builds, and nothing else is said of it."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said

READ = "op: cured\ninputs:\n  x:\n    shape: {}\nforward: |\n  y[...] = {}\n"


def spec(shape: str, dims: str) -> str:
    """A spec that reads its input at the dims of a list."""
    indices = ", ".join(f"i{k}" if d != "..." else d for k, d in enumerate(dims[1:-1].split(", ")))
    bound = ", ".join(i for i in indices.split(", ") if i != "...")
    return READ.format(shape, f"sum[{bound}](x[{indices}])" if bound else f"x[{indices}]")


@pytest.mark.parametrize(
    ("shape", "meant"),
    [
        ('"batch n 3"', "[Batch, N, 3]"),
        ('"B, N, 3"', "[B, N, 3]"),
        ('"(B, N)"', "[B, N]"),
        ('"((B, N))"', "[B, N]"),
        ('"BxNx3"', "[B, N, 3]"),
        ("2x3", "[2, 3]"),
        ("B × N", "[B, N]"),
        ('"N-by-D"', "[N, D]"),
        ('"B; N"', "[B, N]"),
        ("<B, N>", "[B, N]"),
        ("torch.Size([2, 3])", "[2, 3]"),
        ("Tensor[B, N]", "[B, N]"),
        ('"Float[b n]"', "[B, N]"),
        ('"b (h w) c"', "[B, HW, C]"),
        ('"[None, 3]"', "[N, 3]"),
        ('"-1, N, ?"', "[M, N, K]"),
        ("batch, n, d = 64", "[Batch, N, 64]"),
        ("2d", "[N, M]"),
        ("any shape", "[...]"),
        ("'*, K'", "[..., K]"),
        ("[[b, n]]", "[B, N]"),
        ("[BxN]", "[B, N]"),
        ('["B, N"]', "[B, N]"),
        ("{B, n}", "[B, N]"),
        ("{B: 2, N: 3}", "[B, N]"),
    ],
)
def test_what_stands_for_a_list_of_dims(shape: str, meant: str) -> None:
    text = spec(shape, meant)
    (found,) = diagnosed(text)
    assert said(text)[0] == meant
    assert found.edit is not None
    built(spec(meant, meant))


@pytest.mark.parametrize("shape", ["(B, N) or (N)", '"b n -> b"', '"B/N"', '"B:N"', '"N^2"', "x y; <z"])
def test_a_shape_that_may_be_several_is_shown_by_an_example(shape: str) -> None:
    (found,) = diagnosed(spec(shape, "[N]"))
    assert found.hints == ("a list of dims holds names and numbers: `[N, 3]`, with `...` for any number of batch dims",)


def test_a_list_of_one_dim_is_a_shape() -> None:
    for shape in ("[Box]", "[K]", "[XN]"):
        built(spec(shape, shape))
