"""Calls of other libraries that count or look for places: each has a whole line here."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

READ = (
    "inputs: {x: {shape: [N, M]}, v: {shape: [N]}, edges: {shape: [K]}, ids: {shape: [N], dtype: int},"
    " q: {shape: [B, T, D]}, k: {shape: [B, U, D]}, img: {shape: [N, H, W]}, mask: {shape: [N, M], dtype: bool}}\n"
    "params: {num: {type: int}}"
)
UNREAD = "\nparams: {num: {type: int}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[n] = searchsorted(edges, v[n])", "y[n] = count[p](edges[p] < v[n])"),
        ("y[n] = searchsorted(edges, v[n], right=True)", "y[n] = count[p](edges[p] <= v[n])"),
        ("y = torch.bucketize(v, edges)", "y[n] = count[p](edges[p] < v[n])"),
        ("y[n] = np.digitize(v[n], edges)", "y[n] = count[p](edges[p] <= v[n])"),
        ("y = bincount(ids, num)", "y[m < num] = count[n](ids[n] == m)"),
        ("y = bincount(ids, minlength=num)", "y[m < num] = count[n](ids[n] == m)"),
        ("y[b] = bincount(ids, num)/N", "y[b < num] = count[n](ids[n] == b) / N"),
        ("y = einsum(q, k, 'b t d, b u d -> b t u')", "y[b, t, u] = sum[d](q[b, t, d] * k[b, u, d])"),
        ("y = einsum(q, k, 'b time d, b u d -> b time u')", "y[b, time, u] = sum[d](q[b, time, d] * k[b, u, d])"),
        ("y[n, m] = where(mask[n, m], x[n, m], finfo.min)", "y[n, m] = where(mask[n, m], x[n, m], -inf)"),
        (
            "y[n, m] = where(mask[n, m], x[n, m], torch.finfo(x.dtype).min)",
            "y[n, m] = where(mask[n, m], x[n, m], -inf)",
        ),
        ("y[n] = min(v[n], np.finfo(np.float32).max)", "y[n] = min(v[n], inf)"),
    ],
)
def test_a_call_is_one_line(line: str, meant: str) -> None:
    assert meant in said(whole(READ, line))
    built(whole(READ.removesuffix(UNREAD) if "num" not in meant else READ, meant), warned=True)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (
            "y[n] = mean(topk[j](x[n, j], num))",
            ["order[n, j] = argsort[j](x[n, j])", "y[n] = mean[i < num](x[n, order[n, M - 1 - i]])"],
        ),
        (
            "y[n] = sum(topk(x[n], num))",
            ["order[n, m] = argsort[m](x[n, m])", "y[n] = sum[j < num](x[n, order[n, M - 1 - j]])"],
        ),
        (
            "i[n], j[n] = argmax[h, w](img[n, h, w])",
            ["at[n] = argmax[m < H*W](img[n, m//W, m % W])", "i[n] = at[n]//W", "j[n] = at[n] % W"],
        ),
        (
            "i, j = argmin[h, w](abs(img[n, h, w] - v[n]))",
            ["at[n] = argmin[m < H*W](abs(img[n, m//W, m % W] - v[n]))", "i[n] = at[n]//W", "j[n] = at[n] % W"],
        ),
    ],
)
def test_a_call_is_several_lines(line: str, meant: list[str]) -> None:
    assert [told for told in said(whole(READ, line)) if "=" in told] == meant
    built(whole(READ, *meant), warned=True)


@pytest.mark.parametrize("line", ["y[n, m] = (1 - mask[n, m])*torch.finfo(x.dtype).min", "y[n] = v[n]*finfo.max"])
def test_an_infinity_is_no_factor(line: str) -> None:
    assert not any("inf" in told and "=" in told for told in said(whole(READ, line)))


def test_the_reduction_of_more_than_the_largest_has_no_line() -> None:
    assert not any(
        "mean[" in told and "order" in told for told in said(whole(READ, "y[n] = mean(topk(x[n], num) + 1)"))
    )
