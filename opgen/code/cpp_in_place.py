"""Maps whose rows may be in memory as lanes take them, in the words of `opgen_cpu_place.h`.

A row of a few vectors costs what is found out about its runs: whether each is side by side, and of the dtype that is
computed with. This is the same for all rows of a call, so it is asked once, and runs are compiled for both answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from opgen.code.cpp_access import Access
from opgen.code.cpp_layout import block
from opgen.code.cpp_scope import CpuScope
from opgen.ir.names import Names
from opgen.ir.program import Kind, Loop
from opgen.ir.scalar import PLACE, Apply, Read, Scalar, walk
from opgen.kernel.kept import CALLS
from opgen.kernel.model import Body, Store
from opgen.kernel.walk import values
from opgen.plan.model import Let


def may_be_in_place(scope: CpuScope, body: Body, outer: tuple[Loop, ...], bound: Collection[str]) -> bool:
    """Whether a map goes along rows of floats, or what stands still there, and neither calls nor chooses."""
    if len(outer) < 2 or any(scope.formal.flat) or not all(isinstance(n, Let | Store) for n in body):
        return False
    stores = (scope.find(n.slot, n.at, write=True) for n in body if isinstance(n, Store))
    parts = list(_parts(body))
    reads = (scope.find(e.tensor, e.at) for e in parts if isinstance(e, Read) and e.tensor not in bound)
    if any(e is PLACE or (isinstance(e, Apply) and (e.fn in CALLS or e.fn == "where")) for e in parts):
        return False
    return all(a is not None and _is_row(scope, a, outer[-1]) for a in (*stores, *reads))


def _is_row(scope: CpuScope, access: Access, last: Loop) -> bool:
    """Whether the last loop goes along the last axis of a tensor of floats, if it moves there."""
    moved = [axis for axis, _ in access.axes_of(last)]
    floats = scope.formal.slots[access.buffer].kind is Kind.FLOAT
    return floats and scope.plain(access) and all(axis == len(access.at) - 1 for axis in moved)


def _parts(body: Body) -> Iterator[Scalar]:
    return (e for value in values(body) for e in walk(value))


def stored_last(body: Body, names: Names) -> Body:
    """The map with its values ahead of all stores: what two of them read is read once, whatever is stored first."""
    stores = [n for n in body if isinstance(n, Store)]
    if len(stores) < 2:
        return body
    lets = {n: Let(names.fresh(f"{n.slot}_value"), n.value, Kind.FLOAT) for n in stores}
    values = tuple(lets[n] if isinstance(n, Store) else n for n in body)
    return (*values, *(replace(n, value=Read(let.name, ())) for n, let in lets.items()))


def is_torn(scope: CpuScope, access: Access, outer: Iterable[Loop]) -> bool:
    """Whether a row of a tensor is met at several places at once: no processor goes on to the next one from there."""
    beside = [a for a in scope.accesses if a.buffer == access.buffer and a.write == access.write]
    return len(beside) > 1 and all(access.axes_of(a) for a in outer)


def in_place(scope: CpuScope, accesses: Mapping[bool, list[Access]], run: list[str]) -> list[str]:
    """Runs as they are in memory, or as they may be anywhere; those of some accesses stand still in the former."""
    steps = [f"{{{', '.join(str(a.number) for a in accesses[still])}}}" for still in sorted(accesses)]
    tensors = dict.fromkeys(scope.tensor(a.buffer) for some in accesses.values() for a in some)
    name = scope.fresh("each_run")
    return [
        *block(f"const auto {name} = [&](const auto& run, const auto& memory) {{", run, "};"),
        f"const bool in_place = rt::in_place({', '.join(('outer', *steps, *tensors))});",
        f"rt::each_run(outer, begin, end, in_place, {name});",
    ]
