"""Every pass shown before and after: one page of examples per pass, which people read and this test keeps true.

A page is `<room>_<module>.md`. An example is a heading, a spec, a function of the module with the parameters that are
shown (and the program that it is run on, where several would do), and what goes in and comes out of it.
`OPGEN_UPDATE=1 pytest tests/passes` writes both anew; look at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.passes.recorded import Asked, recorded

PAGES = sorted(Path(__file__).parent.glob("*.md"))
EXAMPLE = re.compile(
    r"```yaml\n(?P<spec>.+?)```\n\n"
    r"`(?P<function>\w+)\((?P<parameters>[\w, ]+)\)`(?: in `(?P<program>\w+)`)?, before and after:\n\n"
    r"```text\n(?P<before>.*?)```\n\n```text\n(?P<after>.*?)```\n",
    re.DOTALL,
)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_what_a_pass_makes(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    assert EXAMPLE.search(written), "a page has examples"
    assert written.count("```yaml") == len(EXAMPLE.findall(written)) == written.count("\n## ")
    room, module = page.stem.split("_", 1)
    assert f"`opgen/{room}/{module}.py`" in written.split("\n")[0]

    def made(m: re.Match[str]) -> str:
        parameters = tuple(m["parameters"].split(", "))
        asked = Asked(f"opgen.{room}.{module}", m["function"], parameters, m["program"])
        before, after = recorded(asked, m["spec"])
        head, _, _ = m[0].partition("```text\n")
        return f"{head}```text\n{before}\n```\n\n```text\n{after}\n```\n"

    found = EXAMPLE.sub(made, written)
    if os.environ.get("OPGEN_UPDATE"):
        page.write_text(found, encoding="utf-8")
    assert found == written
