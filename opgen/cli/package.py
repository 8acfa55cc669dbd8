"""`opgen package`: a wheel of generated operators that needs torch where it is installed, and no compiler."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opgen.cli.compile import with_kernels
from opgen.cli.console import Progress, put, say, show_diagnostics, verdict
from opgen.cli.options import generated_ops, jobs_option, out_option
from opgen.diagnostics.model import Bag, Diagnostic
from opgen.diagnostics.suggest import counted

if TYPE_CHECKING:
    from opgen.ship.compiled import Compiled
    from opgen.ship.wheel import Release


EXAMPLES = """\b
Examples:
  opgen package --name mylib-ops --version 1.0.0
  opgen package --out src/mylib/ops --dist dist
"""


@click.command(epilog=EXAMPLES)
@out_option
@click.option(
    "--dist",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("dist"),
    show_default=True,
    help="Folder of the wheel.",
)
@click.option("--name", help="Name of the wheel; default: `name` below [project] in pyproject.toml.")
@click.option("--version", help="Its version; default: `version` below [project].")
@click.option(
    "--import-name",
    metavar="NAME",
    help="What the package is imported as; default: where it lies, mylib.ops for src/mylib/ops.",
)
@click.option(
    "--layout",
    type=click.Choice(["wheel", "huggingface"]),
    default="wheel",
    show_default=True,
    help="A wheel, or a folder that the package kernels of Hugging Face loads.",
)
@click.option("--pure", is_flag=True, help="Without compiled libraries: plain torch, on every machine.")
@jobs_option
def command(
    out: Path,
    dist: Path,
    name: str | None,
    version: str | None,
    import_name: str | None,
    layout: str,
    pure: bool,
    jobs: int | None,
) -> None:
    """Make a wheel of the generated operators, with libraries for all machines of this kind."""
    from opgen.ship import hub
    from opgen.ship.compiled import Compiled
    from opgen.ship.contents import files, unfit
    from opgen.ship.identity import import_name as named
    from opgen.ship.identity import release_of
    from opgen.toolchain.stated import stated
    from opgen.write.settings import settings_of

    on_hub = layout == "huggingface"
    if on_hub and import_name:
        raise click.UsageError("kernels are not imported by a name: --layout huggingface has no --import-name")
    ops = generated_ops(out, ())
    settings, bag = settings_of(out), Bag()
    release = release_of(settings, name, version, bag)
    kernel = hub.kernel_of(release, bag) if on_hub else None
    place = "" if on_hub else "/".join(named(out, import_name, bag))
    _refuse(bag.items or unfit(out, ops, settings))
    with stated(settings):
        made = Compiled() if pure else _compiled(out, ops, jobs)
    _refuse(made.diagnostics)
    code = {name: path.read_bytes() for name, path in files(out, ops).items()}
    libraries = {name: path.read_bytes() for name, path in made.libraries.items()}
    if kernel is not None:
        found = hub.variants(kernel, code, libraries, made.cuda)
        target = dist / kernel.name
        _refuse(hub.put(target, kernel, found, ops))
        following = f"kernels.get_local_kernel(Path({str(target)!r}))"
    else:
        target = _wheel(dist, release, place, code, libraries)
        following = shlex.join(("pip", "install", str(target)))
    put(str(target))
    kernels = f"kernels for {', '.join(made.machines)}" if made.libraries else "in plain torch"
    say(f"{counted(len(ops), 'operator')}, {kernels}; next: {following}")


def _wheel(dist: Path, release: Release, place: str, code: dict[str, bytes], libraries: dict[str, bytes]) -> Path:
    """Write the wheel of a package that is imported from a place."""
    from opgen.ship.tags import tag_of
    from opgen.ship.wheel import packed
    from opgen.write.writer import replace_file

    tag = tag_of(libraries.values())
    target = dist / release.file_name(tag)
    replace_file(target, packed(release, {f"{place}/{name}": data for name, data in (code | libraries).items()}, tag))
    return target


def _compiled(out: Path, ops: list[str], jobs: int | None) -> Compiled:
    """The libraries of the operators; a word about those that have none."""
    from opgen.ship.compiled import compiled

    names = with_kernels(out, ops)
    progress = Progress(len(names))
    try:
        return compiled(out, names, jobs, progress)
    finally:
        progress.close()


def _refuse(diagnostics: tuple[Diagnostic, ...]) -> None:
    """End here where there are any."""
    if diagnostics:
        show_diagnostics(diagnostics)
        raise click.exceptions.Exit(verdict(diagnostics))
