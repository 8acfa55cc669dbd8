"""The derived programs of a random spec, each with arguments and with what the interpreter makes of them."""

from __future__ import annotations

import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite, isnan, prod

from opgen.diagnostics.model import Bag, Severity, Source
from opgen.diff.adjoint import adjoint
from opgen.diff.laziness import GIVEN
from opgen.diff.tangent import tangent
from opgen.ir.interp import Array, run
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Chosen, Condition, Given, Kind, Program, Role
from opgen.ir.storage import STORED
from opgen.ir.verify import verify
from opgen.lower.operator import lower
from opgen.opt.affine import kept_sums, with_sums
from opgen.opt.derive import Derived, derive
from opgen.package.view import Surface
from opgen.schema.load import load
from tests.cuda.emulate import DTYPES, rounded
from tests.random_programs.specs import Case

STAGES = (
    "forward",
    "backward",
    "unused",
    "gradient",
    "source",
    "tangent",
    "second",
    "backward_tangent",
    "through_sums",
)
STEP = 1e-5
# Whose stated derivatives are not those of the values.
UNTRUE = ("detach", "surrogate", "override", "function heaviside")

Arrays = dict[str, Array]


@dataclass(frozen=True)
class Call:
    """A program of one variant with its arguments and results."""

    stage: str
    variant: Variant
    program: Program
    arrays: Arrays
    known: Arrays  # everything in reach, for arguments that only other variants need
    params: dict[str, object]
    expected: Arrays
    longer: list[Call] = field(default_factory=list)  # the same program, called with other sizes


@dataclass
class Checked:
    """What the interpreter has confirmed: the calls of every variant, and how much of it differences could judge."""

    case: Case
    surface: Surface
    calls: list[Call] = field(default_factory=list)
    confirmed: Counter[str] = field(default_factory=Counter)

    @property
    def operator(self) -> Operator:
        return self.surface.operator

    def of_stage(self, stage: str) -> list[Call]:
        return [c for c in self.calls if c.stage == stage]


def check(case: Case) -> Checked:
    """Lower and derive a spec, and confirm all of it in the interpreter."""
    bag = Bag()
    spec = load(Source("made.yaml", case.text), bag)
    operator = lower(spec, bag) if spec is not None else None
    mistakes = [d for d in bag.items if d.severity is Severity.ERROR]
    assert spec is not None, mistakes
    assert operator is not None, mistakes
    assert not mistakes, mistakes
    derived = derive(operator)
    done = Checked(case, Surface(operator, tuple(derived)))
    for d in derived:
        Called(done, d).check()
    return done


