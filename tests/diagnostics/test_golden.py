"""Every Markdown file under `golden/` holds a spec and what is reported about it.

`OPGEN_UPDATE=1 pytest tests/diagnostics` writes the reports anew; look at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from opgen.diagnostics.codes import CATALOGUE
from opgen.diagnostics.model import Bag, Diagnostic, Source
from opgen.diagnostics.text import render_all
from opgen.diff.flat import flat, untrained
from opgen.lower.operator import lower
from opgen.lower.unused import unused
from opgen.schema.load import load
from opgen.verify.callables import not_found

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(path for path in GOLDEN.glob("*.md") if path.stem != "runs")  # those are in test_golden_runs.py
PARTS = re.compile(r"(?P<head>.*?)```yaml\n(?P<spec>.*?)```\n\n```text\n(?P<report>.*?)```\n", re.DOTALL)


def report(text: str) -> str:
    bag = Bag()
    spec = load(Source("spec.yaml", text), bag)
    operator = lower(spec, bag) if spec is not None else None
    warnings: tuple[Diagnostic, ...] = ()
    if spec is not None and operator is not None and not bag.has_errors:
        more = (*unused(spec), *untrained(operator, spec.parameter_places), *flat(operator, spec.described_outputs))
        warnings = (*more, *not_found(operator))
    return render_all((*bag.items, *warnings))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_report_is_as_recorded(path: Path) -> None:
    content = path.read_text(encoding="utf-8")
    cases = list(PARTS.finditer(content))
    assert cases, "a golden file holds a yaml block and a text block"
    fresh = "".join(f"{c['head']}```yaml\n{c['spec']}```\n\n```text\n{report(c['spec'])}```\n" for c in cases)
    if os.environ.get("OPGEN_UPDATE"):
        path.write_text(fresh, encoding="utf-8")
    assert fresh == content


def test_every_code_is_recorded() -> None:
    recorded = "".join(path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.md"))
    assert [code for code in CATALOGUE if f"[{code}]" not in recorded] == []
