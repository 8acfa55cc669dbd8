"""Operators at the sizes of models on a GPU: kernels against torch, torch.compile and liger-kernel, and against a copy.

    python benchmarks/gpu.py [--out FILE] [--no-compile] [--device cpu --tiny] [CASE...]

Times are medians of interleaved calls, some of them in a row to their end on the device; `kernels` is the time inside
of kernels alone, by the profiler, and their number. `share` is the time in which the bytes that a call needs at least
could be copied, by a large copy in the same run, over its time. Errors are norms of the difference from float64 over
its norm, of each result and gradient, beside those of torch. The operators of `benchmarks/specs` and those of
`generated` whose libraries are missing are compiled first. Writes JSON as it goes, and prints the table at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.gpu_cases import CASES, Call, Case, Make  # noqa: E402
from opgen.bench.timing import Contender, Effort, interleaved, quartiles, ratio  # noqa: E402

EXTRA = ROOT / "benchmarks" / "generated"
OURS, TORCH, COMPILE, LIGER = "opgen", "torch", "torch.compile", "liger"
DIRECTIONS = ("forward", "backward")
SOME = 5e-3  # seconds of calls between two looks at the clock
Tensors = tuple[torch.Tensor, ...]


def finish(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def clock(device: str) -> Callable[[], float]:
    def now() -> float:
        finish(device)
        return time.perf_counter()

    return now


def opgen(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "opgen", *words], cwd=ROOT, check=True, stdout=sys.stderr)


def prepared(cases: Sequence[Case], library: str | None) -> dict[str, tuple[Call, Any]]:
    """The operators of the cases, each with the runtime of its package; compiled, where they must have a library."""
    own = {path.stem for path in (ROOT / "benchmarks" / "specs").glob("*.yaml")}
    if not EXTRA.exists():
        opgen("build", "benchmarks/specs", "--out", str(EXTRA))
    found: dict[str, tuple[Call, Any]] = {}
    for out in (ROOT / "generated", EXTRA):
        ops = sorted({c.op for c in cases if (c.op in own) == (out == EXTRA)})
        missing = [op for op in ops if library is not None and not (out / op / library).exists()]
        if missing:
            opgen("compile", "--out", str(out), *missing)
        package = ".".join(out.relative_to(ROOT).parts)
        for op in ops:
            runtime = importlib.import_module(f"{package}._runtime")
            found[op] = getattr(importlib.import_module(f"{package}.{op}"), op), runtime
    return found


def as_tuple(results: Any) -> Tensors:
    return results if isinstance(results, tuple) else (results,)


def leaves(operands: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [t for t in operands if t.requires_grad]


def backward(call: Call, operands: Tensors) -> Callable[[], Any] | None:
    """A call of the backward pass alone; None where there is none."""
    out = as_tuple(call(*operands))[0]
    if not out.requires_grad:
        return None
    grad = torch.randn_like(out)
    return lambda: torch.autograd.grad(out, leaves(operands), grad, retain_graph=True, allow_unused=True)


def results(call: Call, operands: Tensors, wide: bool = False) -> list[torch.Tensor | None]:
    """First result and gradients, for weights that are the same each time."""
    given = [(t.double() if wide else t).detach() if t.is_floating_point() else t for t in operands]
    given = [t.requires_grad_() if a.requires_grad else t for a, t in zip(operands, given, strict=True)]
    out = as_tuple(call(*given))[0]
    if not out.requires_grad:
        return [out]
    weights = torch.randn(out.shape, generator=torch.Generator(out.device).manual_seed(1), device=out.device)
    rounded = weights.to(next(t.dtype for t in operands if t.is_floating_point()))
    grads = torch.autograd.grad(out, leaves(given), rounded.to(out), allow_unused=True)
    return [out.detach(), *grads]


def off(found: torch.Tensor | None, exact: torch.Tensor | None) -> float | None:
    if found is None or exact is None:
        return None
    return float(((found.double() - exact).norm() / exact.norm().clamp_min(1e-300)).item())


def errors(ours: Call, theirs: Call, operands: Tensors) -> list[tuple[float | None, float | None]]:
    """Of the first result and of each gradient: our error and that of torch."""
    exact = results(theirs, operands, wide=True)
    own = [off(a, e) for a, e in zip(results(ours, operands), exact, strict=True)]
    return [*zip(own, (off(a, e) for a, e in zip(results(theirs, operands), exact, strict=True)), strict=True)]


def kernels(call: Callable[[], Any], device: str) -> list[tuple[str, float]]:
    """What ran on the device, and the microseconds inside of it."""
    if device != "cuda":
        return []
    call()
    finish(device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        call()
        finish(device)
    ran = [e for e in profile.key_averages() if e.device_time_total > 0]
    return [(e.key.partition("(")[0][-90:], round(e.device_time_total, 2)) for e in ran for _ in range(e.count)]


def several(call: Callable[[], Any], device: str) -> tuple[Callable[[], Any], int]:
    """As many calls as take some milliseconds, and how many: what starting and waiting take is shared by them."""
    now = clock(device)
    call()
    began = now()
    call()
    count = max(1, min(32, round(SOME / max(now() - began, 1e-7))))
    return lambda: [call() for _ in range(count)], count


def gone(case: Case, direction: str, operands: Tensors, result: torch.Tensor) -> float | None:
    """The least bytes of a call."""
    passes = getattr(case, direction)
    if case.op == "embedding":  # forward rows are read and written; backward fills the table and adds rows to it
        own = result.numel() * result.element_size()
        return 2 * own if direction == "forward" else own + operands[1].numel() * operands[1].element_size()
    largest = max((t for t in operands if t.is_floating_point()), key=torch.Tensor.numel)
    return None if passes is None else passes * largest.numel() * largest.element_size()


def liger(case: Case) -> Call | None:
    if not case.liger or importlib.util.find_spec("liger_kernel") is None:
        return None
    function = getattr(importlib.import_module("liger_kernel.ops"), case.liger)
    return lambda *operands: function.apply(*operands, *case.extra)


def copy_speed(device: str, tiny: bool) -> float:
    """Bytes in a second, read and written, of a copy."""
    source = torch.empty(2**20 if tiny else 2**31, dtype=torch.int8, device=device).random_()
    target = torch.empty_like(source)
    calls, count = several(lambda: target.copy_(source), device)
    spent = interleaved([Contender("copy", calls)], Effort(9, 0.3, clock(device)))["copy"]
    return 2 * source.numel() * count / quartiles(spent).median


def row(case: Case, ours: Call, given: argparse.Namespace, ceiling: float) -> dict[str, Any]:
    torch.manual_seed(0)
    operands = case.operands(Make(given.device, given.tiny))
    operands = tuple(t.detach().requires_grad_(t.is_floating_point()) for t in operands)
    peers: dict[str, Call | None] = {OURS: ours, TORCH: case.theirs, LIGER: liger(case)}
    if given.compile:
        torch._dynamo.reset()
        peers[COMPILE] = torch.compile(case.theirs)
    about: dict[str, Any] = {"case": case.name, "op": case.op, "shapes": [tuple(t.shape) for t in operands]}
    about["dtype"] = str(next(t for t in operands if t.is_floating_point()).dtype).removeprefix("torch.")
    if given.errors:
        try:
            about["errors"] = errors(ours, case.theirs, operands)
        except torch.OutOfMemoryError:
            small = tuple(t.requires_grad_(t.is_floating_point()) for t in case.operands(Make(given.device, True)))
            about["errors"] = errors(ours, case.theirs, small)
    result = as_tuple(ours(*operands))[0].detach()
    for direction in DIRECTIONS:
        contenders, counts, notes, ran = [], {}, {}, {}
        for name, call in peers.items():
            if call is None:
                continue
            try:
                ready = backward(call, operands) if direction == "backward" else _bound(call, operands)
                if ready is not None:
                    around = contextlib.nullcontext if direction == "backward" else torch.no_grad
                    with around():
                        calls, counts[name] = several(ready, given.device)
                        if name in (OURS, TORCH):
                            ran[name] = kernels(ready, given.device)
                    contenders.append(Contender(name, calls, around))
            except (RuntimeError, TypeError, AttributeError) as e:
                notes[name] = str(e).strip().partition("\n")[0][:200]
        if not contenders:
            continue
        found = interleaved(contenders, Effort(9, given.seconds, clock(given.device)))
        spent = {n: [t / counts[n] for t in times] for n, times in found.items()}
        least = gone(case, direction, operands, result)
        first = spent.get(OURS)
        about[direction] = {
            "us": {n: round(1e6 * quartiles(t).median, 2) for n, t in spent.items()},
            "ratios": {n: _short(ratio(first, t)) for n, t in spent.items() if first and n != OURS},
            "bytes": least,
            "share": round(least / ceiling / quartiles(first).median, 3) if first and least else None,
            "kernels": ran,
            **({"failed": notes} if notes else {}),
        }
    return about


def _bound(call: Call, operands: Tensors) -> Callable[[], Any]:
    return lambda: call(*operands)


def _short(q: Any) -> list[float]:
    return [round(x, 3) for x in (q.low, q.median, q.high)]


def lines(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The table: time, share of the copy, ratios to the peers, kernels, errors."""
    yield f"{'case':<26} {'':<8} {'us':>9} {'share':>6} {TORCH:>7} {COMPILE:>13} {LIGER:>7} {'kernels us':>14}  errors"
    for about in found:
        if "failed" in about:
            yield f"{about['case']:<26} failed: {about['failed']}"
        for k, direction in enumerate(DIRECTIONS):
            r = about.get(direction)
            if r is None:
                continue
            ratios = [f"{r['ratios'][n][1]:.2f}" if n in r["ratios"] else "-" for n in (TORCH, COMPILE, LIGER)]
            ran = r["kernels"].get(OURS, [])
            inside = f"{sum(us for _, us in ran):.0f} in {len(ran)}" if ran else "-"
            told = about.get("errors", [])[:1] if k == 0 else about.get("errors", [])[1:]
            missed = " ".join(f"{a:.1e}/{b:.1e}" for a, b in told if a is not None and b is not None)
            share = "-" if r["share"] is None else f"{100 * r['share']:.0f}%"
            yield (
                f"{about['case']:<26} {direction:<8} {r['us'].get(OURS, float('nan')):>9.1f} {share:>6}"
                f" {ratios[0]:>7} {ratios[1]:>13} {ratios[2]:>7} {inside:>14}  {missed}"
            )


