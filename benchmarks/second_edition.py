"""How fast operators of the second edition of the language are: compiled, forward and backward, on one thread.

    python benchmarks/second_edition.py [--write] [--rounds N] [SUBJECT...]

Measures compiled operators of `generated` against what a person would write in torch: a loss over alignments, dropout
with what goes past it, batch norm with its buffers, and soft time warping against its plain form. In each round the two
sides run in turn, for as many calls as take some milliseconds, by the time that the processor spent; a ratio is the
median over rounds of ours / theirs within a round, between its quartiles. `most` is what the ratio is held against.
Where a kernel does not run, the subject is refused. `--write` keeps the figures in
`benchmarks/results/second_edition.json`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch import Tensor  # noqa: E402
from torch.nn import functional  # noqa: E402

from generated import _runtime  # noqa: E402
from generated.batch_norm.module import BatchNorm  # noqa: E402
from generated.ctc_loss import ctc_loss  # noqa: E402
from generated.dropout_residual import dropout_residual  # noqa: E402
from generated.soft_dtw import soft_dtw  # noqa: E402
from opgen.bench.machine import keep_memory  # noqa: E402
from opgen.bench.timing import Contender, Effort, interleaved, ratio  # noqa: E402

Call = Callable[[], object]
MOST = 20.0  # seconds of the rounds of a subject
RESULT = ROOT / "benchmarks" / "results" / "second_edition.json"


@dataclass(frozen=True)
class Pair:
    """One call of each side, forward and backward."""

    ours: Call
    theirs: Call


@dataclass(frozen=True)
class Subject:
    """What is measured against what, and the greatest ratio that is wanted of it."""

    size: str
    against: str
    most: float
    pair: Callable[[], Pair]


@dataclass(frozen=True)
class Row:
    """Ours / theirs with its quartiles over rounds; times are medians of one call, forward and backward."""

    subject: str
    size: str
    against: str
    most: float
    ratio: float
    low: float
    high: float
    ours_ms: float
    theirs_ms: float


def both_ways(function: Callable[[], Tensor], *leaves: Tensor) -> Call:
    """A call that computes an output and the gradients of the leaves."""
    grad = torch.randn_like(function())
    return lambda: torch.autograd.grad(function(), leaves, grad)


def leaf(*shape: int) -> Tensor:
    return torch.randn(*shape).requires_grad_()


def alignments() -> Pair:
    """All rows have all their steps and labels."""
    steps, rows, classes, labels = 200, 32, 64, 40
    log_probs = torch.randn(steps, rows, classes).log_softmax(-1).requires_grad_()
    targets = torch.randint(1, classes, (rows, labels))
    lengths = torch.full((rows,), steps), torch.full((rows,), labels)
    return Pair(
        both_ways(lambda: ctc_loss(log_probs, targets, *lengths), log_probs),
        both_ways(lambda: functional.ctc_loss(log_probs, targets, *lengths), log_probs),
    )


def dropped() -> Pair:
    x, residual = leaf(32, 128, 1024), leaf(32, 128, 1024)
    return Pair(
        both_ways(lambda: dropout_residual(x, residual, p=0.1, training=True), x, residual),
        both_ways(lambda: functional.dropout(x, 0.1, training=True) + residual, x, residual),
    )


def standardised() -> Pair:
    """The modules in training, which update their buffers."""
    x = leaf(32, 64, 56, 56)
    ours, theirs = BatchNorm(64).train(), torch.nn.BatchNorm2d(64).train()
    return Pair(
        both_ways(lambda: ours(x), x, *ours.parameters()), both_ways(lambda: theirs(x), x, *theirs.parameters())
    )


def warped() -> Pair:
    """Against the generated form in plain torch, which computes a diagonal at a time."""
    cost = torch.rand(16, 256, 256).requires_grad_()
    call = both_ways(lambda: soft_dtw(cost, gamma=1.0), cost)

    def plain() -> object:
        with _runtime.use_backend("torch"):
            return call()

    return Pair(call, plain)


SUBJECTS = {
    "ctc_loss": Subject("T=200, B=32, C=64, S=40", "torch.nn.functional.ctc_loss", 1.0, alignments),
    "dropout_residual": Subject("32 x 128 x 1024", "torch.nn.functional.dropout and a sum", 0.8, dropped),
    "batch_norm": Subject("32 x 64 x 56 x 56", "torch.nn.BatchNorm2d", 1.1, standardised),
    "soft_dtw": Subject("16 x 256 x 256", "its form in plain torch", 1 / 20, warped),
}


def row(name: str, number: int) -> Row:
    subject = SUBJECTS[name]
    torch.manual_seed(0)
    pair = subject.pair()
    before = _runtime.calls("native")
    pair.ours()
    if _runtime.calls("native") < before + 2:
        raise SystemExit(f"{name} runs no kernels, forward and backward: `opgen compile {name}` first")
    taken = interleaved(
        (Contender("ours", pair.ours), Contender("theirs", pair.theirs)), Effort(number, MOST, time.process_time)
    )
    q = ratio(taken["ours"], taken["theirs"])
    ours, theirs = (round(statistics.median(taken[side]) * 1e3, 3) for side in ("ours", "theirs"))
    found = (round(r, 4) for r in (subject.most, q.median, q.low, q.high))
    return Row(name, subject.size, subject.against, *found, ours, theirs)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the figures under benchmarks/results")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", choices=[[], *SUBJECTS], default=[])
    return parser.parse_args()


def main() -> None:
    given = arguments()
    keep_memory()
    torch.set_num_threads(1)
    found: dict[str, Row] = {}
    if RESULT.exists():
        kept = json.loads(RESULT.read_text(encoding="utf-8"))["rows"]
        found.update((r["subject"], Row(**r)) for r in kept)
    print("| operator | size | against | wanted | ours / theirs | quartiles | ours, ms | theirs, ms |")
    print("|---|---|---|---|---|---|---|---|")
    for name in given.subjects or SUBJECTS:
        r = found[name] = row(name, given.rounds)
        times = f"{r.low:.3g} … {r.high:.3g} | {r.ours_ms:.2f} | {r.theirs_ms:.2f}"
        print(f"| {name} | {r.size} | {r.against} | {r.most:.3g} | {r.ratio:.3g} | {times} |", flush=True)
    if given.write:
        rows = [asdict(found[name]) for name in SUBJECTS if name in found]
        RESULT.write_text(json.dumps({"torch": torch.__version__, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