class Called:
    """One variant of a spec, called once."""

    def __init__(self, done: Checked, d: Derived) -> None:
        self.done, self.case, self.d = done, done.case, d
        self.primal = verify(d.variant.program)
        self.rng = random.Random(zlib.crc32(self.case.text.encode()))
        self.params = self._params()
        programs = (p for p in (d.backward, d.second, d.backward_tangent) if p is not None)
        self.params |= {a.name: [True] * (a.length or 0) for p in programs for a in p.params if a.name == GIVEN}
        self.known: Arrays = {t.name: self._input(t.name, t.kind) for t in self.primal.inputs}

    def _params(self) -> dict[str, object]:
        chosen = {c.name: c.value for c in self.d.variant.conditions if isinstance(c, Chosen)}
        missing = [c.name for c in self.d.variant.conditions if isinstance(c, Given) and not c.present]
        found = {k: v for k, v in {**self.case.values, **chosen}.items() if k not in missing}
        told = {a.name: a.tells for a in self.done.operator.params if a.tells is not None}
        return found | {n: self._holds(c) for n, c in told.items()}

    def _holds(self, c: Condition) -> bool:
        """Does a condition hold in the call, in which everything is given that is not missing in the variant?"""
        return c.present if isinstance(c, Given) else self.case.values.get(c.name, "slow") == c.value

    def _input(self, name: str, kind: Kind) -> Array:
        shape = self.case.shapes[name]
        rng = random.Random(zlib.crc32(f"{name}{self.case.text}".encode()))
        low, high = self.case.ranges.get(name, (0, 2))
        draw: Callable[[], float] = {
            Kind.FLOAT: lambda: single(rng.uniform(-1.4, 1.4)),
            Kind.INT: lambda: rng.randrange(low, high),
            Kind.BOOL: lambda: rng.random() < 0.5,
        }[kind]
        return Array(shape, [draw() for _ in range(prod(shape))])

    def noise(self, like: Array) -> Array:
        return Array(like.shape, [single(self.rng.uniform(-1, 1)) for _ in like.data])

    def run(self, p: Program) -> Arrays:
        return run(p, self.given(p), self.params)

    def given(self, p: Program) -> Arrays:
        """The arguments of a program; cotangents and tangents are drawn when they are first asked for."""
        for t in p.inputs:
            if t.name not in self.known:
                self.known[t.name] = self.noise(self.known[t.of])
        return {t.name: self.known[t.name] for t in p.inputs}

    def record(self, stage: str) -> Arrays | None:
        p = getattr(self.d, stage)
        if p is None:
            return None
        verify(p)
        found = self.run(p)
        self.done.calls.append(Call(stage, self.d.variant, p, self.given(p), self.known, self.params, found))
        return found

    def check(self) -> None:
        d = self.d
        plain = self.run(self.primal)
        self.known |= {n: v for n, v in plain.items() if n not in self.known}
        forward = self.record("forward")
        assert forward is not None
        same("the optimised program", forward, plain)
        if d.gradient is None or d.backward is None or d.source is None:
            return
        self.known |= _by_names(d.forward, forward)
        for t in (*d.backward.inputs, *d.source.inputs):
            if t.role is Role.SAVED:
                self.known.setdefault(t.name, self.known[t.of])
        backward = verify(adjoint(self.primal))
        want = self.run(backward)
        self.known |= {n: v for n, v in want.items() if n not in self.known}
        for stage in ("backward", "gradient", "source"):
            found = self.record(stage)
            assert found is not None
            same(f"the optimised {stage}", found, want)
        self._unused(backward)
        true = not any(m in self.done.case.marks for m in UNTRUE)
        self._sums()
        self._tangents(want)
        if true:
            self._differences("first order", self.primal, want, {o.name: o.of for o in backward.outputs})
        if d.second is None:
            return
        found = self.record("second")
        assert found is not None
        moved = self.record("backward_tangent")
        if true and moved is not None:
            self._differences("second order", d.source, found, {o.name: o.of for o in d.second.outputs})

    def record_all(self) -> None:
        """The calls of every stage, of a variant that is confirmed with other sizes."""
        self.known |= {n: v for n, v in self.run(self.primal).items() if n not in self.known}
        forward = self.record("forward")
        assert forward is not None
        self.known |= _by_names(self.d.forward, forward)
        for stage in STAGES:
            if stage not in ("forward", "unused"):
                found = self.record(stage) or {}
                self.known |= {n: v for n, v in found.items() if n not in self.known}

    def _unused(self, backward: Program) -> None:
        """One output that nobody uses has no cotangent, and contributes nothing whatever its slope is."""
        if self.d.backward is None or not any(a.name == GIVEN for a in self.d.backward.params):
            return
        outputs = [t.name for t in backward.inputs if t.role is Role.COTANGENT]
        names = [f"grad_{o.name}" for o in self.primal.outputs if o.kind is Kind.FLOAT and o.differentiable]
        unused = self.rng.choice([n for n in names if n in outputs] or names)
        zero = {unused: Array(self.known[unused].shape, [0.0] * len(self.known[unused].data))}
        params = {**self.params, GIVEN: [n != unused for n in names]}
        given = self.given(self.d.backward) | {n: a for n, a in zero.items() if unused in self.known}
        given = {t.name: given[t.name] for t in self.d.backward.inputs}
        found = run(self.d.backward, given, params)
        want = run(backward, {t.name: zero.get(t.name, self.known[t.name]) for t in backward.inputs}, self.params)
        if all(isfinite(v) for a in want.values() for v in a.data):
            same("with an output unused", found, want)
            self.done.confirmed["unused outputs"] += 1
        self.done.calls.append(Call("unused", self.d.variant, self.d.backward, given, self.known, params, found))

    def _sums(self) -> None:
        """Through sums of inputs that are kept in their place."""
        if self.d.through_sums is not None:
            sums = replace(with_sums(self.primal, self.d.forward), outputs=kept_sums(self.d.forward))
            want = self.run(verify(adjoint(sums, tuple(o.of for o in self.d.through_sums.outputs))))
            found = self.record("through_sums")
            assert found is not None
            same("through sums", found, want)
            self.done.confirmed["through sums"] += 1

    def _tangents(self, pulled: Arrays) -> None:
        """The dot-product test."""
        pushed = self.record("tangent")
        if pushed is None or self.d.tangent is None:
            return
        same("the optimised tangent", pushed, self.run(verify(tangent(with_sums(self.primal, self.d.forward)))))
        outputs = [o for o in self.d.tangent.outputs if f"grad_{o.of}" in self.known and not o.kept]
        left = [(pushed[o.name], self.known[f"grad_{o.of}"]) for o in outputs]
        moves = {t.of: self.known[t.name] for t in self.d.tangent.inputs if t.role is Role.TANGENT}
        right = [(g, moves[n.removeprefix("grad_")]) for n, g in pulled.items() if n.removeprefix("grad_") in moves]
        a, b = dot(left), dot(right)
        if isfinite(a) and isfinite(b):
            scale = sum(abs(x * y) for p, q in (*left, *right) for x, y in zip(p.data, q.data, strict=True))
            assert abs(a - b) <= 1e-9 * (1 + scale), f"<Jv, u> = {a}, <v, J'u> = {b}"
            self.done.confirmed["dot products"] += 1

    def _differences(self, what: str, p: Program, gradient: Arrays, of: Mapping[str, str]) -> None:
        """The gradient of weighted results along a random direction, against their slope; kinks are left out."""
        held = self.given(p)
        kept = [t.name for t in p.inputs if t.role is Role.SAVED]
        results = run(p, held, self.params)
        weights = {o.name: self.known[f"grad_{o.name}"] for o in p.outputs if f"grad_{o.name}" in self.known}
        outputs = [o.name for o in p.outputs if o.kind is Kind.FLOAT and o.differentiable and o.name in weights]
        moved = {of[n]: self.noise(held[of[n]]) for n in gradient if of[n] not in kept}

        def value(at: Arrays) -> float:
            found = run(p, at, self.params)
            return dot([(found[n], weights[n]) for n in outputs])

        points = [self._moved(p, moved, k * STEP) for k in (-2, -1, 1, 2)]
        for n in kept:
            ends = zip(*(a[n].data for a in points), strict=True)
            moved[n] = Array(held[n].shape, [_slope(list(e), STEP) for e in ends])
        here, ends = dot([(results[n], weights[n]) for n in outputs]), [value(a) for a in points]
        slope = _slope(ends, STEP)
        sides = ((here - ends[1]) / STEP, (ends[2] - here) / STEP)
        further = ((ends[1] - ends[0]) / STEP, (ends[3] - ends[2]) / STEP)
        found = dot([(gradient[n], moved[of[n]]) for n in gradient])
        size = 1 + abs(slope)
        bent = (
            abs(sides[1] - sides[0]) > 1e-3 * size
            or max(abs(a - b) for a, b in zip(sides, further, strict=True)) > 1e-3 * size
        )
        if not isfinite(found) or not isfinite(slope) or bent:
            self.done.confirmed[f"{what}: at a kink, or not finite"] += 1
            return
        scale = sum(abs(v) for n in outputs for v in results[n].data)
        assert abs(found - slope) <= 2e-5 * size + 1e-9 * scale, f"{what}: {found} where differences give {slope}"
        self.done.confirmed[what] += 1

    def _moved(self, p: Program, along: Arrays, step: float) -> Arrays:
        """The arguments of a program one step further; what is kept of the forward pass moves with its inputs."""
        held = {**self.given(p), **self.given(self.d.forward)}
        at = {n: _shifted(a, along[n], step) if n in along else a for n, a in held.items()}
        results = run(self.d.forward, {t.name: at[t.name] for t in self.d.forward.inputs}, self.params)
        at |= _by_names(self.d.forward, results)
        return {t.name: at[t.of if t.role is Role.SAVED else t.name] for t in p.inputs}


