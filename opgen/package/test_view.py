"""The generated test file as finished text: cases with their samples, params and expected values.

In: an operator, the derived programs of each variant, and whether it has a forward mode. Out: a
`TestView` for `templates/test_op.py.j2`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from opgen.code.layout import bracketed, imported
from opgen.code.names import function_name
from opgen.code.signature import takes_out
from opgen.ir.evaluate import Value
from opgen.ir.interp import Array
from opgen.ir.operator import Operator, surface
from opgen.ir.program import Kind
from opgen.ir.storage import STORED
from opgen.opt.derive import Derived
from opgen.package.sample_arrays import InputSample
from opgen.package.sample_cases import holds_constant
from opgen.package.sample_values import is_known, states_gradients
from opgen.package.samples import SampleCase
from opgen.package.view_module_call import attribute
from opgen.torch.elsewhere import BACK_ENDS, called, torch_function_name

WIDTH = 120
_ARGUMENT_INDENT = 12
_INPUT_INDENT = 16


@dataclass(frozen=True, slots=True)
class CaseView:
    """The pieces of one `Case(…)`: each entry is a finished line or block at its own indentation."""

    name: str
    inputs: tuple[str, ...]
    params: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TestView:
    """What the template of a test file may see."""

    __test__ = False  # pytest takes the name for a test class

    op: str
    class_name: str
    imports: str
    helpers: str
    math: str
    attributes: tuple[str, ...]
    oracle: str
    cases: tuple[CaseView, ...]


def test_view(
    operator: Operator,
    derived: Sequence[Derived],
    samples: Sequence[SampleCase],
    *,
    forward_mode: bool,
    class_name: str,
    module: str | None,
    module_call: str,
) -> TestView:
    """Everything that the generated tests of an operator say about it; `module_call` makes a small module."""
    cases = tuple(_case(c, operator) for c in samples)
    text = "\n".join(line for c in cases for line in (*c.inputs, *c.results))
    helpers = [h for h in ("bools", "complexes", "floats", "ints") if f"{h}(" in text]
    numbers = [n for n in ("inf", "nan") if n in _words(text)]
    function = function_name(operator)
    own = operator.name if function == operator.name else f"{operator.name} as {function}"
    names = [own, *([f"{operator.name}_"] if operator.inplace else []), *([module] if module else [])]
    attributes = _attributes(operator, derived, forward_mode, module_call)
    names += ["function"] if any("function." in line for line in attributes) else []
    return TestView(
        op=operator.name,
        class_name=class_name,
        imports=imported(".", names),
        helpers=", ".join(("Case", "OperatorTests", *helpers)),
        math=", ".join(numbers),
        attributes=attributes,
        oracle=_ORACLE if "function" not in names else _NO_ORACLE,
        cases=cases,
    )


_ORACLE = "Expected values come from plain loops over the formula; the samples are a fixed sequence."
_NO_ORACLE = "Expected values come from the other library, called directly; the samples are a fixed sequence."


test_view.__test__ = False  # type: ignore[attr-defined]


def _words(text: str) -> list[str]:
    return text.replace("[", " ").replace("]", " ").replace(",", " ").replace("-", " ").split()


def _attributes(
    operator: Operator,
    derived: Sequence[Derived],
    forward_mode: bool,
    module_call: str,
) -> tuple[str, ...]:
    smooth_kinds = (Kind.FLOAT, Kind.COMPLEX)
    gradient = [operator.shown(t.name) for t in operator.operands if t.kind in smooth_kinds and t.differentiable]
    refused = operator.elsewhere is not None and operator.elsewhere.backward is None
    outputs = () if refused else tuple(surface(operator.pairs, operator.variants[0].program.outputs))
    smooth = [k for k, o in enumerate(outputs) if o.kind in smooth_kinds and o.differentiable]
    lines = [f"operator = staticmethod({function_name(operator)})"]
    lines += [f"differentiable = {_tuple([quoted(n) for n in gradient if smooth])}"]
    if smooth != [0]:
        lines += [f"smooth_outputs = {_tuple([str(k) for k in smooth])}"]
    if operator.unbroadcast:
        lines += [f"unbroadcast = {_tuple([quoted(operator.shown(n)) for n in operator.unbroadcast])}"]
    if operator.docs.reference:
        lines += [f"reference = {quoted(operator.docs.reference)}"]
    constant = holds_constant(derived)
    if states_gradients(operator):
        lines += ["stated_gradient = True"]
    if any(d.stated for d in derived):
        lines += ["stated_twice = True"]
    if constant:
        lines += ["held = True"]
    if not all(is_known(v.program) for v in operator.variants):
        lines += [f"formula = staticmethod(function.{operator.name}_forward)"]
        if operator.spelled:
            renamed = [f"({quoted(own)}, {quoted(shown)})" for own, shown in operator.spelled]
            lines += [f"renamed = {_tuple(renamed)}"]
    found = [f for f in called(operator) if f.value is None]
    if found:
        lines += [f"elsewhere = {_tuple([f'function.{torch_function_name(f.name)}' for f in found])}"]
    if any(f.spelling(*BACK_ENDS) is None for f in found):
        lines += ["native_only = True"]
    if operator.tests.tolerances:
        given = [f"({quoted(t)}, {rtol!r}, {atol!r})" for t, (rtol, atol) in operator.tests.tolerances]
        lines += [f"tolerances = {_tuple(given)}"]
    if any(o.dtype and o.kind is Kind.FLOAT for o in outputs):
        named = [STORED[o.dtype].torch if o.dtype and o.kind is Kind.FLOAT else "" for o in outputs]
        lines += [f"stored = {_tuple([quoted(name) for name in named])}"]
    if not forward_mode:
        lines += ["forward_mode = False"]
    if operator.flags.once_differentiable:
        lines += ["once_differentiable = True"]
    if operator.inplace:
        shown = operator.shown(operator.inplace)
        lines += [f"inplace = staticmethod({operator.name}_)", f"overwritten = {quoted(shown)}"]
    if not takes_out(operator):
        lines += ["takes_out = False"]
    if module_call:
        make = module_call.removesuffix("()") if module_call.endswith("()") else f"lambda: {module_call}"
        lines += [f"make_module = staticmethod({make})"]
    return (*lines, *_state(operator))


def _state(operator: Operator) -> list[str]:
    """What the tests know of a module that does something else in training than in evaluation."""
    module, shown = operator.module, operator.shown
    if not (module.updates or module.training):
        return []
    names = [o.name for o in surface(operator.pairs, operator.variants[0].program.outputs)]
    owned = [shown(st.input) for st in module.states]
    params = [shown(a.name) for a in operator.stated if a.name != module.training]
    pairs = {
        "owned": [f"({quoted(n)}, {quoted(attribute(n))})" for n in owned],
        "stored_params": [f"({quoted(n)}, {quoted(attribute(n))})" for n in params],
        "updates": [f"({quoted(shown(b))}, {names.index(o)})" for b, o in module.updates],
    }
    lines: list[str] = []
    for name, found in pairs.items():
        if found:
            lines += (
                bracketed(f"{name} = (", found, ",)" if len(found) == 1 else ")", 4).replace("\n    ", "\n").split("\n")
            )
    if module.training:
        lines += [f"training = {quoted(shown(module.training))}"]
    return lines


def quoted(text: str) -> str:
    """A Python string literal in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _tuple(items: list[str]) -> str:
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _case(c: SampleCase, operator: Operator) -> CaseView:
    return CaseView(
        name=quoted(c.name),
        inputs=tuple(
            f"{quoted(n)}: None," if s is None else _sample(quoted(n), s)
            for n, s in ((operator.shown(n), s) for n, s in c.inputs)
        ),
        params=tuple(f"{quoted(operator.shown(n))}: {literal(v)}," for n, v in c.params),
        results=tuple(
            _results(name, arrays)
            for name, arrays in (("expected", c.expected), ("gradients", c.gradients), ("second", c.second))
            if arrays
        )
        + (("pinned=True,",) if c.pinned else ()),
    )


