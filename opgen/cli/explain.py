"""`opgen explain`: what a diagnostic code means, with an example of wrong and right."""

from __future__ import annotations

import sys

import click

from opgen.cli.console import put, wants_colour
from opgen.diagnostics.codes import CATALOGUE, GROUPS, lookup
from opgen.diagnostics.explain import entry, overview, page
from opgen.diagnostics.suggest import did_you_mean, edits

_LOOK_ALIKES = str.maketrans("OIL", "011")


EXAMPLES = """\b
Examples:
  opgen explain                      all codes
  opgen explain OPG204
"""


@click.command(epilog=EXAMPLES)
@click.argument("codes", nargs=-1, metavar="[CODE]...")
@click.option("--markdown", is_flag=True, help="Print the whole catalogue as the page docs/errors.md.")
def command(codes: tuple[str, ...], markdown: bool) -> None:
    """Explain diagnostic codes such as OPG204, or list all of them."""
    if markdown and codes:
        raise click.UsageError("--markdown prints every code")
    colour = wants_colour(sys.stdout)
    if markdown:
        put(page(), newline=False)
    elif not codes:
        put(overview(color=colour), newline=False)
    else:
        put("\n".join(_entry(code, color=colour) for code in codes), newline=False)


def _entry(code: str, *, color: bool) -> str:
    row = lookup(code)
    if row is None:
        written = code.upper()
        digits = written.removeprefix("OPG").translate(_LOOK_ALIKES)
        near = (f"OPG{digits}",) if lookup(digits) else [c for c in CATALOGUE if edits(c, written) == 1]
        hints = did_you_mean(written, near) if len(near) == 1 else ()
        groups = ", ".join(f"{n}xx ({title})" for n, title in GROUPS.items())
        known = hints[0] if hints else f"there are {groups}; opgen explain lists all of them"
        raise click.UsageError(f"there is no code {code}; {known}")
    return entry(row, color=color)
