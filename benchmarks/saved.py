"""What operators keep for backward, against torch's own function and the min-cut partition of AOTAutograd.

    python benchmarks/saved.py [--write]

Prints a Markdown table of bytes, a row for each operator: of the cases of its generated tests the one in which it does
worst beside the others, or keeps most if it does well in all. Every dim is eight times as long where the operator takes
that: rows of three elements are no rows worth a sum. `--write` puts it into
`benchmarks/results/saved.md`. Counted are the storages of all tensors that a call saves, inputs and outputs too, each
once. AOTAutograd partitions the formula of the operator in plain torch, or its autograd function where the spec states
a gradient that is not the formula's own. What has no gradient in torch is not counted. Bytes are counted, not timed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from functorch.compile import aot_function, min_cut_rematerialization_partition, nop  # noqa: E402

from generated._runtime import native, overload_call, use_backend  # noqa: E402
from generated._testing import Case, OperatorTests  # noqa: E402

Arguments = Sequence[torch.Tensor | None]


def kept(call: Callable[[], Any]) -> int:
    """Bytes of what a call saves for backward."""
    storages: dict[int, int] = {}

    def note(t: torch.Tensor) -> torch.Tensor:
        storage = t.untyped_storage()
        storages[storage._cdata] = storage.nbytes()
        alive.append(t)
        return t

    alive: list[Any] = []
    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        alive.append(call())
    return sum(storages.values())


def tests_of(op: str) -> type[OperatorTests]:
    module = importlib.import_module(f"generated.{op}.test_{op}")
    return next(v for n, v in vars(module).items() if n.startswith("Test") and n != "OperatorTests")


LONGER = 8


def arguments_of(tests: type[OperatorTests], case: Case) -> list[torch.Tensor | None]:
    """The arguments of a case with longer dims, or as they are where dims of a fixed size are among them."""
    plain = case.arguments(torch.float32)
    longer = [None if a is None else a.repeat([LONGER] * a.ndim) for a in plain]
    try:
        tests.operator(*longer, **case.params)
    except (RuntimeError, ValueError, IndexError):
        longer = list(plain)
    return [
        a if a is None or n not in tests.differentiable else a.detach().clone().requires_grad_()
        for n, a in zip(case.inputs, longer, strict=True)
    ]


def ours(tests: type[OperatorTests], case: Case) -> int:
    arguments = arguments_of(tests, case)
    return kept(lambda: tests.operator(*arguments, **case.params))


def by_torch(tests: type[OperatorTests], case: Case) -> int | None:
    if tests.reference is None:
        return None
    module, name = tests.reference.rsplit(".", 1)
    reference, arguments = getattr(importlib.import_module(module), name), arguments_of(tests, case)
    results = tests().referred(case, reference, arguments)
    leaves = [a for a in arguments if isinstance(a, torch.Tensor) and a.requires_grad]
    first = results[0] if isinstance(results, tuple) else results
    torch.autograd.grad(first, leaves, torch.ones_like(first), allow_unused=True)  # an error where torch cannot
    return kept(lambda: tests().referred(case, reference, arguments))


def _function(tests: type[OperatorTests]) -> Any:
    """The autograd function of an operator."""
    module = importlib.import_module(f"generated.{tests.operator.__name__}.function")
    return next(v for n, v in vars(module).items() if n.endswith("Function") and n != "InplaceFunction")


def by_min_cut(tests: type[OperatorTests], case: Case) -> int | None:
    definition = native.entry(tests.operator.__name__).definition
    if definition.elsewhere:
        return None
    _, given, _ = overload_call(tests.operator, *arguments_of(tests, case), **case.params)
    wanted = [n in definition.differentiable for n in definition.inputs]
    tensors = [a for a in given if isinstance(a, torch.Tensor)]
    grads = [w for a, w in zip(given, wanted, strict=False) if isinstance(a, torch.Tensor)]
    leaves = [t.detach().clone().requires_grad_(w) for t, w in zip(tensors, grads, strict=True)]

    def formula(*args: torch.Tensor) -> Any:
        rest = iter(args)
        full = [next(rest) if isinstance(a, torch.Tensor) else a for a in given]
        names = (*definition.inputs, *definition.params)
        values = dict(zip(names, full, strict=True))
        if tests.stated_gradient:
            results = _function(tests).apply(*full)
        else:
            code = definition.forward.__code__
            results = definition.forward(*[values[n] for n in code.co_varnames[: code.co_argcount]])
        return results[: len(definition.outputs)] if isinstance(results, tuple) else results

    compiled = aot_function(formula, nop, partition_fn=min_cut_rematerialization_partition)
    return kept(lambda: compiled(*leaves))


def tried(count: Callable[..., int | None], tests: type[OperatorTests], case: Case) -> int | None:
    """None where there is nothing to count: no reference, or a formula that cannot be traced."""
    try:
        return count(tests, case)
    except Exception as e:  # whatever a tracer meets; the row says so
        print(f"{tests.operator.__name__}, {case}: {count.__name__}: {type(e).__name__}: {e}"[:160], file=sys.stderr)
        return None


@dataclass(frozen=True)
class Row:
    """A case of an operator and what is kept, by whom."""

    op: str
    case: str
    ours: int
    torch: int | None
    min_cut: int | None

    @property
    def excess(self) -> float:
        """How much more than the best of the others, as a share of that; 0 where it is not more."""
        others = [c for c in (self.torch, self.min_cut) if c is not None]
        return max(0.0, self.ours / max(min(others), 1) - 1) if others else 0.0

    @property
    def text(self) -> str:
        shown = ["—" if c is None else f"{c:,}" for c in (self.ours, self.torch, self.min_cut)]
        shown[0] = f"**{shown[0]}**" if self.excess else shown[0]
        return f"| {self.op}, {self.case} | {' | '.join(shown)} |"


def rows(op: str) -> list[Row]:
    """The cases of an operator in which something has a gradient."""
    tests = tests_of(op)
    cases = [c for c in tests.cases if any(c.inputs[n] is not None for n in tests.differentiable)]
    if tests.native_only:
        return []
    return [Row(op, str(c), ours(tests, c), tried(by_torch, tests, c), tried(by_min_cut, tests, c)) for c in cases]


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the figures under benchmarks/results")
    return parser.parse_args()


def main() -> None:
    write = arguments().write
    ops = sorted(p.parent.name for p in (ROOT / "generated").glob("*/manifest.json"))
    with use_backend("torch"):
        found = [r for op in ops if (r := rows(op))]
    shown = [max(r, key=lambda x: (x.excess, x.ours)) for r in found]
    every = [x for r in found for x in r]
    lines = ["| operator, case | opgen | torch | AOTAutograd |", "|---|---|---|---|", *(x.text for x in shown)]
    over = [x for r in found for x in r if x.excess > 0]
    said = f"; more than the best of the others is kept by {counted(len({x.op for x in over}), 'operator')}"
    said += f", in {counted(len(over), 'case')}, by {max(x.excess for x in over):.0%} at most" if over else ""
    lines += ["", f"{counted(len(found), 'operator')}, {counted(len(every), 'case')}{said}."]
    text = "\n".join(lines) + "\n"
    print(text)
    if write:
        head = "# Bytes kept for backward\n\n"
        (ROOT / "benchmarks" / "results" / "saved.md").write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    main()
