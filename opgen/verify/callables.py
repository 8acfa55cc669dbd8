"""Callables of other libraries that a spec names and nobody finds: warnings, because a spec may be written elsewhere.

In: an operator. Out: one `OPG122` per path that leads nowhere, and for a reference that takes other arguments. Of
libraries that everybody knows the attribute is looked up; any other package is only looked for, never run, because a
spec is data.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from importlib import import_module
from importlib.util import find_spec

from opgen.diagnostics.model import Diagnostic, Hint, Severity
from opgen.diagnostics.suggest import did_you_mean, did_you_mean_part
from opgen.ir.operator import Callable, Operator
from opgen.verify.signatures import call_of, mismatch, renamed, taken

_KNOWN = ("torch", "numpy", "scipy", "math")


def not_found(operator: Operator) -> tuple[Diagnostic, ...]:
    """A warning for every path that leads nowhere on this machine."""
    return tuple(d for c in operator.callables if (d := _judged(operator, c)) is not None)


def _judged(operator: Operator, c: Callable) -> Diagnostic | None:
    root, *names = c.path.split(".")
    if find_spec(root) is None:
        hints = did_you_mean(root, _KNOWN)
        return None if root in _KNOWN else _warning(c, f"there is no package `{root}` here", hints)
    if root not in _KNOWN:
        return None
    found: object = import_module(root)
    for k, name in enumerate(names):
        inner = getattr(found, name, None)
        if inner is None:
            inner = _module(".".join((root, *names[: k + 1])))
        if inner is None:
            before = ".".join((root, *names[:k]))
            hints = tuple(_whole(before, hint) for hint in did_you_mean_part(name, dir(found)))
            return _warning(c, f"`{before}` has no `{name}`", hints)
        found = inner
    if not callable(found):
        return _warning(c, f"`{c.path}` cannot be called", ())
    return _as_reference(operator, c, found) if c.path == operator.docs.reference else None


def _as_reference(operator: Operator, c: Callable, found: Function[..., object]) -> Diagnostic | None:
    """A warning where a reference does not take what the operator does."""
    fault = mismatch(operator, found)
    if not fault:
        return None
    hint = "name a function that takes the same, such as one of your own around it, or leave `reference` out"
    hints = [hint]
    if (meant := renamed(operator, found)) is not None:
        hints = [f"the tests pass params by name: if that is what `{meant[0]}` is, call it `{meant[1]}`", f"or {hint}"]
    notes = (f"it takes `{shown}`",) if (shown := taken(found)) else ()
    message, label = f"`{c.path}` cannot be called like `{call_of(operator)}`: {fault}", "takes other arguments"
    return Diagnostic("OPG122", message, c.span, label, notes=notes, hints=tuple(hints), severity=Severity.WARNING)


def _whole(before: str, hint: str) -> str:
    """A hint about the name behind a part of a path, about the path."""
    words = hint.replace("`", f"`{before}.", 1)
    return Hint(words, f"{before}.{hint.old}", f"{before}.{hint.new}") if isinstance(hint, Hint) else words


def _module(path: str) -> object:
    """A submodule that its package does not import by itself."""
    try:
        return import_module(path)
    except ImportError:
        return None


def _warning(c: Callable, message: str, hints: tuple[str, ...]) -> Diagnostic:
    return Diagnostic("OPG122", message, c.span, "not found", hints=hints, severity=Severity.WARNING)
