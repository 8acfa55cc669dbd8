"""Kernels as text, for `opgen show --stage kernel` and for tests that show a rewrite before and after.

One node is one line, what stands in its body is indented. Params and slots come first, those that are written behind an
arrow. A text is of one kernel only: `opgen.kernel.parse` reads it back.

    kernel forward_y(x[..., N]: scalar) -> total[...]: scalar
      for ... parallel
        acc total_sum: float = sum
        for n < N
          join total_sum with x[..., n]
        total[...] = total_sum
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from opgen.ir import text
from opgen.ir.program import Loop
from opgen.ir.scalar import Batch, Param, Position, Scalar, walk
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Kernel, Node, Role, Slot, Store, Tile
from opgen.kernel.walk import scalars
from opgen.plan.model import Let


def kernel(k: Kernel) -> str:
    """The whole kernel."""
    params = dict.fromkeys(n.name for e in scalars(k) for n in walk(e) if isinstance(n, Param))
    read = ", ".join((*(f"param {name}" for name in params), *(_slot(s) for s in k.slots if not s.written)))
    written = ", ".join(_slot(s) for s in k.slots if s.written)
    lines = [*([f"# {k.reason}"] if k.reason else []), f"kernel {k.name}({read}) -> {written}"]
    return "\n".join([*lines, *(f"  {line}" for line in _body(k.body))]) + "\n"


def _slot(s: Slot) -> str:
    return f"{s.name}{_at(s.shape)}: {s.storage}"


def _body(body: Body) -> Iterator[str]:
    for node in body:
        yield from _node(node)


def _node(node: Node) -> Iterator[str]:
    match node:
        case For(loop, body, role, reverse):
            how = f"{' down' if reverse else ''}{f' {role}' if role is not Role.SERIAL else ''}"
            yield f"for {_loop(loop)}{how}"
            yield from (f"  {line}" for line in _body(body))
        case If(condition, body, otherwise):
            yield f"if {_scalar(condition)}"
            yield from (f"  {line}" for line in _body(body))
            if otherwise:
                yield "else"
                yield from (f"  {line}" for line in _body(otherwise))
        case Let(name, value, kind):
            yield f"let {name}: {kind} = {_scalar(value)}"
        case Acc(name, op, kind):
            yield f"acc {name}: {kind} = {op}"
        case Join(acc, value, place):
            yield f"join {acc}{'' if place is None else f' at {_scalar(place)}'} with {_scalar(value)}"
        case Store(slot, at, value):
            yield f"{slot}{_at(at)} = {_scalar(value)}"
        case Atomic(slot, at, op, value):
            yield f"{slot}{_at(at)} {op}= {_scalar(value)}"
        case Tile(name, shape, kind, wide):
            yield f"tile {name}{_at(shape)}: {'wide ' if wide else ''}{kind}"
        case _:
            assert_never(node)


def _loop(a: Loop) -> str:
    return "..." if isinstance(a, Batch) else f"{a.name} < {_scalar(a.extent)}"


def _at(at: tuple[Position, ...]) -> str:
    return f"[{', '.join('...' if isinstance(p, Batch) else _scalar(p) for p in at)}]"


def _scalar(e: Scalar) -> str:
    return text.exact(e).replace("[]", "")  # locals are reads without positions
