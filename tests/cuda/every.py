"""Instructions of every operator of the catalogue, counted from the machine code, beside what a device can issue.

`python -m tests.cuda.every [OP…]` prints for a call of each, of about a million elements and forward and backward, what
its kernels issue over what a device issues while it moves the bytes that the call cannot do without (`ISSUED` of each);
with `--write` it becomes the committed table (`every.txt`). What is left to libraries of torch is not counted. What is
above `MOST` has its reason in `REASONS`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from opgen.bench.measure import least_bytes, plans_of
from opgen.bench.subject import subject
from opgen.ir.interp import Array
from opgen.package.sample_numbers import default_value
from opgen.package.samples import SampleCase
from tests.cuda.budgets import ISSUED, Call, work
from tests.spec_files import SPECS
from tests.spec_programs import shape_of

TABLE = Path(__file__).with_name("every.txt")
GENERATED = Path(__file__).resolve().parents[2] / "generated"
ELEMENTS = 1 << 20
UNKNOWN = "nobody knows why"
MOST = 3  # times what memory allows
_VECTOR = 8  # elements of 16 bits
_PAIRS = "computes for every pair of rows, of which memory moves each once"
_DRAWS = "draws by Philox, ten rounds for each element"
_SMALL = "reads elements of small vectors and matrices one by one"
_BESIDE = "goes along rows that lie side by side, which are too few for a thread to have each"
_SHORT = "has short rows, of which a thread holds a vector or two: that they are found and joined weighs more"
_TAPS = "has loops over windows, whose size only params tell"
_PLACES = "finds a place of another tensor for each element, by divisions"
_STEPS = "goes on from step to step, with what each of them keeps"
_SHARED = "adds to or takes the extremes of shared places, one element at a time"
REASONS = {
    "attention": _PAIRS,
    "avg_pool2d": _TAPS,
    "bilinear": "sums products of both vectors for each result, without the matrix units",
    "bilinear_splat": _SHARED,
    "bspline_kan": "evaluates a spline for every pair of channels",
    "col2im": _PLACES,
    "cross_entropy": _BESIDE,
    "ctc_loss": _STEPS,
    "dropout_residual": _DRAWS,
    "ema_codebook": _PAIRS,
    "embedding_bag": "reads a row of the table for each of a bag, of which memory moves each once",
    "focal_loss": "computes two powers and two logarithms of each element",
    "gated_delta_step": "sums over a matrix for each row of it",
    "gaussian_kernel_sum": _PAIRS,
    "group_norm": "has groups of few vectors, which are read three times and more",
    "gumbel_softmax": _DRAWS,
    "info_nce": _PAIRS,
    "js_divergence": "computes three logarithms of each pair of elements",
    "layer_norm": _SHORT,
    "lennard_jones": _PAIRS,
    "linear_attention": "sums products for each pair of channels, without the matrix units",
    "logsumexp": _SHORT,
    "max_pool2d": _TAPS,
    "max_with_index": _SHORT,
    "median_filter": "sorts each window",
    "modrelu": "takes complex numbers apart, which lie side by side in memory",
    "pixel_shuffle": _PLACES,
    "quantile_pool": "sorts each window",
    "quaternion_rotate": _SMALL,
    "ray_sphere": _SMALL,
    "rope": _SHORT,
    "se3_exp_act": _SMALL,
    "segment_max": _SHARED,
    "segment_softmax": _SHARED,
    "selective_scan": _STEPS,
    "sinkhorn_softmin": _PAIRS,
    "snake_activation": "computes sines and cosines, which are brought into range first",
    "so3_exp_act": _SMALL,
    "soft_dtw": _STEPS,
    "stochastic_round": _DRAWS,
    "unfold": _PLACES,
}
HEAD = f"{'operator':24} {'direction':9} {'elements':>9} {'times':>7}  of each launch"


def rows(path: Path, dtype: str = "bfloat16") -> Iterator[str]:
    """The lines of an operator."""
    s = subject(path, GENERATED)
    growth = s.growth()
    if growth is None:
        yield f"{s.name:24} no sample of a call is found"
        return
    case = _even(growth.at(ELEMENTS))
    plans, elements = plans_of(s), s.elements(case) or 0
    batch = next((n for _, i in case.inputs if i for n in i.shape if isinstance(n, tuple)), ())
    params = {a.name: dict(case.params).get(a.name, default_value(a)) for a in s.derived.variant.program.params}
    for direction, plan in plans.items():
        program = getattr(s.derived, direction)
        sizes = dict(case.sizes) | {name: n for name, n in params.items() if isinstance(n, int)}
        arrays = {t.name: Array(tuple(shape_of(t.shape, sizes, batch)), []) for t in program.inputs}
        moved = least_bytes(s, case, plans, direction, dtype)
        with TemporaryDirectory() as folder:
            try:
                made = work(Call(s.name, dtype, f"{s.name}_{direction}", plan, arrays, params), Path(folder))
            except AssertionError as e:
                yield f"{s.name:24} {direction:9} {elements:9}  {str(e).splitlines()[0]}"
                continue
        if not made.issued:
            yield f"{s.name:24} {direction:9} {elements:9}  left to libraries"
            continue
        most = ISSUED * (moved or 0)
        each = [n / most for n in made.issued] if most else []
        parts = " + ".join(f"{x:.2f}" for x in each)
        why = f"  # {REASONS.get(s.name, UNKNOWN)}" if sum(each) > MOST else ""
        yield f"{s.name:24} {direction:9} {elements:9} {sum(each):7.2f}  {parts}{why}"


def _even(case: SampleCase) -> SampleCase:
    """The same with batches of whole vectors."""

    def shape(whole: Sequence[int | tuple[int, ...]]) -> tuple[int | tuple[int, ...], ...]:
        return tuple(tuple(-(-m // _VECTOR) * _VECTOR for m in n) if isinstance(n, tuple) else n for n in whole)

    return replace(case, inputs=tuple((name, i and replace(i, shape=shape(i.shape))) for name, i in case.inputs))


def table(paths: Sequence[Path]) -> Iterator[str]:
    yield HEAD
    for path in paths:
        yield from rows(path)


if __name__ == "__main__":
    words = [a for a in sys.argv[1:] if a != "--write"]
    found = []
    for line in table([p for p in SPECS if not words or p.stem in words]):
        print(line, flush=True)
        found.append(line)
    if "--write" in sys.argv:
        TABLE.write_text("\n".join(found) + "\n")
