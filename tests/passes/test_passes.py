"""Every pass shown before and after: one page of examples per pass, which people read and this test keeps true.

A page is `<room>_<module>.md`; an example is a heading, a spec, and what the pass makes of it.
`OPGEN_UPDATE=1 pytest tests/passes` writes that anew; look at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.ir.program import Program
from opgen.kernel.lower import lower
from opgen.kernel.text import kernel
from opgen.plan import text as plan_text
from opgen.plan.build import build
from tests.lower.specs import program

PAGES = sorted(Path(__file__).parent.glob("*.md"))
EXAMPLE = re.compile(r"(?P<head>```yaml\n(?P<spec>.+?)```\n\n```text\n)(?P<after>.*?)```\n", re.DOTALL)


def _kernels(p: Program) -> str:
    plan = build(p)
    return "\n".join(kernel(lower(plan, step)) for step in plan.steps)


PASSES: dict[str, Callable[[Program], str]] = {
    "plan_build": lambda p: plan_text.plan(build(p)),
    "kernel_lower": _kernels,
}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_what_a_pass_makes(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    assert EXAMPLE.search(written), "a page has examples"
    assert written.count("```yaml") == len(EXAMPLE.findall(written))

    def after(m: re.Match[str]) -> str:
        return f"{m['head']}{PASSES[page.stem](program(m['spec']))}```\n"

    made = EXAMPLE.sub(after, written)
    if os.environ.get("OPGEN_UPDATE"):
        page.write_text(made, encoding="utf-8")
    assert made == written


def test_every_pass_that_is_shown_has_a_page() -> None:
    assert [p.stem for p in PAGES] == sorted(PASSES)
