"""Names for parts of a value, from how they are made: `exp_x`, `centred`, `scaled_grad`, `safe_target`."""

from __future__ import annotations

from opgen.ir.functions import FUNCTIONS
from opgen.ir.scalar import ONE, Apply, Batch, Index, Read, Scalar, children, reads

_WORDS = {
    "add": "total", "sub": "difference", "mul": "product", "div": "ratio", "pow": "power", "neg": "negative",
    "floordiv": "quotient", "mod": "rest",
}  # fmt: skip
_CENTRES = ("_max", "_mean", "_max_value", "_mean_value")  # what is taken from the elements of a row
_LONGEST = 24  # of names that say it all


def described(e: Scalar) -> str:
    """What a value is called that has no name in the spec."""
    match e:
        case Read(tensor=name, at=at):
            return f"{name}_value" if all(isinstance(p, Index | Batch) for p in at) else f"{name}_picked"
        case Apply("where", (_, Read(tensor=name), b)) if not children(b):
            return f"safe_{name}"
        case Apply("where"):
            return "chosen"
        case Apply(fn) if fn in FUNCTIONS and FUNCTIONS[fn].result == "bool":
            return "mask"
        case Apply("sub", (_, Read(tensor=name))) if name.endswith(_CENTRES):
            return "centred"
        case Apply("mul" | "div", args) if any(map(_is_cotangent, args)):
            return "scaled_grad"
        case Apply("div", (one, _)) if one == ONE:
            return "inverse"
        case Apply(fn) if fn in _WORDS:
            return _WORDS[fn]
        case Apply(fn):
            subjects = {r.tensor.removesuffix("_value") for r in reads(e) if not r.tensor.endswith(_CENTRES)}
            name = f"{fn}_{subjects.pop()}" if len(subjects) == 1 else f"{fn}_value"
            return name if len(name) <= _LONGEST else f"{fn}_value"
        case _:
            return "value"


def _is_cotangent(e: Scalar) -> bool:
    return isinstance(e, Read) and e.tensor.startswith("grad_")
