"""Whether the compiled kernels of a plan are as fast on a CPU as the same program in plain torch: what `auto` goes by.

The plain form passes over memory once for each operation, and each pass is one of torch's own loops; a kernel passes
once for all, but where it calls the C library or finds positions by computing them, its loop is not vectorised. Both
are estimated in nanoseconds for a point of the innermost loops; loops that run less often, and what is left to torch
either way, do not count. The figures are those of `benchmarks/results/cpu.json` (`python benchmarks/cpu.py`),
chosen so that a kernel which is slower is hardly ever taken: a schedule that gets faster is measured again, and its
figure changed here. Nothing is said of GPUs, where kernels are always taken.

A call of few points is another matter: a kernel is one call, where torch is called for each operation. So `choice` also
says what a kernel loses in its loops (`Excess`), from which every call finds out whether it loses more than it gains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from opgen.diff.conditions import conjuncts
from opgen.ir.functions import FUNCTIONS as TABLE
from opgen.ir.order import occurrences
from opgen.ir.program import Axis, Loop, Role, Shape
from opgen.ir.scalar import (
    ZERO,
    Apply,
    Batch,
    Cast,
    Index,
    Lit,
    Position,
    Read,
    Scalar,
    mentions,
    reads,
    substitute,
    walk,
)
from opgen.plan.model import (
    Chain,
    Contract,
    Convolve,
    Dot,
    KernelPlan,
    Nest,
    Pass,
    ScatterStep,
    Schedule,
    Sort,
    Step,
    Storage,
    Stream,
    extent,
    written_out,
)

PASS = 1.0  # nanoseconds of one of torch's loops, for a point
START, OPERATION, ALONE = 0.5, 0.15, 0.6  # of a kernel: for a point, and for an operation in vectors or alone
CALL = 8.0  # what takes longer is a call of the C library, around which nothing is vectorised
FREE = ("neg", "detach", "tofloat")
EXTERN = 8.6, 3.0  # a function from elsewhere, as Bessel's are: called for each element, where torch has vectors
FUNCTIONS = {  # of a kernel and of torch, beside what every operation costs; those that are not here cost no more
    "acos": (3.7, 4.6),
    "acosh": (7.7, 39.8),
    "asin": (3.5, 4.6),
    "asinh": (5.2, 46.8),
    "atan": (2.3, 6.5),
    "atan2": (42.6, 5.3),
    "atanh": (6.6, 5.2),
    "cbrt": (6.6, 14.3),
    "cos": (1.0, 2.6),
    "cosh": (2.8, 4.8),
    "cospi": (2.5, 6.0),
    "digamma": (74.4, 37.1),
    "erf": (1.8, 2.8),
    "erfc": (1.9, 4.0),
    "erfcx": (4.0, 37.1),
    "erfinv": (215.6, 6.3),
    "exp": (1.3, 2.8),
    "exp2": (2.6, 1.1),
    "expm1": (1.7, 3.7),
    "floordiv": (9.0, 1.0),
    "fmod": (29.6, 11.5),
    "hypot": (2.0, 5.1),
    "i0e": (57.8, 64.3),
    "i1e": (57.0, 5.3),
    "lgamma": (37.4, 23.6),
    "log": (1.6, 2.5),
    "log10": (3.0, 3.3),
    "log1p": (2.3, 3.2),
    "log2": (3.1, 2.2),
    "logaddexp": (6.2, 6.8),
    "mod": (9.0, 1.0),
    "polygamma": (100.0, 50.0),
    "pow": (4.0, 4.8),
    "remainder": (30.4, 7.9),
    "sigmoid": (1.8, 1.6),
    "sin": (1.0, 3.1),
    "sinc": (3.5, 19.2),
    "sinh": (3.5, 4.1),
    "sinpi": (2.5, 6.0),
    "softplus": (4.8, 5.5),
    "tan": (25.5, 4.2),
    "tanh": (2.0, 5.9),
    "xlogy": (1.8, 10.8),
}
GATHER, DIVIDED, WINDOW, SHIFTED = (1.6, 2.2), (2.5, 4.0), (1.5, 2.5), (1.5, 3.0)  # reads, by how a position is found
FOUND = {  # the same in words
    GATHER: "a gather",
    DIVIDED: "positions found by division",
    WINDOW: "windows",
    SHIFTED: "shifted reads",
}
FOLD, FOLDS = 0.4, 0.6  # of a kernel: one at a point, and each of several
SUM, EXTREME = 0.6, 2.0  # of torch
LIBRARY = 18.0, 20.0  # a matrix product or a convolution, which torch makes either way: the kernel's call is shorter
SORT = 18.0, 40.0  # an element of a row that is sorted
MARGIN = 0.97  # of the time of torch: what comes that close is left to it
LEAST = 1 / 8  # of the time of a kernel, that it is taken to be slower by where it is slower: figures are not exact
PRODUCT = 0.07, 0.1  # a matrix product within a kernel, blocked, with what goes around it
FORMS = 1.5  # an outer product that is stored
MASKED = 6.0  # of torch: a gather at positions that may be outside
SCATTER = (2.5, 4.0)
SPREAD = 1.0  # of a kernel: a scatter of what does not move with all loops, or to places that may be outside
SHORT, FEW = 3.0, 16  # of a kernel: a point of a row of fewer


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds for a point of so many loops, in a kernel and in torch; no extents where torch computes it anyway."""

    loops: int
    kernel: float
    torch: float
    extents: Shape = ()
    reasons: tuple[tuple[float, str], ...] = ()  # what makes the kernel slow, and how much it does

    @property
    def slower(self) -> float:
        """How much longer the kernel takes, if at all."""
        return max(self.kernel - MARGIN * self.torch, self.kernel * LEAST)


