"""Test cases that a spec states under `tests`: names with values in; sizes, params and flat arrays out.

What does not fit (a ragged list, a size that contradicts another, text where a number belongs) is a mistake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from opgen.diagnostics.model import Bag, Span
from opgen.diagnostics.suggest import counted, did_you_mean, listed
from opgen.ir.declared import Nested, StatedCase
from opgen.schema.by_dims import shown, sizes_by_dims
from opgen.schema.formula import Word
from opgen.schema.leaves import truth
from opgen.schema.model import InputSpec, OpSpec, ParamSpec

_SHOWN = 40  # characters of values that are shown
_CONSTANTS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_NUMBER = (int, float)
_TYPES: Mapping[str, tuple[type, ...]] = {"float": _NUMBER, "complex": _NUMBER, "int": (int,), "bool": (bool,)}


# The largest values that a spec may write without a decimal point.
_LARGEST = {"float": 2**1023, "complex": 2**1023, "int": 2**63 - 1, "bool": 1}


def stated_case(spec: OpSpec, case: Mapping[str, object], bag: Bag) -> StatedCase:
    """One case, understood as far as it can be."""
    inputs: dict[str, Nested | None] = {}
    params: dict[str, object] = {}
    sizes: dict[str, int] = {}
    told: dict[str, str] = {}
    batches: dict[str, tuple[int, ...]] = {}
    tensors, arguments = {str(t.name): t for t in spec.inputs}, {str(p.name): p for p in spec.params}
    for name, value in case.items():
        if name in tensors:
            inputs[name] = _values(tensors[name], name, value, sizes, told, batches, bag)
        elif name in arguments:
            params[name] = _param(arguments[name], name, value, bag)
        elif not name[:1].isupper():
            continue  # no size: told where names are looked up
        elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
            _report(name, f"`{name}` is a size, and {value!r} is none that fits", bag)
        elif sizes.setdefault(name, value) != value:
            _report(name, f"`{name}` is {sizes[name]}{told[name]}, and {value} here", bag)
        else:
            told[name] = ""
    batch = _broadcast(list(batches.values()))
    if batch is None and batches:
        _report(next(iter(case)), "the batch dims of the inputs do not broadcast", bag)
    for name, own in batches.items():
        if batch is not None and own != batch and not tensors[name].broadcast:
            message = f"`{name}` has batch dims {list(own)} where the case has {list(batch)}, and does not broadcast"
            _report(next(n for n in case if n == name), message, bag)
    place = next((name.span for name in case if isinstance(name, Word)), None)
    return StatedCase(tuple(sizes.items()), tuple(params.items()), tuple(inputs.items()), batch, place)


def _values(
    t: InputSpec,
    name: str,
    value: object,
    sizes: dict[str, int],
    told: dict[str, str],
    batches: dict[str, tuple[int, ...]],
    bag: Bag,
) -> Nested | None:
    """The values of an input; the dims of its shape get their sizes, and `told` where they were told first."""
    if value is None:
        if not t.optional:
            _report(name, f"`{name}` is not optional", bag, "leave it away: its values are drawn")
        return None
    found = _nested(value, t.kind)
    if found is None:
        meant = _brackets(name, value) or _numbers(t, name, value)
        _report(name, f"the values of `{name}` are no array of dtype {t.dtype}", bag, *meant)
        return None
    items = [] if t.dtype == "seed" else ["..."] if t.shape is None else [item.text for item in t.shape]
    at = items.index("...") if "..." in items else len(items)
    after = len(items) - at - 1 if at < len(items) else 0
    rank = len(found.shape)
    if rank < at + after or ("..." not in items and rank != at):
        message = f"`{name}` has shape [{', '.join(items)}], and these values have {counted(rank, 'dimension')}"
        _report(name, message, bag, *(_as_sizes(items, value) or _in_brackets(name, value, at + after - rank)))
        return None
    ends = (*items[:at], *items[len(items) - after :])
    for item, size in zip(ends, (*found.shape[:at], *found.shape[rank - after :]), strict=True):
        if item.isdigit():
            if int(item) != size:
                message = (
                    f"`{name}` has shape [{', '.join(items)}], and these values have {size} in the place of {item}"
                )
                _report(name, message, bag)
        elif sizes.setdefault(item, size) != size:
            _report(name, f"`{item}` is {sizes[item]}{told[item]}, and {size} here", bag)
        else:
            told.setdefault(item, f" in `{name}`")
    if at < len(items):
        batches[name] = found.shape[at : rank - after]
    return found


def _nested(value: object, dtype: str) -> Nested | None:
    """None where lists are ragged or an element is not of the dtype."""
    if not isinstance(value, list):
        value = _CONSTANTS.get(value, value) if isinstance(value, str) and dtype == "float" else value
        fits = isinstance(value, _TYPES[dtype]) and (dtype == "bool") == isinstance(value, bool)
        if not fits or not isinstance(value, int | float) or (isinstance(value, int) and abs(value) > _LARGEST[dtype]):
            return None
        return Nested((), (value,))
    rows = [_nested(item, dtype) for item in value]
    first = rows[0] if rows else None
    if first is None or any(r is None or r.shape != first.shape for r in rows):
        return None
    return Nested((len(rows), *first.shape), tuple(v for r in rows if r is not None for v in r.flat))


def _param(p: ParamSpec, name: str, value: object, bag: Bag) -> object:
    if value is None:
        if not p.null:
            _report(name, f"`{name}` cannot be missing", bag, *_given(p, name))
        return None
    if p.choices:
        if value not in p.choices:
            known = f"write one of {listed(p.choices)}"
            meant = did_you_mean(value, p.choices) if isinstance(value, str) else ()
            _report(name, f"{value!r} is not among the choices of `{name}`", bag, *(meant or (known,)))
        return value
    found = _nested(value, p.type)
    if found is None or found.shape != (() if p.length is None else (p.length,)):
        told = _brackets(name, value) or _of_type(p, name, value)
        _report(name, f"{value!r} is not of the type of `{name}`", bag, *told)
        return None
    typed = [float(v) if p.type == "float" else v for v in found.flat]
    return typed[0] if p.length is None else typed


def _as_sizes(items: Sequence[str], value: object) -> tuple[str, ...]:
    """A hint where the sizes of an input stand for its values."""
    sizes = sizes_by_dims(items, value)
    return (f"these are values; sizes are written by dims: `{shown(sizes)}`",) if sizes is not None else ()


def _broadcast(batches: list[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The common batch dims; None where there are none or they do not go together."""
    if not batches:
        return None
    rank = max(map(len, batches))
    out = []
    for column in zip(*((1,) * (rank - len(b)) + b for b in batches), strict=True):
        wide = [n for n in column if n != 1]
        if any(n != wide[0] for n in wide):
            return None
        out.append(wide[0] if wide else 1)
    return tuple(out)


