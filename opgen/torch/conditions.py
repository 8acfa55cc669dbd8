"""Sets of variants as Python conditions.

Variants are the points of a grid: one switch per optional input or choice. In goes a set of them, out comes the
shortest plain condition that holds exactly for it: `bias is not None`, `reduction != "none"`, and `and`/`or` of
these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opgen.ir.operator import Pair, Variant
from opgen.ir.program import Chosen, Condition, Given, Program, Role, Tensor

Members = frozenset[int]


@dataclass(frozen=True, slots=True)
class Switches:
    """The grid. `values[i]` is the point of variant i; `names` are the switches in order."""

    names: tuple[str, ...]
    values: tuple[tuple[Condition, ...], ...]
    everything: Members  # the variants that may occur
    tested: dict[str, str]  # optional input -> the argument that is None where it is absent
    twins: dict[str, str]  # imaginary part -> the real part, which the conditions name

    @staticmethod
    def of(conditions: Sequence[tuple[Condition, ...]], tested: dict[str, str], pairs: Sequence[Pair] = ()) -> Switches:
        names, twins = tuple(c.name for c in conditions[0]), {p.imag: p.real for p in pairs}
        return Switches(names, tuple(conditions), frozenset(range(len(conditions))), tested, twins)

    def with_some(self, names: tuple[str, ...]) -> Switches:
        """Only the variants in which at least one of these inputs is there."""
        own = [self.twins.get(name, name) for name in names]
        some = frozenset(
            i for i, v in enumerate(self.values) if any(Given(name, present=False) not in v for name in own)
        )
        return replace(self, everything=self.everything & some)

    def options(self, universe: Members, k: int) -> tuple[Condition, ...]:
        """The settings of switch `k` among some variants, in order."""
        return tuple(dict.fromkeys(v[k] for i, v in enumerate(self.values) if i in universe))

    def having(self, universe: Members, k: int, allowed: tuple[Condition, ...]) -> Members:
        return frozenset(i for i in universe if self.values[i][k] in allowed)


def chain(branches: Sequence[Members], universe: Members, switches: Switches) -> list[str]:
    """`if …:`, `elif …:`, and `else:` if the last branch is all that is left."""
    out: list[str] = []
    left = universe
    for i, members in enumerate(branches):
        if i and members == left:
            out.append("else:")
        else:
            out.append(f"{'elif' if i else 'if'} {condition(members, left, switches)}:")
        left -= members
    return out


def condition(members: Members, universe: Members, switches: Switches) -> str:
    """A condition that tells `members` from the rest of `universe`."""
    products = _cover(members, universe, switches)
    texts = [_conjunction(p, universe, switches) for p in products]
    if len(texts) == 1:
        return " and ".join(texts[0])
    return " or ".join(f"({' and '.join(t)})" if len(t) > 1 else t[0] for t in texts)


def _cover(members: Members, universe: Members, switches: Switches) -> list[Members]:
    """Members as a union of products of settings, each grown as far as it goes."""
    out: list[Members] = []
    covered: Members = frozenset()
    for i in sorted(members):
        if i in covered:
            continue
        box: list[tuple[Condition, ...]] = [(c,) for c in switches.values[i]]
        for k in range(len(box)):
            for option in switches.options(universe, k):
                if option not in box[k]:
                    wider = [*box[:k], (*box[k], option), *box[k + 1 :]]
                    if _inside(wider, universe, switches) <= members:
                        box = wider
        grown = _inside(box, universe, switches)
        out.append(grown)
        covered |= grown
    return out


def _inside(box: Sequence[tuple[Condition, ...]], universe: Members, switches: Switches) -> Members:
    inside = universe
    for k, allowed in enumerate(box):
        inside &= switches.having(universe, k, allowed)
    return inside


def _conjunction(product: Members, universe: Members, switches: Switches) -> list[str]:
    """One test per switch that the product restricts; tests that the others imply are left out."""
    tests: list[tuple[int, tuple[Condition, ...]]] = []
    for k in range(len(switches.names)):
        allowed = switches.options(product, k)
        if len(allowed) < len(switches.options(universe, k)):
            tests.append((k, allowed))
    for t in list(tests):
        rest = universe
        for k, allowed in (x for x in tests if x is not t):
            rest &= switches.having(universe, k, allowed)
        if rest == product and len(tests) > 1:
            tests.remove(t)
    return [_test(allowed, switches.options(universe, k), switches.tested) for k, allowed in tests]


def _test(allowed: tuple[Condition, ...], options: tuple[Condition, ...], tested: dict[str, str]) -> str:
    first = allowed[0]
    match first:
        case Given(name, present):
            return f"{tested.get(name, name)} is {'not ' if present else ''}None"
        case Chosen(name, bool() as value):
            return name if value else f"not {name}"
        case Chosen(name, _):
            values = [f'"{c.value}"' for c in allowed if isinstance(c, Chosen)]
            if len(values) == 1:
                return f"{name} == {values[0]}"
            others = [f'"{c.value}"' for c in options if isinstance(c, Chosen) and c not in allowed]
            return f"{name} != {others[0]}" if len(others) == 1 else f"{name} in ({', '.join(values)})"


def told_by(programs: Sequence[tuple[Variant, Program]], outputs: Sequence[str]) -> dict[str, str]:
    """The argument whose absence tells that an optional input is absent: the input, or a tensor that comes with it."""
    out: dict[str, str] = {}
    conditions = programs[0][0].conditions if programs else ()
    for name in (c.name for c in conditions if isinstance(c, Given)):
        present = [p for v, p in programs if Given(name, present=True) in v.conditions]
        absent = [p for v, p in programs if Given(name, present=True) not in v.conditions]
        candidates = [t.name for t in present[0].inputs if _comes_with(t, name, outputs)] if present else []
        candidates.sort(key=lambda n: n != name)
        for n in candidates:
            if all(_has(p, n) for p in present) and not any(_has(p, n) for p in absent):
                out[name] = n
                break
    return out


def _comes_with(t: Tensor, name: str, outputs: Sequence[str]) -> bool:
    """Is this argument passed only where the optional one is?"""
    return name in (t.name, t.of, t.of.removeprefix("grad_")) or (t.role is Role.SAVED and t.of not in outputs)


def _has(p: Program, name: str) -> bool:
    return any(t.name == name for t in p.inputs)
