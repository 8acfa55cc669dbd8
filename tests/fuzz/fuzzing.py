"""Feed mutated specs to the pipeline and count what comes of them: success, diagnostics, or what must not be.

A program of its own, so that its memory can be limited. The counts and the texts that failed go to stdout as JSON.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from types import FrameType

from opgen import build
from opgen.diagnostics.model import Diagnostic
from opgen.diagnostics.text import render
from tests.fuzz.mutations import mutated

SECONDS = 5.0  # of CPU time for one spec
MEMORY = 2**30
WITHOUT_PLACE = {"OPG501", "OPG502"}  # no text, no place in it
SPECS = tuple(p.read_text() for p in sorted((Path(__file__).parents[2] / "specs").glob("*.yaml")))


class SlowError(Exception):
    """A spec took too long."""


def alarm(_: int, frame: FrameType | None) -> None:
    raise SlowError("".join(traceback.format_stack(frame, limit=6)))


def outcome(data: bytes, folder: Path) -> str:
    """What becomes of a spec: `built`, the code of its first mistake, or an exception."""
    path, out = folder / "spec.yaml", folder / "out"
    path.write_bytes(data)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        result = build(path, out)
        for d in result.diagnostics:
            _check(d, data)
        outside = [p for p in folder.iterdir() if p not in (path, out)]
        assert not outside, outside
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    assert result.failed == bool(result.diagnostics and not result.ops), result.diagnostics
    return result.diagnostics[0].code if result.failed else "built"


def _check(d: Diagnostic, data: bytes) -> None:
    assert "Traceback" not in d.message, d
    assert f"[{d.code}]" in render(d)
    if d.span is None:
        assert d.code in WITHOUT_PLACE, d
        return
    length = len(d.span.source.text)
    for span in (d.span, *(label.span for label in d.related)):
        assert 0 <= span.start <= span.end <= length, d
        assert length <= len(data)


def texts(seed: int, count: int) -> Iterator[bytes]:
    r = Random(seed)
    for _ in range(count):
        yield mutated(r, SPECS)


def main(arguments: Sequence[str]) -> dict[str, object]:
    seed, count = map(int, arguments)
    signal.signal(signal.SIGPROF, alarm)
    resource.setrlimit(resource.RLIMIT_AS, (2 * MEMORY, 2 * MEMORY))
    found: Counter[str] = Counter()
    failures: list[dict[str, str]] = []
    slowest = 0.0
    for data in texts(seed, count):
        with tempfile.TemporaryDirectory() as folder:
            started = time.process_time()
            try:
                found[outcome(data, Path(folder))] += 1
            except Exception as e:
                found[type(e).__name__] += 1
                trace = "".join(traceback.format_exception(e)[-6:])
                failures.append({"spec": data.decode("utf-8", "backslashreplace"), "what": trace})
            slowest = max(slowest, time.process_time() - started)
    return {"counts": dict(found), "failures": failures, "peak": peak(), "slowest": slowest}


def peak() -> int:
    """Bytes of memory that this program has used at most; `getrusage` would count those of the process it came from."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [x for x in status.read_text().splitlines() if x.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
