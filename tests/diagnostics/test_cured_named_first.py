"""Elements of what keeps its index, as of `cumsum`, in another order: it is named first, and the lines are as meant."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

X = torch.randn(5, generator=torch.Generator().manual_seed(0))
Y = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
FIELDS = "inputs: {x: {shape: [N]}, y: {shape: [B, T]}}"


def followed(statement: str) -> torch.Tensor:
    """The result of the lines that are said of a statement, in its place."""
    (found,) = diagnosed(whole(FIELDS, statement))
    (said,) = (h for h in found.hints if "name them all: write" in h)
    target = statement.partition(" =")[0].partition("[")[0]
    text = whole(f"{FIELDS}\noutputs: [{target}]", *re.findall(r"`([^`]+ = [^`]+)`", said))
    program = built(text).variants[0].program
    given = {"x": X, "y": Y}
    (made,) = run(program, {t.name: array(given[t.name].tolist()) for t in program.inputs}, {}).values()
    return torch.tensor(made.data).reshape(made.shape).float()


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        ("z[i] = logcumsumexp[i](x[::-1])[::-1]", X.flip(0).logcumsumexp(0).flip(0)),
        ("z[i] = logcumsumexp[i](x[::-1])[N - i - 1]", X.flip(0).logcumsumexp(0).flip(0)),
        ("z[i] = logcumsumexp[i](x[N - 1 - i])[N - 1 - i]", X.flip(0).logcumsumexp(0).flip(0)),
        ("z[j] = cumsum[i](x[::-1])[::-1]", X.flip(0).cumsum(0).flip(0)),
        ("z[i] = cumsum(x[::-1])[::-1]", X.flip(0).cumsum(0).flip(0)),
        ("z = cumsum(x[::-1])[::-1]", X.flip(0).cumsum(0).flip(0)),
        ("z[i] = x[::-1].cumsum(0)[::-1]", X.flip(0).cumsum(0).flip(0)),
        ("z[i] = x.flip(0).cumsum(0).flip(0)", X.flip(0).cumsum(0).flip(0)),
        ("z[i] = flip(cumsum(flip(x, [0]), 0), [0])", X.flip(0).cumsum(0).flip(0)),
        ("z[i] = torch.flip(torch.cumsum(x, dim=0), dims=(0,))", X.cumsum(0).flip(0)),
        ("z[i] = roll(cumsum(x, 0), 1)", X.cumsum(0).roll(1)),
        ("z = diff(cumsum(x, 0))", X.cumsum(0).diff()),
        ("z[i] = x[i] - cumsum[i](x[::-1])[::-1]", X - X.flip(0).cumsum(0).flip(0)),
        ("z = sum[i](x[i]*cumsum[i](x[::-1])[::-1])", (X * X.flip(0).cumsum(0).flip(0)).sum()),
        ("z[i] = softmax[i](x[i])[::-1]", X.softmax(0).flip(0)),
        ("z[i] = cumsum[i](x[i])[1:]", X.cumsum(0)[1:]),
        ("z[i] = cumsum[i](x[i])[:-1]", X.cumsum(0)[:-1]),
        ("z[i] = cumsum[i](x)[::2]", X.cumsum(0)[::2]),
        ("z[i] = x[i]/cumsum[i](x[i])[-1]", X / X.sum()),
        ("z[b, t] = cumsum[t](y[b, ::-1])[b, ::-1]", Y.flip(1).cumsum(1).flip(1)),
        ("z[b, t] = cumsum[t](y[b, t])[..., ::-1]", Y.cumsum(1).flip(1)),
        ("z[b] = y.cumsum(1)[:, -1]", Y.sum(1)),
        ("z = torch.cumsum(y, 1)[:, -2]", Y[:, :3].sum(1)),
        ("z = y.softmax(-1)[..., 0]", Y.softmax(1)[:, 0]),
        ("z[b, t] = cumsum[t](y[:, ::-1])[:, ::-1]", Y.flip(1).cumsum(1).flip(1)),
        ("z[b, t] = y.flip(-1).cumsum(-1).flip(-1)", Y.flip(1).cumsum(1).flip(1)),
        ("z[b, t] = flip(log(cumsum(exp(flip(y, [1])), dim=1)), [1])", Y.flip(1).logcumsumexp(1).flip(1)),
    ],
)
def test_elements_of_what_keeps_its_index(statement: str, meant: torch.Tensor) -> None:
    torch.testing.assert_close(followed(statement), meant)


def test_it_is_named_once() -> None:
    (found,) = diagnosed(whole(FIELDS, "z[i] = cumsum[i](x[i])[::-1] - cumsum[i](x[i])[N - 1]"))
    assert str(found.hints).count("cumsum[i](x[i])") == 1