def page(told: dict[str, Any]) -> str:
    """What was measured as a page: shares of a copy and ratios to torch in both directions."""

    def words(about: dict[str, Any], direction: str) -> tuple[str, str, str]:
        r = about.get(direction)
        if r is None or OURS not in r["us"]:
            return "—", "—", "—"
        low, median, high = r["ratios"].get(TORCH, (0.0, 0.0, 0.0))
        share = "—" if r["share"] is None else f"{100 * r['share']:.0f} %"
        return f"{r['us'][OURS]:,.0f}", share, f"{median:.2f} ({low:.2f} to {high:.2f})"

    rows = [(a["case"], *words(a, "forward"), *words(a, "backward")) for a in told["rows"]]
    head = ("case", "forward µs", "of copy", "/ torch", "backward µs", "of copy", "/ torch")
    table = [head, ("---",) * len(head), *rows]
    about = f"{told['device']}, torch {told['torch']}; a copy moves {told['copy GB/s']:,.0f} GB/s, read and written."
    return "\n".join(
        [
            "# Operators at the sizes of models on a GPU",
            "",
            f"{about} Medians of interleaved calls, ratios with their quartiles (`python benchmarks/gpu.py`).",
            "",
            *(f"| {' | '.join(r)} |" for r in table),
            "",
        ]
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where the JSON goes")
    parser.add_argument("--page", type=Path, help="print the page of a JSON file, and measure nothing")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--tiny", action="store_true", help="a 64th of each size: does it run?")
    parser.add_argument("--seconds", type=float, default=0.3, help="of the calls of a row")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave out torch.compile")
    parser.add_argument("--no-errors", dest="errors", action="store_false", help="leave out the errors")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="the names of cases, or of operators")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if given.page:
        print(page(json.loads(given.page.read_text(encoding="utf-8"))), end="")
        return
    cases = [c for c in CASES if not given.cases or {c.name, c.op} & {*given.cases}]
    on_gpu = given.device == "cuda"
    ops = prepared(cases, "_native_cuda.so" if on_gpu else None)
    ceiling = copy_speed(given.device, given.tiny)
    about = {"torch": torch.__version__, "device": torch.cuda.get_device_name() if on_gpu else "cpu"}
    about |= {"copy GB/s": round(ceiling / 1e9, 1)}
    print(about, file=sys.stderr)
    found: list[dict[str, Any]] = []
    for case in cases:
        op, runtime = ops[case.op]
        try:
            with runtime.use_backend("auto" if on_gpu else "torch"):
                found.append(row(case, case.ours(op), given, ceiling))
        except Exception as e:  # the rows of the other cases are worth having
            found.append({"case": case.name, "op": case.op, "failed": str(e)[:500]})
        print(*[*lines(found[-1:])][1:], sep="\n", file=sys.stderr, flush=True)
        if on_gpu:
            torch.cuda.empty_cache()
        if given.out:
            given.out.write_text(json.dumps({**about, "rows": found}, indent=1) + "\n", encoding="utf-8")
    print(*lines(found), sep="\n")
    if any("failed" in r for r in found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
