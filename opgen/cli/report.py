"""`opgen report`: a page for each operator, to look at in a browser without a network."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli.console import Progress, put, say, show_diagnostics, verdict
from opgen.cli.options import default_specs, named_spec
from opgen.diagnostics.suggest import counted

EXAMPLES = """\b
Examples:
  opgen report                       a page for every operator, in the folder report
  opgen report softmax silu --to pages
"""


@click.command(epilog=EXAMPLES)
@click.argument("ops", nargs=-1, metavar="[OP]...")
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("report"),
    show_default=True,
    help="The folder of the pages.",
)
@click.option(
    "--accuracy",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Measured errors, as JSON, to show beside the formulas.",
)
@click.option(
    "--benchmarks",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Measured times, as opgen bench --format json writes them, to show as bars.",
)
def command(ops: tuple[str, ...], to: Path, accuracy: Path | None, benchmarks: Path | None) -> None:
    """Write a page for each operator OP, a name or a spec (default: all): formulas, graph, shapes, curves, kernels."""
    from opgen.report.write import report

    paths = tuple(Path(op) if Path(op).is_dir() else named_spec(op, "report") for op in ops) or default_specs("report")
    progress = Progress()
    try:
        result = report(paths, to, accuracy, benchmarks, progress)
    finally:
        progress.close()
    for path in result.pages:
        put(str(path))
    show_diagnostics(result.diagnostics)
    if result.pages:
        say(f"{counted(len(result.pages) - 1, 'operator')}; open {to / 'index.html'}")
    if result.failed:
        raise click.exceptions.Exit(verdict(result.diagnostics))
