"""Field types of the spec model: each pairs a Python type with the converter from YAML nodes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainValidator, model_validator

from opgen.diagnostics.model import Span
from opgen.schema import bounds, elsewhere, entries, leaves, param_types, shapes, tested_sizes
from opgen.schema.annotations import of_input
from opgen.schema.derivatives import derivatives
from opgen.schema.dtypes import DTYPES, OF_OUTPUTS
from opgen.schema.formula import Formula, Word
from opgen.schema.nodes import Mapping, Scalar, Sequence
from opgen.schema.yaml_hints import LACKING

_TRAINED, _KEPT = "normal(std=0.02)", "zeros"  # what those of any shape may start as

Text = Annotated[str, PlainValidator(leaves.text)]
Flag = Annotated[bool, PlainValidator(lambda node: node if isinstance(node, bool) else leaves.flag(node))]
Place = Annotated[Span, PlainValidator(lambda span: span)]
RequiredFormula = Annotated[Formula, PlainValidator(leaves.formula)]
OptionalFormula = RequiredFormula | None
OptionalDomain = Annotated[Formula, PlainValidator(bounds.domain)] | None
Block = Annotated[Formula | elsewhere.Callee, PlainValidator(entries.block)]
OptionalBlock = Block | None
Name = Annotated[Word, PlainValidator(leaves.name)]
Overwritten = Annotated[Word, PlainValidator(leaves.overwritten)] | None
Language = Annotated[int, PlainValidator(leaves.language)]
OpName = Annotated[Word, PlainValidator(leaves.op_name)]
DimName = Annotated[Word, PlainValidator(leaves.dim_name)]
ClassName = Annotated[Word, PlainValidator(leaves.class_name)] | None
DottedPath = Annotated[Word, PlainValidator(leaves.dotted)] | None
Shape = Annotated[tuple[RequiredFormula, ...] | None, BeforeValidator(shapes.items)]
Dtype = Annotated[str, PlainValidator(leaves.one_of(*DTYPES))]
OutputDtype = Annotated[str, PlainValidator(leaves.one_of(*OF_OUTPUTS))] | None
ParamType = Annotated[Literal["float", "int", "bool", "str"], PlainValidator(param_types.param_type)]
Length = Annotated[int | None, PlainValidator(lambda length: length)]
Choice = Annotated[Word, PlainValidator(leaves.choice)]
Choices = Annotated[tuple[Choice, ...], BeforeValidator(entries.listing("choices"))]
Default = Annotated[Formula | tuple[Formula, ...] | None, PlainValidator(entries.default)]
Argument = Annotated[Word | None, PlainValidator(lambda node: None if node is None else leaves.name(node))]
Derivatives = Annotated[tuple[tuple[Argument, RequiredFormula], ...], BeforeValidator(derivatives)]
Externs = Annotated[tuple[tuple[str, Word], ...], PlainValidator(elsewhere.spellings)]
SizeName = Annotated[Word, PlainValidator(leaves.size_name)]
WordMap = Annotated[dict[SizeName, Name], BeforeValidator(entries.sizes)]
Initialiser = Annotated[Formula, PlainValidator(entries.initialiser)]
Initialisers = Annotated[
    tuple[tuple[Name, Initialiser], ...], BeforeValidator(entries.pairs("input to initialiser", _TRAINED))
]
Buffers = Annotated[tuple[tuple[Name, Initialiser], ...], BeforeValidator(entries.pairs("input to initialiser", _KEPT))]
Updates = Annotated[tuple[tuple[Name, Name], ...], BeforeValidator(entries.pairs("buffer to output"))]
TrainingName = Annotated[Word, PlainValidator(leaves.flag_name)] | None
Save = Annotated[Literal["auto"] | tuple[Word, ...], PlainValidator(entries.save)]
ComputeDtype = Annotated[Literal["opmath"], PlainValidator(leaves.one_of("opmath"))]
Sizes = Annotated[
    dict[SizeName, Annotated[int, PlainValidator(tested_sizes.size)]],
    BeforeValidator(entries.mapping("dim to size", tested_sizes.example)),
]
Case = Annotated[dict[str, Any], PlainValidator(leaves.case)]
Cases = Annotated[tuple[Case, ...], BeforeValidator(entries.listing("cases"))]
FloatDtype = Annotated[str, PlainValidator(leaves.one_of(*entries.PRECISIONS))]
Tolerances = Annotated[
    dict[FloatDtype, Annotated[tuple[float, float], PlainValidator(leaves.tolerance)]],
    BeforeValidator(entries.tolerances),
]


class Entry(BaseModel):
    """Base of every model: frozen, closed, and opened from a mapping node."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _open(cls, data: Any) -> Any:
        match data:
            case Mapping() if any(info.validation_alias == entries.NAME for info in cls.model_fields.values()):
                given = data.get("name")  # an item of a list of names
                name = given.text if isinstance(given, Scalar) else "x"
                own = [f"{k.text}: {v.span.text}" for k, v in data.entries if k.text != "name"]
                shown = ", ".join(own) if own and not any("\n" in field for field in own) else "…"
                hint = f"names with fields are keys: write `{name}: {{{shown}}}`, without the dash"
                raise leaves.expected("a name", data, hint)
            case Mapping():
                return entries.Fields(data, entries.written(data))
            case Scalar(value=None):
                return entries.Fields(data, {})
            case Sequence(key=Word() as key):
                items = ", ".join(i.text if isinstance(i, Scalar) else i.span.text for i in data.items)
                field = next((f for f in ("shape", "cases") if f in cls.model_fields), "")
                raise leaves.expected(
                    "a mapping of fields", data, *[f"write `{key}: {{{field}: [{items}]}}`"][: bool(field)]
                )
            case Scalar(text=text) if hint := of_input(text):
                raise leaves.expected("a mapping of fields", data, hint)
            case Scalar(text=text) if (lacking := LACKING.fullmatch(text)) and lacking[1] in cls.model_fields:
                hint = f"a `:` is missing: write `{lacking[1]}: {lacking[2]}`"
                raise leaves.expected("a mapping of fields", data, hint)
            case Scalar() | Sequence():
                raise leaves.expected("a mapping of fields", data, *leaves.of_one_field(data))
            case _:
                return data
