"""What a person sends who has met an error of opgen itself: one file with all that is needed to look for it."""

from __future__ import annotations

import platform
import shlex
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import click

from opgen.cli.console import say
from opgen.diagnostics.crash import Crash
from opgen.version import __version__

_PACKAGES = ("torch", "sympy", "jinja2", "pydantic", "PyYAML", "click")


def report(crashes: Sequence[Crash]) -> None:
    """Write the file and name it; with `--traceback`, also show where in opgen each error is."""
    line, stacks = _invocation()
    if stacks:
        for found in crashes:
            say(found.stack)
    text = "\n".join((f"command: opgen {shlex.join(line)}", *_versions(), "", *map(_section, crashes)))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="opgen-report-", suffix=".txt", delete=False, encoding="utf-8", errors="surrogateescape"
        ) as file:
            file.write(text)
    except OSError as e:
        say(f"no report could be written ({e}); opgen --traceback {shlex.join(line)} shows where it happened")
        return
    say(f"report: {file.name} has the command, the versions, the specs concerned and where it happened")


def _invocation() -> tuple[Sequence[str], bool]:
    """The command line that is being run, and whether it asks for stacks."""
    context = click.get_current_context(silent=True)
    root = context.find_root() if context is not None else None
    return (root.obj or (), bool(root.params.get("traceback"))) if root is not None else ((), False)


def _versions() -> list[str]:
    found = [f"opgen {__version__}, Python {platform.python_version()}, {platform.platform()}"]
    for name in _PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} is not installed")
    return found


def _section(found: Crash) -> str:
    parts = (found.message, "", found.stack.rstrip("\n"))
    return "\n".join((*parts, *(("", found.spec) if found.spec else ()), ""))
