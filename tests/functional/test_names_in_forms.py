"""Names of the generated code in every place of a spec: operators of many forms, under the names that theirs have."""

from __future__ import annotations

import ast
import importlib
import itertools
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest
import torch

import opgen
from opgen.code.names import CPU_KERNELS, KERNELS
from opgen.ir.complex_functions import PARTS
from opgen.ir.reductions import REDUCTIONS
from opgen.lower.declare import CALLABLE, SPECIAL
from tests.functional.test_names import CPP_WORDS, DIM, SNAKE, native_words, python_words, spelt, turned

_numbers = itertools.count()
CODE = Path(opgen.__file__).parent / "code"
# `§name§` is a name to be replaced, `§Name§` a dim.
FORMS = {
    "recurrence": (
        "inputs: {§x§: {shape: [..., §N§]}, §i§: {shape: [§N§], dtype: int}, §c§: {shape: [...]}}\n"
        "params: {§p§: {type: float, default: 0.5}, §q§: {type: int, default: 2}}\n"
        "outputs: {§batch§: {}, §y§: {shape: [..., §N§]}, §z§: {}}\n"
        "forward: |\n"
        "  §z§[..., §n§] = §p§*§z§[..., §n§ - 1] + §x§[..., §n§]**§q§\n"
        "  §t§[..., §m§] = sin(§x§[..., §m§]) + mean[§j§](§x§[..., §j§])\n"
        "  §batch§[...] = exp(§c§)\n"
        "  §y§[..., §i§[§k§]] += §t§[..., §k§]*§c§\n"
    ),
    "window": (
        "inputs: {§value§: {shape: [..., §N§]}, §w§: {shape: [§N§]}, §s§: {shape: [§R§], optional: true}}\n"
        "params: {§padding§: {type: int, default: 1}, §mode§: {choices: [one, two], default: one}}\n"
        "forward: |\n"
        "  §u§[..., §n§ < §N§] = logsumexp[§r§ < 3](pad(§value§[..., §n§ + §r§ - §padding§], -inf))\n"
        '  §v§[..., §a§] = §u§[..., §a§]*§w§[§a§] if §mode§ == "one"\n'
        '  §v§[..., §b§] = §u§[..., §b§] + §w§[§b§] if §mode§ == "two"\n'
        "  §y§[..., §e§] = softmax[§e§](§f§(§v§[..., §e§]))\n"
        "  §z§ = sum[...](max[§h§](§value§[..., §h§]))\n"
        "functions: {'§f§(§g§)': 'tanh(§g§)*2'}\n"
    ),
    "stream": (
        "inputs: {§query§: {shape: [..., §L§, §E§]}, §key§: {shape: [..., §S§, §E§]}, "
        "§value§: {shape: [..., §S§, §V§]}}\n"
        "params: {§scale§: {type: float, default: 0.7}}\n"
        "forward: |\n"
        "  §score§[..., §l§, §s§] = §scale§*sum[§e§](§query§[..., §l§, §e§]*§key§[..., §s§, §e§])\n"
        "  §p§[..., §l§, §s§] = softmax[§s§](§score§[..., §l§, §s§])\n"
        "  §y§[..., §l§, §v§] = sum[§s§](§p§[..., §l§, §s§]*§value§[..., §s§, §v§])\n"
    ),
}
PLACE = re.compile("§(\\w+)§")
SHAPES = {
    "recurrence": ((2, 4), (4,), (2,)),
    "window": ((2, 4), (4,), (4,)),
    "stream": ((2, 3, 4), (2, 5, 4), (2, 5, 2)),
}
CONSTANTS = frozenset(("pi", "inf", "nan", "true", "false", "given", "where", "cast", "pad"))
# what kernels and functions of all forms use, for the quick tier
USUAL = """
batch steps value rows start size out dtype torch math ctx inputs output mask position each total point first place
"""


def places(form: str) -> tuple[list[str], list[str]]:
    found = list(dict.fromkeys(PLACE.findall(FORMS[form])))
    return [n for n in found if n[0].islower()], [n for n in found if n[0].isupper()]


def filled(form: str, names: Mapping[str, str]) -> str:
    return "op: named\n" + PLACE.sub(lambda m: names.get(m[1], m[1]), FORMS[form])


