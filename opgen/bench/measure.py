"""Rows of `opgen bench`: an operator at one size, in one direction, against what computes the same.

In go a subject and what to measure; out come rows with times, ratios of the kernels to every peer, and how close the
kernels come to copying as many bytes as they move. Where the operator is not compiled, ratios are those of its plain
form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from opgen.bench.sizes import BATCH_DIM
from opgen.bench.subject import DIRECTIONS, KERNEL, REFERENCE, Operands, Subject, contender, functions, operands
from opgen.bench.timing import Contender, Effort, Quartiles, interleaved, quartiles, ratio
from opgen.ir.errors import UnplannableError
from opgen.package.samples import SampleCase
from opgen.plan.build import build
from opgen.plan.model import Contract, Convolve, KernelPlan
from opgen.report.memory import Sizes, floor

COPY = "copy"
WORK, PRODUCTS = 1e10, 4e10  # floating-point operations of a call that is measured; of one made of matrix products
_LONGEST = 3.0  # seconds that a call of any contender may be expected to take


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to measure: the sizes in elements, and how."""

    sizes: tuple[int, ...]
    dtypes: tuple[str, ...] = ("float32",)
    directions: tuple[str, ...] = DIRECTIONS
    peers: tuple[str, ...] = (REFERENCE,)
    device: str = "cpu"
    threads: int = 1
    effort: Effort = field(default_factory=Effort)


@dataclass(frozen=True, slots=True)
class Measured:
    """One row; times in microseconds, ratios of `subject` (kernel, or plain where nothing is compiled) to each peer.

    `size` is what was asked for, `elements` those of the largest tensor. `bytes` are those that a call moves at least;
    `gbps` is with those in 10⁹ per second, `share` the time of copying as much over that of the call. `auto` is what
    runs where nothing is asked for. `note` says why a row has no figures.
    """

    op: str
    dtype: str
    direction: str
    size: int
    device: str
    threads: int
    elements: int = 0
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    subject: str = ""
    us: Mapping[str, float] = field(default_factory=dict)
    ratios: Mapping[str, Quartiles] = field(default_factory=dict)
    bytes: int | None = None
    gbps: float | None = None
    share: float | None = None
    auto: str = ""
    note: str = ""

    @property
    def record(self) -> dict[str, Any]:
        return asdict(self)


def rows(s: Subject, wanted: Wanted) -> Iterator[Measured]:
    """The rows of one operator, by dtype, size and direction."""
    growth = s.growth()
    plans = plans_of(s)
    most = PRODUCTS if any(isinstance(x, Contract | Convolve) for p in plans.values() for x in p.steps) else WORK
    for dtype in wanted.dtypes:
        before: set[int] = set()
        pace = 0.0  # seconds for an operation, or for an element where operations are not known
        for size in wanted.sizes:
            empty = Measured(s.name, dtype, "forward", size, wanted.device, wanted.threads)
            if growth is None:
                yield _noted(empty, "no sample of a call is found")
                break
            case = growth.at(size)
            elements = s.elements(case) or 0
            if elements in before:
                continue  # it does not grow so far, or is that large from the start
            before.add(elements)
            work = s.work(case)
            if work > most or pace * (work or elements) > _LONGEST:
                yield _noted(empty, f"a call is too long: {elements} elements, {work or 'unknown'} operations")
                break
            longest = 0.0
            for row in _at_size(s, case, wanted, empty, elements, plans):
                yield row
                longest = max(longest, *row.us.values(), 0.0)
            pace = 1e-6 * longest / max(work or elements, 1)


