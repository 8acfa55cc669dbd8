"""Initialisers such as `normal(0, std=1/sqrt(K))`: functions of torch.nn.init without their tensor and underscore.

In goes the formula of a spec, out comes the function and its arguments as scalars of sizes and params.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opgen.diagnostics.model import Bag, Hint
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir.declared import Initialiser
from opgen.ir.formula import CONSTANTS, read
from opgen.ir.functions_text import PLAIN
from opgen.ir.scalar import Scalar
from opgen.lang.nodes import Call, Expr, Name, Number, Power, Product, Sum, Unary
from opgen.lang.parser import parse_expression
from opgen.lower.filled import filled
from opgen.schema.formula import Formula
from opgen.schema.model import OpSpec
from opgen.schema.sizes import constructor_sizes

_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\((.*)\))?\s*", re.DOTALL)
_KEYWORD = re.compile(r"\s*([a-z_]\w*)\s*=(?!=)(.*)", re.DOTALL)
# What each takes behind the tensor, as far as it is a number.
_ARGUMENTS = {
    "uniform": ("a", "b"), "normal": ("mean", "std"), "trunc_normal": ("mean", "std", "a", "b"), "constant": ("val",),
    "ones": (), "zeros": (), "eye": (), "dirac": ("groups",), "xavier_uniform": ("gain",), "xavier_normal": ("gain",),
    "kaiming_uniform": ("a",), "kaiming_normal": ("a",), "orthogonal": ("gain",), "sparse": ("sparsity", "std"),
}  # fmt: skip
_FILLED = re.compile(r"(?:torch\.)?(?:tensor|full_?|fill_?|const|value)\((.*)\)")  # what `constant` is called elsewhere
_ELSEWHERE = re.compile(r"\s*(?:\w+\.)*([A-Za-z]\w*?)_?\s*\((.*)\)\s*", re.DOTALL)
_PREFIX = re.compile(r"\b(?:math|np|numpy|torch)\.(?=[a-z])")
_BY_ITSELF = re.compile(r"mode=.fan_in.|nonlinearity=.leaky_relu.|generator=None")  # what holds without being said
_NEEDED = {"constant": 1, "sparse": 1}
# How many dims the tensor has to have, at least and at most; the others take any number.
_DIMS = {
    "eye": (2, 2), "sparse": (2, 2), "dirac": (3, 5), "orthogonal": (2, None), "xavier_uniform": (2, None),
    "xavier_normal": (2, None), "kaiming_uniform": (2, None), "kaiming_normal": (2, None),
}  # fmt: skip


def initialisers(spec: OpSpec, bag: Bag) -> dict[str, Initialiser]:
    """Those of a spec's module, by the input they are for; mistakes go to the bag."""
    module = spec.module
    if module is None:
        return {}
    params = (p.name for p in spec.params if p.type in ("int", "float") and p.length is None)
    known = (*constructor_sizes(spec), *map(str, params))
    out: dict[str, Initialiser] = {}
    for name, f in (*module.parameters, *module.buffers):
        initialiser = parse_initialiser(f, known, bag)
        if initialiser is not None:
            out[str(name)] = initialiser
            _fits(spec, str(name), initialiser.name, f, bag)
    return out


def _fits(spec: OpSpec, name: str, initialiser: str, f: Formula, bag: Bag) -> None:
    """An initialiser that cannot fill an input of so many dims goes to the bag."""
    shape = next((i.shape for i in spec.inputs if str(i.name) == name), None)
    if shape is None or any(d.text == "..." for d in shape):
        return
    least, most = _DIMS.get(initialiser, (0, None))
    if len(shape) >= least and (most is None or len(shape) <= most):
        return
    needs = f"at least {least}" if most is None else f"{least} to {most}" if most > least else str(least)
    has = "no dims" if not shape else "1 dim" if len(shape) == 1 else f"{len(shape)} dims"
    free = [n for n in _ARGUMENTS if n not in _DIMS]
    message = f"`{initialiser}` needs {needs} dims, and `{name}` has {has}"
    hint = f"any number of dims is filled by {listed(free)}"
    bag.error("OPG121", message, f.whole, label=f"for {needs} dims", hints=(hint,))


def parse_initialiser(f: Formula, known: tuple[str, ...], bag: Bag) -> Initialiser | None:
    """The initialiser that a formula states; `known` are the names its arguments may read."""
    match = _CALL.fullmatch(f.text)
    if match is None or match[1] not in _ARGUMENTS:
        name = match[1] if match is not None else f.text.strip()
        filled = _FILLED.fullmatch(name if match is None else f.text.strip())
        number = f if filled is None else _sub(f, *(k + f.text.index(filled[0]) for k in filled.span(1)))
        if _states_number(number, known):
            right = f"constant({number.text.strip()})"
            right = f'"{right}"' if "," in right else right
            message, label = f"`{f.text.strip()}` is a value, not an initialiser", "not a function of torch.nn.init"
            bag.error("OPG121", message, f.whole, label=label, hints=(Hint(f"write `{right}`", f.whole.text, right),))
            return None
        bag.error(
            "OPG121", f"`{name}` is not an initialiser", f.whole, label="not a function of torch.nn.init",
            notes=(f"known: {listed(_ARGUMENTS, 'and')}",),
            hints=_filled(f, known) or _called_elsewhere(f, known) or _meant(name),
        )  # fmt: skip
        return None
    names = _ARGUMENTS[match[1]]
    arguments: list[tuple[str | None, Scalar]] = []
    for start, end in _parts(f.text, *match.span(2)) if match[2] is not None else ():
        keyword = _KEYWORD.fullmatch(f.text, start, end)
        value = _sub(f, keyword.start(2) if keyword else start, end)
        e = parse_expression(value, bag)
        if e is None or not _is_number(e, known, bag):
            return None
        arguments.append((keyword[1] if keyword else None, read(e, known)))
    given = [key or names[k] if k < len(names) or key else "" for k, (key, _) in enumerate(arguments)]
    in_order = all(a is None for a, b in zip(_keys(arguments), _keys(arguments)[1:], strict=False) if b is None)
    fits = all(n in names for n in given) and len(set(given)) == len(given) and in_order
    if not fits or any(n not in given for n in names[: _NEEDED.get(match[1], 0)]):
        takes = f"takes {listed(names, 'and')}" if names else "takes no arguments"
        hints = _filled(f, known)
        bag.error("OPG121", f"the initialiser `{match[1]}` {takes}", f.whole, label="other arguments here", hints=hints)
        return None
    return Initialiser(match[1], tuple(arguments))


