"""One row of the catalogue."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIELD = re.compile(r"[a-z_]+:(?:\s|$)")


@dataclass(frozen=True, slots=True)
class Code:
    """What `opgen explain` and the documentation say about a code.

    `bad` and `good` are what is wrong and how to mend it: fields of a spec, statements of `forward`, or, where no spec
    is at fault, what a person does. `given` are the fields that both need around them.
    """

    code: str
    title: str
    explanation: str
    bad: str
    good: str
    given: str = ""

    @property
    def in_spec(self) -> bool:
        """Whether the mistake stands in a spec, so that the examples are specs."""
        return self.code[3] in "12"

    def spec(self, example: str) -> str:
        """`bad` or `good` as a whole spec, or as it is where it is none."""
        if not self.in_spec:
            return example
        fields = example if _FIELD.match(example) else _forward(example)
        own = [field for field in (self.given, fields) if field]
        head = [] if any(field.startswith("op:") for field in own) else ["op: example"]
        return "\n".join([*head, *own])


def _forward(statements: str) -> str:
    if "\n" not in statements:
        return f"forward: {statements}"
    return "forward: |\n" + "\n".join(f"  {line}" for line in statements.split("\n"))
