"""A model with generated operators, packaged by AOTInductor, runs in a C++ program without Python.

The program is the one of docs/export.md; its results are compared with those of the model in Python.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch

from generated._runtime import decompositions
from generated.embedding import embedding
from generated.linear import linear
from generated.rms_norm import rms_norm
from generated.softmax import softmax
from opgen.toolchain.compiler import toolchain
from tests.compilers import available

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not available(), reason="no C++ compiler")]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "export.md"
TORCH = Path(torch.__file__).parent


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softmax(linear(rms_norm(x), torch.ones(4, 3).cumsum(0) / 8), temperature=0.5)


class Rows(torch.nn.Module):
    def forward(self, ids: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return embedding(ids, table)


def program(folder: Path) -> Path:
    """The compiled C++ program of the page."""
    source, made = folder / "run.cpp", folder / "run"
    source.write_text(re.findall(r"```cpp\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0])
    include = [f"-I{TORCH / 'include'}", f"-I{TORCH / 'include/torch/csrc/api/include'}"]
    libraries = [f"-L{TORCH / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{TORCH / 'lib'}"]
    command = [toolchain().compiler, "-std=c++20", *include, str(source), "-o", str(made), *libraries]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return made


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_packaged_model_runs_without_python(tmp_path: Path) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    exported = torch.export.export(Model(), (x,)).run_decompositions(decompositions())
    package = torch._inductor.aoti_compile_and_package(exported, package_path=str(tmp_path / "model.pt2"))
    run = program(tmp_path)
    needed = subprocess.run(["ldd", str(run)], check=True, capture_output=True, text=True).stdout
    assert not re.search(r"lib(torch_)?python[\d.]*\.so", needed)
    done = subprocess.run([str(run), package], check=True, capture_output=True, text=True, env={})
    found = torch.tensor([float(word) for word in done.stdout.split()]).reshape(2, 4)
    torch.testing.assert_close(found, Model()(x))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_packaged_model_checks_positions(tmp_path: Path) -> None:
    table, ids = torch.arange(6.0).reshape(3, 2), torch.tensor([2, 0])
    exported = torch.export.export(Rows(), (ids, table)).run_decompositions(decompositions())
    package = torch._inductor.aoti_compile_and_package(exported, package_path=str(tmp_path / "rows.pt2"))
    run = torch._inductor.aoti_load_package(package)
    torch.testing.assert_close(run(ids, table), table[ids])
    for wrong in (-1, 3):
        with pytest.raises(RuntimeError, match="embedding: input must satisfy 0 <= input < V"):
            run(torch.tensor([wrong, 0]), table)
