"""Matrix products and convolutions that add their bias themselves.

In go statements of which some are left to torch; where all that is ever done with one is to add something over its last
axis, or over the channels, the sum takes the place of both, and the step remembers what to add.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import replace

from opgen.ir.point import positions
from opgen.ir.program import Axis, Compute, Shape, Statement
from opgen.ir.scalar import Apply, Index, Read, Scalar, rebuild, walk
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
    readers: dict[str, list[Statement]] = {}
    for s in statements:
        for name in dict.fromkeys(r.tensor for e in scalars(s) for r in walk(e) if isinstance(r, Read)):
            readers.setdefault(name, []).append(s)
    biases: dict[str, Read] = {}
    fused: dict[str, Compute] = {}
    for s in statements:
        users = readers.get(s.target, [])
        given = s.target in products or s.target in convolutions
        if isinstance(s, Compute) and given and s.target not in results and len(users) == 1:
            bias = _bias(users[0], s, convolutions.get(s.target))
            if bias is not None and bias.tensor in arguments and is_whole(bias, s.axes, arguments[bias.tensor]):
                fused[users[0].target] = s
                biases[users[0].target] = bias
    gone = {s.target for s in fused.values()}
    for name, s in fused.items():
        if s.target in convolutions:
            convolutions[name] = convolutions.pop(s.target)
        else:
            products.add(name)
    products -= gone
    kept = (s for s in statements if s.target not in gone)
    return tuple(_renamed(fused[s.target], s) if s.target in fused else s for s in kept), biases


def _bias(s: Statement, product: Compute, form: Convolution | None) -> Read | None:
    """The other term where a map only adds to a product what torch adds itself.

    That is something over the last axis of a matrix product that torch calls linear, or the outputs of a convolution.
    """
    if not isinstance(s, Compute) or s.op is not None or not isinstance(s.body, Apply) or s.body.fn != "add":
        return None
    taken = form.part is Part.OUTPUT if form is not None else linear_form(contract(product, "")) is not None
    place = 1 if form is None else len(form.ties) + 1
    axis = s.axes[-place] if taken and s.axes else None
    if product.shape != s.shape:
        return None
    whole = Read(product.target, positions(s.axes))
    if len(s.body.args) != 2 or whole not in s.body.args or not isinstance(axis, Axis):
        return None
    other = next((t for t in s.body.args if t != whole), None)
    clash = set(axis_names(s.axes)) & set(axis_names(product.over))
    if clash or not isinstance(other, Read) or other.at != (Index(axis.name),) or other.fill is not None:
        return None
    return other


def _renamed(product: Compute, s: Statement) -> Compute:
    """A product under the name and the axes of the sum that it becomes."""
    assert isinstance(s, Compute)
    pairs = zip(product.axes, s.axes, strict=True)
    names = {a.name: Index(b.name) for a, b in pairs if isinstance(a, Axis) and isinstance(b, Axis)}

    def rename(e: Scalar) -> Scalar:
        return names.get(e.name, e) if isinstance(e, Index) else rebuild(e, rename)

    return replace(product, target=s.target, axes=s.axes, body=rename(product.body))
