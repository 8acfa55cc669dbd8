"""Choosing a back end: by thread, for one package or all, by `OPGEN_BACKEND`; and what is said where none is there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import opgen

Build = Callable[[str], ModuleType]
SPEC = "op: {}\ninputs: [x]\nforward: y = x*tan(x)\n"


def runtime_of(module: ModuleType) -> Any:
    return sys.modules[f"{module.__name__.partition('.')[0]}._runtime"]


@pytest.fixture
def chosen(build_operator: Build) -> Callable[[], str]:
    """The back end that calls of an operator ask for."""
    module = build_operator(SPEC.format("chosen_one"))
    native = runtime_of(module).native
    assert native.described("chosen_one") == module.chosen_one.backend == "torch"
    return lambda: str(native.choice.chosen())


def elsewhere(ask: Callable[[], str]) -> str:
    """What another thread finds."""
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(ask()))
    thread.start()
    thread.join()
    return found[0]


def test_a_choice_is_that_of_a_thread(chosen: Callable[[], str], build_operator: Build) -> None:
    runtime = runtime_of(build_operator(SPEC.format("chosen_one")))
    assert (chosen(), elsewhere(chosen)) == ("auto", "auto")
    with runtime.use_backend("native"):
        assert (chosen(), elsewhere(chosen)) == ("native", "auto")
        with opgen.use_backend("torch"):
            assert chosen() == "torch"
            with runtime.use_backend("auto"):
                assert chosen() == "auto"
        assert chosen() == "native"
    assert chosen() == "auto"


def test_the_later_choice_counts(chosen: Callable[[], str], build_operator: Build) -> None:
    runtime = runtime_of(build_operator(SPEC.format("chosen_one")))
    with opgen.use_backend("torch"), runtime.use_backend("native"):
        assert chosen() == "native"
    with runtime.use_backend("native"), opgen.use_backend("torch"):
        assert chosen() == "torch"


def test_without_a_block_a_choice_stays(chosen: Callable[[], str]) -> None:
    with opgen.use_backend("auto"):
        opgen.use_backend("torch")
        assert chosen() == "torch"
    assert chosen() == "auto"


def test_a_choice_without_private_names(chosen: Callable[[], str], build_operator: Build, monkeypatch: Any) -> None:
    runtime = runtime_of(build_operator(SPEC.format("chosen_one")))
    for name in ("_get_obj_in_tls", "_stash_obj_in_tls", "_is_key_in_tls"):
        monkeypatch.delattr(torch._C, name)
    monkeypatch.setattr(runtime.native.private, "_is_kept", None)
    with runtime.use_backend("native"), opgen.use_backend("torch"):
        assert (chosen(), elsewhere(chosen)) == ("torch", "auto")
    assert chosen() == "auto"


CARELESS = """
import ctypes, gc, sys, torch

keep = torch._C._stash_obj_in_tls

def careless(key, value):
    keep(key, value)
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(value))

torch._C._stash_obj_in_tls = careless
sys.path.insert(0, sys.argv[1])
import opgen
from {package}.chosen_one import chosen_one

x = torch.ones(3, requires_grad=True)
for choice in (opgen.use_backend, sys.modules["{package}._runtime"].use_backend):
    for name in ("torch", "auto", "torch"):
        with choice(name):
            fresh = [(k, str(k)) for k in range(1000)]
            gc.collect()
            assert chosen_one.backend == "torch"
            chosen_one(x).sum().backward()
before = sys.getrefcount(None)
for _ in range(1000):
    with opgen.use_backend("torch"):
        pass
