"""Names of a spec that generated code uses itself: what the language page allows works in every role.

The names are collected from generated text and headers, so that a name that comes into use there is tried as well.
"""

from __future__ import annotations

import builtins
import importlib
import io
import json
import keyword
import re
import shutil
import subprocess
import tokenize
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import opgen
from opgen.diagnostics.model import Bag, Source
from opgen.schema.load import load

ROOT = Path(__file__).parents[2]
GENERATED, HEADERS = ROOT / "generated", ROOT / "templates" / "csrc"
SNAKE, DIM = re.compile(r"[a-z][a-z0-9_]*"), re.compile(r"[A-Z][A-Za-z0-9_]*")
OWN = frozenset(["yy", "zz", "ids", "k", "null", "self"])  # `self` has a test of its own
DERIVED = ("grad_yy", "grad_zz", "tangent_zz", "grad_grad_zz", "tangent_grad_yy")
CPP_WORDS = """
alignas and_eq asm auto bitor case catch char class compl concept const constexpr default delete do double enum explicit
export extern float friend goto inline int long mutable namespace new noexcept nullptr operator private register
requires short signed sizeof static struct switch template this throw typedef typename union unsigned using virtual
void volatile xor assert errno linux unix main printf exp gamma index j0 NAN INFINITY EOF I M_PI threadIdx warpSize
"""
PER_SPEC = 30


def python_words(folder: Path) -> Iterable[str]:
    for f in sorted(folder.glob("*.py")):
        yield from (
            t.string for t in tokenize.generate_tokens(io.StringIO(f.read_text("utf-8")).readline) if t.type == 1
        )


def native_words(files: Iterable[Path]) -> Iterable[str]:
    for f in sorted(files):
        yield from re.findall(r"[A-Za-z_]\w*", re.sub(r'//.*|"[^"\n]*"', "", f.read_text("utf-8")))


def spelt(words: Iterable[str], form: re.Pattern[str]) -> list[str]:
    """The words that may be names, each once."""
    return [w for w in sorted({*words}) if form.fullmatch(w) and not keyword.iskeyword(w) and w not in OWN]


def turned(items: Sequence[str], size: int) -> list[list[str]]:
    return [list(items[i : i + size]) for i in range(0, len(items), size)]


PYTHON = [*python_words(GENERATED / "linear"), *dir(builtins), *DERIVED]
CHUNKS = turned(spelt(PYTHON, SNAKE), PER_SPEC)
DIMS = spelt(PYTHON, DIM)


