"""Params in Python and in dispatcher schemas: annotations, defaults, order.

In goes an operator; out come the pieces of signatures. Tensors are positional; params are keywords, and positional too
where no input is optional.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from opgen.code.layout import quoted, tupled
from opgen.code.python_text import number
from opgen.ir.operator import Operator
from opgen.ir.program import Argument, Kind, Program
from opgen.ir.scalar import Apply, Batch, Cast, Const, Dim, Index, Lit, Param, Read, walk
from opgen.ir.storage import STORED

OUT = "out"  # the keyword of tensors that results are written into
_SCHEMA = {"float": "float", "int": "SymInt", "bool": "bool", "str": "str"}
LETTERS = {Kind.FLOAT: "f", Kind.INT: "i", Kind.BOOL: "b", Kind.COMPLEX: "c"}
_SCALAR = (Apply, Batch, Cast, Const, Dim, Index, Lit, Param, Read)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a signature. `default` is empty where there is none."""

    name: str
    annotation: str
    default: str

    @property
    def text(self) -> str:
        return f"{self.name}: {self.annotation}" + (f" = {self.default}" if self.default else "")


def params_of(operator: Operator, programs: Iterable[Program]) -> tuple[Argument, ...]:
    """The params of a derived function: those of the operator, then what its programs ask for besides."""
    own = {a.name: a for a in operator.params}
    for p in programs:
        own |= {a.name: a for a in p.params if a.name not in own}
    return tuple(own.values())


def annotation(a: Argument) -> str:
    """The type of a param in Python."""
    text = f"Sequence[{a.type}]" if a.length is not None else a.type
    return f"{text} | None" if a.null or is_computed(a) else text


def is_computed(a: Argument) -> bool:
    """Is the default an expression of sizes and other params, known only in a call?"""
    return isinstance(a.default, _SCALAR) and any(isinstance(e, Dim | Param) for e in walk(a.default))


def default_text(a: Argument) -> str:
    """The default of a param as a Python literal; empty where it is required."""
    if a.null or is_computed(a):
        return "None"
    return "" if a.default is None else _literal(a.default, a.type)


def _literal(value: object, kind: str) -> str:
    match value:
        case tuple():
            return tupled([_literal(v, kind) for v in value])
        case bool():
            return str(value)
        case str():
            return quoted(value)
        case Lit(value=inner):
            return _literal(inner, kind)
        case Const(name=name):
            return f'float("{name}")'
        case int() if kind == "float":
            return f"{value}.0"
        case int():
            return str(value)
        case Fraction():
            return number(value)
        case Apply(fn="neg", args=(inner,)):
            return f"-{_literal(inner, kind)}"
        case _:
            raise AssertionError(f"{value!r} is no literal")


def parameters(operator: Operator) -> tuple[Parameter, ...]:
    """The parameters of the functional, in order, with `*` where keywords begin."""
    tensors: list[Parameter] = []
    names, optional = [t.name for t in operator.operands], operator.maybe_none
    for i, name in enumerate(names):
        trailing = all(n in optional for n in names[i:])
        kind = "Tensor | None" if name in optional else "Tensor"
        tensors.append(Parameter(operator.shown(name), kind, "None" if trailing else ""))
    params = [Parameter(operator.shown(a.name), annotation(a), default_text(a)) for a in operator.stated]
    keywords = len(params) if not optional else 0
    for i, p in enumerate(params[:keywords]):
        if p.default and any(not q.default for q in params[i + 1 :]):
            keywords = i
            break
    star = [Parameter("*", "", "")] if params[keywords:] else []
    return (*tensors, *params[:keywords], *star, *params[keywords:])


def parameter_texts(found: tuple[Parameter, ...]) -> list[str]:
    return ["*" if p.name == "*" else p.text for p in found]


def takes_out(operator: Operator) -> bool:
    """Has the functional a keyword `out`? Not where an argument is called so."""
    return OUT not in map(operator.shown, (*(t.name for t in operator.operands), *(a.name for a in operator.stated)))


# --- schemas ---------------------------------------------------------------------------------------------------------


def schema_param(a: Argument) -> str:
    """A param as a schema argument, without its default."""
    text = _SCHEMA[a.type] + ("[]" if a.length is not None else "")
    return f"{text}{'?' if a.null or is_computed(a) else ''} {a.name}"


def schema_default(a: Argument) -> str:
    """The default in a schema; empty where there is none, or an infinite one, which schemas cannot spell."""
    text = default_text(a)
    if "float(" in text:
        return ""
    if a.length is not None and text not in ("", "None"):
        return text.replace("(", "[").replace(",)", "]").replace(")", "]")
    return text


def forward_schema(operator: Operator, results: int) -> tuple[str, tuple[str, ...]]:
    """The schema of the op, and the defaults of its trailing arguments as Python literals."""
    optional = operator.optional
    entries = [
        (f"Tensor? {t.name}" if t.name in optional else f"Tensor {t.name}", "None" if t.name in optional else "")
        for t in operator.inputs
    ]
    entries += [(schema_param(a), schema_default(a)) for a in operator.params]
    literals = ["None" if t.name in optional else "" for t in operator.inputs] + [
        default_text(a) for a in operator.params
    ]
    start = len(entries)
    while start and entries[start - 1][1]:
        start -= 1
    texts = [text if i < start else f"{text}={default}" for i, (text, default) in enumerate(entries)]
    return f"({', '.join(texts)}) -> {schema_results(results)}", tuple(literals[start:])


def schema_results(count: int) -> str:
    return "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"


def kind_letters(operator: Operator) -> str:
    """A letter per operand: float, integer, bool or complex, or of the dtype that it has to have."""
    stored = {n: STORED[dtype] for n, dtype in operator.stored if STORED[dtype].quantised}
    return "".join(stored[t.name].letter if t.name in stored else LETTERS[t.kind] for t in operator.operands)
