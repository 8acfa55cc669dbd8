"""Steps in whole tensors, with a loop of Python or without: the lines of the message compute what the loop does."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

SIZES = {"B": 2, "T": 4, "D": 3, "H": 5}
CELL = {"x": "BTD", "w": "DH", "u": "HH", "bias": "H"}
FIRST = {"x": "TBD", "w": "HD", "u": "HH", "h0": "BH"}
GATES = {"f": "TH", "i": "TH", "g": "TH", "o": "TH"}
ROWS = {"x": "BT", "a": ""}
LSTM = {"x": "BTD", "wf": "DH", "uf": "HH", "wi": "DH", "ui": "HH", "wg": "DH", "ug": "HH", "wo": "DH", "uo": "HH"}
GRU = {"x": "BTD", "wz": "DH", "uz": "HH", "wr": "DH", "ur": "HH", "wn": "DH", "un": "HH"}
LOOP = "for t in range(T):"


def fields(shapes: dict[str, str]) -> str:
    return "inputs: {" + ", ".join(f"{n}: {{shape: [{', '.join(dims)}]}}" for n, dims in shapes.items()) + "}"


def numbers(shapes: dict[str, str]) -> dict[str, torch.Tensor]:
    made = torch.Generator().manual_seed(0)
    return {n: torch.randn([SIZES[d] for d in dims], dtype=torch.float64, generator=made) for n, dims in shapes.items()}


def of_python(shapes: dict[str, str], lines: list[str], results: list[str]) -> dict[str, Any]:
    """What the lines compute as Python."""

    def zeros(*sizes: int) -> torch.Tensor:
        return torch.zeros(sizes, dtype=torch.float64)

    functions = {n: getattr(torch, n) for n in ("tanh", "sigmoid", "exp", "relu", "cos", "stack", "zeros_like")}
    scope: dict[str, Any] = {"torch": torch, "zeros": zeros, **functions, **SIZES, **numbers(shapes)}
    returned = ", ".join(results)
    body = textwrap.indent(
        "\n".join([*lines, *([] if lines[-1].startswith("return") else [f"return {returned}"])]), " "
    )
    exec(f"def f({', '.join(shapes)}):\n{body}", scope)
    made = scope["f"](*numbers(shapes).values())
    return dict(zip(results, made if isinstance(made, tuple) else (made,), strict=True))


def proposed(shapes: dict[str, str], lines: list[str]) -> tuple[list[str], str]:
    """The lines of the one message, and the outputs that it says to list."""
    (found,) = diagnosed(whole(fields(shapes), *lines))
    parts = re.findall(r"`([^`]+)`", " ".join(h for h in found.hints if " write " in h))
    return [p for p in parts if " = " in p], "".join(f"{p}\n" for p in parts if p.startswith("outputs: "))


def check(shapes: dict[str, str], expected: dict[str, Any], made: list[str], outputs: str) -> None:
    (variant,) = built(whole(outputs + fields(shapes), *made)).variants
    found = run(variant.program, {n: array(v.tolist()) for n, v in numbers(shapes).items()})
    assert {o.name for o in variant.program.outputs} == {*expected}, made
    for name, value in expected.items():
        data = torch.tensor(found[name].data, dtype=torch.float64).reshape(found[name].shape)
        torch.testing.assert_close(data, value, msg=f"{name}: {made}")


LOOPS = [
    (CELL, ["h = zeros(B, H)", LOOP, "    h = tanh(x[:, t] @ w + h @ u)", "return h"], {"last_h": "h"}),
    (CELL, ["h = zeros(B, H)", LOOP, "    h = tanh(x[:, t, :] @ w + h @ u.T + bias)"], {"last_h": "h"}),
    (CELL, ["h = zeros(B, H)", LOOP, "    h = torch.tanh(x[:, t] @ w + h @ u)", "y = h @ u"], {"y": "y"}),
    (FIRST, ["h = h0", LOOP, "    h = tanh(x[t] @ w.T + h @ u.T)", "return h"], {"last_h": "h"}),
    (FIRST, ["out = []", "h = h0", LOOP, "    h = tanh(x[t] @ w.T + h @ u)", "    out.append(h)",
             "return torch.stack(out)"], {"y": "y"}),
    (CELL, ["out = []", "h = zeros(B, H)", LOOP, "    h = tanh(x[:, t] @ w + h @ u)", "    out.append(h)",
            "y = torch.stack(out, dim=1)"], {"y": "y"}),
    (ROWS, ["m = 0", LOOP, "    m = a * m + (1 - a) * x[:, t]"], {"last_m": "m"}),
    (ROWS, ["m = x[:, 0]", "for t in range(1, T):", "    m = a * m + (1 - a) * x[:, t]"], {"last_m": "m"}),
    (ROWS, ["y = zeros(B, T)", "s = 0", LOOP, "    s = s + x[:, t]", "    y[:, t] = s"], {"y": "y"}),
    (ROWS, ["m = 0", "for t in reversed(range(T)):", "    m = x[:, t] + a * m"], {"last_m": "m"}),
    (ROWS, ["m = 0", "for t in range(T - 1, -1, -1):", "    m = x[:, t] + a * m"], {"last_m": "m"}),
    (GATES, ["c = zeros(H)", LOOP, "    c = sigmoid(f[t]) * c + sigmoid(i[t]) * tanh(g[t])",
             "    h = sigmoid(o[t]) * tanh(c)"], {"last_c": "c", "last_h": "h"}),
    (LSTM, ["h = zeros(B, H)", "c = zeros(B, H)", LOOP, "    ft = sigmoid(x[:, t] @ wf + h @ uf)",
            "    it = sigmoid(x[:, t] @ wi + h @ ui)", "    gt = tanh(x[:, t] @ wg + h @ ug)",
            "    ot = sigmoid(x[:, t] @ wo + h @ uo)", "    c = ft * c + it * gt", "    h = ot * tanh(c)",
            "return h, c"], {"last_h": "h", "last_c": "c"}),
    (GRU, ["h = zeros(B, H)", LOOP, "    z = sigmoid(x[:, t] @ wz + h @ uz)", "    r = sigmoid(x[:, t] @ wr + h @ ur)",
           "    n = tanh(x[:, t] @ wn + (r * h) @ un)", "    h = (1 - z) * n + z * h"], {"last_h": "h"}),
    (GRU, ["h_prev = zeros(B, H)", LOOP, "    z = sigmoid(x[:, t] @ wz + h_prev @ uz)",
           "    h_new = (1 - z) * tanh(x[:, t] @ wn) + z * h_prev", "    h_prev = h_new", "return h_prev"],
     {"last_h_prev": "h_prev"}),
    ({**CELL, "h": "BH"}, [LOOP, "    h = tanh(x[:, t] @ w + h @ u)", "return h"], {"last_h2": "h"}),
]  # fmt: skip


@pytest.mark.parametrize(("shapes", "lines", "results"), LOOPS)
def test_a_loop_over_steps_is_a_recurrence(shapes: dict[str, str], lines: list[str], results: dict[str, str]) -> None:
    made = of_python(shapes, lines, [*results.values()])
    check(shapes, {new: made[n] for new, n in results.items()}, *proposed(shapes, lines))


STATEMENTS = [
    (CELL, ["h = tanh(x[:, t] @ w + h @ u)"], "h = zeros(B, H)"),
    (CELL, ["h = tanh(x[:, t, :] @ w + h @ u.T + bias)"], "h = zeros(B, H)"),
    (CELL, ["h[:, t] = tanh(x[:, t] @ w + h[:, t - 1] @ u)"], "h = zeros(B, H)"),
    (CELL, ["h[t] = tanh(x[:, t] @ w + h[t-1] @ u)"], "h = zeros(B, H)"),
    (FIRST, ["h[t] = tanh(x[t] @ w.T + h[t - 1] @ u)"], "h = zeros(B, H)"),
    (FIRST, ["h = h0", "h = tanh(x[t] @ w.T + h @ u)"], "h = h0"),
    (GATES, ["c = f[t] * c + i[t] * g[t]", "h = o[t] * tanh(c)"], "c = zeros(H)"),
    (GATES, ["h_new = (1 - f[t]) * g[t] + f[t] * h_prev", "h_prev = h_new"], "h_prev = zeros(H)"),
    (GATES, ["h_new = (1 - f[t]) * g[t] + f[t] * h_prev"], "h_prev = zeros(H)"),
]


@pytest.mark.parametrize(("shapes", "lines", "start"), STATEMENTS)
def test_statements_without_their_loop_go_on_by_steps(shapes: dict[str, str], lines: list[str], start: str) -> None:
    place = 1 if shapes is CELL else 0
    step = [re.sub(r"^(\w+)\[.*?\] =", r"\1 =", line) for line in lines if line != start]
    step = [re.sub(r"\bh\[(:, )?t ?- ?1\]", "h", line) for line in step]
    name = step[-1].partition(" ")[0]
    loop = [start, "out = []", LOOP, *(f"    {s}" for s in step), f"    out.append({name})"]
    loop += [f"    h_prev = {name}"] if name == "h_new" else []
    made = of_python(shapes, [*loop, f"y = stack(out, {place})"], ["y"])
    found, _ = proposed(shapes, lines)
    listing = f"outputs: [{name}]\n" if len(step) > 1 else ""
    kept = [line for line in found if not line.startswith("last_") and line != listing.strip()]
    check(shapes, {name: made["y"]}, kept, listing)


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("h = tanh(x[:, t] @ w + h @ u)", ":"),
        ("h[t] = tanh(x[t] @ w.T + h[t - 1] @ u)", "@"),
    ],
)
def test_it_is_told_at_what_is_foreign(line: str, mark: str) -> None:
    (found,) = diagnosed(whole(fields(CELL if ":" in line else FIRST), line))
    assert found.span is not None
    assert found.span.text == mark


def test_a_loop_that_adds_up_whole_tensors_is_a_sum() -> None:
    lines = ["s = 0", LOOP, "    s += x[:, t]"]
    (found,) = diagnosed(whole(fields(ROWS), *lines))
    assert "write `s[b] = sum[t](x[b, t])` in place of the loop" in found.hints[0]


def test_a_value_that_is_made_of_itself_by_a_product_has_its_line() -> None:
    (found,) = diagnosed(whole(fields({"x": "BD", "w": "DH", "u": "HC"}), "z = relu(x @ w)", "z = z @ u"))
    assert "`z[b, c] = sum[h](z1[b, h] * u[h, c])`" in found.hints[-1]


@pytest.mark.parametrize(
    ("change", "below", "meant"),
    [
        ("x *= w", "y = x", "y[n] = x2[n]"),
        ("x += w", "y = x + 1", "y[n] = x2[n] + 1"),
        ("x[m] = 0", "y = x", "y[n] = x2[n]"),
    ],
)
def test_below_an_update_the_new_value_is_read(change: str, below: str, meant: str) -> None:
    given = "inputs: {x: {shape: [N]}, w: {shape: [N]}, m: {shape: [N], dtype: bool}}"
    told = diagnosed(whole(given, change, below))
    assert any(f"write `{meant}`" in hint for d in told for hint in d.hints)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y = x.select(0, 1)", "y[m] = x[1, m]"),
        ("y = x.select(1, -1)", "y[n] = x[n, M - 1]"),
        ("y = x.T.select(0, 1)", "y[n] = x[n, 1]"),
        ("y = select(x > 0, 0, 1)", "y[n, m] = where(x[n, m] > 0, 0, 1)"),
    ],
)
def test_an_element_of_an_axis_is_no_choice(line: str, meant: str) -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [N, M]}}", line))
    assert f"write `{meant}`" in found.hints
