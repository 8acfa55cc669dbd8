"""A Program rewritten so that printing it statement by statement gives good torch code.

In goes a valid Program, out comes an equal one:

* the spec's own functions are written out;
* `where` becomes safe: torch evaluates both branches, so in each the positions of gathers and the arguments of
  functions with a singularity are replaced by harmless ones where the branch is not taken. Then nothing is read out
  of range, and no NaN comes back through autograd;
* what is computed more than once gets a name, and so do parts of bodies too long for a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from opgen.emit.torch_scope import batch_leading, loops_of
from opgen.ir.functions import FUNCTIONS
from opgen.ir.program import Axis, Compute, Kind, Loop, Program, Scatter, Statement, names
from opgen.ir.scalar import (
    BATCH,
    ONE,
    TWO,
    ZERO,
    Apply,
    Batch,
    Cast,
    Dim,
    Index,
    Lit,
    Param,
    Read,
    Scalar,
    both,
    call,
    children,
    rebuild,
    substitute,
    transform,
    walk,
    where,
)

# Functions that are singular or overflow somewhere: an argument where they do neither, by argument position.
_SAFE: dict[str, tuple[int, Scalar]] = {
    "div": (1, ONE),
    "floordiv": (1, ONE),
    "mod": (1, ONE),
    "fmod": (1, ONE),
    "remainder": (1, ONE),
    "reciprocal": (0, ONE),
    "pow": (0, ONE),
    "log": (0, ONE),
    "log2": (0, ONE),
    "log10": (0, ONE),
    "log1p": (0, ZERO),
    "log1mexp": (0, Lit(-1)),
    "sqrt": (0, ONE),
    "rsqrt": (0, ONE),
    "cbrt": (0, ONE),
    "hypot": (0, ONE),
    "xlogy": (1, ONE),
    "exp": (0, ZERO),
    "exp2": (0, ZERO),
    "expm1": (0, ZERO),
    "sinh": (0, ZERO),
    "cosh": (0, ZERO),
    "tan": (0, ZERO),
    "asin": (0, ZERO),
    "acos": (0, ZERO),
    "atanh": (0, ZERO),
    "acosh": (0, TWO),
    "atan2": (1, ONE),
    "erfinv": (0, ZERO),
    "erfcx": (0, ZERO),
    "lgamma": (0, ONE),
    "digamma": (0, ONE),
    "polygamma": (1, ONE),
}


def prepare(p: Program) -> Program:
    """Everything above, in order."""
    return shared(lazy(guarded(inlined(p))))


# --- the spec's own functions ----------------------------------------------------------------------------------------


def inlined(p: Program) -> Program:
    """Applications of the spec's functions replaced by their values."""
    own = {f.name: f for f in p.functions}
    if not own:
        return p

    def expand(e: Scalar) -> Scalar:
        if isinstance(e, Apply) and e.fn in own:
            f = own[e.fn]
            return transform(substitute(f.value, dict(zip(map(Param, f.params), e.args, strict=True))), expand)
        return e

    return replace(p, statements=tuple(mapped(s, lambda e: transform(e, expand)) for s in p.statements))


def mapped(s: Statement, f: Callable[[Scalar], Scalar]) -> Statement:
    match s:
        case Compute():
            return replace(s, body=f(s.body))
        case Scatter():
            at = tuple(q if isinstance(q, Batch) else f(q) for q in s.at)
            return replace(s, body=f(s.body), at=at, base=f(s.base))


# --- laziness --------------------------------------------------------------------------------------------------------


def guarded(p: Program) -> Program:
    """Where a guarded body of a scatter adds nothing its position may be anywhere: it becomes 0."""
    return replace(p, statements=tuple(_guarded(s) if isinstance(s, Scatter) else s for s in p.statements))


def _guarded(s: Scatter) -> Scatter:
    if not (isinstance(s.body, Apply) and s.body.fn == "where" and s.body.args[2] == ZERO):
        return s
    condition = s.body.args[0]

    def at(q: Scalar | Batch) -> Scalar | Batch:
        done = isinstance(q, Apply) and q.fn == "where" and q.args[0] == condition
        return q if done else _position(q, condition)

    return replace(s, at=tuple(at(q) for q in s.at))