def made(form: str, names: Mapping[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = folder / "named.yaml"
    spec.write_text(filled(form, names), encoding="utf-8")
    package = f"forms_{folder.name.replace('-', '_')}_{next(_numbers)}"
    found = opgen.build(spec, folder / package)
    assert not found.failed, (spec.read_text(), [d.message for d in found.diagnostics])
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module(f"{package}.named")


def called(package: ModuleType, form: str) -> list[torch.Tensor]:
    """Results and gradients of a call, and results of its module."""
    torch.manual_seed(0)
    tensors = [torch.rand(s, dtype=torch.float64, requires_grad=True) for s in SHAPES[form]]
    given: list[torch.Tensor] = [
        torch.arange(4) if s == (4,) and form == "recurrence" else t for s, t in zip(SHAPES[form], tensors, strict=True)
    ]
    results = package.named(*given)
    results = results if isinstance(results, tuple) else (results,)
    leaves = [t for t in given if t.requires_grad]
    first = torch.autograd.grad(sum(r.cos().sum() for r in results), leaves, create_graph=True)
    second = torch.autograd.grad(sum(g.cos().sum() for g in first), leaves)
    return [*results, *first, *second, *given]


def renamings(form: str, words: Sequence[str], dims: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every word in some place: so many at a time as there are places."""
    small, large = places(form)
    for number, chunk in enumerate(turned([w for w in words if w not in CONSTANTS], len(small))):
        turn = number % len(small)
        names = dict(zip(small[turn:] + small[:turn], chunk, strict=False))
        names |= {n: f"{n}_place" for n in small if n not in names}
        if "f" in names and names["f"] in (*CALLABLE, *SPECIAL, *PARTS, *REDUCTIONS):
            names["f"] = "f_place"
        own = [dims[(number * len(large) + k) % len(dims)] for k in range(len(large))] if dims else []
        yield names | (dict(zip(large, own, strict=True)) if len(set(own)) == len(large) else {})


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
def test_usual_names(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(form, USUAL.split(), ("OP", "I", "NAN", "O"), tmp_path, monkeypatch, compiled=0)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_all_names(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = made(form, {}, tmp_path, monkeypatch)
    folder = Path(str(package.__file__)).parent
    words = [*python_words(folder), *native_words((folder / "csrc").iterdir()), *CPP_WORDS.split()]
    compare(form, spelt(words, SNAKE), spelt(words, DIM), tmp_path, monkeypatch, compiled=4)


def compare(
    form: str,
    words: Sequence[str],
    dims: Sequence[str],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    compiled: int,
) -> None:
    """The operator computes the same under all names; every so many go through a compiler, if any."""
    expected = called(made(form, {}, folder, monkeypatch), form)
    for k, names in enumerate(renamings(form, words, dims)):
        package = made(form, names, folder, monkeypatch)
        for a, b in zip(called(package, form), expected, strict=True):
            assert torch.equal(a, b), filled(form, names)
        if compiled and k % compiled == 0 and shutil.which("g++"):
            syntax(Path(str(package.__file__)).parent)


def syntax(package: Path) -> None:
    """The compiler's front end takes all sources of an operator, as one."""
    headers = ["-I", str(package.parent / "csrc"), "-isystem", str(Path(torch.__file__).parent / "include")]
    whole = package / "csrc" / "whole.cpp"
    whole.write_text('#include "named_kernels.cpp"\n')
    for source in (whole, package / "csrc" / "named.cu", package / "csrc" / "named.cpp"):
        line = ["g++", "-fsyntax-only", "-std=c++20", "-Wall", "-x", "c++", *headers, str(source)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr[:2000]


# --- what is reserved ------------------------------------------------------------------------------------------------

_WORD = re.compile(r"(?<![\w\0.:>\\])([a-z]\w*)(?![\w\0]|::)")
_NO_LOCALS = ("include", "tensor", "m")  # a directive, a member, what a macro of torch calls a library
_NO_CODE = re.compile(r"\. [A-Z]| = ;$")  # sentences of comments, and what only measures how long a line is
NATIVE = {
    "C++": (
        CPU_KERNELS,
        ("cpp_*.py", "native_scope.py", "wide.py"),
        ("cpp_host.py", "cpp_layout.py", "cpp_convolution.py"),
    ),
    "CUDA": (KERNELS, ("cuda_*.py", "native_scope.py", "wide.py"), ()),
}


@pytest.mark.parametrize("language", NATIVE)
def test_kernels_reserve_every_word_that_their_printers_write(language: str) -> None:
    reserved, patterns, others = NATIVE[language]
    files = [f for p in patterns for f in sorted(CODE.glob(p)) if f.name not in others]
    assert len(files) > len(patterns)
    code = [(f.name, t) for f in files for t in literals(f) if re.search(r"[;={}()<>]", t) and not _NO_CODE.search(t)]
    written = {w: (name, t) for name, t in code for w in _WORD.findall(re.sub(r"\{\w+\}", "\0", t))}
    assert len(written) > 10
    assert {w: place for w, place in written.items() if w not in (*reserved, *_NO_LOCALS)} == {}


def literals(path: Path) -> Iterator[str]:
    """The texts that a module writes, with a zero for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documents = {
        ast.get_docstring(n, clean=False)
        for n in ast.walk(tree)
        if isinstance(n, ast.Module | ast.FunctionDef | ast.ClassDef)
    }
    parts = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for n in ast.walk(tree):
        if isinstance(n, ast.JoinedStr):
            text = "".join(str(v.value) if isinstance(v, ast.Constant) else "\0" for v in n.values)
        elif (
            isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in parts and n.value not in documents
        ):
            text = n.value
        else:
            continue
        if not re.search(r"\\[wsbd.({]", text):  # no pattern
            yield re.sub(r'"[^"]*"|//.*', "", text)
