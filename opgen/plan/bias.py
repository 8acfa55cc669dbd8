"""Matrix products and convolutions that add their bias themselves.

In go statements of which some are left to torch. Where everything that reads one adds the same argument to it, over its
last axis or over the channels, the step adds that: torch rounds a product of 16 bits after its bias, and one that is
rounded before would be further from the truth than torch's own operation is. A statement that does nothing else is the
step then; others go on with the sum.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import replace

from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Shape, Statement
from opgen.ir.rewrite import map_scalars
from opgen.ir.scalar import Apply, Index, Read, Scalar, add, rebuild, walk
from opgen.opt.convolution import Convolution, Part
from opgen.opt.expand import axis_names
from opgen.plan.contract import contract, is_whole, linear_form
from opgen.plan.keep import scalars

Biased = tuple[tuple[Statement, ...], dict[str, Read]]


def fuse(
    statements: tuple[Statement, ...],
    products: set[str],
    convolutions: MutableMapping[str, Convolution],
    results: set[str],
    arguments: Mapping[str, Shape],
) -> Biased:
    """The statements after fusion, and what to add by name; `products` and `convolutions` are kept up to date."""
    biases: dict[str, Read] = {}
    for s in statements:
        if not isinstance(s, Compute) or s.target not in {*products, *convolutions} - results:
            continue
        place = _place(s, convolutions.get(s.target))
        found = _without_bias(s, place, statements, arguments) if place else None
        if place is None or found is None:
            continue
        statements, bias = found
        users = [t for t in statements if _reads(t, s.target)]
        if len(users) > 1 or not _is_product(users[0], s):
            biases[s.target] = bias
            continue
        step = _renamed(s, users[0])
        biases[step.target] = Read(bias.tensor, (_index(step, place),))
        statements = tuple(step if t is users[0] else t for t in statements if t is not s)
        if s.target in convolutions:
            convolutions[step.target] = convolutions.pop(s.target)
        else:
            products.remove(s.target)
            products.add(step.target)
    return statements, biases


def _place(product: Compute, form: Convolution | None) -> int | None:
    """The axis, from the end, over which torch adds: the last of what it calls linear, the outputs of a convolution."""
    if form is None:
        return 1 if linear_form(contract(product, "")) is not None else None
    return len(form.ties) + 1 if form.part is Part.OUTPUT else None


def _without_bias(
    product: Compute, place: int, statements: Sequence[Statement], arguments: Mapping[str, Shape]
) -> tuple[tuple[Statement, ...], Read] | None:
    """The statements without what each access to the product adds to it, and what that is, if it is always the same."""
    added: set[str] = set()

    def left(e: Scalar) -> Scalar:
        if isinstance(e, Apply) and e.fn == "add":
            for k, term in enumerate(e.args):
                bias = beside(term, e.args)
                if bias is not None:
                    added.add(bias.tensor)
                    rest = list(e.args[:k] + e.args[k + 1 :])
                    rest.remove(bias)
                    return add(term, *map(left, rest))
        if isinstance(e, Read) and e.tensor == product.target:
            added.add("")
        return rebuild(e, left)

    def beside(term: Scalar, args: tuple[Scalar, ...]) -> Read | None:
        if not (isinstance(term, Read) and term.tensor == product.target and term.fill is None):
            return None
        at = (term.at[-place],)
        return next((a for a in args if isinstance(a, Read) and a.at == at and a.fill is None and a is not term), None)

    changed = tuple(map_scalars(s, left) if _reads(s, product.target) else s for s in statements)
    name = added.pop() if len(added) == 1 else ""
    if name not in arguments or not isinstance(product.axes[-place], Axis):
        return None
    bias = Read(name, (_index(product, place),))
    return (changed, bias) if is_whole(bias, product.axes, arguments[name]) else None


def _reads(s: Statement, name: str) -> bool:
    return any(isinstance(r, Read) and r.tensor == name for e in scalars(s) for r in walk(e))


def _index(s: Compute, place: int) -> Index:
    axis = s.axes[-place]
    assert isinstance(axis, Axis)
    return Index(axis.name)


def _is_product(s: Statement, product: Compute) -> bool:
    """Whether a statement is the product under another name."""
    if not isinstance(s, Compute) or s.op is not None or s.body != Read(product.target, positions(s.axes)):
        return False
    return s.shape == product.shape and not set(axis_names(s.axes)) & set(axis_names(product.over))


def _renamed(product: Compute, s: Statement) -> Compute:
    """A product under the name and the axes of the sum that it becomes."""
    assert isinstance(s, Compute)
    pairs = zip(product.axes, s.axes, strict=True)
    names = {a.name: Index(b.name) for a, b in pairs if isinstance(a, Axis) and isinstance(b, Axis)}

    def rename(e: Scalar) -> Scalar:
        return names.get(e.name, e) if isinstance(e, Index) else rebuild(e, rename)

    return replace(product, target=s.target, axes=s.axes, body=rename(product.body))
