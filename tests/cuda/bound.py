"""The CUDA binding of an operator without a device: its own code, on top of emulated kernels, for tensors of the CPU.

What is replaced is what a device would have to answer: the key that kernels are registered for, the device guard and
the current stream. Everything else, tables of steps and their numbers above all, is what runs on a device.
"""

from __future__ import annotations

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
    stubs.write_text(f"#include <torch/csrc/stable/library.h>\n{_STUBS}\n{schemas}")
    counting = folder / "waits.h"
    counting.write_text(_WAITS)
    tools = toolchain()
    include = (out / "csrc",)
    made = folder / f"{op}.so"
    objects = [folder / f"{op}.{part}.o" for part in ("binding", "stubs", "kernels", "host", "steps")]
    flags = ("-O0", "-DUSE_CUDA", "-include", str(counting))
    run(tools.binding(binding, include, objects[0], flags))
    run(tools.binding(stubs, include, objects[1], flags[:2]))
    for name, made_of in (("opgen_host.cpp", objects[3]), ("opgen_steps.cpp", objects[4])):
        run(tools.binding(include[0] / name, include, made_of, flags))
    kernels = ["-x", "c++", "-std=c++17", "-O0", "-fPIC", "-ffp-contract=off", f"-I{include[0]}", *flags[2:]]
    run([tools.compiler, "-c", *kernels, str(sources / f"{op}.cu"), "-o", str(objects[2])])
    run([*tools.link(objects, made), "-Wl,-Bsymbolic"])
    return made


def run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:4000]}"
    return done.stdout
