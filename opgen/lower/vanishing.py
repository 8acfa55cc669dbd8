"""Results that are lost wherever an optional input is missing, because it is a factor that is read as 0: a warning.

A result is lost if it is 0, or if nothing is left in it of an input that every call passes: what is added stays; or if
all of it is moved as far as `1e9*(1 - mask)` moves what a mask hides. In: what is declared, and the variants. A spec
that names the case, by `absent` or by `given(w)`, means what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.ir import text
from opgen.ir.operator import Variant
from opgen.ir.program import (
    Compute,
    Given,
    Kind,
    Program,
    Recurrence,
    Scatter,
    Statement,
    statement_reads,
    statement_scalars,
    targets,
)
from opgen.ir.scalar import INF, NEG_INF, ZERO, Apply, Dim, Lit, Read, Scalar, children, reads, walk
from opgen.lang.nodes import Binder, Call, Name
from opgen.lang.walk import nodes
from opgen.lower.declare import Declarations

_ZERO, _UNSURE, _NAN = "0 everywhere", "0 wherever it is a number", "nan everywhere, 0/0"
_KEEPING = (None, "sum", "mean", "max", "min", "count")  # what reduces zeros to 0
_FACTORS = ("float", "complex")
_FEW = 2  # so many inputs are told by name
_FAR = 10_000  # so far is moved what a mask hides
_HOMOGENEOUS = ("neg", "abs", "square", "sqrt", "sin", "tan", "tanh", "relu", "expm1", "log1p", "cast")


def vanishing(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each optional input without which all that depends on another input is lost."""
    formulas = [e for s in d.forward for e in (s.value, s.guard) if e is not None]
    asked = [c for e in formulas for c in nodes(e) if isinstance(c, Call) and c.name == "given"]
    named = {a.name for c in asked for a in c.args if isinstance(a, Name)}
    zero = {v.conditions: _zeros(v.program) for v in variants}
    infinite = {v.conditions: _infinite(v.program) for v in variants}
    programs = {v.conditions: v.program for v in variants}
    for name, t in d.inputs.items():
        if not t.optional or t.absent is not None or name in named:
            continue
        there, missing = Given(name, present=True), Given(name, present=False)
        for v in variants:
            whole = tuple(there if c == missing else c for c in v.conditions)
            alone = all(c == missing or c.present for c in v.conditions if isinstance(c, Given))
            if missing not in v.conditions or whole not in zero or not alone:
                continue
            new = zero[v.conditions].keys() - zero[whole].keys()
            lost = [n for n in new if _inputs_of(programs[whole], n) - {name}]
            endless = infinite[v.conditions] - infinite[whole] if t.dtype == "bool" else ()
            if lost:
                first = min(lost)
                what = f"`{first}` is {zero[v.conditions][first]}"
                yield _warning(name, what, t.span, is_bool=t.dtype == "bool")
                break
            if endless:
                message = f"all that it chooses is {sorted(endless)[0]}"
                yield _warning(name, message, t.span, is_bool=True)
                break
            if moved := _moved(d, programs[whole], programs[v.conditions]):
                yield _warning(name, moved, t.span, is_bool=t.dtype == "bool")
                break
            gone = None if t.kind not in _FACTORS else _left(d, programs[whole], programs[v.conditions])
            if gone is not None:
                yield _warning(name, gone, t.span, is_bool=False)
                break


def _left(d: Declarations, whole: Program, part: Program) -> str | None:
    """What becomes of the first result of `part` in which an input has no trace that it has in `whole`."""
    before, after = _traces(whole, _ZERO, places=False), _traces(part, _ZERO, _UNSURE, places=True)
    surely = _traces(part, _ZERO, places=True)
    factors = [n for n, t in d.inputs.items() if t.kind in _FACTORS and not t.optional]
    for output, found in before.items():
        rest = after.get(output, frozenset())
        gone = [n for n in factors if n in found - rest]
        if gone:
            left = [f"`{n}`" for n in d.inputs if n in rest]
            made = f": it is made of {' and '.join(left)} alone" if 0 < len(left) <= _FEW else ""
            where = " where it is a number" if gone[0] in surely.get(output, ()) else ""
            return f"nothing of `{gone[0]}` is left in `{output}`{where}{made}"
    return None


