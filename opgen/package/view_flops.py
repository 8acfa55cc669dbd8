"""The formulas that count floating-point operations, for torch's counter.

In goes a `Surface`; out come functions of the arguments of an op, as far as the number depends on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from opgen.code.layout import bracketed
from opgen.ir.names import Names
from opgen.ir.program import Program, Role, names
from opgen.ir.scalar import BATCH, Dim, Lit, Scalar, add, mul, substitute
from opgen.opt.flops import work
from opgen.package.shapes import Sizes
from opgen.package.view import Surface
from opgen.package.view_checks import backward_lines, branched, needed


@dataclass(frozen=True, slots=True)
class CountView:
    """A function of the arguments of an op that returns numbers: its `def` line, docstring and body."""

    name: str
    define: str
    doc: str
    lines: tuple[str, ...]


def flops_views(s: Surface, typed: Sequence[str], back_typed: Sequence[str]) -> tuple[CountView, ...]:
    """The counts of the forward and of the backward op, with the arguments that these have; none where all are 0."""
    forward = branched(s, [_branch(s, d.forward, {}) for d in s.derived], returns=True)
    made = [count_view("flops", "The floating-point operations of a call.", typed, forward)]
    if s.active:
        lines = _backward(s, [t.partition(":")[0] for t in back_typed])
        made.append(count_view("backward_flops", "The floating-point operations of the gradients.", back_typed, lines))
    return tuple(v for v in made if v is not None)


def count_view(
    name: str, doc: str, typed: Sequence[str], lines: Sequence[str], returns: str = "int"
) -> CountView | None:
    """The function with such a body, of those arguments that it takes; none where it would return 0."""
    if all(line.strip() == "return 0" for line in lines if "return" in line):
        return None
    text = "\n".join(lines)
    used = [t for t in typed if re.search(rf"(?<![\w.]){t.partition(':')[0]}\b", text)]
    return CountView(name, bracketed(f"def {name}(", used, f") -> {returns}:"), doc, tuple(lines))


def _backward(s: Surface, arguments: Sequence[str]) -> list[str]:
    branches = []
    for d in s.derived:
        masks = {} if d.backward is None else {k: needed(s, o.of) for k, o in enumerate(d.backward.outputs)}
        branches.append(("return 0",) if d.backward is None else _branch(s, d.backward, masks))
    return backward_lines(s, arguments, branches, returns=True)


def _branch(s: Surface, p: Program, masks: dict[int, str]) -> tuple[str, ...]:
    """The count of a variant; with masks, of what is needed."""
    groups: dict[str, list[Scalar]] = {}
    for w in work(p, apart=bool(masks)):
        amount = mul(Lit(w.each), *w.extents)
        groups.setdefault(_any_of([masks[k] for k in w.outputs]), []).append(amount)
    return sum_lines(s, p, groups)


def _any_of(masks: Sequence[str]) -> str:
    """Whether one of several gradients is needed, as a factor; of many, by their places."""
    needs = " or ".join(masks)
    if len(needs) > 80:
        places = ", ".join(m.partition("[")[2].rstrip("]") for m in masks)
        return f"any({masks[0].partition('[')[0]}[k] for k in ({places}))"
    return f"({needs})" if len(masks) > 1 else needs


def _product(sizes: Sizes, carriers: Sequence[str]) -> str:
    """The number of points of the batch shape."""
    return f"math.prod({sizes.batch(carriers)})"


def sum_lines(
    s: Surface,
    p: Program,
    groups: Mapping[str, Sequence[Scalar]],
    product: Callable[[Sizes, Sequence[str]], str] = _product,
) -> tuple[str, ...]:
    """Lines that return a sum of amounts, of a group only where its text holds.

    `Dim("...")` are the batch dims: `product` says how many points those of some arguments have.
    """
    own = Names((*names(p), *s.arguments))
    points, count = own.fresh("points"), own.fresh("count")
    sizes = Sizes(p, known={points: points})
    terms = []
    for needs, amounts in groups.items():
        text = sizes.number(substitute(add(*amounts), {Dim("..."): Dim(points)}))
        terms.append(f"{needs} * {f'({text})' if len(amounts) > 1 else text}" if needs else text)
    first, *rest = terms or ["0"]
    result = [f"{count} = {first}", *(f"{count} += {term}" for term in rest), f"return {count}"]
    result = result if rest else [f"return {first}"]
    used = re.search(rf"\b{points}\b", "\n".join((*sizes.lines, *result)))
    carriers = [t for t in p.inputs if BATCH in t.shape]
    whole = [t for t in carriers if t.role is Role.COTANGENT][:1] or carriers
    batch = [f"{points} = {product(sizes, [t.name for t in whole])}"] if used else []
    lines = [*batch, *sizes.lines, *result]
    if len(lines) > 1 and lines[-2].startswith(f"{lines[-1].removeprefix('return ')} = "):
        lines[-2:] = [f"return {lines[-2].partition(' = ')[2]}"]
    return tuple(lines)