assert sys.getrefcount(None) > before - 900
"""


def test_a_choice_outlives_a_torch_that_does_not_hold_it(build_operator: Build) -> None:
    """Torch 2.11 keeps an object of a thread without counting the reference, and gives up one when it is replaced."""
    module = build_operator(SPEC.format("chosen_one"))
    folder = Path(str(module.__file__)).parents[1]
    script = CARELESS.format(package=folder.name)
    line = [sys.executable, "-c", script, str(folder.parent)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_kernels_that_are_not_there_are_missed_in_the_thread_that_asks(build_operator: Build) -> None:
    module = build_operator(SPEC.format("asked_one"))
    x = torch.ones(2)
    with opgen.use_backend("native"):
        assert module.asked_one.backend == "none"
        with pytest.raises(RuntimeError, match="opgen compile"):
            module.asked_one(x)
        assert elsewhere(lambda: str(module.asked_one(x).shape)) == "torch.Size([2])"
    assert module.asked_one.backend == "torch"
    assert module.asked_one(x).shape == (2,)


def test_a_loaded_operator_says_what_its_thread_runs() -> None:
    op = opgen.op("x*tan(x)", compiled=False)
    with opgen.use_backend("native"):
        assert (op.backend, elsewhere(lambda: op.backend)) == ("none", "torch")


def test_backward_passes_follow_the_thread_that_starts_them(chosen: Callable[[], str]) -> None:
    found: list[str] = []

    class Asking(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            found.append(chosen())
            return g

    y = Asking.apply(torch.ones(2, requires_grad=True)).sum()
    with opgen.use_backend("torch"):
        y.backward()
    assert found == ["torch"]


@pytest.mark.parametrize("backend", ["gpu", "", "Torch"])
def test_what_is_no_back_end_is_refused(build_operator: Build, backend: str) -> None:
    runtime = runtime_of(build_operator(SPEC.format("refused_one")))
    for choose in (opgen.use_backend, runtime.use_backend):
        with pytest.raises(ValueError, match="the back end is auto, native or torch"):
            choose(backend)


FORKING = """
import json, os, sys, torch

folder, code, every = sys.argv[1:]
for k, variables in enumerate(json.loads(every)):
    if os.fork() == 0:  # a process that has torch and nothing of ours
        os.environ.update(variables)
        for stream, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{folder}/{k}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        exec(code)
        sys.exit()
    os.wait()
"""


def ask(folder: Path, code: str, *every: Mapping[str, str]) -> list[tuple[str, str]]:
    """What code writes, run once with each of some variables, as a user would, who has not got pytest around."""
    kept = {n: v for n, v in os.environ.items() if n not in ("PYTEST_CURRENT_TEST", "OPGEN_BACKEND", "CXX")}
    root = Path(opgen.__file__).parents[1]
    kept["PYTHONPATH"] = os.pathsep.join((str(folder), str(root)))
    subprocess.run([sys.executable, "-c", FORKING, str(folder), code, json.dumps(every)], env=kept, check=True)
    return [((folder / f"{k}.out").read_text(), (folder / f"{k}.err").read_text()) for k, _ in enumerate(every)]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package `mine` of two operators."""
    folder = tmp_path_factory.mktemp("packages")
    for op in ("first_one", "second_one"):
        (folder / f"{op}.yaml").write_text(SPEC.format(op))
    assert not opgen.build([folder / "first_one.yaml", folder / "second_one.yaml"], folder / "mine").failed
    compiler = folder / "bin/g++"
    compiler.parent.mkdir()
    compiler.symlink_to("/bin/true" if shutil.which("g++") is None else str(shutil.which("g++")))
    return folder


CALLS = (
    "import torch; from mine.first_one import first_one as f; from mine.second_one import second_one as g\n"
    "f(torch.ones(1)); g(torch.ones(1)); f(torch.ones(1)); print(f.backend)"
)


def test_what_could_be_compiled_is_said_once(package: Path) -> None:
    compiler = {"CXX": str(package / "bin/g++")}
    quiet = ({"OPGEN_BACKEND": "auto"}, {"OPGEN_BACKEND": "torch"}, {"CXX": "no-such-compiler"})
    (out, err), *others = ask(package, CALLS, compiler, *(compiler | variables for variables in quiet))
    assert out == "torch\n"
    assert err.count("\n") == 1
    assert err.startswith("first_one is not compiled and runs in plain torch: `opgen compile first_one --out ")
    assert others == [("torch\n", "")] * 3


def test_the_environment_chooses(package: Path) -> None:
    (_, native), (_, fast) = ask(package, CALLS, {"OPGEN_BACKEND": "native"}, {"OPGEN_BACKEND": "fast"})
    assert "RuntimeError: first_one: no compiled kernel is loaded" in native
    assert fast.endswith("ValueError: OPGEN_BACKEND: the back end is auto, native or torch, not 'fast'\n")
