"""Independent mistakes of a spec are told in one build, and nothing that only follows from another one."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import diagnosed


@pytest.mark.parametrize("name", ["Gelu", "my-op", "3d", "lambda", '"two words"'])
def test_the_name_of_an_operator_hides_no_other_mistake(name: str) -> None:
    text = f"op: {name}\ninputs: {{x: {{shape: [N]}}}}\nforward: |\n  a[n] = expp(x[n])\n  y[n] = a[n] + q[n]\n"
    assert [d.code for d in diagnosed(text)] == ["OPG113", "OPG209", "OPG205"]
    (found,) = diagnosed(text.replace("expp", "exp").replace(" + q[n]", ""))
    assert found.code == "OPG113"


@pytest.mark.parametrize(
    ("fields", "lines", "codes"),
    [
        ("inputs: {x: {shape: [N]}}", "a[n] = expp(x[n])\n  y[n] = a[n]*siin(x[n])", ["OPG209", "OPG209"]),
        ("inputs: {x: {shape: [N], dtype: flaot}}", "y[n] = x[n] + q[n]", ["OPG114", "OPG205"]),
        (
            "inputs: {x: {shape: [N, k]}}\nparams: {a: {type: float, defalt: 1}}",
            "y[n, k] = a*expp(x[n, k])",
            ["OPG110", "OPG224", "OPG209"],
        ),
    ],
)
def test_mistakes_in_several_places_are_told_together(fields: str, lines: str, codes: list[str]) -> None:
    assert [d.code for d in diagnosed(f"op: cured\n{fields}\nforward: |\n  {lines}\n")] == codes
