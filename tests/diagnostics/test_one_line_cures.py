"""What a message says to write, put in place of what it is said of, is the spec that was meant."""

from __future__ import annotations

import re

import pytest

from opgen.diagnostics.model import Bag, Hint, Source
from opgen.lower.operator import lower
from opgen.schema.load import load
from tests.diagnostics.cures import built, diagnosed

GATED = "op: a\ninputs: [x, z]\nfunctions: {}\nforward: y = act(both(x, z))\n"
OWNED = (
    "op: a\ninputs: {{x: {{shape: [..., K]}}, w: {{shape: [K]}}}}\nforward: y[..., k] = w[k]*x[..., k]\nmodule: {}\n"
)


def said(text: str) -> list[str]:
    return [part for d in diagnosed(text) for hint in d.hints for part in re.findall(r"`([^`]+)`", hint)]


@pytest.mark.parametrize(
    "written",
    [
        "|\n  act(x) = x*sigmoid(x)\n  both(x, z) = x*z",
        "|\n  act(x): x*sigmoid(x)  # one\n\n  both(x, z) := x*z",
        "\n  - act(x) = x*sigmoid(x)\n  - both(x, z) = x*z",
    ],
)
def test_functions_that_are_written_as_equations_have_a_line_each(written: str) -> None:
    lines = [line for line in said(GATED.format(written)) if ":" in line]
    assert lines == ["act(x): x*sigmoid(x)", "both(x, z): x*z"]
    built(GATED.format("".join(f"\n  {line}" for line in lines)))


@pytest.mark.parametrize(
    ("fields", "meant"),
    [
        ("rtol: 1e-3", "tolerances: {rtol: 1e-3}"),
        ("atol: 1e-5, rtol: 1e-3", "tolerances: {atol: 1e-5, rtol: 1e-3}"),
        ("float32: 1e-3", "tolerances: {float32: 1e-3}"),
        ("float16: {rtol: 1e-2, atol: 1}, bfloat16: 1", "tolerances: {float16: {rtol: 1e-2, atol: 1}, bfloat16: 1}"),
    ],
)
def test_tolerances_are_told_where_they_belong(fields: str, meant: str) -> None:
    text = "op: a\ninputs: [x]\nforward: y = 2*x\ntests: {}\n"
    assert said(text.replace("{}", f"{{{fields}}}")) == [meant]
    built(text.replace("{}", f"{{{meant}}}"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("normal_(0, 0.02)", "normal(0, 0.02)"),
        ("Normal_(std=0.02)", "normal(std=0.02)"),
        ("init.normal_(w, 0, 0.02)", "normal(0, 0.02)"),
        ("nn.init.uniform_(self.w, -1/math.sqrt(K), b=1/np.sqrt(K))", "uniform(-1/sqrt(K), b=1/sqrt(K))"),
        ("torch.nn.init.constant_(w, 0.5)", "constant(0.5)"),
        ("zeros_()", "zeros"),
        ("zeros_(w)", "zeros"),
        ("zeros_", "zeros"),
    ],
)
def test_an_initialiser_of_torch_keeps_its_arguments(written: str, meant: str) -> None:
    text = OWNED.format(f"\n  dims: {{K: dim}}\n  parameters:\n    w: {written}")
    assert said(text) == [meant]
    built(text.replace(written, meant))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("a, b = x[n, 0], x[n, 1]", ["a[n] = x[n, 0]", "b[n] = x[n, 1]"]),
        ("a, b = x[:, 0], 0.5*x[:, 1]", ["a[n] = x[n, 0]", "b[n] = 0.5*x[n, 1]"]),
        ("a, b = x[..., 0], c*sum[k](x[n, k])", ["a[n] = x[n, 0]", "b[n] = c*sum[k](x[n, k])"]),
        ("a, b = x[ids[t], k], 3", ["a[t, k] = x[ids[t], k]", "b = 3"]),
        ("a, b[n] = 2*x, exp(x[n, 0])", ["a[n, k] = 2*x[n, k]", "b[n] = exp(x[n, 0])"]),
        ("a, b = exp(z), z[..., 0]", ["a[..., i] = exp(z[..., i])", "b = z[..., 0]"]),
        ("a, b = max[k](x[n, k])", ["a[n] = max[k](x[n, k])", "b[n] = argmax[k](x[n, k])"]),
    ],
)
def test_values_side_by_side_are_statements_with_indices(line: str, meant: list[str]) -> None:
    inputs = "{x: {shape: [N, K]}, c: {shape: []}, ids: {shape: [T], dtype: int}, z: {shape: [..., 3]}}"
    text = f"op: a\ninputs: {inputs}\nforward: |\n"
    assert said(f"{text}  {line}\n") == meant
    bag = Bag()
    spec = load(Source("spec.yaml", text + "".join(f"  {s}\n" for s in meant)), bag)
    assert spec is not None
    assert lower(spec, bag) is not None, bag.items
    assert not bag.has_errors


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("both(n, k)", "an intermediate is read with brackets, `both[n, k]`, and has a statement of its own"),
        ("inter(n, k)", "an intermediate is read with brackets, `inter[n, k]`, and has a statement of its own"),
        ("flor(n)", "did you mean `floor`?"),
        ("sigmod(x[n, k])", "did you mean `sigmoid`?"),
    ],
)
def test_a_call_with_indices_is_most_likely_a_tensor(call: str, told: str) -> None:
    (found,) = diagnosed(f"op: a\ninputs: {{x: {{shape: [N, K]}}}}\nforward: y[n, k] = x[n, k]*{call}\n")
    assert found.hints[:1] == (told,)


