"""Reductions and index operators in torch code.

In goes a `Compute` with an operator; out comes the value of its target. The batch dims, of unknown number, are
reduced by flattening them into rows first (`as_rows`), so batch rank 0 needs no case of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from opgen.code.printer import Text
from opgen.ir.program import Axis, Compute, Kind, Loop
from opgen.ir.reductions import REDUCTIONS
from opgen.ir.scalar import BATCH, Read, Scalar, walk
from opgen.torch.body import as_kind, body_value, expanded
from opgen.torch.contract import contraction
from opgen.torch.convolution import convolved
from opgen.torch.dialect import ATOM
from opgen.torch.scope import Scope, batch_leading, loops_of
from opgen.torch.values import Value, permuted

Space = tuple[Loop, ...]


def _method(name: str) -> Callable[[Text, str], str]:
    return lambda t, dims: f"{t.at(ATOM)}.{name}({dims})"


def _function(name: str) -> Callable[[Text, str], str]:
    return lambda t, dims: f"{name}({t.text}{', ' if dims else ''}{dims})"


_REDUCED: dict[str, Callable[[Text, str], str]] = {
    "sum": _method("sum"),
    "prod": _function("prod"),
    "mean": _method("mean"),
    "max": _function("amax"),
    "min": _function("amin"),
    "logsumexp": _function("logsumexp"),
    "norm": lambda t, dims: f"torch.linalg.vector_norm({t.text}{', dim=' if dims else ''}{dims})",
    "var": _function("variance"),
    "any": _method("any"),
    "all": _method("all"),
    "count": _method("sum"),
    "argmax": _method("argmax"),
    "argmin": _method("argmin"),
}

_KEPT: dict[str, str] = {
    "softmax": "softmax({dim})",
    "log_softmax": "log_softmax({dim})",
    "cumsum": "cumsum({dim})",
    "cumprod": "cumprod({dim})",
    "logcumsumexp": "logcumsumexp({dim})",
    "argsort": "argsort(dim={dim}, stable=True)",
}


def reduction(scope: Scope, s: Compute) -> Value:
    """The value of a reduction, over its target's loops (batch first) or some of them."""
    assert s.op is not None
    kept = batch_leading(s.axes)
    if REDUCTIONS[s.op].keeps_index:
        return _index_operator(scope, s, kept)
    value = convolved(scope, s)
    if value is not None:
        return value
    if s.op == "sum":
        value = contraction(scope, s.body, kept, s.over)
        if value is not None:
            return value
    space = batch_leading(_natural(s.body, kept, s.over))
    seen = loops_of(s.body, space)
    space = tuple(loop for loop in space if loop in s.over or loop in seen)
    value = body_value(scope, s.body, space)
    if any(loop not in value.loops for loop in space if loop not in s.over):
        space = tuple(loop for loop in space if loop in s.over or loop in value.loops)
        value = body_value(scope, s.body, space)
    if value.text.number and REDUCTIONS[s.op].result == "same":
        value = as_kind(scope, value, s.kind)  # an extreme of no integers at all would have no value
    value = _ready(scope, s.op, _converted(scope, s.op, value), space, s.over)
    return _reduced(s, value, space, kept)


def _converted(scope: Scope, op: str, value: Value) -> Value:
    """The body in a kind that torch reduces."""
    if REDUCTIONS[op].result == "float":
        return as_kind(scope, value, Kind.FLOAT)
    counts = value.text.kind is Kind.BOOL and not REDUCTIONS[op].takes_condition
    return as_kind(scope, value, Kind.INT) if counts else value


def _ready(scope: Scope, op: str, value: Value, space: Space, over: Space) -> Value:
    """The body with every reduced dim there, in full where broadcasting would change the result."""
    if REDUCTIONS[op].result == "float" and value.text.kind is not Kind.FLOAT:
        value = as_kind(scope, value, Kind.FLOAT)
    partial = BATCH in over and not scope.whole_batch(value.batch)  # the rest of the batch may be empty
    missing = any(loop not in value.loops for loop in over)
    return expanded(scope, value, space) if partial or missing else value


def _reduced(s: Compute, value: Value, space: Space, kept: Space) -> Value:
    assert s.op is not None
    text, dims = value.text, [str(i - len(space)) for i, loop in enumerate(space) if loop in s.over and loop != BATCH]
    result = tuple(loop for loop in space if loop not in s.over)
    everything = not result
    if BATCH in s.over and not everything:
        named = len(space) - 1
        text = Text(f"as_rows({text.text})" if named == 1 else f"as_rows({text.text}, {named})", ATOM, text.kind)
        dims.insert(0, "0")
    joint = "" if everything else dims[0] if len(dims) == 1 else f"({', '.join(dims)})"
    if everything and BATCH not in space and len(space) == 1 and s.op in ("argmax", "argmin"):
        joint = "-1"
    kind = _kind(s.op, text.kind)
    code = _REDUCED[s.op](text, joint)
    batch = value.batch if BATCH in result else frozenset()
    return _ordered(Value(Text(code, ATOM, kind), result, batch), kept)


def _kind(op: str, body: Kind) -> Kind:
    """What the elements of a result are."""
    result = REDUCTIONS[op].result
    return Kind(result) if result != "same" else Kind.FLOAT if body is Kind.FLOAT else Kind.INT


def _ordered(v: Value, kept: Space) -> Value:
    return permuted(v, tuple(loop for loop in kept if loop in v.loops))


def _natural(body: Scalar, kept: Space, over: Space) -> Space:
    """Loops in the order in which the first access to have them all has them: a small result is permuted instead."""
    names = {a.name: a for a in (*kept, *over) if isinstance(a, Axis)}
    for node in walk(body):
        if not isinstance(node, Read) or len(node.at) != len(kept) + len(over):
            continue
        order = tuple(BATCH if p == BATCH else names.get(getattr(p, "name", "")) for p in node.at)
        loops = tuple(loop for loop in order if loop is not None)
        if len(dict.fromkeys(loops)) == len(kept) + len(over):
            return loops
    return (*kept, *over)


def _index_operator(scope: Scope, s: Compute, kept: Space) -> Value:
    assert s.op is not None
    value = body_value(scope, s.body, kept)
    kept = tuple(loop for loop in kept if loop in value.loops or loop in s.over)
    value = _converted(scope, s.op, body_value(scope, s.body, kept))
    if value.loops != kept or (BATCH in s.over and not scope.whole_batch(value.batch)):
        value = expanded(scope, value, kept)
    kind = _kind(s.op, value.text.kind)
    if len(s.over) == 1 and s.over[0] != BATCH:
        return value.method(_KEPT[s.op].format(dim=kept.index(s.over[0]) - len(kept)), kind=kind)
    dims = [str(kept.index(loop) - len(kept)) for loop in s.over if loop != BATCH]
    joint = f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"
    named = f", batch_before={len(kept) - 1}" if BATCH in s.over else ""
    return Value(Text(f"joint_{s.op}({value.text.text}, {joint}{named})", ATOM), value.loops, value.batch)
