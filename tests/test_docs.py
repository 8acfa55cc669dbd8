"""The language page names all that the tables hold, and README shows what is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opgen.ir.reductions import REDUCTIONS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
LANGUAGE = (ROOT / "docs/language.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_every_reduction_is_documented(name: str) -> None:
    assert re.search(rf"`{name}\b", LANGUAGE)


def test_every_field_is_documented() -> None:
    from opgen.schema.load import known_fields
    from opgen.schema.model import OpSpec

    for field in known_fields(OpSpec):
        assert f"`{field}`" in LANGUAGE, field


def test_the_mistake_in_the_readme_is_shown_as_it_is() -> None:
    from opgen.diagnostics.model import Bag, Source
    from opgen.diagnostics.text import render_all
    from opgen.lower.operator import lower
    from opgen.schema.load import load

    text = (ROOT / "specs/linear.yaml").read_text(encoding="utf-8")
    statement = "sum[k](input[..., k] * weight[m, k]) + bias[n]"
    source = Source("specs/linear.yaml", re.sub(r"sum\[k\].*", statement, text, count=1))
    bag = Bag()
    spec = load(source, bag)
    assert spec is not None
    lower(spec, bag)
    assert f"```text\n{render_all(bag.items)}```\n" in README


def test_the_spec_in_the_readme_means_the_shipped_one() -> None:
    from opgen.diagnostics.model import Bag, Source
    from opgen.lower.operator import lower
    from opgen.schema.load import load

    text = re.search(r"```yaml\n(op: linear\n.*?)```", README, re.DOTALL)
    assert text is not None
    shipped = (ROOT / "specs/linear.yaml").read_text(encoding="utf-8")
    made = []
    for source in (text.group(1), shipped):
        bag = Bag()
        spec = load(Source("linear.yaml", source), bag)
        operator = lower(spec, bag) if spec is not None else None
        assert operator is not None, bag.items
        made.append(operator)
    shown, real = made
    assert (shown.name, shown.params, shown.optional) == (real.name, real.params, real.optional)
    assert [t.shape for t in shown.inputs] == [t.shape for t in real.inputs]


def test_decisions_are_short_and_listed() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text(encoding="utf-8")
    for record in sorted((ROOT / "docs/decisions").glob("0*.md")):
        assert record.name in index
        assert record.read_text(encoding="utf-8").count("\n") <= 40
