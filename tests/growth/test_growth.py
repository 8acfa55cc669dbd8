"""What is built from long and deeply nested formulas grows with them, and no faster: a table of kinds.

Work is counted in calls of Python functions, which no other process disturbs. `python -m tests.growth.test_growth`
prints the table for 200 statements.
"""

from __future__ import annotations

from collections.abc import Callable
from cProfile import Profile
from pathlib import Path
from time import process_time

import pytest
import torch

from opgen.pipeline import SpecFile, Stage, run
from tests.growth.kinds import CHAINS, FUNCTIONS, NESTS

Make = Callable[[int], str]
KINDS: dict[str, Make] = {f"chain of {k}": m for k, m in CHAINS.items()} | {f"nest of {k}": m for k, m in NESTS.items()}
QUICK = (
    "chain of leaky",
    "chain of shifts",
    "nest of clip",
    "nest of clip calls",
    "nest of tanh",
    "nest of gelu in branches",
    "chain of switches",
)
LONG, BYTES = 200, 1 << 20


def built(text: str) -> int:
    """The characters of what is generated."""
    made = run(SpecFile(Path("grown.yaml"), text.encode(), "grown.yaml"))
    assert made.files is not None, made.diagnostics
    return sum(len(f.text) for f in made.files)


def work(text: str) -> int:
    """How many functions are called until all files are made."""
    with Profile(subcalls=False, builtins=False) as profile:
        made = run(SpecFile(Path("grown.yaml"), text.encode(), "grown.yaml"))
    assert not made.diagnostics
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("kind", QUICK)
def test_work_grows_with_the_formula(kind: str) -> None:
    make = KINDS[kind]
    built(make(3))  # imports, and what is remembered
    few, many = (work(make(n)) for n in (6, 12))
    assert many < 3 * few, f"{few} calls for 6, {many} for 12"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "n"),
    [
        ("chain of softmax", 35),
        ("chain of extremes", 26),
        ("nest of clip", 30),
        ("chain of steps of a recurrence", 10),
    ],
)
def test_work_is_in_proportion(kind: str, n: int) -> None:
    """What is looked for in a whole kernel or program is looked for once, not once for each of its statements.

    Both lengths are on one side of what a gradient may keep: the longer ones are derived once more.
    """
    built(KINDS[kind](3))
    few, many = (work(KINDS[kind](k)) for k in (n, 2 * n))
    assert many < 2.15 * few, f"{few} calls for {n}, {many} for {2 * n}"


@pytest.mark.thorough
def test_kernels_that_are_too_long_are_not_printed_to_the_end() -> None:
    make = KINDS["chain of switches"]
    built(make(3))
    few, many = (work(make(n)) for n in (60, 120))
    assert many < 1.2 * few, f"{few} calls for 60, {many} for 120"


def understood(text: str) -> int:
    """How many functions are called until a spec is a program."""
    with Profile(subcalls=False) as profile:
        made = run(SpecFile(Path("grown.yaml"), text.encode(), "grown.yaml"), Stage.PROGRAM)
    assert made.operator is not None, made.diagnostics
    return sum(entry.callcount for entry in profile.getstats())


def test_what_is_understood_of_statements_grows_with_them() -> None:
    def of(n: int) -> int:
        lines = "".join(f"  a{i + 1} = a{i}*2 + x\n" for i in range(n))
        return understood(f"op: grown\ninputs: [x]\nforward: |\n  a0 = x\n{lines}")

    of(3)
    few, many = of(100), of(200)
    assert many < 2.4 * few, f"{few} calls for 100 statements, {many} for 200"


def test_what_is_understood_of_indices_grows_with_statements_that_read_two_others() -> None:
    def of(n: int) -> int:
        lines = "".join(f"  a{i + 2}[..., k] = clamp(a{i + 1}[..., k], a{i}[..., k], 1)\n" for i in range(n))
        head = "op: grown\ninputs: {a0: {shape: [..., K]}, a1: {shape: [..., K]}}\nforward: |\n"
        return understood(head + lines)

    of(3)
    few, many = of(12), of(24)
    assert many < 4 * few, f"{few} calls for 12 statements, {many} for 24"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["nest of gelu", "chain of branches"])
