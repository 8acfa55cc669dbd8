"""Functions in brackets, signs of other languages, and lists: what is proposed builds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

X = "inputs: {x: {shape: [N, D]}}\nparams: {c: {type: float, default: 3.0}}"
CELLS = "inputs: {cell: {shape: [N, 3], dtype: int, domain: cell >= 0}, table: {shape: [T, F]}}"
RING = "inputs: {flow: {shape: [H, W]}}\nparams: {reach: {type: [int, int], default: 3, domain: reach > 0}}"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("c*Exp[-x[n, d]]", "c * exp(-x[n, d])"),
        ("Max[Sqrt[x[n, d]], c]*ArcTan[c]", "max(sqrt(x[n, d]), c) * atan(c)"),
        ("Power[x[n, d], 2] + Sin[n]", "x[n, d]**2 + sin(n)"),
        ("If[x[n, d] > 0, x[n, d], 0]", "where(x[n, d] > 0, x[n, d], 0)"),
        ("Max[x[n, d], 0]", "max(x[n, d], 0)"),
        ("max[Tanh[x[n, d]], c]", "max(tanh(x[n, d]), c)"),
        ("exp[-x[n, d]]", "exp(-x[n, d])"),
    ],
)
def test_a_function_takes_parentheses(typed: str, meant: str) -> None:
    (found,) = diagnosed(whole(X, f"y[n, d] = {typed}"))
    assert f"write `y[n, d] = {meant}`" in found.hints
    built(whole(X, f"y[n, d] = {meant}"))


@pytest.mark.parametrize("typed", ["Log[2, x[n, d]]", "Sinc[x[n, d]]", "Exp[c]*Gamma[c]", "ArcTan[x[n, d], c]"])
def test_what_means_something_else_there_has_no_line(typed: str) -> None:
    found = diagnosed(whole(X, f"y[n, d] = {typed}"))
    assert not any("write `" in h for d in found for h in d.hints)


@pytest.mark.parametrize("typed", ["w[n]*x[n, d]", "max[d](x[n, d])", "X[n, d]", "Scale[n]*x[n, d]", "normal[n]"])
def test_a_tensor_in_brackets_is_none(typed: str) -> None:
    found = diagnosed(whole(X, f"y[n, d] = {typed}"))
    assert not any("parentheses" in h for d in found for h in d.hints)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("edge[a < 2] = reach[a]//2", "edge[a < 2] = where(a == 0, reach[0], reach[1])//2"),
        ("edge[a] = v[a]*reach[a]", "edge[a] = v[a]*where(a == 0, reach[0], reach[1])"),
    ],
)
def test_an_element_of_a_short_list_is_chosen(line: str, meant: str) -> None:
    fields = RING.replace("{flow", "{v: {shape: [2], dtype: int}, flow")
    reads = "y[i, j] = sum[r < reach[0], s < reach[1]](pad(flow[i + r, j + s], 0)) + edge[0]"
    text = f"{whole(fields, line, reads)}outputs: {{y: {{shape: [H, W]}}}}\n"
    (found,) = diagnosed(text)
    assert found.hints == (f"write `{meant}`",)
    built(text.replace(line, meant), warned=True)


def test_a_list_that_is_an_extent_is_no_input() -> None:
    (found,) = diagnosed(whole(RING, "y[i, j, b < reach[0]] = flow[i, j]*reach[b]"))
    assert found.hints == ("the first of them is `reach[0]`",)
    fields = "inputs: {x: {shape: [N, 3]}}\nparams: {w: {type: [float, float, float], default: 1}}"
    (found,) = diagnosed(whole(fields, "y[n] = sum[c](w[c]*x[n, c])"))
    assert found.hints == (
        "write `y[n] = sum[c](where(c == 0, w[0], where(c == 1, w[1], w[2]))*x[n, c])`",
        "numbers that an index runs over are an input: `inputs: {w: {shape: [3]}}`",
    )


def test_exclusive_or_of_integers_is_no_power() -> None:
    line = "slot[n] = (cell[n, 0] ^ (cell[n, 1]*2654435761) ^ (cell[n, 2]*805459861)) % T"
    (found,) = diagnosed(whole(CELLS, line, "y[n, f] = table[slot[n], f]"))
    meant = "bitxor(cell[n, 0], bitxor(cell[n, 1]*2654435761, cell[n, 2]*805459861))"
    assert found.hints == (f"exclusive or of integers is written `{meant}`", "a power is written `**`: `x**2`")
    built(whole(CELLS, f"slot[n] = {meant} % T", "y[n, f] = table[slot[n], f]"))


def test_what_binds_more_tightly_than_exclusive_or_is_left_open() -> None:
    (found,) = diagnosed(whole(CELLS, "y[n, f] = table[cell[n, 0] ^ cell[n, 1]*7 % T, f]"))
    assert found.hints[0] == "exclusive or of integers is written `bitxor(a, b)`"


@pytest.mark.parametrize("power", ["cell[n, 0]^2", "2^cell[n, 0]", "x[n]^cell[n, 0]", "cell[n, 0]^p"])
def test_a_power_is_none(power: str) -> None:
    fields = f"{CELLS.removesuffix('}')}, x: {{shape: [N]}}}}\nparams: {{p: int}}"
    (found,) = diagnosed(whole(fields, f"y[n] = {power}"))
    assert not any("exclusive" in h for h in found.hints)


def test_padding_by_a_width_leaves_a_declared_shape() -> None:
    fields = "inputs: {taken: {shape: [..., B]}, weight: {shape: [R]}}\noutputs: {y: {shape: [..., B]}}"
    (found,) = diagnosed(whole(fields, "wide = pad(taken, (1, 1))", "y[..., b] = sum[r](wide[..., b + r]*weight[r])"))
    meant = "y[..., b] = sum[r](pad(taken[..., b + r - 1], 0) * weight[r])"
    assert f"`{meant}`" in found.hints[0]
    built(whole(fields, meant))


BITS = "inputs: {k: {shape: [N], dtype: int}, m: {shape: [N], dtype: int}}"


@pytest.mark.parametrize(
    ("typed", "meant", "compute"),
    [
        ("bitor(k[n] << 4, m[n])", "bitor(k[n] * 2**4, m[n])", lambda k, m, n: k << 4 | m),
        ("k[n] >> 2", "k[n] // 2**2", lambda k, m, n: k >> 2),
        ("k[n] + 1 << 2", "(k[n] + 1) * 2**2", lambda k, m, n: k + 1 << 2),
        ("k[n] << m[n]", "k[n] * int(2**m[n])", lambda k, m, n: k << m),
        ("bitand(k[n] >> 2*n, 3)", "bitand(k[n] // int(2**(2 * n)), 3)", lambda k, m, n: k >> 2 * n & 3),
        ("1 << n", "1 * int(2**n)", lambda k, m, n: 1 << n),
    ],
)
def test_a_shift_is_a_power_of_2(typed: str, meant: str, compute: Callable[[int, int, int], int]) -> None:
    (found,) = diagnosed(whole(BITS, f"y[n < N] = {typed}"))
    assert found.message == f"there is no shift `{'>>' if '>>' in typed else '<<'}`"
    assert f"write `y[n < N] = {meant}`" in found.hints
    values = {"k": [5, -7, 100], "m": [1, 3, 2]}
    (variant,) = built(whole(BITS, f"y[n < N] = {meant}")).variants
    made = run(variant.program, {t.name: array(values[t.name]) for t in variant.program.inputs}, {})["y"]
    assert list(made.data) == [compute(k, m, n) for n, (k, m) in enumerate(zip(*values.values(), strict=True))]


def test_all_bits_of_an_integer_are_turned() -> None:
    (found,) = diagnosed(whole(BITS, "y[n] = ~k[n] + 1"))
    assert found.hints == ("write `bitxor(k[n], -1)`",)
    built(whole(BITS, "y[n] = bitxor(k[n], -1) + 1"))
    (found,) = diagnosed(whole("inputs: {m: {shape: [N], dtype: bool}}", "y[n] = ~m[n]"))
    assert found.hints == ("write `not` for conditions, `bitxor(a, -1)` for integers",)
