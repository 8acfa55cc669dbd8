"""Every pass shown before and after: one page of examples per pass, which people read and this test keeps true.

A page is `<room>_<module>.md`. An example is a heading, a spec, a function of the module with the parameters that are
shown (and the program that it is run on, where several would do), and what goes in and comes out of it. What no spec
leads to is written down as the exact text of a program or kernel, in place of the spec.
`OPGEN_UPDATE=1 pytest tests/passes` writes both anew; look at the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.passes.recorded import Asked, called, recorded

PAGES = sorted(Path(__file__).parent.glob("*.md"))
CALL = r"`(?P<function>\w+)\((?P<parameters>[\w, =]+)\)`"
BLOCKS = r"before and after:\n\n```text\n(?P<before>.*?)```\n\n```text\n(?P<after>.*?)```\n"
ON_A_SPEC = re.compile(rf"```yaml\n(?P<spec>.+?)```\n\n{CALL}(?: in `(?P<program>\w+)`)?, {BLOCKS}", re.DOTALL)
ON_A_TEXT = re.compile(rf"{CALL} of what is written here, {BLOCKS}", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_what_a_pass_makes(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    examples = len(ON_A_SPEC.findall(written)) + len(ON_A_TEXT.findall(written))
    assert examples == written.count("\n## ") == written.count("before and after") > 0
    room, name = page.stem.split("_", 1)
    assert f"`opgen/{room}/{name}.py`" in written.split("\n")[0]
    module = f"opgen.{room}.{name}"

    def on_a_spec(m: re.Match[str]) -> str:
        parameters = tuple(m["parameters"].split(", "))
        return _with(m, *recorded(Asked(module, m["function"], parameters, m["program"]), m["spec"]))

    def on_a_text(m: re.Match[str]) -> str:
        _, *more = m["parameters"].split(", ")
        stated = dict(each.split("=") for each in more)
        return _with(m, m["before"].rstrip("\n"), called(module, m["function"], m["before"], stated))

    found = ON_A_TEXT.sub(on_a_text, ON_A_SPEC.sub(on_a_spec, written))
    if os.environ.get("OPGEN_UPDATE"):
        page.write_text(found, encoding="utf-8")
    assert found == written


def _with(m: re.Match[str], before: str, after: str) -> str:
    head, _, _ = m[0].partition("```text\n")
    return f"{head}```text\n{before}\n```\n\n```text\n{after}\n```\n"
