"""The CUDA binding of an operator without a device: its own code, on top of emulated kernels, for tensors of the CPU.

What is replaced is what a device would have to answer: the key that kernels are registered for, the device guard and
the current stream. Everything else, tables of steps and their numbers above all, is what runs on a device.
"""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from opgen.toolchain.compiler import toolchain

_STUBS = """
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
extern "C" {
__attribute__((visibility("default"))) int waits = 0;
AOTITorchError aoti_torch_create_device_guard(int32_t, DeviceGuardHandle* guard) { *guard = nullptr; return 0; }
AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle) { return 0; }
AOTITorchError aoti_torch_get_current_cuda_stream(int32_t, void** stream) { *stream = nullptr; return 0; }
}
"""
# What makes a host wait for its device is counted in `waits`.
_WAITS = """
extern "C" { extern int waits; }
inline int waited() { ++waits; return 0; }
#define cudaStreamSynchronize(...) waited()
#define cudaDeviceSynchronize(...) waited()
#define cudaEventSynchronize(...) waited()
#define cudaMemcpy(...) waited()
#define cudaMemcpyAsync(...) waited()
#define cudaMemset(...) waited()
#define cudaMalloc(...) waited()
#define cudaFree(...) waited()
"""


def bind(out: Path, op: str, folder: Path) -> Path:
    """Compile an operator of the folder `out` to a library whose CUDA binding takes tensors of the CPU."""
    sources = out / op / "csrc"
    text = (sources / f"{op}.cpp").read_text()
    assert text.count("_native, CUDA, m)") == 1
    binding = folder / f"{op}.cpp"
    binding.write_text(text.replace("_native, CUDA, m)", "_native, CPU, m)"))
    schemas = text.partition("#else\n")[2].partition("STABLE_TORCH_LIBRARY_IMPL")[0]
    assert "m.def(" in schemas
    stubs = folder / f"{op}_stubs.cpp"
    stubs.write_text(f"#include <torch/csrc/stable/library.h>\n{_STUBS}\n#define OPGEN_RUNS_HERE true\n{schemas}")
    tools = toolchain()
    include = (out / "csrc",)
    made = folder / f"{op}.so"
    objects = [folder / f"{op}.{part}.o" for part in ("binding", "stubs", "kernels")]
    flags = _flags(folder)
    run(tools.binding(binding, include, objects[0], flags))
    run(tools.binding(stubs, include, objects[1], flags[:2]))
    kernels = ["-x", "c++", "-std=c++17", "-O0", "-fPIC", "-ffp-contract=off", f"-I{include[0]}", *flags[2:]]
    run([tools.compiler, "-c", *kernels, str(sources / f"{op}.cu"), "-o", str(objects[2])])
    run([*tools.link([*objects, *_shared(include[0], folder.parent)], made), "-Wl,-Bsymbolic"])
    return made


def _flags(folder: Path) -> tuple[str, ...]:
    """What the host's side is compiled with: `folder` gets the header that counts what waits."""
    counting = folder / "waits.h"
    counting.write_text(_WAITS)
    return "-O0", "-DUSE_CUDA", "-include", str(counting)


def _shared(folder: Path, run_of_tests: Path) -> list[Path]:
    """The objects of the sources that all operators share; those that are the same are compiled once in a run."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(f"{path.name}\0{path.read_text()}\0".encode())
    into = run_of_tests / f"csrc-{digest.hexdigest()[:16]}"
    into.mkdir(exist_ok=True)
    sources = sorted(folder.glob("*.cpp"))
    found = [into / f"{source.stem}.o" for source in sources]
    for source, made in zip(sources, found, strict=True):
        if not made.exists():
            run(toolchain().binding(source, (folder,), made, _flags(into)))
    return found


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:4000]}"
    return done.stdout