def spec_of(op: str, names: Sequence[str], dims: Sequence[str]) -> tuple[str, list[str], list[str]]:
    """A spec whose inputs, params and intermediates have these names, with its inputs and params."""
    third = max(1, len(names) // 3)
    inputs, params, inner = names[:third], names[third : 2 * third], names[2 * third :]
    shapes = [f"{n}: {{shape: [..., N]}}" for n in (*inputs, "zz")] + [f"d_{d.lower()}: {{shape: [{d}]}}" for d in dims]
    lines, before = [], "zz[..., n]"
    for i, name in enumerate(inner):
        lines.append(f"{name}[..., n] = sin({before} + {i}) + mean[k](zz[..., k])")
        before = f"{name}[..., n]"
    terms = [f"cos({x}[..., n])" for x in inputs] + [f"{p}*zz[..., n]/8" for p in params]
    terms += [f"{d}*mean[i](d_{d.lower()}[i])" for d in dims]
    return (
        f"op: {op}\ninputs: {{{', '.join(shapes)}}}\n"
        f"params: {{{', '.join(f'{p}: {{type: float, default: 1.5}}' for p in params)}}}\n"
        "outputs: [yy]\nforward: |\n"
        + "".join(f"  {line}\n" for line in (*lines, f"yy[..., n] = softmax[n]({before} + {' + '.join(terms)})")),
        [*inputs, "zz", *(f"d_{d.lower()}" for d in dims)],
        list(params),
    )


def made(spec: str, op: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = folder / f"{op}.yaml"
    path.write_text(spec, encoding="utf-8")
    package = f"names_of_{folder.name.replace('-', '_')}"
    found = opgen.build(path, folder / package)
    assert not found.failed, [d.message for d in found.diagnostics]
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module(f"{package}.{op}")


def parts(package: ModuleType) -> tuple[Any, Any]:
    """The autograd function and the module of an operator."""
    found = [v for v in vars(package).values() if isinstance(v, type)]
    function = next(v for v in found if issubclass(v, torch.autograd.Function))
    return function, next(v for v in found if issubclass(v, torch.nn.Module))


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(len(CHUNKS)))
def test_names_of_python(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    op, chunk = f"op_{number}", CHUNKS[number]
    turn = number * 8 % len(chunk)
    dims = [d for d in DIMS[number % len(DIMS) :: len(CHUNKS)] if d != "N"]
    spec, inputs, params = spec_of(op, chunk[turn:] + chunk[:turn], dims)
    package = made(spec, op, tmp_path, monkeypatch)
    call, (function, module) = getattr(package, op), parts(package)
    torch.manual_seed(number)
    rows = {n: (2, 3) if not n.startswith("d_") else (2,) for n in inputs}
    tensors = {n: torch.rand(s, dtype=torch.float64, requires_grad=True) for n, s in rows.items()}
    numbers = {p: 1.0 + 0.25 * i for i, p in enumerate(params)}
    values = tuple(tensors.values())
    result = call(*values, **numbers)
    assert torch.equal(call(**tensors, **numbers), result)
    assert torch.equal(module(**numbers)(**tensors), result)
    applied = function.apply(*values, *numbers.values())
    assert torch.equal(applied[0] if isinstance(applied, tuple) else applied, result)
    weights = torch.rand_like(result)
    own = torch.autograd.grad(applied[0] if isinstance(applied, tuple) else applied, values, weights)
    for a, b in zip(torch.autograd.grad(result, values, weights), own, strict=True):
        torch.testing.assert_close(a, b)
    assert torch.autograd.gradcheck(lambda *t: call(*t, **numbers), values, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda *t: call(*t, **numbers), values, fast_mode=True)


OPERATORS = ("torch", "function", "operands", "next", "flops", "check", "floats", "int", "register", "upcast", "module")


@pytest.mark.thorough
@pytest.mark.parametrize("op", OPERATORS)
def test_names_of_operators(op: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = f"op: {op}\ninputs: {{{op}: {{shape: [...]}}, torch_: {{shape: [...]}}}}\ninplace: torch_\n"
    package = made(spec + f"forward: yy = {op}*{op}*sin(torch_)\n", op, tmp_path, monkeypatch)
    call, x = getattr(package, op), torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert call.__name__ == op
    assert torch.autograd.gradcheck(call, (x, x.detach() + 1), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(call, (x, x.detach() + 1))
    overwritten = x.detach().clone()
    getattr(package, f"{op}_")(x.detach(), overwritten)
    assert torch.equal(overwritten, parts(package)[1]()(x, x))


def test_self_ctx_and_a_constructor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of methods, of the constructor, and of attributes that every module has."""
    spec = (
        "op: owned\ninputs: {ctx: {shape: [..., K]}, training: {shape: [K]}}\n"
        "params: {torch: {type: float}, dtype: {type: int, default: 3}, super: {type: float, default: 1.0}}\n"
        "forward: yy[..., k] = ctx[..., k]*training[k]*torch*dtype*super\n"
        "module: {parameters: {training: ones}, dims: {K: self}}\n"
    )
    package = made(spec, "owned", tmp_path, monkeypatch)
    module = parts(package)[1](4, torch=3.0, _dtype=torch.float64)
    x = torch.rand(2, 4, dtype=torch.float64)
    torch.testing.assert_close(module(x), x * 9)
    assert "self=4" in repr(module)


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("op: o\ninputs: [_x]\nforward: y = _x\n", "OPG113"),
        ("op: o\ninputs: [lambda]\nforward: y = 1\n", "OPG113"),
        ("op: o\ninputs: [x]\nparams: {__shared__: {type: float}}\nforward: y = x\n", "OPG113"),
        ("op: _o\ninputs: [x]\nforward: y = x\n", "OPG113"),
    ],
)
def test_what_is_no_name_is_refused(spec: str, code: str) -> None:
    bag = Bag()
    load(Source("o.yaml", spec), bag)
    assert code in [d.code for d in bag.items]


# --- C++ -------------------------------------------------------------------------------------------------------------


def macros() -> set[str]:
    """What the headers of this machine define."""
    lines: list[str] = []
    for source in (GENERATED / "linear" / "csrc" / "linear.cu", GENERATED / "linear" / "csrc" / "linear_kernels.cpp"):
        line = ["g++", "-std=c++20", "-dM", "-E", "-x", "c++", f"-I{GENERATED / 'csrc'}", str(source)]
        lines += subprocess.run(line, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[1].split("(")[0] for line in lines}


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
@pytest.mark.parametrize("part", range(4))
def test_names_of_native_code(part: int, tmp_path: Path) -> None:
    """Every fourth chunk of the names that kernels, headers and macros have, through the compiler's front end."""
    sources = [*(GENERATED / "col2im" / "csrc").iterdir(), *HEADERS.iterdir()]
    words = [*native_words(sources), *CPP_WORDS.split(), *macros()]
    dims = turned(spelt(words, DIM), 24)
    for number, chunk in list(enumerate(turned(spelt(words, SNAKE), 36)))[part::4]:
        op = chunk[-1]
        spec = native_spec(op, chunk, dims[number % len(dims)])
        path = tmp_path / f"{op}.yaml"
        path.write_text(spec, encoding="utf-8")
        assert not opgen.build(path, tmp_path / "made").failed, spec
        folder = tmp_path / "made" / op / "csrc"
        include = ["-I", str(tmp_path / "made" / "csrc"), "-isystem", str(Path(torch.__file__).parent / "include")]
        for name in (f"{op}.cu", f"{op}_kernels.cpp", f"{op}.cpp"):
            line = ["g++", "-fsyntax-only", "-std=c++20", "-Wall", "-x", "c++", *include, str(folder / name)]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            assert not done.returncode, done.stderr[:2000]


def native_spec(op: str, names: Sequence[str], dims: Sequence[str]) -> str:
    """Kernels of several sorts: a map with reductions, one over many dims, and a scatter."""
    a, b, c = names[::3], names[1::3], names[2::3]
    shaped = [f"d{i}: {{shape: {json.dumps(d)}}}" for i, d in enumerate(turned(dims, 6))]  # NULL is YAML's null
    inputs = [*(f"{n}: {{shape: [...]}}" for n in a), *shaped, "zz: {shape: [K]}", "ids: {shape: [K], dtype: int}"]
    params = [f"{n}: {{type: {'float' if i % 3 else 'int'}, default: 2}}" for i, n in enumerate(b)]
    lines, before = [], "1.0"
    for i, n in enumerate(c):
        lines.append(f"{n} = sin({a[i]} * {before}) + {f'mean[...]({a[i]})' if i % 4 == 0 else i}")
        before = n
    terms = [before, *(f"{x}*{p}" for x, p in zip(a, b, strict=False)), *dims]
    for i, d in enumerate(turned(dims, 6)):
        at = ", ".join(f"i{k}" for k in range(len(d)))
        terms.append(f"sum[{at}](d{i}[{at}])")
    lines += [f"yy = {' + '.join(terms)}", "ww[ids[k]] += exp(zz[k])"]
    return (
        f"op: {op}\ninputs: {{{', '.join(inputs)}}}\nparams: {{{', '.join(params)}}}\nonce_differentiable: true\n"
        f"outputs: {{yy: {{shape: [...]}}, ww: {{shape: {json.dumps(dims[:1])}}}}}\nforward: |\n"
        + "".join(f"  {line}\n" for line in lines)
    )