@dataclass(frozen=True, slots=True)
class Excess:
    """So many nanoseconds for every point of these extents."""

    each: float
    extents: Shape


@dataclass(frozen=True, slots=True)
class Choice:
    """The directions, forward or backward, that `auto` leaves to plain torch: on a CPU each with why, and `on_gpu`.

    `excess` has, by direction and plan, what a kernel takes longer there beside what a call costs, if it does. A
    direction without is left to torch at any size.
    """

    in_torch: Mapping[str, str]
    excess: Mapping[str, tuple[tuple[Excess, ...], ...]]
    on_gpu: tuple[str, ...] = ()


def choice(plans: Mapping[str, Sequence[KernelPlan]]) -> Choice:
    """What to run of an operator with these plans: in both directions one for each variant, in the same order.

    Where forward counts what ties, the gradient compares the same values again: then both are computed alike, lest a
    rounding that differs makes ties of what were none.
    """
    excess = {which: tuple(map(_excess, own)) for which, own in plans.items()}
    slow = {which: why for which, own in plans.items() if (why := next(filter(None, map(_why, own)), ""))}
    counted = any(
        b.role is Role.SAVED and b.storage is Storage.INT64 for own in plans.values() for p in own for b in p.arguments
    )
    if slow and counted:
        same = len({*map(len, plans.values())}) == 1
        together = tuple(tuple(e for own in both for e in own) for both in zip(*excess.values(), strict=same))
        return Choice(dict.fromkeys(plans, next(iter(slow.values()))), dict.fromkeys(plans, together) if same else {})
    return Choice(slow, {which: excess[which] for which in slow})


def slower_than_torch(p: KernelPlan) -> bool:
    """Is plain torch expected to be faster?"""
    return bool(_outer_products(p)) or _slow(_heavy(p))


def _slow(heavy: Sequence[Cost]) -> bool:
    return sum(c.kernel for c in heavy) > MARGIN * sum(c.torch for c in heavy)


def _heavy(p: KernelPlan) -> list[Cost]:
    """The costs of the innermost loops."""
    found = [c for step in p.steps for c in _costs(step)]
    most = max((c.loops for c in found), default=0)
    return [c for c in found if c.loops == most]


def _excess(p: KernelPlan) -> tuple[Excess, ...]:
    """What the kernels of a plan take longer, if they do."""
    if made := _outer_products(p):
        return tuple(Excess(FORMS, tuple(map(extent, (*n.outer, *own.loops)))) for n in made for own in n.passes)
    return tuple(Excess(c.slower, c.extents) for c in _heavy(p) if c.extents) if slower_than_torch(p) else ()


def _why(p: KernelPlan) -> str:
    """What makes a plan slower than torch, in a few words; nothing where it is not."""
    if _outer_products(p):
        return "an outer product for a matrix product"
    if not _slow(heavy := _heavy(p)):
        return ""
    weight, why = max((r for c in heavy for r in c.reasons), default=(0.0, ""))
    return why if weight > 0.0 else "little is computed at each point"


def _outer_products(p: KernelPlan) -> list[Nest]:
    """The nests that make an outer product for a matrix product: both are torch's, but for a loop over short rows."""
    nests = [n for n in p.steps if isinstance(n, Nest) and n.schedule is Schedule.MAP]
    found = []
    for o in (o for c in p.steps if isinstance(c, Contract) for o in (c.a, c.b)):
        for nest, store in ((n, s) for n in nests for own in n.passes for s in own.stores if s.buffer == o.buffer):
            match store.value:
                case Apply("mul", (Read(at=left), Read(at=right))) if max(len(left), len(right)) < len(o.labels):
                    found.append(nest)
    return found


