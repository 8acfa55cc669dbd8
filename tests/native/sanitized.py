"""Kernels of the programs that random ones came down to, run where a sanitizer watches memory or threads.

`python -m tests.native.sanitized WHAT FOLDER`, with the library of the sanitizer loaded ahead of all others and with
`PYTHONMALLOC=malloc`, so that arguments lie where the sanitizer knows their ends. What it finds ends the process.
WHAT is `memory` (and arithmetic), `threads`, or `race`: threads that do meet in one place, which has to be found.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

from tests.cuda import emulate
from tests.native.cpu import PARALLEL, Compiled
from tests.random_programs.calls import check
from tests.random_programs.compiled import Batch
from tests.random_programs.found import cases
from tests.random_programs.seeds import TOGETHER

FLAGS = {
    "memory": ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wno-error"),
    "threads": ("-O1", "-g", "-fsanitize=thread", "-Wno-error"),
}
THREADS = """
#include <cstdint>
#include <thread>
#include <vector>

using Body = void (*)(int64_t, int64_t, void*);

// The points of a kernel, a quarter of them in each of four threads.
extern "C" void in_threads(int64_t count, int64_t, Body body, void* data) {
  std::vector<std::thread> threads;
  for (int64_t k = 0; k < 4; ++k) threads.emplace_back(body, count * k / 4, count * (k + 1) / 4, data);
  for (std::thread& thread : threads) thread.join();
}

static int64_t met = 0;
extern "C" void race() {
  in_threads(4, 1, [](int64_t begin, int64_t, void*) { met += begin; }, nullptr);
}
"""


def threads(folder: Path) -> ctypes.CDLL:
    """The library of what runs a kernel in threads."""
    source, made = folder / "threads.cpp", folder / "threads.so"
    source.write_text(THREADS)
    line = [str(emulate.compiler()), "-std=c++20", "-fPIC", "-shared", "-pthread", *FLAGS["threads"]]
    subprocess.run([*line, str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def main(what: str, folder: Path) -> None:
    os.environ.pop("LD_PRELOAD", None)  # compilers that this starts are watched by nobody, and are fast
    if what == "race":
        threads(folder).race()
        return
    if what == "threads":
        Compiled.parallel = ctypes.cast(threads(folder).in_threads, PARALLEL)
    programs = [*map(check, cases().values())]
    for first in range(0, len(programs), TOGETHER):
        batch = Batch.of(programs[first : first + TOGETHER], ("forward", "backward"))
        batch.flags = FLAGS[what]
        batch.run(folder, emulated=False)
        print(f"{len(batch.calls)} calls of {min(first + TOGETHER, len(programs))} programs", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