def _filled(f: Formula, known: tuple[str, ...]) -> tuple[str, ...]:
    """What fills as `randn(K)` does, where it can be computed here."""
    right = filled(f.text)
    if right is None or not _is_initialiser(f, right, known):
        return ()
    shown = f'"{right}"' if "," in right else right
    why = "the shape is known from `inputs`: " if "(" in f.text else ""
    return (Hint(f"{why}write `{shown}`", f.whole.text, shown),)


def _is_initialiser(f: Formula, text: str, known: tuple[str, ...]) -> bool:
    """Whether a text is an initialiser where a formula stands."""
    return parse_initialiser(Formula(text, f.source, (f.offsets[0],) * (len(text) + 1)), known, Bag()) is not None


def _called_elsewhere(f: Formula, known: tuple[str, ...]) -> tuple[str, ...]:
    """A call such as `nn.init.normal_(w, 0, 0.02)` with its arguments, without the tensor; nothing for any other."""
    match = _ELSEWHERE.fullmatch(f.text)
    name = "" if match is None else match[1].lower()
    if match is None or name not in _ARGUMENTS:
        return ()
    parts = [_sub(f, *part) for part in _parts(f.text, *match.span(2))]
    if parts and not _KEYWORD.fullmatch(parts[0].text) and not _states_number(parts[0], known):
        del parts[0]  # the tensor
    given = [_PREFIX.sub("", part.text.strip()) for part in parts]
    given = [text for text in given if not _BY_ITSELF.fullmatch(text.replace(" ", ""))]
    right = f"{name}({', '.join(given)})" if given else name
    if not _is_initialiser(f, right, known):
        return (f"it is called `{name}`, which takes {listed(_ARGUMENTS[name], 'and') or 'no arguments'}",)
    return (Hint(f"write `{right}`", f.whole.text, right),)


def _meant(name: str) -> tuple[str, ...]:
    """The initialisers of a family (`xavier`), or the one that is spelt alike."""
    word = name.removeprefix("torch.").removeprefix("nn.").removeprefix("init.").partition("(")[0].rstrip("_").lower()
    family = [known for known in _ARGUMENTS if known.startswith(f"{word}_")]
    if len(family) > 1:
        return (f"did you mean {listed(family)}?",)
    if word in ("none", "null"):
        return ()
    if word in _ARGUMENTS:
        return (Hint(f"write `{word}`", name.partition("(")[0], word),)
    return did_you_mean(word, tuple(_ARGUMENTS))


def _states_number(f: Formula, known: tuple[str, ...]) -> bool:
    """Whether a number that the module can compute stands in place of an initialiser."""
    unseen = Bag()
    e = parse_expression(f, unseen)
    return e is not None and _is_number(e, known, unseen)


def _keys(arguments: list[tuple[str | None, Scalar]]) -> list[str | None]:
    return [key for key, _ in arguments]


def _sub(f: Formula, start: int, end: int) -> Formula:
    return Formula(f.text[start:end], f.source, f.offsets[start : end + 1])


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The arguments of a call: split at the commas outside brackets."""
    if not text[start:end].strip():
        return
    depth = 0
    for i in range(start, end):
        depth += (text[i] in "([") - (text[i] in ")]")
        if text[i] == "," and depth == 0:
            yield start, i
            start = i + 1
    yield start, end


def _is_number(e: Expr, known: tuple[str, ...], bag: Bag) -> bool:
    """Whether an argument can be computed from the sizes and params of a module; else the bag says what cannot."""
    match e:
        case Number():
            return True
        case Name(name=name):
            if name in known or name in CONSTANTS:
                return True
            note = f"known here: {listed(known, 'and')}" if known else "the module has no sizes and no params"
            bag.error("OPG121", f"`{name}` is no number that the module knows", e.span, notes=(note,),
                      hints=did_you_mean(name, known))  # fmt: skip
            return False
        case Unary(op="-", operand=operand):
            return _is_number(operand, known, bag)
        case Sum(terms=parts) | Product(factors=parts):
            return all(_is_number(p, known, bag) for _, p in parts)
        case Power(base=base, exponent=exponent):
            return _is_number(base, known, bag) and _is_number(exponent, known, bag)
        case Call(name=name, args=args) if name in PLAIN:
            return all(_is_number(a, known, bag) for a in args)
        case _:
            bag.error("OPG121", "this is no number", e.span, notes=(f"functions: {listed(PLAIN, 'and')}",))
            return False
