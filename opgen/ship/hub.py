"""Generated operators as a repository of kernels, which the package `kernels` of Hugging Face loads.

In: what the project says of itself, the files that run, and compiled libraries. Out: a folder for each build variant,
with the operators, what `metadata.json` has to say of them, and a package for releases that look one level deeper;
`put` writes them. The layout is that of the page "Kernel requirements" of its documentation, release 0.17.
"""

from __future__ import annotations

import hashlib
import json
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opgen.diagnostics.model import Bag, Diagnostic
from opgen.ship.wheel import Release
from opgen.toolchain.cuda_toolchain import CudaToolchain

_ABI = "torch-stable-abi211"  # the first release of torch that the libraries run with
ANYWHERE = "torch-universal"
_METADATA = "metadata.json"
_CARD = "README.md"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_ALLOWED = _LETTERS | frozenset("0123456789-")
_PROCESSORS = {"amd64": "x86_64", "arm64": "aarch64"}
_INNER = '''"""The operators of the folder around this one, for releases of `kernels` that look here."""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[1])]
'''

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a repository of kernels is called, and the number under which programs ask for it."""

    name: str
    version: int
    license: str
    summary: str

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")


def kernel_of(release: Release, bag: Bag) -> Kernel:
    """The name as the Hub spells it and the major version of a project; what cannot be one is told to the bag."""
    name = release.stem.partition("-")[0].replace("_", "-")
    fits = len(name) > 1 and name[0] in _LETTERS and _ALLOWED.issuperset(name) and not name.endswith("-")
    if release.name and not fits:
        hints = ["--name my-kernels states another one: letters, digits and dashes, with a letter first"]
        bag.error("OPG512", f"'{name}' cannot be the name of kernels on the Hub", None, hints=hints)
    number = release.version.partition("!")[2] or release.version
    major = "".join(_leading_digits(number)) or "0"
    return Kernel(name, int(major), release.license.lower() or "other", release.summary)


def _leading_digits(text: str) -> Iterator[str]:
    for c in text:
        if not c.isdecimal():
            return
        yield c


def variants(kernel: Kernel, files: Files, libraries: Files, cuda: str = "") -> dict[str, Files]:
    """The files of each build variant, by its name: plain torch for all machines, and one for each kind of library.

    `cuda` is the release of CUDA that libraries were compiled with, such as 12.8, if there are any for it.
    """
    found = {ANYWHERE: _variant(kernel, files, "cpu")}
    processor = platform.machine().lower()
    machine = f"{_PROCESSORS.get(processor, processor)}-{platform.system().lower()}"
    host = {name: data for name, data in libraries.items() if not name.endswith(f"/{CudaToolchain.library}")}
    if host:
        found[f"{_ABI}-cpu-{machine}"] = _variant(kernel, files | host, "cpu")
    if cuda and len(host) < len(libraries):
        found[f"{_ABI}-cu{cuda.replace('.', '')}-{machine}"] = _variant(kernel, files | libraries, "cuda")
    return found


def _variant(kernel: Kernel, files: Files, backend: str) -> Files:
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    told = {
        "id": f"_{kernel.module}_{backend}_{digest.hexdigest()[:10]}",
        "name": kernel.name,
        "version": kernel.version,
        "license": kernel.license,
        "python-depends": [],
        "backend": {"type": backend},
    }
    made = {**files, _METADATA: f"{json.dumps(told, indent=2)}\n".encode()}
    inner = f"{kernel.module}/__init__.py"
    if inner not in files:  # else an operator is called so
        made[inner] = _INNER.encode() + files["__init__.py"]
    return made


def put(folder: Path, kernel: Kernel, found: Mapping[str, Files], ops: Sequence[str]) -> tuple[Diagnostic, ...]:
    """Write the variants below a folder, each as a whole, in place of former ones of the kernel.

    A card that is there stays as it is; folders of something else are refused.
    """
    build = folder / "build"
    there = {path.name: path for path in build.glob("*") if path.is_dir() and not path.name.startswith(".")}
    ours = {name for name, path in there.items() if _is_of(kernel, path)}
    foreign = sorted({*found} & {*there} - ours)
    if foreign:
        message = f"{build / foreign[0]} is no variant of the kernels {kernel.name}"
        hints = ("--dist names another folder, --name another kernel",)
        return (Diagnostic("OPG503", message, None, hints=hints),)
    build.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=build, prefix=".") as scratch:
        for variant, files in found.items():
            for name, data in files.items():
                path = Path(scratch, "new", variant, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        for name in ours:
            there[name].rename(Path(scratch, name))
        for variant in found:
            Path(scratch, "new", variant).rename(build / variant)
    if not (folder / _CARD).exists():
        (folder / _CARD).write_text(_card(kernel, ops), encoding="utf-8")
    return ()


def _is_of(kernel: Kernel, variant: Path) -> bool:
    try:
        return bool(json.loads((variant / _METADATA).read_text(encoding="utf-8"))["name"] == kernel.name)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def _card(kernel: Kernel, ops: Sequence[str]) -> str:
    """The page of the repository on the Hub."""
    first = ops[0]
    listed = "".join(f"- `{op}`\n" for op in ops)
    return f"""---
library_name: kernels
license: {kernel.license}
tags:
- kernels
---

# {kernel.name}

{kernel.summary or "Differentiable operators for PyTorch."}

```python
from pathlib import Path

from kernels import get_local_kernel

kernel = get_local_kernel(Path("."))
kernel.{first}
```

{listed}"""
