"""Samples of generated tests say something about a formula: points are in general position, places are apart."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.ir.interp import Array
from opgen.ir.program import Kind
from opgen.package.sample_arrays import InputSample
from opgen.package.samples import Chooser
from opgen.pipeline import SpecFile, Stage, run

Point = tuple[float, ...]
TORSION = """
op: torsion
inputs: {{x: {{shape: [V, 3]}}, {inputs}}}
forward: |
  u[q, a] = x[{i}, a] - x[{j}, a]
  v[q, a] = x[{k}, a] - x[{j}, a]
  w[q, a] = x[{l}, a] - x[{j}, a]
  y[q] = sum[a < 3](u[q, a]*(v[q, (a + 1) % 3]*w[q, (a + 2) % 3] - v[q, (a + 2) % 3]*w[q, (a + 1) % 3]))
tests: {{sizes: {{Q: 5}}}}
"""


HALVES = """
op: halves
inputs: {{x: {{shape: [D]}}, w: {{shape: [H]}}}}
dims: {{D: 2*H}}
forward: y[h] = x[h + H]*w[h]
tests: {{sizes: {{D: {}}}}}
"""


def volume(p: list[Point]) -> float:
    """The volume that three edges from the first of four points span, in units of their lengths."""
    u, v, w = ([a - b for a, b in zip(q, p[0], strict=True)] for q in p[1:])
    size = u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])
    for edge in (u, v, w):
        size /= sum(a * a for a in edge) ** 0.5
    return abs(size)


def points(salt: int, count: int) -> list[Point]:
    data = [float(v) for v in InputSample("x", (count, 3), Kind.FLOAT, -2.0, 2.0, salt).array().data]
    return [tuple(data[k : k + 3]) for k in range(0, len(data), 3)]


def element(arrays: dict[str, Array], text: str, q: int) -> int:
    """The number at `b[q]`, `b[q, 1]` or `b[1, q]`."""
    name, at = text.rstrip("]").split("[")
    place = [q if k == "q" else int(k) for k in at.split(", ")]
    a = arrays[name]
    return int(a.data[place[0] if len(place) == 1 else place[0] * a.shape[1] + place[1]])


def made(text: str) -> dict[str, Array]:
    found = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"), Stage.DERIVED)
    assert found.operator is not None
    assert found.derived is not None
    case = Chooser(found.operator, found.derived[0], stated=False).case()
    assert case is not None
    return {n: s.array() for n, s in case.inputs if s is not None}


@pytest.mark.parametrize("salt", range(8))
def test_points_that_follow_one_another_lie_in_no_plane(salt: int) -> None:
    every = points(salt, 40)
    assert min(volume(every[k : k + 4]) for k in range(37)) > 1e-4


@pytest.mark.parametrize("salt", range(8))
def test_a_point_of_each_of_four_inputs_lie_in_no_plane(salt: int) -> None:
    inputs = [points(salt + k, 9) for k in range(4)]
    assert min(volume(list(four)) for four in zip(*inputs, strict=True)) > 1e-4


@pytest.mark.parametrize(
    ("inputs", "names"),
    [
        ("q4: {shape: [Q, 4], dtype: int}", ["q4[q, 0]", "q4[q, 1]", "q4[q, 2]", "q4[q, 3]"]),
        ("q4: {shape: [4, Q], dtype: int}", ["q4[0, q]", "q4[1, q]", "q4[2, q]", "q4[3, q]"]),
        (", ".join(f"{n}: {{shape: [Q], dtype: int}}" for n in "bcde"), ["b[q]", "c[q]", "d[q]", "e[q]"]),
        (
            "b: {shape: [Q, 2], dtype: int}, c: {shape: [2, Q], dtype: int}",
            ["b[q, 0]", "b[q, 1]", "c[0, q]", "c[1, q]"],
        ),
    ],
)
def test_places_that_a_formula_wants_at_once_are_apart(inputs: str, names: list[str]) -> None:
    arrays = made(TORSION.format(inputs=inputs, **dict(zip("ijkl", names, strict=True))))
    rows = [[element(arrays, text, q) for text in names] for q in range(5)]
    assert all(0 <= v < arrays["x"].shape[0] for row in rows for v in row)
    assert all(a != b for row in rows for a, b in itertools.combinations(row, 2)), rows
    assert len({*map(tuple, rows)}) > 1


def test_a_pair_of_places_may_coincide() -> None:
    """The ends of an edge: a loop is a case of its own."""
    arrays = made("""
op: edges
inputs: {x: {shape: [V]}, i: {shape: [E], dtype: int}, j: {shape: [E], dtype: int}}
forward: y[e] = x[i[e]]*x[j[e]]
tests: {sizes: {E: 12}}
""")
    assert any(a == b for a, b in zip(arrays["i"].data, arrays["j"].data, strict=True))


ROUNDED = """
op: codes
inputs: [x]
params: {levels: {type: int, default: 255}}
forward: |
  level = (clamp(x, -1, 1) + 1)/2*levels
  c = 2*(level + detach(round(level) - level))/levels - 1
  y = sign(c)*(exp(abs(c)) - 1)