def _traces(p: Program, *lost: str, places: bool) -> dict[str, frozenset[str]]:
    """The inputs whose values are in each output, those aside that stand in what is `lost`.

    `places`: what says where something is read counts as well.
    """
    zeros = _Zeros()
    of = {t.name: frozenset((t.name,)) for t in p.inputs}
    for s in p.statements:
        zeros.pass_by(s)
        used = {r.tensor for e in statement_scalars(s) for r in _alive(e, zeros, lost, places=places)}
        inner = frozenset[str]().union(*(of.get(t, frozenset()) for t in used))
        of.update(dict.fromkeys(targets(s), inner))
    gone = {t for t, value in zeros.known.items() if value in lost}
    return {o.name: frozenset() if o.value in gone else of[o.value] for o in p.outputs if o.value in of}


def _alive(e: Scalar, zeros: _Zeros, lost: Sequence[str], *, places: bool) -> Iterator[Read]:
    """What is read in an expression outside of all that is `lost`."""
    seen: set[Scalar] = set()
    stack = [e]
    while stack:
        node = stack.pop()
        if node in seen or zeros.lost(node) in lost:
            continue
        seen.add(node)
        if isinstance(node, Read):
            yield from reads(node) if places else (node,)
        else:
            stack.extend(children(node))


def _warning(name: str, lost: str, span: Span, *, is_bool: bool) -> Diagnostic:
    read, other = ("false", "true") if is_bool else ("0", "1")
    what = "a mask that hides nothing" if is_bool else "a factor that changes nothing"
    hints = (
        f"{what} where it is missing: `{name}: {{…, absent: {other}}}`",
        f"or `absent: {read}` if {read} is meant",
    )
    return Diagnostic(
        "OPG251", f"without `{name}`, {lost}", span, f"a missing input reads as {read}", hints=hints,
        severity=Severity.WARNING,
    )  # fmt: skip


def _infinite(p: Program) -> frozenset[str]:
    """The infinities that statements compute at every element."""
    bodies = [s.body for s in p.statements if isinstance(s, Compute)]
    return frozenset(text.scalar(b) for b in bodies if b in (INF, NEG_INF))


def _moved(d: Declarations, whole: Program, part: Program) -> str:
    """What is moved out of sight in `part`, all of it, as what a mask hides is in `whole`; empty where nothing is."""
    before = {m for s in whole.statements for m in _moves(d, s)}
    return next((m for s in part.statements for m in _moves(d, s) if m not in before), "")


def _moves(d: Declarations, s: Statement) -> Iterator[str]:
    """What is said of the numbers far from 0 that a statement adds at every element, or that are all there is."""
    if not isinstance(s, Compute | Scatter) or s.kind is not Kind.FLOAT:
        return
    if far := _far(s.body):
        plain = isinstance(s, Compute) and s.op is None and s.target in d.targets()
        added = isinstance(s, Scatter) and s.op == "sum"
        yield (
            f"all of `{s.target}` is {far}" if plain
            else f"all that is added to `{s.target}` is {far}" if added
            else f"all that it chooses is {far}"
        )  # fmt: skip
    for node in walk(s.body):
        if isinstance(node, Apply) and node.fn in ("add", "sub"):
            whole = node == s.body and isinstance(s, Compute) and s.op is None and s.target in d.targets()
            for k, a in enumerate(node.args):
                if far := _far(a, -1 if node.fn == "sub" and k else 1):
                    yield f"all of `{s.target}` is moved by {far}" if whole else f"everything is moved by {far}"


