"""Dtypes that `cast` is given as other libraries spell them: `cast(x, torch.float16)`, `cast(x, y.dtype)`.

A call in, what it means out, noted.
"""

from __future__ import annotations

from types import MappingProxyType

from opgen.lang import habits
from opgen.lang.beside import Arguments
from opgen.lang.lexer import Token
from opgen.lang.nodes import Call, Expr, Name
from opgen.lang.notes import Notes
from opgen.lang.prefixes import is_dotted

_SHORT = MappingProxyType({
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "tf32": "float32", "fp64": "float64",
    "fp8": "float8_e4m3fn", "float8": "float8_e4m3fn", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2",
})  # fmt: skip
_NARROW = MappingProxyType({"float16": "half", "half": "half", "bfloat16": "bfloat16"})
_OF_TENSOR = ".dtype"


def rounded(notes: Notes, token: Token, arguments: Arguments) -> Expr | None:
    """What a `cast` means whose dtype has a prefix, another name or another place; None where that is as it should be.

    What is as fine as the numbers that formulas are computed with is left away.
    """
    named = arguments.named.get("dtype")
    given = (*arguments.given, *([] if named is None or isinstance(named, tuple) else [named]))
    if token.text != "cast" or len(given) != len(("of", "to")) or {*arguments.named} - {"dtype"}:
        return None
    words, (of, to) = notes.words, given
    if isinstance(of, Name) and of.name in habits.CASTS and not words.knows(of.name):
        notes.note(of.span, "a dtype stands behind what is rounded to it")
        of, to = to, of
    elif named is not None and arguments.at is not None:
        notes.note(arguments.at, "arguments are positional")
    elif isinstance(to, Name) and to.name in _SHORT and not words.knows(to.name):
        notes.note(to.span, f"`{to.span.text}` is no dtype")
    elif not (isinstance(to, Name) and is_dotted(to.span.text)):
        return None
    if not isinstance(to, Name):
        return None
    if to.span.text.endswith(_OF_TENSOR):
        return Call("cast", (of, Name(to.span.text.removesuffix(_OF_TENSOR), to.span)), token.span, token.span)
    if words.knows(to.name):
        return Call("cast", (of, to), token.span, token.span)
    dtype = _SHORT.get(to.name, to.name)
    if dtype in _NARROW:
        shown = f"`outputs: {{{notes.target}: {{dtype: {_NARROW[dtype]}}}}}`"
        notes.found[-1].hints = (*notes.found[-1].hints, f"a result that is stored so is declared: {shown}")
    return notes.called("to", (of, Name(dtype, to.span)), {}, token.span)
