"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path

import click

from opgen.write.paths import GENERATED, command

out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(GENERATED),
    show_default=True,
    help="Folder of the generated operators.",
)

namespace_option = click.option(
    "--namespace",
    metavar="NAME",
    help="The operators are torch.ops.NAME.*; default: `namespace` below [tool.opgen] in pyproject.toml, else the name"
    " of the package.",
)

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    default="text",
    show_default=True,
    help="How mistakes are told: text on stderr, or json, github (annotations) or sarif on stdout.",
)


def default_specs(name: str) -> Path:
    """The folder that is meant where a command is given no spec."""
    folder = Path("specs")
    if not folder.is_dir():
        raise click.UsageError(f"there is no folder specs here; name a spec: opgen {name} PATH")
    return folder


def generated_ops(out: Path, wanted: tuple[str, ...]) -> list[str]:
    """The operators in a folder, all or the ones that are wanted."""
    found = sorted(p.parent.name for p in out.glob("*/manifest.json"))
    if not found:
        raise click.UsageError(f"there is no generated operator in {out}; first: {command('build', out=out)}")
    for op in wanted:
        if op not in found:
            from difflib import get_close_matches

            near = get_close_matches(op, found, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(found)}"
            raise click.UsageError(f"there is no operator '{op}' in {out}; {hint}")
    return list(wanted) or found
