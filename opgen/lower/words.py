"""Params of words: which words there are, and whether they stand for a reduction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from opgen.diagnostics.model import Bag
from opgen.ir.reductions import REDUCTIONS
from opgen.lang.foreign import renamed
from opgen.lang.nodes import Call, Compare, Name, Reduction, Text
from opgen.lang.walk import nodes, statement_names
from opgen.lower.declare import Declarations
from opgen.schema.formula import Formula

_USUAL = ("mean", "sum")


def check_words(d: Declarations, bag: Bag) -> None:
    """Params of words say which words there are."""
    for name, p in d.params.items():
        if p.type != "str" or p.choices:
            continue
        default = p.default.text.strip() if isinstance(p.default, Formula) else ""
        compared = (*_compared_with(d, name),)
        words = dict.fromkeys((*compared, *([default] if default else [])))
        if not compared and (over := _standing(d, name)) is not None:
            lost, known, default = _reductions(d, over, default)
        else:
            lost, known = "", (*words, *(["…"] if len(words) < 2 else []))
        line = f"{name}: {{choices: [{', '.join(known)}]{f', default: {default}' if default else ''}}}"
        bag.error("OPG117", f"the string param `{name}` needs choices", p.span, hints=(f"{lost}write `{line}`",))


def stands(word: str) -> bool:
    """Whether a word may be a choice of a param that stands for a reduction."""
    return word == "none" or (word in REDUCTIONS and not REDUCTIONS[word].keeps_index)


def _standing(d: Declarations, name: str) -> Reduction | Call | None:
    """Where a param stands for a reduction, perhaps one whose index is not named."""
    found = (n for s in (*d.forward, *d.backward) for n in nodes(s.value))
    return next((n for n in found if isinstance(n, Reduction | Call) and n.name == name), None)


def _reductions(d: Declarations, over: Reduction | Call, default: str) -> tuple[str, tuple[str, ...], str]:
    """What is said of a default that stands for no reduction, the choices of a param that does, and its default."""
    usual = (*_USUAL, *(("none",) if default == "none" or _may_be_none(d, over) else ()))
    if not default:
        return "", usual, ""
    if stands(default):
        return "", (*([default] if default not in usual else []), *usual), default
    meant = renamed(d.words, replace(over, name=default)) if isinstance(over, Reduction) else None
    found = meant.name if isinstance(meant, Reduction) and stands(meant.name) else _USUAL[0]
    return f"`{default}` is no choice of a reduction: ", (*([found] if found not in usual else []), *usual), found


def _may_be_none(d: Declarations, over: Reduction | Call) -> bool:
    """Whether no other statement reads what has more axes where nothing is reduced, and no shape is declared for it."""
    both = (*d.forward, *d.backward)
    own = {
        s.target.name for s in both if any(isinstance(n, type(over)) and n.name == over.name for n in nodes(s.value))
    }
    read = {n for s in both for n in statement_names(s)}
    return own.isdisjoint(read) and not any(d.output_shapes.get(n) is not None for n in own)


def _compared_with(d: Declarations, name: str) -> Iterator[str]:
    """The words that statements compare a param with."""
    parts = [n for s in (*d.forward, *d.backward) for e in (s.value, s.guard) if e is not None for n in nodes(e)]
    for e in parts:
        if isinstance(e, Compare) and any(isinstance(o, Name) and o.name == name for o in e.operands):
            yield from (o.value for o in e.operands if isinstance(o, Text))
            yield from (o.name for o in e.operands if isinstance(o, Name) and o.name != name)
