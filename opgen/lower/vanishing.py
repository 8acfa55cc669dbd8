"""Results that are lost wherever an optional input is missing, because it is a factor that is read as 0: a warning.

A result is lost if it is 0, or if nothing is left in it of an input that every call passes: what is added stays; or if
all of it is moved as far as `1e9*(1 - mask)` moves what a mask hides. In: what is declared, and the variants. A spec
that names the case, by `absent` or by `given(w)`, means what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from opgen.diagnostics.model import Diagnostic, Severity, Span
from opgen.diagnostics.suggest import listed
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
from opgen.ir.scalar import INF, NEG_INF, ZERO, Apply, Dim, Index, Lit, Read, Scalar, children, reads, walk
from opgen.lang.nodes import Assign, Binder, Call, Dots, Name
from opgen.lang.unparse import unparse
from opgen.lang.walk import nodes
from opgen.lower.declare import Declarations

_ZERO, _UNSURE, _NAN = "0 everywhere", "0 wherever it is a number", "nan everywhere, 0/0"
_KEEPING = (None, "sum", "mean", "max", "min", "count")  # what reduces zeros to 0
_FACTORS = ("float", "complex")
_FEW = 2  # so many inputs are told by name
_FAR = 10_000  # so far is moved what a mask hides
_HOMOGENEOUS = ("neg", "abs", "square", "sqrt", "sin", "tan", "tanh", "relu", "expm1", "log1p", "cast", "conj", "real")


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
    """A warning for each recurrence of which names start at 0 and stay there, in all variants."""
    found = [[g for s in v.program.statements if isinstance(s, Recurrence) for g in _unmoved(s)] for v in variants]
    names = [{n for g in groups for n in g.names} for groups in found]
    for g in found[0] if found else ():
        common = [n for n in d.targets() if n in g.names and all(n in others for others in names)]
        starts = [n for n in common if n in g.starts]
        if starts:
            yield from _unstarted(d, g.recurrence, common, starts)


@dataclass(frozen=True, slots=True)
class _Unmoved:
    """The names of a recurrence that are 0 throughout, and those of them whose start would change that."""

    recurrence: Recurrence
    names: frozenset[str]
    starts: frozenset[str]


def _unstarted(d: Declarations, r: Recurrence, names: Sequence[str], starts: Sequence[str]) -> Iterator[Diagnostic]:
    """What is said of names that are 0 everywhere, at the first one that lacks a start."""
    found = [(s.target.span, line) for n in starts for s in d.forward if (line := _start(s, r, n))]
    if not found:
        return
    they = "it starts" if len(starts) == 1 else "they start"
    begin = they if names == starts else f"{listed(starts, 'and')} {they.split()[1]}"
    are, back = ("is", "the one") if len(names) == 1 else ("are", "those")
    zero = f"{listed(names, 'and')} {are} 0 everywhere"
    message = f"{zero}: {begin} at 0, and each step is a multiple of {back} before"
    hint = f"say what {they} from: {listed((line for _, line in found), 'and')}"
    yield Diagnostic("OPG281", message, found[0][0], hints=(hint,), severity=Severity.WARNING)


def _start(s: Assign, r: Recurrence, name: str) -> str:
    """The start of a name as it is written, if a statement is where the name goes on."""
    items = s.target.items or ()
    places = [k for step in r.steps if step.target == name for k, a in enumerate(step.axes) if a == r.along]
    if s.target.name != name or not places or places[0] >= len(items) or not isinstance(items[places[0]], Binder):
        return ""
    outside = text.position(r.along.extent) if r.reverse else "-1"
    shown = [i.name if isinstance(i, Binder) else "..." if isinstance(i, Dots) else unparse(i) for i in items]
    return f"{name}[{', '.join((*shown[: places[0]], outside, *shown[places[0] + 1 :]))}] = …"


def _unmoved(r: Recurrence) -> Iterator[_Unmoved]:
    """The names of a recurrence that are 0 if what they read back is, where a start of theirs would change that.

    Those are the ones without which others stay 0, whatever all others start from, and those that move another one.
    """
    zero = _staying(r, ())
    back = {a.tensor for s in r.steps for a in reads(s.body) if Index(r.along.name) not in a.at}
    carried = [n for n in r.targets if n in zero and n in back]
    moved = zero - _staying(r, carried)
    needed = carried
    for n in reversed(carried):
        rest = [m for m in needed if m != n]
        needed = rest if zero - _staying(r, rest) == moved else needed
    starts = (n for n in carried if n in needed or zero - _staying(r, (n,)) - {n})
    if moved:
        yield _Unmoved(r, moved, frozenset(starts))


def _staying(r: Recurrence, started: Sequence[str]) -> frozenset[str]:
    """The names that are 0 at each place if they are one place back, whatever those that are `started` hold."""
    zero = frozenset(s.target for s in r.steps if s.kind is not Kind.BOOL and s.op in _KEEPING) - {*started}
    while True:
        zeros = _Zeros(dict.fromkeys(zero, _ZERO))
        left = frozenset(s.target for s in r.steps if s.target in zero and zeros.lost(s.body) == _ZERO)
        if left == zero:
            return zero
        zero = left


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
