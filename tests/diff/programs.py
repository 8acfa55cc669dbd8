"""Small Programs built by hand, and checks of derivative programs against finite differences by the interpreter."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping, Sequence

from opgen.ir.interp import Array, run
from opgen.ir.program import Argument, Axis, DimSource, Kind, Loop, Output, Program, Statement, Tensor
from opgen.ir.scalar import BATCH, Dim, Index, Lit, Position, Read
from opgen.ir.verify import verify

SIZES = {"K": 3, "N": 2, "D": 4, "V": 5}
BATCH_SIZES = (2,)


def axis(name: str) -> Loop:
    return BATCH if name == "..." else Axis(name, Dim(name.upper()))


def axes(names: str) -> tuple[Loop, ...]:
    return tuple(axis(n) for n in names.split())


def at(tensor: str, positions: str = "", *more: Position) -> Read:
    plain: list[Position] = [
        BATCH if n == "..." else Lit(int(n)) if n.isdigit() else Index(n) for n in positions.split()
    ]
    return Read(tensor, (*plain, *more))


def tensor(name: str, dims: str, kind: Kind = Kind.FLOAT) -> Tensor:
    return Tensor(name, tuple(BATCH if d == "..." else Dim(d) for d in dims.split()), kind)


def program(
    inputs: Sequence[Tensor],
    statements: Sequence[Statement],
    outputs: Sequence[str] | None = None,
    params: Sequence[str] = (),
    **more: object,
) -> Program:
    dims: dict[str, DimSource] = {}
    for t in inputs:
        for k, d in enumerate(t.shape):
            if isinstance(d, Dim):
                dims.setdefault(d.name, DimSource(d.name, t.name, k))
    by_name = {s.target: s for s in statements}
    names = [statements[-1].target] if outputs is None else outputs
    made = tuple(Output(n, n, by_name[n].shape, by_name[n].kind) for n in names)
    arguments = tuple(Argument(p, "float") for p in params)
    p = Program("op", tuple(inputs), arguments, tuple(dims.values()), tuple(statements), made)
    for field, value in more.items():
        p = _with(p, field, value)
    return verify(p)


def _with(p: Program, field: str, value: object) -> Program:
    from dataclasses import replace

    return replace(p, **{field: value})  # type: ignore[arg-type]


def size(t: Tensor) -> tuple[int, ...]:
    sizes: list[int] = []
    for d in t.shape:
        if d == BATCH:
            sizes.extend(BATCH_SIZES)
        elif isinstance(d, Dim):
            sizes.append(SIZES[d.name])
        else:
            assert isinstance(d, Lit)
            sizes.append(int(d.value))
    return tuple(sizes)


def filled(shape: tuple[int, ...], make: Callable[[], float]) -> Array:
    total = 1
    for n in shape:
        total *= n
    return Array(shape, [make() for _ in range(total)])


def sample(p: Program, seed: int = 0, low: float = 0.3, high: float = 1.7) -> dict[str, Array]:
    rng = random.Random(seed)
    arrays: dict[str, Array] = {}
    for t in p.inputs:
        if t.kind is Kind.FLOAT:
            arrays[t.name] = filled(size(t), lambda: rng.uniform(low, high))
        else:
            arrays[t.name] = filled(size(t), lambda: rng.randrange(2))
    return arrays


def dot(a: Mapping[str, Array], b: Mapping[str, Array], pairs: Sequence[tuple[str, str]]) -> float:
    return sum(x * y for m, n in pairs for x, y in zip(a[m].data, b[n].data, strict=True))


def moved(arrays: Mapping[str, Array], name: str, k: int, step: float) -> dict[str, Array]:
    data = list(arrays[name].data)
    data[k] += step
    return {**arrays, name: Array(arrays[name].shape, data)}


def numeric(f: Callable[[dict[str, Array]], float], arrays: dict[str, Array], name: str, step: float) -> list[float]:
    """Central differences of a number-valued function, element by element."""
    return [
        (f(moved(arrays, name, k, step)) - f(moved(arrays, name, k, -step))) / (2 * step)
        for k in range(len(arrays[name].data))
    ]


def close(a: Sequence[float], b: Sequence[float], tolerance: float = 1e-5) -> None:
    for x, y in itertools.zip_longest(a, b):
        assert abs(x - y) <= tolerance * (1 + abs(x) + abs(y)), (list(a), list(b))


def check_gradient(
    p: Program,
    backward: Program,
    arrays: dict[str, Array],
    params: Mapping[str, object] | None = None,
    step: float = 1e-5,
    tolerance: float = 1e-5,
) -> dict[str, Array]:
    """`backward` is the gradient of `p` at these arrays; returns its results."""
    rng = random.Random(7)
    results = run(p, arrays, params)
    seeds = {
        t.name: filled(results[t.of].shape, lambda: rng.uniform(-1, 1))
        for t in backward.inputs
        if t.role == "cotangent" and t.name not in arrays
    }
    outputs = [(t.of, t.name) for t in backward.inputs if t.name in seeds]

    def weighted(moved_arrays: dict[str, Array]) -> float:
        return dot(run(p, moved_arrays, params), seeds, outputs)

    gradients = run(backward, {**arrays, **seeds}, params)
    for o in backward.outputs:
        assert gradients[o.name].shape == arrays[o.of].shape, o
        close(gradients[o.name].data, numeric(weighted, arrays, o.of, step), tolerance)
    return {**arrays, **seeds}


def check_tangent(
    p: Program,
    forward: Program,
    backward: Program,
    arrays: dict[str, Array],
    params: Mapping[str, object] | None = None,
) -> None:
    """The dot-product test: <J v, u> = <v, J' u>."""
    rng = random.Random(11)
    results = run(p, arrays, params)
    v = {
        t.name: filled(arrays[t.of].shape, lambda: rng.uniform(-1, 1))
        for t in forward.inputs
        if t.role == "tangent" and t.name not in arrays
    }
    tangents = run(forward, {**arrays, **v}, params)
    u = {f"grad_{o.of}": filled(results[o.of].shape, lambda: rng.uniform(-1, 1)) for o in forward.outputs}
    gradients = run(backward, {**arrays, **u}, params)
    left = dot(tangents, u, [(o.name, f"grad_{o.of}") for o in forward.outputs])
    of = {t.of: t.name for t in forward.inputs if t.name in v}
    right = dot(gradients, v, [(o.name, of[o.of]) for o in backward.outputs if o.of in of])
    close([left], [right], 1e-9)
