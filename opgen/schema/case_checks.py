"""Names in the cases of `tests`: each is a dim, a param or an input, and what it is given stands right beside it."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.diagnostics.model import Bag, Label
from opgen.schema.by_dims import shown, sizes_by_dims
from opgen.schema.formula import Word
from opgen.schema.model import OpSpec
from opgen.schema.references import refers

_RESULTS = ("expected", "expect", "output", "outputs", "result", "results", "want")
_TOLERANCES = ("tolerances", "rtol", "atol")
_LONGEST = 90  # of a case that is shown with all its numbers


def check_case(spec: OpSpec, case: Mapping[str, object], known: tuple[str, ...], bag: Bag) -> None:
    """Report the names that a case cannot have, and values that stand one level too deep, once for a case."""
    unknown = {name: value for name, value in case.items() if name not in known}
    groups = {
        name: value for name, value in unknown.items() if isinstance(value, dict) and value and {*value} <= {*known}
    }
    apart = {name: value for name, value in unknown.items() if name in _TOLERANCES and name not in groups}
    for name in unknown:
        if name in apart and name == next(iter(apart)):
            refers(
                name, known, "dim, param or input", bag, f"tolerances stand beside the cases: `{_tolerances(apart)}`"
            )
        elif name not in groups and name not in apart:
            refers(name, known, "dim, param or input", bag, _result(spec, name))
    if not groups:
        return
    whole: dict[str, object] = {}
    for name, value in case.items():
        whole |= groups.get(name, {name: value} if name in known else {})
    hint = _as_sizes(spec, groups) or f"values stand directly in the case: `{_shown(whole)}`"
    first, *more = (name.span for name in groups if isinstance(name, Word))
    bag.error(
        "OPG116", f"`{next(iter(groups))}` is not a dim, param or input", first, label="not a dim, param or input",
        related=[Label(span, "nor is this") for span in more],
        hints=(hint,),
    )  # fmt: skip


def _tolerances(found: Mapping[str, object]) -> str:
    inner: dict[str, object] = {}
    for name, value in found.items():
        inner |= value if isinstance(value, dict) else {name: value}
    return f"tolerances: {_shown(inner)}"


def _as_sizes(spec: OpSpec, groups: Mapping[str, object]) -> str:
    """What is said of `sizes: {x: [2, 3]}` in a case, with nothing but shapes of inputs in it; else empty."""
    shapes = {str(t.name): [i.text for i in t.shape] for t in spec.inputs if t.shape is not None}
    given = [(name, v) for group in groups.values() if isinstance(group, dict) for name, v in group.items()]
    whole: dict[str, int] = {}
    for name, value in given:
        sizes = sizes_by_dims(shapes.get(name, ()), value)
        if sizes is None or any(whole.get(n, v) != v for n, v in sizes.items()):
            return ""
        whole |= sizes
    return f"sizes stand in the case by dims: `{shown(whole)}`" if [*groups] in (["sizes"], ["shapes"]) else ""


def other_size(spec: OpSpec, name: str, size: int) -> str:
    """What is meant by a size that is called by its argument of the module, or by a param; empty for any other name."""
    arguments = {} if spec.module is None else {str(a): dim for dim, a in spec.module.dims.items()}
    params = {str(p.name): str(p.name) for p in spec.params if p.type == "int" and p.length is None}
    params |= {str(d.name): param for d in spec.dims if (param := params.get(d.value.text.strip())) is not None}
    if name in arguments:
        return f"sizes have the names of dims: `sizes: {{{arguments[name]}: {size}}}`"
    return f"a param has its value in a case: `cases: [{{{params[name]}: {size}}}]`" if name in params else ""


def _result(spec: OpSpec, name: str) -> str:
    """What is said of a result in a case."""
    if name not in (*_RESULTS, *(str(o.name) for o in spec.outputs or ())):
        return "a case gives dims, params and inputs values, such as `{N: 3}`" if name == "shape" else ""
    return "leave it away: a case says what goes in, and results are compared with `reference`"


def _shown(values: Mapping[str, object]) -> str:
    """A case as YAML; long lists as `[…]`."""
    text = _yaml(values)
    return text if len(text) <= _LONGEST else _yaml({k: _short(v) for k, v in values.items()})


def _short(value: object) -> object:
    return ["…"] if isinstance(value, list) and len(_yaml(value)) > _LONGEST // 3 else value


def _yaml(value: object) -> str:
    match value:
        case dict():
            return f"{{{', '.join(f'{k}: {_yaml(v)}' for k, v in value.items())}}}"
        case list():
            return f"[{', '.join(map(_yaml, value))}]"
        case None | bool():
            return "null" if value is None else str(value).lower()
        case _:
            return str(value)
