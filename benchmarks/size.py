"""How large the house is, and what it prints: `python -m benchmarks.size`, one figure a line.

Lines of the generator; lines of the CUDA files of all specs, those in them that only the host reads, and their kernels;
formulas of the generator that look at printed text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOST = re.compile(r"\s*(static constexpr |rt::fields\(|rt::kernel<|extern \"C\"|rt::tensor\()")
LOOKS = re.compile(r"\bre\.(sub|match|search|fullmatch|findall|split|compile)\b|\bmentions\(|\bneeded\(")


def lines(files: Iterable[Path]) -> list[str]:
    return [line for f in files for line in f.read_text(encoding="utf-8").splitlines()]


def figures() -> dict[str, int]:
    """Each figure by what it counts."""
    cuda = lines(sorted(ROOT.glob("generated/*/csrc/*.cu")))
    printers = [
        f for room in ("code", "kernel", "torch", "package") for f in sorted((ROOT / "opgen" / room).glob("*.py"))
    ]
    return {
        "lines of opgen/": len(lines(sorted((ROOT / "opgen").rglob("*.py")))),
        "lines of the specs' .cu files": len(cuda),
        "of these, read by the host alone": sum(HOST.match(line) is not None for line in cuda),
        "structs of CUDA kernels": sum(line.startswith("struct Step_") for line in cuda),
        "lines of the specs' CPU kernels": len(lines(sorted(ROOT.glob("generated/*/csrc/*_kernels.cpp")))),
        "lines of printers that look at printed text": sum(LOOKS.search(line) is not None for line in lines(printers)),
    }


if __name__ == "__main__":
    for title, figure in figures().items():
        print(f"{figure:8,}  {title}")
