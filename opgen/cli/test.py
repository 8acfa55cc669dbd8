"""`opgen test`: run the generated tests, in plain torch or on the compiled kernels, and print operator × check."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click

from opgen.cli import FINDINGS, USAGE
from opgen.cli.checks import QUICK
from opgen.cli.console import put, say
from opgen.cli.options import generated_ops, ops_argument, out_option, talk_of
from opgen.diagnostics.suggest import counted
from opgen.write.paths import command as command_line

_NO_TESTS_RAN = 5  # pytest's exit code
_STDERR = 2


@click.command()
@ops_argument
@out_option
@click.option(
    "--backend",
    type=click.Choice(["torch", "native", "all"]),
    default="torch",
    show_default=True,
    help="What the operators run on; native has to be compiled first.",
)
@click.option("-k", "keyword", metavar="EXPRESSION", help="Only tests that match, as in pytest.")
@click.option("--quick", is_flag=True, help="Leave out the checks that take long: compilers, export, suites of torch.")
@talk_of("Name every check as it runs.")
def command(
    ops: tuple[str, ...], out: Path, backend: str, keyword: str | None, quick: bool, quiet: bool, verbose: bool
) -> None:
    """Run the tests of generated operators (default: all of them)."""
    if find_spec("pytest") is None:
        raise click.UsageError("the tests need pytest: pip install 'opgen[test]'")
    names = generated_ops(out, ops)
    files = [str((out / op / f"test_{op}.py").absolute()) for op in names]
    backends = ["torch", "native"] if backend == "all" else [backend]
    if "native" in backends:
        _need_libraries(out, names)
    options = [*(("-k", keyword) if keyword else ()), *((QUICK,) if quick else ()), *(("-v",) if verbose else ())]
    codes = [_pytest(files, name, options, quiet) for name in backends]
    if any(codes):
        raise click.exceptions.Exit(FINDINGS if set(codes) <= {0, FINDINGS, _NO_TESTS_RAN} else USAGE)


def _need_libraries(out: Path, ops: Sequence[str]) -> None:
    """Refuse to run every check of operators that are not compiled, each of which would say so."""
    from opgen.toolchain.library import is_loadable, without_kernels

    missing = [op for op in ops if without_kernels(out, op) is None and not is_loadable(out, op)]
    for op in missing:
        say(f"{op} is not compiled for what was generated last: {command_line('compile', op, out=out)}")
    if missing:
        say(f"{counted(len(missing), 'operator')} to compile before the tests can run on compiled kernels")
        raise click.exceptions.Exit(USAGE)


def _pytest(files: Sequence[str], backend: str, options: Sequence[str], quiet: bool) -> int:
    """pytest's exit code; its own output is talk, the table of checks is data: both told `quiet` if any failed."""
    from opgen.verify.matrix import outcomes, table

    if not quiet:
        say(f"back end: {backend}")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        arguments = [sys.executable, "-m", "pytest", "-p", "opgen.cli.checks", f"--junitxml={report}", *options, *files]
        environment = {**os.environ, "OPGEN_BACKEND": backend}
        where = subprocess.PIPE if quiet else _STDERR
        done = subprocess.run(arguments, env=environment, stdout=where, text=True, check=False)
        if done.stdout and done.returncode:
            say(done.stdout)
        if report.exists() and (found := outcomes(report)) and (done.returncode or not quiet):
            put(f"{backend}\n\n{table(found)}")
    return done.returncode
