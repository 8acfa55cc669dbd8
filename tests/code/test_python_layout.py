"""Statements that are too long for a line are broken as the formatter breaks them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from opgen.code.layout import in_docstring, sliced, wrapped_code
from opgen.code.python_layout import fitted

A, B, C = "first_of_the_operands", "second_of_the_operands", "third_of_the_operands"
VALUES = (
    f"take({A}, {B}, {C}, fill=0).movedim((-1, -3, -2), (-3, -2, -1))",
    f"take({A}.movedim((-3, -2, -1, -4), (-4, -3, -2, -1)).flatten(0, 2), {B}).movedim((-1, -3, -2), (-3, -2, -1))",
    f"{A}.new_zeros(N, C, H, W).movedim((-3, -2, -1, -4), (-4, -3, -2, -1)).flatten(0, 2).unsqueeze(-1)",
    f"{A}.new_zeros({B}, {C}, {A}, {B}).movedim({A}, {B}, {C}).flatten({A}, {B}, {C}, {A}).unsqueeze(-1)",
    f"({A} or {B}) and (({C} is None and {A} == 'mean') or ({B} is not None and {C} is None))",
    f"({A} is not None and {B} in ('relu', 'tanh')) or ({A} is None and {C} in ('gelu', 'silu'))",
    f"{A} // (size // ({B} if {B} != 0 else 1) if size // ({C} if {C} != 0 else 1) != 0 else 1)",
    f"torch.stack([each[0] for each in {A}], -1) if {A} else {B}.new_zeros(*batch, {C}, 100000)",
    f"{A} * {B} + {C}[0] ** {A} - {B} @ {C} * -{A} + {C}**2 + {A}[..., : T - 1] / ({B} + {C})",
    f"{A} & ({B} >= 0) & ({B} < {C}) & ~{A}.unsqueeze(-1) & ({B}[:, None, :, None] == {C})",
    f"torch.where({A} & {B} & {C} & {A}, torch.exp({B} - {C} - {A}) / {B} + {C} + {A}, {B} * {C})",
    f"{A}.new_empty(torch.broadcast_shapes({B}.shape[:-1], {C}.shape[:-1]), dtype=compute_dtype({A}))",
    f"not ({A} < {B} and {B} < {C} and {A}.shape[0] == {B}.shape[0]) or {A}.shape[-1] == {B}.shape[-1]",
    f'{{"first": {A}, "second": {B}, "{A} + {B}": {C} // ({A} + {B})}}',
    f"{A}, {B}, {C}, None, None, {A}, {B}, {C}",
    f"{A}",
)


def _file(width: int) -> str:
    """Every value in statements of several kinds; names are stretched so that the breaks fall in many places."""
    lines = ["def f():"]
    for value in VALUES:
        v = value.replace("'", '"').replace("operands", "o" * width)
        lines += [f"    result = {v}", "    if x:", "        if y:", f"            return {v}"]
        if "None, None" in value:
            lines += [f"    {v.replace('None', '_')} = {v}"]
        else:
            lines += [f"    if {v}:", "        pass", f"    while {v}:", "        pass"]
            lines += ["    call(", "        other,", f"        {v},", f"        key={v},", "    )"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("width", [2, 8, 14, 20, 26, 33])
def test_the_formatter_agrees(tmp_path: Path, width: int) -> None:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")
    if ruff is None:
        pytest.skip("no ruff")
    file = tmp_path / "lines.py"
    file.write_text(fitted(_file(width)), encoding="utf-8")
    options = ["--isolated", "--no-cache", "--line-length", "120"]
    done = subprocess.run([ruff, "format", "--diff", *options, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_lines_that_fit_docstrings_and_comments_stay() -> None:
    long = "x + " * 40 + "x"
    text = f'"""{long}\n{long}\n"""\n# {long}\ny = x + x\n'
    assert fitted(text) == text


def test_slices_have_blanks_where_a_part_is_an_expression() -> None:
    assert sliced("", "3") == ":3"
    assert sliced("n", "", "-2") == "n::-2"
    assert sliced("", "T - 1") == ": T - 1"
    assert sliced("T - 1", "") == "T - 1 :"
    assert sliced("T - 1", "T", "k") == "T - 1 : T : k"
    assert sliced("T - 1", "", "k") == "T - 1 :: k"


def test_formulas_are_broken_at_signs() -> None:
    line = "y = " + " + ".join(f"weight[..., {i}]*x[..., {i}]" for i in range(12))
    broken = wrapped_code(f"  {line}", 60)
    assert max(map(len, broken)) <= 60
    assert all(part.startswith("      ") for part in broken[1:])
    assert "".join(part.strip().replace(" ", "") for part in broken) == line.replace(" ", "")


def test_a_docstring_begins_and_ends_as_one() -> None:
    for text in ('"quoted"', 'a """ b', "back\\slash", 'ends with "'):
        compile(f'"""{in_docstring(text)}"""', "docstring", "eval")
