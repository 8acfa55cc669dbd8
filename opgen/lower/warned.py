"""All that is warned of in an operator about which nothing is wrong.

In go what is declared and the variants; out come the warnings, by kind in this order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.diagnostics.model import Diagnostic
from opgen.ir.operator import Variant
from opgen.lower.always import always
from opgen.lower.bodies import bodies
from opgen.lower.bounds import bounded, bounds
from opgen.lower.cancelling import cancelled
from opgen.lower.declare import Declarations
from opgen.lower.deviations import deviations
from opgen.lower.doubts import doubts
from opgen.lower.imaginary import imaginary_parts
from opgen.lower.infinite import infinite
from opgen.lower.last_lost import last_lost
from opgen.lower.meeting import meeting
from opgen.lower.never import never
from opgen.lower.nowhere import nowhere
from opgen.lower.override import without_cotangent
from opgen.lower.roots import roots
from opgen.lower.signs import signs
from opgen.lower.stored_range import stored_ranges
from opgen.lower.stuck import stuck
from opgen.lower.tiny import tiny
from opgen.lower.together import together
from opgen.lower.turns import half_turns
from opgen.lower.unused import unread
from opgen.lower.vanishing import still, vanishing
from opgen.lower.whole_numbers import quotients, remainders, rounded_draws


def warned(d: Declarations, variants: Sequence[Variant]) -> Iterator[Diagnostic]:
    """Every warning."""
    yield from vanishing(d, variants)
    yield from still(d, variants)
    yield from meeting(d, variants)
    yield from nowhere(d, variants)
    yield from never(d, variants)
    yield from always(d, variants)
    yield from signs(d, variants)
    yield from together(d)
    yield from without_cotangent(d)
    yield from roots(d)
    yield from bodies(d, variants)
    yield from infinite(d)
    yield from doubts(d)
    yield from cancelled(d)
    yield from bounds(d)
    yield from bounded(d)
    yield from imaginary_parts(d)
    yield from deviations(d, variants)
    yield from quotients(d, variants)
    yield from remainders(d)
    yield from rounded_draws(d)
    yield from half_turns(d)
    yield from tiny(d)
    yield from stuck(d, variants)
    yield from stored_ranges(d)
    yield from unread(d)
    yield from last_lost(d)