@pytest.mark.parametrize(
    ("more", "statement", "cured"),
    [
        ("", "y[n, d] = x[n, d]/D", "dims: {E: 2*D}\nforward: y[n, d < D] = x[n, d]/D"),
        (
            "outputs: {y: {shape: [N, D]}}\n",
            "y[n, d] = x[n, d]/D",
            "dims: {E: 2*D}\noutputs: {y: {shape: [N, D]}}\nforward: y[n, d] = x[n, d]/D",
        ),
        (
            "dims: {H: D//2}\n",
            "y[n, h < H] = x[n, D + h]",
            "dims: {E: 2*D, H: D//2}\nforward: y[n, h < H] = x[n, D + h]",
        ),
    ],
)
def test_what_a_refused_size_is_made_of_is_no_second_mistake(more: str, statement: str, cured: str) -> None:
    (found,) = diagnosed(f"op: a\ninputs: {{x: {{shape: [N, 2*D]}}}}\n{more}forward: {statement}\n")
    assert found.code == "OPG224"
    assert "such as `E`, and `dims: {E: 2*D}` with `d < D`" in found.hints[0]
    built(f"op: a\ninputs: {{x: {{shape: [N, E]}}}}\n{cured}\n")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("x[n, k]²", "x[n, k]**2"),
        ("-(x[n, k] + 1)³", "(x[n, k] + 1)**3"),
        ("c⁻¹*x[n, k]", "c**(-1)"),
        ("sqrt(x[n, k])¹⁰", "sqrt(x[n, k])**10"),
        ("x[n, k]ⁿ", "x[n, k]**n"),
        ("½x[n, k]", "0.5*x"),
        ("x[n, k] + ⅓", "(1/3)"),
        ("√x[n, k]", "sqrt(x[n, k])"),
        ("√(x[n, k] + 1)*c", "sqrt(x[n, k] + 1)"),
        ("e^x[n, k]", "exp(x[n, k])"),
        ("e**x[n, k] + 1", "exp(x[n, k])"),
        ("2*e^(-c*x[n, k])", "exp(-c*x[n, k])"),
        ("e ^ -x[n, k]", "exp(-x[n, k])"),
        ("e^sum[j](x[n, j])*x[n, k]", "exp(sum[j](x[n, j]))"),
        ("xₙ[k]", "x[n]"),
        ("x[n, k]*c₀", "c0"),
        ("x[n, k] ⊙ c", "*"),
        ("x[n, k]∕c", "/"),
        ("where(x[n, k] ⩽ c, 1, 0)", "<="),
        ("where(x[n, k] > 0 ∧ c > 0, 1, 0)", "and"),
        ("x[n, k]*𝜋", "pi"),
    ],
)
def test_signs_of_paper_are_told_with_what_they_stand_at(written: str, meant: str) -> None:
    text = f"op: a\ninputs: {{x: {{shape: [N, K]}}, c: {{shape: []}}}}\nforward: y[n, k] = {written}\n"
    found, *others = diagnosed(text)
    assert found.hints[0] == f"write `{meant}`"
    if others:
        assert written in ("xₙ[k]", "x[n, k]*c₀")  # these are names that nothing has
    else:
        assert isinstance(found.hints[0], Hint)
        assert found.span is not None
        place = found.hints[0].at or found.span
        there = text[place.start : place.end]
        built(text[: place.start] + there.replace(found.hints[0].old, found.hints[0].new) + text[place.end :])


@pytest.mark.parametrize(
    ("fields", "statement"),
    [
        ("inputs: {x: {}, e: {}}", "y = e**x"),
        ("inputs: [x]\nparams: {e: float}", "y = e**x"),
        ("inputs: [x]", "y[e < 3, ...] = e**x[...]"),
        ("inputs: [x]\nfunctions: {f(e): e**2}", "y = f(x)"),
    ],
)
def test_what_is_called_e_is_itself(fields: str, statement: str) -> None:
    built(f"op: a\n{fields}\nforward: {statement}\n")
