"""Random accesses with their derivatives by brute force: strides, signs, couplings, pads, gathers, quotients."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

from opgen.diff.adjoint import adjoint
from opgen.ir.interp import Array, run
from opgen.ir.program import Argument, Axis, Compute, DimSource, Kind, Output, Program, Scatter, Tensor
from opgen.ir.scalar import ZERO, Apply, Dim, Index, Lit, Param, Read, Scalar, add, mul
from opgen.ir.verify import verify

NAMES = "abcd"


@dataclass(frozen=True)
class Case:
    """`y[loops] = x[positions]*w[loops]`, its sizes and arguments."""

    program: Program
    sizes: tuple[int, ...]
    arrays: dict[str, Array]
    params: dict[str, int]

    def position(self, point: tuple[int, ...]) -> tuple[int, ...] | None:
        """Where a point of the loops reads `x`; None outside."""
        (s,) = self.program.statements
        assert isinstance(s.body, Apply)
        read = s.body.args[0]
        assert isinstance(read, Read)
        values = {a.name: v for a, v in zip(s.axes, point, strict=True) if isinstance(a, Axis)}
        at = tuple(self._value(p, values) for p in read.at)  # type: ignore[arg-type]
        shape = self.arrays["x"].shape
        return at if all(0 <= i < n for i, n in zip(at, shape, strict=True)) else None

    def _value(self, e: Scalar, values: dict[str, int]) -> int:
        match e:
            case Lit(value):
                return int(value)
            case Index(name):
                return values[name]
            case Param(name):
                return self.params[name]
            case Read(tensor, at):
                return int(self.arrays[tensor][[self._value(p, values) for p in at]])  # type: ignore[arg-type]
            case Apply("add", args):
                return sum(self._value(a, values) for a in args)
            case Apply("mul", (a, b)):
                return self._value(a, values) * self._value(b, values)
            case Apply("neg", (a,)):
                return -self._value(a, values)
            case Apply("floordiv", (a, b)):
                return self._value(a, values) // self._value(b, values)
            case Apply("mod", (a, b)):
                return self._value(a, values) % self._value(b, values)
        raise AssertionError(e)


def random_case(rng: random.Random, *, symbolic: bool) -> Case:
    """A map of up to four loops into up to three axes."""
    rank = rng.randint(1, 4)
    sizes = tuple(rng.randint(1, 4) for _ in range(rank))
    extents: list[Scalar] = [Dim(n.upper()) if symbolic else Lit(k) for n, k in zip(NAMES, sizes, strict=False)]
    params = {"stride": rng.randint(1, 3), "skip": rng.choice([-2, -1, 1, 2])}
    arrays = {"w": noise(rng, sizes)}
    shape = tuple(rng.randint(1, 7) for _ in range(rng.randint(1, 3)))
    axes = [Axis(n, e) for n, e in zip(NAMES, extents, strict=False)]
    positions = []
    inputs = [Tensor("x", tuple(Lit(n) for n in shape)), Tensor("w", tuple(extents))]
    for k in range(len(shape)):
        terms: list[Scalar] = [Lit(rng.randint(-2, 3))]
        for a in axes:
            terms.append(_term(rng, Index(a.name), symbolic))
        if rng.random() < 0.2:
            a = rng.randrange(rank)
            inputs.append(Tensor(f"t{k}", (extents[a],), Kind.INT))
            arrays[f"t{k}"] = Array((sizes[a],), [rng.randint(-1, 4) for _ in range(sizes[a])])
            terms.append(mul(Lit(rng.choice([1, 1, 2, -1])), Read(f"t{k}", (Index(axes[a].name),))))
        positions.append(add(*(t for t in terms if t != ZERO)))
    arrays["x"] = noise(rng, shape)
    read = Read("x", tuple(positions), Lit(rng.choice([0, 2])))
    body = Apply("mul", (read, Read("w", tuple(Index(a.name) for a in axes))))
    dims = tuple(DimSource(n.upper(), "w", k) for k, n in enumerate(NAMES[:rank])) if symbolic else ()
    if symbolic:  # a stride that something is divided by is not zero
        dims = (*dims, DimSource("P", value=Apply("floordiv", (Dim("A"), Param("stride")))))
        dims = (*dims, DimSource("Q", value=Apply("floordiv", (Dim("A"), Param("skip")))))
    arguments = (Argument("stride", "int"), Argument("skip", "int"))
    s = Compute("y", tuple(axes), body)
    p = Program("op", tuple(inputs), arguments, dims, (s,), (Output("y", "y", s.shape),))
    return Case(verify(p), sizes, arrays, params)


def _term(rng: random.Random, i: Index, symbolic: bool) -> Scalar:
    kind = rng.random()
    if kind < 0.45:
        return ZERO
    coefficient = Lit(rng.choice([-3, -2, -1, 1, 1, 1, 2, 3]))
    if kind < 0.55:
        return mul(coefficient, Apply(rng.choice(["floordiv", "mod"]), (i, Lit(rng.randint(1, 3)))))
    if kind < 0.65 and symbolic:
        return mul(i, Param(rng.choice(["stride", "skip"])))
    return mul(coefficient, i)


def noise(rng: random.Random, shape: tuple[int, ...]) -> Array:
    total = 1
    for n in shape:
        total *= n
    return Array(shape, [rng.uniform(-1, 1) for _ in range(total)])


def check(case: Case, rng: random.Random) -> tuple[bool, bool]:
    """First and second derivatives equal brute force; tells whether they needed scatters."""
    backward = verify(adjoint(case.program))
    second = verify(adjoint(backward))
    (read,) = (r for r in _reads(case.program) if r.tensor == "x")
    fill = read.fill
    assert isinstance(fill, Lit)
    shape, sizes = case.arrays["x"].shape, case.sizes
    given = {**case.arrays, "grad_y": noise(rng, sizes), "grad_grad_x": noise(rng, shape)}
    given["grad_grad_w"] = noise(rng, sizes)
    want = {n: Array(given[of].shape, [0.0] * len(given[of].data)) for n, of in _RESULTS.items()}
    for k, point in enumerate(itertools.product(*map(range, sizes))):
        at = case.position(point)
        gy, w, ggw = (given[n].data[k] for n in ("grad_y", "w", "grad_grad_w"))
        x = fill.value if at is None else given["x"][at]
        want["grad_w"].data[k] = gy * x
        want["grad_grad_y"].data[k] = ggw * x
        if at is not None:
            m = want["grad_x"].offset(at)
            ggx = given["grad_grad_x"].data[m]
            want["grad_x"].data[m] += gy * w
            want["grad_x_1"].data[m] += ggw * gy
            want["grad_grad_y"].data[k] += w * ggx
            want["grad_w_1"].data[k] = gy * ggx
    first = run(backward, {t.name: given[t.name] for t in backward.inputs}, case.params)
    _equal(first["grad_x"], want["grad_x"])
    _equal(first["grad_w"], want["grad_w"])
    found = run(second, {t.name: given[t.name] for t in second.inputs}, case.params)
    for o in second.outputs:
        name = "grad_grad_y" if o.of == "grad_y" else f"grad_{o.of}_1"
        _equal(found[o.name], want[name])
    return _scatters(backward), _scatters(second)


_RESULTS = {"grad_x": "x", "grad_w": "w", "grad_grad_y": "grad_y", "grad_x_1": "x", "grad_w_1": "w"}


def _reads(p: Program) -> tuple[Read, ...]:
    (s,) = p.statements
    assert isinstance(s.body, Apply)
    return tuple(a for a in s.body.args if isinstance(a, Read))


def _scatters(p: Program) -> bool:
    return any(isinstance(s, Scatter) for s in p.statements)


def _equal(a: Array, b: Array) -> None:
    assert a.shape == b.shape
    assert all(abs(x - y) < 1e-9 for x, y in zip(a.data, b.data, strict=True)), (a, b)