class _Names:
    """Fresh names in a program."""

    def __init__(self, p: Program) -> None:
        self.taken = dict.fromkeys((*names(p), *(d.name for d in p.dims)))
        self.next: dict[str, int] = {}  # the number to try next, by name

    def fresh(self, wanted: str) -> str:
        name, n = wanted, self.next.get(wanted, 2)
        while name in self.taken:
            name, n = f"{wanted}_{n}", n + 1
        self.taken[name] = None
        self.next[wanted] = n
        return name


def lazy(p: Program) -> Program:
    """Every `where` made safe; a condition that guards something gets a statement of its own."""
    fresh, out = _Names(p), list[Statement]()
    for s in p.statements:
        pre: list[Statement] = []
        rewritten = mapped(s, lambda e, s=s, pre=pre: _safe(e, None, s, pre, fresh))  # type: ignore[misc]
        out.extend((*pre, rewritten))
    return replace(p, statements=tuple(out))


def _safe(e: Scalar, guard: Scalar | None, s: Statement, pre: list[Statement], fresh: _Names) -> Scalar:
    if isinstance(e, Apply) and e.fn == "where" and _varies(e.args[0]):
        return _safe_where(e, guard, s, pre, fresh)
    e = rebuild(e, lambda a: _safe(a, guard, s, pre, fresh))
    if guard is None:
        return e
    if isinstance(e, Read):
        return Read(e.tensor, tuple(_position(q, guard) for q in e.at), e.fill)
    if isinstance(e, Apply) and e.fn in _SAFE and not (e.fn == "pow" and _whole_power(e)):
        i, harmless = _SAFE[e.fn]
        if _varies(e.args[i]):
            return Apply(e.fn, (*e.args[:i], where(guard, e.args[i], harmless), *e.args[i + 1 :]))
    return e


def _safe_where(e: Apply, guard: Scalar | None, s: Statement, pre: list[Statement], fresh: _Names) -> Scalar:
    condition = _safe(e.args[0], guard, s, pre, fresh)
    a, b = e.args[1:]
    if _hazardous(a) or _hazardous(b):
        condition = _named(condition, "mask", s, pre, fresh)
    a = _safe(a, condition if guard is None else both(guard, condition), s, pre, fresh)
    no = call("not", condition)
    b = _safe(b, no if guard is None else both(guard, no), s, pre, fresh)
    return where(condition, a, b)


def _position(q: Scalar | Batch, guard: Scalar) -> Scalar | Batch:
    return q if isinstance(q, Batch | Index | Lit) or not _varies(q) else where(guard, q, ZERO)


def _varies(e: Scalar) -> bool:
    """Does it depend on tensors or indices, so that it is decided per element?"""
    return any(isinstance(n, Read | Index) for n in walk(e))


def _whole_power(e: Apply) -> bool:
    n = e.args[1]
    return isinstance(n, Lit) and isinstance(n.value, int) and n.value >= 0


def _hazardous(e: Scalar) -> bool:
    """Would evaluating it where it is not wanted do harm?"""
    for n in walk(e):
        if isinstance(n, Read) and any(not isinstance(q, Batch | Index | Lit) for q in n.at):
            return True
        singular = isinstance(n, Apply) and n.fn in _SAFE and not (n.fn == "pow" and _whole_power(n))
        if isinstance(n, Apply) and singular and _varies(n.args[_SAFE[n.fn][0]]):
            return True
    return False


def _named(e: Scalar, name: str, s: Statement, pre: list[Statement], fresh: _Names) -> Scalar:
    """The expression as an access to a statement of its own, unless it is one already."""
    if isinstance(e, Read):
        return e
    made = next((t for t in pre if isinstance(t, Compute) and t.body == e), None)
    if made is None:
        made = statement(fresh.fresh(name), e, s, Kind.BOOL)
        pre.append(made)
    return _read(made)


def statement(target: str, e: Scalar, s: Statement, kind: Kind) -> Compute:
    return Compute(target, loops_of(e, batch_leading(s.loops)), e, kind=kind)


def _read(s: Compute) -> Read:
    return Read(s.target, tuple(Index(a.name) if isinstance(a, Axis) else BATCH for a in s.axes))


# --- names for what is used more than once ---------------------------------------------------------------------------


