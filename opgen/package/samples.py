"""Sample inputs for generated tests: which sizes, which ranges, which params, and what must come out of them.

In: a resolved operator. Out: one `SampleCase` per variant (and one with other params), its expected values computed by
the reference interpreter, so that a generated test compares kernels with plain loops. The values of an input are point
`i` of a fixed low-discrepancy sequence; `templates/testing.py.j2` makes the same numbers with the same arithmetic.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from opgen.ir.declared import StatedCase
from opgen.ir.interp import Array, run
from opgen.ir.operator import Flags, Operator, Pair, Variant
from opgen.ir.program import (
    Argument,
    Chosen,
    Condition,
    Given,
    Kind,
    Program,
    Tensor,
    statement_scalars,
)
from opgen.ir.scalar import ZERO, Apply, Batch, Const, Dim, Index, Param, Read, Scalar, walk
from opgen.ir.storage import STORED
from opgen.opt.derive import Derived, derive_variant
from opgen.package.sample_arrays import InputSample, joined_results, stated_sample
from opgen.package.sample_kinks import at_kink
from opgen.package.sample_numbers import check_domains, check_sizes, default_value, number
from opgen.package.sample_places import by_sizes, crowded, index_range, places
from opgen.package.sample_values import conjuncts, finite, inside, is_known, stand_in

# The first sizes tell dims apart; the later ones are for formulas that need even, equal, larger or odd dims.
_ODD = (3, 5, 7)
_SIZES = ((3, 4, 2, 5), (4, 6, 2, 8), (4,), (6,), (8,), (12,), _ODD)
_RANGES = ((-2.0, 2.0), (0.1, 2.0), (-0.9, 0.9), (1.1, 3.0), (0.05, 0.95))
_NUMBERS = (2, 1, 3, 0, 4)  # int params that have to be stated, the most telling first
_ATTEMPTS = 80
_PLAIN = StatedCase()
_MISFITS = (IndexError, ValueError, ZeroDivisionError, OverflowError)  # what sizes that do not fit lead to


@dataclass(frozen=True, slots=True)
class SampleCase:
    """One call: a sample per input of the operator (None: absent), the params to state, and the results.

    `sizes` are those of all dims of the variant, derived ones included. With `pinned`, inputs have values that the spec
    chose, perhaps where finite differences do not apply.
    """

    name: str
    variant: Variant
    sizes: tuple[tuple[str, int], ...]
    inputs: tuple[tuple[str, InputSample | None], ...]
    params: tuple[tuple[str, object], ...]
    expected: tuple[Array, ...]  # none where a function of another library takes part whose value is not known
    gradients: tuple[Array, ...]
    second: tuple[Array, ...] = ()
    pinned: bool = False
    stated: StatedCase = _PLAIN


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One choice of sizes, of the numbers that int params get, and of the range of values."""

    sizes: tuple[int, ...]
    numbers: Mapping[str, int]
    low: float
    high: float


