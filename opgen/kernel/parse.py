"""Kernels read back from their text: `kernel(text.kernel(k)) == k`.

In goes the text of a kernel, as `opgen.kernel.text` prints it or as a person writes one down for a test of a rewrite;
out comes the kernel, or a `ValueError`. Whether it is a valid one is for `opgen.kernel.verify` to say.
"""

from __future__ import annotations

from dataclasses import replace

from opgen.ir.parse import Meanings, Reader
from opgen.ir.program import Axis
from opgen.kernel.model import Acc, Atomic, Body, For, If, Join, Kernel, Node, Role, Slot, Store, Tile
from opgen.plan.model import Let, Storage

_Lines = list[tuple[int, str]]  # each with how far it is indented


def kernel(text: str) -> Kernel:
    """The kernel that a text is of."""
    lines = text.rstrip("\n").split("\n")
    reason = lines.pop(0)[2:] if lines[0].startswith("# ") else ""
    head = Reader(lines[0], Meanings())
    head.expect("kernel")
    name = head.name()
    head.expect("(")
    read = head.several(lambda: _argument(head), ")")
    head.expect("->")
    written = head.several(lambda: _slot(head, written=True), "")
    slots = tuple(s for s in (*read, *written) if s is not None)
    names = replace(head.names, tensors=frozenset(s.name for s in slots))
    body = _body([(len(x) - len(x.lstrip()), x) for x in lines[1:]], names)
    return Kernel(name, slots, body, reason)


def _argument(line: Reader) -> Slot | None:
    """A slot; a param is noted, since slots may have sizes that are params."""
    if not line.takes("param"):
        return _slot(line, written=False)
    line.names = replace(line.names, params=line.names.params | {line.name()})
    return None


def _slot(line: Reader, *, written: bool) -> Slot:
    name, shape = line.name(), line.positions()
    line.expect(":")
    return Slot(name, shape, Storage(line.name()), written)


def _body(lines: _Lines, names: Meanings) -> Body:
    """The nodes of lines that are indented alike, each with the lines below it that are indented further."""
    nodes: list[Node] = []
    while lines:
        (indent, first), *lines = lines
        inner, lines = _split(lines, indent)
        line = Reader(first, names)
        node = _node(line, inner)
        line.end()
        if isinstance(node, If) and lines and lines[0][1].strip() == "else":
            inner, lines = _split(lines[1:], indent)
            node = replace(node, otherwise=_body(inner, names))
        nodes.append(node)
        if isinstance(node, Let | Acc | Tile):
            names = replace(names, tensors=names.tensors | {node.name})
    return tuple(nodes)


def _split(lines: _Lines, indent: int) -> tuple[_Lines, _Lines]:
    """The lines that are indented further than a line before them, and the rest."""
    inner = next((k for k, (other, _) in enumerate(lines) if other <= indent), len(lines))
    return lines[:inner], lines[inner:]


def _node(line: Reader, inner: _Lines) -> Node:
    match line.peek(), line.peek(1):
        case "for", _:
            return _for(line, inner)
        case "if", _:
            line.take()
            condition = line.scalar()
            return If(condition, _body(inner, line.names))
        case (("let" | "acc" | "join" | "tile"), following) if following != "[":
            assert not inner, f"nothing stands inside of {line.line!r}"
            return _named(line)
        case _:
            assert not inner, f"nothing stands inside of {line.line!r}"
            return _put(line)


def _for(line: Reader, inner: _Lines) -> For:
    line.take()
    loop = line.loop()
    reverse = line.takes("down")
    role = Role(line.name()) if line.peek() else Role.SERIAL
    indices = {loop.name} if isinstance(loop, Axis) else set[str]()
    return For(loop, _body(inner, replace(line.names, indices=line.names.indices | indices)), role, reverse)


def _named(line: Reader) -> Let | Acc | Join | Tile:
    """A node that gives something a name, or adds to what has one."""
    word, name = line.take(), line.name()
    if word == "join":
        place = line.scalar() if line.takes("at") else None
        line.expect("with")
        return Join(name, line.scalar(), place)
    if word == "tile":
        shape = line.extents()
        line.expect(":")
        wide = line.takes("wide")
        return Tile(name, shape, line.kind(), wide)
    line.expect(":")
    kind = line.kind()
    line.expect("=")
    return Let(name, line.scalar(), kind) if word == "let" else Acc(name, line.name(), kind)


def _put(line: Reader) -> Store | Atomic:
    slot, at = line.name(), line.positions()
    op = "" if line.peek() == "=" else line.name()
    line.expect("=")
    return Atomic(slot, at, op, line.scalar()) if op else Store(slot, at, line.scalar())
