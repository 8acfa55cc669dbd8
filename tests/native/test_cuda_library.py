"""The CUDA library of an operator: what it is compiled for, its commands, that its parts compile, link and export."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from opgen import build
from opgen.toolchain import cuda_toolchain as cuda
from opgen.toolchain import library
from opgen.toolchain.compiler import NoCompilerError, Toolchain, toolchain, version_of
from opgen.toolchain.cuda import nvcc
from opgen.write.user_cache import CACHE_VARIABLE
from tests.compilers import available

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted((ROOT / "specs").glob("*.yaml"))
QUICK = ("softmax", "embedding")
HOST = Toolchain("/bin/c++", "c++ 13", Path("/torch"), "2.13.0", ("baseline", "avx2"))
TOOLS = cuda.CudaToolchain("/cuda/nvcc", "release 13", HOST, ("8.0", "9.0+PTX"))

needs_compiler = pytest.mark.skipif(not available(), reason="no C++ compiler")
needs_nvcc = pytest.mark.skipif(nvcc() is None, reason="nvcc is not installed")


def test_the_listed_architectures_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "devices", lambda: ("7.5",))
    for text, expected in (("8.0;9.0a+PTX", ("8.0", "9.0a+PTX")), ("12.0 8.6 12.0", ("12.0", "8.6"))):
        monkeypatch.setenv(cuda.ARCHITECTURES, text)
        assert cuda.architectures() == expected
    monkeypatch.setenv(cuda.ARCHITECTURES, "")
    assert cuda.architectures() == ("7.5",)


def test_without_a_device_code_for_later_ones_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(cuda.ARCHITECTURES, raising=False)
    monkeypatch.setattr(cuda, "devices", lambda: ())
    assert cuda.architectures()[-1].endswith("+PTX")


def test_a_name_that_is_no_capability_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cuda.ARCHITECTURES, "8.0;hopper")
    with pytest.raises(NoCompilerError, match="hopper is no compute capability"):
        cuda.architectures()
    monkeypatch.setenv(cuda.ARCHITECTURES, "8.0;sm_90")
    with pytest.raises(NoCompilerError, match=r"sm_90 is no compute capability; write 9\.0$"):
        cuda.architectures()


def test_flags_of_architectures() -> None:
    assert cuda.gencodes(("9.0+PTX", "8.0")) == ["-gencode=arch=compute_80,code=[sm_90,compute_80,sm_80]"]
    assert cuda.gencodes(("9.0",)) == ["-gencode=arch=compute_80,code=[sm_90]"]
    assert cuda.gencodes(("7.5", "8.6")) == ["-gencode=arch=compute_75,code=[sm_75,sm_86]"]
    assert cuda.gencodes(("8.0", "9.0a+PTX")) == [
        "-gencode=arch=compute_80,code=[sm_80]",
        "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]",
    ]


def test_commands() -> None:
    shared = Path("s/opgen_host.o")
    own = [Path("c/op.cpp"), Path("c/op.cu"), Path("c/op_kernels.cpp")]
    sources = [shared, *own, Path("h/opgen_rt.cuh"), Path("h/a.h")]
    binding, kernels, link = TOOLS.commands(sources, [Path("h")], Path("b"), Path("b/op.so"))
    assert binding[0] == "/bin/c++"
    assert "-DUSE_CUDA" in binding
    assert binding[-3:] == ["c/op.cpp", "-o", "b/op.cpp.o"]
    assert kernels[:2] == ["/cuda/nvcc", "-ccbin=/bin/c++"]
    assert {*cuda.gencodes(TOOLS.architectures), "-Ih"} <= set(kernels)
    assert not any("torch" in word for word in kernels)
    assert link[-1] == "b/op.so"
    assert [word for word in link if word.endswith(".o")] == ["s/opgen_host.o", "b/op.cpp.o", "b/op.cu.o"]
    host = TOOLS.shared(Path("h/opgen_host.cpp"), [Path("h")], shared)
    assert "-DUSE_CUDA" in host
    assert "-DUSE_CUDA" not in HOST.shared(Path("h/opgen_host.cpp"), [Path("h")], shared)
    assert "-shared" in link


def test_both_kinds_have_keys_of_their_own() -> None:
    assert TOOLS.describe != HOST.describe
    assert TOOLS.library != HOST.library
    other = cuda.CudaToolchain(TOOLS.nvcc, TOOLS.version, HOST, ("9.0",))
    assert other.describe != TOOLS.describe


@pytest.mark.parametrize(
    ("text", "expected"), [("cuda: Optional[str] = '12.8'\n", "12.8"), ("cuda: Optional[str] = None\n", None)]
)
def test_whether_torch_has_cuda_is_read_from_its_version(tmp_path: Path, text: str, expected: str | None) -> None:
    (tmp_path / "version.py").write_text(f"__version__ = '2.13.0'\n{text}hip: Optional[str] = None\n")
    assert version_of(tmp_path, "cuda") == expected
    assert version_of(tmp_path, "__version__") == "2.13.0"


@needs_compiler
def test_a_torch_without_cuda_gets_no_cuda_library() -> None:
    if version_of(toolchain().torch, "cuda") is None:
        assert cuda.cuda_toolchain() is None


def _compiles(spec: Path, out: Path) -> str:
    """Compile the CUDA binding of an operator against the installed torch; what it needs of others."""
    assert not build(spec, out).failed
    # Every variant takes all that the operator takes.
    flags = ("-DUSE_CUDA", "-O0", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror")
    needed = ""
    shared = (out / "csrc" / name for name in ("opgen_host.cpp", "opgen_steps.cpp"))
    for source in (out / spec.stem / "csrc" / f"{spec.stem}.cpp", *shared):
        made = out / f"{source.stem}.o"
        command = toolchain().binding(source, [out / "csrc"], made, flags)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
        needed += subprocess.run(["nm", "-u", str(made)], capture_output=True, text=True, check=True).stdout
    return needed


def _check_symbols(spec: Path, needed: str) -> None:
    names = {line.split()[-1] for line in needed.splitlines()}
    assert {f"{spec.stem}_cuda_steps", "aoti_torch_get_current_cuda_stream"} <= names
    assert not [n for n in names if "_steps_" in n]  # no CPU kernels


@needs_compiler
@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
@pytest.mark.parametrize("op", QUICK)
def test_the_binding_compiles_against_a_torch_without_cuda(op: str, tmp_path: Path) -> None:
    spec = ROOT / "specs" / f"{op}.yaml"
    _check_symbols(spec, _compiles(spec, tmp_path))


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
@pytest.mark.parametrize("spec", [s for s in SPECS if s.stem not in QUICK], ids=lambda s: s.stem)
def test_every_binding_compiles_against_a_torch_without_cuda(spec: Path, tmp_path: Path) -> None:
    _check_symbols(spec, _compiles(spec, tmp_path))


@needs_compiler
@needs_nvcc
@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
def test_the_library_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = nvcc()
    assert compiler is not None
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    out = tmp_path / "out"
    assert not build(ROOT / "specs" / "embedding.yaml", out).failed
    tools = cuda.CudaToolchain(compiler, "any", toolchain(), ("9.0",))
    made = library.compile_op(out, "embedding", tools)
    assert made == out / "embedding" / "_native_cuda.so"
    stamp = made.stat().st_mtime_ns
    assert library.compile_op(out, "embedding", tools).stat().st_mtime_ns == stamp
    told = subprocess.run(["nm", "-D", str(made)], capture_output=True, text=True, check=True).stdout
    undefined = {line.split()[-1] for line in told.splitlines() if " U " in line}
    assert "aoti_torch_get_current_cuda_stream" in undefined
    assert not [n for n in undefined if n.startswith(("cuda", "__cuda", "embedding"))]
    defined = [line.split()[-1] for line in told.splitlines() if " T " in line]
    assert not [n for n in defined if "embedding" in n or "opgen" in n]  # nothing to clash with another operator
