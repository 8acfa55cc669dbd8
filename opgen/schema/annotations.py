"""Values with brackets that YAML takes for lists: types such as `Optional[int]` or `float[3]`, and domains `[0, N)`.

Masked, they are read as the words that they are meant to be, and the field that they stand in says what to write.
"""

from __future__ import annotations

import re

from opgen.schema.yaml_words import LIST_OF_TYPES

_BRACKETS = str.maketrans("[],", "\ue0f0\ue0f1\ue0f2")  # as long as what they stand for, and in no spec
_BACK = str.maketrans("\ue0f0\ue0f1\ue0f2", "[],")
_ANNOTATED = re.compile(
    r"(?P<key>\b[A-Za-z_]\w*):[ ]*(?P<type>(?:typing\.)?"
    r"(?:Optional|Union|Literal|[Ll]ist|[Tt]uple|[Ss]equence)\[[\w ,.|'\"]*(?:\[[\w ,.|'\"]*\][\w ,.|'\"]*)?\]"
    r"|(?:float|int|bool)\[\d*\]|\[(?:float|int|bool)\] *\* *\d+|\d+ *\* *\[(?:float|int|bool)\])"
)
_HALF_OPEN = re.compile(
    r"(?P<key>\bdomain):[ ]*(?P<type>\[[^\[\](){},\n]+,[^\[\](){},\n]+\)|\([^\[\](){},\n]+,[^\[\](){},\n]+\])"
)
_MAYBE = re.compile(
    r"(?:\w+\.)?Optional\[(?P<a>.+)\]|(?:\w+\.)?Union\[(?:(?P<b>.+), *None|None, *(?P<c>[^,]+))\]"
    r"|(?P<d>[^|]+?) *\| *None|None *\| *(?P<e>[^|]+)|(?P<f>\w+)\?"
)
_TYPE = "float|int|bool"
_TYPES = re.compile(rf"\[(?:{_TYPE})(?:, *(?:{_TYPE}))*\]")  # a list of them, which was given in quotes
_COUNTED = re.compile(rf"({_TYPE})(?:\[(\d*)\]|\s*[*x]\s*(\d+)|s)")  # `float[3]`, `float*3`, `float x 3`, `floats`
_TIMES = re.compile(rf"\[({_TYPE})\]\s*\*\s*(\d+)|(\d+)\s*[*x]?\s*(?:\[({_TYPE})\]|({_TYPE})s?)")  # `[float]*3`
_OF_TYPES = re.compile(r"(?:\w+\.)?(?:tuple|list|sequence|array)\[(.*)\]", re.IGNORECASE)
_LITERAL = re.compile(r"(?:\w+\.)?Literal\[(.+)\]")
_LIST = re.compile(r"(?:\w+\.)?(?:tuple|list|sequence|array)(?:\[.*\])?", re.IGNORECASE)
_TENSOR = re.compile(r"([\w.]+\.)?((nd)?(tensor|array)|parameter|vector|matrix)", re.IGNORECASE)
_SIZE = r"(?:[A-Z]\w*|\d+|\.\.\.)"
_ARRAY = re.compile(
    rf"(?P<type>[A-Za-z][\w.]*)?\[ *(?P<dims>{_SIZE}(?: *, *{_SIZE}| +{_SIZE})*) *\]|(?P<words>{_SIZE}(?: +{_SIZE})+)"
)
_ARRAYS = {**dict.fromkeys(("int", "long", "i"), "int"), "bool": "bool", "complex": "complex"}
_TEXTS = ("doc", "summary", "description")  # where any words may stand


def masked(text: str) -> str:
    """The text of a spec with the brackets and commas of annotations as other characters."""
    return _HALF_OPEN.sub(_mask, _ANNOTATED.sub(_mask, text))


def unmasked(text: str) -> str:
    return text.translate(_BACK)


