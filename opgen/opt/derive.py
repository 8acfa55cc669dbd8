"""Everything that is derived from an operator: per variant the forward, backward, tangent and second-order programs.

Passes are listed by name, so that tests can check the program between any two of them and `opgen show` can tell what
was done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opgen.diff.adjoint import adjoint, differentiable_inputs
from opgen.diff.partials import with_partials
from opgen.diff.surface import gradient_surface
from opgen.diff.tangent import NoForwardModeError, tangent
from opgen.ir.program import Kind, Operator, Program, Variant, definitions, statement_scalars
from opgen.ir.scalar import Apply, walk
from opgen.opt.contract import contract
from opgen.opt.convolve import convolve
from opgen.opt.cse import cse
from opgen.opt.dce import dce
from opgen.opt.functions import inline_functions
from opgen.opt.grouping import group_factors
from opgen.opt.order import Note, typical_sizes
from opgen.opt.reuse import reuse
from opgen.opt.save import save
from opgen.opt.simplify import fold, tidy
from opgen.opt.spelling import spell_alike
from opgen.opt.stabilize import Rewrite, stabilize, stabilize_bodies

Pass = Callable[[Program], Program]


@dataclass(frozen=True, slots=True)
class Flags:
    """What of a spec decides how its programs are derived."""

    exact: bool = False
    once_differentiable: bool = False
    save: tuple[str, ...] | None = None  # names kept for backward; None: decided here


@dataclass(frozen=True, slots=True)
class Derived:
    """The programs of one variant.

    `forward` has the residuals appended to its outputs; `backward` reads them. `gradient` is the same gradient from the
    primal inputs alone, and the one that `second` and `backward_tangent` are derived from.
    """

    variant: Variant
    primal: Program
    forward: Program
    residuals: tuple[str, ...]
    backward: Program | None
    gradient: Program | None
    tangent: Program | None
    second: Program | None
    backward_tangent: Program | None
    rewrites: tuple[Rewrite, ...] = ()
    stated: tuple[str, ...] = ()  # functions in the gradient whose stated derivative need not be that of their value


def derive(operator: Operator, flags: Flags = Flags()) -> tuple[Derived, ...]:
    """The programs of every variant, in the order of the operator's variants."""
    whole = operator.elsewhere
    if whole is not None:
        return tuple(_computed_elsewhere(v, differentiable=whole.backward is not None) for v in operator.variants)
    return tuple(derive_variant(v, flags) for v in operator.variants)


def _computed_elsewhere(v: Variant, *, differentiable: bool) -> Derived:
    backward = gradient_surface(v.program) if differentiable else None
    return Derived(v, v.program, v.program, (), backward, None, None, None, None)


def derive_variant(v: Variant, flags: Flags) -> Derived:
    primal = with_partials(v.program)
    applied: tuple[Rewrite, ...] = ()
    if not flags.exact:
        primal, applied = stabilize(primal)
    orders: dict[Rewrite, None] = {}
    note = orders.setdefault
    primal = run_passes(primal, passes(primal, exact=flags.exact, note=note))
    optimise = passes(primal, exact=flags.exact)
    if not differentiable_inputs(primal) or not any(o.differentiable and o.kind is Kind.FLOAT for o in primal.outputs):
        shown = (*applied, *orders)
        return Derived(v, inline_functions(primal), inline_functions(primal), (), None, None, None, None, None, shown)
    gradient = run_passes(adjoint(primal), passes(primal, exact=flags.exact, note=note))
    kept = save(inline_functions(primal), inline_functions(gradient), flags.save)
    second = backward_tangent = None
    if not flags.once_differentiable:
        second = finished(run_passes(adjoint(gradient), optimise))
        backward_tangent = finished(run_passes(tangent(gradient), optimise))
    return Derived(
        v,
        inline_functions(primal),
        kept.forward,
        kept.residuals,
        finished(kept.backward),
        finished(gradient),
        _tangent(primal, optimise),
        second,
        backward_tangent,
        (*applied, *orders),
        stated_in(gradient, v.program),
    )


def stated_in(gradient: Program, primal: Program) -> tuple[str, ...]:
    """The functions with a formula and a stated derivative that a gradient calls."""
    scalars = (e for s in gradient.statements for e in statement_scalars(s))
    called = {n.fn: None for e in scalars for n in walk(e) if isinstance(n, Apply)}
    return tuple(f.name for f in primal.functions if f.value is not None and f.partials and f.name in called)


def _tangent(primal: Program, optimise: tuple[tuple[str, Pass], ...]) -> Program | None:
    try:
        return finished(run_passes(tangent(primal), optimise))
    except NoForwardModeError:
        return None


def finished(p: Program) -> Program:
    """Local functions with stated derivatives are opened once nothing is differentiated any more."""
    return dce(cse(inline_functions(p)))


def passes(primal: Program, *, exact: bool = False, note: Note = lambda _: None) -> tuple[tuple[str, Pass], ...]:
    """The passes over a program that is, or is derived from, `primal`, in order, each with its name.

    Statements of the primal program keep their names and, contractions apart, their form.
    """
    sizes = typical_sizes(primal)
    keep = tuple(s.target for s in definitions(primal))
    rewriting: tuple[tuple[str, Pass], ...] = () if exact else (("stabilise", lambda p: stabilize_bodies(p)[0]),)
    return (
        ("tidy", lambda p: tidy(p, keep)),
        *rewriting,
        ("spell alike", lambda p: spell_alike(p, keep)),
        ("share", cse),
        ("reuse", lambda p: reuse(p, primal)),
        ("convolve", convolve),
        ("contract", lambda p: contract(p, sizes, keep, note)),
        ("fold", lambda p: fold(p, keep)),
        ("group", lambda p: group_factors(p, keep)),
        ("share again", cse),
        ("drop", dce),
    )


def run_passes(p: Program, listed: tuple[tuple[str, Pass], ...]) -> Program:
    for _, step in listed:
        p = step(p)
    return p
