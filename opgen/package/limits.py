"""What torch takes in an operator: a schema has so many arguments at most.

In: an operator and what was derived of each variant. Out: an error where a dispatcher op made of it would have more.
Results are not limited, and there are no more of them than of arguments: the overload `.out` takes a tensor for each.
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.diagnostics.model import Diagnostic, Span
from opgen.diagnostics.suggest import counted
from opgen.opt.derive import ARGUMENTS, BESIDE
from opgen.package.view import Surface
from opgen.package.view_ops import backward_params
from opgen.package.view_saved import saved_names

_MASK, _LEVELS = (1, "mask"), (1, "list of batching levels")

Parts = tuple[tuple[int, str], ...]  # how many arguments of each sort


def too_many_arguments(s: Surface, place: Span) -> Iterator[Diagnostic]:
    """An error at the name of an operator, about that of its dispatcher ops that would take most."""
    name, parts = max(_ops(s), key=lambda op: _total(op[1]))
    if _total(parts) <= ARGUMENTS:
        return
    message = f"torch takes {ARGUMENTS} arguments in an operator at most, and `{name}` would have {_total(parts)}"
    split = ["a complex tensor counts as two, its real and its imaginary part"] if s.operator.pairs else []
    yield Diagnostic(
        "OPG403",
        message,
        place,
        notes=(", ".join(counted(n, what) for n, what in parts if n), *split),
        hints=(_hint(s),),
    )


def _ops(s: Surface) -> Iterator[tuple[str, Parts]]:
    """The dispatcher ops that take most, and what they take."""
    own = ((len(s.inputs), "input"), (len(s.params), "param"))
    yield f"{s.name}.batched", (*own, _LEVELS)
    yield f"{s.name}.out", (*own, (len(s.outputs), "output"))
    if not s.active:
        return
    kept = (*s.inputs, *s.output_names, *s.residuals)
    saved = saved_names(s) if len(kept) + len(s.active) + len(s.params) + BESIDE > ARGUMENTS else kept
    cotangents = (len(s.active), "output gradient")
    parts = (cotangents, (len(saved), "kept tensor"), (len(backward_params(s)), "param"), _MASK, _LEVELS)
    yield f"{s.name}_backward.batched", parts


def _total(parts: Parts) -> int:
    return sum(n for n, _ in parts)


def _hint(s: Surface) -> str:
    """What there is most of as one: tensors with an axis, or a list; or kept by none."""
    inputs, outputs = list(s.operands), [s.operator.shown(o.name) for o in s.results]
    params = list(map(s.operator.shown, s.stated))
    groups = {"input": inputs, "output": outputs, "param": params, "": list(s.residuals)}
    sort, names = max(groups.items(), key=lambda group: len(group[1]))
    if not sort:
        return "`save: []` computes what lies between again in place of keeping it"
    how = "a list" if sort == "param" else "with a further axis"
    return f"make one {sort}, {how}, of several that are alike, as `{names[0]}` and `{names[1]}` may be"
