"""Tensors of a module that are to start as a grid, `linspace(0, cutoff, K)`: a formula of the index says the same.

In go the spec and what a tensor is to start with; out come the statements in place of it, and how it is filled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from opgen.schema.formula import Formula
from opgen.schema.model import OpSpec
from opgen.schema.read_shapes import reads

_PREFIX = re.compile(r"\b(?:math|np|numpy|torch)\.(?=[a-z])")
_KEYWORD = re.compile(r"(\w+)\s*=(?!=)\s*(.*)", re.DOTALL)
_NAMED = {"start": 0, "end": 1, "stop": 1, "step": 2}
_WINDOWS = {
    "hann_window": "0.5 - 0.5*cos(2*pi*{0}/{1})",
    "hamming_window": "0.54 - 0.46*cos(2*pi*{0}/{1})",
    "blackman_window": "0.42 - 0.5*cos(2*pi*{0}/{1}) + 0.08*cos(4*pi*{0}/{1})",
}
_TRIANGLES = {"tril": "<=", "triu": ">="}
_GRIDS = (
    "linspace", "arange", "range", "logspace", "geomspace", *_WINDOWS, *_TRIANGLES, "tri", "bartlett",
    "bartlett_window", "blackman", "hamming", "hanning", "kaiser", "kaiser_window", "fftfreq", "rfftfreq", "meshgrid",
)  # fmt: skip
_CALL = re.compile(rf"(?<![\w.])(?P<name>{'|'.join(_GRIDS)})\s*\((?P<args>[^()]*(?:\([^()]*\)[^()]*)*)\)")


def of_grid(spec: OpSpec, name: str, made: Formula, *, trained: bool) -> tuple[str, ...]:
    """What is said of a tensor that is to start as a grid; nothing for any other initialiser."""
    text = _PREFIX.sub("", made.text.strip())
    if _CALL.search(text) is None:
        return ()
    python = re.sub(r"(?<![\w.])([a-z]\w*\()", r"torch.\1", text)
    filled = f"start it as `zeros`, and fill it once the module is made: `module.{name}.data.copy_({python})`"
    if trained:
        return (filled,)
    shape = next((tuple(i.text for i in t.shape or ()) for t in spec.inputs if t.name == name), ())
    lines = [_line(spec, line, name, shape, text) for line in _statements(spec) if reads(line, name)]
    if not lines or "" in lines:
        return (f"what is fixed is a formula of its index in place of `{name}`, where there is one", f"or {filled}")
    shown = f"leave `{name}` out, and write {', '.join(f'`{line}`' for line in lines)}"
    return (f"a fixed grid is a formula of its index: {shown}{_sizes(spec, name, shape)}", f"or {filled}")


def _statements(spec: OpSpec) -> list[str]:
    """The statements of the formula, those on several lines as one."""
    found, whole = list[str](), ""
    for line in spec.forward.text.splitlines() if isinstance(spec.forward, Formula) else ():
        whole = f"{whole} {line.partition('#')[0].strip()}".strip()
        if sum(map(whole.count, "([{")) == sum(map(whole.count, ")]}")):
            found.append(whole)
            whole = ""
    return found


def _arguments(text: str) -> list[str]:
    """The positional arguments of a call, those by name in their places; how many there are is left to the shape."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    found: dict[int, str] = {}
    for k, part in enumerate(p.strip() for p in parts if p.strip()):
        keyword = _KEYWORD.fullmatch(part)
        if keyword is None:
            found[k] = part
        elif keyword[1] in _NAMED:
            found[_NAMED[keyword[1]]] = keyword[2]
        elif keyword[1] not in ("steps", "num", "dtype", "device"):
            return []
    return [found[k] for k in sorted(found)]


def _formula(call: str, given: Sequence[str], at: Sequence[str], shape: Sequence[str]) -> str:
    """The element of a grid at an index; empty where none is known."""
    match call, given, at:
        case "linspace", (first, last, *_), (index,):
            size = f"({shape[0]} - 1)"
            if first in ("0", "0.0"):
                return f"{index}/{size}" if last in ("1", "1.0") else f"{_atom(last)}*{index}/{size}"
            return f"{first} + {_between(first, last)}*{index}/{size}"
        case "logspace", (_, _, *_), (_,):
            return f"10**({_formula('linspace', given, at, shape)})"
        case "arange", (_,), (index,):
            return index
        case "arange", (first, _), (index,):
            return index if first == "0" else f"{first} + {index}"
        case "arange", (first, _, step), (index,):
            return f"{_atom(step)}*{index}" if first in ("0", "0.0") else f"{first} + {_atom(step)}*{index}"
        case _, (_,), (index,) if call in _WINDOWS:
            return _WINDOWS[call].format(index, shape[0])
        case _, (whole,), (row, column) if call in _TRIANGLES and re.match(r"ones\b", whole):
            return f"where({column} {_TRIANGLES[call]} {row}, 1, 0)"
        case _:
            return ""


