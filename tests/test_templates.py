"""Templates lay prepared text out; a template that computes is refused here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

ROOT = Path(__file__).resolve().parent.parent / "templates"
FILES = sorted(ROOT.rglob("*.j2"))
FILTERS = {"indent", "join"}
# What a template may be made of; the lists below say more about some of these.
PLAIN = (nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.For, nodes.If, nodes.Include, nodes.Const)


def every_node(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from every_node(child)


def complaint(node: nodes.Node) -> str | None:
    match node:
        case nodes.Filter():
            return None if node.name in FILTERS else f"filter {node.name}"
        case nodes.Getattr():
            return None if isinstance(node.node, nodes.Name) else "attributes of attributes"
        case nodes.Keyword():
            return None  # of a filter, the only thing that is called
        case nodes.Not():
            return None if isinstance(node.node, nodes.Name | nodes.Getattr) else "logic"
        case nodes.If():
            return None if isinstance(node.test, nodes.Name | nodes.Getattr | nodes.Not) else "a computed condition"
        case nodes.For():
            simple = isinstance(node.iter, nodes.Name | nodes.Getattr) and node.test is None and not node.recursive
            return None if simple else "a computed loop"
        case _:
            return None if isinstance(node, PLAIN) else type(node).__name__


def complaints(text: str) -> list[str]:
    environment = Environment(extensions=["jinja2.ext.loopcontrols"], autoescape=False)
    return [f"line {n.lineno}: {c}" for n in every_node(environment.parse(text)) if (c := complaint(n))]


@pytest.mark.parametrize("path", FILES, ids=[p.relative_to(ROOT).as_posix() for p in FILES])
def test_template_only_lays_out(path: Path) -> None:
    assert not complaints(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=[p.relative_to(ROOT).as_posix() for p in FILES])
def test_template_is_short(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= 400


@pytest.mark.parametrize(
    "text",
    [
        "{{ a + 1 }}",
        "{{ f(x) }}",
        "{{ a.b.c }}",
        "{{ a | upper }}",
        "{{ a[0] }}",
        "{% set x = 1 %}",
        "{% if a == b %}x{% endif %}",
        "{% for x in f(a) %}{% endfor %}",
        "{% macro m() %}{% endmacro %}",
    ],
)
def test_computing_templates_are_refused(text: str) -> None:
    assert complaints(text)


def test_layout_is_allowed() -> None:
    text = "{% for x in a.b %}{% if x.last %}{{ x.c | indent(4) }}{% else %}{{ y }}{% endif %}{% endfor %}"
    assert not complaints(text)
