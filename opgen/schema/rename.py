"""A spec with other names for inputs and params, in what is read beside the formulas of its blocks.

In go a spec and new names; out comes the spec whose entries, domains and cases use them. The text of `forward` and
`backward` stays as its author wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from opgen.schema.formula import Formula, Word
from opgen.schema.model import InputSpec, ModuleSpec, OpSpec, ParamSpec


def renamed_spec(spec: OpSpec, inside: Mapping[str, str]) -> OpSpec:
    """`inside` has the new name of every input and param that gets one."""
    if not inside:
        return spec
    cases = tuple({inside.get(n, n): v for n, v in case.items()} for case in spec.tests.cases)
    return spec.model_copy(
        update={
            "inputs": tuple(_entry(i, inside) for i in spec.inputs),
            "params": tuple(_entry(p, inside) for p in spec.params),
            "inplace": None if spec.inplace is None else _word(spec.inplace, inside),
            "module": None if spec.module is None else _module(spec.module, inside),
            "tests": spec.tests.model_copy(update={"cases": cases}),
        }
    )


def _entry(entry: InputSpec | ParamSpec, inside: Mapping[str, str]) -> InputSpec | ParamSpec:
    domain = None if entry.domain is None else _formula(entry.domain, inside)
    return entry.model_copy(update={"name": _word(entry.name, inside), "domain": domain})


def _module(module: ModuleSpec, inside: Mapping[str, str]) -> ModuleSpec:
    owned = {
        "parameters": tuple((_word(n, inside), text) for n, text in module.parameters),
        "buffers": tuple((_word(n, inside), text) for n, text in module.buffers),
    }
    return module.model_copy(update=owned)


def _word(word: Word, inside: Mapping[str, str]) -> Word:
    return Word(inside[word], word.span) if word in inside else word


def _formula(f: Formula, inside: Mapping[str, str]) -> Formula:
    """Only a formula that names one changes, and then it is its own source: what is wrong with it has been said."""
    text = re.sub(r"[A-Za-z_]\w*", lambda m: inside.get(m[0], m[0]), f.text)
    return f if text == f.text else Formula.plain(text)
