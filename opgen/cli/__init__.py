"""The `opgen` command. Each subcommand lives in a module of its own that is imported when it is called.

Exit codes: 0 all is well, 1 findings (mistakes in a spec, drift, failing tests), 2 usage or an error of opgen itself,
130 interrupted. Data goes to stdout, talk to stderr.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from importlib import import_module

import click

from opgen.version import __version__

FINDINGS, USAGE, INTERRUPTED = 1, 2, 130
_UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT)
_COMMANDS = {
    "bench": "measure compiled operators against plain torch and a reference",
    "build": "generate operators from specs",
    "catalogue": "describe operators on one page",
    "clean": "remove caches and compiled libraries",
    "compile": "compile the native libraries of generated operators",
    "doctor": "look at versions, compilers, locks and caches",
    "explain": "explain a diagnostic code, or list all of them",
    "list": "every operator: its spec, built, compiled, and what runs of it",
    "lint": "look for mistakes in specs without writing anything",
    "new": "write a first spec of a new operator",
    "package": "make a wheel of generated operators, with libraries for all machines",
    "report": "write pages to look at operators in a browser",
    "schema": "print the JSON Schema of specs, for editors",
    "show": "print a stage of the way from a spec to code",
    "test": "run the tests of generated operators",
}
_OTHERWISE = {  # what other tools call them
    **dict.fromkeys(("generate", "gen", "make", "codegen", "update", "run"), "build"),
    **dict.fromkeys(("check", "validate", "fix", "format"), "lint"),
    **dict.fromkeys(("init", "create", "add", "start", "scaffold", "template"), "new"),
    **dict.fromkeys(("ls", "ops", "operators", "status"), "list"),
    **dict.fromkeys(("inspect", "dump", "print", "cat", "info", "view"), "show"),
    **dict.fromkeys(("verify", "gradcheck", "pytest"), "test"),
    **dict.fromkeys(("benchmark", "perf", "profile", "time"), "bench"),
    **dict.fromkeys(("wheel", "dist", "publish", "ship", "install"), "package"),
    **dict.fromkeys(("docs", "doc", "html", "page", "plot"), "report"),
    **dict.fromkeys(("rm", "remove", "purge", "cache"), "clean"),
    **dict.fromkeys(("env", "diagnose"), "doctor"),
    **{"help": "--help", "version": "--version", "diff": "build --diff"},
    **dict.fromkeys(("error", "errors", "why"), "explain"),
    "native": "compile",
}
# What other tools call the folder that they write to.
_FOLDERS = (
    "--output-dir", "--output_dir", "--output-directory", "--output-folder", "--output-path", "--out-dir", "--out_dir",
    "--outdir", "--target", "--target-dir", "--dest", "--dest-dir", "--destination", "--dir", "--directory", "--folder",
)  # fmt: skip
_FILES = ("--out", "-o", "--output", "--file", "--save", "--to", *_FOLDERS)  # and the file
_INSTEAD = {  # what other tools call what a command does otherwise, or does anyway
    ("lint", "--check"): "; opgen lint writes nothing without --fix, so that it needs none",
    **dict.fromkeys((("build", "--dry-run"), ("build", "--dry_run")), "; did you mean --check, or --diff?"),
    **dict.fromkeys((("list", "--json"), ("lint", "--json"), ("build", "--json")), "; did you mean --format json?"),
}
_TOO_MANY = re.compile(r"Got unexpected extra arguments? \((.*)\)\.?")  # of click
_PRINTING = ("explain", "schema", "show")  # to stdout, whatever is asked of them


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS]  # `list` is a command here, once it was imported

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if cmd_name not in _COMMANDS:
            from opgen.diagnostics.suggest import closest

            near = _OTHERWISE.get(cmd_name.lower()) or closest(cmd_name, _COMMANDS)
            told = f"did you mean {near}?" if near else f"there are {', '.join(_COMMANDS)}"
            ctx.fail(f"no such command: {cmd_name}; {told}")
        return _command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*_COMMANDS.items()])


def _command(name: str) -> click.Command:
    command = import_module(f"opgen.cli.{name}").command
    assert isinstance(command, click.Command)
    return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="opgen", message="%(prog)s %(version)s")
@click.option("--traceback", is_flag=True, help="Show the stack of an error of opgen itself.")
def group(traceback: bool) -> None:
    """Differentiable PyTorch operators in Python, C++ and CUDA from one formula."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.exit(run(arguments))


