"""Matrix products that add their bias themselves.

In go statements of which some are matrix products; where all that is ever done with a product is to add something over
its last axis, the sum takes the place of both, and the product remembers what to add.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opgen.ir.program import Axis, Compute, Shape, Statement
from opgen.ir.scalar import Apply, Index, Read, Scalar, rebuild, walk
from opgen.plan.contract import contract, is_whole, linear_form
from opgen.plan.expand import axis_names, positions
from opgen.plan.keep import scalars

Biased = tuple[tuple[Statement, ...], dict[str, Read]]


def fuse(
    statements: tuple[Statement, ...], products: set[str], results: set[str], arguments: Mapping[str, Shape]
) -> Biased:
    """The statements after fusion, and what to add by the name of the product; `products` is kept up to date."""
    readers: dict[str, list[Statement]] = {}
    for s in statements:
        for name in dict.fromkeys(r.tensor for e in scalars(s) for r in walk(e) if isinstance(r, Read)):
            readers.setdefault(name, []).append(s)
    biases: dict[str, Read] = {}
    fused: dict[str, Compute] = {}
    for s in statements:
        users = readers.get(s.target, [])
        if isinstance(s, Compute) and s.target in products and s.target not in results and len(users) == 1:
            bias = _bias(users[0], s)
            if bias is not None and bias.tensor in arguments and is_whole(bias, s.axes, arguments[bias.tensor]):
                fused[users[0].target] = s
                biases[users[0].target] = bias
    gone = {s.target for s in fused.values()}
    products -= gone
    products |= set(fused)
    kept = (s for s in statements if s.target not in gone)
    return tuple(_renamed(fused[s.target], s) if s.target in fused else s for s in kept), biases


def _bias(s: Statement, product: Compute) -> Read | None:
    """The other term where a map only adds something over the last axis to a matrix product that torch calls linear."""
    if not isinstance(s, Compute) or s.op is not None or not isinstance(s.body, Apply) or s.body.fn != "add":
        return None
    last = s.axes[-1] if s.axes else None
    if product.shape != s.shape:
        return None
    whole = Read(product.target, positions(s.axes))
    if len(s.body.args) != 2 or whole not in s.body.args or not isinstance(last, Axis):
        return None
    other = next((t for t in s.body.args if t != whole), None)
    clash = set(axis_names(s.axes)) & set(axis_names(product.over))
    if clash or not isinstance(other, Read) or other.at != (Index(last.name),) or other.fill is not None:
        return None
    return other if linear_form(contract(product, "")) is not None else None


def _renamed(product: Compute, s: Statement) -> Compute:
    """A product under the name and the axes of the sum that it becomes."""
    assert isinstance(s, Compute)
    pairs = zip(product.axes, s.axes, strict=True)
    names = {a.name: Index(b.name) for a, b in pairs if isinstance(a, Axis) and isinstance(b, Axis)}

    def rename(e: Scalar) -> Scalar:
        return names.get(e.name, e) if isinstance(e, Index) else rebuild(e, rename)

    return replace(product, target=s.target, axes=s.axes, body=rename(product.body))
