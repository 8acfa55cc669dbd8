"""Everything that is derived from an operator: per variant the forward, backward, tangent and second-order programs.

Passes are listed by name, so that tests can check the program between any two of them and `opgen show` can tell what
was done.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace

from opgen.diff.adjoint import adjoint, differentiable_inputs
from opgen.diff.partials import with_partials
from opgen.diff.rules import is_windowed
from opgen.diff.surface import gradient_surface
from opgen.diff.tangent import NoForwardModeError, tangent
from opgen.ir.operator import Flags, Operator, Variant
from opgen.ir.order import occurrences
from opgen.ir.program import Compute, Kind, Program, Role, definitions, names, statement_reads, statement_scalars
from opgen.ir.scalar import Apply, walk
from opgen.opt.affine import through_sums, with_sums
from opgen.opt.alike import alike
from opgen.opt.contract import contract
from opgen.opt.convolve import convolve
from opgen.opt.cse import cse
from opgen.opt.dce import dce
from opgen.opt.decide import decide
from opgen.opt.divide import in_parts
from opgen.opt.exchange import exchange
from opgen.opt.functions import inline_functions
from opgen.opt.grouping import group_factors
from opgen.opt.hints import Hints
from opgen.opt.leaves import leaves
from opgen.opt.named import name_sums
from opgen.opt.order import Note, typical_sizes
from opgen.opt.reuse import reuse
from opgen.opt.save import Saved, save
from opgen.opt.simplify import fold, tidy
from opgen.opt.slopes import with_slopes
from opgen.opt.spelling import spell_alike
from opgen.opt.stabilize import Rewrite, stabilize, stabilize_bodies

Pass = Callable[[Program], Program]
Passes = tuple[tuple[str, Pass], ...]

ARGUMENTS = 64  # that a schema of torch has at most
BESIDE = 3  # arguments of a gradient besides tensors and params: two masks, and a list of batching levels

# The longest formula, in operations and statements, that second order is written out for.
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Derived:
    """The programs of one variant.

    `forward` has the residuals appended to its outputs; `backward` reads them. `gradient` is the same gradient from the
    primal inputs alone, and `source` from the leaves (`opgen.opt.leaves`), with respect to which `second` and
    `backward_tangent` are derived. Sums of inputs among the residuals have tangents, and `through_sums` is the gradient
    of inputs from theirs. Of long programs there is no `second` and no `backward_tangent`: torch differentiates what is
    printed of the others.
    """

    variant: Variant
    primal: Program
    forward: Program
    residuals: tuple[str, ...]
    backward: Program | None
    gradient: Program | None
    source: Program | None
    tangent: Program | None
    second: Program | None
    backward_tangent: Program | None
    through_sums: Program | None = None
    rewrites: tuple[Rewrite, ...] = ()
    stated: tuple[str, ...] = ()  # functions in the gradient whose stated derivative need not be that of their value


def derive(operator: Operator) -> tuple[Derived, ...]:
    """The programs of every variant, in the order of the operator's variants."""
    whole = operator.elsewhere
    if whole is not None:
        return tuple(_computed_elsewhere(v, differentiable=whole.backward is not None) for v in operator.variants)
    taken = tuple(dict.fromkeys(n for v in operator.variants for n in names(v.program)))
    second_order = not any(is_long(v.program) for v in operator.variants)

    def each(flags: Flags) -> tuple[Derived, ...]:
        return tuple(derive_variant(v, flags, taken, second_order=second_order) for v in operator.variants)

    found = each(operator.flags)
    kept = dict.fromkeys(n for d in found for n in d.residuals)
    others = len(operator.inputs) + len(operator.params) + 2 * len(operator.outputs) + BESIDE
    if operator.flags.save is None and kept and len(kept) + others > ARGUMENTS:
        return each(replace(operator.flags, save=()))  # all of it is computed again
    return found


def is_long(p: Program) -> bool:
    """Is second order left to torch? Not where a derivative is stated, which torch would not see in what is printed."""
    if any(f.value is not None and f.partials for f in p.functions):
        return False
    bodies = [e for s in p.statements for e in statement_scalars(s)]
    operations = sum(k for e in bodies for n, k in occurrences(e).items() if isinstance(n, Apply))
    return operations + len(p.statements) > _LONGEST