def test_text_grows_with_the_formula(kind: str) -> None:
    few, many = (built(KINDS[kind](n)) for n in (5, 10))
    assert many < 2 * few


@pytest.mark.parametrize("text", ["(" * 200 + "x" + ")" * 200, "-" * 200 + "x", "exp(-" * 100 + "x" + ")" * 100])
def test_what_python_nests_is_built(text: str) -> None:
    assert built(f"op: deep\ninputs: [x]\nforward: y = {text}\n") < BYTES


# --- the same values and gradients -----------------------------------------------------------------------------------

EAGER: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "gelu": lambda v: 0.5 * v * (1 + torch.erf(v / 2**0.5)),
    "swish": lambda v: v / (1 + torch.exp(-v)),
    "leaky": lambda v: torch.where(v > 0, v, 0.1 * v),
    "clip": lambda v: torch.minimum(v, torch.tensor(1.0)).maximum(torch.tensor(-1.0)),
    "soft": lambda v: torch.log(1 + torch.exp(v)),
}


@pytest.mark.parametrize("name", sorted(EAGER))
def test_nests_of_calls_are_what_autograd_says(name: str, build_operator: Callable[[str], object]) -> None:
    deep = 6
    formula = "x*w"
    for _ in range(deep):
        formula = f"{name}({formula}*w + x)"
    text = f"op: nest_{name}\ninputs: [x, w]\nfunctions:\n  {FUNCTIONS[name]}\n"
    operator = getattr(build_operator(f"{text}forward: y = {formula}\n"), f"nest_{name}")

    def eager(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        value = x * w
        for _ in range(deep):
            value = EAGER[name](value * w + x)
        return value

    torch.manual_seed(0)
    inputs = [torch.randn(20, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    results = []
    for f in (operator, eager):
        y = f(*inputs)
        first = torch.autograd.grad(y.sum(), inputs, create_graph=True)
        second = torch.autograd.grad(sum(g.square().sum() for g in first), inputs)
        results.append((y, *first, *second))
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_parts_under_a_condition_are_looked_at_under_it_only(build_operator: Callable[[str], object]) -> None:
    """A logarithm of what the condition excludes leaves no trace in any gradient, however deep it stands."""
    inner = "log(x)"
    for _ in range(8):
        inner = f"tanh({inner} + sqrt(x)*w)"
    module = build_operator(f"op: guarded_nest\ninputs: [x, w]\nforward: y = where(x > 0, {inner}, w)\n")
    x = torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([0.3, -0.2, 0.5], dtype=torch.float64, requires_grad=True)
    y = module.guarded_nest(x, w)
    first = torch.autograd.grad(y.sum(), (x, w), create_graph=True)
    second = torch.autograd.grad(first[0].sum() + first[1].square().sum(), (x, w))
    assert all(g.isfinite().all() for g in (y, *first, *second))
    assert first[0][:2].eq(0).all()
    assert first[1][:2].eq(1).all()
    value = torch.log(x[2])
    for _ in range(8):
        value = torch.tanh(value + torch.sqrt(x[2]) * w[2])
    torch.testing.assert_close(first[0][2], torch.autograd.grad(value, x)[0][2])


# --- the whole table -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_two_hundred_statements(kind: str) -> None:
    assert built(KINDS[kind](LONG)) <= BYTES


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_short_ones_of_every_kind_are_built(kind: str) -> None:
    made = run(SpecFile(Path("grown.yaml"), KINDS[kind](5).encode(), "grown.yaml"), Stage.PROGRAM)
    assert made.operator is not None, made.diagnostics


def main() -> None:
    """Print the table."""
    for kind, make in KINDS.items():
        built(make(2))  # imports
        start = process_time()
        size = built(make(LONG))
        print(f"{kind:32} {process_time() - start:6.1f} s {size / 1024:8.0f} KiB", flush=True)


if __name__ == "__main__":
    main()
