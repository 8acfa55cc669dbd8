"""What a kernel cannot say: the one way out for statements that kernels have no form for.

Whoever plans or prints kernels raises it with the reason in words; the operator is then left to the torch code, which
has a form for everything.
"""

from __future__ import annotations


class UnplannableError(Exception):
    """No kernel: the message says for which statement and why."""