def _costs(step: Step) -> Iterator[Cost]:
    match step:
        case Nest():
            for p in step.passes:
                yield _pass(step, p)
        case ScatterStep():
            yield _scatter(step)
        case Chain():
            for t in step.tasks:
                exprs = [*(x.value for x in (*t.lets, *t.inner)), t.store.value, *([t.fold.value] if t.fold else [])]
                made = _points((*step.outer, step.along, *t.loops, *t.over), exprs)
                yield replace(made, torch=made.torch + 10 * PASS)  # torch makes a step at a time
        case Stream():
            known: set[Scalar] = set()
            for d in (d for s in step.sweeps for d in s.dots):
                yield _dot(step, d, again=d.value in known)
                known.add(d.value)
        case Contract():
            yield Cost(len({*step.batch, *step.m, *step.n, *step.k}), *LIBRARY)
        case Convolve():
            yield Cost(max(len((*step.nest.outer, *p.loops)) for p in step.nest.passes), *LIBRARY)
        case Sort():
            yield Cost(len(step.nest.outer), *SORT)
        case _:
            assert_never(step)


def _dot(step: Stream, d: Dot, *, again: bool) -> Cost:
    """A sum of pairs; what a later sweep asks for `again` is stored in torch."""
    product = isinstance(d.value, Apply) and d.value.fn == "mul"
    operations = sum(k for n, k in occurrences(d.value).items() if isinstance(n, Apply))
    torch = 0.0 if again else PRODUCT[1] if product else PASS * operations
    loops = (*step.outer, step.along, d.over)
    reason = max(PRODUCT[0] - torch, 0.0), "a matrix product that is never stored"
    return Cost(len(loops), PRODUCT[0], torch, tuple(map(extent, loops)), (reason,))


def _pass(n: Nest, p: Pass) -> Cost:
    ends = [*(f.value for f in p.folds if f.op == "sum"), *(s.value for s in p.stores)]
    others = (f.value for f in p.folds if f.op != "sum")
    divided = {x.name for x in p.lets if any(map(_divides, walk(x.value)))}
    last = n.outer[-1] if n.outer else None
    if isinstance(last, Axis) and any(_divides(a) and last.name in mentions(a)[0] for e in ends for a in walk(e)):
        ends = [part for e in ends for part in _without_quotients(e, divided)]
    exprs = [*others, *ends]
    wanted = {r.tensor for e in exprs for r in reads(e)}
    for x in reversed(p.lets):
        if x.name in wanted:
            exprs.append(x.value)
            wanted.update(r.tensor for r in reads(x.value))
    made = _points((*n.outer, *p.loops), exprs)
    few = written_out(p.loops)
    within = _points((), [_in_lanes(e, _lanes(n, p), few) for e in exprs]).kernel
    count = len(p.folds)
    several = FOLDS * count if count > 1 and n.schedule is Schedule.ROW and not few else 0.0
    torch = made.torch + sum(SUM if f.op == "sum" else EXTREME for f in p.folds) + bool(p.stores) * PASS
    short = SHORT if n.schedule is Schedule.ROW and p.loops and not few and all(map(_is_short, p.loops)) else 0.0
    kernel = within + (several or FOLD * count) + short
    reasons = (several, "several sums in one pass"), (short, "short rows")
    return replace(made, kernel=kernel, torch=torch, reasons=(*made.reasons, *reasons))


def _is_short(a: Loop) -> bool:
    return isinstance(a, Axis) and isinstance(a.extent, Lit) and a.extent.value < FEW


def _lanes(n: Nest, p: Pass) -> Loop | None:
    """The loop that runs side by side: a long one, where there is one."""
    loops = p.loops if n.schedule in (Schedule.ROW, Schedule.WHOLE) and not written_out(p.loops) else n.outer
    long = [a for a in loops if not _is_short(a)]
    return next(iter((long or loops)[-1:]), None)


def _in_lanes(e: Scalar, lanes: Loop | None, few: Sequence[Axis]) -> Scalar:
    """What a lane computes of a value: the indices of `few` are known, and quotients that it does not change."""
    own = {lanes.name} if isinstance(lanes, Axis) else set[str]()
    known: dict[Scalar, Scalar] = {Index(a.name): ZERO for a in few}
    known |= {a: ZERO for a in walk(e) if _divides(a) and not reads(a) and own.isdisjoint(mentions(a)[0])}
    return substitute(e, known)


