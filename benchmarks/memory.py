"""What operators save and take for a moment as their rows get more: generated, compiled, composed of torch functions.

    python benchmarks/memory.py [--write]

Prints a Markdown table of bytes; `--write` puts the numbers into `benchmarks/results/memory.json` as well. They are
counted, not timed, so that every machine gives the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.native.memory import SUBJECTS, Memory, Operation, Subject, measure  # noqa: E402

ROWS = (512, 1024, 2048, 4096)
FORMS = {"generated, plain torch": "torch", "generated, compiled": "native"}


def measured(subject: Subject, folder: Path) -> dict[str, dict[int, Memory]]:
    found, use_backend = subject.operation(folder)

    def over(operation: Operation) -> dict[int, Memory]:
        return {n: measure(operation, subject.arguments(n)) for n in ROWS}

    rows = {}
    for form, backend in FORMS.items():
        with use_backend(backend):
            rows[form] = over(found)
    return {**rows, "composed of torch functions": over(subject.composed)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the figures under benchmarks/results")
    return parser.parse_args()


def main() -> None:
    write = arguments().write
    with tempfile.TemporaryDirectory() as name:
        found = {title: measured(s, Path(name) / str(k)) for k, (title, s) in enumerate(SUBJECTS.items())}
    print("| operator | form | rows | saved | forward | backward |\n|---|---|---|---|---|---|")
    for title, forms in found.items():
        for form, by_rows in forms.items():
            for n, m in by_rows.items():
                print(f"| {title} | {form} | {n} | {m.saved:,} | {m.forward:,} | {m.backward:,} |")
    if write:
        rows = [
            {"operator": title, "form": form, "rows": n, **asdict(m)}
            for title, forms in found.items()
            for form, by_rows in forms.items()
            for n, m in by_rows.items()
        ]
        path = ROOT / "benchmarks" / "results" / "memory.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
