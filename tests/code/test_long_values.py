"""Kernels whose values are longer than a line: cut into statements, and no line is too long."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen import build
from opgen.code.native_layout import laid_out

WINDOW = """
op: windowed
summary: A window with a border.
inputs: {x: {shape: [..., H, W]}}
params: {size: {type: int, default: 3}, stride: {type: int, default: 2}, padding: {type: int, default: 1}}
dims: {P: (H + 2*padding - size)//stride + 1, Q: (W + 2*padding - size)//stride + 1}
forward: |
  y[..., p < P, q < Q] = sum[r < size, s < size](pad(x[..., p*stride + r - padding, q*stride + s - padding], 0))
"""
CHAIN = """
op: chained
summary: A choice that is asked for in a choice of what goes on.
inputs: {x: {shape: [..., T, L]}, ids: {shape: [L], dtype: int, domain: 0 <= ids < L}, on: {shape: [L], dtype: bool}}
outputs: [waves]
forward: |
  waves[..., -1, j] = x[..., 0, j]
  waves[..., t, j] = logaddexp(waves[..., t - 1, ids[j]] + x[..., t, L - 1 - j],
    where(on[j] and waves[..., t - 1, j] > 0.5,
      pad(waves[..., t - 1, j - 2], -inf)*x[..., t, j], pad(x[..., t, j + 3], 1)))
"""
TERMS = """
op: terms
summary: A sum of many.
inputs: {x: {shape: [..., N]}}
forward: |
  y[..., n] = (x[..., n] + sin(x[..., n]) + cos(x[..., n]) + tanh(x[..., n]) + exp(x[..., n]) + erf(x[..., n])
    + sigmoid(x[..., n]) + log1p(x[..., n]**2) + sqrt(1 + x[..., n]**2) + atan(x[..., n]) + softplus(x[..., n]))
"""
PAIRS = """
op: pairs
summary: Forces whose distances are too long for a line, and call a part of them what a later statement is called.
inputs: {pos: {shape: [N, 3]}, mass: {shape: [N]}, box: {shape: [3]}}
forward: |
  d[i, j, a] = pos[i, a] - pos[j, a] - box[a]*round((pos[i, a] - pos[j, a])/box[a])
  q[i, j] = sum[a](square(d[i, j, a]))
  rho[i] = sum[j](mass[j]*where(q[i, j] < 1, (1 - q[i, j])**3, 0))
"""
HALVES = """
op: halves
summary: A product that is read as a whole by all but those that take its factor in.
inputs: {initial_temperatures: {shape: [N]}, ids: {shape: [N], dtype: int}}
forward: |
  y[i] = where(i > 2, sin(exp(H)) + sinh(H) + cosh(H) + atan(H) + erf(H), 0)
""".replace("H", "0.5*tanh(initial_temperatures[ids[ids[i]]])")
TANGENTS = """
op: tangents
summary: A logarithm that is read as a whole by all but the tangent of it.
inputs: {initial_temperatures: {shape: [N]}, ids: {shape: [N], dtype: int}}
forward: |
  y[i] = where(i > 2, sin(tanh(H)) + sinh(H) + cosh(H) + atan(H) + erf(H), 0)
""".replace("H", "softplus(sin(initial_temperatures[ids[ids[i]]]))")

PLACES = """
op: places
summary: A place that data tell, which is a factor too.
inputs: {x: {shape: [M]}, ids: {shape: [N], dtype: int}}
forward: |
  t[s < 3, i < N] = t[s - 1, i]*0.5 + where(i > 0, x[ids[i - 1]]*ids[i - 1], 0.5)
"""


@pytest.mark.parametrize("spec", [WINDOW, CHAIN, TERMS], ids=["windowed", "chained", "terms"])
def test_lines_are_not_too_long(tmp_path: Path, spec: str) -> None:
    for path in _printed(tmp_path, spec):
        assert not [line for line in path.read_text().splitlines() if len(line) > 120]


def test_a_position_that_is_asked_for_three_times_is_computed_once(tmp_path: Path) -> None:
    (text,) = (p.read_text() for p in _printed(tmp_path, WINDOW) if p.suffix == ".cu")
    for name, index in (("at_h", "p"), ("at_w", "q")):
        assert re.search(rf"const int64_t {name} = {index} \* stride \+ [rs] - padding;", text)
        assert "if (at_h >= 0 && at_h < H && at_w >= 0 && at_w < W) " in text


@pytest.mark.parametrize("spec", [CHAIN, HALVES, TANGENTS], ids=["chained", "halves", "tangents"])
def test_locals_are_read_and_no_two_of_a_block_hold_the_same(tmp_path: Path, spec: str) -> None:
    for path in _printed(tmp_path, spec):
        held: dict[str, int] = {}  # values, and how far in they are held
        lines = path.read_text().splitlines()
        for k, line in enumerate(lines):
            column = len(line) - len(line.lstrip())
            held = {value: at for value, at in held.items() if at <= column}
            if local := re.match(r" *const opmath_t (\w+) = (.*);$", line):
                name, value = local.groups()
                assert any(re.search(rf"\b{name}\b", other) for other in lines[k + 1 :]), line
                assert value not in held, line
                held[value] = column


def test_a_place_that_was_read_is_not_where_it_is_read_from(tmp_path: Path) -> None:
    (text,) = (p.read_text() for p in _printed(tmp_path, PLACES) if p.name == "places_kernels.cpp")
    assert "const int64_t at_m = rt::load(ids, " in text
    assert "rt::load(ids, at_m)" not in text


def test_what_a_cut_value_named_is_not_known_behind_it(tmp_path: Path) -> None:
    (text,) = (p.read_text() for p in _printed(tmp_path, PAIRS) if p.name == "pairs_kernels.cpp")
    known: dict[str, int] = {}  # how far in it is declared
    for line in text.splitlines():
        column = len(line) - len(line.lstrip())
        known = {name: at for name, at in known.items() if at <= column}
        known |= dict.fromkeys(re.findall(r"const opmath_t (difference\w*) = ", line), column)
        assert set(re.findall(r"\bdifference\w*", line)) <= known.keys(), line
    assert "difference_3" in text


def test_a_launch_has_room_for_all_the_sums_of_a_row(tmp_path: Path) -> None:
    names = "abcdef"
    spec = f"""
op: sums
summary: Six sums, each weighed by the same numbers that are never stored.
inputs: {{x: {{shape: [N, 3]}}, {", ".join(f"{n}: {{shape: [N, 3]}}" for n in names)}}}
forward: |
  near[i, j] = exp(-sum[k](square(x[i, k] - x[j, k])))
"""
    spec += "".join(f"  y{n}[i, k] = sum[j](near[i, j]*{n}[j, k])\n" for n in names)
    (text,) = (p.read_text() for p in _printed(tmp_path, spec) if p.suffix == ".cu")
    launches = re.findall(r"rt::(Map\S*|Rows\S*) launch = \{(.*?)\};", text, flags=re.DOTALL)
    rooms = [(name, lengths.count("rt::count(") - 1) for name, lengths in launches]
    assert max(count for _, count in rooms) > 4
    assert all(name.endswith(f"<{count}>") for name, count in rooms)


def _printed(folder: Path, spec: str) -> list[Path]:
    source = folder / "op.yaml"
    source.write_text(spec.lstrip())
    assert not build(source, folder / "out").failed
    return [p for p in sorted(folder.glob("out/*/csrc/*")) if p.suffix in (".cpp", ".cu")]


def test_a_condition_that_is_too_long_for_a_line_is_left_as_it_is() -> None:
    condition = " && ".join(f"rt::inside(host, position_{k}, N, {k}, {k})" for k in range(4))
    assert laid_out([f"if ({condition})"])[0].startswith("if (rt::inside(")