def _without_quotients(e: Scalar, divided: Collection[str]) -> Iterator[Scalar]:
    """What is computed of a value at a point, where the last index is divided: lanes are as far apart as the divisor.

    Then conditions with quotients or remainders, or with locals that are `divided`, tell which lanes there are.
    """
    match e:
        case Apply("where", (condition, value, otherwise)) if otherwise == ZERO:
            yield value
            for c in conjuncts(condition):
                if not any(_divides(a) or (isinstance(a, Read) and a.tensor in divided) for a in walk(c)):
                    yield c
        case _:
            yield e


def _divides(e: Scalar) -> bool:
    return isinstance(e, Apply) and e.fn in ("floordiv", "mod")


def _scatter(s: ScatterStep) -> Cost:
    made = _points(s.loops, [*(x.value for x in s.lets), s.value])
    at = _reads([Read(s.out, s.at)])
    read = [r for e in (s.value, *(x.value for x in s.lets)) for r in reads(e)]
    moving = all(any(_moves(r, a) for r in read) for a in s.loops)
    own = SCATTER[0] + (0.0 if moving and not s.padded else SPREAD) + max(0.0, at.kernel - GATHER[0])
    torch = made.torch + SCATTER[1] + at.torch
    return replace(made, kernel=made.kernel + own, torch=torch, reasons=(*made.reasons, (own, "a scatter")))


def _moves(r: Read, a: Loop) -> bool:
    """Does a read move with a loop?"""
    if isinstance(a, Batch):
        return any(isinstance(q, Batch) for q in r.at)
    return any(a.name in mentions(q)[0] for q in r.at if not isinstance(q, Batch))


def _points(loops: Sequence[Loop], exprs: Sequence[Scalar]) -> Cost:
    """What is computed at a point of these loops."""
    read = _reads(dict.fromkeys(r for e in exprs for r in reads(e)))
    figures = [(e, _function(e)) for e in _operations(exprs)]
    functions = [f for _, f in figures]
    alone = any(kernel > CALL for kernel, _ in functions)
    each = 2.0 if read.kernel else 1.0  # elements that come from anywhere are computed one by one
    kernel = START + read.kernel + sum(each * k + (ALONE if alone else OPERATION) for k, _ in functions)
    called = [(each * k - t, f"{e.fn} is computed one element at a time") for e, (k, t) in figures if k > CALL]
    torch = read.torch + sum(t + PASS for _, t in functions)
    return Cost(len(loops), kernel, torch, tuple(map(extent, loops)), (*read.reasons, *called))


def _function(e: Apply) -> tuple[float, float]:
    power = e.fn == "pow" and isinstance(e.args[1], Lit)  # by a number: products
    return (0.0, 0.0) if power else FUNCTIONS.get(e.fn, (0.0, 0.0) if e.fn in TABLE else EXTERN)


def _operations(exprs: Iterable[Scalar]) -> Iterator[Apply]:
    """The operations on elements, each once; those in positions are counted with the reads."""
    seen: set[Scalar] = set()
    rest = [*exprs]
    while rest:
        e = rest.pop()
        if isinstance(e, Cast):
            rest.append(e.arg)
        elif isinstance(e, Apply) and e not in seen:
            seen.add(e)
            rest.extend(e.args)
            if e.fn not in FREE and (reads(e) or mentions(e)[0]):
                yield e


def _reads(found: Iterable[Read]) -> Cost:
    kernel = torch = 0.0
    reasons: dict[str, float] = {}
    for r in found:
        kinds = [_kind(q) for q in r.at] + ([WINDOW] if r.fill is not None else [])
        own = max((k for k in kinds if k is not None), default=(0.0, 0.0))
        masked = MASKED if r.fill is not None and GATHER in kinds else 0.0
        kernel, torch = kernel + own[0], torch + own[1] + masked
        if own in FOUND:
            reasons[FOUND[own]] = reasons.get(FOUND[own], 0.0) + own[0] - own[1]
    return Cost(0, kernel, torch, (), tuple((n, why) for why, n in reasons.items()))


def _kind(q: Position) -> tuple[float, float] | None:
    """What a read costs by how a position of it is found; None for a plain one."""
    if isinstance(q, Batch | Index):
        return None
    if any(map(_divides, walk(q))):
        return DIVIDED
    if reads(q):
        return GATHER
    indices, _ = mentions(q)
    return None if not indices else SHIFTED if len(indices) == 1 else WINDOW
