"""Scalar expressions: the bodies of statements and the positions of accesses.

Frozen trees of five leaves and two inner nodes; equal trees are one object, since passes look nodes up all the time. A
tensor access is a leaf whose positions are scalar expressions themselves. Function names are rows of
`opgen.ir.functions`; arithmetic is in the same table (`add`, `mul`, … `where`). The builders at the end fold only what
is exact for every operand (`x + 0`, `x * 1`, `-(-x)`, constants of exact arithmetic), so that what a user wrote is what
gets printed.

`where` is lazy: printers and the interpreter evaluate only the branch that is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from opgen.ir.unique import Unique, unique


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Batch(Unique):
    """Stands for `...`: all batch dimensions of the operator at once. Use the constant `BATCH`."""

    def __new__(cls) -> Batch:
        return unique(cls, ())

    def __repr__(self) -> str:
        return "BATCH"


BATCH = Batch()


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Lit(Unique):
    """An exact literal. Decimals are fractions; printers write them back as decimals. bool is a condition."""

    value: int | Fraction | bool

    def __new__(cls, value: int | Fraction | bool) -> Lit:
        return unique(cls, (value,), type(value))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Const(Unique):
    """`pi`, `inf` or `nan`."""

    name: str

    def __new__(cls, name: str) -> Const:
        return unique(cls, (name,))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Param(Unique):
    """A non-tensor argument; `item` selects an element of a list param (`stride[0]`)."""

    name: str
    item: int | None = None

    def __new__(cls, name: str, item: int | None = None) -> Param:
        return unique(cls, (name, item))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Dim(Unique):
    """The size of a named dim as a number; `Dim("...")` is the number of batch elements."""

    name: str

    def __new__(cls, name: str) -> Dim:
        return unique(cls, (name,))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Index(Unique):
    """The value of an index (an axis of the statement that holds it); of `...`, the row-major place in the batch."""

    name: str

    def __new__(cls, name: str) -> Index:
        return unique(cls, (name,))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Read(Unique):
    """`tensor[at]`, `at` in the order of the tensor's axes. With `fill`, out-of-range positions read `fill` (`pad`).

    `wanted`: the condition under which it has to have a value, of a tensor that may be empty; printers set it.
    """

    tensor: str
    at: tuple[Position, ...]
    fill: Scalar | None = None
    wanted: Scalar | None = None

    def __new__(
        cls, tensor: str, at: tuple[Position, ...], fill: Scalar | None = None, wanted: Scalar | None = None
    ) -> Read:
        return unique(cls, (tensor, at, fill, wanted))

    def _operands(self) -> tuple[Scalar, ...]:
        inner = tuple(p for p in self.at if not isinstance(p, Batch))
        return (*inner, *(e for e in (self.fill, self.wanted) if e is not None))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Apply(Unique):
    """A row of the function table, or a function of the spec with a stated derivative, applied to arguments."""

    fn: str
    args: tuple[Scalar, ...]

    def __new__(cls, fn: str, args: tuple[Scalar, ...]) -> Apply:
        return unique(cls, (fn, args))

    def _operands(self) -> tuple[Scalar, ...]:
        return self.args


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Cast(Unique):
    """Round `arg` to the dtype of tensor `like` and compute on in the compute dtype; derivative 1."""

    arg: Scalar
    like: str

    def __new__(cls, arg: Scalar, like: str) -> Cast:
        return unique(cls, (arg, like))

    def _operands(self) -> tuple[Scalar, ...]:
        return (self.arg,)


Scalar = Lit | Const | Param | Dim | Index | Read | Apply | Cast
Position = Scalar | Batch

_REMEMBERED = 1 << 16  # answers about expressions, which passes ask for again and again

_SPOKEN = 8  # so many conditions at once are left as they were written, repeated or not

ZERO, ONE, TWO = Lit(0), Lit(1), Lit(2)
FALSE: Scalar = Lit(False)
TRUE: Scalar = Lit(True)
_MINUS_ONE = Lit(-1)
PLACE = Index("...")
INF, NAN, PI = Const("inf"), Const("nan"), Const("pi")
NEG_INF = Apply("neg", (INF,))


def children(e: Scalar) -> tuple[Scalar, ...]:
    """The direct scalar operands, positions of reads included, in order."""
    return e.operands


def rebuild(e: Scalar, f: Callable[[Scalar], Scalar]) -> Scalar:
    """The same node with `f` applied to each direct operand."""
    if isinstance(e, Apply):
        new = tuple([f(a) for a in e.args])
        return e if new == e.args else Apply(e.fn, new)
    if not e.operands:
        return e
    if isinstance(e, Read):
        at = tuple(p if isinstance(p, Batch) else f(p) for p in e.at)
        fill, wanted = (None if a is None else f(a) for a in (e.fill, e.wanted))
        return e if fill is e.fill and wanted is e.wanted and at == e.at else Read(e.tensor, at, fill, wanted)
    return replace(e, arg=f(e.arg)) if isinstance(e, Cast) else e


def transform(e: Scalar, f: Callable[[Scalar], Scalar]) -> Scalar:
    """Rewrite bottom-up: operands first, then `f` on the rebuilt node; what stands at several places is done once."""
    done: dict[Scalar, Scalar] = {}

    def step(a: Scalar) -> Scalar:
        found = done.get(a)
        if found is None:
            found = done[a] = f(rebuild(a, step))
        return found

    return step(e)


def is_exact_test(e: Scalar) -> bool:
    """Are values tested for equality? Then the last bit of each counts."""
    return isinstance(e, Apply) and e.fn in ("eq", "ne") and all(reads(a) for a in e.args)


def transform_rounded(e: Scalar, f: Callable[[Scalar], Scalar]) -> Scalar:
    """`transform` by rules that may change the last bit, which leaves alone what is tested for equality."""
    done: dict[Scalar, Scalar] = {}

    def step(a: Scalar) -> Scalar:
        found = done.get(a)
        if found is None:
            found = done[a] = a if is_exact_test(a) else f(rebuild(a, step))
        return found

    return step(e)


def walk(e: Scalar) -> Iterator[Scalar]:
    """Every distinct node once, in order of first appearance: parents before operands, left to right."""
    seen: set[Scalar] = set()
    stack = [e]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack.extend(node.operands[::-1])


def is_constant(e: Scalar) -> bool:
    """Whether a value is the same at every point, whatever the data."""
    return not any(isinstance(a, Index | Read) for a in walk(e))


@lru_cache(maxsize=_REMEMBERED)
def mentions(e: Scalar) -> tuple[frozenset[str], bool]:
    """The indices an expression depends on, and whether it depends on the batch."""
    if isinstance(e, Index):
        return (frozenset(), True) if e is PLACE else (frozenset((e.name,)), False)
    own = isinstance(e, Read) and BATCH in e.at
    inner = [mentions(a) for a in children(e)]
    return frozenset().union(*(names for names, _ in inner)), own or any(batch for _, batch in inner)


@lru_cache(maxsize=_REMEMBERED)
def is_placed(e: Scalar) -> bool:
    """Whether a value depends on where in the batch it is, as a number."""
    return e is PLACE or any(map(is_placed, children(e)))


@lru_cache(maxsize=_REMEMBERED)
def reads(e: Scalar) -> tuple[Read, ...]:
    """The distinct accesses in order of first appearance, those nested in positions included."""
    return tuple(n for n in walk(e) if isinstance(n, Read))


@lru_cache(maxsize=_REMEMBERED)
def casts_of(e: Scalar) -> tuple[str, ...]:
    """The tensors to whose dtype parts of an expression are rounded."""
    return tuple(n.like for n in walk(e) if isinstance(n, Cast))


def substitute(e: Scalar, mapping: Mapping[Scalar, Scalar]) -> Scalar:
    """Replace whole sub-trees, outermost first; what was put in is not searched again."""
    done = dict(mapping)

    def step(a: Scalar) -> Scalar:
        found = done.get(a)
        if found is None:
            found = done[a] = rebuild(a, step)
        return found

    return step(e)


def is_number(e: Scalar) -> bool:
    return isinstance(e, Lit) and not isinstance(e.value, bool)


def add(*terms: Scalar) -> Scalar:
    """n-ary sum; nested sums are flattened, literal zeros dropped, literals added exactly (last)."""
    flat: list[Scalar] = []
    constant: int | Fraction = 0
    for term in terms:
        for t in term.args if isinstance(term, Apply) and term.fn == "add" else (term,):
            if is_number(t):
                assert isinstance(t, Lit)
                constant += t.value
            else:
                flat.append(t)
    if constant != 0:
        flat.append(Lit(constant))
    if not flat:
        return ZERO
    return flat[0] if len(flat) == 1 else Apply("add", tuple(flat))


def mul(*factors: Scalar) -> Scalar:
    """n-ary product: flattened, literals multiplied exactly and first, a zero wins, ones dropped, signs in front."""
    flat: list[Scalar] = []
    constant: int | Fraction = 1
    for factor in factors:
        for t in _unsigned_factors(factor):
            if t == _MINUS_ONE:
                constant = -constant
            elif is_number(t):
                assert isinstance(t, Lit)
                constant *= t.value
            else:
                flat.append(t)
    if constant == 0:
        return ZERO
    if not flat:
        return Lit(constant)
    if constant not in (1, -1):
        flat.insert(0, Lit(constant))
    product = flat[0] if len(flat) == 1 else Apply("mul", tuple(flat))
    return Apply("neg", (product,)) if constant == -1 else product


def _unsigned_factors(e: Scalar) -> Iterator[Scalar]:
    """The factors of a nested product, a sign as the factor -1."""
    match e:
        case Apply("mul", args):
            for a in args:
                yield from _unsigned_factors(a)
        case Apply("neg", (a,)):
            yield _MINUS_ONE
            yield from _unsigned_factors(a)
        case _:
            yield e


def neg(a: Scalar) -> Scalar:
    if isinstance(a, Apply) and a.fn == "neg":
        return a.args[0]
    if is_number(a):
        assert isinstance(a, Lit)
        return Lit(-a.value)
    return Apply("neg", (a,))


def sub(a: Scalar, b: Scalar) -> Scalar:
    if b == ZERO:
        return a
    if a == ZERO:
        return neg(b)
    if is_number(a) and is_number(b):
        assert isinstance(a, Lit)
        assert isinstance(b, Lit)
        return Lit(a.value - b.value)
    return Apply("sub", (a, b))


def div(a: Scalar, b: Scalar) -> Scalar:
    """Quotient; literals stay a quotient unless exact in an int, so that `1/3` is printed as it was written."""
    if b == ONE:
        return a
    if a == ZERO and isinstance(b, Lit) and b.value != 0:
        return ZERO
    return Apply("div", (a, b))


def power(a: Scalar, b: Scalar) -> Scalar:
    return a if b == ONE else Apply("pow", (a, b))


def where(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    if isinstance(condition, Lit):
        return a if condition.value else b
    return a if a == b else Apply("where", (condition, a, b))


def both(a: Scalar, b: Scalar) -> Scalar:
    """Logical and, with literal conditions folded; a long one says nothing twice, or it would double at every step."""
    if isinstance(a, Lit):
        return b if a.value else a
    if isinstance(b, Lit):
        return a if b.value else b
    first, second = all_of(a), all_of(b)
    if len(first) + len(second) <= _SPOKEN or set(first).isdisjoint(second):
        return Apply("and", (a, b))
    whole: Scalar = a
    for c in dict.fromkeys(second):
        whole = whole if c in first else both(whole, c)
    return whole


@lru_cache(maxsize=_REMEMBERED)
def all_of(condition: Scalar) -> tuple[Scalar, ...]:
    """The conditions that hold where one does, in turn."""
    if isinstance(condition, Apply) and condition.fn == "and":
        return tuple(c for a in condition.args for c in all_of(a))
    return (condition,)


def call(fn: str, *args: Scalar) -> Scalar:
    return Apply(fn, args)
