"""What `--help` shows as an example is a command line that opgen takes."""

from __future__ import annotations

import shlex

import click
import pytest

from opgen.cli import _COMMANDS, group


def examples(name: str) -> list[list[str]]:
    """The command lines below «Examples:», without what stands beside or behind them."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    assert command.epilog is not None
    lines = [line.strip() for line in command.epilog.splitlines()[2:]]
    return [shlex.split(line.partition("    ")[0].partition(" | ")[0].partition(" > ")[0]) for line in lines if line]


@pytest.mark.parametrize("name", [*_COMMANDS])
def test_examples_are_parsed(name: str) -> None:
    found = examples(name)
    assert found
    for program, command, *arguments in found:
        assert (program, command) == ("opgen", name)
        parser = group.get_command(click.Context(group), name)
        assert parser is not None
        parser.make_context(name, arguments)
