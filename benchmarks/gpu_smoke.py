"""Does what was generated run on a GPU? Builds, runs all generated tests there, and a sample under compute-sanitizer.

    python benchmarks/gpu_smoke.py [--out FOLDER] [--jobs N] [--device cpu] [OP...]

In order: libraries that are missing are compiled; the generated tests of all operators (or of those named) on compiled
kernels, but for those that take long; the tests of this project that need a GPU; the cases of `benchmarks/gpu_cases.py`
at small sizes, twice, under memcheck, racecheck, initcheck and synccheck. With `--device cpu` the tests run in plain
torch, and no sanitizer. Prints what failed, grouped by what it said, and exits with 1 if anything did.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which
from xml.etree.ElementTree import parse

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
DEAR = "compile or export or opcheck"  # compilers, which know nothing of kernels
_NO_TESTS = 5


def sample(device: str) -> None:
    """Every case at a small size, forward and backward, twice: results are equal to the last bit."""
    import torch

    from benchmarks.gpu import prepared, results
    from benchmarks.gpu_cases import CASES, Make

    ops = prepared(CASES, "_native_cuda.so" if device == "cuda" else None)
    for case in CASES:
        op, runtime = ops[case.op]
        torch.manual_seed(0)
        operands = case.operands(Make(device, tiny=True))
        operands = tuple(t.detach().requires_grad_(t.is_floating_point()) for t in operands)
        with runtime.use_backend("native" if device == "cuda" else "torch"):
            first, second = (results(case.ours(op), operands) for _ in range(2))
        same = all(a is b is None or torch.equal(a, b) for a, b in zip(first, second, strict=True))
        print(f"{case.name}: {'equal' if same else 'bits differ from run to run'}", flush=True)


def tests(paths: Sequence[str], report: Path, jobs: int, **environment: str) -> list[tuple[str, str]]:
    """What failed, and what it said."""
    line = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), "--dist", "worksteal", "-W", "default"]
    line += ["--no-header", "--tb=short", f"--junitxml={report}", *paths]
    done = subprocess.run(
        line, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    report.with_suffix(".log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not report.exists():
        return [("pytest", f"exit code {done.returncode}: {done.stderr[-300:]}")]
    print(done.stdout.strip().rpartition("\n")[2], flush=True)
    return [*failed(report)]


def failed(report: Path) -> Iterable[tuple[str, str]]:
    for case in parse(report).iter("testcase"):
        for sort in ("failure", "error"):
            for found in case.iter(sort):
                yield f"{case.get('classname')}::{case.get('name')}", (found.get("message") or "").strip()


def grouped(found: Iterable[tuple[str, str]]) -> Iterable[str]:
    """What failed, by the first line that was said."""
    said: dict[str, list[str]] = {}
    for name, message in found:
        first = re.sub(r"0x[0-9a-f]+", "0x…", message.partition("\n")[0][:160])
        said.setdefault(first, []).append(name.rpartition("generated.")[2])
    for message, names in sorted(said.items(), key=lambda item: -len(item[1])):
        kinds = Counter(n.rpartition("::")[2].partition("[")[0] for n in names)
        yield f"{len(names)} × {message}"
        yield f"    {', '.join(f'{n} {k}' for n, k in kinds.most_common(6))}; {'; '.join(names[:4])}"


def sanitised(folder: Path, longest: float) -> Iterable[str]:
    """The last lines of every tool; more than nothing is an error."""
    tool = which("compute-sanitizer")
    if tool is None:
        yield "compute-sanitizer is not installed"
        return

    def one(name: str) -> str:
        line = [tool, "--tool", name, sys.executable, str(Path(__file__)), "--sample"]
        environment = {**os.environ, "PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
        try:
            done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=longest, check=False)
        except subprocess.TimeoutExpired as e:
            said = e.stdout or b""
            (folder / f"{name}.log").write_bytes(said if isinstance(said, bytes) else said.encode())
            return f"{name}: not done within {longest:.0f} s"
        (folder / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
        summary = [t for t in done.stdout.splitlines() if "SUMMARY" in t]
        return f"{name}: {summary[-1].strip('= ') if summary else f'exit code {done.returncode}'}"

    with ThreadPoolExecutor(len(TOOLS)) as pool:
        yield from pool.map(one, TOOLS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where logs go")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--longest", type=float, default=240, help="seconds of a sanitizer")
    parser.add_argument("--sample", action="store_true", help="only the cases at a small size")
    parser.add_argument("ops", nargs="*", metavar="OP")
    given = parser.parse_args()
    if given.sample:
        sample(given.device)
        return
    folder = given.out or Path(tempfile.mkdtemp())
    began, on_gpu, found = time.monotonic(), given.device == "cuda", []
    out = ROOT / "generated"
    ops = given.ops or sorted(p.stem for p in (ROOT / "specs").glob("*.yaml"))
    missing = [op for op in ops if on_gpu and not (out / op / "_native_cuda.so").exists()]
    if missing:
        line = [sys.executable, "-m", "opgen", "compile", "-j", str(given.jobs), *missing]
        subprocess.run(line, cwd=ROOT, check=False, stdout=sys.stderr)
    print(f"[{time.monotonic() - began:.0f} s] generated tests of {len(ops)} operators", flush=True)
    way = {"OPGEN_BACKEND": "native" if on_gpu else "torch", "OPGEN_DEVICE": given.device}
    files = [str(out / op / f"test_{op}.py") for op in ops]
    found += tests(["-k", f"not ({DEAR})", *files], folder / "generated.xml", given.jobs, **way)
    if on_gpu:
        print(f"[{time.monotonic() - began:.0f} s] tests that need a GPU", flush=True)
        found += tests(["-m", "gpu", "tests/cuda/test_device.py"], folder / "device.xml", 4)
    print(*grouped(found), sep="\n", flush=True)
    print(f"[{time.monotonic() - began:.0f} s] sample", flush=True)
    if on_gpu:
        told = [*sanitised(folder, given.longest)]
        print(*told, sep="\n", flush=True)
        found += [(t, t) for t in told if "0 errors" not in t and "0 hazards" not in t]
    else:
        sample(given.device)
    print(f"[{time.monotonic() - began:.0f} s] {len(found)} failed")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
