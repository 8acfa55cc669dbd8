"""What gradients are called where a gradient is stated, for someone who calls them as others do.

In goes a name that nothing has; out come hints.
"""

from __future__ import annotations

import re

from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import listed
from opgen.ir.program import Kind
from opgen.ir.scalar import Batch
from opgen.lang.nodes import Dots
from opgen.lower.declare import Declarations
from opgen.lower.scope import Frame

_GRADIENT = re.compile(r"(?:d[lL]_?d|grad|bar|g|d)_?(?P<behind>\w+)|(?P<before>\w+?)_?(?:grad|bar)")


_OUTPUT = "output"  # what torch calls any of them


def _given(f: Frame) -> list[str]:
    """The gradients with respect to outputs, where a gradient is stated."""
    given = [f"grad_{n}" for n in f.decl.outputs if f"grad_{n}" in f.state.tensors]
    if given or not is_stated(f):
        return given
    kinds = {n: t.kind for n, t in f.state.tensors.items()}
    return [f"grad_{n}" for n in f.decl.outputs if kinds.get(n) is Kind.INT]  # floats as soon as one is read


def is_stated(f: Frame) -> bool:
    """Whether what is assigned stands in `backward`."""
    return any(s.target.name == f.target for s in f.decl.backward)


def stated_by(d: Declarations) -> list[str]:
    """The gradients that a block gives under other names, `dw` or `w_grad`; else one that has the shape of the first.

    In go the declarations of a spec whose `backward` assigns the gradient of no input.
    """
    known = [n for n, t in d.inputs.items() if t.kind in ("float", "complex") and t.differentiable]
    named = [n for s in d.backward for n in known if n.lower() == _of(s.target.name)]
    items = d.backward[0].target.items or ()
    alike = [n for n in known if [isinstance(i, Dots) for i in items] == [isinstance(i, Batch) for i in d.shapes[n]]]
    return [f"grad_{n}" for n in dict.fromkeys(named) or (alike or known)[:1]]


def _of(name: str) -> str:
    """What a name says to be the gradient with respect to, in small letters; empty where it says nothing like it."""
    found = _GRADIENT.fullmatch(name)
    return (found["behind"] or found["before"]).lower() if found else ""


def cotangent_by(f: Frame, name: str) -> tuple[str, ...]:
    """The gradient that someone means who calls it as others do: `dy`, `gy`, `y_grad`, `dL_dy`."""
    given, of = _given(f), _of(name)
    if not given or not of:
        return ()
    known = [n for n in (*given, *f.state.tensors) if n.startswith("grad_")]
    meant = [n for n in known if n.removeprefix("grad_").lower() == of]
    meant = meant or [n for n in given if len(of) > 2 and n.startswith(f"grad_{of}")]
    if not meant and of in f.decl.inputs:
        return cotangents_by(f, name)
    return (f"did you mean `{meant[0]}`?",) if meant else ()


def cotangents_by(f: Frame, name: str) -> tuple[str, ...]:
    """What the gradients that come from behind are called, for a name that may mean any of them."""
    given = _given(f)
    if not given or not (name.startswith(("g", "d", "upstream", "cotangent")) or "grad" in name):
        return ()
    told = f"the gradient with respect to an output is {listed(given)}"
    return (Hint(told, name, given[0]) if len(given) == 1 and name == f"grad_{_OUTPUT}" else told,)
