"""The torch code of every shipped spec equals the interpreter: all variants, derived functions and batch ranks."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from opgen.diagnostics.model import Bag, Source  # noqa: E402
from opgen.ir import interp  # noqa: E402
from opgen.ir.operator import Operator, Variant  # noqa: E402
from opgen.ir.program import Condition, Program, Role  # noqa: E402
from opgen.lower.operator import lower  # noqa: E402
from opgen.opt.derive import Derived, derive  # noqa: E402
from opgen.package.sample_cases import sample_cases  # noqa: E402
from opgen.package.samples import SampleCase  # noqa: E402
from opgen.schema.load import load  # noqa: E402
from opgen.torch.functions import TorchFunction, torch_function  # noqa: E402
from tests.spec_files import EACH_SPEC  # noqa: E402
from tests.torch.cases import compare, narrowed, params_of, shape_of, tensor_for, to_array, to_tensor  # noqa: E402

BATCHES = [(), (3,), (2, 3)]
CASES: dict[tuple[str, tuple[Condition, ...]], SampleCase] = {}
STAGES = ("primal", "forward", "backward", "tangent", "second", "backward_tangent")


@cache
def derived(path: Path) -> tuple[Operator, tuple[Derived, ...]]:
    source, bag = Source(path.name, path.read_text(encoding="utf-8")), Bag()
    spec = load(source, bag)
    assert spec is not None, bag.items
    operator = lower(spec, bag)
    assert operator is not None, bag.items
    return operator, remember(operator)


@cache
def printed(path: Path, stage: str, *, masked: bool = False) -> TorchFunction:
    """The function of a stage, for all variants."""
    operator, variants = derived(path)
    return torch_function(stage, [(d.variant, getattr(d, stage)) for d in variants], operator, masked=masked)


def remember(operator: Operator) -> tuple[Derived, ...]:
    """Derive everything, and note the case of every variant."""
    every = derive(operator)
    for case in sample_cases(operator, every):
        CASES.setdefault((operator.name, case.variant.conditions), case)
    return every


def case_of(operator: Operator, v: Variant) -> SampleCase:
    """Sizes, params and ranges that go together in a variant."""
    return CASES[operator.name, v.conditions]


def params(operator: Operator, v: Variant) -> dict[str, Any]:
    """The params of that case, the given numbers where a spec has a use for them."""
    stated = dict(case_of(operator, v).params)
    return params_of(v, operator, {**stated, "ignore_index": 1, "label_smoothing": 0.3})


def arguments(
    p: Program, v: Variant, operator: Operator, batch: tuple[int, ...], known: dict[str, Any]
) -> dict[str, Any]:
    """Tensors for a program: inputs, then what has the shape of an input, then of an output."""
    seed = torch.Generator().manual_seed(1)
    case = case_of(operator, v)
    numbers = {n: value for n, value in params(operator, v).items() if isinstance(value, int)}
    sizes, samples = numbers | dict(case.sizes), dict(case.inputs)
    out = dict(known)
    for i, t in enumerate(v.program.inputs):
        out.setdefault(t.name, tensor_for(t, shape_of(t, sizes, narrowed(batch, i)), samples.get(t.name), seed))
    missing = [t for t in p.inputs if t.name not in out]
    if not missing:
        return out
    results = interp.run(v.program, {t.name: to_array(out[t.name]) for t in v.program.inputs}, params(operator, v))
    shapes = {**{n: x.shape for n, x in results.items()}, **{n: tuple(x.shape) for n, x in out.items()}}
    for t in missing:
        of = t.of if t.of in shapes else t.of.removeprefix("grad_")
        shape = shapes[of] if of in shapes else shape_of(t, sizes, batch)
        out[t.name] = tensor_for(t, shape, None, seed)
    return out


@lru_cache(maxsize=100)
def forward(path: Path, variant: int, batch: tuple[int, ...]) -> dict[str, Any]:
    """Tensors for the inputs of a variant, and all that its forward program makes of them."""
    operator, variants = derived(path)
    d = variants[variant]
    known = arguments(d.variant.program, d.variant, operator, batch, {})
    arrays = {t.name: to_array(known[t.name]) for t in d.forward.inputs}
    kept = interp.run(d.forward, arrays, params(operator, d.variant))
    return {o.name: to_tensor(kept[o.name], o.kind) for o in d.forward.outputs} | known


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("path", EACH_SPEC, ids=lambda p: p.stem)
def test_against_interpreter(path: Path, stage: str) -> None:
    operator, variants = derived(path)
    programs = [(d.variant, getattr(d, stage)) for d in variants]
    if any(p is None for _, p in programs):
        pytest.skip("not applicable: nothing is derived")
    for batch in BATCHES:
        every, given = [], []
        for k, d in enumerate(variants):
            known, p = dict(forward(path, k, batch)), getattr(d, stage)
            for t in p.inputs:
                if t.role is Role.SAVED:
                    known.setdefault(t.name, known[t.of or t.name])
            every.append(arguments(p, d.variant, operator, batch, known))
            given.append(params(operator, d.variant))
        compare(programs, operator, every, given, f=printed(path, stage, masked=stage in ("backward", "second")))
