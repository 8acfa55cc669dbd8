"""Which variants of an operator a binding has code for, and how a call finds its own.

In go the programs of one direction, one for each variant; out come the plans that are printed, in the order in which
their conditions are tested. Variants that this direction cannot tell apart share a plan. So do those that differ in an
optional input alone that stands for a number where it is missing, as a factor does for 1 and a shift for 0: one kernel
serves both and reads that number. The spec says that this is right; it is done where it costs next to nothing, which is
where the kernels without the input have the same loops and stores, and compute hardly less. Variants that differ in
what they divide by alone, as a mean does from a sum, have plans whose kernels are the same (`opgen.plan.divided`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import combinations, permutations

from opgen.ir.operator import Operator
from opgen.ir.program import Chosen, Condition, Given, Output
from opgen.ir.scalar import ONE, ZERO, Apply, walk
from opgen.kernel.lower import lower
from opgen.kernel.model import Acc, Atomic, Body, For, If, Kernel, Store
from opgen.kernel.walk import values
from opgen.package.cpp_signature import Direction
from opgen.plan.build import build
from opgen.plan.divided import alike
from opgen.plan.kernels import bias_of, kernels_of, without_bias
from opgen.plan.model import KernelPlan, Library
from opgen.plan.speed import FREE, FUNCTIONS
from opgen.torch.conditions import told_by

_MORE = 1.25  # times what is computed without the inputs, and an operation for each of them


@dataclass(frozen=True, slots=True)
class Printed:
    """A plan with code of its own: the number of its variant, when it is meant, and the inputs that may be missing."""

    number: int
    test: str  # in C++; empty: always
    plan: KernelPlan
    missing: frozenset[str] = frozenset()


def printed(operator: Operator, d: Direction) -> tuple[tuple[Printed, ...], tuple[KernelPlan, ...]]:
    """What is printed, the last of it without a test, and the plan that each variant has by itself."""
    return _Variants(operator, d).printed()


class _Variants:
    def __init__(self, operator: Operator, d: Direction) -> None:
        self.operator, self.d = operator, d
        self.told = told_by(d.programs, operator.outputs)
        self.numbers = {
            f.name: int(f.value == ONE) for f in operator.neutral if f.value in (ZERO, ONE) and f.name in d.tensors
        }
        self.tests = [self._test(variant.conditions) for variant, _ in d.programs]
        self.plans: dict[str, KernelPlan] = {}
        self.asked: dict[tuple[int, tuple[Output, ...]], KernelPlan] = {}
        for test, (_, program) in zip(self.tests, d.programs, strict=True):
            if test not in self.plans:
                self.plans[test] = build(program, operator.outputs)

    def printed(self) -> tuple[tuple[Printed, ...], tuple[KernelPlan, ...]]:
        found: dict[str, Printed] = {}
        for own in self._apart():
            missing = self._missing(own)
            for number in (n for present, n in own.items() if missing <= present):
                conditions = (c for c in self.d.programs[number][0].conditions if not _asks(c, missing))
                test = self._test(tuple(conditions))
                plan = _reading(self.plans[self.tests[number]], {n: self.numbers[n] for n in missing})
                found.setdefault(test, Printed(number, test, plan, missing))
        *others, last = _divided(sorted(found.values(), key=lambda p: p.number))
        return (*others, replace(last, test="")), tuple(self.plans[t] for t in self.tests)

    def _apart(self) -> Iterator[Mapping[frozenset[str], int]]:
        """The variants that this direction tells apart by these inputs alone, each by those that are there."""
        found: dict[str, dict[frozenset[str], int]] = {}
        for (variant, _), test in zip(self.d.programs, self.tests, strict=True):
            rest = self._test(tuple(c for c in variant.conditions if not _asks(c, self.numbers)))
            there = (c.name for c in variant.conditions if isinstance(c, Given) and c.present)
            found.setdefault(rest, {}).setdefault(frozenset(there) & {*self.numbers}, self.tests.index(test))
        yield from found.values()

    def _missing(self, own: Mapping[frozenset[str], int]) -> frozenset[str]:
        """The most inputs with which one plan serves all variants that differ in nothing else."""
        names = [n for n in self.numbers if any(n in present for present in own)]
        sizes = range(len(names), 0, -1)
        groups = (frozenset(group) for size in sizes for group in combinations(names, size))
        return next((g for g in groups if all(self._serves(own[p | g], n, g - p) for p, n in own.items())), frozenset())

    def _serves(self, full: int, number: int, missing: frozenset[str]) -> bool:
        """Whether the plan of a variant with all inputs is nearly that of another one without some."""
        if not missing:
            return True
        more, less = self.plans[self.tests[full]], self.plans[self.tests[number]]
        if {b.name for b in more.arguments} - {b.name for b in less.arguments} != missing:
            return False  # it needs what was not kept
        zeros = {n for n in missing if self.numbers[n] == 0}
        return _nearly(self._without(full, missing), less, missing, zeros)

    def _without(self, number: int, missing: frozenset[str]) -> KernelPlan:
        """The plan of a variant in a call that asks for no gradients of some inputs."""
        program = self.d.programs[number][1]
        asked = tuple(o for o in program.outputs if o.of not in missing)
        if asked == program.outputs:
            return self.plans[self.tests[number]]
        if (number, asked) not in self.asked:
            self.asked[number, asked] = build(replace(program, outputs=asked), self.operator.outputs)
        return self.asked[number, asked]

    def _test(self, conditions: Sequence[Condition]) -> str:
        """What the arguments of this direction tell a variant by; empty where they cannot."""
        return " && ".join(filter(None, map(self._condition, conditions)))

    def _condition(self, c: Condition) -> str:
        match c:
            case Given(name, present):
                there = (*self.d.tensors, *(a.name for a in self.operator.params))
                known = next((n for n in (name, self.told.get(name)) if n in there), None)
                return "" if known is None else f"{'' if present else '!'}{known}.has_value()"
            case Chosen(name, bool(value)):
                return name if value else f"!{name}"
            case Chosen(name, value):
                return f'{name} == "{value}"'


def _divided(found: Sequence[Printed]) -> Sequence[Printed]:
    """Those that differ in divisions by numbers of the call alone, as plans that have the same kernels."""
    made = {p.number: p.plan for p in found}
    for p, plain in permutations(found, 2):
        pair = alike(p.plan, plain.plan)
        if pair is not None:
            made[p.number], made[plain.number] = pair
    return [replace(p, plan=made[p.number]) for p in found]


def _asks(c: Condition, names: frozenset[str] | Mapping[str, int]) -> bool:
    return isinstance(c, Given) and c.name in names


def _reading(plan: KernelPlan, numbers: Mapping[str, int]) -> KernelPlan:
    """A plan whose arguments may be missing."""
    buffers = (replace(b, missing=numbers[b.name]) if b.name in numbers else b for b in plan.buffers)
    return replace(plan, buffers=tuple(buffers)) if numbers else plan


def _nearly(more: KernelPlan, less: KernelPlan, missing: Set[str], zeros: Set[str]) -> bool:
    """Whether a plan does with some inputs what another one does without them, at hardly more cost."""
    if [replace(r, buffer="") for r in more.results] != [replace(r, buffer="") for r in less.results]:
        return False
    if not _hands_on_the_same(more, less, zeros) or len(more.dims) != len(less.dims):
        return False
    with_, without = ([lower(p, k.kernel) for k in kernels_of(p)] for p in (more, less))
    if [_frame(k.body) for k in with_] != [_frame(k.body) for k in without]:
        return False
    return _cost(with_) <= _MORE * _cost(without) + len(missing)


def _hands_on_the_same(more: KernelPlan, less: KernelPlan, zeros: Set[str]) -> bool:
    """Whether torch does the same for both, but for adding what is 0 where it is missing."""
    with_, without = ([s for s in p.steps if isinstance(s, Library)] for p in (more, less))
    if [*map(without_bias, with_)] != [*map(without_bias, without)]:
        return False
    pairs = zip(map(bias_of, with_), map(bias_of, without), strict=True)
    return all(a == b or (a in zeros and not b) for a, b in pairs)


def _frame(body: Body) -> tuple[object, ...]:
    """The loops, conditions, sums and stores of a kernel, without what they compute."""
    found: list[object] = []
    for node in body:
        match node:
            case For(loop, inner, role, reverse):
                found.append((loop, role, reverse, _frame(inner)))
            case If(_, then, otherwise):
                found.append((_frame(then), _frame(otherwise)))
            case Acc(_, op, kind):
                found.append((op, kind))
            case Store(_, at, _) | Atomic(_, at, _, _):
                found.append((type(node), at))
            case _:
                pass
    return tuple(found)


def _cost(kernels: Sequence[Kernel]) -> float:
    """What is computed at all points, in operations."""
    called = (n.fn for k in kernels for e in values(k.body) for n in walk(e) if isinstance(n, Apply))
    return sum(0.0 if fn in FREE else 1 + FUNCTIONS.get(fn, (0.0, 0.0))[0] for fn in called)
