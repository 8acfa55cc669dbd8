"""The semantic model of a spec: frozen, validated, every name and formula still knowing its place in the file.

`opgen.schema.load` makes these from a YAML document. Names are `Word`s (a `str` with `.span`), formulas are `Formula`s
that the language package parses. Nothing here knows what a formula means.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from opgen.diagnostics.model import Span
from opgen.schema import entries
from opgen.schema import fields as f
from opgen.schema.dtypes import FLOATS, WHOLE
from opgen.schema.formula import Formula, Word
from opgen.version import LANGUAGE

TypeName = Literal["float", "int", "bool", "str"]

NAME = Field(validation_alias=entries.NAME, description="the key of the entry")
SPAN = Field(validation_alias=entries.SPAN, exclude=True, description="where the key stands")


class InputSpec(f.Entry):
    """A tensor operand."""

    name: f.Name = NAME
    span: f.Place = SPAN
    shape: f.Shape = Field(None, description="dims, integer literals and at most one `...`; without it, `[...]`")
    dtype: f.Dtype = Field("float", description="float, int, bool, complex, seed, or what it is stored in")
    optional: f.Flag = Field(False, description="may be None; reads then as `absent`")
    absent: f.OptionalFormula = Field(None, description="what a missing optional input reads as (default 0)")
    domain: f.OptionalDomain = Field(None, description="inequality over the name itself, such as `x > 0`")
    broadcast: f.Flag = Field(True, description="false: it has all batch dims of a call, none of them fewer elements")
    differentiable: f.Flag = Field(True, description="false: no gradient is derived for it (int and bool: never)")
    doc: f.Text = Field("", description="one line for the generated documentation")

    @property
    def kind(self) -> str:
        """What an element is; a seed is an integer."""
        whole, floats = ("seed", *WHOLE), FLOATS
        return "int" if self.dtype in whole else "float" if self.dtype in floats else self.dtype

    @property
    def stored(self) -> str:
        """The dtype that it has to have; empty: any of its kind."""
        return self.dtype if self.dtype in (*WHOLE, *FLOATS) else ""

    @model_validator(mode="before")
    @classmethod
    def _without_gradient(cls, data: Any) -> Any:
        return entries.integers_have_no_gradient(data)


class ParamSpec(f.Entry):
    """A non-tensor argument; required where `default` is None and `null` is false."""

    name: f.Name = NAME
    span: f.Place = SPAN
    type: f.ParamType = Field(
        description="float, int, bool, or a list of these such as [int, int]; none beside `choices: [a, b]`"
    )
    length: f.Length = Field(None, validation_alias=entries.LENGTH, description="number of elements of a list param")
    choices: f.Choices = Field((), description="makes a string param that takes one of these")
    default: f.Default = Field(None, description="an expression of dims and params; null: may be missing")
    null: bool = Field(False, validation_alias=entries.NULL, description="`default: null`: the param may be missing")
    domain: f.OptionalDomain = Field(None, description="inequality over the name itself, such as `0 <= p < 1`")
    doc: f.Text = Field("", description="one line for the generated documentation")

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, data: Any) -> Any:
        return entries.spread_param(data)

    @property
    def required(self) -> bool:
        return self.default is None and not self.null


class DimSpec(f.Entry):
    """A derived size."""

    name: f.DimName = NAME
    span: f.Place = SPAN
    value: f.RequiredFormula = Field(
        validation_alias=entries.VALUE, description="integer expression of dims and int params"
    )


class FunctionSpec(f.Entry):
    """A local scalar function; `derivatives` pairs an argument (None: the only one) with its stated derivative."""

    head: f.RequiredFormula = Field(validation_alias=entries.HEAD, description="`name(arg, …)`, the key of the entry")
    span: f.Place = SPAN
    value: f.OptionalFormula = Field(None, description="the formula of the function")
    derivatives: f.Derivatives = Field(
        (), validation_alias="derivative", description="a formula, or a mapping of argument to formula"
    )
    extern: f.Externs = Field((), description="torch, numpy, cpp or cuda to a function there; perhaps `include`")

    @property
    def name(self) -> str:
        return self.head.text.split("(", 1)[0].strip()


class OutputSpec(f.Entry):
    """A result."""

    name: f.Name = NAME
    span: f.Place = SPAN
    shape: f.Shape = Field(None, description="dims, integer literals and at most one `...`")
    dtype: f.OutputDtype = Field(
        None, description="float, int, bool or complex, or what it is stored in; default: what the formula gives"
    )
    differentiable: f.Flag = Field(True, description="false: no gradient flows through it")
    doc: f.Text = Field("", description="one line for the generated documentation")

    @property
    def kind(self) -> str | None:
        """Float, int, bool or complex; None: what the formula gives, or what is rounded to an integer."""
        return None if self.dtype in WHOLE else "float" if self.stored else self.dtype

    @property
    def stored(self) -> str:
        """The dtype that values are rounded to; empty: that of the float inputs, or of its kind."""
        return self.dtype if self.dtype in (*WHOLE, *FLOATS) else ""


class ModuleSpec(f.Entry):
    """The `torch.nn.Module` around the operator."""

    span: f.Place = SPAN
    name: f.ClassName = Field(None, description="CamelCase name of the class; default: that of the operator")
    dims: f.WordMap = Field({}, description="size to constructor argument")
    parameters: f.Initialisers = Field((), description="input to initialiser of torch.nn.init, without the underscore")
    buffers: f.Buffers = Field((), description="input to initialiser, for tensors that are not trained")
    updates: f.Updates = Field((), description="buffer to the output that it is overwritten with in training")
    training: f.TrainingName = Field(None, description="the bool param that follows `self.training`")
    doc: f.Text = Field("", description="docstring of the class")


class TestsSpec(f.Entry):
    """What the generated tests do beyond their defaults."""

    __test__ = False  # pytest takes the name for a test class

    sizes: f.Sizes = Field({}, description="dim to the size used in tests")
    cases: f.Cases = Field((), description="extra cases: each maps dims, params or inputs to values")
    tolerances: f.Tolerances = Field({}, description="by dtype or for all, relative and absolute")


_NO_TESTS = TestsSpec.model_validate({})


class OpSpec(f.Entry):
    """One operator, in the order of the language page."""

    language: f.Language = Field(LANGUAGE, validation_alias="opgen", description="version of the spec language")
    op: f.OpName = Field(description="snake_case name of the function and of the generated package")
    summary: f.Text = Field("", description="one line")
    description: f.Text = Field("", description="longer documentation")
    reference: f.DottedPath = Field(None, description="an existing callable that generated tests compare with")
    inputs: Annotated[tuple[InputSpec, ...], BeforeValidator(entries.named())] = Field(
        (), description="a list of names, or name to shape, dtype and so on"
    )
    params: Annotated[tuple[ParamSpec, ...], BeforeValidator(entries.named(short="type"))] = Field(
        (), description="non-tensor arguments: name to type, default and so on"
    )
    dims: Annotated[tuple[DimSpec, ...], BeforeValidator(entries.dims)] = Field(
        (), description="derived sizes: name to an integer expression"
    )
    functions: Annotated[tuple[FunctionSpec, ...], BeforeValidator(entries.functions)] = Field(
        (), description="local scalar functions: `name(arg)` to formula, or to value, derivative, extern"
    )
    forward: f.Block = Field(description="block of statements, or a callable: `{torch: package.function}`")
    outputs: Annotated[tuple[OutputSpec, ...] | None, BeforeValidator(entries.named())] = Field(
        None, description="a list of names, or name to shape, dtype and so on; default: assigned and never read"
    )
    backward: f.OptionalBlock = Field(
        None, description="block that overrides the gradient of some inputs, or a callable that computes all of them"
    )
    inplace: f.Overwritten = Field(None, description="input that a variant with a trailing underscore overwrites")
    once_differentiable: f.Flag = Field(False, description="true: refuse double backward with a clear error")
    save: f.Save = Field("auto", description="auto, or the names kept for backward")
    compute_dtype: f.ComputeDtype = Field("opmath", description="half and bfloat16 compute in float32")
    exact: f.Flag = Field(False, description="true: no numerical rewriting")
    module: Annotated[ModuleSpec | None, BeforeValidator(entries.placed)] = Field(
        None, description="the torch.nn.Module around the operator"
    )
    tests: TestsSpec = Field(_NO_TESTS, description="sizes, extra cases, tolerances")

    @property
    def span(self) -> Span:
        return self.op.span

    @property
    def parameter_places(self) -> dict[str, Span]:
        """What a module trains, each with the place of how it starts."""
        return {} if self.module is None else {str(name): f.whole for name, f in self.module.parameters}

    @property
    def described_outputs(self) -> frozenset[str]:
        """The results of which it is stated what they hold, that they have no gradient, or which buffer they become."""
        kept = () if self.module is None else (str(output) for _, output in self.module.updates)
        stated = (str(o.name) for o in self.outputs or () if o.dtype is not None or not o.differentiable)
        return frozenset((*stated, *kept))


__all__ = [
    "DimSpec",
    "Formula",
    "FunctionSpec",
    "InputSpec",
    "ModuleSpec",
    "OpSpec",
    "OutputSpec",
    "ParamSpec",
    "TestsSpec",
    "TypeName",
    "Word",
]