def _brackets(name: str, value: object) -> tuple[str, ...]:
    """A hint where a tuple of numbers, as Python writes it, stands for a list."""
    inside = re.fullmatch(r"\(([\w\s.,+-]*,[\w\s.,+-]*)\)", value) if isinstance(value, str) else None
    return (f"a list has square brackets: `{name}: [{inside[1].strip(' ,')}]`",) if inside else ()


def _numbers(t: InputSpec, name: str, value: object) -> tuple[str, ...]:
    """What values of an input are, where these are none."""
    if isinstance(value, list) and value and not isinstance(value[0], str):
        return ("all rows have as many elements, numbers of its dtype",)
    rank = len([item for item in t.shape or () if item.text != "..."])
    shown = {"bool": "true, false", "int": "0, 1"}.get(t.kind, "0.5, -1")
    return (f"values are nested lists: `{name}: {'[' * max(rank, 1)}{shown}{']' * max(rank, 1)}`",)


def _in_brackets(name: str, value: object, lacking: int) -> tuple[str, ...]:
    """Values with a pair of brackets for each dim that they lack."""
    text = str(value).lower()
    fits = lacking > 0 and len(text) < _SHOWN
    return (f"write `{name}: {'[' * lacking}{text}{']' * lacking}`",) if fits else ()


def _of_type(p: ParamSpec, name: str, value: object) -> tuple[str, ...]:
    """What is meant by a value of another type: a number in quotes, a list of one, a word for a truth value."""
    only = value[0] if isinstance(value, list) and len(value) == 1 and p.length is None else value
    if isinstance(only, str) and p.type == "bool" and (meant := truth(only)):
        return (f"write `{name}: {meant}`",)
    number = re.fullmatch(r"-?\d+" if p.type == "int" else r"-?\d+(\.\d*)?(e-?\d+)?", str(only))
    if number and p.type in ("int", "float") and p.length is None:
        fits = abs(float(str(only))) < _LARGEST[p.type]
        return (f"write `{name}: {only}`",) if fits else ()
    shown = "true" if p.type == "bool" else "2" if p.type == "int" else "0.5"
    whole = shown if p.length is None else f"[{', '.join([shown] * p.length)}]"
    return (f"its type is {p.type if p.length is None else f'a list of {p.length}'}: `{name}: {whole}`, say",)


def _given(p: ParamSpec, name: str) -> tuple[str, ...]:
    """What a param is given that cannot be missing."""
    return ("leave it away: it has a default",) if p.default is not None else _of_type(p, name, None)


def _report(name: str, message: str, bag: Bag, *hints: str) -> None:
    span: Span | None = name.span if isinstance(name, Word) else None
    bag.error("OPG120", message, span, hints=hints)