def _atom(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+(\([^()]*\))?", text) else f"({text})"


def _between(first: str, last: str) -> str:
    """How far it is from the first to the last element."""
    if all(re.fullmatch(r"-?\d+(\.\d*)?", end) for end in (first, last)):
        return str(Decimal(last) - Decimal(first))
    return f"({last} + {_atom(first[1:])})" if first.startswith("-") else f"({last} - {_atom(first)})"


def _element(grid: str, at: Sequence[str], shape: Sequence[str]) -> str:
    """A grid at an index: with the formula of each call in it; empty where one has none."""
    made = {c[0]: _formula(c["name"], _arguments(c["args"]), at, shape) for c in _CALL.finditer(grid)}
    if "" in made.values():
        return ""
    return made.get(grid) or _CALL.sub(lambda c: _atom(made[c[0]]), grid)


def _line(spec: OpSpec, line: str, name: str, shape: Sequence[str], grid: str) -> str:
    """A statement with the formula in place of the tensor; empty where it is read in a way that says no index."""
    indices: dict[str, str] = {}

    def element(found: re.Match[str]) -> str:
        at = [_atom(i.strip()) for i in found["at"].split(",")]
        made = _element(grid, at, shape) if len(at) == len(shape) else ""
        if not made:
            return "\n"
        indices.update({i: size for i, size in zip(at, shape, strict=False) if re.fullmatch(r"[a-z]\w*", i)})
        before, after = line[: found.start()].rstrip(), line[found.end() :].lstrip()
        is_sum = re.fullmatch(r"[\w.]+(\*[\w.]+)*(/[\w.]+|/\(\w+ - 1\))?", made) is None
        alone = re.search(r"=$|\($|,$", before) is not None and re.match(r"$|\)|,|if\b", after) is not None
        tight = after.startswith("**") or before.endswith(("/", "%", "**")) or (is_sum and not alone)
        return f"({made})" if tight and not re.fullmatch(r"\w+(\([^()]*\))?", made) else made

    made = re.sub(rf"(?<![\w.]){re.escape(name)}\s*\[(?P<at>[^\[\]]*)\]", element, line)
    if "\n" in made or not shape or reads(made, name):
        return ""
    for index, size in indices.items():
        made = _bounded(spec, made, index, size)
    return made


def _bounded(spec: OpSpec, line: str, index: str, size: str) -> str:
    """A statement with the extent of an index where it stands first, if no tensor is read at it alone."""
    left, sign, right = line.partition("=")
    others = {item for t in spec.inputs for at in reads(right, str(t.name)) for item in at}
    own = rf"(?<=[\[,])(\s*){index}(?=\s*[\],])"
    if index in others or re.search(rf"\b{index}\s*<", line):
        return line
    if re.search(own, left):
        return re.sub(own, rf"\g<1>{index} < {size}", left, count=1) + sign + right
    return left + sign + re.sub(rf"{own}(?=[^\[\]]*\]\s*\()", rf"\g<1>{index} < {size}", right, count=1)


def _sizes(spec: OpSpec, name: str, shape: Sequence[str]) -> str:
    """What to declare for the dims that no other input has."""
    others = {i.text for t in spec.inputs if t.name != name for i in t.shape or ()} | {str(d.name) for d in spec.dims}
    alone = [size for size in dict.fromkeys(shape) if size[:1].isupper() and size not in others]
    named = {str(dim): str(argument) for dim, argument in (spec.module.dims if spec.module is not None else {}).items()}
    counts = {size: named.get(size, f"num_{size.lower()}") for size in alone}
    if not counts:
        return ""
    params = " and ".join(f"`{argument}: {{type: int, domain: {argument} >= 2}}`" for argument in counts.values())
    dims = " and ".join(f"`{size}: {argument}`" for size, argument in counts.items())
    place = "beside `inputs`, no more of `module`" if any(size in named for size in alone) else "beside `inputs`"
    return f", with {params} under `params`, and {dims} under `dims` {place}"