def shared(p: Program) -> Program:
    """Sub-expressions that cost something and stand at more than one place, over the same loops, named."""
    found = _repeated(p)
    if not found:
        return p
    fresh, held, out = _Names(p), dict[_Place, Read](), list[Statement]()
    kinds = {**{t.name: t.kind for t in p.inputs}, **{s.target: s.kind for s in p.statements}}
    for s in p.statements:
        loops = batch_leading(s.loops)

        def put(e: Scalar, s: Statement = s, loops: tuple[Loop, ...] = loops) -> Scalar:
            place = (e, loops_of(e, loops))
            if place in held:
                return held[place]
            inner = rebuild(e, put)
            if place not in found:
                return inner
            made = statement(fresh.fresh(described(inner)), inner, s, kind_of(kinds.__getitem__, p, e))
            kinds[made.target] = made.kind
            out.append(made)
            held[place] = _read(made)
            return held[place]

        whole = isinstance(s, Compute) and s.op is None and batch_leading(s.axes) == loops_of(s.body, loops)
        if isinstance(s, Compute) and whole and (s.body, loops_of(s.body, loops)) not in held:
            out.append(replace(s, body=rebuild(s.body, put)))
            held[s.body, loops_of(s.body, loops)] = _read(s)
        else:
            out.append(mapped(s, put))
    return replace(p, statements=tuple(out))


_Place = tuple[Scalar, tuple[Loop, ...]]  # an expression and the loops it varies along


def _repeated(p: Program) -> dict[_Place, None]:
    """Expressions worth a name that different expressions, or different places of one, have as an operand."""
    uses: Counter[_Place] = Counter()
    for s in p.statements:
        loops = batch_leading(s.loops)
        roots = (s.body, *((q for q in s.at if not isinstance(q, Batch)) if isinstance(s, Scatter) else ()))
        stack = list(roots)
        while stack:
            e = stack.pop()
            place = (e, loops_of(e, loops))
            uses[place] += 1
            if uses[place] == 1:
                stack.extend(children(e))
    return {place: None for place, n in uses.items() if n > 1 and place[1] and _cost(place[0])}


_FREE = ("neg", "detach", "not")


def _cost(e: Scalar) -> bool:
    """Is it more than an access, a number, or one cheap step on those?"""
    if isinstance(e, Cast):
        return True
    if isinstance(e, Read):
        return any(not isinstance(q, Batch | Index | Lit) for q in e.at)
    if not isinstance(e, Apply) or e.fn in _FREE or not _varies(e):
        return False
    if FUNCTIONS[e.fn].infix and e.fn not in ("where", "pow") and FUNCTIONS[e.fn].result != "bool":
        varying = [a for a in e.args if _varies(a)]
        return len(varying) > 1 or any(isinstance(a, Apply) and a.fn != "neg" for a in varying)
    if FUNCTIONS[e.fn].result == "bool":
        return any(isinstance(a, Apply | Index) for a in e.args)
    return True


def kind_of(tensor: Callable[[str], Kind], p: Program, e: Scalar) -> Kind:
    """What an expression's elements are."""
    match e:
        case Read(tensor=name):
            return tensor(name)
        case Lit(value):
            return Kind.BOOL if isinstance(value, bool) else Kind.INT if isinstance(value, int) else Kind.FLOAT
        case Index() | Dim():
            return Kind.INT
        case Param(name):
            declared = next((a.type for a in p.params if a.name == name), "float")
            return Kind(declared) if declared in ("float", "int", "bool") else Kind.INT
        case Apply(fn, args):
            result = FUNCTIONS[fn].result
            if result != "same":
                return Kind(result)
            kinds = [kind_of(tensor, p, a) for a in (args[1:] if fn == "where" else args)]
            if fn == "where" and all(k is Kind.BOOL for k in kinds):
                return Kind.BOOL
            return Kind.FLOAT if Kind.FLOAT in kinds else Kind.INT
        case _:
            return Kind.FLOAT


def described(e: Scalar) -> str:
    """A name that says what is in it: `exp_input`, `safe_target`, `product`."""
    tensors = tuple(dict.fromkeys(n.tensor for n in walk(e) if isinstance(n, Read)))
    match e:
        case Read(tensor=name):
            return f"{name}_picked"
        case Apply("where", (_, Read(tensor=name), b)) if not any(True for _ in children(b)):
            return f"safe_{name}"
        case Apply("where"):
            return "chosen"
        case Apply(fn) if FUNCTIONS[fn].result == "bool":
            return "mask"
        case Apply(fn) if fn in _WORDS:
            return _WORDS[fn]
        case Apply(fn) if len(tensors) == 1:
            return f"{fn}_{tensors[0]}"
        case Apply(fn):
            return f"{fn}_value"
        case _:
            return "value"


_WORDS = {"add": "total", "sub": "difference", "mul": "product", "div": "ratio", "pow": "power"}