def run(arguments: list[str]) -> int:
    """Run the command line; every outcome is an exit code."""
    try:
        code = group.main(arguments, prog_name="opgen", standalone_mode=False, obj=tuple(arguments))
    except click.ClickException as e:
        if isinstance(e, click.NoSuchOption) and e.ctx and _is_ours(e):
            e = click.NoSuchOption(e.option_name, _no_option(e.option_name, e.ctx), ctx=e.ctx)
        if isinstance(e, click.UsageError) and e.ctx and (extra := _TOO_MANY.fullmatch(e.message)):
            e = click.UsageError(_unwanted(extra[1].split(), e.ctx), ctx=e.ctx)
        if isinstance(e, click.BadOptionUsage) and (words := _choices(e.option_name, arguments)):
            e = click.BadOptionUsage(e.option_name, f"{e.message.rstrip('.')}: one of {', '.join(words)}", e.ctx)
        e.show()
        return e.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of stdout went away; what is still buffered has nowhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINDINGS
    except Exception as e:
        return _failure(e, arguments)
    return code if isinstance(code, int) else 0


def _is_ours(e: click.NoSuchOption) -> bool:
    """Whether more is to say of an option that there is not than which ones are spelt like it."""
    known = e.ctx is not None and (e.ctx.info_name, e.option_name) in _INSTEAD
    return known or not e.possibilities or e.option_name in _FOLDERS


def _unwanted(words: list[str], ctx: click.Context) -> str:
    """What is said of words that a command has no place for: they may be the value of an option."""
    for option in ctx.command.params:
        if (
            isinstance(option, click.Option)
            and isinstance(option.type, click.Choice)
            and words[0] in option.type.choices
        ):
            return f"unexpected '{words[0]}'; did you mean {option.opts[0]} {words[0]}?"
    takes = [str(p.name).upper() for p in ctx.command.params if isinstance(p, click.Argument)]
    what = f"takes one {takes[0]}, and no" if takes else "takes no names; leave away"
    return f"opgen {ctx.info_name} {what} {', '.join(map(repr, words))}"


def _no_option(name: str, ctx: click.Context) -> str:
    """What is said of an option that a command has not: those that begin like one letter, or whose option it is."""
    if name in _FILES and ctx.info_name in _PRINTING:
        return f"there is no option {name}, as all is printed: write `{_redirected(name, ctx)}`"
    if hint := _INSTEAD.get((ctx.info_name or "", name)):
        return f"there is no option {name}{hint}"
    if name.startswith("--"):
        commands = [f"opgen {c}" for c in _COMMANDS if any(name in p.opts for p in _command(c).params)]
        few = f"{commands[0]}, {commands[1]} and others" if len(commands) > 2 else " and of ".join(commands)
        hint = f"; it is one of {few}" if commands else ""
        if name in _FOLDERS and any("--out" in p.opts for p in ctx.command.params):
            hint = "; did you mean --out?"
    else:  # one letter is short for nothing here
        own = (option for p in ctx.command.params for option in p.opts)
        near = " or ".join(option for option in own if option.startswith(f"-{name[:2]}"))
        hint = f"; did you mean {near}?" if near else ""
    return f"there is no option {name}{hint}"


def _choices(name: str, arguments: list[str]) -> tuple[str, ...]:
    """The words of which an option of the command that is called takes one; none where it takes others."""
    called = next((a for a in arguments if a in _COMMANDS), None)
    kinds = (p.type for p in _command(called).params if name in p.opts) if called else ()
    return tuple(word for kind in kinds if isinstance(kind, click.Choice) for word in kind.choices)


def _redirected(name: str, ctx: click.Context) -> str:
    """The command line with what it prints sent to the file that an option names, and with our words for stages."""
    from opgen.cli.options import Words

    words = {o: p.type.elsewhere for p in ctx.command.params if isinstance(p.type, Words) for o in p.opts}
    given, file = [*ctx.obj], "FILE"  # `list` is a command here
    kept: list[str] = []
    while given:
        first, _, value = given.pop(0).partition("=")
        if first == name:
            file = value or (given.pop(0) if given and not given[0].startswith("-") else file)
        elif first in words and (value or given):
            asked = value or given.pop(0)
            kept += [first, words[first].get(asked.lower(), asked)]
        else:
            kept.append(f"{first}={value}" if value else first)
    return f"{shlex.join(('opgen', *kept))} > {shlex.quote(file)}"


def _failure(error: Exception, arguments: list[str]) -> int:
    """Report a user's mistake that stopped everything, or a mistake of opgen's."""
    from opgen.cli.console import show_diagnostics
    from opgen.diagnostics.crash import crash
    from opgen.diagnostics.model import Diagnostic, UserError
    from opgen.write.paths import OutsideError

    if isinstance(error, OSError) and error.errno in _UNWRITABLE:
        place = error.filename or "here"
        error = UserError((Diagnostic("OPG506", f"cannot write {place}: {error.strerror}", None),))
    if isinstance(error, OutsideError):
        error = UserError((Diagnostic("OPG504", f"'{error}' would leave the output folder", None),))
    if isinstance(error, UserError):
        show_diagnostics(error.diagnostics)
        return FINDINGS
    with click.Context(group, obj=tuple(arguments)) as context:
        context.params["traceback"] = "--traceback" in arguments
        show_diagnostics((crash(error, " ".join(("opgen", *arguments))),))
    return USAGE
