"""`opgen show`: print a stage of the way from a spec to code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from opgen import pipeline
from opgen.cli.console import Patience, put, show_diagnostics, verdict
from opgen.cli.options import Words, named_spec
from opgen.diagnostics.model import Bag
from opgen.diagnostics.suggest import did_you_mean, listed
from opgen.ir.program import Condition, Program
from opgen.pipeline import Artefacts, Stage

if TYPE_CHECKING:
    from opgen.opt.derive import Applied, Derived
    from opgen.pipeline import Passes

Printed = Callable[[Program], str]

_UNTIL = {
    "spec": Stage.SPEC,
    "program": Stage.PROGRAM,
    "adjoint": Stage.DERIVED,
    "tangent": Stage.DERIVED,
    "second": Stage.DERIVED,
    "plan": Stage.DERIVED,
    "kernel": Stage.DERIVED,
    "torch": Stage.FILES,
    "cpp": Stage.FILES,
    "cuda": Stage.FILES,
}
_FILES = {"torch": "function.py", "cpp": ".cpp", "cuda": ".cu"}


_ELSEWHERE = {  # what stages are called elsewhere
    **dict.fromkeys(("backward", "gradient", "grad", "vjp"), "adjoint"),
    **dict.fromkeys(("forward", "ir", "lowered"), "program"),
    **dict.fromkeys(("jvp", "forward-mode"), "tangent"),
    **dict.fromkeys(("hessian", "double-backward"), "second"),
    **dict.fromkeys(("python", "py"), "torch"),
    **dict.fromkeys(("c++", "cxx", "cpu"), "cpp"),
    **dict.fromkeys(("cu", "gpu"), "cuda"),
}


EXAMPLES = """\b
Examples:
  opgen show softmax --stage plan    the kernels that are planned, and what auto runs
  opgen show specs/softmax.yaml --pass stabilise
"""


@click.command(epilog=EXAMPLES)
@click.argument("spec")
@click.option(
    "--stage",
    type=Words("stage", list(_UNTIL), _ELSEWHERE),
    show_default="program",
    help="What to print; adjoint, tangent and second are derived programs.",
)
@click.option(
    "--pass",
    "pass_",
    metavar="NAME",
    help="Print the program and its gradient before and after a pass, such as tidy or stabilise.",
)
@click.option("--exact", is_flag=True, help="Print programs with all there is to them, as text that is read back.")
def command(spec: str, stage: str | None, pass_: str | None, exact: bool) -> None:
    """Print a stage of the way from SPEC, a path or the name of an operator, to code, or what a pass does on it."""
    if stage and pass_:
        raise click.UsageError("--stage and --pass exclude each other")
    until = _UNTIL[stage or "program"] if pass_ is None else Stage.PASSES
    bag = Bag()
    file = pipeline.read(named_spec(spec, "show"), bag)
    patience = Patience()
    try:
        made = pipeline.run(file, until, doing=partial(patience, file.label)) if file else Artefacts()
    finally:
        patience.close()
    if pass_ is not None and made.passes is not None:
        _known(pass_, made.passes, bag)
    found = (*bag.items, *made.diagnostics)
    show_diagnostics(found)
    printed = partial(_program, exact=exact)
    shown = _blocks(made, stage or "program", printed) if pass_ is None else _applied(made, pass_, printed)
    for block in shown:
        put(block, newline=not block.endswith("\n"))
    if code := verdict(found):
        raise click.exceptions.Exit(code)


def _known(name: str, passes: Passes, bag: Bag) -> None:
    """A pass that does not run here is a diagnostic."""
    known = tuple(dict.fromkeys(step.name for _, steps in passes for step in steps))
    if name not in known:
        there = f"the passes here are {listed(known, 'and')}" if known else "none: it is computed elsewhere"
        bag.error("OPG510", f"no pass `{name}` runs here", None, notes=(there,), hints=did_you_mean(name, known))


def _applied(made: Artefacts, name: str, printed: Printed) -> Iterator[str]:
    """The programs that a pass changes, before and after, and the names of those that it leaves as they are."""
    for variant, steps in made.passes or ():
        shown = "\n".join(_step(step, printed) for step in steps if step.name == name)
        if shown:
            yield from _titled(variant.conditions, shown)


def _step(step: Applied, printed: Printed) -> str:
    if step.before == step.after:
        return f"# {step.name} leaves {step.before.name} as it is\n"
    return f"# {step.name} is given\n{printed(step.before)}# and makes of it\n{printed(step.after)}"


def _blocks(made: Artefacts, stage: str, printed: Printed) -> Iterator[str]:
    if stage == "spec" and made.spec is not None:
        from opgen.schema.text import describe

        yield describe(made.spec)
    elif stage == "program":
        for variant in made.operator.variants if made.operator else ():
            yield from _titled(variant.conditions, printed(variant.program))
    elif stage in _FILES:
        yield from (f.text for f in made.files or () if f.path.endswith(_FILES[stage]))
    else:
        yield from _derived(made, stage, printed)


def _derived(made: Artefacts, stage: str, printed: Printed) -> Iterator[str]:
    results = made.operator.outputs if made.operator else ()
    for derived in made.derived or ():
        programs = {"adjoint": derived.backward, "tangent": derived.tangent, "second": derived.second}
        if stage in ("plan", "kernel"):
            shown = _planned(derived, results, stage)
        else:
            program = programs[stage]
            shown = printed(program) if program is not None else "# there is none\n"
        yield from _titled(derived.variant.conditions, _notes(derived) + shown)


def _notes(derived: Derived) -> str:
    """What was decided on the way: the rewrites that make a formula stable, and what is kept for backward."""
    from opgen.package.view_saved import held

    lines = [f"# in {r.statement}: {r.rule} ({r.reason})" for r in derived.rewrites]
    if derived.backward is not None:
        kept, sized = (", ".join(t.name for t in found) for found in held(derived))
        lines.append(f"# saved for backward: {kept or 'nothing'}{f'; sizes of {sized}' if sized else ''}")
    return "".join(f"{line}\n" for line in lines)


def _program(program: Program, *, exact: bool) -> str:
    from opgen.ir.text import program as text

    return text(program, exact=exact)


def _planned(derived: Derived, results: tuple[str, ...], stage: str) -> str:
    """The plans of both directions and which of them `auto` will run on a CPU, or their kernels."""
    from opgen.ir.errors import UnplannableError
    from opgen.plan import speed
    from opgen.plan.build import build
    from opgen.plan.text import choice, plan
    from opgen.report.texts import kernels

    programs = {"forward": derived.forward, "backward": derived.backward}
    try:
        plans = {which: build(p, results) for which, p in programs.items() if p is not None}
    except UnplannableError as e:
        return f"# no kernels: {e}\n"
    if stage == "kernel":
        return "\n".join(text for p in plans.values() for step in p.steps for text in kernels(p, step))
    chosen = speed.choice({which: (p,) for which, p in plans.items()})
    shown = "\n".join(map(plan, plans.values()))
    return f"# auto runs {choice([*plans], chosen.in_torch, chosen.excess)}\n{shown}"


def _titled(conditions: tuple[Condition, ...], text: str) -> Iterator[str]:
    """A block, under a line that says for which variant it holds."""
    if conditions:
        from opgen.report.texts import condition

        yield f"# {', '.join(map(condition, conditions))}"
    yield text.rstrip("\n") + "\n"
    if conditions:
        yield ""
