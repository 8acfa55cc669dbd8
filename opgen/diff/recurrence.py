"""Derivatives of recurrences: the statements of a derivative that belong inside the loop, and the loop they make.

Backwards every step's cotangent is what comes from outside, from later steps at the same place and from any step one
place on, which for a loop that runs the other way is one place back. So the gradient is a recurrence again, and its
gradient too. Helpers that do not depend on the cotangents stay outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from opgen.diff.algebra import total
from opgen.diff.contribution import Contribution, renamed_contribution
from opgen.diff.partials import value_reads
from opgen.diff.structure import Builder, reached, tensors_of
from opgen.ir.point import positions
from opgen.ir.program import Compute, Recurrence, Statement
from opgen.ir.scalar import Read, Scalar


def reached_steps(s: Recurrence, seeds: Sequence[str], varied: dict[str, None]) -> tuple[Compute, ...]:
    """The steps that some cotangent reaches, last first."""
    found = reached(s, seeds, lambda c: (r.tensor for r in value_reads(c.body)))
    return tuple(c for c in reversed(s.steps) if c.target in found and c.target in varied)


def dependent(statements: Sequence[Statement], names: Sequence[str]) -> dict[str, None]:
    """The named statements and those that read them, directly or not."""
    found = dict.fromkeys(names)
    for s in statements:
        if any(t in found for t in tensors_of(s)):
            found[s.target] = None
    return found


def plain(statements: Iterable[Statement]) -> list[Compute]:
    """Statements that can be steps of a recurrence, which all have to be."""
    found: list[Compute] = []
    for s in statements:
        assert isinstance(s, Compute), f"{s.target} cannot be a step of a recurrence"
        found.append(s)
    return found


@dataclass
class Group:
    """A gradient recurrence on its way: `names` are the cotangents of the steps it has."""

    builder: Builder
    source: Recurrence
    names: dict[str, str]
    outside: dict[str, Read] = field(default_factory=dict)
    inside: dict[str, list[Contribution]] = field(default_factory=dict)
    after: dict[str, list[Compute]] = field(default_factory=dict)

    @contextmanager
    def helpers(self, step: str) -> Iterator[None]:
        """Sort what is emitted meanwhile into what depends on the cotangents and what does not."""
        with self.builder.step() as made:
            yield
        late = dependent(made, tuple(self.names.values()))
        self.builder.statements.extend(s for s in made if s.target not in late)
        self.after[step] = plain(s for s in made if s.target in late)

    def recurrence(self, reached: Sequence[Compute]) -> Recurrence:
        """The loop, once every contribution is known."""
        steps: list[Compute] = []
        for c in reached:
            terms: list[Scalar] = [self.outside[c.target]] if c.target in self.outside else []
            for share in self.inside.get(c.target, ()):
                made = renamed_contribution(share, c.axes).statement
                assert isinstance(made, Compute)
                if made.op is None:
                    terms.append(made.body)
                    continue
                name = self.builder.names.fresh(f"{self.names[c.target]}_{made.target}")
                steps.append(replace(made, target=name))
                terms.append(Read(name, positions(c.axes)))
            steps.append(Compute(self.names[c.target], c.axes, total(terms)))
            steps.extend(self.after[c.target])
        return Recurrence(self.source.along, tuple(steps), not self.source.reverse)
