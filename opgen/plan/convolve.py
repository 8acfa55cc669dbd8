"""Convolutions, which are left to torch, and what they are where kernels are faster than that.

These are convolutions of channels that see no others (groups have one channel and one output) along one axis, at every
place of it:

    y[n, o, p] = sum[c, k](x[n, o, p + k*dilation + start]*w[o, c, k])
    x[n, c, l] = sum[o, k](y[n, c, l - k*dilation - start]*w[c, o, k])
    w[o, c, k] = sum[n, p](y[n, o, p]*x[n, o, p + k*dilation + start])

In go a statement and the convolution that it is, out comes the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from opgen.ir.names import Names
from opgen.ir.point import positions
from opgen.ir.polynomial import polynomial
from opgen.ir.program import Axis, Compute, Loop, Shape
from opgen.ir.scalar import ONE, ZERO, Batch, Index, Lit, Position, Read, Scalar, both, call, mul, reads, where
from opgen.opt.convolution import Convolution, Part
from opgen.plan.group import biased, lone
from opgen.plan.model import Convolve, Instead, Nest
from opgen.plan.nest import Surroundings, nest

Pairs = tuple[tuple[Scalar, Scalar], ...]


def convolve(
    s: Compute, read: tuple[Read, ...], form: Convolution, bias: Read | None, around: Surroundings
) -> Convolve:
    """The step; `read` is what the statement reads, `bias` what is added to it."""

    def plain(s: Compute, read: tuple[Read, ...]) -> Nest:
        name = "" if bias is None else around.names.fresh(f"{s.target}_sum")
        return nest(lone(s, read) if bias is None else biased(s, read, bias, name), around)

    found = _alone(s, form, around.shapes, around.names)
    own = None if found is None else Instead(plain(found[0], reads(found[0].body)), found[1])
    added = "" if bias is None else bias.tensor
    return Convolve(s.target, plain(s, read), form, added, own, (), "a convolution: left to torch")


def _alone(s: Compute, form: Convolution, shapes: Mapping[str, Shape], names: Names) -> tuple[Compute, Pairs] | None:
    """The statement, and the pairs of sizes that are to be the same."""
    if len(form.ties) != 1 or form.ties[0].reverse or form.width is None:
        return None
    (tie,) = form.ties
    at = {part: r.at for part, r in form.reads.items()} | {form.part: positions(s.axes)}
    shape = {part: shapes[r.tensor] for part, r in form.reads.items()} | {form.part: s.shape}
    output, channel = (1, 0) if form.swapped else (0, 1)
    seen, channels, outputs = shape[Part.WEIGHT][channel], shape[Part.DATA][-2], shape[Part.OUTPUT][-2]
    if isinstance(seen, Batch) or isinstance(channels, Batch) or isinstance(outputs, Batch):
        return None
    sizes = (seen, ONE), (form.width, ONE), (tie.stride, ONE), (channels, outputs)
    pairs = tuple((a, b) for a, b in sizes if a != b)
    if any(isinstance(a, Lit) and isinstance(b, Lit) for a, b in pairs):
        return None
    moved = (polynomial(tie.dilation), polynomial(tie.start))
    batch = at[form.part][:-2] if form.part is not Part.WEIGHT else at[Part.OUTPUT][:-2]

    def read(part: Part, *where_: Position, fill: Scalar | None = None) -> Read:
        return Read(form.reads[part].tensor, where_, fill)

    def weight(o: Position, c: Position, k: Position) -> Read:
        return read(Part.WEIGHT, *((c, o) if form.swapped else (o, c)), k)

    def ahead(p: Scalar, k: Scalar) -> Scalar:
        return (polynomial(p) + polynomial(k) * moved[0] + moved[1]).scalar()

    def axis(q: Position, size: Scalar | Batch) -> Loop:
        if isinstance(q, Batch):
            return q
        assert isinstance(q, Index)
        assert not isinstance(size, Batch)
        return Axis(q.name, size)

    one, tap = Index(names.fresh("one")), Index(names.fresh("tap"))
    inner: tuple[Loop, ...] = axis(one, seen), axis(tap, shape[Part.WEIGHT][-1])
    match form.part:
        case Part.OUTPUT:
            o, p = at[Part.OUTPUT][-2:]
            assert isinstance(p, Index)
            body = mul(read(Part.DATA, *batch, o, ahead(p, tap), fill=ZERO), weight(o, one, tap))
        case Part.DATA:
            c, p = at[Part.DATA][-2:]
            assert isinstance(p, Index)
            size = shape[Part.OUTPUT][-1]
            assert not isinstance(size, Batch)
            place = (polynomial(p) - polynomial(tap) * moved[0] - moved[1]).scalar()
            inside = both(call("ge", place, ZERO), call("lt", place, size))
            body = where(inside, mul(read(Part.OUTPUT, *batch, c, place), weight(c, one, tap)), ZERO)
        case Part.WEIGHT:
            o, k = at[Part.WEIGHT][output], at[Part.WEIGHT][-1]
            p = Index(names.fresh("place"))
            assert isinstance(k, Index)
            body = mul(read(Part.OUTPUT, *batch, o, p), read(Part.DATA, *batch, o, ahead(p, k), fill=ZERO))
            inner = (*map(axis, batch, shape[Part.OUTPUT]), axis(p, shape[Part.OUTPUT][-1]))
    axes = tuple(
        axis(q, outputs) if q == at[Part.DATA][-2] else a for q, a in zip(positions(s.axes), s.axes, strict=True)
    )
    return replace(s, axes=axes, body=body, over=inner), pairs
