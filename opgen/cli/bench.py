"""`opgen bench`: how long operators take, against their own plain form and against what else computes the same."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opgen.cli.console import Progress, put, say, show_diagnostics, verdict
from opgen.cli.options import Command, Count, generated_ops, named_spec, out_option
from opgen.diagnostics.model import Diagnostic, UserError
from opgen.write.settings import command as command_line
from opgen.write.settings import settings_here

if TYPE_CHECKING:
    from opgen.bench.measure import Measured, Wanted

SIZES = (32, 1_000, 32_000, 1_000_000, 32_000_000)
QUICK = (1_000, 100_000)
DTYPES = ["float32", "bfloat16", "float16", "float64"]
_SIZE = re.compile(r"\d+[kmgKMG]?")
_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9}
EXAMPLES = """\b
Examples:
  opgen bench softmax --quick        two sizes, in a few seconds
  opgen bench softmax --sizes 1k,1M --dtype bfloat16 --direction both --peer compile
  opgen bench mine.yaml --format json > mine.json
"""


class SizesType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Numbers of elements: `32,1k,100k,10M`."""

    name = "sizes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(self._one(text.strip(), param, ctx) for text in str(value).split(","))

    def _one(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> int:
        unit = _UNITS.get(text[-1:].lower(), 1)
        digits = text[:-1] if unit > 1 else text
        if not digits.isdecimal() or int(digits) == 0:
            self.fail(f"'{text}' is no number of elements, such as 32, 100k or 10M", param, ctx)
        return int(digits) * unit


def _several(option: str, name: str, choices: list[str], told: str) -> Callable[[Command], Command]:
    """An option that may be given more than once."""
    return click.option(option, name, multiple=True, type=click.Choice(choices), help=f"{told} Can be repeated.")


@click.command(epilog=EXAMPLES)
@click.argument("ops", nargs=-1, metavar="[OP]...")
@out_option
@click.option(
    "--sizes",
    type=SizesType(),
    metavar="N,…",
    help=f"Elements of the largest tensor, such as 100k; default: {','.join(map(str, SIZES))}.",
)
@click.option("--quick", is_flag=True, help="Two sizes (1k and 100k), and a third of the time for each row.")
@_several("--dtype", "dtypes", DTYPES, "Of floating inputs; default: float32 and bfloat16.")
@_several("--direction", "directions", ["forward", "backward", "both"], "Both: a step of training; default: all.")
@_several(
    "--peer",
    "peers",
    ["reference", "compile"],
    "What to measure beside the plain form: the spec's `reference`, torch.compile of the formula; default: reference.",
)
@click.option("--threads", type=Count("threads", "--threads 8"), default=1, show_default=True, help="Threads of torch.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    ops: tuple[str, ...],
    out: Path,
    sizes: tuple[int, ...] | None,
    quick: bool,
    dtypes: tuple[str, ...],
    directions: tuple[str, ...],
    peers: tuple[str, ...],
    threads: int,
    device: str,
    form: str,
) -> None:
    """Measure operators OP, names or specs (default: all that are generated).

    Rows have the time of a call of the compiled kernels, and its ratio to the plain form and to every peer: the median
    over rounds in which all run in turn, with its quartiles. A spec by its path is generated and compiled for itself.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait let others run
    import torch

    from opgen.bench.machine import about, effort
    from opgen.bench.measure import Wanted
    from opgen.bench.subject import DIRECTIONS
    from opgen.bench.table import as_json, head, line

    more = [op for op in ops if _SIZE.fullmatch(op)]
    if more and sizes:
        raise click.UsageError(f"sizes are separated by commas: --sizes {','.join((*map(str, sizes), *more))}")
    if device == "cuda" and not torch.cuda.is_available():
        raise click.UsageError("there is no CUDA device here")
    wanted = Wanted(
        sizes=sizes or (QUICK if quick else SIZES),
        dtypes=dtypes or ("float32", "bfloat16"),
        directions=directions or DIRECTIONS,
        peers=peers or ("reference",),
        device=device,
        threads=threads,
        effort=effort(threads, device, quick=quick),
    )
    shown = ("plain", *wanted.peers)
    found: list[Measured] = []
    wrong: list[Diagnostic] = []
    for row in _rows(ops, out, wanted, wrong):
        if form == "text":
            if not found:
                put(head(shown))
            put(line(row, shown))
        found.append(row)
    if form == "json":
        put(as_json(found, about()), newline=False)
    if wrong:
        show_diagnostics(wrong)
        raise click.exceptions.Exit(verdict(wrong))


def _rows(ops: tuple[str, ...], out: Path, wanted: Wanted, wrong: list[Diagnostic]) -> Iterator[Measured]:
    """The rows of all operators; what is wrong with specs is added to a list."""
    from opgen.bench.machine import keep_memory
    from opgen.bench.measure import rows
    from opgen.bench.subject import subject

    given = [_place(op, out) for op in ops or generated_ops(out, ())]
    keep_memory()
    progress = Progress(len(given))
    for path, folder in given:
        progress(path.stem)
        try:
            s = subject(path, folder)
        except UserError as e:
            wrong += e.diagnostics
            continue
        finally:
            progress.close()
        if not s.compiled:
            cure = "" if folder is None else f": {command_line('compile', s.name, out=folder)}"
            say(f"{s.name} is not compiled, and measured in plain torch{cure}", colour="yellow")
        yield from rows(s, wanted)


def _place(op: str, out: Path) -> tuple[Path, Path | None]:
    """The spec that is meant, and the folder of its operator; none for a spec that is given by its path."""
    if Path(op).suffix in (".yaml", ".yml") or len(Path(op).parts) > 1:
        return named_spec(op, "bench"), None
    from opgen.toolchain.inventory import spec_of

    generated_ops(out, (op,))
    path, stale = spec_of(out, op, settings_here().specs or ())
    if path is None:
        raise click.UsageError(f"{op} in {out} is not as its spec gives it: {stale}; first: opgen build")
    return path, out
