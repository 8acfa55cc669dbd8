"""Names of functions in other libraries, as a spec states them, and the converters that let nothing else through.

What is read here goes into generated code as it is. So a callable of Python is a dotted path of identifiers, a function
of C++ a qualified name, a header a plain relative path: no brackets, blanks or quotes, no keyword.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, field
from typing import Literal

from opgen.diagnostics.model import Hint, Span
from opgen.diagnostics.suggest import closest, listed
from opgen.schema.blocks import as_block
from opgen.schema.formula import Word
from opgen.schema.leaves import DOTTED, expected, refused, shortened
from opgen.schema.nodes import Mapping, Node, Scalar

Library = Literal["torch", "numpy"]

ALIASES = {  # what files that import a package call it
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "np": "numpy",
}
LIBRARIES: tuple[Library, ...] = ("torch", "numpy")
NATIVE = ("cpp", "cuda")
HEADER = "include"
_ROOTS: dict[str, Library] = {"torch": "torch", "numpy": "numpy", "scipy": "numpy"}
_QUALIFIED = re.compile(r"(::)?[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*")
_FILE = re.compile(r"<?([A-Za-z0-9_]+([-./+][A-Za-z0-9_]+)*)>?")
_TAKEN = re.compile(  # keywords of C++
    "alignas|alignof|asm|auto|bool|break|case|catch|char|class|concept|const|constexpr|continue|decltype|default|delete"
    "|do|double|else|enum|explicit|export|extern|false|float|for|friend|goto|if|inline|int|long|mutable|namespace|new"
    "|noexcept|nullptr|operator|private|protected|public|register|requires|return|short|signed|sizeof|static|struct"
    "|switch|template|this|throw|true|try|typedef|typeid|typename|union|unsigned|using|virtual|void|volatile|while"
)


@dataclass(frozen=True, slots=True)
class Callee:
    """A callable that computes an operator as a whole."""

    path: Word
    library: Library
    whole: Span = field(compare=False, repr=False)


def spellings(node: object) -> tuple[tuple[str, Word], ...]:
    """`extern: {torch: …, cpp: …}`: a name for each back end, and perhaps a header."""
    if not isinstance(node, Mapping):
        raise expected("a mapping of back end to function", node, *_meant(node))
    found = tuple((_back_end(key, (*LIBRARIES, *NATIVE, HEADER), value), value) for key, value in node.entries)
    if not any(key != HEADER for key, _ in found):
        raise refused("OPG111", "`extern` names no function", node, hints=("add `torch: …`, `numpy: …` or `cpp: …`",))
    return tuple((key, _name(key, value)) for key, value in found)


def _meant(node: object) -> tuple[str, ...]:
    """What to write for the name of a function alone: it belongs to the back end that its library runs on."""
    path = node.text.removesuffix("()") if isinstance(node, Scalar) else ""
    if isinstance(node, Scalar) and DOTTED.fullmatch(path):
        short, _, rest = path.partition(".")
        path = f"{ALIASES.get(short, short)}.{rest}"
        library = _ROOTS.get(path.partition(".")[0])
        if library is None:
            return (f"write `{{torch: {path}}}`, or `{{numpy: {path}}}` where it takes arrays of NumPy",)
        right = f"{{{library}: {path}}}"
        return (Hint(f"write `{right}`", node.span.text, right),)
    if isinstance(node, Scalar) and "::" in path and _QUALIFIED.fullmatch(path):
        return (f'write `{{cpp: "{path}"}}`, and `cuda: "{path}"` beside it where it is a function on GPUs too',)
    return ("such as `{torch: torch.special.bessel_j0}`",)


def callee(node: Mapping) -> Callee:
    """`forward: {torch: package.function}`."""
    values = [value for _, value in node.entries if isinstance(value, Scalar)]
    known = any(key.text in (*LIBRARIES, *NATIVE) for key, _ in node.entries)
    if not all(DOTTED.fullmatch(v.text) for v in values) or (len(node.entries) > 1 and values and not known):
        raise refused(
            "OPG112", "expected a formula, found a mapping", node, label="expected a formula", hints=(as_block(node),)
        )
    if len(node.entries) != 1:
        raise expected("one callable", node, "write `{torch: package.function}` or `{numpy: package.function}`")
    key, value = node.entries[0]
    if key.text in NATIVE:
        raise refused(
            "OPG114", "an operator as a whole is called from Python", key, label="expected `torch` or `numpy`",
            hints=("a function of one number at a time may be `extern` in C++, under `functions`",),
        )  # fmt: skip
    library: Library = "numpy" if _back_end(key, LIBRARIES, value) == "numpy" else "torch"
    return Callee(dotted(value), library, node.span)


def _back_end(key: Scalar, known: tuple[str, ...], value: Node) -> str:
    if key.text not in known:
        guess = closest(key.text, known)
        hints = _of_package(key, value) or ((f"did you mean `{guess}`?",) if guess else ())
        what = f"expected {listed(known)}"
        raise refused("OPG114", f"{what}, found `{shortened(key.text)}`", key, label=what, hints=hints)
    return key.text


def _of_package(key: Scalar, value: Node) -> tuple[str, ...]:
    """What to write where a package stands for the back end that its functions run on."""
    package = ALIASES.get(key.text, key.text)
    root = package.partition(".")[0]
    if root not in _ROOTS or not isinstance(value, Scalar) or not DOTTED.fullmatch(f"{root}.{value.text}"):
        return ()
    first, _, rest = value.text.partition(".")
    path = f"{root}.{value.text.removeprefix(f'{root}.')}" if first == root else f"{package}.{value.text}"
    path = f"{package}.{rest}" if first == key.text and rest else path
    return (f"write `{_ROOTS[root]}: {path}`",)


def _name(key: str, node: Node) -> Word:
    match key:
        case "cpp" | "cuda":
            return _qualified(node)
        case "include":
            return _header(node)
        case _:
            return dotted(node)


def dotted(node: object) -> Word:
    """The path of a callable of Python: identifiers with dots between, and at least a module."""
    what = "a dotted path such as `package.function`"
    text = _text(node, what)
    if not DOTTED.fullmatch(text.text) or any(keyword.iskeyword(part) for part in text.text.split(".")):
        raise refused("OPG113", f"`{shortened(text.text)}` is not {what}", text, label=f"not {what}")
    return Word(text.text, text.span)


def _qualified(node: object) -> Word:
    """The name of a function in C++, from the global namespace."""
    what = "a name of C++ such as `::j0` or `boost::math::erf_inv`"
    text = _text(node, what)
    parts = text.text.removeprefix("::").split("::")
    if not _QUALIFIED.fullmatch(text.text) or any(map(_TAKEN.fullmatch, parts)):
        raise refused("OPG113", f"`{shortened(text.text)}` is not {what}", text, label=f"not {what}")
    return Word("::" + text.text.removeprefix("::"), text.span)


def _header(node: object) -> Word:
    what = "a header such as `boost/math/special_functions/bessel.hpp`"
    text = _text(node, what)
    found = _FILE.fullmatch(text.text)
    if found is None:
        raise refused("OPG113", f"`{shortened(text.text)}` is not {what}", text, label=f"not {what}")
    return Word(found[1], text.span)


def _text(node: object, what: str) -> Scalar:
    if not isinstance(node, Scalar) or node.value is None:
        raise expected(what, node)
    return node
