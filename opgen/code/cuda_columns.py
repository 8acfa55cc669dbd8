"""Columns: the device functions of a kernel that folds across its points, or all there is, in chunks.

In goes a part of a kernel whose inner loop has the role of chunks, out come what is folded (`Folds`), how one inner
point adds to it (`fold`), and what is done with the whole (`finish`). The kernels that call these functions are in the
runtime header.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from opgen.code.cuda_rows import across, lines_across
from opgen.code.cuda_scope import Scope
from opgen.code.cuda_statements import accumulator, finished, indexed, is_rounded, joined, thread_lines
from opgen.code.native_layout import function, indented
from opgen.ir.program import Loop
from opgen.ir.scalar import Read, Scalar, call, reads, walk
from opgen.kernel.model import Acc, Body, Role
from opgen.kernel.terms import apart
from opgen.kernel.walk import alive, chain, loop_of, values
from opgen.plan.model import Let


def whole(scope: Scope, outer: Sequence[Loop], body: Body) -> list[str]:
    return columns(scope, outer, body, flat=True)


def columns(scope: Scope, outer: Sequence[Loop], body: Body, *, flat: bool = False) -> list[str]:
    """`Folds`, `fold` (one inner point of one outer point) and `finish` (what follows once everything is folded)."""
    at, (loop, condition) = next((i, found) for i, n in enumerate(body) if (found := loop_of(n)) is not None)
    ahead, behind = body[:at], alive(body[at + 1 :])
    accs = [n for n in ahead if isinstance(n, Acc)]
    loops, looped = chain((loop,), (Role.CHUNKS,))
    looped = apart(looped, accs)
    before = scope.enter(outer)
    lets = [n for n in ahead if isinstance(n, Let)]
    inner_before = scope.enter(loops)
    names = {a.name: scope.fresh(f"{a.name}_fold") for a in accs}
    folded = alive((*lets, *looped))
    named = lines_across(scope, outer, loops, folded)
    alone = len(accs) == 1
    folds = names[accs[0].name] if alone else "folds"
    cell = f"{folds}[{'at' if named else 0}]"
    targets = {n: cell if alone else f"{cell}.{text}" if named else f"folds->{text}" for n, text in names.items()}
    known = dict(scope.locals)
    with across(scope, outer, named):
        lines = thread_lines(scope, folded, targets)
        types = {a.name: accumulator(scope, a, joined(looped, a)) for a in accs}
    scope.locals = known
    if named:
        lines = [*named, "rt::lanes<V>([&](int at) {", *indented(lines), "});"]
    neighbours = _flat_fold(scope, (*lets,), looped, targets, folds) if flat else []
    inner, fold = indexed(scope, loops, "inner", lines, "inner_rest")
    point, fold = indexed(scope, outer, "point", fold)
    scope.leave(inner_before, loops)
    asked = {r.tensor for e in values(behind) for r in reads(e)}
    first = alive((*(n for n in ahead if not isinstance(n, Acc)), *behind))
    finish = thread_lines(scope, first[: len(first) - len(behind)], {})
    for a in (a for a in accs if a.name in asked):
        finish += finished(scope, a, folds if alone else f"folds.{names[a.name]}")
    taken, finish = indexed(scope, outer, "point", [*finish, *thread_lines(scope, behind, {})])
    scope.leave(before, outer)
    return [
        *_folds([(types[a.name], names[a.name], is_rounded(a)) for a in accs]),
        *(["template <int V>"] if named else []),
        *function(f"OPGEN_DEVICE void fold({point}, {inner}, Folds* {folds}) const", fold),
        *neighbours,
        *_idle(scope, condition),
        *function(f"OPGEN_DEVICE void finish({taken}, const Folds& {folds}) const", finish),
    ]


def _idle(scope: Scope, condition: Scalar | None) -> list[str]:
    """`idle`, which says that there is nothing to fold."""
    if condition is None:
        return []
    return function("OPGEN_DEVICE bool idle() const", [f"return {scope.print(call('not', condition))};"])


def _folds(found: Sequence[tuple[str, str, bool]]) -> list[str]:
    """What is folded together: the type of each, its name, and whether it is to be settled."""
    if len(found) == 1:
        ((type_, _, rounded),) = found
        return [f"using Folds = {type_ if rounded else f'rt::Unsettled<{type_}>'};"]
    lines = [f"{type_} {name};" for type_, name, _ in found]
    merged = [f"{name}.merge(other.{name});" for _, name, _ in found]
    lines += function("OPGEN_DEVICE void merge(const Folds& other)", merged)
    for method in ("settle", "finish"):
        lines += function(f"OPGEN_DEVICE void {method}()", [f"{n}.{method}();" for _, n, rounded in found if rounded])
    return ["struct Folds {", *indented(lines), "};"]


def _flat_fold(scope: Scope, lets: Body, looped: Body, targets: Mapping[str, str], folds: str) -> list[str]:
    """`flat`, which folds neighbouring elements where everything is folded in the order of memory."""
    read = dict.fromkeys(n.tensor for e in values(looped) for n in walk(e) if isinstance(n, Read) and n.at)
    packs = {name: scope.fresh(f"{scope.tensor(name)}_pack") for name in read}
    known = dict(scope.locals)
    lines = thread_lines(scope, tuple(n for n in alive((*lets, *looped)) if n in lets), {})
    scope.packed = {name: f"{text}.get(i)" for name, text in packs.items()}
    each = thread_lines(scope, looped, targets)
    scope.packed, scope.locals = None, known
    for name, pack in packs.items():
        lines.append(f"const auto {pack} = {scope.reader('load_pack', name, 'V')}({scope.tensor(name)}, first);")
    lines += ["OPGEN_UNROLL", *function("for (int i = 0; i < V; ++i)", each)]
    return ["template <int V>", *function(f"OPGEN_DEVICE void flat(int64_t first, Folds* {folds}) const", lines)]
