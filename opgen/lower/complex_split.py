"""Programs with complex tensors to programs of real ones: each complex tensor becomes its real and its imaginary part.

This is the last step of lowering, so everything after it (calculus, printing, plans) sees real programs only, and
torch's convention for gradients, dL/dRe + i dL/dIm, is what the real gradients of the two parts are. A complex operand
is two inputs and a complex result two outputs; the operator knows them as pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from opgen.diagnostics.model import Span
from opgen.ir.complex_functions import PARTS, modulus, product
from opgen.ir.complex_scalar import Held, Namer, Splitter, is_light
from opgen.ir.operator import Operator, Pair, Variant
from opgen.ir.point import positions
from opgen.ir.program import (
    Axis,
    Compute,
    Given,
    Kind,
    Loop,
    Output,
    Override,
    Program,
    Recurrence,
    Scatter,
    Statement,
    Tensor,
    definitions,
    names,
    parts,
    statement_scalars,
)
from opgen.ir.scalar import (
    ONE,
    ZERO,
    Apply,
    Batch,
    Index,
    Lit,
    Read,
    Scalar,
    add,
    both,
    call,
    mentions,
    sub,
    walk,
    where,
)
from opgen.lower.lazy import risky

GRADIENT = "grad_"
_ALWAYS = Lit(True)


def split_operator(o: Operator) -> Operator:
    """The operator with real programs. An output that is complex in one variant is complex in all."""
    if not any(_has_complex(v.program) for v in o.variants):
        return o
    taken = {n for v in o.variants for n in names(v.program)} | {t.name for t in o.inputs}
    found = {t.name: t for t in o.inputs if t.kind is Kind.COMPLEX}
    kinds = [out for v in o.variants for out in v.program.outputs]
    wanted = dict.fromkeys((*found, *(out.name for out in kinds if out.kind is Kind.COMPLEX)))
    pairs = tuple(Pair(n, _free(f"{n}_real", taken), _free(f"{n}_imag", taken)) for n in wanted)
    by_name = {p.name: p for p in pairs}
    variants = tuple(
        Variant(
            tuple(replace(c, name=by_name[c.name].real) if isinstance(c, Given) and c.name in by_name else c
                  for c in v.conditions),
            _Split(v.program, by_name, set(taken)).program(),
        )
        for v in o.variants
    )  # fmt: skip
    inputs = tuple(half for t in o.inputs for half in _halves(t, by_name))
    optional = tuple(h for n in o.optional for h in _names_of(n, by_name))
    outputs = tuple(h for n in o.outputs for h in _names_of(n, by_name))
    return replace(o, inputs=inputs, optional=optional, outputs=outputs, variants=variants, pairs=pairs)


def _has_complex(p: Program) -> bool:
    if any(t.kind is Kind.COMPLEX for t in p.inputs):
        return True
    every = (*definitions(p), *parts(p.override.statements))
    scalars = (e for s in every for e in statement_scalars(s))
    return any(isinstance(n, Apply) and n.fn in PARTS for e in scalars for n in walk(e))


def _free(wish: str, taken: set[str]) -> str:
    name, n = wish, 1
    while name in taken:
        n += 1
        name = f"{wish}_{n}"
    taken.add(name)
    return name


def _names_of(name: str, pairs: dict[str, Pair]) -> tuple[str, ...]:
    found = pairs.get(name)
    return (name,) if found is None else (found.real, found.imag)


def _halves(t: Tensor, pairs: dict[str, Pair]) -> Iterator[Tensor]:
    if t.kind is not Kind.COMPLEX:
        yield t
        return
    for name in _names_of(t.name, pairs):
        yield replace(t, name=name, kind=Kind.FLOAT)


@dataclass(slots=True)
class _Naming(Namer):
    """Names parts of a statement by statements before it, over the loops that they need."""

    target: str
    loops: tuple[Loop, ...]
    taken: set[str]
    made: list[Compute]
    span: Span | None
    path: Scalar = _ALWAYS

    def __call__(self, label: str, e: Scalar) -> Scalar:
        if is_light(e):
            return e
        body = where(self.path, e, ZERO) if risky(e) else e
        found, batch = mentions(body)
        axes = tuple(a for a in self.loops if (batch if isinstance(a, Batch) else a.name in found))
        for s in self.made:
            if s.body == body and s.axes == axes:
                return Read(s.target, positions(axes))
        name = _free(f"{self.target}_{label}", self.taken)
        self.made.append(Compute(name, axes, body, span=self.span))
        return Read(name, positions(axes))

    def under(self, condition: Scalar) -> Namer:
        return replace(self, path=both(self.path, condition))


class _Split:
    """One program on its way; `held` says where the complex tensors known so far are."""

    def __init__(self, p: Program, pairs: dict[str, Pair], taken: set[str]) -> None:
        self.p, self.pairs, self.taken = p, pairs, taken
        self.held: dict[str, Held] = {}

    def program(self) -> Program:
        p = self.p
        for t in p.inputs:
            if t.kind is Kind.COMPLEX:
                self.held[t.name] = Held(self.pairs[t.name].real, self.pairs[t.name].imag)
        statements = tuple(made for s in p.statements for made in self._statement(s))
        outputs = tuple(half for o in p.outputs for half in self._output(o))
        dims = tuple(
            replace(d, tensor=_names_of(d.tensor, self.pairs)[0]) if d.tensor is not None else d for d in p.dims
        )
        inputs = tuple(half for t in p.inputs for half in _halves(t, self.pairs))
        override = self._override()
        return replace(p, inputs=inputs, dims=dims, statements=statements, outputs=outputs, override=override)

    def _output(self, o: Output) -> Iterator[Output]:
        if o.name not in self.pairs:
            yield o
            return
        held = self.held[o.value]
        for name, value in zip(_names_of(o.name, self.pairs), (held.re, held.im), strict=True):
            yield replace(o, name=name, value=value, kind=Kind.FLOAT, differentiable=o.differentiable)

    def _override(self) -> Override:
        if not self.p.override.inputs:
            return self.p.override
        for o in self.p.outputs:
            if o.name in self.pairs:
                pair = self.pairs[o.name]
                real = o.kind is not Kind.COMPLEX
                self.held[GRADIENT + o.name] = Held(GRADIENT + pair.real, GRADIENT + pair.imag, real)
        statements = tuple(made for s in self.p.override.statements for made in self._statement(s))
        stated = zip(self.p.override.inputs, self.p.override.shapes, strict=True)
        found = [(half, shape) for n, shape in stated for half in _names_of(n, self.pairs)]
        return Override(tuple(n for n, _ in found), statements, tuple(shape for _, shape in found))

    # --- statements --------------------------------------------------------------------------------------------------

    def _hold(self, s: Compute | Scatter) -> Held | None:
        """Where the parts of a target go; None for a real one."""
        name = s.target
        of = name.removeprefix(GRADIENT) if name.startswith(GRADIENT) else ""
        if name in self.pairs:
            pair = self.pairs[name]
            self.held[name] = Held(pair.real, pair.imag, s.kind is not Kind.COMPLEX)
        elif s.kind is Kind.COMPLEX and of in self.pairs:
            self.held[name] = Held(GRADIENT + self.pairs[of].real, GRADIENT + self.pairs[of].imag)
        elif s.kind is Kind.COMPLEX:
            self.held[name] = Held(_free(f"{name}_real", self.taken), _free(f"{name}_imag", self.taken))
        else:
            return None
        return self.held[name]

    def _statement(self, s: Statement) -> Iterator[Statement]:
        match s:
            case Recurrence():
                held = {step.target: self._hold(step) for step in s.steps}
                steps = [made for step in s.steps for made in self._step(step, held[step.target])]
                yield replace(s, steps=tuple(steps))
            case Compute():
                naming = _Naming(s.target, s.loops, self.taken, [], s.span)
                made = list(self._compute(s, self._hold(s), naming))
                yield from naming.made
                yield from made
            case Scatter():
                yield from self._scatter(s, self._hold(s))

    def _step(self, s: Compute, held: Held | None) -> Iterator[Compute]:
        """A step of a recurrence: nothing is named, because all of it is repeated."""
        for made in self._compute(s, held, Namer()):
            assert isinstance(made, Compute)
            yield made

    def _compute(self, s: Compute, held: Held | None, naming: Namer) -> Iterator[Statement]:
        body, other = Splitter(self.held, naming).split(s.body)
        if other is not None and s.op in ("prod", "cumprod"):
            assert held is not None
            yield from self._running_product(s, (body, other), held)
            return
        if other is not None and s.op in ("norm", "var"):
            yield from self._parts_reduced(s, (body, other), held)
            return
        if held is None:
            assert other is None
            yield replace(s, body=body)
            return
        for name, e in ((held.re, body), (held.im, other)):
            op, over = (None, ()) if e is None else (s.op, s.over)
            yield replace(s, target=name, body=ZERO if e is None else e, op=op, over=over, kind=Kind.FLOAT)

    def _parts_reduced(self, s: Compute, body: tuple[Scalar, Scalar], held: Held | None) -> Iterator[Compute]:
        """`norm` and `var` of complex numbers are real, and put together from those of the parts."""
        targets = [_free(f"{s.target}_{label}", self.taken) for label in ("real", "imag")]
        for name, e in zip(targets, body, strict=True):
            yield replace(s, target=name, body=e, kind=Kind.FLOAT)
        a, b = (Read(name, positions(s.axes)) for name in targets)
        whole = modulus(a, b) if s.op == "norm" else add(a, b)
        yield replace(s, target=s.target if held is None else held.re, body=whole, op=None, over=(), kind=Kind.FLOAT)
        if held is not None:
            yield replace(s, target=held.im, body=ZERO, op=None, over=(), kind=Kind.FLOAT)

    def _running_product(self, s: Compute, body: tuple[Scalar, Scalar], held: Held) -> Iterator[Statement]:
        """A product over one index runs along it, so that its gradient is exact with zeros."""
        (along,) = s.over
        assert isinstance(along, Axis)
        kept = s.op == "cumprod"
        axes = s.axes if kept else (*s.axes, along)
        factor = [_free(f"{s.target}_factor_{label}", self.taken) for label in ("real", "imag")]
        for name, e in zip(factor, body, strict=True):
            yield Compute(name, axes, e, span=s.span)
        run = [held.re, held.im]
        if not kept:
            run = [_free(f"{s.target}_product_{label}", self.taken) for label in ("real", "imag")]
        k = Index(along.name)
        before = tuple(sub(k, ONE) if a == along else p for a, p in zip(axes, positions(axes), strict=True))
        now = tuple(Read(name, positions(axes)) for name in factor)
        grown = product(Read(run[0], before), Read(run[1], before), *now)
        first = call("eq", k, ZERO)
        steps = tuple(
            Compute(name, axes, where(first, n, g), span=s.span) for name, n, g in zip(run, now, grown, strict=True)
        )
        yield Recurrence(along, steps, span=s.span)
        if kept:
            return
        last = (*positions(s.axes), sub(along.extent, ONE))
        there = Lit(along.extent.value > 0) if isinstance(along.extent, Lit) else call("gt", along.extent, ZERO)
        for name, source, empty in zip((held.re, held.im), run, (ONE, ZERO), strict=True):
            yield Compute(name, s.axes, where(there, Read(source, last), empty), span=s.span)

    def _scatter(self, s: Scatter, held: Held | None) -> Iterator[Statement]:
        naming = _Naming(s.target, s.loops, self.taken, [], s.span)
        body, other = Splitter(self.held, naming).split(s.body)
        plain = Splitter(self.held, Namer())
        at = tuple(p if isinstance(p, Batch) else plain.real(p) for p in s.at)
        base, base_other = plain.split(s.base)
        yield from naming.made
        if held is None:
            yield replace(s, at=at, body=body, base=base)
            return
        for name, e, start in ((held.re, body, base), (held.im, other, base_other)):
            yield replace(s, target=name, at=at, body=e or ZERO, base=start or ZERO, kind=Kind.FLOAT)
