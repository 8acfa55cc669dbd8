"""What is picked by order from a value that is no tensor: it has a name of its own, and then its order is read."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

FIELDS = "inputs: {x: {shape: [N, E]}}\nparams: {k: {type: int, domain: 0 < k <= E}}"


@pytest.mark.parametrize(
    ("of", "read", "here"),
    [
        ("softmax[e](x[n, e])", "softmax[e](x[n, e])", "p[n, order[n, E - 1 - j]]"),
        ("exp(x[n, e])", "exp(x[n, e])", "p[n, order[n, E - 1 - j]]"),
        ("-exp(x[n, e])", "exp(x[n, e])", "(-p[n, order[n, j]])"),
    ],
)
@pytest.mark.parametrize("call", ["topk[e]({}, k)", "torch.topk({}, k)", "topk({}, k)"])
def test_the_largest_of_a_value(of: str, read: str, here: str, call: str) -> None:
    lines = said(whole(FIELDS, f"w[n, j < k] = {call.format(of)}"))
    named, order, shown = [line for line in lines if line.startswith(("p[", "order[", "(-p["))]
    assert (named, shown) == (f"p[n, e] = {read}", here)
    built(whole(FIELDS, named, order, f"w[n, j < k] = {here}"))


def test_a_mask_of_the_largest_of_a_value() -> None:
    named, mask = said(whole(FIELDS, "w[n, e] = topk[e](exp(x[n, e]), k)"))
    assert mask == "w[n, e] = p[n, e] >= kth[j](p[n, j], E - k + 1)"
    built(whole(FIELDS, named, mask))
