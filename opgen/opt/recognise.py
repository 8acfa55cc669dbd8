"""Reductions spelled out over several statements, recognised: logsumexp, softmax, log_softmax, norm, variance.

Each has an accurate form and a short derivative that its spelled-out form has not. A statement that is recognised gets
one new statement beside it; what it no longer needs is dropped later.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from opgen.diff.algebra import product, quotient, split_factors, total
from opgen.diff.contribution import rename
from opgen.diff.structure import Builder, count, extent, loops_of
from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Loop, Program, Statement, definitions, names
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import TWO, Apply, Batch, Index, Lit, Read, Scalar, call, sub, transform
from opgen.opt.patterns import terms_of

Log = list[tuple[str, str, str]]


def recognise(p: Program) -> tuple[Program, Log]:
    """The program with every such group replaced, and what was done: statement, rule, reason."""
    walk = _Walk(p)
    for s in p.statements:
        walk.step(s)
    return replace(p, statements=tuple(walk.builder.statements)), walk.log


class _Walk:
    def __init__(self, p: Program) -> None:
        self.builder = Builder(Names(names(p), first=1))
        self.stated = frozenset(s.target for s in definitions(p))
        self.made: dict[str, Compute] = {}
        self.log: Log = []

    def note(self, s: Statement, rule: str, reason: str) -> None:
        self.log.append((s.target, rule, reason))

    def step(self, s: Statement) -> None:
        if not isinstance(s, Compute):
            self.builder.statements.append(s)
            return
        changed = map_scalars(s, lambda e: transform(e, lambda n: self.rewrite(s, n)))
        assert isinstance(changed, Compute)
        done = self.shifted(self.variance(self.whole(changed)))
        self.made[done.target] = done
        self.builder.statements.append(done)

    # --- inside a body ---

    def rewrite(self, s: Compute, e: Scalar) -> Scalar:
        match e:
            case Apply("log", (Read() as r,)):
                return self.log_of(s, e, r)
            case Apply("sqrt", (Read() as r,)):
                return self.root_of(s, e, r)
            case Apply("pow", (Read() as r, Lit(value))) if value == Fraction(1, 2):
                return self.root_of(s, e, r)
            case Apply("exp", (Read() as r,)):
                return self.other(s, e, r, "log_softmax", "softmax", "exp of log_softmax")
            case Apply("div") | Apply("mul"):
                return self.quotient_of(s, e)
            case Apply("sub") | Apply("add"):
                return self.difference_of(s, e)
            case _:
                return e

    def beside(self, base: str, source: Compute, body: Scalar, op: str, over: tuple[Loop, ...]) -> str:
        """A new statement over the axes of another one."""
        r = self.builder.emit(base, source.axes, body, op, over)
        made = self.builder.statements[-1]
        assert isinstance(made, Compute)
        self.made[r.tensor] = made
        return r.tensor

    def log_of(self, s: Compute, e: Scalar, r: Read) -> Scalar:
        source = self.made.get(r.tensor)
        if source is not None and source.op in ("sum", "mean"):
            inner = self.exponent(source.body)
            if inner is not None:
                shift = "" if source.op == "sum" else " - log(n)"
                self.note(s, f"log({source.op}(exp(x))) -> logsumexp(x){shift}", "the exponentials overflow")
                made = replace(r, tensor=self.beside(f"lse_{r.tensor}", source, inner, "logsumexp", source.over))
                return sub(made, call("log", count(source.over))) if shift else made
        return self.other(s, e, r, "softmax", "log_softmax", "log of softmax")

    def other(self, s: Compute, e: Scalar, r: Read, op: str, wanted: str, name: str) -> Scalar:
        source = self.made.get(r.tensor)
        if source is None or source.op != op:
            return e
        self.note(s, f"{name} -> {wanted}", "the logarithm of an underflown value is lost")
        return replace(r, tensor=self.beside(f"{wanted}_{r.tensor}", source, source.body, wanted, source.over))

    def root_of(self, s: Compute, e: Scalar, r: Read) -> Scalar:
        source = self.made.get(r.tensor)
        if source is None or source.op != "sum":
            return e
        match source.body:
            case Apply("square", (inner,)):
                pass
            case Apply("pow", (inner, exponent)) if exponent == TWO:
                pass
            case Apply("mul", (inner, again)) if inner == again:
                pass
            case _:
                return e
        self.note(s, "sqrt(sum(x**2)) -> norm(x)", "the derivative is nan at 0")
        return replace(r, tensor=self.beside(f"norm_{r.tensor}", source, inner, "norm", source.over))

    def exponent(self, e: Scalar) -> Scalar | None:
        """`f` if the scalar is `exp(f)`, looking through a statement that holds it."""
        match e:
            case Apply("exp", (inner,)):
                return inner
            case Read(tensor, at):
                source = self.made.get(tensor)
                if source is None or source.op is not None or at != _renamed_positions(source, at):
                    return None
                match source.body:
                    case Apply("exp", (inner,)):
                        return _at(inner, source, e)
        return None

    def quotient_of(self, s: Compute, e: Scalar) -> Scalar:
        """`exp(f)/sum(exp(f))`."""
        top: list[Scalar] = []
        bottom: list[Scalar] = []
        coefficient = split_factors(e, top, bottom)
        for d in bottom:
            source = self.made.get(d.tensor) if isinstance(d, Read) else None
            summed = None if source is None or source.op != "sum" else self.exponent(source.body)
            if source is None or summed is None or not isinstance(d, Read):
                continue
            for t in top:
                inner = self.exponent(t)
                loops = None if inner is None else _same(summed, source, inner, d, s.loops)
                if inner is None or loops is None:
                    continue
                self.note(s, "exp(x)/sum(exp(x)) -> softmax(x)", "the exponentials overflow")
                name = self.softmax(s, d.tensor, inner, loops)
                top.remove(t)
                bottom.remove(d)
                return product(quotient(coefficient, top, bottom), name)
        return e

    def softmax(self, s: Compute, base: str, body: Scalar, over: tuple[Loop, ...]) -> Read:
        axes = tuple(a for a in s.loops if a in over or a in loops_of(body, s.loops))
        r = self.builder.emit(f"softmax_{base}", axes, body, "softmax", over)
        made = self.builder.statements[-1]
        assert isinstance(made, Compute)
        done = self.shifted(made)
        self.builder.statements[-1] = done
        self.made[r.tensor] = done
        return r

    def difference_of(self, s: Compute, e: Scalar) -> Scalar:
        """`f - logsumexp(f)`."""
        terms = terms_of(e)
        for t in terms:
            match t:
                case Apply("neg", (Read() as r,)):
                    source = self.made.get(r.tensor)
                case _:
                    continue
            if source is None or source.op != "logsumexp":
                continue
            rest = [x for x in terms if x is not t]
            for inner in ([total(rest)] if len(rest) > 1 else []) + rest:
                loops = _same(source.body, source, inner, r, s.loops)
                if loops is None:
                    continue
                self.note(s, "x - logsumexp(x) -> log_softmax(x)", "a shorter derivative")
                axes = tuple(a for a in s.loops if a in loops or a in loops_of(inner, s.loops))
                made = self.builder.emit(f"log_softmax_{r.tensor}", axes, inner, "log_softmax", loops)
                made_statement = self.builder.statements[-1]
                assert isinstance(made_statement, Compute)
                self.made[made.tensor] = made_statement
                left = [x for x in rest if x is not inner] if inner in rest else []
                return total([*left, made])
        return e

    # --- a whole statement -------------------------------------------------------------------------------------------

    def whole(self, s: Compute) -> Compute:
        """A map that only repeats an index operator made for it becomes that operator."""
        if s.op is None and isinstance(s.body, Read) and s.body.at == positions(s.axes):
            source = self.made.get(s.body.tensor)
            last = self.builder.statements[-1] if self.builder.statements else None
            if source is None or source.target in self.stated or source.op is None:
                return s
            if last is source and source.axes == s.axes:
                self.builder.statements.pop()
                del self.made[source.target]
                return replace(s, body=source.body, op=source.op, over=source.over)
        return s

    def variance(self, s: Compute) -> Compute:
        """`mean((x - mean(x))**2)`."""
        if s.op != "mean":
            return s
        match s.body:
            case Apply("square", (inner,)):
                pass
            case Apply("pow", (inner, exponent)) if exponent == TWO:
                pass
            case Apply("mul", (inner, again)) if inner == again:
                pass
            case _:
                return s
        value = self.centred(s, inner)
        if value is None:
            return s
        self.note(s, "mean((x - mean(x))**2) -> var(x)", "a shorter derivative")
        return replace(s, body=value, op="var")

    def centred(self, s: Compute, e: Scalar) -> Scalar | None:
        """`x` if the scalar is `x - mean(x)` over the loops of the statement."""
        if isinstance(e, Read):
            source = self.made.get(e.tensor)
            if source is None or source.op is not None or e.at != _renamed_positions(source, e.at):
                return None
            e = _at(source.body, source, e)
        match e:
            case Apply("sub", (x, Read() as m)):
                mean = self.made.get(m.tensor)
            case _:
                return None
        if mean is None or mean.op != "mean" or _same(mean.body, mean, x, m, s.loops) != s.over:
            return None
        return x

    def shifted(self, s: Compute) -> Compute:
        """A term that no normalised index touches has no influence on a softmax."""
        if s.op not in ("softmax", "log_softmax"):
            return s
        terms = terms_of(s.body)
        kept = [t for t in terms if any(a in s.over for a in loops_of(t, s.axes))]
        if not kept or len(kept) == len(terms):
            return s
        self.note(s, "softmax(x + c) -> softmax(x)", "the shift is done anyway")
        return replace(s, body=total(kept))


def _renamed_positions(source: Compute, at: tuple[Scalar | Batch, ...]) -> tuple[Scalar | Batch, ...] | None:
    """The positions themselves where they are distinct plain indices."""
    plain = all(isinstance(q, Index | Batch) for q in at) and len(dict.fromkeys(at)) == len(at)
    return at if plain and len(at) == len(source.axes) else None


def _at(e: Scalar, source: Compute, r: Read) -> Scalar:
    """A body of `source` in the index names of an access."""
    mapping = {
        a.name: q.name for a, q in zip(source.axes, r.at, strict=True) if isinstance(a, Axis) and isinstance(q, Index)
    }
    return rename(e, mapping)


def _same(summed: Scalar, source: Compute, e: Scalar, r: Read, loops: tuple[Loop, ...]) -> tuple[Loop, ...] | None:
    """The loops of a statement that stand for those `source` reduces, if `e` is what it reduces, at the access `r`."""
    if _renamed_positions(source, r.at) is None:
        return None
    kept = positions(source.axes)
    mapping = {p.name: q.name for p, q in zip(kept, r.at, strict=True) if isinstance(p, Index) and isinstance(q, Index)}
    outside = [a for a, q in zip(loops, positions(loops), strict=True) if q not in r.at]
    found: list[Loop] = []
    for a in source.over:
        match = next((b for b in outside if b not in found and extent(a) == extent(b)), None)
        if match is None:
            return None
        found.append(match)
        if isinstance(a, Axis) and isinstance(match, Axis):
            mapping[a.name] = match.name
    return tuple(found) if rename(summed, mapping) == e else None