"""


def test_rounded_values_are_not_at_kinks() -> None:
    """With an even number of levels the middle one is 0, where what is written has another slope than its values."""
    found = run(SpecFile(Path("spec.yaml"), ROUNDED.encode(), "spec.yaml"), Stage.DERIVED)
    assert found.operator is not None
    assert found.derived is not None
    case = Chooser(found.operator, found.derived[0], stated=True).case(moved=True)
    assert case is not None
    assert dict(case.params)["levels"] % 2 == 0
    assert all(abs(float(v)) > 0.1 for v in case.expected[0].data)


WHOLE = """
op: cells
inputs: {x: {shape: [N, K]}, table: {shape: [M]}}
forward: |
  cell[n, k] = max(int(floor(x[n, k])), 0)
  y[n, k] = x[n, k]*table[cell[n, k]]
outputs: [y]
"""


def test_integers_have_no_kinks() -> None:
    """Of two whole numbers the greater may be both: it has no slope to differ, and no other samples are tried."""
    found = run(SpecFile(Path("spec.yaml"), WHOLE.encode(), "spec.yaml"), Stage.DERIVED)
    assert found.operator is not None
    assert found.derived is not None
    chooser = Chooser(found.operator, found.derived[0], stated=True)
    case = chooser.case()
    assert case is not None
    assert not chooser.kinked
    assert any(0 <= float(v) < 1 for v in case.inputs[0][1].array().data)


@pytest.mark.parametrize(
    ("formula", "tried"),
    [
        pytest.param("y[i, j < N] = x[i]*b[i - j]", 7, id="positions of sizes: once for each of them"),
        pytest.param("y[i, j < N] = where(x[i] > 0, x[i], 0)*b[i - j]", 7, id="a condition on what is always there"),
        pytest.param("y[i, j < N] = x[i]*b[int(4*x[i]) - 40 - j]", 35, id="positions of values: all of these, too"),
    ],
)
def test_sizes_that_fit_no_values_are_tried_once(formula: str, tried: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"op: far\ninputs: {{x: {{shape: [N]}}, b: {{shape: [M]}}}}\nforward: '{formula}'\n"
    found = run(SpecFile(Path("spec.yaml"), spec.encode(), "spec.yaml"), Stage.DERIVED)
    assert found.operator is not None
    assert found.derived is not None
    count, made = 0, Chooser._case

    def counted(self: Chooser, *args: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        return made(self, *args, **options)

    monkeypatch.setattr(Chooser, "_case", counted)
    assert Chooser(found.operator, found.derived[0], stated=True).case() is None
    assert count == tried


BIASED = """
op: biased
inputs: {x: {shape: [N]}, b: {shape: [R]}}
dims: {C: R//2}
forward: y[i, j < N] = x[i]*b[clamp(j - i, -C, C) + C]
"""
FAR = """
op: far
inputs: {x: {shape: [N]}, m: {shape: [N], optional: true}}
forward: |
  y = x[N - 20] if not given(m)
  y = x[0]*m[0] if given(m)
"""


def test_sizes_are_odd_where_formulas_need_that() -> None:
    assert len(made(BIASED)["b"].data) % 2 == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (FAR, "nothing tests 1 variant of `far`"),
        ("\nop: far\ninputs: [x]\nforward: y = x*log(-1 - x**2)\n", ""),
        ("\nop: far\ninputs: {x: {shape: [N]}}\nforward: y = x[N - 20]\n", "nothing tests `far`"),
        (FAR + "tests: {sizes: {N: 24}}\n", ""),
        (HALVES.format(6), ""),
        (HALVES.format(5), "nothing tests `halves`"),
        (HALVES.format("6, H: 2"), "nothing tests `halves`"),
    ],
)
def test_it_is_told_that_nothing_is_tested(text: str, told: str) -> None:
    found = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"))
    warnings = [d for d in found.diagnostics if d.code == "OPG402"]
    assert len(warnings) == bool(told)
    assert all(told in d.message and d.severity is Severity.WARNING for d in warnings)
    assert found.files


def untested(text: str) -> Diagnostic:
    found = run(SpecFile(Path("spec.yaml"), text.encode(), "spec.yaml"))
    (warning,) = (d for d in found.diagnostics if d.code == "OPG402")
    return warning


def test_what_must_hold_where_nothing_fits_is_told() -> None:
    far = "op: far\ninputs: {x: {shape: [N]}}\nforward: y = x[N - 20]\n"
    warning = untested(far)
    assert warning.notes == ("where a position is read, `0 <= N - 20 < N` must hold",)
    assert warning.hints == ("state sizes that go together: `tests: {sizes: {N: 32}}`",)
    stated = run(SpecFile(Path("spec.yaml"), f"{far}tests: {{sizes: {{N: 32}}}}\n".encode(), "spec.yaml"))
    assert not stated.diagnostics
    fields = "inputs: {x: {shape: [V]}, d: {shape: [N], dtype: int, domain: d >= 1}}"
    taken = f"op: taken\n{fields}\nforward: y[n] = x[n - d[n]]\n"
    warning = untested(taken)
    assert warning.notes == ("where a position is read, `0 <= n - d[n] < V` must hold",)
    assert "sizes" not in warning.hints[0]
    assert "tests: {cases: [{V: …, d: […]}]}" in warning.hints[0]
