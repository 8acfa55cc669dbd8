"""`opgen test`: run the generated tests, in plain torch or on the compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import click

from opgen.cli import FINDINGS, USAGE
from opgen.cli.console import say
from opgen.cli.options import generated_ops, out_option

_NO_TESTS_RAN = 5  # pytest's exit code


@click.command()
@click.argument("ops", nargs=-1, metavar="[OP]...")
@out_option
@click.option(
    "--backend",
    type=click.Choice(["torch", "native", "all"]),
    default="torch",
    show_default=True,
    help="What the operators run on; native has to be compiled first.",
)
@click.option("-k", "keyword", metavar="EXPRESSION", help="Only tests that match, as in pytest.")
def command(ops: tuple[str, ...], out: Path, backend: str, keyword: str | None) -> None:
    """Run the tests of generated operators (default: all of them)."""
    if find_spec("pytest") is None:
        raise click.UsageError("the tests need pytest: pip install 'opgen[test]'")
    files = [str((out / op / f"test_{op}.py").absolute()) for op in generated_ops(out, ops)]
    backends = ["torch", "native"] if backend == "all" else [backend]
    codes = [_pytest(files, name, keyword) for name in backends]
    if any(codes):
        raise click.exceptions.Exit(FINDINGS if set(codes) <= {0, FINDINGS, _NO_TESTS_RAN} else USAGE)


def _pytest(files: list[str], backend: str, keyword: str | None) -> int:
    say(f"back end: {backend}")
    select = ["-k", keyword] if keyword else []
    arguments = [sys.executable, "-m", "pytest", *select, *files]
    return subprocess.run(arguments, env={**os.environ, "OPGEN_BACKEND": backend}, check=False).returncode