def computed_in(dtype: str) -> str:
    """What to do instead where all is to be computed in doubles; nothing for other dtypes."""
    double = dtype.rpartition(".")[2].lower() in ("float64", "double", "fp64", "f64")
    return ": what is passed as float64 is computed in float64, so pass `x.double()`" * double


def of_param(text: str) -> str:
    """What to write for the type of a param; nothing where an annotation says nothing that is known."""
    inner = _inner(text)
    if _TYPES.fullmatch(text):
        return f"write `type: {text}`, without quotes"
    if literal := _LITERAL.fullmatch(inner or text):
        choices = ", ".join(part.strip(" '\"") for part in literal[1].split(",") if part.strip() != "None")
        return f"write `choices: [{choices}]`, and no `type`"
    if _LIST.fullmatch(inner or text):
        return LIST_OF_TYPES if inner is None else f"{LIST_OF_TYPES}, and what may be missing has `default: null`"
    if inner in ("float", "int", "bool"):
        return f"write `type: {inner}, default: null`: without a default it is required"
    if text == "complex":
        return "a complex number is an input: move it there, as `{shape: [], dtype: complex}`"
    if is_tensor(text):
        return "tensors are declared under `inputs`" + (", one that may be missing as `{optional: true}`" * bool(inner))
    return ""


def is_tensor(text: str) -> bool:
    """Whether a type is that of a tensor, perhaps of one that may be missing."""
    return _TENSOR.fullmatch(_inner(text) or text) is not None


def may_be_missing(text: str) -> bool:
    """Whether a type says that there may be nothing."""
    return _inner(text) is not None


def of_input(text: str) -> str:
    """What to write for an input whose fields are an annotation."""
    inner = _inner(text)
    if not is_tensor(text):
        fields = "" if inner else as_shape(text)
        return f"write `{fields}`" if fields else ""
    return "write `{optional: true}`" if inner else "leave it away: every input is a tensor"


def as_shape(text: str) -> str:
    """The fields of an input written as an array type, `float32[N, D]`, or as its dims, `N D`; empty for others."""
    found = _ARRAY.fullmatch(text.strip())
    items = re.findall(rf"{_SIZE}", found["dims"] or found["words"]) if found is not None else []
    if found is None or not items:
        return ""
    kind = _ARRAYS.get((found["type"] or "").lower().rpartition(".")[2].rstrip("0123456789"), "")
    return f"{{shape: [{', '.join(items)}]{f', dtype: {kind}' if kind else ''}}}"


def of_dtype(text: str) -> str:
    """What to write for the dtype of what may be missing."""
    inner = _inner(text)
    return f"write `dtype: {inner}, optional: true`" if inner and inner.isidentifier() else ""


def of_list(text: str) -> tuple[str, int | None] | None:
    """The type of the elements where a type is that of a list, and how many there are if it says so."""
    if found := _COUNTED.fullmatch(text) or _TIMES.fullmatch(text):
        given = [part for part in found.groups() if part]
        count = next((int(part) for part in given if part.isdigit()), None)
        return next(part for part in given if not part.isdigit()), count
    inside = _OF_TYPES.fullmatch(text)
    first, *more = re.split(r"\s*,\s*", inside[1].strip(" ,")) if inside else ("",)
    if first not in _TYPE.split("|"):
        return None
    if len(more) == 1 and more[0].isdigit():
        return first, int(more[0])
    return first, (len(more) + 1 if more and all(part == first for part in more) else None)


def is_list(text: str) -> bool:
    """Whether a type is that of a list, of whatever elements."""
    return _LIST.fullmatch(text) is not None


def _inner(text: str) -> str | None:
    """The type of what may be missing."""
    found = _MAYBE.fullmatch(text)
    return next((part for part in found.groups() if part), None) if found else None


def _mask(found: re.Match[str]) -> str:
    if found["key"] in _TEXTS:
        return found[0]
    start = found.start("type") - found.start()
    return found[0][:start] + found["type"].translate(_BRACKETS)
