"""Recurrences along several indices, and that reach further back: what they compute, and their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import pytest

from opgen.ir.interp import Array, array, run
from opgen.ir.program import Recurrence
from opgen.ir.verify import verify

from .specs import elementwise, mistakes, program
from .test_recurrence import noise
from .test_scatter import judge

MATRIX = "{x: {shape: [N, M]}}"
X = noise(3, 4)


def each(shape: tuple[int, ...], value: Callable[..., float]) -> list[float]:
    points: list[tuple[int, ...]] = [()]
    for n in shape:
        points = [(*p, k) for p in points for k in range(n)]
    return [value(*p) for p in points]


def x(i: int, j: int) -> float:
    return float(X.data[4 * i + j])


@cache
def aligned(i: int, j: int) -> float:
    if i < 0 or j < 0:
        return 0.0 if i == j else math.inf
    return x(i, j) + min(aligned(i - 1, j), aligned(i, j - 1), aligned(i - 1, j - 1))


@cache
def mixed(i: int, j: int) -> float:
    if i < 0 or j < 0:
        return 0.5 * (i + 1) + 0.25 * (j + 1)
    return x(i, j) * mixed(i - 1, j) + math.sin(mixed(i, j - 1)) + 0.5 * mixed(i - 1, j - 1)


@cache
def crossed(i: int, j: int) -> float:
    if i < 0 or j > 3:
        return 0.0
    return x(i, j) + 0.5 * crossed(i - 2, j) + 0.3 * crossed(i, j + 1) * crossed(i - 1, j + 1)


@cache
def spread(t: int, i: int) -> float:
    if t < 0:
        return 0.5 if 0 <= i < 4 else 0.0
    if i < 0 or i > 3:
        return -1.0 if i < 0 else 0.25
    near = spread(t - 1, i - 1) * spread(t - 1, i + 1)
    return x(t, i) + 0.5 * math.sin(near) - 0.3 * spread(t - 2, i) + 0.2 * spread(t - 1, i + 2) * (i + 2 < 4)


@cache
def second(t: int, _: int = 0) -> float:
    if t < 0:
        return 1.0 if t == -1 else -2.0
    return x(0, t) + 0.9 * second(t - 1) - 0.2 * second(t - 2)


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        (
            "r[-1, -1] = 0\nr[-1, j] = inf\nr[i, -1] = inf\n"
            "r[i, j] = x[i, j] + min(min(r[i - 1, j], r[i, j - 1]), r[i - 1, j - 1])",
            aligned,
        ),
        (
            "r[i, -1] = 0.5*(i + 1)\nr[-1, j] = 0.25*(j + 1)\nr[-1, -1] = 0\n"
            "r[i, j] = x[i, j]*r[i - 1, j] + sin(r[i, j - 1]) + 0.5*r[i - 1, j - 1]",
            mixed,
        ),
        ("r[i, j] = x[i, j] + 0.5*r[i - 2, j] + 0.3*r[i, j + 1]*r[i - 1, j + 1]", crossed),
        (
            "r[-1, i] = 0.5\nr[-2, i] = 0.5\nr[t, -1] = -1\nr[t, M] = 0.25\nr[-1, -1] = 0\nr[-1, M] = 0\n"
            "r[t, i] = x[t, i] + 0.5*sin(r[t - 1, i - 1]*r[t - 1, i + 1]) - 0.3*r[t - 2, i]"
            " + where(i + 2 < M, 0.2*r[t - 1, i + 2], 0)",
            spread,
        ),
    ],
)
def test_along_two(formula: str, value: Callable[..., float]) -> None:
    p = verify(program(elementwise(formula, MATRIX)))
    assert run(p, {"x": X})["r"].data == pytest.approx(each((3, 4), value))
    if value is not aligned:  # differences of infinite numbers are none
        judge(p, {"x": X})


def test_neighbours_of_the_step_before() -> None:
    """What goes both ways along one index goes back along another, and that is the loop."""
    bare = "u[t, i] = x[t, i] + 0.9*u[t - 1, i]*u[t - 1, i - 1] + sin(u[t - 1, i + 1]) - 0.5*u[t - 2, i]"
    near = "where(i > 0, u[t - 1, i - 1], 0)"
    guarded = (
        "u[-1, i] = w[i]\nu[-2, i] = 2*w[i]\n"
        f"u[t, i] = x[t, i] + 0.9*u[t - 1, i]*{near} + sin(pad(u[t - 1, i + 1], 0)) - 0.5*u[t - 2, i]"
    )
    for formula in (bare, guarded):
        p = verify(program(elementwise(formula, "{x: {shape: [T, N]}, w: {shape: [N]}}")))
        (loop,) = (s for s in p.statements if isinstance(s, Recurrence))
        assert loop.along.name == "t"
        found = run(p, {"x": X, "w": noise(4)})["u"].data
        u = {(t, i): 0.0 if formula is bare else -t * noise(4).data[i] for t in (-1, -2) for i in range(4)}
        for t, i in ((t, i) for t in range(3) for i in range(4)):
            side = [u.get((t - 1, i + k), 0.0) for k in (-1, 1)]
            u[t, i] = x(t, i) + 0.9 * u[t - 1, i] * side[0] + math.sin(side[1]) - 0.5 * u[t - 2, i]
        assert found == pytest.approx([u[t, i] for t in range(3) for i in range(4)])
        judge(p, {"x": X, "w": noise(4)})


@pytest.mark.parametrize("order", ["t, i", "i, t"])
@pytest.mark.parametrize("is_padded", [True, False])
def test_neighbours_of_the_same_step(order: str, is_padded: bool) -> None:
    """What a step has computed under another name is there at all places; the loop runs along the step alone."""

    def read(name: str, t: str, i: str) -> str:
        at = f"{name}[{t}, {i}]" if order == "t, i" else f"{name}[{i}, {t}]"
        return f"pad({at}, 0)" if is_padded and i != "i" else at

    near = f"{read('b', 't', 'i - 1')} - 2*{read('b', 't', 'i')} + {read('b', 't', 'i + 1')}"
    back = f"{read('u', 't - 1', 'i - 1')} + 0.5*{read('u', 't - 1', 'i + 1')}"
    formula = f"b[{order}] = x[{order}] + sin({back})\nu[{order}] = b[{order}] + 0.2*({near})*x[{order}]"
    p = verify(program(elementwise(formula, f"{{x: {{shape: [{order.upper().replace('I', 'N')}]}}}}", "outputs: [u]")))
    loops = [s for s in p.statements if isinstance(s, Recurrence)]
    assert [loop.along.name for loop in loops] == ["t"]
    given = X if order == "t, i" else array([[x(t, i) for t in range(3)] for i in range(4)])
    u: dict[tuple[int, int], float] = {}
    for t in range(3):
        b = {i: x(t, i) + math.sin(u.get((t - 1, i - 1), 0) + 0.5 * u.get((t - 1, i + 1), 0)) for i in range(4)}
        for i in range(4):
            u[t, i] = b[i] + 0.2 * (b.get(i - 1, 0) - 2 * b[i] + b.get(i + 1, 0)) * x(t, i)
    points = (
        [(t, i) for t in range(3) for i in range(4)]
        if order == "t, i"
        else [(t, i) for i in range(4) for t in range(3)]
    )
    assert run(p, {"x": given})["u"].data == pytest.approx([u[point] for point in points])
    judge(p, {"x": given})


def test_further_back_along_one() -> None:
    formula = "h[-1] = 1\nh[-2] = -2\nh[t] = x[0, t] + 0.9*h[t - 1] - 0.2*h[t - 2]"
    p = verify(program(elementwise(formula, MATRIX)))
    assert run(p, {"x": X})["h"].data == pytest.approx(each((4,), second))
    judge(p, {"x": X})
    down = "h[T] = 1\nh[T + 1] = -2\nh[t] = x[t] + 0.9*h[t + 1]*h[t + 2]"
    judge(verify(program(elementwise(down, "{x: {shape: [T]}}"))), {"x": noise(5)})


def test_waves_are_of_one_index_where_that_is_enough() -> None:
    formula = (
        "a[-1, -1] = 0.3\na[-1, s] = where(s == 0, 1, 0)\n"
        "a[t, s] = x[t, s]*(a[t - 1, s] + a[t - 1, s - 1] + where(s % 2 == 1, a[t - 1, s - 2], 0))"
    )
    p = verify(program(elementwise(formula, "{x: {shape: [T, S]}}")))
    (loop,) = (s for s in p.statements if isinstance(s, Recurrence))
    assert loop.along.name == "t"
    assert loop.targets == ("a",)
    judge(p, {"x": noise(3, 4)})


def test_several_names_and_three_indices() -> None:
    gaps = (
        "m[-1, -1] = 0\nm[-1, j] = -1\nm[i, -1] = -2\ne[i, j] = max(m[i, j - 1] - 2, e[i, j - 1] - 1)\n"
        "f[i, j] = max(m[i - 1, j] - 2, f[i - 1, j] - 1)\n"
        "m[i, j] = max(m[i - 1, j - 1] + x[i, j], max(e[i, j], f[i, j]))\ny = m[N - 1, M - 1]"
    )
    judge(verify(program(elementwise(gaps, MATRIX, "outputs: [y]"))), {"x": X})
    cube = "r[i, j, k] = z[i, j, k] + r[i - 1, j, k]*r[i, j - 1, k] + 0.5*r[i, j, k - 1] + r[i - 1, j - 1, k - 1]"
    judge(verify(program(elementwise(cube, "{z: {shape: [A, B, C]}}"))), {"z": noise(2, 3, 2)})


def test_integers_and_conditions() -> None:
    counted = "c[i, j] = c[i - 1, j] + c[i, j - 1] + z[i, j]"
    p = verify(program(elementwise(counted, "{z: {shape: [A, B], dtype: int}}")))
    assert run(p, {"z": array([[1, 2, 3], [4, 5, 6]])})["c"].data == [1, 3, 6, 5, 13, 25]
    reached = "b[..., i, -1] = true\nb[..., i, j] = z[..., i, j] > 0 and (b[..., i - 1, j] or b[..., i, j - 1])"
    q = verify(program(elementwise(reached, "{z: {shape: [..., A, B]}}")))
    assert run(q, {"z": array([[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])})["b"].data == [True, False, False, True, True, True]


def test_what_stands_behind_the_loop_finds_the_starts() -> None:
    formula = (
        "r[..., -1, j] = 3\nr[..., i, j] = x[..., i, j] + r[..., i, j - 1]*r[..., i - 1, j]\n"
        "y[..., i, j] = r[..., i - 1, j]*x[..., i, j]\nlast[...] = r[..., N - 1, M - 1]"
    )
    p = verify(program(elementwise(formula, "{x: {shape: [..., N, M]}}", "outputs: [y, last]")))
    assert run(p, {"x": array([[[2.0, 5.0]]])})["y"].data == [6.0, 15.0]
    assert run(p, {"x": Array((1, 0, 2), [])})["last"].data == [3.0]
    judge(p, {"x": noise(2, 2, 3)})


def test_a_pad_says_what_no_start_does() -> None:
    formula = "r[i, j] = x[i, j] + max(pad(r[i, j - 1], -1), pad(r[i - 1, j], -2))"
    p = verify(program(elementwise(formula, MATRIX)))
    assert run(p, {"x": array([[1.0, 1.0], [1.0, 1.0]])})["r"].data == [0.0, 1.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("rows", "columns", "found"),
    [(0, 3, []), (3, 0, []), (0, 0, []), (1, 1, [1.0]), (1, 4, [1.0, 2.0, 3.0, 4.0]), (2, 2, [1.0, 2.0, 2.0, 5.0])],
)
def test_empty_and_short(rows: int, columns: int, found: list[float]) -> None:
    p = verify(program(elementwise("r[i, j] = x[i, j] + r[i - 1, j] + r[i, j - 1]", MATRIX)))
    assert run(p, {"x": Array((rows, columns), [1.0] * (rows * columns))})["r"].data == found


@pytest.mark.parametrize(
    ("formula", "marked"),
    [
        ("r[0, j] = 0\nr[i, j] = x[i, j] + r[i - 1, j] + r[i, j - 1]", "r[0, j]"),
        ("r[i, j] = x[i, j] + r[i - 1, j] + r[i, j - 1]*r[i, j + 1]", "r[i, j + 1]"),
        ("r[i, j] = x[i, j] + s[i, j - 1]\ns[i, j] = r[i, j + 1]", "r[i, j + 1]"),
        (
            "r[i, j] = x[i, j] + s[i - 1, j] + r[i, j - 1] + r[i, j + 1]\ns[i, j] = r[i, j + 1]",
            "r[i, j + 1]",
        ),
        ("r[i, -1] = 1\nr[i, j] = x[i, j] + r[i - 1, j]", "r[i, -1]"),
        ("r[i, j] = x[i, j] + r[i - 1, j - 1] + sum[k](r[k, j - 1])*r[i - 1, j]", "r[i, j]"),
        ("r[N, j] = 1\nr[i, j] = x[i, j] + r[i - 1, j]*r[i, j - 1]", "r[N, j]"),
        ("r[i, j] = x[i, j] + r[i - 1, i]*r[i, j - 1]", "r[i, j]"),
        ("r[i, j] = x[i, j] + r[i - 1, j] + r[i, j - 1]*r[i - 1, j + 1]", "r[i - 1, j + 1]"),
        ("r[-2, j] = 0\nr[i, j] = x[i, j] + r[i - 1, j]", "r[-2, j]"),
        ("r[N + 1, j] = 0\nr[i, j] = x[i, j] + r[i + 1, j]", "r[N + 1, j]"),
    ],
)
def test_mistakes(formula: str, marked: str) -> None:
    assert mistakes(elementwise(formula, MATRIX))[0] == ("OPG250", marked)