def _far(e: Scalar, sign: int = 1) -> str:
    """A number as far from 0 as masks move what they hide, as it is said; empty for anything else."""
    if e in (INF, NEG_INF):
        return "inf" if (e == INF) == (sign > 0) else "-inf"
    value = float(e.value) * sign if isinstance(e, Lit) else 0.0
    if abs(value) < _FAR:
        return ""
    mantissa, _, exponent = f"{value:g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def _inputs_of(p: Program, output: str) -> set[str]:
    """The inputs that an output depends on."""
    found = {o.value for o in p.outputs if o.name == output}
    for s in reversed(p.statements):
        if found & {*targets(s)}:
            found |= {r.tensor for r in statement_reads(s)}
    return found & {t.name for t in p.inputs}


def still(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """A warning for each recurrence that starts at 0 and stays there, in all variants."""
    found = [_unmoved(v.program) for v in variants]
    told: set[str] = set()
    for name in (n for n in d.targets() if found and all(n in f for f in found)):
        along = found[0][name].along.name
        if name in told:
            continue
        told.update(found[0][name].targets)  # they go on from each other
        for s in (s for s in d.forward if s.target.name == name):
            items = [i.name if isinstance(i, Binder) else "..." for i in s.target.items or ()]
            if along not in items:
                continue
            start = ", ".join("-1" if i == along else i for i in items)
            message = f"`{name}` is 0 everywhere: it starts at 0, and each step is a multiple of the one before"
            hint = f"say what it starts from: `{name}[{start}] = …`"
            yield Diagnostic("OPG281", message, s.target.span, hints=(hint,), severity=Severity.WARNING)


def _unmoved(p: Program) -> dict[str, Recurrence]:
    """The targets of recurrences upwards that are 0 if what they read one place back is."""
    found: dict[str, Recurrence] = {}
    for s in p.statements:
        if isinstance(s, Recurrence) and not s.reverse and all(c.kind is Kind.FLOAT for c in s.steps):
            zeros = _Zeros(dict.fromkeys(s.targets, _ZERO))
            if all(c.op in _KEEPING and zeros.lost(c.body) == _ZERO for c in s.steps):
                found.update(dict.fromkeys(s.targets, s))
    return found


def _zeros(p: Program) -> dict[str, str]:
    """The outputs that are 0 at every element, or 0/0, each with what it is."""
    zeros = _Zeros()
    for s in p.statements:
        zeros.pass_by(s)
    return {o.name: zeros.known[o.value] for o in p.outputs if o.value in zeros.known}


@dataclass(slots=True)
class _Zeros:
    """The tensors of the statements so far of which nothing is left, each with what it is."""

    known: dict[str, str] = field(default_factory=dict)
    found: dict[Scalar, str] = field(default_factory=dict)  # of expressions; a tensor is read after its statement only

    def pass_by(self, s: Statement) -> None:
        if isinstance(s, Compute) and s.op in _KEEPING and (value := self.lost(s.body)):
            self.known[s.target] = value

    def lost(self, e: Scalar) -> str:
        """What an expression is if nothing of it is left; empty where something is."""
        found = self.found.get(e)
        if found is None:
            found = self.found[e] = self._lost(e)
        return found

    def _lost(self, e: Scalar) -> str:
        match e:
            case Lit(value):
                return "" if value else _ZERO
            case Read(tensor, _, fill):
                return self.known.get(tensor, "") if fill in (None, ZERO) else ""
            case Apply("mul", args):
                return _worst(v for a in args if (v := self.lost(a)))
            case Apply("div", (a, b)):
                above, below = self.lost(a), self.lost(b)
                if not above or _NAN in (above, below):
                    return above and _NAN
                return _NAN if below == _ZERO else above if isinstance(b, Lit | Dim) else _UNSURE
            case Apply("add" | "sub", args) | Apply("where", (_, *args)):
                parts = [self.lost(a) for a in args]
                return _worst(parts) if all(parts) else ""
            case Apply(fn, (a,)):
                return self.lost(a) if fn in _HOMOGENEOUS else ""
            case _:
                return ""


def _worst(values: Iterable[str]) -> str:
    return max(values, key=(_ZERO, _UNSURE, _NAN).index, default="")