def _computed_elsewhere(v: Variant, *, differentiable: bool) -> Derived:
    backward = gradient_surface(v.program) if differentiable else None
    return Derived(v, v.program, v.program, (), backward, None, None, None, None, None)


def derive_variant(v: Variant, flags: Flags, taken: tuple[str, ...] = (), *, second_order: bool = True) -> Derived:
    """The programs of one variant; names that are `taken` mean something in another."""
    stable: list[Rewrite] = []
    orders: dict[Rewrite, None] = {}
    note = orders.setdefault
    primal = run_passes(with_partials(v.program), first_passes(exact=flags.exact, note=stable.append))
    primal = run_passes(primal, passes(primal, flags, note))
    optimise = passes(primal, flags)
    if not _has_gradient(primal):
        shown = (*stable, *orders)
        plain = inline_functions(primal)
        return Derived(v, plain, plain, (), None, None, None, None, None, None, rewrites=shown)
    noting = gradient_passes(primal, flags, note)
    first = run_passes(adjoint(primal, asks_given=True), noting)
    ways = [first]
    if flags.save is None:
        if any(isinstance(s, Compute) and is_windowed(s) for s in primal.statements):
            ways.append(run_passes(adjoint(primal, states_hits=True, asks_given=True), noting))
        sloped = with_slopes(first, (*taken, *names(primal), *(d.name for d in primal.dims)))
        ways += [] if sloped is None else [sloped]
    split = min((lightest(primal, g, flags.save, taken) for g in ways), key=lambda s: s.held)
    kept, gradient, source = split.kept, split.gradient, split.source
    sums = through_sums(primal, kept.forward)
    second = backward_tangent = None
    if second_order and not flags.once_differentiable:
        second = differentiable(run_passes(adjoint(source), optimise))
        backward_tangent = differentiable(run_passes(tangent(source), optimise))
    return Derived(
        v,
        inline_functions(primal),
        alike(kept.forward),
        kept.residuals,
        finished(kept.backward),
        finished(gradient),
        finished(source),
        _tangent(with_sums(split.primal, kept.forward), optimise),
        second,
        backward_tangent,
        None if sums is None else finished(run_passes(sums, optimise)),
        (*stable, *orders),
        stated_in(gradient, v.program),
    )


def _has_gradient(p: Program) -> bool:
    return bool(differentiable_inputs(p)) and any(o.differentiable and o.kind is Kind.FLOAT for o in p.outputs)


@dataclass(frozen=True, slots=True)
class Split:
    """A gradient split at what is kept, which weighs `held`; sums that are kept are statements of `primal`."""

    kept: Saved
    primal: Program
    gradient: Program
    source: Program
    held: int


def lightest(primal: Program, gradient: Program, stated: tuple[str, ...] | None, taken: tuple[str, ...]) -> Split:
    """The gradient split where least is kept: at what the spec states, at inputs and intermediates, or at leaves."""
    hints, forward = Hints.of(primal), inline_functions(primal)

    def split(kept: Saved, primal: Program, source: Program) -> Split:
        return Split(kept, primal, gradient, source, _held(kept.backward, source, hints))

    plain = split(save(forward, inline_functions(gradient), stated), primal, gradient)
    found = leaves(primal, gradient, taken) if stated is None else None
    if found is None:
        return plain
    at = save(inline_functions(found.primal), inline_functions(found.gradient), None, found.names)
    other = split(at, found.primal, found.source())
    made = any(n not in (*names(primal), *(t.name for t in gradient.inputs)) for n in found.names)
    # what is there already saves computing it again
    return other if other.held < plain.held or (other.held == plain.held and not made) else plain


def _held(backward: Program, source: Program, hints: Hints) -> int:
    """The weight of what backward reads of the forward pass, or would read where it is differentiated itself."""
    held = {t.name: t for p in (backward, source) for t in p.inputs if t.role is not Role.COTANGENT}
    read = {r.tensor for p in (backward, source) for s in p.statements for r in statement_reads(s)}
    return sum(hints.weight(t.shape, t.kind) for n, t in held.items() if n in read)


