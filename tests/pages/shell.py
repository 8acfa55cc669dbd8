"""What the lines of a page say to a shell: which of them are run, how, and why the others are not."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

import opgen.cli
from opgen.cli import group

from .blocks import ROOT, Block

# programs that pages name and no test runs
OTHERS = {
    "c++": "tests/native/test_without_python.py compiles the program",
    "eval": "belongs to the shell; tests/cli/test_completion.py runs what it is given",
    "make": "its targets are compared with the Makefile, and .ci/run runs them",
    "mkdocs": "is no dependency of the tests; tests/pages/test_site.py checks what it would",
    "pip": "would install from the network",
    "pytest": "would run all tests from within one",
}
HERE = ("opgen", "python", "torchrun", "mkdir", "rm")  # programs that are run
BY_ITSELF = {"compile", "package", "test"}  # commands that start other programs, or load what they compile


@dataclass(frozen=True, slots=True)
class Command:
    """One command, and what a page shows of its output (empty where it shows nothing)."""

    words: tuple[str, ...]
    shown: str = ""

    @property
    def variables(self) -> dict[str, str]:
        """What stands in front: `OPGEN_BACKEND=native`."""
        return dict(w.split("=", 1) for w in self.words[: self._first])

    @property
    def program(self) -> str:
        return self.words[self._first] if self._first < len(self.words) else ""

    @property
    def arguments(self) -> tuple[str, ...]:
        return self.words[self._first + 1 :]

    @property
    def _first(self) -> int:
        return next((k for k, w in enumerate(self.words) if not re.match(r"\w+=", w)), len(self.words))


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block: all lines of `sh`, those behind a `$` of `console`, with what is shown below them."""
    if block.language == "sh":
        for line in block.text.replace("\\\n", " ").splitlines():
            yield from split(line)
        return
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        *before, last = split(line)
        yield from before
        yield Command(last.words, shown)


def split(line: str) -> list[Command]:
    """The commands of a line."""
    found: list[Command] = []
    words: list[str] = []
    for word in [*shlex.split(line, comments=True), "&&"]:
        if word != "&&":
            words.append(word)
        elif words:
            found.append(Command(tuple(words)))
            words = []
    return found


def misused(command: Command) -> str:
    """What is wrong with a command of opgen that is not run, or with a target of make; empty if nothing is."""
    if command.program == "make":
        known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        return "".join(f"no target {a}" for a in command.arguments if a not in known)
    if command.program != "opgen":
        return ""
    options = [a for a in command.arguments if a not in ("--traceback",)]
    words = options[: options.index(">")] if ">" in options else options
    words = words[: words.index("|")] if "|" in words else words
    if not words or words[0].startswith("-"):
        return ""
    try:
        found = group.get_command(click.Context(group), words[0])
        assert found is not None
        found.make_parser(click.Context(found)).parse_args(words[1:])
    except click.ClickException as e:
        return e.format_message()
    return ""


def run(command: Command, folder: Path) -> tuple[int, str]:
    """Run a command, of opgen in this process where that is the same: the exit code, and what it prints."""
    start = {"opgen": (sys.executable, "-m", "opgen"), "python": (sys.executable,)}
    start["torchrun"] = (sys.executable, "-m", "torch.distributed.run")
    if command.program != "opgen" or command.variables or BY_ITSELF.intersection(command.arguments[:1]):
        words = (*start.get(command.program, (command.program,)), *command.arguments)
        paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "ignore", **command.variables}
        done = subprocess.run(
            words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        return done.returncode, done.stdout
    arguments, target = [*command.arguments], None
    if ">" in arguments:
        at = arguments.index(">")
        target, arguments = folder / arguments[at + 1], arguments[:at]
    talk, data = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(data if target else talk), contextlib.redirect_stderr(talk):
        code = opgen.cli.run(arguments)
    if target:
        target.write_text(data.getvalue(), encoding="utf-8")
    return code, talk.getvalue()


def agrees(shown: str, printed: str) -> bool:
    """Whether a command printed what is shown, in which `…` stands for anything; blanks at ends of lines are none."""
    pattern = ".*".join(re.escape(part.strip("\n")) for part in shown.strip().split("…"))
    return re.fullmatch(rf"\s*{pattern}\s*", re.sub(r"[ \t]+$", "", printed, flags=re.MULTILINE), re.DOTALL) is not None
