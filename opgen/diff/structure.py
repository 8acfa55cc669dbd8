"""What derivative programs are built with: fresh names, statements in order, positions, the arguments still needed.

`close` turns a list of statements into a valid Program: it drops what no output needs, keeps the arguments that are
read, and finds for every dim an argument that still tells its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import (
    Argument,
    Axis,
    Compute,
    DimSource,
    Kind,
    Loop,
    Output,
    Program,
    Recurrence,
    Shape,
    Statement,
    Tensor,
    statement_reads,
    statement_scalars,
    targets,
)
from opgen.ir.ranges import loops_in
from opgen.ir.scalar import BATCH, ONE, Batch, Dim, Index, Param, Read, Scalar, casts_of, mentions, mul, reads, walk


class Builder:
    """Statements under construction; `looped` while they are meant for the step of a recurrence.

    `states_hits`: where a window has its extreme is a statement, so that it can be kept.
    """

    def __init__(self, names: Names, *, states_hits: bool = False) -> None:
        self.names, self.states_hits = names, states_hits
        self.statements: list[Statement] = []
        self.looped = False

    @contextmanager
    def step(self) -> Iterator[list[Statement]]:
        """Collect what is emitted meanwhile for the step of a recurrence, apart from all other statements."""
        outer, self.statements, self.looped = self.statements, [], True
        yield self.statements
        self.statements, self.looped = outer, False

    def emit(
        self,
        base: str,
        axes: Sequence[Loop],
        body: Scalar,
        op: str | None = None,
        over: Sequence[Loop] = (),
        kind: Kind = Kind.FLOAT,
    ) -> Read:
        """Append a statement under a fresh name and return its access at its own axes."""
        target = self.names.fresh(base)
        self.statements.append(Compute(target, tuple(axes), body, op, tuple(over), kind))
        return Read(target, positions(axes))


def extent(a: Loop) -> Scalar:
    return Dim("...") if isinstance(a, Batch) else a.extent


def count(loops: Sequence[Loop]) -> Scalar:
    """How many points the loops have."""
    return mul(*(extent(a) for a in loops)) if loops else ONE


def loops_of(e: Scalar, loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """Those of the loops that an expression depends on, in order."""
    indices, batch = mentions(e)
    return tuple(a for a in loops if (batch if isinstance(a, Batch) else a.name in indices))


def alone(e: Scalar, loops: Sequence[Loop], kind: Kind = Kind.FLOAT) -> Compute:
    """An expression as a statement over the loops that it depends on, in the order of what it reads."""
    seen = dict.fromkeys(p for r in reads(e) for at in r.at for p in ((at,) if isinstance(at, Batch) else walk(at)))
    order = [a for p in seen for a in loops_of(e, loops) if p == (a if isinstance(a, Batch) else Index(a.name))]
    return Compute("", tuple(dict.fromkeys((*order, *loops_of(e, loops)))), e, kind=kind)


def live(statements: Sequence[Statement], wanted: Iterable[str]) -> tuple[Statement, ...]:
    """The statements that the wanted tensors need, in order."""
    needed = dict.fromkeys(wanted)
    kept: list[Statement] = []
    for whole in reversed(statements):
        s = _needed_steps(whole, needed) if isinstance(whole, Recurrence) else whole
        if any(t in needed for t in targets(s)):
            kept.append(s)
            needed.update(dict.fromkeys(tensors_of(s)))
    return tuple(reversed(kept))


def _needed_steps(s: Recurrence, needed: dict[str, None]) -> Recurrence:
    """The recurrence with the steps that are wanted or that those read; untouched where none is."""
    wanted = reached(s, needed, tensors_of)
    steps = tuple(c for c in s.steps if c.target in wanted)
    return replace(s, steps=steps) if steps else s


def reached(s: Recurrence, seeds: Iterable[str], read: Callable[[Compute], Iterable[str]]) -> dict[str, None]:
    """The targets among the seeds and those that their steps read, directly or not."""
    made = {c.target: c for c in s.steps}
    found = {t: None for t in seeds if t in made}
    left = list(found)
    while left:
        more = [t for t in dict.fromkeys(read(made[left.pop()])) if t in made and t not in found]
        found.update(dict.fromkeys(more))
        left += more
    return found


def tensors_of(s: Statement) -> tuple[str, ...]:
    """The tensors a statement mentions: those it reads, and those whose dtype it rounds to."""
    casts = [like for e in statement_scalars(s) for like in casts_of(e)]
    return (*(r.tensor for r in statement_reads(s)), *casts)


def close(
    p: Program, name: str, candidates: Sequence[Tensor], statements: Sequence[Statement], outputs: Sequence[Output]
) -> Program:
    """The program made of the statements that the outputs need, with no more arguments than it takes."""
    kept = live(statements, [o.value for o in outputs])
    needed = dict.fromkeys(t for s in kept for t in tensors_of(s))
    needed.update(dict.fromkeys(o.value for o in outputs))
    needed.update(dict.fromkeys(o.like for o in outputs if o.like is not None))
    inputs = [t for t in candidates if t.name in needed]
    scalars = [e for s in kept for e in statement_scalars(s)]
    scalars += [e for o in outputs for e in o.shape if not isinstance(e, Batch)]
    if _uses_batch(kept, outputs, scalars) and not _has_full_batch(inputs, candidates):
        inputs = [t for t in candidates if t in inputs or BATCH in t.shape]
    inputs, dims = _dims(p, candidates, inputs, scalars)
    return replace(
        p,
        name=name,
        inputs=tuple(inputs),
        params=_params(p, [*scalars, *(d.value for d in dims if d.value is not None)], inputs),
        dims=dims,
        statements=kept,
        outputs=tuple(outputs),
        override=type(p.override)(),
    )


def _uses_batch(statements: Sequence[Statement], outputs: Sequence[Output], scalars: Sequence[Scalar]) -> bool:
    return (
        any(BATCH in loops for s in statements for loops in loops_in(s))
        or any(BATCH in o.shape for o in outputs)
        or any(isinstance(n, Dim) and n.name == "..." for e in scalars for n in walk(e))
    )


def _has_full_batch(inputs: Sequence[Tensor], candidates: Sequence[Tensor]) -> bool:
    """Only the cotangent of an output surely has every batch dim; an input may be broadcast, and so what is made of it.

    The cotangent of a gradient has the batch dims of the input, which are all if no other argument has any.
    """
    made = [t for t in inputs if t.of and t.role == "cotangent" and BATCH in t.shape]
    if any(not t.of.startswith("grad_") for t in made):
        return True
    batched = {(t.of or t.name).removeprefix("grad_") for t in candidates if BATCH in t.shape}
    return bool(made) and len(batched) == 1


def _dims(
    p: Program, candidates: Sequence[Tensor], inputs: list[Tensor], scalars: Sequence[Scalar]
) -> tuple[list[Tensor], tuple[DimSource, ...]]:
    """A source for every dim in use, from an argument that is there if possible, else one more argument."""
    sources = {d.name: d for d in p.dims}
    wanted: dict[str, None] = {}
    stack = [*scalars, *(e for t in inputs for e in t.shape if not isinstance(e, Batch))]
    while stack:
        for n in walk(stack.pop()):
            if isinstance(n, Dim) and n.name != "..." and n.name not in wanted:
                wanted[n.name] = None
                value = sources[n.name].value if n.name in sources else None
                if value is not None:
                    stack.append(value)
    dims: list[DimSource] = []
    for d in p.dims:
        if d.name not in wanted:
            continue
        if d.value is not None:
            dims.append(d)
            continue
        found = _source(d.name, inputs) or _source(d.name, candidates)
        assert found is not None, f"{p.name}: no argument tells the size {d.name}"
        if found.tensor not in {t.name for t in inputs}:
            chosen = next(t for t in candidates if t.name == found.tensor)
            return _dims(p, candidates, [t for t in candidates if t in inputs or t is chosen], scalars)
        dims.append(found)
    return inputs, tuple(dims)


def _params(p: Program, scalars: Sequence[Scalar], inputs: Sequence[Tensor]) -> tuple[Argument, ...]:
    shapes = [e for t in inputs for e in t.shape if not isinstance(e, Batch)]
    functions = [e for f in p.functions for e in f.scalars]
    used = {n.name for e in (*scalars, *shapes, *functions) for n in walk(e) if isinstance(n, Param)}
    return tuple(a for a in p.params if a.name in used)


def _source(name: str, tensors: Sequence[Tensor]) -> DimSource | None:
    for t in tensors:
        if Dim(name) in t.shape:
            return DimSource(name, t.name, t.shape.index(Dim(name)))
    return None


def shape_axes(shape: Shape, names: Names, hints: Sequence[str | None]) -> tuple[Loop, ...]:
    """Fresh loops over a shape, named like the hints or the dims."""
    axes: list[Loop] = []
    for size, hint in zip(shape, hints, strict=True):
        if isinstance(size, Batch):
            axes.append(BATCH)
        else:
            base = hint or (size.name.lower() if isinstance(size, Dim) else "i")
            axes.append(Axis(names.fresh(base), size))
    return tuple(axes)
