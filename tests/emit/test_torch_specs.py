"""The torch code of every shipped spec equals the interpreter: all variants, derived functions and batch ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from opgen.diagnostics.model import Bag, Source  # noqa: E402
from opgen.ir import interp  # noqa: E402
from opgen.ir.lower import lower  # noqa: E402
from opgen.ir.program import Operator, Program, Role, Variant  # noqa: E402
from opgen.opt.derive import Derived, derive  # noqa: E402
from opgen.spec.load import load  # noqa: E402
from tests.emit.torch_cases import compare, narrowed, params_of, shape_of, tensor_for, to_array, to_tensor  # noqa: E402

# Those whose sizes may be chosen freely; the generated tests have samples for the others.
SPECS = [
    p for p in sorted((Path(__file__).parents[2] / "specs").glob("*.yaml")) if "\ndims:" not in p.read_text("utf-8")
]
BATCHES = [(), (3,), (2, 3)]
STAGES = ("primal", "forward", "backward", "tangent", "second", "backward_tangent")


def derived(path: Path) -> tuple[Operator, tuple[Derived, ...]]:
    source, bag = Source(path.name, path.read_text(encoding="utf-8")), Bag()
    spec = load(source, bag)
    assert spec is not None, bag.items
    operator = lower(spec, bag)
    assert operator is not None, bag.items
    return operator, derive(operator)


def arguments(
    p: Program, v: Variant, operator: Operator, batch: tuple[int, ...], known: dict[str, Any]
) -> dict[str, Any]:
    """Tensors for a program: inputs, then what has the shape of an input, then of an output."""
    seed = torch.Generator().manual_seed(1)
    sizes = {d: 2 + i for i, d in enumerate(sorted({d.name for d in v.program.dims}))}
    top = min(sizes.values(), default=2)
    out = dict(known)
    for i, t in enumerate(v.program.inputs):
        out.setdefault(t.name, tensor_for(t, shape_of(t, sizes, narrowed(batch, i)), top, seed))
    for t in p.inputs:
        if t.name in out:
            continue
        shape = out[t.of].shape if t.of in out else None
        if t.of.removeprefix("grad_") in out and t.of != t.of.removeprefix("grad_"):
            shape = out[t.of.removeprefix("grad_")].shape
        out[t.name] = tensor_for(t, shape if shape is not None else shape_of(t, sizes, batch), top, seed)
    return out


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_against_interpreter(path: Path, stage: str) -> None:
    operator, variants = derived(path)
    programs = [(d.variant, getattr(d, stage)) for d in variants]
    if any(p is None for _, p in programs):
        pytest.skip("not derived")
    for batch in BATCHES:
        every, params = [], []
        for d in variants:
            chosen = params_of(d.variant, operator, {"ignore_index": 1, "label_smoothing": 0.3})
            known = arguments(d.variant.program, d.variant, operator, batch, {})
            kept = interp.run(d.forward, {t.name: to_array(known[t.name]) for t in d.forward.inputs}, chosen)
            for o in d.forward.outputs:
                known.setdefault(o.name, to_tensor(kept[o.name], o.kind))
            p = getattr(d, stage)
            for t in p.inputs:
                if t.role is Role.SAVED:
                    known.setdefault(t.name, known[t.of or t.name])
            every.append(arguments(p, d.variant, operator, batch, known))
            params.append(chosen)
        compare(programs, operator, every, params, masked=stage in ("backward", "second"))
