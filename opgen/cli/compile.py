"""`opgen compile`: build the native libraries of generated operators, or only see whether the CUDA sources compile."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from opgen.cli import FINDINGS
from opgen.cli.console import Progress, put, say, show_diagnostics, verdict
from opgen.cli.options import generated_ops, jobs_option, ops_argument, out_option, talk_of
from opgen.diagnostics.model import Diagnostic, Severity
from opgen.diagnostics.suggest import counted
from opgen.write.settings import command as command_line

EXAMPLES = """\b
Examples:
  opgen compile                      every generated operator
  opgen compile grn swish --jobs 2
"""


@click.command(epilog=EXAMPLES)
@ops_argument
@out_option
@jobs_option
@click.option(
    "--cuda-check",
    is_flag=True,
    help="Compile the CUDA sources with nvcc for sm_80 and sm_90, with spills as errors, and keep nothing.",
)
@talk_of("Show the commands that compile, and what was done for each operator.")
def command(ops: tuple[str, ...], out: Path, jobs: int | None, cuda_check: bool, quiet: bool, verbose: bool) -> None:
    """Compile generated operators (default: all of them); their functions then run compiled kernels."""
    names = generated_ops(out, ops)
    from opgen.toolchain.stated import stated
    from opgen.write.settings import settings_of

    with stated(settings_of(out)), _commands_told() if verbose else nullcontext():
        if cuda_check:
            _check_cuda(out, names, jobs, quiet=quiet)
        else:
            kept = names if ops else with_kernels(out, names, quiet=quiet)
            _compile(out, kept, ops, jobs, quiet=quiet, verbose=verbose)


class _Talk(logging.Handler):
    """Says what is logged."""

    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


@contextmanager
def _commands_told() -> Iterator[None]:
    """Show the command lines of compilers as they are run."""
    logger, handler = logging.getLogger("opgen.toolchain"), _Talk()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def with_kernels(out: Path, names: list[str], *, quiet: bool = False) -> list[str]:
    """The operators that have kernels; a note for the others, unless `quiet`."""
    from opgen.toolchain.library import without_kernels

    kept = []
    for name in names:
        reason = without_kernels(out, name)
        if reason is None:
            kept.append(name)
        elif not quiet:
            message = f"{name} is left to plain torch: {reason}"
            show_diagnostics([Diagnostic("OPG401", message, None, severity=Severity.NOTE)])
    return kept


def _compile(
    out: Path, names: list[str], given: tuple[str, ...], jobs: int | None, *, quiet: bool, verbose: bool
) -> None:
    from opgen.toolchain.choice import by_itself
    from opgen.toolchain.compiler import NoCompilerError
    from opgen.toolchain.library import Status, compile_ops
    from opgen.toolchain.refusal import refusal

    progress = Progress(len(names), quiet=quiet)
    try:
        outcomes = compile_ops(out, names, jobs, progress)
    except NoCompilerError as e:
        progress.close()
        hints = (f"install g++, or name another compiler: CXX=… {command_line('compile', *given, out=out)}",)
        show_diagnostics([Diagnostic("OPG601", str(e), None, hints=hints)])
        raise click.exceptions.Exit(FINDINGS) from None
    finally:
        progress.close()
    for outcome in () if quiet else outcomes:
        for path in outcome.libraries.values():
            put(str(path))
        if outcome.error is None:
            done = f"{outcome.status}; " if verbose else ""
            say(f"{outcome.op}: {done}auto runs {by_itself(out, outcome.op)}")
    refused = [refusal(o.op, o.error) for o in outcomes if o.error is not None]
    show_diagnostics(refused)
    if quiet and not refused:
        return
    counts = [f"{n} {s}" for s in Status if (n := sum(o.status is s for o in outcomes))]
    following = command_line("test", "--backend", "native", *given, out=out)
    say(f"{', '.join(counts) or 'nothing to compile'}{'' if refused or not outcomes else f'; next: {following}'}")
    if refused:
        raise click.exceptions.Exit(verdict(refused))


def _check_cuda(out: Path, names: list[str], jobs: int | None, *, quiet: bool) -> None:
    from opgen.toolchain.cuda import compile_all, nvcc

    if nvcc() is None:
        show_diagnostics([Diagnostic("OPG601", "nvcc is not installed", None, hints=("install the CUDA toolkit",))])
        raise click.exceptions.Exit(FINDINGS)
    sources = [path for name in names if (path := out / name / "csrc" / f"{name}.cu").exists()]
    progress = Progress(len(sources), quiet=quiet)
    with tempfile.TemporaryDirectory() as folder:
        done = compile_all(
            sources, [out / "csrc"], Path(folder), jobs=jobs or 2, done=lambda source: progress(source.name)
        )
    progress.close()
    for result in done:
        verdict = "ok" if result.ok else "failed"
        figures = f"{counted(result.kernels, 'kernel')}, at most {counted(result.registers, 'register')}"
        if not (quiet and result.ok):
            put(f"{verdict:<6} {result.architecture} {result.source} ({figures})", colour=None if result.ok else "red")
        if not result.ok:
            say(result.message)
    if not done or not all(result.ok for result in done):
        raise click.exceptions.Exit(FINDINGS)
