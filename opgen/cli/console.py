"""Colour, diagnostics and progress on a terminal.

click knows neither NO_COLOR nor FORCE_COLOR; both are respected here, and NO_COLOR wins.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TextIO

import click

from opgen.cli import FINDINGS, USAGE
from opgen.diagnostics.crash import Crash
from opgen.diagnostics.model import Diagnostic, Severity
from opgen.version import __version__


def wants_colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def say(text: str = "", *, colour: str | None = None) -> None:
    """Talk: to stderr."""
    _echo(text, sys.stderr, colour)


def put(text: str = "", *, colour: str | None = None, newline: bool = True) -> None:
    """Data: to stdout."""
    _echo(text, sys.stdout, colour, newline=newline)


def _echo(text: str, stream: TextIO, colour: str | None, *, newline: bool = True) -> None:
    on = wants_colour(stream)
    styled = click.style(text, fg=colour) if on and colour else text
    click.echo(styled, file=stream, color=on, nl=newline)


def show_diagnostics(diagnostics: Sequence[Diagnostic], form: str = "text") -> None:
    """All findings, and how many there are; in a form for programs they are data, also where there are none."""
    from opgen.diagnostics.text import render_all, summary

    crashes = [d for d in diagnostics if isinstance(d, Crash)]

    if form != "text":
        from opgen.diagnostics.records import FORMATS

        put(FORMATS[form](diagnostics, __version__), newline=False)
    elif diagnostics:
        say(render_all(diagnostics, color=wants_colour(sys.stderr)))
    if count := summary(diagnostics):
        say(count, colour="red" if any(d.severity is Severity.ERROR for d in diagnostics) else "yellow")
    if crashes:
        from opgen.cli.crash_report import report

        report(crashes)


def verdict(diagnostics: Sequence[Diagnostic]) -> int:
    """The exit code that findings ask for."""
    if any(isinstance(d, Crash) for d in diagnostics):
        return USAGE
    return FINDINGS if any(d.severity is Severity.ERROR for d in diagnostics) else 0


PATIENCE = 20.0  # seconds that a spec takes without a word


class Patience:
    """Says what takes so long, once for each spec, while it is at it; an empty line parts that from what follows."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._spoke = False
        self._spec = self._stage = ""
        self._timer: threading.Timer | None = None

    def __call__(self, spec: str, stage: str) -> None:
        if spec != self._spec or not stage:
            self._stop()
        self._stage = stage
        if stage and self._timer is None and not self._quiet:
            self._spec = spec
            self._timer = threading.Timer(PATIENCE, self._tell, (spec,))
            self._timer.daemon = True
            self._timer.start()

    def _tell(self, spec: str) -> None:
        self._spoke = True
        if sys.stderr.isatty():
            _clear_line()  # of how many specs are done
        say(f"{spec} takes more than {PATIENCE:g} s: it is still being {self._stage}", colour="yellow")

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()  # what it has begun to say stands whole
        self._timer, self._spec = None, ""

    def close(self) -> None:
        self._stop()
        if self._spoke:
            say()


def _clear_line() -> None:
    click.echo("\r\x1b[K", file=sys.stderr, nl=False, color=True)


class Progress:
    """A line that is overwritten, only where a person is watching: how many of how many, for how long, and a name."""

    def __init__(self, total: int = 0, *, quiet: bool = False) -> None:
        self._on = sys.stderr.isatty() and not quiet
        self._total = total
        self._count = 0
        self._started = time.monotonic()

    def __call__(self, text: str, total: int = 0) -> None:
        self._count += 1
        if self._on:
            of = f"/{total or self._total}" if total or self._total else ""
            took = int(time.monotonic() - self._started)
            shown = f"[{self._count}{of}]{f' {took // 60}:{took % 60:02}' if took else ''} {text}"
            click.echo(f"\r\x1b[K{shown}", file=sys.stderr, nl=False, color=True)

    def close(self) -> None:
        if self._on and self._count:
            _clear_line()
