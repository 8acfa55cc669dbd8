"""Callables of other libraries that a spec names and nobody finds: warnings, because a spec may be written elsewhere.

In: a spec without mistakes. Out: one `OPG122` per path. Of libraries that everybody knows the attribute is looked up;
any other package is only looked for, never run, because a spec is data.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

from opgen.diagnostics.model import Diagnostic, Severity
from opgen.diagnostics.suggest import did_you_mean
from opgen.schema.elsewhere import ALIASES, LIBRARIES, Callee
from opgen.schema.formula import Word
from opgen.schema.model import OpSpec

_KNOWN = ("torch", "numpy", "scipy", "math")


def not_found(spec: OpSpec) -> tuple[Diagnostic, ...]:
    """A warning for every path that leads nowhere on this machine."""
    return tuple(d for path in _paths(spec) if (d := _judged(path)) is not None)


def _paths(spec: OpSpec) -> Iterator[Word]:
    if spec.reference is not None:
        yield spec.reference
    for block in (spec.forward, spec.backward):
        if isinstance(block, Callee):
            yield block.path
    for f in spec.functions:
        yield from (name for library, name in f.extern if library in LIBRARIES)


def _judged(path: Word) -> Diagnostic | None:
    root, *names = path.split(".")
    if root in ALIASES:
        return None  # told where the spec is read
    if find_spec(root) is None:
        hints = did_you_mean(root, _KNOWN)
        return None if root in _KNOWN else _warning(path, f"there is no package `{root}` here", hints)
    if root not in _KNOWN:
        return None
    found: object = import_module(root)
    for k, name in enumerate(names):
        inner = getattr(found, name, None)
        if inner is None:
            inner = _module(".".join((root, *names[: k + 1])))
        if inner is None:
            before = ".".join((root, *names[:k]))
            hints = tuple(hint.replace("`", f"`{before}.", 1) for hint in did_you_mean(name, dir(found)))
            return _warning(path, f"`{before}` has no `{name}`", hints)
        found = inner
    return None if callable(found) else _warning(path, f"`{path}` cannot be called", ())


def _module(path: str) -> object:
    """A submodule that its package does not import by itself."""
    try:
        return import_module(path)
    except ImportError:
        return None


def _warning(path: Word, message: str, hints: tuple[str, ...]) -> Diagnostic:
    return Diagnostic("OPG122", message, path.span, "not found", hints=hints, severity=Severity.WARNING)
