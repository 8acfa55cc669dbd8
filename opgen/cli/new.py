"""`opgen new`: a first spec that builds, with the line that tells editors its schema."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from opgen.cli.console import put, say, show_diagnostics, verdict
from opgen.cli.options import Words
from opgen.diagnostics.model import Diagnostic
from opgen.schema.kinds import KINDS, of_kind

_ELSEWHERE = {  # what kinds are called elsewhere
    **dict.fromkeys(("pointwise", "activation", "map"), "elementwise"),
    **dict.fromkeys(("matmul", "einsum", "product"), "contraction"),
    **dict.fromkeys(("norm", "normalise"), "normalisation"),
    **dict.fromkeys(("lookup", "take"), "gather"),
    **dict.fromkeys(("scan", "rnn"), "recurrence"),
}
SCHEMA = "opgen.schema.json"  # beside the specs, where the first line of each points


EXAMPLES = """\b
Examples:
  opgen new squareplus --formula 'y = (x + sqrt(x**2 + 4))/2'
  opgen new my_norm --kind normalisation
"""


class _WithFormula(click.Command):
    """A command that says where the quotes of a formula belong that has none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = [*args]
        try:
            return super().parse_args(ctx, args)
        except click.UsageError:
            formula, told = _unquoted(given)
            if "=" in formula:
                ctx.fail(f"{told}: {given[0]} --formula {shlex.quote(formula)}")
            raise


def _unquoted(args: list[str]) -> tuple[str, str]:
    """The formula in words of their own behind a name, with its option or without, and what is to be done about it."""
    at = next((k for k, a in enumerate(args) if a == "--formula" or a.startswith("--formula=")), None)
    if at == 0 or len(args) < 2:
        return "", ""  # no name stands before it
    begin = 1 if at is None else at if "=" in args[at] else at + 1
    other = (k for k, a in enumerate(args) if k > begin and a.split("=", 1)[0] in ("--kind", "--in"))
    words = args[begin : next(other, None)]
    return " ".join(words).removeprefix("--formula="), "write" if at is None else "put the formula in quotes"


@click.command(cls=_WithFormula, epilog=EXAMPLES)
@click.argument("name")
@click.option("--formula", help="What it computes, such as 'y[n] = sum[k](x[n, k]*w[k])'; operands are declared.")
@click.option(
    "--kind",
    type=Words("kind", list(KINDS), _ELSEWHERE, "What is of no kind begins with its formula: --formula 'y[n] = …'"),
    help="What to begin with instead of a formula.",
)
@click.option(
    "--in",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("specs"),
    show_default=True,
    help="The folder of the spec.",
)
def command(name: str, formula: str | None, kind: str | None, folder: Path) -> None:
    """Write the spec of a new operator NAME; an existing file is left alone."""
    text = _draft(name, formula, kind)
    target = folder / f"{name}.yaml"
    if target.exists():
        hints = ("choose another name, or edit that file",)
        _refuse(Diagnostic("OPG503", f"{target} exists already", None, hints=hints))
    _check(target, text)
    try:
        _write(target, text)
    except OSError as e:
        _refuse(Diagnostic("OPG506", f"cannot write {e.filename or target}: {e.strerror or e}", None))
    put(f"created   {target}", colour="green")
    read = text.partition("forward: |\n")[2].rstrip().split("\n")
    if formula is not None and " ".join(map(str.strip, read)).removeprefix("y = ") not in " ".join(formula.split()):
        say("\n".join(f"read as   {line.strip()}" for line in read))
    say(f"next: {shlex.join(('opgen', 'build', str(target)))}")


def _draft(name: str, formula: str | None, kind: str | None) -> str:
    from opgen.lower.draft import of_formula
    from opgen.schema.leaves import OPERATOR, snake

    if not OPERATOR.fullmatch(name):
        path = Path(name)  # the name of the file, or its path, is the operator's all the same
        better = snake(path.stem if path.suffix in (".yaml", ".yml") else path.name)
        hint = f"; write {better}" if OPERATOR.fullmatch(better) else ""
        if hint and path.name != name:
            hint += f" --in {path.parent}"
        raise click.UsageError(f"an operator has a snake_case name{hint}")
    if formula is not None and kind is not None:
        raise click.UsageError("--formula and --kind exclude each other")
    if formula is not None:
        return of_formula(name, formula, SCHEMA)
    return of_kind(name, kind or next(iter(KINDS)), SCHEMA)


def _check(target: Path, text: str) -> None:
    """A spec that does not build is shown, and not written."""
    from opgen import pipeline
    from opgen.pipeline import SpecFile, Stage

    made = pipeline.run(SpecFile(target, text.encode("utf-8", "surrogateescape"), target.name), Stage.FILES)
    if made.files is None:
        _refuse(*made.diagnostics)


def _write(target: Path, text: str) -> None:
    from opgen.schema.json_schema import schema
    from opgen.write.writer import replace_file

    target.parent.mkdir(parents=True, exist_ok=True)
    replace_file(target.parent / SCHEMA, f"{json.dumps(schema(), indent=2)}\n".encode())
    with target.open("x", encoding="utf-8") as file:  # another process may have been quicker
        file.write(text)


def _refuse(*diagnostics: Diagnostic) -> None:
    show_diagnostics(diagnostics)
    raise click.exceptions.Exit(verdict(diagnostics))
