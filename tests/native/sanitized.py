"""Kernels of the programs that random ones came down to, run where a sanitizer watches memory and arithmetic.

`python -m tests.native.sanitized FOLDER`, with the library of the sanitizer loaded ahead of all others and with
`PYTHONMALLOC=malloc`, so that arguments lie where the sanitizer knows their ends. What it finds ends the process.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.random_programs.calls import check
from tests.random_programs.compiled import Batch
from tests.random_programs.found import cases
from tests.random_programs.seeds import TOGETHER

FLAGS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-error")


def main(folder: Path) -> None:
    programs = [*map(check, cases().values())]
    for first in range(0, len(programs), TOGETHER):
        batch = Batch.of(programs[first : first + TOGETHER], ("forward", "backward"))
        batch.flags = FLAGS
        batch.run(folder, emulated=False)
        print(f"{len(batch.calls)} calls of {first + TOGETHER} programs", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
