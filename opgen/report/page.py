"""The page of one operator: formulas, graph, shapes, what is kept, curves, plans and code, in one file without links.

In go the stages that a spec went through; out comes HTML that needs nothing else: no script, no font, no network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from xml.etree.ElementTree import Element, tostring

from opgen.code import templates
from opgen.ir import text
from opgen.ir.errors import UnplannableError
from opgen.ir.operator import Operator
from opgen.ir.program import Axis, Kind, Program, definitions, statement_reads
from opgen.opt.derive import Derived
from opgen.package.view_saved import held
from opgen.plan import speed
from opgen.plan.build import build
from opgen.plan.model import KernelPlan
from opgen.plan.text import choice, plan, step
from opgen.report.bars import Measured, bars
from opgen.report.chart import chart
from opgen.report.graph import drawing
from opgen.report.mathml import formula
from opgen.report.memory import Sizes, floor, moved, product, shown, sizes
from opgen.report.plots import Plot, plots
from opgen.report.texts import condition, kernels

_CODE = (".yaml", "function.py", "ops.py", "module.py", ".cpp", ".cu")


@dataclass(frozen=True, slots=True)
class Subject:
    """An operator, with the name and the text of its spec, and what it became."""

    operator: Operator
    derived: tuple[Derived, ...]
    label: str
    spec: str
    files: Mapping[str, str]
    accuracy: Sequence[Sequence[str]] = ()  # rows: of what, and the error of each back end
    times: Sequence[Measured] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: `body` is HTML; a `folded` one is opened by its reader."""

    title: str
    body: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the index, in HTML."""

    name: str
    summary: str


def page(s: Subject) -> str:
    """The page."""
    docs = s.operator.docs
    return templates.fill(
        "report/operator.html.j2",
        name=escape(s.operator.name),
        summary=_prose(docs.summary),
        description=_prose(" ".join(docs.description.split())),
        label=escape(s.label),
        sections=[*_sections(s)],
    )


def index(rows: Sequence[tuple[str, str]]) -> str:
    """The page that leads to all others: names and summaries."""
    entries = [Line(escape(name), _prose(summary)) for name, summary in sorted(rows)]
    return templates.fill("report/index.html.j2", entries=entries)


def _sections(s: Subject) -> Iterator[Section]:
    d = s.derived[0]
    others = f"<p>{len(s.derived)} variants; shown: {escape(_conditions(d))}.</p>" if len(s.derived) > 1 else ""
    if d.primal.statements:
        yield Section("Formula", others + _svg(formula(d.primal.statements)))
    else:
        yield Section("Formula", _pre("\n".join(s.operator.docs.formula)))
    if d.backward is not None and d.backward.statements:
        yield Section("Derivative", _svg(formula(d.backward.statements)))
    for name, program in (("Tangent", d.tangent), ("Second order", d.second)):
        if program is not None:
            yield Section(name, _svg(formula(program.statements)), folded=True)
    drawn = next((p for e in s.derived if (p := plots(e))), ())
    if drawn:
        yield Section("Curves", "".join(map(_curves, drawn)))
    yield Section("Graph", _graph(d))
    at = sizes(d.primal)
    yield Section("Indices and shapes", _shapes(d, at))
    if d.backward is not None:
        yield Section("Kept for backward", _kept(d, at))
    if s.accuracy:
        head = ("of", "compiled C++", "generated torch", "eager torch")
        yield Section("Accuracy", f"<p>The largest errors in float32, in ulp.</p>{_table(head, s.accuracy)}")
    if s.times:
        told = "Times of compiled kernels over those of the same operator in plain torch, with the quartiles."
        yield Section("Benchmarks", f"<p>{told}</p>{_markup(bars(s.times))}")
    yield from _plans(s, at)
    yield Section("Code", _code(s), folded=True)


def _conditions(d: Derived) -> str:
    return ", ".join(map(condition, d.variant.conditions))


def _curves(p: Plot) -> str:
    kinks = tuple(sorted({round(x, 3) + 0.0 for _, _, jumps in p.curves for x in jumps}))
    charts = "".join(_markup(chart(f"{name}({p.along})", curve, jumps, kinks)) for name, curve, jumps in p.curves)
    told = f"; kinks at {', '.join(f'{x:g}' for x in kinks)}" if kinks else ""
    return f"<p>Along <code>{escape(p.along)}</code>, other inputs at 1{told}.</p><div class='charts'>{charts}</div>"


def _graph(d: Derived) -> str:
    kept = {t.name for t in held(d)[0]}
    drawn = [("forward", drawing(d.forward, kept))]
    drawn += [("backward", drawing(d.backward, kept))] if d.backward is not None else []
    return "".join(f"<h3>{which}</h3>{_svg(svg)}" for which, svg in drawn if len(svg))


def _shapes(d: Derived, at: Sizes) -> str:
    rows = [
        (t.name, "input" if t.differentiable else "input, constant", text.shape(t.shape), t.kind.value, t.doc)
        for t in d.primal.inputs
    ]
    results = {o.value: o.name for o in d.primal.outputs}
    for s in definitions(d.primal):
        role = f"result {results[s.target]}" if s.target in results else "intermediate"
        rows.append((s.target, role, text.shape(s.shape), s.kind.value, ""))
    tensors = _table(("tensor", "is", "shape", "holds", ""), rows)
    indices: dict[str, tuple[str, list[str]]] = {}
    for s in definitions(d.primal):
        for a in s.loops if hasattr(s, "loops") else ():
            if isinstance(a, Axis):
                indices.setdefault(a.name, (text.scalar(a.extent), []))[1].append(s.target)
    found = [(n, extent, ", ".join(dict.fromkeys(where))) for n, (extent, where) in indices.items()]
    sized = ", ".join(f"{'batch' if n == '...' else n} = {k}" for n, k in at.named.items())
    more = _table(("index", "runs below", "in"), found) if found else ""
    return f"{tensors}{more}<p>Bytes on this page are for {escape(sized)} in float32.</p>"


def _kept(d: Derived, at: Sizes) -> str:
    kept, sized = held(d)
    rows = []
    for t in kept:
        known = at.bytes(t.shape, t.kind if t.kind is not Kind.COMPLEX else Kind.FLOAT)
        rows.append((t.name, product(t.shape), _bytes(known), _readers(d, t.name)))
    rows += [(t.name, product(t.shape), "0 B", "its size only") for t in sized]
    if not rows:
        return "<p>Nothing is kept.</p>"
    return _table(("tensor", "elements", "bytes", "since these read it"), rows)


def _readers(d: Derived, name: str) -> str:
    """What backward computes from a tensor."""
    assert d.backward is not None
    found = [s.target for s in definitions(d.backward) if any(r.tensor == name for r in statement_reads(s))]
    return ", ".join(found) or "gradients of the gradient"


def _plans(s: Subject, at: Sizes) -> Iterator[Section]:
    d = s.derived[0]
    programs: dict[str, Program] = {"forward": d.forward}
    if d.backward is not None:
        programs["backward"] = d.backward
    if s.operator.elsewhere is not None:
        return
    try:
        plans = {which: build(p, s.operator.outputs) for which, p in programs.items()}
        chosen = speed.choice({which: (p,) for which, p in plans.items()})
        texts = {which: [t for x in p.steps for t in kernels(p, x)] for which, p in plans.items()}
    except UnplannableError as e:
        yield Section("Plan", f"<p>There are no kernels: {escape(str(e))}.</p>")
        return
    told = escape(choice([*plans], chosen.in_torch, chosen.excess))
    body = f"<p><code>auto</code> runs {told}.</p>"
    for which, p in plans.items():
        body += f"<h3>{which}</h3>{_steps(p, at)}{_folded('the whole plan', _pre(plan(p)))}"
        body += _folded("its kernels", _pre("\n".join(texts[which])))
    yield Section("Plan and kernels", body)


def _steps(p: KernelPlan, at: Sizes) -> str:
    """What each step moves, and all of them against the floor."""
    rows = []
    total: int | None = 0
    for s in p.steps:
        count = moved(p, s, at)
        total = None if total is None or count is None else total + count
        head, _, reason = step(s).partition("\n")[0].replace("->", "→").partition("  # ")
        rows.append((head, _bytes(count), reason))
    least = floor(p, at)
    times = "" if not total or not least else "the least" if total == least else f"{total / least:.3g} times the floor"
    rows.append(("all steps", _bytes(total), times))
    rows.append(("floor: arguments once, results once", _bytes(least), ""))
    return _table(("step", "moves", "why"), rows)


def _bytes(count: int | None) -> str:
    """A number of bytes that is not broken over lines."""
    return shown(count).replace(" ", "\N{NO-BREAK SPACE}")


def _code(s: Subject) -> str:
    files = {s.label.rpartition("/")[2]: s.spec, **s.files}
    shown_ = [n for end in _CODE for n in files if n.endswith(end) and not n.startswith("test_")]
    blocks = "".join(f"<figure><figcaption>{escape(n)}</figcaption>{_pre(files[n])}</figure>" for n in shown_)
    return f"<div class='code'>{blocks}</div>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(c)}</{tag}>' for c in cells)}</tr>"

    return f"<div class='wide'><table>{row(head, 'th')}{''.join(row(r, 'td') for r in rows)}</table></div>"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def _pre(code: str) -> str:
    return f"<pre>{escape(code)}</pre>"


def _prose(words: str) -> str:
    """Words of a spec, code in backticks as such."""
    parts = escape(words).split("`")
    return "".join(f"<code>{part}</code>" if k % 2 and k < len(parts) - 1 else part for k, part in enumerate(parts))


def _svg(e: Element) -> str:
    """A tree in a box of its own, that is moved sideways where it is wider than the page."""
    return f"<div class='wide'>{_markup(e)}</div>"


def _markup(e: Element) -> str:
    return tostring(e, encoding="unicode", short_empty_elements=False)
