"""Arguments for programs, and comparison of printed torch code with the interpreter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import torch

from opgen.diff.laziness import GIVEN
from opgen.ir import interp
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Argument, Chosen, Given, Kind, Output, Program, Role, Tensor
from opgen.ir.scalar import Batch, Const, Dim, Lit, Param, Scalar
from opgen.ir.storage import STORED
from opgen.package.sample_arrays import InputSample
from opgen.torch.functions import TorchFunction, torch_function
from tests.torch.execute import function, source

Arguments = dict[str, Any]


def extent(e: Scalar, sizes: Mapping[str, int]) -> int:
    match e:
        case Lit(value):
            return int(value)
        case Dim(name) | Param(name):
            return sizes[name]
        case _:
            raise AssertionError(f"no size for {e}")


def shape_of(t: Tensor, sizes: Mapping[str, int], batch: tuple[int, ...]) -> tuple[int, ...]:
    out: list[int] = []
    for axis in t.shape:
        out.extend(batch if isinstance(axis, Batch) else (extent(axis, sizes),))
    return tuple(out)


def narrowed(batch: tuple[int, ...], i: int) -> tuple[int, ...]:
    """The batch shape of input `i`: the first has all of it, others may lack a dim or have ones."""
    if i == 0 or not batch:
        return batch
    return batch[1:] if i % 2 else (1, *batch[1:])


def tensor_for(t: Tensor, shape: tuple[int, ...], like: InputSample | None, seed: torch.Generator) -> torch.Tensor:
    """Random values, in the range of a sample where there is one."""
    if like is not None and (like.low, like.high) != (-2.0, 2.0) and t.kind is not Kind.BOOL:
        points = torch.rand(shape, generator=seed, dtype=torch.float64)
        scaled = like.low + (like.high - like.low) * points
        return scaled if t.kind is Kind.FLOAT else scaled.floor().long()
    if t.kind is Kind.FLOAT:
        return torch.randn(shape, generator=seed, dtype=torch.float64)
    whole = torch.randint(0, 2, shape, generator=seed)
    return whole > 0 if t.kind is Kind.BOOL else whole


def to_array(x: torch.Tensor) -> interp.Array:
    return interp.Array(tuple(x.shape), x.flatten().tolist())


def to_tensor(a: interp.Array, kind: Kind) -> torch.Tensor:
    dtype = {Kind.FLOAT: torch.float64, Kind.INT: torch.int64, Kind.BOOL: torch.bool}[kind]
    return torch.tensor(a.data, dtype=dtype).reshape(a.shape)


def params_of(v: Variant, operator: Operator, given: Mapping[str, Any]) -> Arguments:
    out: Arguments = {GIVEN: (True,) * len(operator.outputs)}
    chosen = {c.name: c.value for c in v.conditions if isinstance(c, Chosen)}
    chosen |= {c.name: None for c in v.conditions if isinstance(c, Given) and not c.present}
    for a in operator.params:
        if a.name in chosen:
            out[a.name] = chosen[a.name]
        elif a.name in given:
            out[a.name] = given[a.name]
        else:
            out[a.name] = _default(a)
    return out


def _default(a: Argument) -> Any:
    match a.default:
        case Const():
            return math.inf
        case bool() | str() as value:
            return value
        case int() | Fraction() as value:
            return int(value) if a.type == "int" else float(value)
        case _:
            return 0.7


def compare(
    programs: Sequence[tuple[Variant, Program]],
    operator: Operator,
    arguments: Sequence[Arguments],
    params: Sequence[Arguments],
    *,
    masked: bool = False,
    f: TorchFunction | None = None,
) -> None:
    """The printed function of all variants (`f`, if it is there) against the interpreter, each on its arguments."""
    f = f or torch_function("f", programs, operator, masked=masked)
    call = function(f)
    for (variant, p), given, chosen in zip(programs, arguments, params, strict=True):
        arrays = {t.name: to_array(given[t.name]) for t in p.inputs}
        expected = interp.run(p, arrays, {k: x for k, x in chosen.items() if x is not None})
        every: Arguments = {**dict.fromkeys(f.arguments), **{n: given.get(n) for n in f.tensors}, **chosen}
        for c in variant.conditions:
            if isinstance(c, Given) and c.name in every:
                every[c.name] = given.get(c.name, chosen.get(c.name)) if c.present else None
        if f.mask:
            absent = [c.name for c in variant.conditions if isinstance(c, Given) and not c.present]
            every[f.mask_name] = tuple(name not in absent for name in f.mask)
        actual = call(*(every[n] for n in f.arguments))
        actual = actual if isinstance(actual, tuple) else (actual,)
        by_name = dict(zip(result_names(programs), actual, strict=True))
        for o in p.outputs:
            value = by_name[o.name]
            assert value is not None, f"{o.name} is missing:\n{source(f)}"
            want = to_tensor(expected[o.name], o.kind)
            if o.of and o.like is None and not any(t.role in (Role.COTANGENT, Role.TANGENT) for t in p.inputs):
                value = value.expand(want.shape)  # a residual may be left unexpanded
            assert value.shape == want.shape, f"{o.name}: {value.shape} for {want.shape}\n{source(f)}"
            assert value.dtype == (dtype_of(o) or want.dtype), f"{o.name}: {value.dtype}\n{source(f)}"
            value = value.to(want.dtype)
            torch.testing.assert_close(
                value, want, rtol=1e-10, atol=1e-10, equal_nan=True, msg=lambda m, n=o.name: f"{n} {m}\n{source(f)}"
            )


def dtype_of(o: Output) -> torch.dtype | None:
    """The dtype that an output states."""
    return getattr(torch, STORED[o.dtype].torch) if o.dtype else None


def result_names(programs: Sequence[tuple[Variant, Program]]) -> list[str]:
    longest = max((p.outputs for _, p in programs), key=len)
    return list(dict.fromkeys(o.name for o in (*longest, *(o for _, p in programs for o in p.outputs))))
