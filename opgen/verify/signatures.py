"""Whether a reference can be called as the generated tests call it: with the tensors, and the params by name.

In: an operator, and the callable that its spec refers to. Out: what is wrong with the call, in Python's words. A
function in C says what it takes in the first lines of its documentation; one that says nothing is not judged.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature

from opgen.ir.operator import Operator, surface

_LINE = re.compile(r"^\s*(?:\.\. function:: )?[\w.]+\((?P<taken>.*)\)(?: ->.*)?$", re.MULTILINE)
_KINDS = (
    ("posonlyargs", Parameter.POSITIONAL_ONLY), ("args", Parameter.POSITIONAL_OR_KEYWORD),
    ("kwonlyargs", Parameter.KEYWORD_ONLY),
)  # fmt: skip


def mismatch(operator: Operator, reference: Callable[..., object]) -> str:
    """Why a call with everything that the operator has fails; empty where it need not."""
    faults = [_fault(operator, signature, named=named) for signature, named in _signatures(reference)]
    return faults[0] if faults and all(faults) else ""


def call_of(operator: Operator) -> str:
    """The call that the tests make."""
    tensors, params = _arguments(operator)
    return f"{operator.name}({', '.join((*tensors, *params))})"


def _fault(operator: Operator, signature: Signature, *, named: bool) -> str:
    by_name = [n for n, p in signature.parameters.items() if named and p.kind is not Parameter.POSITIONAL_ONLY]
    tensors, params = _arguments(operator)
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
    defaulted = {p.arg for p in (*a.posonlyargs, *a.args)[-len(a.defaults) :]} if a.defaults else set[str]()
    defaulted |= {p.arg for p, default in zip(a.kwonlyargs, a.kw_defaults, strict=True) if default is not None}
    made = [
        Parameter(p.arg, kind, default=None if p.arg in defaulted else Parameter.empty)
        for group, kind in _KINDS
        for p in getattr(a, group)
    ]
    rest = [Parameter(p.arg, kind) for p, kind in ((a.vararg, Parameter.VAR_POSITIONAL),
                                                   (a.kwarg, Parameter.VAR_KEYWORD)) if p is not None]  # fmt: skip
    return Signature(sorted((*made, *rest), key=lambda p: p.kind))