def _sample(name: str, s: InputSample) -> str:
    parts = [_size(item) for item in s.shape]
    if s.values:
        parts.append(bracketed("values=(", [_number(v) for v in s.values], ",)" if len(s.values) == 1 else ")", 20))
    elif s.kind is Kind.INT:
        parts += ([f"low={int(s.low)}"] if s.low else []) + [f"high={int(s.high)}"]
    elif s.kind in (Kind.FLOAT, Kind.COMPLEX) and (s.low, s.high) != (-2.0, 2.0):
        parts += [f"low={s.low!r}", f"high={s.high!r}"]
    if s.salt and not s.values:
        parts.append(f"salt={s.salt}")
    if s.dtype:
        parts.append(f"dtype={quoted(s.dtype)}")
    if s.apart is not None:
        parts.append(f"apart={s.apart}")
    if s.shift:
        parts.append(f"shift={s.shift}")
    maker = {Kind.FLOAT: "floats", Kind.INT: "ints", Kind.BOOL: "bools", Kind.COMPLEX: "complexes"}[s.kind]
    text = bracketed(f"{name}: {maker}(", parts, "),", _INPUT_INDENT)
    return text.replace("\n" + " " * _INPUT_INDENT, "\n")


def _size(item: int | tuple[int, ...]) -> str:
    return str(item) if isinstance(item, int) else _tuple([str(i) for i in item])


def literal(value: object) -> str:
    """A param value as Python source."""
    match value:
        case str():
            return quoted(value)
        case list() | tuple():
            return f"[{', '.join(literal(v) for v in value)}]"
        case float() if not math.isfinite(value):
            return f"float({quoted(str(value))})"
        case _:
            return repr(value)


def _results(name: str, arrays: tuple[Array, ...]) -> str:
    """`expected=([…],),`: a tuple of flat lists, on one line where there is one list and it fits."""
    lists = [[_number(v) for v in a.data] for a in arrays]
    line = f"{name}=([{', '.join(lists[0])}],),"
    if len(lists) == 1 and len(line) + _ARGUMENT_INDENT <= WIDTH:
        return line
    blocks = [block for items in lists for block in _numbers(items)]
    return "\n".join([f"{name}=(", *(f"    {b}" for b in blocks), "),"])


def _numbers(items: list[str]) -> list[str]:
    """The lines of a list: one where it fits, else a number each."""
    line = f"[{', '.join(items)}],"
    if len(line) + _ARGUMENT_INDENT + 4 <= WIDTH:
        return [line]
    return ["[", *(f"    {item}," for item in items), "],"]


def _number(v: Value) -> str:
    """Ten significant digits: more than any test compares, fewer than two math libraries could disagree on."""
    if isinstance(v, bool | int):
        return str(v)
    return str(float(f"{v:.10g}")).replace("e+", "e")


__all__ = ["CaseView", "TestView", "literal", "quoted", "test_view"]
