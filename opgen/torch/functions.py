"""Programs as a readable function in plain torch: what an expert would write by hand.

In goes one Program per variant of an operator; out comes a `TorchFunction`: the names of its arguments and results
and its lines, without `def` and `return`, for templates to put into a static method, a dispatcher kernel or a plain
function. The code has no Python branch on data, takes sizes from shapes, is out of place, and works under vmap and
autograd.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from opgen.code.layout import tupled
from opgen.code.names import RUNTIME
from opgen.code.signature import params_of
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Given, Kind, Program, Role, Tensor, definitions
from opgen.ir.scalar import BATCH
from opgen.opt.affine import batches_of_sums, kept_sums
from opgen.torch.conditions import Switches, told_by
from opgen.torch.liveness import used_names
from opgen.torch.merge import collapsed, laid_out, merged
from opgen.torch.order import Label, Line, least_asked, scheduled
from opgen.torch.prepare import prepare
from opgen.torch.program import WIDTH, Frame, Listing, listing, needs_upcast


@dataclass(frozen=True, slots=True)
class TorchFunction:
    """A function body. Every name in `returns` is assigned on every path (None: not asked for, or not there).

    `tensors` and `params` are the arguments that the lines use, in the order cotangents and tangents, saved tensors,
    inputs; then params. A gradient function of several results has the name of its mask in `mask_name`, and in `mask`
    what each entry of it stands for. `views`: results that may share memory with an argument.
    """

    name: str
    tensors: tuple[str, ...]
    params: tuple[str, ...]
    returns: tuple[str, ...]
    lines: tuple[str, ...]
    helpers: tuple[str, ...]
    uses_math: bool = False
    mask: tuple[str, ...] = ()
    mask_name: str = ""
    views: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()  # arguments that may be None

    @property
    def arguments(self) -> tuple[str, ...]:
        return (*self.tensors, *self.params, *((self.mask_name,) if self.mask_name else ()))


MASK = "needs_input_grad"


def torch_function(
    name: str,
    programs: Sequence[tuple[Variant, Program]],
    operator: Operator,
    *,
    masked: bool = False,
    forward: Sequence[tuple[Variant, Program]] = (),
) -> TorchFunction:
    """The code of a derived function of an operator, all variants in one.

    Of a function of gradients or tangents of residuals, `forward` are the programs that make those.
    """
    prepared = [prepare(p) for _, p in programs]
    anchor = _anchor(programs, operator)
    params = params_of(operator, (p for _, p in programs))
    asked = (c.name for v, _ in programs for c in v.conditions)  # of which nothing else may be read
    taken = dict.fromkeys((anchor, *(t.name for p in prepared for t in p.inputs), *(a.name for a in params), *asked))
    wide = is_upcast(forward, operator)  # tangents of residuals have the dtype of those
    upcast = wide or _is_upcast(prepared, operator)
    outputs = (*operator.outputs, *(o.name for _, p in forward for o in kept_sums(p)))
    made = frozenset(n for p in prepared for n in (*(s.target for s in definitions(p)), *(o.name for o in p.outputs)))
    frame = Frame(upcast, wide or not forward, outputs, masked, tuple(taken), anchor, made)
    batches = {v.conditions: batches_of_sums(p) for v, p in forward}
    listings = [
        listing(p, frame, batches.get(v.conditions, {}), several_batches=_several_batches(v, operator))
        for (v, _), p in zip(programs, prepared, strict=True)
    ]
    results = _results(programs)
    conditions = [v.conditions for v, _ in programs]
    switches = Switches.of(conditions, told_by(programs, operator.outputs), operator.pairs)
    mask = _mask(operator, results) if masked and len(results) > 1 else ()
    returned = _returned(listings, results)
    somewhere_missing = (any(r not in dict(x.returns) for x in listings) for r in results)
    start = [name for name, missing in zip(returned, somewhere_missing, strict=True) if mask or missing]
    ways = (
        merged(listings, tuple(results), masked=masked, joins=joins, taken=frame.reserved) for joins in (False, True)
    )
    body = least_asked(body for lines in ways for body in _bodies(lines, switches, results, mask))
    text = [*_nothing(start), *_precision(programs, operator, listings, body, anchor, upcast=frame.upcast), *body]
    used = used_names("\n".join((*text, *returned)))
    tensors = _tensors(programs, operator, used)
    return TorchFunction(
        name,
        tensors,
        tuple(a.name for a in params if a.name in used),
        tuple(returned),
        tuple(text),
        tuple(h for h in RUNTIME if h in used),
        "math" in used,
        mask,
        MASK if mask else "",
        tuple(dict.fromkeys(v for x in listings for v in x.views)),
        tuple(t for t in tensors if t != anchor and not all(any(i.name == t for i in p.inputs) for _, p in programs)),
    )


def is_upcast(programs: Sequence[tuple[Variant, Program]], operator: Operator) -> bool:
    """Does a function compute half in float32?"""
    return _is_upcast([prepare(p) for _, p in programs], operator)


def _is_upcast(prepared: Sequence[Program], operator: Operator) -> bool:
    return not operator.wide and any(map(needs_upcast, prepared))


def _nothing(names: list[str]) -> list[str]:
    """Results that may stay unassigned, in lines that fit."""
    if not names:
        return []
    line = f"{' = '.join(names)} = None"
    half = (len(names) + 1) // 2
    return [line] if len(line) <= WIDTH else _nothing(names[:half]) + _nothing(names[half:])


def _precision(
    programs: Sequence[tuple[Variant, Program]],
    operator: Operator,
    listings: Sequence[Listing],
    body: list[str],
    anchor: str,
    *,
    upcast: bool,
) -> list[str]:
    """The dtype of the results, and the arguments in the dtype that computing is done in."""
    floats = tuple(dict.fromkeys(name for x in listings for name in x.floats))
    other = stored_otherwise(programs)
    dtype = f"{anchor}.dtype" if anchor else _first_dtype(programs, operator)
    needed = "dtype" in used_names("\n".join(body)) or any(n in other for n in floats)
    out = [f"dtype = {dtype}"] if needed else []
    out += [f"{n} = in_compute_dtype({n}, dtype)" for n in floats if n in other]
    return [*out, *(_upcast(tuple(n for n in floats if n not in other)) if upcast else ())]


def stored_otherwise(programs: Sequence[tuple[Variant, Program]]) -> frozenset[str]:
    """The arguments that need not have the dtype of the operator; beside one of them no cotangent need have it."""
    every = [t for _, p in programs for t in p.inputs if t.kind is Kind.FLOAT]
    stated = {t.name for t in every if t.dtype}
    return frozenset(stated | {t.name for t in every if stated and t.role is Role.COTANGENT})


def _anchor(programs: Sequence[tuple[Variant, Program]], operator: Operator) -> str:
    """A float argument that every call has, whose dtype the results have; empty where there is none."""
    other = stored_otherwise(programs)
    every = [
        [t for t in p.inputs if t.kind is Kind.FLOAT and t.role is not Role.SAVED and t.name not in other]
        for _, p in programs
    ]
    shared = (t.name for t in every[0] if all(any(u.name == t.name for u in other) for other in every))
    passed = (t.name for floats in every for t in floats if _origin(t) not in operator.optional)
    given = (t.name for t in operator.inputs if t.kind is Kind.FLOAT and t.name not in operator.optional)
    return next((name for names in (shared, passed, given) for name in names), "")


def _origin(t: Tensor) -> str:
    """The input or output that an argument is, or is a cotangent or tangent of, of any order."""
    return (t.of or t.name).removeprefix("grad_")


def _first_dtype(programs: Sequence[tuple[Variant, Program]], operator: Operator) -> str:
    """The dtype of whichever float argument is there, where no variant shares one with all the others."""
    floats = [next((t.name for t in p.inputs if t.kind is Kind.FLOAT), None) for _, p in programs]
    if stored_otherwise(programs):
        floats = [t.name for t in operator.inputs if t.kind is Kind.FLOAT]
    found = tuple(dict.fromkeys(n for n in floats if n is not None))
    if not found:
        return "torch.get_default_dtype()"
    if None in floats:
        return f"next((t.dtype for t in {tupled(found)} if t is not None), torch.get_default_dtype())"
    return f"next(t for t in ({', '.join(found)}) if t is not None).dtype"


def _upcast(floats: tuple[str, ...]) -> list[str]:
    """One line for as many as fit."""
    if not floats:
        return []
    if len(floats) == 1:
        return [f"{floats[0]} = upcast({floats[0]})"]
    line = f"{', '.join(floats)} = upcast_all({', '.join(floats)})"
    if len(line) <= WIDTH:
        return [line]
    half = (len(floats) + 1) // 2
    return _upcast(floats[:half]) + _upcast(floats[half:])


def _several_batches(variant: Variant, operator: Operator) -> bool:
    """Do several inputs of this variant have batch dims, which may then differ?"""
    missing = [c.name for c in variant.conditions if isinstance(c, Given) and not c.present]
    return sum(BATCH in t.shape and t.name not in missing for t in operator.inputs) > 1


def _results(programs: Sequence[tuple[Variant, Program]]) -> dict[str, str]:
    """Every result of any variant, in order, and what it is the gradient of."""
    longest = max((p.outputs for _, p in programs), key=len)
    every = (*longest, *(o for _, p in programs for o in p.outputs))
    return {o.name: o.of for o in dict.fromkeys(every)} if every else {}


def _returned(listings: Sequence[Listing], results: dict[str, str]) -> list[str]:
    """The local name of each result, the same in every variant."""
    names = {r: dict.fromkeys(n for x in listings for q, n in x.returns if q == r) for r in results}
    return [next(iter(names[r])) for r in results]


def _tensors(programs: Sequence[tuple[Variant, Program]], operator: Operator, used: tuple[str, ...]) -> tuple[str, ...]:
    """The tensor arguments in use; an input may be there for a condition only."""
    order = (Role.COTANGENT, Role.TANGENT, Role.SAVED)
    found = [t.name for role in order for _, p in programs for t in p.inputs if t.role is role]
    return tuple(t for t in dict.fromkeys((*found, *(t.name for t in operator.inputs))) if t in used)


# --- gradients on demand ---------------------------------------------------------------------------------------------


def _mask(operator: Operator, results: dict[str, str]) -> tuple[str, ...]:
    """What the entries of the mask stand for: cotangents that have gradients, then every input of the operator."""
    inputs = tuple(t.name for t in operator.inputs)
    return (*(of for of in dict.fromkeys(results.values()) if of not in inputs), *inputs)


def _bodies(
    lines: Sequence[Line], switches: Switches, results: dict[str, str], mask: tuple[str, ...]
) -> Iterator[list[str]]:
    """The function with its lines in the order given, and in one that has them together by condition."""

    def label(x: Line) -> Label:
        key = _key(x, results) if mask else ()
        some = switches.with_some(tuple(results[r] for r in key)) if len(key) < len(results) and mask else switches
        return x.variants & some.everything, key

    for order in (lines, scheduled(lines, label, (switches.everything, tuple(results) if mask else ()))):
        yield _masked(order, switches, results, mask) if mask else laid_out(order, switches)


def _masked(lines: Sequence[Line], switches: Switches, results: dict[str, str], mask: tuple[str, ...]) -> list[str]:
    """Lines that every result needs, then those that some need, then for each result its own."""
    out: list[str] = []
    shared = [x for x in lines if len(x.results) > 1 or x.step.size]
    i = 0
    while i < len(shared):
        key = _key(shared[i], results)
        j = i
        while j < len(shared) and _key(shared[j], results) == key:
            j += 1
        out += _guarded(shared[i:j], switches, results, key, mask)
        i = j
    for r in results:
        own = [x for x in lines if x.results == (r,) and not x.step.size]
        out += _guarded(own, switches, results, (r,), mask)
    return out


def _key(x: Line, results: dict[str, str]) -> tuple[str, ...]:
    return tuple(results) if x.step.size else x.results


def _guarded(
    lines: list[Line], switches: Switches, results: dict[str, str], key: tuple[str, ...], mask: tuple[str, ...]
) -> list[str]:
    if not lines:
        return []
    if len(key) == len(results):
        return laid_out(lines, switches)
    tests = [f"{MASK}[{mask.index(results[r])}]" for r in key]
    inside = laid_out(lines, switches.with_some(tuple(results[r] for r in key)))
    return collapsed([f"if {' or '.join(tests)}:", *(f"    {line}" for line in inside)])
