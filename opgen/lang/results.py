"""What a block returns, and what its results are stored in: hints on `outputs`.

Text and statements in, hints out, spelt with the outputs of the spec; where it lists none, these are the names that
are assigned and never read.
"""

from __future__ import annotations

import re

from opgen.lang.nodes import Assign, Call, Name
from opgen.lang.vocabulary import Vocabulary
from opgen.schema.dtypes import WHOLE

MORE = "…, "  # of an output that has fields beside its name
STATED = "dtype"  # of one that says what it is stored in

_COMMENT = re.compile(r"#.*")
_RETURN = re.compile(r"^\s*return\b(.*)$", re.MULTILINE)
_TARGET = re.compile(r"^\s*(\w+)\s*(?:\[[^=]*?\])?\s*=(?!=)", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_BY_ITSELF = "int64"  # what integers are stored in where nothing is said


def results(text: str) -> tuple[str, ...]:
    """The names that a block returns, as in Python, or else those that it assigns and does not read."""
    plain = _COMMENT.sub("", text)
    assigned = tuple(dict.fromkeys(m[1] for m in _TARGET.finditer(plain)))
    last = _RETURN.search(plain)
    names = () if last is None else _names(last[1])
    if names and all(n in assigned for n in names):
        return names
    read = set(_WORD.findall(_TARGET.sub(lambda m: m[0].replace(m[1], "", 1), plain)))
    return tuple(n for n in assigned if n not in read)


def returned(words: Vocabulary, text: str) -> str | None:
    """What takes the place of `return a, b`; None where that is not made of names."""
    names = _names(_COMMENT.sub("", text.partition("\n")[0]).removeprefix("return"))
    if not names or not all(n in words.outputs for n in names):
        return None
    listed = None not in words.outputs.values() and {*names} == {*words.outputs}
    said = "outputs" if listed else f"outputs: [{', '.join(names)}]"
    return f"leave this line out: `{said}` says what is returned"


def _names(text: str) -> tuple[str, ...]:
    """The names between commas, if there is nothing else."""
    names = tuple(n.strip() for n in text.strip().strip("()").split(","))
    return names if all(n.isidentifier() for n in names) else ()


def stored(words: Vocabulary, s: object) -> tuple[str, ...]:
    """A hint on `outputs`, where an output ends in a cast to a dtype that it is to be stored in."""
    if not isinstance(s, Assign) or not isinstance(s.value, Call) or s.value.name != "cast":
        return ()
    match s.value.args:
        case (_, Name(name=dtype)) if dtype in WHOLE and dtype != _BY_ITSELF and s.target.name in words.outputs:
            name, more = s.target.name, words.outputs[s.target.name]
        case _:
            return ()
    if more == STATED:
        return ()
    own = f"{name}: {{{more or ''}dtype: {dtype}}}"
    if any(words.outputs.values()):
        return (f"to store it so, state it under `outputs`: `{own}`",)
    listed = ", ".join(own if n == name else f"{n}: {{}}" for n in words.outputs)
    return (f"to store it so: `outputs: {{{listed}}}`",)