class Chooser:
    """Chooses the samples of one variant."""

    def __init__(self, operator: Operator, derived: Derived, *, stated: bool, case: StatedCase = _PLAIN) -> None:
        self.operator, self.variant, self.derived = operator, derived.variant, derived
        self.stated, self.pinned = case, bool(case.inputs)
        self.known = stated or self.pinned  # gradients are written down
        self.program = stand_in(derived.variant.program)
        self.sizes = self._dim_sizes(_SIZES[0])
        self.numbers: Mapping[str, int] = {}
        self.misfits: dict[str, None] = {}  # why there is no call with sizes and values that were tried
        self.turned = self.kinked = False
        self.places = places(self.program)
        self.parts = {p.name: p.real for p in operator.pairs}
        named = any(not isinstance(s, Batch) for t in operator.inputs for s in t.shape)
        self.batch = case.batch if case.batch is not None else (2,) if named else (2, 3)

    def _stated_sizes(self) -> dict[str, int]:
        return dict(self.operator.tests.sizes) | dict(self.stated.sizes)

    def _dim_sizes(self, wanted: tuple[int, ...]) -> dict[str, int]:
        chosen = self._stated_sizes()
        derived = {d.name for d in self.program.dims if d.value is not None}
        sizes = itertools.cycle(wanted)
        for t in self.operator.inputs:
            for s in t.shape:
                if isinstance(s, Dim) and s.name not in chosen and s.name not in derived:
                    chosen[s.name] = next(sizes)
        return chosen

    def other(self) -> SampleCase | None:
        """The case in which what a call decides is decided the other way: what may be missing is, bools are turned."""
        self.turned = True
        return self.case(name="other settings")

    def case(self, *, moved: bool = False, name: str = "") -> SampleCase | None:
        """The first attempt whose results are finite and lie at no kink, else the first that has results."""
        fallback = None
        outside: set[Hashable] = set()  # sizes with which something is read that is not there, whatever the values
        for attempt in itertools.islice(self._attempts(moved=moved), _ATTEMPTS):
            sizes = attempt.sizes, *attempt.numbers.items()
            if sizes in outside:
                continue
            try:
                found = self._case(attempt, moved=moved, name=name)
            except _MISFITS as error:
                self.misfits[str(error)] = None
                if isinstance(error, IndexError) and by_sizes(self.program):
                    outside.add(sizes)
                continue
            if self.pinned or (all(map(finite, found.expected)) and not self.kinked):
                return found
            fallback = fallback or found
        return fallback

    def _attempts(self, *, moved: bool) -> Iterator[_Attempt]:
        """From the most telling attempt to the tamest: ranges vary first, then numbers, then sizes."""
        stated = [a for a in self.operator.params if a.type == "int" and a.name in self._params(moved=moved)]
        choices = [self._candidates(a) for a in stated]
        ranked = sorted(itertools.product(*(range(len(c)) for c in choices)), key=sum)
        for sizes in _SIZES:
            for ranks in ranked[:12]:
                numbers = {a.name: c[k] for a, c, k in zip(stated, choices, ranks, strict=True)}
                for low, high in _RANGES:
                    yield _Attempt(sizes, numbers, low, high)

    def _case(self, attempt: _Attempt, *, moved: bool, name: str) -> SampleCase:
        self.sizes, self.numbers = self._dim_sizes(attempt.sizes), attempt.numbers
        params = self._params(moved=moved)
        values = self._values(params)
        check_domains(self.operator, self.stated, lambda e, given: self._number(e, {**values, **given}))
        if not self.pinned:
            self._make_room(values, divides=attempt.sizes != _ODD)
        check_sizes(self.program.dims, self.operator, self._stated_sizes(), lambda e: self._number(e, values))
        inputs = self._inputs(values, attempt.low, attempt.high)
        arrays: dict[str, Array] = self._filled(inputs, values)
        for s in inputs.values():
            arrays |= {} if s is None else s.arrays(self.operator.pairs)
        # at a pinned value, only the stable form of the formula may be exact
        results = run(self.derived.forward if self.pinned else self.program, arrays, values)
        self.kinked = not self.pinned and at_kink(self.program, arrays, values)
        expected: tuple[Array, ...] = ()
        gradients: tuple[Array, ...] = ()
        second: tuple[Array, ...] = ()
        if is_known(self.variant.program):
            expected = joined_results(self.operator.pairs, {o.name: results[o.name] for o in self.program.outputs})
            missing = [n for n, s in inputs.items() if s is None]
            gradients = self._gradients(self.derived.gradient, arrays, values, results, missing) if self.known else ()
            second = self._gradients(self._second(), arrays, values, results) if self.pinned else ()
        conditions = [_condition(c, self.operator.pairs) for c in self.variant.conditions]
        labels = [name, *conditions, "other params" if moved else ""]
        stated = tuple((a.name, params[a.name]) for a in self.operator.params if a.name in params)
        sizes = tuple((d.name, int(self._number(Dim(d.name), values))) for d in self.program.dims)
        label = ", ".join(filter(None, labels)) or "plain"
        given = tuple(inputs.items())
        return SampleCase(
            label, self.variant, sizes, given, stated, expected, gradients, second, self.pinned, self.stated
        )

    def resized(
        self, case: SampleCase, sizes: Mapping[str, int], batch: tuple[int, ...], params: Mapping[str, object]
    ) -> SampleCase:
        """The same call with other sizes of dims and of the batch, and some params other; no results are computed."""
        self.sizes, self.batch = dict(sizes), batch
        stated = dict(case.params) | dict(params)
        values = self._values(stated)
        inputs: list[tuple[str, InputSample | None]] = []
        for t, (name, old) in zip(self.operator.operands, case.inputs, strict=True):
            new = None if old is None else self._input(t, values, old.low, old.high, old.salt)
            inputs.append((name, None if old is None or new is None else replace(new, low=old.low)))
        found = tuple((d.name, int(self._number(Dim(d.name), values))) for d in self.program.dims)
        return SampleCase(case.name, case.variant, found, tuple(inputs), tuple(stated.items()), (), ())

    def _values(self, params: Mapping[str, object]) -> dict[str, object]:
        """The params of a call that states these, and what the call tells."""
        values = {a.name: params.get(a.name, default_value(a)) for a in self.operator.params}
        values = {k: v for k, v in values.items() if v is not None}
        return values | {a.name: self._told(a.tells, values) for a in self.operator.params if a.tells is not None}

    def _second(self) -> Program | None:
        """The second order with respect to the inputs."""
        if self.derived.source == self.derived.gradient or self.derived.second is None:
            return self.derived.second
        return derive_variant(self.variant, Flags(self.operator.flags.exact, save=())).second

    def _make_room(self, values: Mapping[str, object], *, divides: bool) -> None:
        """Enlarge sizes until places are apart, derived dims are more than one element and, where that is wanted, dims
        are divided evenly."""
        fixed = self._stated_sizes()
        for name, count in crowded(self.program).items():
            if name in self.sizes and name not in fixed:
                self.sizes[name] = max(self.sizes[name], count)
        for _ in range(8):
            if divides:
                self._make_divisible(values, fixed)
            small = next(
                (d.value for d in self.program.dims if d.value is not None and self._number(d.value, values) < 2), None
            )
            dims = [n.name for n in walk(small or ZERO) if isinstance(n, Dim) and n.name in self.sizes]
            first = next((n for n in dims if n not in fixed), None)
            if first is None:
                break
            self.sizes[first] += 2

    def _make_divisible(self, values: Mapping[str, object], fixed: Container[str]) -> None:
        derived = [d.value for d in self.program.dims if d.value is not None]
        bodies = [e for s in self.program.statements for e in statement_scalars(s)]
        for node in (n for e in (*derived, *bodies) for n in walk(e)):
            match node:
                case Apply("floordiv", (Dim(name), by)) if name in self.sizes and name not in fixed and _steady(by):
                    step = int(self._number(by, values))
                    self.sizes[name] = max(1, -(-self.sizes[name] // step)) * step if step > 0 else self.sizes[name]

    def _params(self, *, moved: bool) -> dict[str, object]:
        """Values of the params to state: those of the variant, required ones, and moved ones."""
        chosen: dict[str, object] = {}
        conditions = {c.name: c for c in self.variant.conditions}
        for a in self.operator.stated:
            match conditions.get(a.name):
                case Chosen(value=value):
                    chosen[a.name] = value
                case Given(present=True):
                    chosen[a.name] = self._sampled(a)
                case Given(present=False):
                    pass
                case None if self.turned and a.type == "bool" and a.length is None and not a.null:
                    chosen[a.name] = not default_value(a)
                case None if self.turned and a.choices:
                    chosen[a.name] = next((c for c in a.choices[::-1] if c != a.default), a.choices[0])
                case None:
                    unusable = a.required or a.default == Const("nan")
                    if unusable or (moved and not a.choices and a.type != "bool" and not a.null):
                        chosen[a.name] = self._sampled(a)
        return chosen | {n: v for n, v in self.stated.params if v is not None}

    def _sampled(self, a: Argument) -> object:
        low, high = self._bounds(a.name, {})
        match a.type:
            case "str":
                return a.choices[0]
            case "bool":
                return True
            case "int":
                one: object = self.numbers.get(a.name, 1)
            case _:
                one = self._sampled_float(a, low, high)
        return one if a.length is None else [one] * a.length

    def _candidates(self, a: Argument) -> list[int]:
        """Numbers to try for an int param: inside its domain, away from its default."""
        domain, default = self.operator.domain(a.name), default_value(a)
        low, _ = self._bounds(a.name, {})
        wanted = (*_NUMBERS, *([math.ceil(low) + 1] if math.isfinite(low) else []))
        fine = [n for n in dict.fromkeys(wanted) if domain is None or self._number(domain.holds, {a.name: n})]
        return [n for n in fine if n != default] or fine or [1]

    def _sampled_float(self, a: Argument, low: float, high: float) -> float:
        default = default_value(a)
        wanted = 0.75 * default + 0.1 if isinstance(default, int | float) and math.isfinite(default) else 0.75
        if low < wanted < high:
            return round(wanted, 6)
        if math.isfinite(low) and math.isfinite(high):
            return round(low + 0.3 * (high - low), 6)
        return round(low + 0.75, 6) if math.isfinite(low) else round(high - 0.75, 6)

    def _inputs(self, values: Mapping[str, object], low: float, high: float) -> dict[str, InputSample | None]:
        stated = dict(self.stated.inputs)
        present = {t.name for t in self.program.inputs}
        present -= {f.name for f in self.operator.fills if self.turned or (f.name in stated and stated[f.name] is None)}
        samples: dict[str, InputSample | None] = {}
        for salt, t in enumerate(self.operator.operands):
            there = self.parts.get(t.name, t.name) in present
            samples[t.name] = self._input(t, values, low, high, salt) if there else None
        return samples

    def _told(self, c: Condition, values: Mapping[str, object]) -> bool:
        """Whether a condition holds in the call."""
        if isinstance(c, Chosen):
            return values.get(c.name) == c.value
        return not self.turned and dict(self.stated.inputs).get(c.name, c) is not None

    def _filled(self, inputs: Mapping[str, InputSample | None], values: Mapping[str, object]) -> dict[str, Array]:
        """What programs read in place of inputs that are missing."""
        found: dict[str, Array] = {}
        for f in self.operator.fills:
            if inputs[f.name] is None:
                t = next(t for t in self.operator.inputs if t.name == f.name)
                shape = tuple(int(self._number(s, values)) for s in t.shape if not isinstance(s, Batch))
                value = self._number(f.value, {})
                number = bool(value) if t.kind is Kind.BOOL else int(value) if t.kind is Kind.INT else value
                found[f.name] = Array(shape, [number] * math.prod(shape))
        return found

    def _input(self, t: Tensor, values: Mapping[str, object], low: float, high: float, salt: int) -> InputSample:
        shape: list[int | tuple[int, ...]] = []
        for s in t.shape:
            shape.append(self.batch if isinstance(s, Batch) else int(self._number(s, values)))
        pinned = dict(self.stated.inputs).get(t.name)
        stored = dict(self.operator.stored).get(t.name, "")
        dtype = stored if stored and STORED[stored].quantised else ""
        if pinned is not None:
            return replace(stated_sample(t, pinned), dtype=dtype)
        lowest, highest = self._bounds(t.name, values)
        if t.kind is Kind.INT:
            lowest = int(low > 1) if lowest == -math.inf else lowest  # divisors are not zero
            if highest == math.inf:
                highest = index_range(self.program, t.name, lambda e: int(self._number(e, values)))
        elif self.operator.domain(t.name) is not None:
            width = highest - lowest
            lowest, highest = inside(lowest, highest, width)
        else:
            lowest, highest = low, high
        sample = InputSample(t.name, tuple(shape), t.kind, lowest, highest, salt, dtype=dtype)
        return self._apart(sample) if t.name in self.places else sample

    def _apart(self, s: InputSample) -> InputSample:
        """The places that one point needs at once, none of them twice."""
        found = self.places[s.name]
        salt = next(k for k, t in enumerate(self.operator.operands) if t.name == found.first)
        return replace(s, salt=salt, apart=found.axis, shift=found.shift)

    def _gradients(
        self,
        derivative: Program | None,
        arrays: Mapping[str, Array],
        values: Mapping[str, object],
        results: Mapping[str, Array],
        missing: Sequence[str] = (),
    ) -> tuple[Array, ...]:
        """What a derived program gives for the cotangents that the tests use, for every input that has a gradient."""
        if derivative is None:
            return ()
        given = dict(arrays)
        pairs = self.operator.pairs
        first = [Pair(p.name, f"grad_{p.real}", f"grad_{p.imag}") for p in pairs]
        whole = [*first, *(Pair(p.name, f"grad_{p.real}", f"grad_{p.imag}") for p in first)]
        names = {part: p.name for p in whole for part in (p.real, p.imag)}
        for t in derivative.inputs:
            if t.name not in given:
                shape = results[t.of].shape if t.of in results else arrays[t.of.removeprefix("grad_")].shape
                salt = 11 if t.of in results else 13
                mine = [p for p in whole if t.name in (p.real, p.imag)]
                given |= InputSample(names.get(t.name, t.name), shape, Kind.FLOAT, -1.0, 1.0, salt).arrays(mine)
        found = run(derivative, {t.name: given[t.name] for t in derivative.inputs}, values)
        of_input = {o.of: found[o.name] for o in derivative.outputs}
        wanted = [t.name for t in self.program.inputs if t.kind is Kind.FLOAT and t.differentiable]
        wanted = [n for n in wanted if n not in missing]
        zeros = {n: Array(arrays[n].shape, [0.0] * len(arrays[n].data)) for n in wanted}
        return joined_results(pairs, {n: of_input.get(n, zeros[n]) for n in wanted})

    def _bounds(self, name: str, values: Mapping[str, object]) -> tuple[float, float]:
        """The interval that a domain states for a name."""
        low, high, domain = -math.inf, math.inf, self.operator.domain(name)
        for part in conjuncts(domain.holds) if domain is not None else ():
            match part:
                case Apply("lt" | "le", (a, Param(found))) | Apply("gt" | "ge", (Param(found), a)) if found == name:
                    low = max(low, self._number(a, values))
                case Apply("lt" | "le", (Param(found), a)) | Apply("gt" | "ge", (a, Param(found))) if found == name:
                    high = min(high, self._number(a, values))
        return low, high

    def _number(self, e: Scalar, values: Mapping[str, object]) -> float:
        return number(e, values, self.sizes, self.program.dims, self.operator.params)


def _steady(e: Scalar) -> bool:
    """Whether an expression is made of params, dims and literals."""
    return not any(isinstance(n, Index | Read) for n in walk(e))


def _condition(c: Given | Chosen, pairs: Sequence[Pair]) -> str:
    match c:
        case Given(name, present):
            name = next((p.name for p in pairs if p.real == name), name)
            return name if present else f"no {name}"
        case Chosen(name, value):
            return f"{name}={value}"
