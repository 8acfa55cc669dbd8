"""The table of an operator's kernels: what its binding runs by number, on either device.

In go kernel plans, out come the kernels of both back ends, those that differ in nothing but names once, and for the
steps of each plan which kernel runs with which arguments. What torch computes has no kernel, or one for the CPU.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

from opgen.code.cpp_kernels import Kernel, cpu_kernel
from opgen.code.cuda_code import CudaKernel, cuda_kernel
from opgen.code.length import Length
from opgen.ir.program import Function
from opgen.ir.scalar import Param, Scalar
from opgen.kernel.across import across
from opgen.kernel.formal import Formal, formal
from opgen.kernel.model import Join
from opgen.kernel.reach import Reach
from opgen.kernel.walk import stored_only
from opgen.plan.kernels import kernels_of
from opgen.plan.model import KernelPlan

_MANY = 12  # arrays


@dataclass(frozen=True, slots=True)
class Launch:
    """A step: the number of its kernel, and the arguments as the plan calls them.

    `reaches`: what is to be compared before it runs; `stored`: the tensors that it stores to and does nothing else
    with, so that it can do without their memory on a CPU; `spare`: those of them that it can do without on any device;
    `columns`: the place in its plan of a launch whose sums across rows a device may compute beside its rows.
    """

    kernel: int
    tensors: tuple[str, ...]
    ints: tuple[Scalar, ...]
    reals: tuple[Param, ...]
    reaches: tuple[Reach, ...]
    stored: frozenset[str]
    spare: frozenset[str]
    columns: int | None = None


@dataclass(slots=True)
class StepTable:
    """All kernels of an operator in the order of its tables: those for the CPU, and beside them those for CUDA."""

    op: str
    length: Length | None = None  # of the kernels for the CPU, where that has an end
    kernels: list[Kernel] = field(default_factory=list)
    cuda: list[CudaKernel] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)  # of the plans: those that stay calls
    _names: list[str] = field(default_factory=list)
    _numbers: dict[Hashable, dict[Hashable, int]] = field(default_factory=dict)  # by what runs beside a kernel, if any
    _texts: dict[tuple[str, ...], Kernel] = field(default_factory=dict)  # kernels for the CPU by their nameless lines

    @property
    def short_runs(self) -> bool:
        """Whether a run of a kernel for the CPU may have more arrays than stay in the nearest cache if it is long."""
        return any(k.arrays > _MANY for k in self.kernels)

    def add(self, plan: KernelPlan, prefix: str, apart: Set[str] = frozenset()) -> tuple[Launch, ...]:
        """Put the kernels of a plan in; what its steps launch. `apart`: buffers that nobody may want though others
        that their step fills are wanted. `TooLongError` as soon as they have come to an end."""
        self.functions.update((f.name, f) for f in plan.functions)
        planned = kernels_of(plan)
        found = [formal(plan, p.kernel, apart) for p in planned]
        beside = _beside([None if p.in_place else own for p, own in zip(planned, found, strict=True)])
        launches: list[Launch] = []
        for k, (p, own) in enumerate(zip(planned, found, strict=True)):
            columns, joins = beside.get(k, (None, ()))
            also = None if columns is None else _relation(own, found[columns])
            number = self._number((p.in_place, own.key), also)
            if number == len(self.kernels):
                self._names.append(f"{prefix}_{p.kernel.name}")
                self.kernels.append(self._once(cpu_kernel(own, p.kernel, self._names[number])))
                if self.length is not None:
                    self.length.add(self.kernels[number].lines)
                name = f"{self.op}_{self._names[number]}"
                self.cuda.append(CudaKernel() if p.in_place else cuda_kernel(own, p.kernel, name, joins))
            elif joins and not self.cuda[number].columns:
                self.cuda[number] = cuda_kernel(own, p.kernel, f"{self.op}_{self._names[number]}", joins)
            arguments = tuple(own.slots), own.ints, own.reals, own.reaches
            launches.append(Launch(number, *arguments, stored_only(own.kernel), own.spare, columns))
        for a, b in ((launches[k].kernel, launches[c].kernel) for k, (c, _) in beside.items()):
            self.cuda[a] = replace(self.cuda[a], columns=self.cuda[b].structs[0])
        return tuple(launches)

    def _once(self, kernel: Kernel) -> Kernel:
        """The kernel, or an earlier one without lines of its own that is the same on a CPU but for its name."""
        text = tuple(line.replace(f" {kernel.name}(", "(") for line in kernel.lines)
        first = self._texts.setdefault(text, kernel)
        return kernel if first is kernel else replace(first, lines=())

    def _number(self, key: Hashable, also: Hashable) -> int:
        """The number of a kernel; one that can run beside others runs alone as well."""
        known = self._numbers.setdefault(key, {})
        if also is None and known:
            return next(iter(known.values()))
        if also not in known:
            known[also] = known.pop(None, len(self.kernels))
        return known[also]


def _relation(rows: Formal, columns: Formal) -> Hashable:
    """A kernel of columns, and which arguments it shares with one of rows."""
    pairs: tuple[tuple[Sequence[object], Iterable[object]], ...]
    pairs = ((list(rows.slots), columns.slots), (rows.ints, columns.ints), (rows.reals, columns.reals))
    shared = (tuple(known.index(n) if n in known else -1 for n in asked) for known, asked in pairs)
    return columns.key, *shared


def _beside(steps: Sequence[Formal | None]) -> dict[int, tuple[int, tuple[Join, ...]]]:
    """Of kernels of rows: the later kernel that one may compute beside its own, and what its rows join."""
    found: dict[int, tuple[int, tuple[Join, ...]]] = {}
    known = [(k, own) for k, own in enumerate(steps) if own is not None]
    for k, rows in known:
        later = ((c, across(rows, columns)) for c, columns in known if c > k)
        first = next(((c, joins) for c, joins in later if joins), None)
        if first is not None and first[0] not in {c for c, _ in found.values()}:
            found[k] = first
    return found
