"""Diagonals, repeats, rolls and what is taken along an axis, as other libraries call them: the lines offered build."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, said, whole

FIELDS = (
    "inputs: {a: {shape: [..., N, N]}, mat: {shape: [N, M]}, v: {shape: [N]}, x: {shape: [B, H, W]},"
    " cube: {shape: [B, N, N]}, ids: {shape: [..., K], dtype: int}, rows: {shape: [N, K], dtype: int},"
    " at: {shape: [K], dtype: int}, z: {shape: [..., L, D]}}\nparams: {r: {type: int, default: 2, domain: r >= 1}}"
)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        ("diagonal(a)", "y[..., n] = a[..., n, n]"),
        ("a.diagonal(dim1=-2, dim2=-1)", "y[..., n] = a[..., n, n]"),
        ("cube.diagonal(1, 1, 2)", "y[b, n < N - 1] = cube[b, n, n + 1]"),
        ("a.diagonal(offset=-1)", "y[..., n < N - 1] = a[..., n + 1, n]"),
        ("torch.diag(v)", "y[n, n2 < N] = where(n == n2, v[n], 0)"),
        ("torch.diag_embed(mat)", "y[n, m, m3 < M] = where(m == m3, mat[n, m], 0)"),
        ("fill_diagonal(a, r)", "y[..., n, n3] = where(n == n3, r, a[..., n, n3])"),
        ("x.repeat_interleave(3, dim=1)", "y[b, h < 3 * H, w] = x[b, h // 3, w]"),
        ("torch.repeat_interleave(z, r, dim=-1)", "y[..., l, d < r * D] = z[..., l, d // r]"),
        ("mat.repeat(r, 1)", "y[n < r * N, m] = mat[n % N, m]"),
        ("tile(x, (1, 2, 2))", "y[b, h < 2 * H, w < 2 * W] = x[b, h % H, w % W]"),
        ("torch.roll(x, shifts=(-r, 1), dims=(1, 2))", "y[b, h < H, w < W] = x[b, (h + r) % H, (w - 1) % W]"),
        ("flip(x, [1, 2])", "y[b, h < H, w < W] = x[b, H - h - 1, W - w - 1]"),
        ("fliplr(mat)", "y[n, m < M] = mat[n, M - m - 1]"),
        ("torch.index_select(z, dim=-2, index=at)", "y[..., k, d] = z[..., at[k], d]"),
        ("mat.gather(index=rows, dim=1)", "y[n, k] = mat[n, rows[n, k]]"),
        ("take_along_dim(mat, rows, dim=1)", "y[n, k] = mat[n, rows[n, k]]"),
        ("np.take_along_axis(mat, rows, axis=-1)", "y[n, k] = mat[n, rows[n, k]]"),
    ],
)
def test_a_call_along_whole_axes_has_its_line(call: str, meant: str) -> None:
    line = said(whole(FIELDS, f"y = {call}"))[-1]
    assert line == meant
    built(whole(FIELDS, line))


def test_sizes_that_differ_have_no_diagonal_of_one_index() -> None:
    assert not any("y[" in told for told in said(whole(FIELDS, "y = mat.diagonal()")))


SCATTERS = (
    "inputs: {out: {shape: [N, D]}, x: {shape: [E, D]}, ids: {shape: [E], dtype: int}, all: {shape: [E, D],"
    " dtype: int}, row: {shape: [N, E]}, at: {shape: [N, E], dtype: int}}\nparams: {count: {type: int, default: 4}}"
)


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ("torch.index_add(out, 0, ids, x)", ["y[n, d] = out[n, d]", "y[ids[e], d] += x[e, d]"]),
        ("torch.scatter_add(out, 0, all, x)", ["y[n, d] = out[n, d]", "y[all[e, d], d] += x[e, d]"]),
        ("out.scatter_add(-1, at, row)", ["y[n, d] = out[n, d]", "y[n, at[n, e]] += row[n, e]"]),
        ("zeros(count, D).scatter_add(0, all, x)", ["y[n < count, d < D] = 0", "y[all[e, d], d] += x[e, d]"]),
    ],
)
def test_what_adds_up_along_an_axis_is_a_scatter(call: str, lines: list[str]) -> None:
    assert said(whole(SCATTERS, f"y = {call}")) == lines
    built(whole(SCATTERS, *lines))


def test_an_axis_in_front_of_groups_is_no_value() -> None:
    lines = said(whole(SCATTERS, "y = scatter_add(0, ids, x)"))
    assert lines[:2] == ["y[g < G, d < D] = 0", "y[ids[e], d] += x[e, d]"]
