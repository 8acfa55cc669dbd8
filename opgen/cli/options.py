"""Options and arguments that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from opgen.write.paths import GENERATED
from opgen.write.settings import command, settings_here

out_option = click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=lambda: settings_here().out or Path(GENERATED),
    show_default=f"`out` below [tool.opgen] in pyproject.toml, else {GENERATED}",
    help="Folder of the generated operators.",
)


Command = Callable[..., None]


class Words(click.Choice[str]):
    """One of some words for a thing; one that is misspelt, or that others use (`elsewhere`), is answered with ours,
    and any other with all of them, and with what else there is to do (`otherwise`).
    """

    def __init__(self, what: str, words: Sequence[str], elsewhere: Mapping[str, str], otherwise: str = "") -> None:
        super().__init__(words)
        self.what, self.elsewhere, self.otherwise = what, elsewhere, otherwise

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            from opgen.diagnostics.suggest import closest, edits

            known = self.elsewhere.get(value.lower().replace("_", "-"))
            near = known or closest(value, self.choices)
            if near and (known or edits(value.lower(), near) <= max(1, len(value) // 3)):
                self.fail(f"there is no {self.what} '{value}'; did you mean '{near}'?", param, ctx)
            told = f"there is no {self.what} '{value}'; there are: {', '.join(self.choices)}."
            self.fail(f"{told} {self.otherwise}".rstrip(), param, ctx)
        return super().convert(value, param, ctx)


class Either(click.Choice[str]):
    """One of some words; one that belongs to another option (`others`: word to option) is answered with that."""

    def __init__(self, words: Sequence[str], others: Mapping[str, str]) -> None:
        super().__init__(words)
        self.others = others

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices and (option := self.others.get(value.lower())):
            words = ", ".join(self.choices)
            self.fail(f"'{value}' is none of {words}: write '{option} {value.lower()}'", param, ctx)
        return super().convert(value, param, ctx)


class Count(click.IntRange):
    """How many of something, at least one; what is no such number is answered with one, as in `example`."""

    def __init__(self, what: str, example: str) -> None:
        super().__init__(min=1)
        self.what, self.example = what, example

    def convert(self, value: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(f"'{value}' is no number of {self.what} from 1 on: write '{self.example}'", param, ctx)


def _there(context: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """The generated operators whose names begin so, for shells that complete them."""
    out = context.params.get("out") or settings_here().out or Path(GENERATED)
    return sorted(p.parent.name for p in Path(out).glob("*/manifest.json") if p.parent.name.startswith(incomplete))


ops_argument = click.argument("ops", nargs=-1, metavar="[OP]...", shell_complete=_there)


def jobs_of(what: str) -> Callable[[Command], Command]:
    """The option `--jobs`: how many of something run at a time."""
    return click.option(
        "-j",
        "--jobs",
        type=Count(what, "--jobs 4"),
        default=lambda: settings_here().jobs,
        help=f"How many {what} run at a time; default: `jobs` below [tool.opgen], else as many as there are cores.",
    )


jobs_option = jobs_of("compilers")


def talk_of(verbose: str) -> Callable[[Command], Command]:
    """The options `-q` and `-v`: to say nothing but what is wrong, or more than usual; `verbose` is what more."""

    def one(context: click.Context, param: click.Parameter, value: bool) -> bool:
        if value and context.params.get("quiet" if param.name == "verbose" else "verbose"):
            raise click.UsageError("-q and -v exclude each other")
        return value

    quietly = click.option("-q", "--quiet", is_flag=True, callback=one, help="Say nothing but what is wrong.")
    loudly = click.option("-v", "--verbose", is_flag=True, callback=one, help=verbose)
    return lambda command: quietly(loudly(command))


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


def default_specs(name: str) -> tuple[Path, ...]:
    """The specs that are meant where a command is given none: those of the project, or the folder specs."""
    stated = settings_here()
    missing = [path for path in stated.specs if not path.exists()]
    if missing:
        from opgen.diagnostics.model import Diagnostic, UserError
        from opgen.pipeline import likely_path

        message, hints = f"there is no file or folder {missing[0]}", likely_path(missing[0])
        raise UserError((Diagnostic("OPG508", message, stated.specs_place, "named here", hints=hints),))
    found = stated.specs or (Path("specs"),)
    if found == (Path("specs"),) and not found[0].is_dir():
        raise click.UsageError(f"there is no folder specs here; name a spec: opgen {name} PATH")
    return found


def named_spec(wanted: str, name: str) -> Path:
    """The spec that is meant by its path, or by the operator that it defines; `name` is the command."""
    from opgen.diagnostics.model import Bag
    from opgen.project import operator_of, specs_of

    path = Path(wanted)
    if path.is_dir():
        raise click.UsageError(f"{wanted} is a folder, and no spec{_elsewhere(Path(path.name))}")
    if path.exists():
        return path
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        raise click.UsageError(f"there is no spec {wanted}{_elsewhere(path)}")
    if not settings_here().specs and not Path("specs").is_dir() and (there := _elsewhere(path)):
        raise click.UsageError(f"there is no folder specs here{there}")
    found = [*specs_of(default_specs(name), Bag())]
    alike = sorted(found, key=lambda p: p.stem != wanted)  # most are called like their operator
    meant = next((p for p in alike if operator_of(p) == wanted), None)
    if meant is None:
        from opgen.diagnostics.suggest import closest

        near = closest(wanted, [p.stem for p in found])
        told = _elsewhere(path) or (f"; did you mean '{near}'?" if near else "")
        raise click.UsageError(f"there is no operator '{wanted}'{told}")
    return meant


def _defining(op: str) -> tuple[Path, ...]:
    """The specs of the project that define an operator, whatever they are called."""
    from opgen.diagnostics.model import Bag
    from opgen.project import operator_of, specs_of

    folders = [path for path in settings_here().specs or (Path("specs"),) if path.exists()]
    return tuple(path for path in specs_of(folders, Bag()) if operator_of(path) == op)


def _elsewhere(path: Path) -> str:
    """Where a spec lies that is called by another path, as the end of a sentence; empty where there is none."""
    from opgen.pipeline import lying_elsewhere

    there = lying_elsewhere(path)
    return f"; did you mean {' or '.join(map(str, there))}?" if there else ""


def generated_ops(out: Path, wanted: tuple[str, ...]) -> list[str]:
    """The operators in a folder, all or the ones that are wanted."""
    found = sorted(p.parent.name for p in out.glob("*/manifest.json"))
    for op in wanted:
        if op not in found:
            raise click.UsageError(f"there is no operator '{op}' in {out}; {_first(op, out, found)}")
    if not found:
        raise click.UsageError(f"there is no generated operator in {out}; first: {command('build', out=out)}")
    return list(wanted) or found


_ALL = ("all", "*", ".")  # what other tools say for everything


def _first(wanted: str, out: Path, found: Sequence[str]) -> str:
    """What to do about an operator that is not generated: build its spec, or call it by its name."""
    from difflib import get_close_matches

    from opgen.pipeline import lying_elsewhere
    from opgen.project import operator_of

    path = Path(wanted)
    if wanted in _ALL and found:
        every = command(str(click.get_current_context().info_name), out=out)
        return f"all of them are meant where none is named: {every}"
    specs = (path,) if path.is_file() else lying_elsewhere(path) or _defining(wanted)
    named = [op for op in dict.fromkeys(map(operator_of, specs)) if op in found]
    if named:
        return f"did you mean {' or '.join(map(repr, named))}?"
    if specs:
        told = f"first: {' or '.join(command('build', str(spec), out=out) for spec in specs)}"
        op = operator_of(specs[0]) if path.suffix in (".yaml", ".yml") and len(specs) == 1 else None
        called = click.get_current_context().info_name
        return f"{told}, then: {command(called, op, out=out)}" if op and called else told
    if path.name in found and path.resolve().parent == out.resolve():  # called by the folder that it lies in
        return f"did you mean '{path.name}'?"
    if path.is_dir():
        return f"first: {command('build', wanted, out=out)}"
    if near := get_close_matches(path.stem, found, 1):
        return f"did you mean '{near[0]}'?"
    return f"there are: {', '.join(found)}" if found else f"first: {command('build', out=out)}"
