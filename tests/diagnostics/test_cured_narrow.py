"""Dtypes of fewer than 8 bits: packed values are stored in bytes, and what unpacks them builds and is right."""

from __future__ import annotations

import numpy as np
import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, said, whole


@pytest.mark.parametrize(
    ("dtype", "low"),
    [("int4", -8), ("torch.int4", -8), ("uint4", 0), ("int2", -2), ("uint2", 0), ("u4", 0), ("uint1", 0)],
)
def test_what_unpacks_is_told(dtype: str, low: int) -> None:
    bits = int(dtype[-1])
    per_byte, count = 8 // bits, 2**bits
    (found,) = diagnosed(
        f'op: cured\ninputs: {{w: {{shape: [N, P], dtype: {dtype}}}}}\nforward: "y[n, p] = 2*w[n, p]"\n'
    )
    assert found.code == "OPG114"
    assert f"no {bits}-bit dtype" in found.message
    told = [part for hint in found.hints for part in str(hint).split("`")[1::2]]
    declared = next(part for part in told if part.startswith("w: "))
    values = np.random.default_rng(0).integers(low, low + count, (3, 2 * per_byte))
    offset = [part for part in told if part.endswith(f"{count} - {count // 2}") and not part.startswith("(")]
    for value in (part for part in told if part.startswith(("w[", "(w["))):
        operator = built(whole(f"inputs: {{{declared}}}", f"y[n, k < {per_byte}*P] = {value}"))
        stored = values - low if value in offset else values % count
        packed = sum(stored[:, k::per_byte] * count**k for k in range(per_byte))
        made = run(operator.variants[0].program, {"w": array(packed.tolist())})["y"]
        assert made.data == values.ravel().tolist()


@pytest.mark.parametrize(("dtype", "meant"), [("int4", "int8"), ("uint4", "uint8"), ("int3", "int8")])
def test_a_byte_each_is_the_other_way(dtype: str, meant: str) -> None:
    text = f'op: cured\ninputs: {{w: {{shape: [N, P], dtype: {dtype}}}}}\nforward: "y[n, p] = 2*w[n, p]"\n'
    assert said(text)[-1] == meant
    assert len(diagnosed(text)) == 1
    built(text.replace(dtype, meant))


@pytest.mark.parametrize("dtype", ["nf4", "fp4", "float4_e2m1fn"])
def test_floats_of_few_bits_are_places_in_a_table(dtype: str) -> None:
    text = f'op: cured\ninputs: {{w: {{shape: [N, P], dtype: {dtype}}}}}\nforward: "y[n, p] = 2*w[n, p]"\n'
    (value,) = (part for part in said(text) if part.startswith("table["))
    fields = "inputs: {w: {shape: [N, P], dtype: uint8}, table: {shape: [16]}}"
    built(whole(fields, f"y[n, k < 2*P] = {value}"))


def test_an_input_that_is_only_a_dtype() -> None:
    text = 'op: cured\ninputs: {w: int4}\nforward: "y[n, p] = 2*w[n, p]"\n'
    assert any("unpacked" in str(hint) for hint in diagnosed(text)[0].hints)


@pytest.mark.parametrize(
    ("dtype", "least", "most"),
    [("int4", -8, 7), ("uint4", 0, 15), ("int2", -2, 1), ("uint1", 0, 1), ("uint16", 0, 65535)],
)
def test_a_value_that_is_rounded_to_few_bits(dtype: str, least: int, most: int) -> None:
    fields = "inputs: {w: {shape: [N, K]}, s: {shape: [N]}}"
    value, read = f"clamp(round(w[n, k] / s[n]), {least}, {most})", "w[n, k]/s[n]"
    for written in (
        f"cast({read}, {dtype})",
        f"{dtype}({read})",
        f"({read}).to({dtype})",
        f"({read}).to(torch.{dtype})",
    ):
        assert said(whole(fields, f"q[n, k] = {written}"))[-1].removeprefix("q[n, k] = ") == value
    w, s = np.random.default_rng(0).normal(0, 9, (3, 8)), np.array([0.5, 1.0, 2.0])
    program = built(whole(fields, f"q[n, k] = {value}")).variants[0].program
    made = run(program, {"w": array(w.tolist()), "s": array(s.tolist())})["q"]
    assert made.data == np.clip(np.round(w / s[:, None]), least, most).ravel().tolist()


@pytest.mark.parametrize("dtype", ["int", "torch.long", "torch.short"])
def test_what_is_converted_to_an_integer_is_not_left_as_it_is(dtype: str) -> None:
    fields = "inputs: {w: {shape: [N]}}"
    (found,) = diagnosed(whole(fields, f"q[n] = (2*w[n]).to({dtype})"))
    assert [*found.hints] == ["a function stands before what it is applied to", "write `q[n] = int(2 * w[n])`"]
    built(whole(fields, "q[n] = int(2 * w[n])"))
