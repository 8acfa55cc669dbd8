"""What the functions of a binding take and return, in C++ and as schemas of the dispatcher."""

from __future__ import annotations

from dataclasses import dataclass

from opgen.code.signature import is_computed
from opgen.ir.names import Names
from opgen.ir.operator import Operator, Variant
from opgen.ir.program import Argument, Program

SECOND_ORDER = "second"
NUMBERS = {"float": "double", "int": "int64_t", "bool": "bool"}


@dataclass(frozen=True, slots=True)
class Direction:
    """What one op of a library takes and gives: `which` is forward, backward or second; `mask`: what
    its entries are for.

    `results` are outputs by their names, of second order by what they are the gradients of. `optional`: the tensors
    that may be absent, `lacking` those of them that are 0 then, whatever else there is.
    """

    which: str
    programs: tuple[tuple[Variant, Program], ...]
    tensors: tuple[str, ...]
    results: tuple[str, ...]
    mask: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def parameters(operator: Operator, d: Direction, *, recorded: bool) -> list[str]:
    found = [f"const {'Optional' if t in d.optional else 'Tensor'}& {t}" for t in d.tensors]
    found += [f"{_parameter_type(a)} {a.name}" for a in operator.params]
    if d.mask:
        found.append(f"const std::vector<bool>& {own_argument(operator, d, 'mask')}")
    return [*found, f"bool {own_argument(operator, d, 'recorded')}"] if recorded else found


def own_argument(operator: Operator, d: Direction, wish: str) -> str:
    """What the host calls an argument of its own: which results are wanted, or whether a gradient may be."""
    return Names((*d.tensors, *(a.name for a in operator.params))).fresh(wish)


def may_miss(a: Argument) -> bool:
    """Whether None may come: no value, or a default that is an expression."""
    return a.null or is_computed(a)


def _parameter_type(a: Argument) -> str:
    if a.type == "str":
        return "const std::optional<std::string>&" if a.null else "const std::string&"
    base = NUMBERS[a.type]
    if a.length is not None:
        base = f"std::vector<{base}>"
    if may_miss(a):
        return f"const std::optional<{base}>&"
    return f"const {base}&" if a.length is not None else base


def schema(operator: Operator, d: Direction, name: str, *, recorded: bool) -> str:
    found = [f"Tensor{'?' if t in d.optional else ''} {t}" for t in d.tensors]
    for a in operator.params:
        type_ = a.type + ("[]" if a.length is not None else "") + ("?" if may_miss(a) else "")
        found.append(f"{type_} {a.name}")
    if d.mask:
        found.append("bool[] needs_input_grad")
    if recorded:
        found.append(f"bool {own_argument(operator, d, 'recorded')}=True")
    returns = "Tensor" if len(d.results) == 1 else f"({', '.join('Tensor' for _ in d.results)})"
    return f"{name}({', '.join(found)}) -> {returns}"


def _returned_type(d: Direction) -> str:
    if len(d.results) == 1:
        return "Tensor"
    return f"std::tuple<{', '.join('Tensor' for _ in d.results)}>"


def head(operator: Operator, d: Direction, name: str, *, recorded: bool) -> str:
    return f"{_returned_type(d)} {name}({', '.join(parameters(operator, d, recorded=recorded))}) {{"