def stated_in(gradient: Program, primal: Program) -> tuple[str, ...]:
    """The functions with a formula and a stated derivative that a gradient calls."""
    scalars = (e for s in gradient.statements for e in statement_scalars(s))
    called = {n.fn: None for e in scalars for n in walk(e) if isinstance(n, Apply)}
    return tuple(f.name for f in primal.functions if f.value is not None and f.partials and f.name in called)


def _tangent(primal: Program, optimise: Passes) -> Program | None:
    try:
        return differentiable(run_passes(tangent(primal), optimise))
    except NoForwardModeError:
        return None


def finished(p: Program) -> Program:
    """Local functions with stated derivatives are opened once nothing is differentiated any more."""
    return alike(dce(cse(inline_functions(p))))


def differentiable(p: Program) -> Program:
    """What torch differentiates further: local functions stay calls, whose derivatives are what is stated."""
    return alike(dce(cse(inline_functions(p, lambda f: False))))


def first_passes(*, exact: bool = False, note: Note = lambda _: None) -> Passes:
    """The passes over the program of a spec that go before all others, in order, each with its name."""

    def stabilised(p: Program) -> Program:
        made, rewrites = stabilize(p)
        for rewrite in rewrites:
            note(rewrite)
        return made

    more: Passes = (("divide", in_parts), ("name", name_sums))
    return more if exact else (("stabilise", stabilised), *more)


def passes(primal: Program, flags: Flags, note: Note = lambda _: None) -> Passes:
    """The passes over a program that is, or is derived from, `primal`, in order, each with its name.

    Statements of the primal program keep their names and, contractions apart, their form.
    """
    sizes = typical_sizes(primal)
    keep = tuple(s.target for s in definitions(primal))
    rewriting: Passes = () if flags.exact else (("stabilise", lambda p: stabilize_bodies(p)[0]),)
    return (
        ("tidy", lambda p: tidy(p, keep)),
        *rewriting,
        ("spell", lambda p: spell_alike(p, primal.statements)),
        ("share", cse),
        ("reuse", lambda p: reuse(p, primal)),
        ("convolve", convolve),
        ("contract", lambda p: contract(p, sizes, keep, note)),
        ("fold", lambda p: fold(p, keep)),
        ("decide", lambda p: decide(p, keep)),
        ("group", lambda p: group_factors(p, keep)),
        ("share", cse),
        ("drop", dce),
    )


def gradient_passes(primal: Program, flags: Flags, note: Note = lambda _: None) -> Passes:
    """The passes over the gradient of `primal`."""
    *listed, share, drop = passes(primal, flags, note)
    return (*listed, ("exchange", lambda p: exchange(p, primal, flags.save)), share, drop)


def run_passes(p: Program, listed: Passes) -> Program:
    for _, step in listed:
        p = step(p)
    return p


@dataclass(frozen=True, slots=True)
class Applied:
    """A pass by its name, with the program that went in and the one that came out."""

    name: str
    before: Program
    after: Program


def applied(operator: Operator) -> tuple[tuple[Variant, tuple[Applied, ...]], ...]:
    """For every variant the passes over its program, then those over its gradient, as `derive` runs them."""
    if operator.elsewhere is not None:
        return ()
    return tuple((v, tuple(_applied(with_partials(v.program), operator.flags))) for v in operator.variants)


def _applied(p: Program, flags: Flags) -> Iterator[Applied]:
    p = yield from _one_by_one(p, first_passes(exact=flags.exact))
    p = yield from _one_by_one(p, passes(p, flags))
    if _has_gradient(p):
        yield from _one_by_one(adjoint(p, asks_given=True), gradient_passes(p, flags))


def _one_by_one(p: Program, listed: Passes) -> Generator[Applied, None, Program]:
    for name, step in listed:
        before, p = p, step(p)
        yield Applied(name, before, p)
    return p
