"""`opgen lint`: mistakes in specs, and what looks like one; `--fix` mends those that have one exact replacement."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import put, say, show_diagnostics, verdict
from opgen.cli.options import default_specs, format_option
from opgen.diagnostics.model import Diagnostic
from opgen.diagnostics.suggest import counted
from opgen.project import lint, looked_at

EXAMPLES = """\b
Examples:
  opgen lint                         the specs of this project
  opgen lint specs/grn.yaml --format json
"""


@click.command(epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@click.option("--fix", "mend", is_flag=True, help="Write the replacements that are certain, then look again.")
@format_option
def command(paths: tuple[Path, ...], mend: bool, form: str) -> None:
    """Look for mistakes, unused names and missing callables in spec files, or in folders of them (default: specs)."""
    from opgen.verify.callables import not_found

    chosen = paths or default_specs("lint")
    unwritten = _fix(chosen, form) if mend else ()
    found = (*unwritten, *lint(chosen, not_found))
    show_diagnostics(found, form)
    if found:
        raise click.exceptions.Exit(verdict(found) or FINDINGS)
    say("no findings")


def _fix(paths: tuple[Path, ...], form: str) -> tuple[Diagnostic, ...]:
    """Mend what is certain and say so; what could not be written is left to tell."""
    from opgen.fixes import fix
    from opgen.verify.callables import not_found

    made, unwritten = fix(paths, lambda spec: looked_at(spec, not_found))
    tell = put if form == "text" else say
    for f in made:
        before, after = (" ".join(text.split()) for text in (f.before, f.after))
        tell(f"fixed     {f.path}:{f.line}:{f.column}: `{before}` is `{after}` now ({f.code})", colour="green")
    say(f"{counted(len(made), 'mistake')} mended" if made else "nothing to mend for certain")
    return unwritten
