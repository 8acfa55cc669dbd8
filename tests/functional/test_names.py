"""Names of a spec that the generated code uses itself: the generated code gives way."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
import torch

import opgen

INPUT = "op: {op}\ninputs: [{name}, zz]\nforward: yy = {name}*{name}*sin(zz)\n"
PARAM = "op: {op}\ninputs: [zz]\nparams: {{{name}: {{type: float, default: 2.0}}}}\nforward: yy = {name}*zz*zz\n"
NAMES = ("self", "ctx", "op", "given", "operands", "has_torch_function", "handle_torch_function", "forward", "training")


@pytest.mark.parametrize("role", ["input", "param"])
@pytest.mark.parametrize("name", NAMES)
def test_generated_code_gives_way(name: str, role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    op, folder = f"named_{name}_{role}", f"made_{name}_{role}"
    spec = tmp_path / f"{op}.yaml"
    spec.write_text((INPUT if role == "input" else PARAM).format(op=op, name=name), encoding="utf-8")
    assert not opgen.build(spec, tmp_path / folder).failed
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module(f"{folder}.{op}")
    call = getattr(package, op)
    function = next(v for n, v in vars(package).items() if n.endswith("Function"))
    module = next(v for v in vars(package).values() if isinstance(v, type) and issubclass(v, torch.nn.Module))
    inputs = [torch.rand(3, dtype=torch.float64, requires_grad=True) for _ in range(2 if role == "input" else 1)]
    others = (2.0,) if role == "param" else ()
    assert torch.autograd.gradcheck(call, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, inputs)
    assert torch.autograd.gradcheck(lambda *a: function.apply(*a, *others), inputs, check_forward_ad=True)
    assert torch.equal(module().eval()(*inputs), call(*inputs))
    named = {name: inputs[0], "zz": inputs[1]} if role == "input" else {"zz": inputs[0], name: 3.0}
    assert torch.isfinite(call(**named)).all()
    assert folder in sys.modules