def _by_names(forward: Program, results: Arrays) -> Arrays:
    """Results as they are stored, and residuals by what they are the values of, too."""
    found: Arrays = {}
    for o in forward.outputs:
        dtype = STORED[o.dtype].torch if o.dtype else ""
        held = rounded(dtype, results[o.name]) if dtype in DTYPES else results[o.name]
        found |= {o.name: held, o.of or o.name: held}
    return found


def single(value: float) -> float:
    """Rounded to float32, so that every dtype starts from the same numbers."""
    (rounded,) = struct.unpack("f", struct.pack("f", value))
    assert isinstance(rounded, float)
    return rounded


def dot(pairs: list[tuple[Array, Array]]) -> float:
    return sum(x * y for a, b in pairs for x, y in zip(a.data, b.data, strict=True))


def _slope(ends: list[float], step: float) -> float:
    """The slope in the middle of values at -2, -1, 1 and 2 steps."""
    return (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12 * step)


def _shifted(a: Array, along: Array, step: float) -> Array:
    return Array(a.shape, [x + step * v for x, v in zip(a.data, along.data, strict=True)])


def same(what: str, found: Mapping[str, Array], want: Mapping[str, Array], tolerance: float = 1e-8) -> None:
    """Every wanted result is there, with its shape and values."""
    for name, expected in want.items():
        assert name in found, f"{what} has no {name}"
        a = found[name]
        assert a.shape == expected.shape, f"{what}: {name} has shape {a.shape}, not {expected.shape}"
        size = 1 + max((abs(v) for v in expected.data if isfinite(v)), default=0)
        pairs = enumerate(zip(a.data, expected.data, strict=True))
        wrong = [(k, x, y) for k, (x, y) in pairs if not near(x, y, tolerance * size)]
        assert not wrong, f"{what}: {name} differs (place, found, wanted): {wrong[:4]}"


def near(a: float, b: float, margin: float) -> bool:
    if isnan(a) or isnan(b):
        return isnan(a) and isnan(b)
    return a == b if inf in (abs(a), abs(b)) else abs(a - b) <= margin
