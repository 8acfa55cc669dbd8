"""Kernel plans as text, for `opgen show --stage plan` and golden tests.

Each step says what it reads and writes, the bytes that moves at least (per element of the operator's dtype), and why it
is planned that way.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import assert_never

from opgen.ir import text
from opgen.ir.program import Loop
from opgen.ir.scalar import ONE, Batch, Scalar
from opgen.plan.build import reads_of, written
from opgen.plan.model import (
    Buffer,
    Chain,
    Contract,
    Convolve,
    KernelPlan,
    Nest,
    Pass,
    ScatterStep,
    Sort,
    Step,
    Stream,
    Sweep,
    Task,
)


def choice(directions: Sequence[str], in_torch: Mapping[str, str], sized: Container[str]) -> str:
    """What `auto` runs on a CPU where kernels are compiled, in the words of a function's `backend`, and why.

    `in_torch` are the directions in which torch is faster, each with the reason, but for small calls of those `sized`.
    """
    texts = []
    for which in directions:
        small = " (native when small)" if which in sized else ""
        texts.append(f"torch{small}: {in_torch[which]}" if which in in_torch else "native")
    if len({*texts}) == 1:
        return texts[0]
    return "; ".join(f"{which} {text}" for which, text in zip(directions, texts, strict=True))


def plan(p: KernelPlan) -> str:
    """The whole plan."""
    lines = [f"plan {p.name}"]
    lines += [f"  {_buffer(b)}" for b in p.buffers]
    lines += [f"  number {name} = {text.scalar(e)}" for name, e in p.numbers.items()]
    for step in p.steps:
        lines += [f"  {line}" if line else "" for line in _step(step, f"{step.reason}; {_traffic(p, step)}")]
    for r in p.results:
        like = f", summed to the shape of {r.like}" if r.like else ""
        lines.append(f"  return {r.name} = {r.buffer} as {r.storage}{like}")
    return "\n".join(lines) + "\n"


def _buffer(b: Buffer) -> str:
    return f"{b.role or 'memory'} {b.name}{text.shape(b.shape)}: {b.storage}"


def step(s: Step) -> str:
    """One step by itself."""
    return "\n".join(_step(s, s.reason)) + "\n"


def _step(step: Step, reason: str) -> list[str]:
    head = f"-> {', '.join(written(step))}  # {reason}"
    match step:
        case Nest():
            return [f"{step.schedule} over {_loops(step.outer)} {head}", *_passes(step.passes)]
        case Contract():
            sides = f"{_operand(step.a.buffer, step.a.labels)} * {_operand(step.b.buffer, step.b.labels)}"
            bias = f" + {_operand(step.bias.buffer, step.bias.labels)}" if step.bias else ""
            out = _operand(step.out.buffer, step.out.labels)
            return [f"contract {head}", f"  {out} = sum[{', '.join(step.k)}]({sides}){bias}"]
        case Convolve():
            lines = [f"convolution over {_loops(step.nest.outer)} {head}", *_passes(step.nest.passes)]
            if step.instead is not None:
                same = " and ".join(f"{_scalar(a)} == {_scalar(b)}" for a, b in step.instead.pairs)
                lines += [f"  where {same}: over {_loops(step.instead.nest.outer)}"]
                lines += [f"  {line}" for line in _passes(step.instead.nest.passes)]
            return lines
        case Sort():
            return [f"sort over {_loops(step.nest.outer)} {head}", *_passes(step.nest.passes)]
        case ScatterStep():
            lines = [f"scatter over {_loops(step.loops)} {head}"]
            lines += [f"  let {x.name} = {_scalar(x.value)}" for x in step.base_lets]
            lines.append(f"  {step.out}{_loops(step.axes)} = {_scalar(step.base)}")
            lines += [f"  let {x.name} = {_scalar(x.value)}" for x in step.lets]
            at = ", ".join("..." if isinstance(q, Batch) else _scalar(q) for q in step.at)
            target = f"pad({step.out}[{at}])" if step.padded else f"{step.out}[{at}]"
            lines.append(f"  {target} {step.op}= {_scalar(step.value)}")
            return lines
        case Chain():
            lines = [f"sequence over {_loops(step.outer)} {head}"]
            lines.append(f"  along {_loops((step.along,))}{' down' if step.reverse else ''}")
            return [*lines, *(f"    {line}" for t in step.tasks for line in _task(t))]
        case Stream():
            lines = [f"stream over {_loops(step.outer)} {head}", *_passes(step.points[:1])]
            for sweep, after in zip(step.sweeps, step.points[1:], strict=True):
                lines += [f"  along {_loops((step.along,))}", *_sweep(sweep), *_passes((after,)), *_sums(sweep)]
            return lines
        case _:
            assert_never(step)


def _passes(passes: tuple[Pass, ...]) -> list[str]:
    lines: list[str] = []
    for p in passes:
        indent = "  "
        if p.loops:
            lines.append(f"  for {_loops(p.loops)}")
            indent = "    "
        lines += [f"{indent}let {x.name} = {_scalar(x.value)}" for x in p.lets]
        lines += [f"{indent}fold {f.name} = {f.op} {_scalar(f.value)}" for f in p.folds]
        for s in p.stores:
            at = ", ".join("..." if isinstance(q, Batch) else _scalar(q) for q in s.at)
            lines.append(f"{indent}{s.buffer}[{at}] = {_scalar(s.value)}")
    return lines


def _sweep(s: Sweep) -> list[str]:
    lines = [f"    dot {d.name} = sum over {_loops((d.over,))} of {_scalar(d.value)}" for d in s.dots]
    lines += [f"    let {x.name} = {_scalar(x.value)}" for x in s.lets]
    note = f", all else scaled by the one so far: {s.shift}" if s.online else ""
    return lines + [
        f"    fold {f.name} = {f.op} {_scalar(f.value)}{note if f.name == s.online else ''}" for f in s.folds
    ]


def _sums(s: Sweep) -> list[str]:
    lines = []
    for w in s.sums:
        at = ", ".join("..." if isinstance(q, Batch) else _scalar(q) for q in w.at)
        scale = "" if w.scale == ONE else f"{_scalar(w.scale)} * "
        lines.append(f"  {w.buffer}[{at}] = {scale}sum of {_scalar(w.value)} for {_loops((w.over,))}")
    return lines


def _task(t: Task) -> list[str]:
    lines = [f"let {x.name} = {_scalar(x.value)}" for x in t.lets]
    if t.fold is not None:
        lines.append(f"for {_loops(t.over)}")
        lines += [f"  let {x.name} = {_scalar(x.value)}" for x in t.inner]
        lines.append(f"  fold {t.fold.name} = {t.fold.op} {_scalar(t.fold.value)}")
    at = ", ".join("..." if isinstance(q, Batch) else _scalar(q) for q in t.store.at)
    lines.append(f"{t.store.buffer}[{at}] = {_scalar(t.store.value)}")
    return [f"for {_loops(t.loops)}", *(f"  {line}" for line in lines)] if t.loops else lines


def _scalar(e: Scalar) -> str:
    return text.scalar(e).replace("[]", "")  # locals are reads without positions


def _loops(loops: tuple[Loop, ...]) -> str:
    shown = ("..." if isinstance(a, Batch) else f"{a.name} < {text.scalar(a.extent)}" for a in loops)
    return f"[{', '.join(shown)}]"


def _operand(name: str, labels: tuple[str, ...]) -> str:
    return f"{name}[{', '.join(labels)}]"


def _traffic(p: KernelPlan, step: Step) -> str:
    """The buffers that cross memory, as sizes in elements."""
    known = {b.name: b for b in p.buffers}
    inputs = [known[n] for n in reads_of(step) if n in known]
    outputs = [known[n] for n in written(step)]
    return f"reads {_elements(inputs)}, writes {_elements(outputs)}"


def _elements(buffers: list[Buffer]) -> str:
    if not buffers:
        return "nothing"
    parts = ["*".join("batch" if isinstance(s, Batch) else text.scalar(s) for s in b.shape) or "1" for b in buffers]
    return " + ".join(parts) + " elements"
