"""Functions that libraries of C++ and CUDA compute, as the kernels of one back end call them.

In go the functions of an operator's plans and the kernels' lines; out come the headers to include and the definitions
that stand in front of the kernels. A function that the spec does not name for a back end is its formula there. Where it
has none, or one that reads more than its arguments, the back end cannot run the operator, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opgen.code.native_layout import LIMIT, commented, function
from opgen.code.printer import NATIVE, Leaf, Printer, Text, native_function
from opgen.ir.errors import UnplannableError
from opgen.ir.program import Function
from opgen.ir.scalar import Apply, Dim, Param, walk

LANGUAGES = {"cpp": "C++", "cuda": "CUDA"}


@dataclass(frozen=True, slots=True)
class Preamble:
    """What stands in front of the kernels of an operator: headers, and a block of lines for each function."""

    includes: tuple[str, ...] = ()
    definitions: tuple[tuple[str, ...], ...] = ()


def preamble(functions: Mapping[str, Function], kernels: Sequence[str], back_end: str, qualifier: str) -> Preamble:
    """The definitions of the functions that some kernels call; `UnplannableError` where one has no form here."""
    wanted = [f for f in functions.values() if any(f"{native_function(f.name)}(" in line for line in kernels)]
    ordered: dict[str, Function] = {}
    for f in wanted:
        _visit(f, functions, back_end, ordered)
    headers = [f.header for f in ordered.values() if f.spelling(back_end)]
    includes = tuple(f"#include <{h}>" for h in dict.fromkeys(headers) if h is not None)
    return Preamble(includes, tuple(_definition(f, back_end, qualifier) for f in ordered.values()))


def _visit(f: Function, known: Mapping[str, Function], back_end: str, ordered: dict[str, Function]) -> None:
    """What a formula calls comes before it."""
    if f.spelling(back_end) is None:
        if f.value is None:
            raise UnplannableError(f"{f.name}: the spec names no function of {LANGUAGES[back_end]} for it")
        foreign = next((n for n in walk(f.value) if isinstance(n, Dim) or _is_foreign(n, f)), None)
        if foreign is not None:
            raise UnplannableError(
                f"{f.name}: the spec names no function of {LANGUAGES[back_end]} for it, and its formula reads"
                " more than its arguments"
            )
        for n in walk(f.value):
            if isinstance(n, Apply) and n.fn in known:
                _visit(known[n.fn], known, back_end, ordered)
    ordered.setdefault(f.name, f)


def _is_foreign(n: object, f: Function) -> bool:
    return isinstance(n, Param) and n.name not in f.params


def _definition(f: Function, back_end: str, qualifier: str) -> tuple[str, ...]:
    arguments = [f"{'T' if i == 0 else 'std::common_type_t<T>'} {_local(n)}" for i, n in enumerate(f.params)]
    head = f"{qualifier} T {native_function(f.name)}({', '.join(arguments)})"
    name = f.spelling(back_end)
    if name is not None:
        body = [f"return static_cast<T>({name}({', '.join(map(_local, f.params))}));"]
    else:
        assert f.value is not None
        value = Printer(NATIVE, _argument).text(f.value)
        body = ["using opmath_t = T;", *_wrapped(f"return {NATIVE.as_float(value).text};")]
    title = commented(f"// {f.name}({', '.join(f.params)})" + ("" if name else ", by its formula"))
    return (*title, "template <typename T>", *function(head, body))


def _local(name: str) -> str:
    """An argument, under a name that no keyword and no function has."""
    return f"{name}_"


def _argument(leaf: Leaf) -> Text:
    assert isinstance(leaf, Param)
    return Text(_local(leaf.name), NATIVE.atom)


def _wrapped(line: str) -> list[str]:
    if len(line) + 2 > LIMIT:
        raise UnplannableError("a formula beside `extern` is too long for one line of C++")
    return [line]
