"""A spec to an operator: every formula parsed, every name resolved, one program per variant.

In goes an `OpSpec`; out comes an `Operator`, or None with every mistake in the bag. Each variant is lowered on its own
from the parsed formulas, so that nothing in a program depends on what is present or chosen.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

from opgen.diagnostics.model import Bag
from opgen.ir.operator import Flags, Operator, Variant
from opgen.ir.program import (
    Argument,
    Condition,
    DimSource,
    Function,
    Kind,
    Output,
    Override,
    Program,
    Statement,
    Tensor,
    parts,
    statement_scalars,
)
from opgen.ir.scalar import Apply, Batch, Dim, Scalar, walk
from opgen.lang.depth import deep_trees
from opgen.lang.nodes import Assign
from opgen.lang.walk import statement_names
from opgen.lower.along import as_indexed
from opgen.lower.block import lower_block
from opgen.lower.call import argument_names, look_at, placeholder
from opgen.lower.complex_split import split_operator
from opgen.lower.constant import (
    absent_value,
    arguments,
    check_defaults,
    computed_defaults,
    computed_values,
    derived_dims,
    dims_in,
    domains,
    multiples_of,
    params_in,
)
from opgen.lower.declare import Declarations, LocalFunction, check_outputs, declare, every
from opgen.lower.declared import callables, docs, module, tests
from opgen.lower.draw import placed, seeds
from opgen.lower.edges import without_edges
from opgen.lower.elsewhere import check_sizes, declared_results, differentiable_outputs, elsewhere
from opgen.lower.fold import folded, neutral
from opgen.lower.guards import (
    MAX_VARIANTS,
    Case,
    Switch,
    case_of,
    check_cover,
    check_guard,
    combinations,
    holds,
    switches,
)
from opgen.lower.in_place import check_in_place
from opgen.lower.kinds import common_kinds, numeric
from opgen.lower.masked import without_masked
from opgen.lower.override import check_targets, lower_override
from opgen.lower.proposals import one_statement
from opgen.lower.refused import is_whole, untold
from opgen.lower.renewed import check_renewed
from opgen.lower.replaced import without_replaced
from opgen.lower.respelt import respelt
from opgen.lower.scatter import identity
from opgen.lower.scope import DECLARED, Frame, Known, Variation
from opgen.lower.shape import is_clear
from opgen.lower.statement import Wanted, frame_of
from opgen.lower.steps import without_loops
from opgen.lower.steps_of_input import without_steps_of_inputs
from opgen.lower.stored import stored_results
from opgen.lower.target_names import check_target_names
from opgen.lower.updates import check_fits, check_updates, unchanged
from opgen.lower.warned import warned
from opgen.lower.words import check_words
from opgen.schema.doubted import independent
from opgen.schema.elsewhere import Callee
from opgen.schema.model import OpSpec


def lower(spec: OpSpec, bag: Bag) -> Operator | None:
    """The operator of a spec; None where there is a mistake."""
    found = Bag()
    with deep_trees():
        operator = _lower(spec, found)
    for d in independent(respelt(untold(found, bag, spec), bag.items, spec), bag.doubted, spec):
        bag.add(d)
    if operator is None and not bag.has_errors:
        raise AssertionError("something in this spec was refused, and nothing said of it")
    return None if found.has_errors or bag.doubted else operator


def _lower(spec: OpSpec, bag: Bag) -> Operator | None:
    if elsewhere(spec) is not None:
        spans = [t.span for t in spec.inputs if t.dtype == "complex"]
        for span in (*spans, *(o.span for o in spec.outputs or () if o.dtype == "complex")):
            message = "complex tensors of an operator that another library computes are not supported yet"
            bag.error("OPG225", message, span)
    around, examples = module(spec, bag), tests(spec, bag)
    d = declare(spec, bag)
    if d is None:
        return None
    d = without_edges(without_masked(d, bag), bag)
    as_indexed(d, bag)
    d = without_steps_of_inputs(without_loops(d, bag), bag)
    d = without_replaced(d, bag)
    check_target_names(d, bag)
    check_renewed(d, bag)
    computed = computed_defaults(d)
    params = arguments(d, computed, bag)
    found_domains = domains(d, bag)
    check_defaults(d, params, found_domains, bag)
    check_words(d, bag)
    check_targets(d, bag)
    check_updates(d, bag)
    guards = every(
        check_guard(d, s.guard, bag, one_statement(d, s)) for s in (*d.forward, *d.backward) if s.guard is not None
    )
    if not guards:
        return None
    found = switches(d, computed)
    refused = _check_guards(d, found, bag)
    fold = folded(d, found, partial(_variant, d, params=params, computed=computed, refused=refused, bag=bag))
    if fold.declarations is not d:
        if bag.has_errors:
            return None
        d = fold.declarations
        found, tells = switches(d, computed), dict(fold.tells)
        params = tuple(replace(a, tells=tells.get(a.name)) for a in arguments(d, computed, bag))
    count = math.prod(len(s.settings) for s in found)
    if count > MAX_VARIANTS:
        names = ", ".join(f"`{s.name}` ({len(s.settings)})" for s in found)
        bag.error(
            "OPG247", f"this operator has {count} variants, more than {MAX_VARIANTS}", spec.op.span,
            notes=(f"decided by {names}",), hints=("test bool params in `where` instead of guards",),
        )  # fmt: skip
        return None

    def variants_of(d: Declarations) -> list[Variant]:
        made = ((c, _variant(d, c, params, computed, refused, bag)) for c in combinations(found))
        return [Variant(c, program) for c, program in made if program is not None]

    variants = variants_of(d)
    kinds = common_kinds(variants)
    if kinds and not bag.has_errors:
        variants = variants_of(replace(d, kinds=kinds))
    check_outputs(d, bag)
    if not bag.has_errors:
        check_fits(d, variants, bag)
        check_in_place(d, variants, bag)
    if bag.has_errors or not is_whole(d, variants, count):
        return None
    tensors = tuple(_tensor(d, n) for n in d.inputs)
    optional = tuple(n for n, t in d.inputs.items() if t.optional)
    for warning in warned(d, variants):
        bag.add(warning)
    made = Operator(
        str(spec.op), tensors, optional, params, d.outputs, tuple(variants), elsewhere(spec),
        fills=fold.fills, neutral=neutral(d), flags=_flags(spec),
        inplace="" if spec.inplace is None else str(spec.inplace),
        domains=found_domains, multiples=multiples_of(d), docs=docs(spec), module=around, tests=examples,
        callables=callables(spec), seeds=seeds(d), stored=tuple((n, t.stored) for n, t in d.inputs.items() if t.stored),
        unbroadcast=tuple(n for n, t in d.inputs.items() if not t.broadcast),
    )  # fmt: skip
    return split_operator(made)


def _flags(spec: OpSpec) -> Flags:
    save = None if spec.save == "auto" else tuple(map(str, spec.save))
    return Flags(spec.exact, spec.once_differentiable, save)


def _check_guards(d: Declarations, found: tuple[Switch, ...], bag: Bag) -> frozenset[str]:
    """Names whose statements leave a case out or overlap."""
    refused: list[str] = []
    for block in (d.forward, d.backward):
        names: dict[str, list[Assign]] = {}
        for s in block:
            if s.op == "=" and s.target.name not in d.lost:
                names.setdefault(s.target.name, []).append(s)
        refused += [n for n, statements in names.items() if not check_cover(d, n, statements, found, bag)]
    return frozenset(refused)


def _tensor(d: Declarations, name: str) -> Tensor:
    t = d.inputs[name]
    kind = Kind(t.kind)
    return Tensor(
        name, d.shapes[name], kind, differentiable=t.differentiable and kind in (Kind.FLOAT, Kind.COMPLEX), doc=t.doc
    )


# --- one variant -----------------------------------------------------------------------------------------------------


def _variant(
    d: Declarations,
    conditions: tuple[Condition, ...],
    params: tuple[Argument, ...],
    computed: frozenset[str],
    refused: frozenset[str],
    bag: Bag,
) -> Program | None:
    case = case_of(conditions)
    state = Variation(case.given, case.chosen)
    state.taken.update((*d.inputs, *d.params, *d.targets(), *d.functions, *(s.target.name for s in d.backward)))
    computed_values(d, state, computed, bag)
    state.dims = derived_dims(d, state, bag)
    for name, t in d.inputs.items():
        absent = None if state.given.get(name, True) else absent_value(d, state, name, bag)
        shape = d.shapes[name] if is_clear(d.shapes[name]) else None
        state.tensors[name] = Known(name, shape, Kind(t.kind), t.span, absent, declared=True)
    for f in d.functions.values():  # also those that nothing calls
        _look_at(f, frame_of(d, state, bag))
    statements = _statements(d, state, refused, bag)
    if isinstance(d.spec.forward, Callee):
        declared_results(d, state)
    outputs = tuple(o for n in d.outputs if (o := _output(d, state, n)) is not None)
    override = lower_override(d, state, outputs, refused, bag) if d.backward else Override()
    rounding, outputs = stored_results(outputs, state.fresh, bag, d.spec.op.span)
    statements = (*statements, *rounding)
    if bag.has_errors or any(known.shape is None for known in state.tensors.values()):
        return None
    present = tuple(_tensor(d, n) for n in d.inputs if state.given.get(n, True))
    functions = _functions(d, state, (*statements, *override.statements), bag)
    outputs = differentiable_outputs(present, statements, outputs, functions)
    dims = _dims(d, state, present)
    if not statements:
        check_sizes(d, outputs, ("...", *(s.name for s in dims)), bag)
    all_statements = (*statements, *override.statements)
    if not _check_dims(d, state, all_statements, dims, bag):
        return None
    scalars = [e for s in all_statements for e in statement_scalars(s)]
    scalars += [e for f in functions for e in f.scalars]
    scalars += [s.value for s in dims if s.value is not None]
    read = frozenset[str]().union(*(params_in(e) for e in scalars))
    used = params if isinstance(d.spec.forward, Callee) else tuple(p for p in params if p.name in read)
    return Program(str(d.spec.op), present, used, dims, statements, outputs, functions, override)


def _statements(d: Declarations, state: Variation, refused: frozenset[str], bag: Bag) -> tuple[Statement, ...]:
    case = Case(state.given, state.chosen)
    for name, span in (d.targets() | dict.fromkeys(d.lost, d.spec.op.span)).items():
        if name in refused or (name in d.lost and name not in d.inputs):
            state.tensors[name] = Known(name, None, Kind.FLOAT, span)
    chosen = [s for s in d.forward if s.target.name not in refused and holds(d, s.guard, case)]
    found = lower_block(d, state, chosen, lambda s: _wanted(d, s.target.name), bag)
    return placed((*found, *_untouched(d, state, refused), *unchanged(d, state, refused)))


def _untouched(d: Declarations, state: Variation, refused: frozenset[str]) -> list[Statement]:
    """Names with scatters only, none of which holds in this variant: they are the identity."""
    found: list[Statement] = []
    for s in d.forward:
        name = s.target.name
        if s.op == "=" or name in state.tensors or name in refused:
            continue
        made = identity(name, s, _wanted(d, name))
        if made is not None:
            found.append(made)
            state.tensors[name] = Known(name, made.shape, made.kind, s.target.name_span)
    return found


def _wanted(d: Declarations, name: str) -> Wanted:
    """What `outputs` declares about a name; one whose cotangent the spec reads is float or complex."""
    declared = next((o for o in d.spec.outputs or () if o.name == name), None)
    stated = name in d.outputs and any(f"grad_{name}" in statement_names(s) for s in d.backward)
    kind = Kind.FLOAT if stated else dict(d.kinds).get(name)
    if declared is None:
        return Wanted(kind=kind, at_least=stated)
    kind = kind if declared.kind is None else Kind(declared.kind)
    shape = d.output_shapes.get(name)
    return Wanted(shape, declared.span, DECLARED, kind, at_least=stated and declared.dtype is None)


def _output(d: Declarations, state: Variation, name: str) -> Output | None:
    known = state.tensors.get(name)
    if known is None or known.shape is None:
        return None
    declared = next((o for o in d.spec.outputs or () if o.name == name), None)
    differentiable = known.kind in (Kind.FLOAT, Kind.COMPLEX) and (declared is None or declared.differentiable)
    doc = "" if declared is None else declared.doc
    stored = "" if declared is None else declared.stored
    return Output(name, name, known.shape, known.kind, None, differentiable, doc=doc, dtype=stored)


def _functions(d: Declarations, state: Variation, statements: tuple[Statement, ...], bag: Bag) -> tuple[Function, ...]:
    """The functions with stated derivatives that the statements call, and those that these call."""
    frame = frame_of(d, state, bag)
    called: dict[str, Function] = {}
    own = {f.symbol: f for f in d.functions.values()}
    queue = [e for s in statements for e in statement_scalars(s)]
    while queue:
        for node in walk(queue.pop(0)):
            if isinstance(node, Apply) and node.fn in own and node.fn not in called:
                called[node.fn] = _function(own[node.fn], frame)
                queue += called[node.fn].scalars
    return tuple(called[n] for n in own if n in called)


def _look_at(f: LocalFunction, frame: Frame) -> None:
    look_at(f, frame)
    for e in f.partials or ():
        replace(placeholder(f, frame), calls=(), alone=True, place="a derivative").lower(e)


def _function(f: LocalFunction, frame: Frame) -> Function:
    inner = placeholder(f, frame)
    value = None if f.value is None else numeric(inner.lower(f.value)).scalar
    inner.calls = ()  # a derivative may call its function
    partials = tuple(numeric(inner.lower(e)).scalar for e in f.partials or ())
    return Function(f.symbol, argument_names(f, frame), value, partials, f.spellings)


def _dims(d: Declarations, state: Variation, present: tuple[Tensor, ...]) -> tuple[DimSource, ...]:
    """Where each size comes from: an input that is present, or a formula whose dims are known."""
    found: dict[str, DimSource] = {}
    for t in present:
        for k, s in enumerate(t.shape):
            if isinstance(s, Dim) and s.name not in found and s.name not in d.derived:
                found[s.name] = DimSource(s.name, t.name, k)
    for name, value in state.dims.items():
        if value is not None and dims_in(value) <= found.keys():
            found[name] = DimSource(name, value=value)
    return tuple(found.values())


def _check_dims(
    d: Declarations, state: Variation, statements: tuple[Statement, ...], dims: tuple[DimSource, ...], bag: Bag
) -> bool:
    """Every size that is used is known in this variant."""
    known = {s.name for s in dims}
    good = True
    for s in parts(statements):
        shapes: list[Scalar] = [e for e in s.shape if not isinstance(e, Batch)]
        for e in (*statement_scalars(s), *shapes):
            for name in sorted(dims_in(e) - known - {"..."}):
                absent = [n for n, shape in d.shapes.items() if not state.given.get(n, True) and Dim(name) in shape]
                why = f"it stands only in the shape of `{absent[0]}`, which may be missing" if absent else "unknown"
                bag.error(
                    "OPG238", f"the size `{name}` is not always known", s.span, label=why,
                    hints=("declare the shape of another input with it, or guard this statement",),
                )  # fmt: skip
                good = False
    return good
