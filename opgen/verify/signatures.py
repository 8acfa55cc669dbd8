"""Whether a reference can be called as the generated tests call it: with the tensors, and the params by name.

In: an operator, and the callable that its spec refers to. Out: what is wrong with the call, in Python's words. A
function in C says what it takes in the first lines of its documentation; one that says nothing is not judged.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter, Signature

from opgen.ir.operator import Operator, surface

_LINE = re.compile(r"^\s*(?:\.\. function:: )?[\w.]+\((?P<taken>.*)\)(?: ->.*)?$", re.MULTILINE)
_KINDS = (
    ("posonlyargs", Parameter.POSITIONAL_ONLY), ("args", Parameter.POSITIONAL_OR_KEYWORD),
    ("kwonlyargs", Parameter.KEYWORD_ONLY),
)  # fmt: skip
_STARS = ((Parameter.VAR_POSITIONAL, "*"), (Parameter.VAR_KEYWORD, "**"))
_OF_TORCH = ("out", "inplace", "dtype", "layout", "device", "requires_grad")  # of tensors, and no numbers

_AXES = ("dim", "axis", "dims")  # which are integers


def mismatch(operator: Operator, reference: Callable[..., object]) -> str:
    """Why a call with everything that the operator has fails; empty where it need not."""
    faults = [_fault(operator, signature, named=named) for signature, named in _signatures(reference)]
    return faults[0] if faults and all(faults) else ""


def taken(reference: Callable[..., object]) -> str:
    """What a reference takes, as a call: `celu(input, alpha, inplace)`; empty where it does not say."""
    for signature, _ in _signatures(reference):
        parts: list[str] = []
        for p in signature.parameters.values():
            if p.kind is Parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
                parts.append("*")
            parts.append("".join(star for kind, star in _STARS if kind is p.kind) + p.name)
        return f"{getattr(reference, '__name__', 'it')}({', '.join(parts)})"
    return ""


def renamed(operator: Operator, reference: Callable[..., object]) -> tuple[str, str] | None:
    """The param that the reference does not know, and its only name there under which the call is right."""
    params = {operator.shown(a.name): a.type for a in operator.params if a.tells is None and not a.null}
    known = (*_arguments(operator)[0], *params)
    found = [
        (own, name)
        for signature, named in _signatures(reference)
        for own in params
        for name, p in signature.parameters.items()
        if own not in signature.parameters and name not in known and _may_be(p, params[own])
        if not _fault(operator, signature, named=named, rename={own: name})
    ]
    return found[0] if len(found) == 1 else None


def _may_be(p: Parameter, kind: str) -> bool:
    """Whether a parameter may be what a param of this type is, as far as its name and default tell."""
    if p.name in _OF_TORCH or p.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
        return False
    if p.default is None or p.default is Parameter.empty:
        return kind == "int" or p.name not in _AXES
    return type(p.default).__name__ == kind or (kind == "float" and type(p.default) is int)


def call_of(operator: Operator) -> str:
    """The call that the tests make."""
    tensors, params = _arguments(operator)
    return f"{operator.name}({', '.join((*tensors, *params))})"


def _fault(operator: Operator, signature: Signature, *, named: bool, rename: Mapping[str, str] = {}) -> str:
    by_name = [n for n, p in signature.parameters.items() if named and p.kind is not Parameter.POSITIONAL_ONLY]
    tensors, params = _arguments(operator)
    params = [rename.get(n, n) for n in params]
    positional = [n for n in tensors if n not in by_name]
    try:
        signature.bind(*positional, **dict.fromkeys((*(n for n in tensors if n in by_name), *params)))
    except TypeError as error:
        return str(error)
    return ""


def _arguments(operator: Operator) -> tuple[list[str], list[str]]:
    """The tensors and the params that every call of a test may hold."""
    tensors = [operator.shown(t.name) for t in surface(operator.pairs, operator.inputs)]
    params = [operator.shown(a.name) for a in operator.params if a.tells is None and not a.null]
    return [n for n in tensors if n not in operator.seeds], params


def _signatures(function: Callable[..., object]) -> Iterator[tuple[Signature, bool]]:
    """What a function takes, by itself or by its documentation, where it may be several things.

    Besides, whether the tests pass it tensors by name, as they do where it says so itself.
    """
    try:
        yield inspect.signature(function), True
    except (TypeError, ValueError):
        for line in _LINE.finditer(inspect.getdoc(function) or ""):
            made = _parsed(line["taken"])
            if made is not None:
                yield made, False


def _parsed(taken: str) -> Signature | None:
    try:
        found = ast.parse(f"def f({taken}): ...").body[0]
    except SyntaxError:
        return None
    assert isinstance(found, ast.FunctionDef)
    a = found.args
    places = (*a.posonlyargs, *a.args)
    defaults = {p.arg: _value(e) for p, e in zip(places[len(places) - len(a.defaults) :], a.defaults, strict=True)}
    defaults |= {p.arg: _value(e) for p, e in zip(a.kwonlyargs, a.kw_defaults, strict=True) if e is not None}
    made = [
        Parameter(p.arg, kind, default=defaults.get(p.arg, Parameter.empty))
        for group, kind in _KINDS
        for p in getattr(a, group)
    ]
    rest = [Parameter(p.arg, kind) for p, kind in ((a.vararg, Parameter.VAR_POSITIONAL),
                                                   (a.kwarg, Parameter.VAR_KEYWORD)) if p is not None]  # fmt: skip
    return Signature(sorted((*made, *rest), key=lambda p: p.kind))


def _value(e: ast.expr) -> object:
    """A default as its documentation states it; None for one that is no literal."""
    return e.value if isinstance(e, ast.Constant) else None
