"""Local functions of rows, `kernel(a, b): exp(-sum[d](square(a[d] - b[d])))`: what computes the same with numbers.

In goes such a function, out come the one that takes each of its reductions as a number, a statement for each of these
at every call, and the statements with the calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opgen.lang.nodes import Access, Assign, Binder, Call, Dots, Expr, Name, Reduction, Target
from opgen.lang.unparse import respelled, unparse, unparse_assign, unparse_target
from opgen.lang.walk import nodes, operands, transform
from opgen.lower.declare import Declarations, LocalFunction

_NUMBERS = "the arguments of a local function are numbers"


def takes_rows(function: LocalFunction) -> bool:
    """Whether a function reads one of its arguments at positions."""
    value = function.value
    return value is not None and any(isinstance(n, Access) and n.name in function.params for n in nodes(value))


def of_numbers(d: Declarations, name: str) -> tuple[str, ...]:
    """What is said of a local function that reduces."""
    function = d.functions.get(name)
    made = None if function is None or function.opaque or not takes_rows(function) else _Apart.of(d, function)
    if made is None:
        return ("reduce in a statement and pass the result",)
    lines = made.lines()
    if isinstance(made.function.value, Reduction):
        told = f"{_NUMBERS}: leave `{name}` out, and reduce in a statement"
    else:
        told = f"{_NUMBERS}: write `{made.head}: {made.formula}`, and reduce in a statement"
    return (told, *(f"write {', '.join(f'`{line}`' for line in group)}" for group in lines))


@dataclass(frozen=True, slots=True)
class _Apart:
    """A function with its reductions, each of which gets a name."""

    d: Declarations
    function: LocalFunction
    parts: tuple[Reduction, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, d: Declarations, function: LocalFunction) -> _Apart | None:
        """None where an argument is a row outside of reductions, or a number and a row."""
        assert function.value is not None
        parts = tuple(_outermost(function.value))
        rows = {n.name for n in nodes(function.value) if isinstance(n, Access)} & {*function.params}
        inside = {id(n) for r in parts for n in nodes(r)}
        for n in nodes(function.value):
            if (isinstance(n, Access) and n.name in rows and id(n) not in inside) or (
                isinstance(n, Name) and n.name in rows
            ):
                return None
        taken = (*_names(d), *function.params)
        free = [c for c in ("r", *(f"r{k}" for k in range(2, 99))) if c not in taken]
        return cls(d, function, parts, tuple(free[: len(parts)]))

    @property
    def params(self) -> list[str]:
        """Its arguments: the results of reductions in place of the first row, and what else stands beside these."""
        assert self.function.value is not None
        inside = {id(n) for r in self.parts for n in nodes(r)}
        beside = {n.name for n in nodes(self.function.value) if isinstance(n, Name) and id(n) not in inside}
        return [*self.names, *(p for p in self.function.params if p in beside)]

    @property
    def head(self) -> str:
        return f"{self.function.name}({', '.join(self.params)})"

    @property
    def formula(self) -> str:
        assert self.function.value is not None
        return respelled(self.function.value, *zip(self.parts, self.names, strict=True))

    def lines(self) -> list[list[str]]:
        """For each statement that calls it what to write in its place; nothing where one of them is not clear."""
        found: list[list[str]] = []
        known: dict[str, str] = {}  # the values of statements that are made so far, each with what it is read by
        for s in self.d.forward:
            calls = [n for n in nodes(s.value) if isinstance(n, Call) and n.name == self.function.name]
            if any(inner is not c and inner in calls for c in calls for inner in nodes(c)):
                return []
            before: list[str] = []
            made: list[tuple[Expr, str]] = []
            for c in calls:
                reads = self._reads(c, known, before)
                if reads is None:
                    return []
                made.append((c, reads))
            if calls:
                guard = "" if s.guard is None else f" if {respelled(s.guard)}"
                line = f"{unparse_target(s.target)} {s.op} {respelled(s.value, *made)}{guard}"
                found.append([*before, line])
        return found

    def _reads(self, c: Call, known: dict[str, str], before: list[str]) -> str | None:
        """A call with the results of reductions, and what these need `before`; None where a row is not clear."""
        if len(c.args) != len(self.function.params):
            return None
        given = dict(zip(self.function.params, c.args, strict=True))
        results: list[str] = []
        for r in self.parts:
            used = [n.name for n in nodes(r) if isinstance(n, Access | Name) and n.name in given]
            body = self._with_rows(r, given)
            left = _left([given[n] for n in dict.fromkeys(used)])
            bound = {b.name for n in nodes(r) if isinstance(n, Reduction) for b in n.binders if isinstance(b, Binder)}
            if body is None or left is None or bound & {*left}:
                return None
            text = f"[{', '.join(left)}] = {unparse(body)}"
            if text not in known:
                taken = (*_names(self.d), *known.values())
                name = next(n for n in ("r", *(f"r{k}" for k in range(2, 999))) if n not in taken)
                known[text] = name
                before.append(_line(name, left, body))
            results.append(f"{known[text]}[{', '.join(left)}]" if left else known[text])
        if isinstance(self.function.value, Reduction):
            return results[0]
        kept = [unparse(given[p]) for p in self.params if p in given]
        return f"{c.name}({', '.join((*results, *kept))})"

    def _with_rows(self, r: Reduction, given: dict[str, Expr]) -> Expr | None:
        """A reduction of the rows that a call passes; None where one of them is no row of a tensor."""
        good = True

        def step(e: Expr) -> Expr | None:
            nonlocal good
            arg = given.get(e.name) if isinstance(e, Access | Name) else None
            if isinstance(e, Access) and arg is not None:
                items = arg.items if isinstance(arg, Access) else ()
                rank = _rank(self.d, arg.name) if isinstance(arg, Access | Name) else None
                good = good and isinstance(arg, Access | Name) and rank == len(items) + len(e.items)
                return Access(arg.name, (*items, *e.items), e.span, e.span) if isinstance(arg, Access | Name) else None
            return arg

        made = transform(r, step)
        return made if good else None


def _line(name: str, left: Sequence[str], value: Expr) -> str:
    at = value.span
    items = tuple(Dots(at) if i == "..." else Binder(i, None, at) for i in left)
    return unparse_assign(Assign(Target(name, items or None, at, at), "=", value, None, at))


def _left(rows: Sequence[Expr]) -> list[str] | None:
    """The indices of what a call passes, in order; None where some stand for a part of a dim."""
    found: dict[str, None] = {}
    for a in (n for row in rows for n in nodes(row) if isinstance(n, Access)):
        for i in a.items:
            if not isinstance(i, Name | Dots):
                return None
            found["..." if isinstance(i, Dots) else i.name] = None
    return [*found]


def _outermost(e: Expr) -> Iterator[Reduction]:
    """The reductions of a formula that stand in no other one."""
    if isinstance(e, Reduction):
        yield e
        return
    for part in operands(e):
        yield from _outermost(part)


def _rank(d: Declarations, name: str) -> int | None:
    """How many positions a tensor has."""
    if name in d.shapes:
        return len(d.shapes[name])
    return next((len(s.target.items or ()) for s in d.forward if s.target.name == name), None)


def _names(d: Declarations) -> tuple[str, ...]:
    """Every name that something has already, indices among them."""
    inner = [n for s in d.forward for n in nodes(s.value)]
    read = (n.name for n in inner if isinstance(n, Name | Access))
    bound = (b.name for n in inner if isinstance(n, Reduction) for b in n.binders if isinstance(b, Binder))
    left = (b.name for s in d.forward for b in s.target.items or () if isinstance(b, Binder))
    return (*d.inputs, *d.params, *d.functions, *d.targets(), *d.known_dims(), *read, *bound, *left)
