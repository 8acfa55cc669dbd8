"""`opgen test`: run the generated tests, in plain torch or on the compiled kernels, and print operator × check."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import click

from opgen.cli import FINDINGS, USAGE
from opgen.cli.checks import QUICK
from opgen.cli.console import put, say
from opgen.cli.options import Count, Either, generated_ops, ops_argument, out_option, talk_of
from opgen.diagnostics.suggest import counted
from opgen.write.settings import command as command_line
from opgen.write.settings import settings_here

_NO_TESTS_RAN = 5  # pytest's exit code
_STDERR = 2
_BACKENDS, _DEVICES = ("torch", "native", "all"), ("cpu", "cuda")


EXAMPLES = """\b
Examples:
  opgen test                         every generated operator, in plain torch
  opgen test grn --backend native -x
  opgen test -k gradcheck -j 2
"""


@click.command(epilog=EXAMPLES)
@ops_argument
@out_option
@click.option(
    "--backend",
    type=Either(_BACKENDS, dict.fromkeys(_DEVICES, "--device")),
    default="torch",
    show_default=True,
    help="What the operators run on; native has to be compiled first.",
)
@click.option(
    "--device",
    type=Either(_DEVICES, dict.fromkeys(_BACKENDS[:2], "--backend")),
    default="cpu",
    show_default=True,
    help="Where the operands lie.",
)
@click.option("-k", "keyword", metavar="EXPRESSION", help="Only tests that match, as in pytest.")
@click.option("--quick", is_flag=True, help="Leave out the checks that take long: compilers, export, suites of torch.")
@click.option("-x", "first", is_flag=True, help="Stop at the first test that fails.")
@click.option(
    "-j",
    "--jobs",
    type=Count("operators", "--jobs 4"),
    default=1,
    show_default=True,
    help="How many operators are tested at a time; what pytest says then comes operator by operator.",
)
@talk_of("Name every check as it runs.")
def command(
    ops: tuple[str, ...],
    out: Path,
    backend: str,
    device: str,
    keyword: str | None,
    quick: bool,
    first: bool,
    jobs: int,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run the tests of generated operators (default: all of them)."""
    if find_spec("pytest") is None:
        raise click.UsageError("the tests need pytest: pip install 'opgen[test]'")
    names = _wanted(out, ops, keyword)
    _say_changed(out, names)
    files = [str((out / op / f"test_{op}.py").absolute()) for op in names]
    backends = ["torch", "native"] if backend == "all" else [backend]
    _need_device(device)
    if "native" in backends:
        _need_libraries(out, names)
    options = [*(("-k", keyword) if keyword else ()), *((QUICK,) if quick else ())]
    options += [*(("-v",) if verbose else ()), *(("-x",) if first else ())]
    ways = [{"OPGEN_BACKEND": name, "OPGEN_DEVICE": device} for name in backends]
    codes = [_tested(files, way, options, jobs, quiet) for way in ways]
    if any(codes):
        raise click.exceptions.Exit(FINDINGS if set(codes) <= {0, FINDINGS, _NO_TESTS_RAN} else USAGE)


def _wanted(out: Path, ops: tuple[str, ...], keyword: str | None) -> list[str]:
    """The operators to test; a word that is none may be one of those that tests are chosen by."""
    try:
        return generated_ops(out, ops)
    except click.UsageError as e:
        if keyword is None or not ops:
            raise
        words = " and ".join((keyword, *ops))
        raise click.UsageError(f"{e.message}; words behind -k stand in quotes: -k '{words}'") from e


def _need_libraries(out: Path, ops: Sequence[str]) -> None:
    """Refuse to run every check of operators that are not compiled, each of which would say so."""
    from opgen.toolchain.library import is_loadable, without_kernels

    missing = [op for op in ops if without_kernels(out, op) is None and not is_loadable(out, op)]
    for op in missing:
        say(f"{op} is not compiled for what was generated last: {command_line('compile', op, out=out)}")
    if missing:
        say(f"{counted(len(missing), 'operator')} to compile before the tests can run on compiled kernels")
        raise click.exceptions.Exit(USAGE)


def _need_device(device: str) -> None:
    """Refuse a device that torch does not see."""
    if device == "cpu":
        return
    import torch

    if not torch.cuda.is_available():
        say("torch sees no CUDA device here: `opgen doctor` tells why")
        raise click.exceptions.Exit(USAGE)


def _say_changed(out: Path, ops: Sequence[str]) -> None:
    """Warn that what is tested is not what the specs say by now."""
    from opgen.toolchain.inventory import changed

    for op in changed(out, ops, settings_here().specs or ()):
        say(f"{op}: its spec was changed, and what was generated before is tested; to bring it up to date: opgen build")


def _tested(files: Sequence[str], way: Mapping[str, str], options: Sequence[str], jobs: int, quiet: bool) -> int:
    """pytest's exit code, the worst of several; its own output is talk, the table of checks is data.

    Both are told `quiet` if any failed.
    """
    from opgen.verify.matrix import outcomes, table

    backend, device = way["OPGEN_BACKEND"], way["OPGEN_DEVICE"]
    if not quiet:
        say(f"back end: {backend}{'' if device == 'cpu' else f', on {device}'}")
    with tempfile.TemporaryDirectory() as folder:
        groups = [files] if jobs == 1 else [[file] for file in files]
        reports = [Path(folder, f"{n}.xml") for n, _ in enumerate(groups)]
        codes = _side_by_side(groups, way, options, reports, jobs, quiet)
        ran = max((code for code in codes if code != _NO_TESTS_RAN), default=_NO_TESTS_RAN)
        found = [o for report in reports if report.exists() for o in outcomes(report)]
        if found and (ran or not quiet):
            put(f"{backend}\n\n{table(found)}")
    return ran


def _side_by_side(
    groups: Sequence[Sequence[str]],
    way: Mapping[str, str],
    options: Sequence[str],
    reports: Sequence[Path],
    jobs: int,
    quiet: bool,
) -> list[int]:
    """The exit codes of one process for each group; with `-x`, none is begun after one that failed."""
    codes: list[int] = []
    where = subprocess.PIPE if quiet or len(groups) > 1 else _STDERR

    def one(files: Sequence[str], report: Path) -> None:
        if "-x" in options and any(code not in (0, _NO_TESTS_RAN) for code in codes):
            return
        done = _pytest(files, way, options, report, where)
        codes.append(done.returncode)
        if done.stdout and (done.returncode or not quiet):
            say(done.stdout.rstrip())

    with ThreadPoolExecutor(jobs) as pool:
        deque(pool.map(one, groups, reports), maxlen=0)
    return codes


def _pytest(
    files: Sequence[str], way: Mapping[str, str], options: Sequence[str], report: Path, where: int
) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-m", "pytest", "-p", "opgen.cli.checks", f"--junitxml={report}", *options, *files]
    environment = {**os.environ, **way}
    return subprocess.run(arguments, env=environment, stdout=where, text=True, check=False)