def _at_size(
    s: Subject,
    case: SampleCase,
    wanted: Wanted,
    empty: Measured,
    elements: int,
    plans: Mapping[str, KernelPlan],
) -> Iterator[Measured]:
    torch.manual_seed(0)
    differentiable = s.runtime.entry(s.name).definition.differentiable
    given = operands(case, getattr(torch, empty.dtype), wanted.device, differentiable)
    shapes = {n: tuple(g.shape) for (n, _), g in zip(case.inputs, given, strict=True) if g is not None}
    named = [*functions(s, case, wanted.peers)]
    for direction in wanted.directions:
        contenders: list[Contender] = []
        why: list[str] = []
        for each in named:
            try:
                found = contender(s, direction, each, given)
            except (RuntimeError, NotImplementedError, TypeError, ValueError) as e:
                why.append(f"{each[0]}: {str(e).strip().partition(chr(10))[0]}")
                continue
            contenders += [found] if found is not None else []
        about: dict[str, Any] = {"direction": direction, "elements": elements, "shapes": shapes, "note": "; ".join(why)}
        if not contenders:
            if why:
                yield _noted(empty, **about)
            continue
        moved = least_bytes(s, case, plans, direction, empty.dtype)
        yield _row(s, empty, about, contenders, moved, wanted, given)


def _row(
    s: Subject,
    empty: Measured,
    about: Mapping[str, Any],
    contenders: Sequence[Contender],
    moved: int | None,
    wanted: Wanted,
    given: Operands,
) -> Measured:
    copied = [Contender(COPY, _copy(moved, wanted.device))] if moved else []
    times = interleaved([*contenders, *copied], wanted.effort)
    first = contenders[0].name
    us = {n: round(1e6 * quartiles(t).median, 2) for n, t in times.items()}
    ratios = {n: _rounded(ratio(times[first], t)) for n, t in times.items() if n not in (first, COPY)}
    gbps = None if not moved else round(moved / max(quartiles(times[first]).median, 1e-9) / 1e9, 2)
    share = None if not moved else round(1 / ratio(times[first], times[COPY]).median, 3)
    return Measured(
        **{**_head(empty), **about},
        subject=first,
        us=us,
        ratios=ratios,
        bytes=moved,
        gbps=gbps,
        share=share,
        auto=_chosen(s, contenders),
    )


def _chosen(s: Subject, contenders: Sequence[Contender]) -> str:
    """What runs where nothing is asked for; the first of the contenders is the operator's own call."""
    if contenders[0].name != KERNEL:
        return "torch"
    before = s.runtime.calls("native"), s.runtime.calls("torch")
    with s.runtime.use_backend("auto"):
        contenders[0].call()
    ran = [n for n, k in zip(("native", "torch"), before, strict=True) if s.runtime.calls(n) > k]
    return " and ".join(ran)


def _copy(moved: int, device: str) -> Any:
    """A call that reads half of these bytes and writes the other half."""
    source = torch.ones(max(1, moved // 8), device=device)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def plans_of(s: Subject) -> dict[str, KernelPlan]:
    programs = {"forward": s.derived.forward, "backward": s.derived.backward}
    try:
        return {n: build(p, s.operator.outputs) for n, p in programs.items() if p is not None}
    except UnplannableError:
        return {}


def least_bytes(
    s: Subject, case: SampleCase, plans: Mapping[str, KernelPlan], direction: str, dtype: str
) -> int | None:
    """The bytes that a call moves at least: of arguments that are read, and of results."""
    program = s.derived.variant.program
    batch = max((math.prod(n) for _, i in case.inputs if i for n in i.shape if isinstance(n, tuple)), default=1)
    named = dict(case.sizes) | {BATCH_DIM: batch}
    at = Sizes(named, program.dims, program.params, dict(case.params), getattr(torch, dtype).itemsize)
    wanted = ("forward", "backward") if direction == "both" else (direction,)
    found = [floor(plans[n], at) if n in plans else None for n in wanted]
    return None if None in found else sum(n for n in found if n is not None)


def _rounded(q: Quartiles) -> Quartiles:
    return Quartiles(*(round(x, 3) for x in (q.low, q.median, q.high)))


def _head(empty: Measured) -> dict[str, Any]:
    return {n: getattr(empty, n) for n in ("op", "dtype", "size", "device", "threads")}


def _noted(empty: Measured, note: str, **about: Any) -> Measured:
    return Measured(**{"direction": empty.direction, **_head(empty), **about, "note": note})
