"""Leaves of a spec: how a YAML node becomes a name, a flag, a formula, …, or a mistake in plain words.

Converters take nodes (`opgen.schema.nodes`) and raise what `refused` makes, which carries code, place and hints for
`opgen.schema.load` to turn into a diagnostic.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic_core import PydanticCustomError

from opgen.diagnostics.letters import in_ascii, is_named
from opgen.diagnostics.model import Hint
from opgen.diagnostics.suggest import closest, exact, listed
from opgen.schema.annotations import as_shape, computed_in, of_dtype, of_param
from opgen.schema.blocks import as_block
from opgen.schema.dtypes import DTYPES
from opgen.schema.flow import words_of
from opgen.schema.formula import Formula, Word
from opgen.schema.narrow import narrow
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence, Value
from opgen.schema.offsets import formula_of
from opgen.schema.spelling import is_dashed, is_read, is_size, lines_without_keywords, without_primes
from opgen.version import LANGUAGE

SNAKE = re.compile(r"[a-z][a-z0-9_]*")
OPERATOR = re.compile(r"(?:[a-z][a-z0-9_]*)")  # another object than that of other names
CAMEL = re.compile(r"[A-Z][A-Za-z0-9_]*")
_TRUTH = {"true": True, "false": False}
_YES_NO = {
    **dict.fromkeys(("true", "yes", "y", "on", "1", "enabled"), "true"),
    **dict.fromkeys(("false", "no", "n", "off", "0", "none", "disabled"), "false"),
}
WISHES = ("true", "yes", "on", "false", "no", "off")  # where a name belongs
_TYPES = {  # what types are called elsewhere
    **dict.fromkeys(("double", "half", "bfloat16", "real", "number", "scalar"), "float"),
    **dict.fromkeys(("integer", "long", "index"), "int"),
    "boolean": "bool",
    "float16": "half",
    **dict.fromkeys(("string", "text", "enum", "choice", "literal"), "str"),
}
_SIZED = {
    **dict.fromkeys(("float16", "fp16", "f16"), "half"),
    **dict.fromkeys(("bf16", "brain"), "bfloat16"),
    **dict.fromkeys(("double", "fp64", "f64"), "float64"),
    **dict.fromkeys(("single", "fp32", "f32"), "float32"),
    **dict.fromkeys(("long", "i64"), "int64"),
    **dict.fromkeys(("short", "i16"), "int16"),
    **dict.fromkeys(("byte", "u8"), "uint8"),
    **dict.fromkeys(("char", "i8"), "int8"),
    "i32": "int32",
    **dict.fromkeys(("float8", "fp8", "float8_e4m3", "fp8_e4m3", "e4m3", "e4m3fn"), "float8_e4m3fn"),
    **dict.fromkeys(("fp8_e5m2", "e5m2"), "float8_e5m2"),
}
_DEFAULTED = re.compile(r"(\w+)\s*=\s*([\w.+-]+)")
_NO_FORMULA = "no formula stands here: name its value in a statement of `forward`, and give that name"
LEFT_AWAY = "nothing is meant by null: leave the line away"
_FEW = 6  # words that are listed twice, in a message and below what it points at
_LONGEST = 100  # files and C++ functions are named after an operator
DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+")


def refused(
    code: str,
    message: str,
    node: Node | None = None,
    *,
    label: str = "",
    hints: tuple[str, ...] = (),
    meant: Node | None = None,
) -> PydanticCustomError:
    """The error to raise.

    `node` is given where the offender is not the value handed to the converter; `meant` is what the value most likely
    stands for, so that the rest of the spec can still be looked at.
    """
    context = {"code": code, "message": message, "node": node, "label": label, "hints": hints, "meant": meant}
    return PydanticCustomError("opgen", "{message}", context)


def expected(
    what: str, found: object, *hints: str, node: Node | None = None, meant: Node | None = None
) -> PydanticCustomError:
    kind = found.kind if isinstance(found, Scalar | Sequence | Mapping) else repr(found)
    message, label = f"expected {what}, found {kind}", f"expected {what}"
    if isinstance(found, Scalar) and not found.text and not hints:
        hints = ("what belongs to it stands on the same line, or indented on the lines below",)
    return refused("OPG112", message, node, label=label, hints=hints, meant=meant)


def respelt(node: Scalar, text: str) -> Scalar:
    """The same scalar as if it had been written `text`."""
    return replace(node, text=text, value=_TRUTH.get(text, text))


def listed_alone(node: object, what: str, *hints: str) -> PydanticCustomError:
    """One value where a list is expected."""
    if not isinstance(node, Scalar) or not node.text:
        return expected(what, node, *hints)
    if node.value is None:
        return expected(what, node, LEFT_AWAY)
    if isinstance(node.value, bool | int | float):
        return expected(what, node)
    items = words_of(node)
    shown = ", ".join(item.text for item in items)
    quoted = "" if not node.style else ", without quotes"
    hint = Hint(f"write `[{shown}]`{quoted}", node.span.text, f"[{shown}]")
    return expected(what, node, hint, meant=Sequence(items, node.span, node.key))


def of_one_field(node: Scalar | Sequence) -> tuple[str, ...]:
    """The field that a value means which stands in the place of all fields: a dtype, or the default of a param."""
    if not isinstance(node, Scalar) or node.key is None:
        return ()
    if isinstance(node.value, bool | int | float):
        kind = type(node.value).__name__
        return (f"a number is a param: `params: {{{node.key}: {{type: {kind}, default: {node.text}}}}}`",)
    if few := narrow(node.text):
        return few.hints
    dtype = _alias(node.text, DTYPES)
    return (f"write `{node.key}: {{dtype: {dtype}}}`",) if dtype in DTYPES else ()


def text(node: object) -> str:
    if not isinstance(node, Scalar):
        raise expected("text", node)
    return node.text.strip()


def truth(text: str) -> str | None:
    """What is meant by another word for `true` or `false`."""
    return _YES_NO.get(text.lower()) or closest(text.lower(), _TRUTH)


def flag(node: object) -> bool:
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        return node.value
    if isinstance(node, Scalar) and (meant := truth(node.text)):
        raise expected(
            "`true` or `false`", node, Hint(f"did you mean `{meant}`?", node.text, meant), meant=respelt(node, meant)
        )
    raise expected("`true` or `false`", node)


def formula(node: object) -> Formula:
    match node:
        case Formula():
            return node
        case Scalar(value=None):
            raise expected("a formula", node, *(LEFT_AWAY,) if node.text else ())
        case Scalar(style=">"):
            raise refused(
                "OPG105",
                "a formula cannot stand in a folded block",
                label="`>` joins lines, so that statements run together",
                hints=("write `|` instead of `>`",),
            )
        case Scalar():
            return formula_of(node)
        case Sequence() | Mapping():
            items = node.items if isinstance(node, Sequence) else ()
            statements = bool(items) and all(isinstance(i, Scalar) and "=" in i.text for i in items)
            if node.span.text[:1] not in "[{" or statements:
                raise expected("a formula", node, as_block(node))
            raise expected("a formula", node, f"a formula that begins with `{node.span.text[:1]}` needs quotes")
        case _:
            raise expected("a formula", node)


def word(
    node: object, pattern: re.Pattern[str], what: str, spelt: Callable[[str], str], elsewhere: str = "formulas"
) -> Word:
    """A name that keeps to a pattern; `elsewhere`: where it stands besides."""
    if not isinstance(node, Scalar) or node.value is None:
        raise expected(what, node)
    name = node.text
    if not pattern.fullmatch(name):
        better = without_primes(name, node.span.source.text) if pattern is SNAKE else name
        better = spelt(better if better.isascii() else in_ascii(better) or "")
        if not name.isascii() and is_named(better, node.span.source.text):
            better += "_"  # something has that name
        if pattern is SNAKE and re.search(rf"[\[,]\s*{better}\s*[\],<]", node.span.source.text):
            better = f"num_{better}" if is_size(node) else f"{better}_"  # an index has that name
        hints: tuple[str, ...] = (f"write `{better}`",) if pattern.fullmatch(better) and better != name else ()
        if pattern is SNAKE and re.fullmatch(r"\d\w*", name):
            hints = (f"a name begins with a letter: `n{name.lower()}`, say",)
        given = _DEFAULTED.fullmatch(name)
        if given:
            hints = (f"a default is a field: `{{{given[1]}: {{type: float, default: {given[2]}}}}}`",)
        if pattern is SNAKE and re.search(r"[-+*/(\[]\s*\w", name) and not is_dashed(node):
            shaped = re.fullmatch(r"([a-z]\w*)(\[.*\])", name)
            fields = as_shape(shaped[2]) if shaped is not None else ""
            hints = (
                (f"write `{shaped[1]}: {fields}`, as an entry of a mapping",) if shaped and fields else (_NO_FORMULA,)
            )
        if not name.isascii():
            hints += ("names are made of ASCII letters, digits and `_`",)
        if name.endswith("?") and pattern.fullmatch(name[:-1]):
            hints = (f"what may be missing says so: `{name[:-1]}: {{…, optional: true}}`",)
        if (
            pattern is not OPERATOR
            and len(name.split()) > 1
            and all(part.isidentifier() for part in name.replace(",", " ").split())
        ):
            hints += (f"several names are separated by commas: `{shortened(', '.join(name.split()))}`",)
        if pattern is DOTTED and not hints:
            hints = ("a reference is the path of one function that exists: `torch.nn.functional.relu`, say",)
        plain = pattern is OPERATOR or (pattern is SNAKE and hints[:1] == (f"write `{better}`",))
        certain = respelt(node, better if pattern.fullmatch(better) else "unnamed") if plain else None
        known = pattern in (SNAKE, CAMEL) and len(name) > (pattern is CAMEL)
        if known and is_read(node) and hints == (f"write `{better}`",):
            hints = (f"write `{better}`, here and in {elsewhere if pattern is SNAKE else 'all places'}",)
        message = f"`{shortened(name)}` is not {what}"
        raise refused("OPG113", message, node, label=f"not {what}", hints=hints, meant=certain)
    if keyword.iskeyword(name):
        label, meant = f"`{name}` is a keyword of Python", respelt(node, f"{name}_") if pattern is OPERATOR else None
        hints = (f"write `{name}_`, {'say' if pattern is not SNAKE else lines_without_keywords(node)}",)
        raise refused("OPG113", f"`{name}` cannot be a name", node, label=label, hints=hints, meant=meant)
    return Word(name, node.span)


def shortened(value: str) -> str:
    flat = " ".join(value.split())
    return flat if len(flat) <= 40 else flat[:37] + "…"


def snake(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip()).lower()).strip("_")


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def name(node: object) -> Word:
    return word(node, SNAKE, "a snake_case name", snake)


def choice(node: object) -> Word:
    """A word that a param may be, which guards and the default name, too."""
    return word(node, SNAKE, "a snake_case name", snake, "all places")


def overwritten(node: object) -> Word:
    """The name of an input, where some say that they want it; which one it may be is told where the inputs are."""
    if isinstance(node, Scalar) and node.text.lower() in WISHES:
        return Word(node.text.lower(), node.span)
    return name(node)


def flag_name(node: object) -> Word:
    """The name of a bool param, where some write a truth value or the attribute."""
    if isinstance(node, Scalar) and isinstance(node.value, str) and node.text.startswith("self."):
        meant = node.text.rpartition(".")[2]
        raise expected("the name of a bool param", node, f"write `{meant}`", meant=respelt(node, meant))
    if isinstance(node, Scalar) and isinstance(node.value, bool):
        raise expected("the name of a bool param", node, "name the param that says so: `training: training`")
    return name(node)


def op_name(node: object) -> Word:
    name = word(node, OPERATOR, "a snake_case name", snake)
    if len(name) > _LONGEST:
        raise refused("OPG113", f"the name of an operator has at most {_LONGEST} characters, this has {len(name)}")
    return name


def dim(text: str) -> str:
    """A dim as it is written: the first letter of a name is a capital."""
    return text[:1].upper() + text[1:]


def dim_name(node: object) -> Word:
    return word(node, CAMEL, "the name of a dim (a capital first)", camel)


def size_name(node: object) -> Word:
    """A dim that is declared elsewhere; what a name in small letters may be is told where all of them are known."""
    small = isinstance(node, Scalar) and isinstance(node.value, str) and SNAKE.fullmatch(node.text)
    return Word(node.text, node.span) if small and isinstance(node, Scalar) else dim_name(node)


def class_name(node: object) -> Word:
    return word(node, CAMEL, "a CamelCase class name", camel)


def dotted(node: object) -> Word:
    return word(node, DOTTED, "a dotted path such as `package.function`", str.strip)


def one_of(*allowed: str, unnamed: str = "") -> Callable[[object], str]:
    """One of several words; `unnamed` is one that is only inferred, so that nobody is told to write it."""

    def choose(node: object) -> str:
        what = listed([word for word in allowed if word != unnamed])
        if not isinstance(node, Scalar):
            raise expected(what, node)
        if node.text not in allowed:
            if "int8" in allowed and (few := narrow(node.text)):
                raise refused("OPG114", few.message, hints=few.hints, meant=respelt(node, few.whole))
            alias = _alias(node.text, allowed)
            guess = guessed(node.text, allowed)
            meant = respelt(node, guess) if guess else None
            told = f"write `{guess}`" if alias else f"did you mean `{guess}`?"
            hints = [Hint(told, node.text, guess) if alias else exact(told, node.text, guess, allowed)] if guess else []
            annotated = of_param(node.text) if unnamed else of_dtype(node.text)
            if guess and guess == unnamed:
                hints = ["a param of a few words has `choices: [a, b]`, and no `type`"]
            elif alias and guess and re.search(r"\d", node.text) and not re.search(r"\d", alias) and alias != "half":
                hints.append(f"`{guess}` stands for all its sizes")
            if len(allowed) == 1:
                hints = [f"leave it away{computed_in(node.text)}"]
            if annotated and not alias:
                guess, meant, hints = None, None, [annotated]
            message = f"expected {what}, found {node.kind}"
            label = f"expected {what}" if len(allowed) <= _FEW else "none of these"
            if alias and guess and len(allowed) > _FEW:
                message, label = f"expected `{guess}`, found {node.kind}", "unknown here"
            raise refused("OPG114", message, label=label, hints=tuple(hints), meant=meant)
        return node.text

    return choose


def guessed(text: str, allowed: tuple[str, ...]) -> str | None:
    """The one of several words that is most likely meant."""
    alias = _alias(text, allowed)
    return alias if alias in allowed else closest(text, allowed)


def _alias(text: str, allowed: tuple[str, ...]) -> str | None:
    """The type that goes by another name elsewhere: `torch.int64`, `np.float32`, `double`."""
    last = text.lower().rpartition(".")[2]
    exact = _SIZED.get(last, last)
    exact = "float16" if exact == "half" and exact not in allowed else exact
    if exact in allowed:
        return exact
    sized = re.fullmatch(r"u?(float|int|bool|complex)_?\d*|c(float|double)", last)
    return _TYPES.get(last) or ((sized[1] or "complex") if sized else None)


def language(node: object) -> int:
    """The version of the language that a spec is written in."""
    if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int):
        raise expected("the version of the language", node, f"write `opgen: {LANGUAGE}`, or leave it away")
    if not 1 <= node.value <= LANGUAGE:
        known = f"this opgen reads version {LANGUAGE}"
        hint = "install a newer opgen" if node.value > LANGUAGE else f"write `opgen: {LANGUAGE}`"
        raise refused("OPG112", f"there is no version {node.value} of the language here", label=known, hints=(hint,))
    return node.value


def tolerance(node: object) -> tuple[float, float]:
    """Relative and absolute; one number, or one of the two, stands for both."""
    if not isinstance(node, Mapping) or not node.entries:
        both = _tolerance(node)
        return both, both
    given: dict[str, float] = {}
    for key, value in node.entries:
        if key.text not in ("rtol", "atol"):
            raise expected("`rtol` or `atol`", key, node=key)
        given[key.text] = _tolerance(value, value)
    first = next(iter(given.values()))
    return given.get("rtol", first), given.get("atol", first)


def _tolerance(node: object, place: Node | None = None) -> float:
    if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise expected("a number", node, node=place)
    if not 0 <= node.value < float("inf"):
        raise refused("OPG112", "a tolerance is a number from 0 upwards", place, label="out of range")
    return float(node.value)


def plain(node: object) -> Value | list[Any] | dict[str, Any]:
    """Free data, as YAML gives it."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {key.text: plain(value) for key, value in node.entries}
        case _:
            raise expected("a value", node)


def case(node: object) -> Any:
    if not isinstance(node, Mapping):
        raise expected("a mapping of names to values", node)
    return {Word(key.text, key.span): plain(value) for key, value in node.entries}
