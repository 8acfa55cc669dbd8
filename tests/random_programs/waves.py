"""Random recurrences along two indices, or that reach back further than by one."""

from __future__ import annotations

from tests.random_programs.expressions import floats
from tests.random_programs.forms import any_size
from tests.random_programs.scope import BATCH, PLUS, Index, Scope, Size, Tensor, World


def waved(w: World) -> list[str]:
    """A name that reads itself at two or three places further back, with starts at some of them."""
    c = w.choose
    sizes = [any_size(w)] + ([any_size(w)] if c.chance(75) else [])
    if any(s.value == 0 for s in sizes):
        return []
    batch, downs = c.chance(50), [c.chance(30) for _ in sizes]
    axes = [Index(name, s) for name, s in zip("sr", sizes, strict=False)]
    name, dots = w.fresh("t"), "..., " if batch else ""
    steps = _steps(w, len(axes))
    w.mark("waves", f"waves: {len(axes)}", *(("further back",) if any(max(step) > 1 for step in steps) else ()),
           *(("both ways",) if any(min(step) < 0 for step in steps) else ()))  # fmt: skip

    def at(items: list[str]) -> str:
        return f"{name}[{dots}{', '.join(items)}]"

    def back(step: tuple[int, ...]) -> str:
        moved = zip(axes, step, downs, strict=True)
        return at(
            [a.name if n == 0 else f"{a.name} {'+' if down == (n > 0) else '-'} {abs(n)}" for a, n, down in moved]
        )

    lines = []
    for k, (a, down) in enumerate(zip(axes, downs, strict=True)):
        furthest = max(step[k] for step in steps) if all(step[k] >= 0 for step in steps) else 0
        for far in range(1, furthest + 1):
            if c.chance(50):
                outer = _behind(a.size, far) if down else f"-{far}"
                rest = [f"{b.name} < {b.size.text}" if b is not a else outer for b in axes]
                lines.append(f"{at(rest)} = {c.pick(('0.5', '-0.25'))}")
                w.mark("a start of waves")
                if len(axes) == 2:  # where two meet, the values are told
                    other = axes[1 - k]
                    for beyond in _beyond(other.size, [step[1 - k] for step in steps], down=downs[1 - k]):
                        corner = at([outer, beyond] if k == 0 else [beyond, outer])
                        if not any(line.startswith(f"{corner} =") for line in lines):
                            lines.append(f"{corner} = 0.125")
    scope = Scope(tuple(axes), batch)
    terms = [f"{c.pick(('0.5', '0.3', '-0.4'))}*{back(step)}" for step in steps]
    if c.chance(25):
        w.mark("waves under a condition")
        terms[0] = f"where({floats(w, scope, 1).at(PLUS)} > 0.1, {terms[0]}, 0.2)"
    shape = c.pick(("tanh({e} + {t})", "sin({t}) + 0.1*tanh({e})", "max({t}, tanh({e}))"))
    body = shape.format(e=floats(w, scope, 1).at(PLUS), t=" + ".join(terms))
    lines.append(f"{at([f'{a.name} < {a.size.text}' for a in axes])} = {body}")
    w.tensors.append(Tensor(name, (BATCH, *sizes) if batch else tuple(sizes), "float", -1.3, 1.3))
    return lines


def _beyond(size: Size, steps: list[int], *, down: bool) -> list[str]:
    """The positions outside that reads so far back find."""
    back, forth = max(*steps, 0), max(*(-n for n in steps), 0)
    below, above = (forth, back) if down else (back, forth)
    return [*(f"-{n}" for n in range(1, below + 1)), *(_behind(size, n) for n in range(1, above + 1))]


def _behind(size: Size, far: int) -> str:
    return size.text if far == 1 else f"{size.text} + {far - 1}"


def _steps(w: World, axes: int) -> list[tuple[int, ...]]:
    """How far back the reads are, along every axis."""
    c = w.choose
    if axes == 1:
        return [(1,), (2,)] if c.chance(60) else [(c.pick((2, 3)),)]
    kinds = (((1, 0), (0, 1)), ((1, 0), (0, 1), (1, 1)), ((1, 1),), ((1, 0), (1, 1), (1, 2)), ((2, 0), (0, 1)),
             ((1, -1), (1, 1)), ((1, -1), (1, 0), (1, 2), (2, 0)))  # fmt: skip
    return [tuple(step) for step in c.pick(kinds)]
