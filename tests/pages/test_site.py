"""Pages hang together: navigation and index have all, links and anchors lead somewhere, references are whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
import yaml

from opgen.cli import group
from opgen.write.settings import _KEYS

from .blocks import ROOT

DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")), *sorted((ROOT / "benchmarks").rglob("*.md"))]
COMMANDS = group.list_commands(click.Context(group))
WITH_VARIABLES = [*(ROOT / "opgen").rglob("*.py"), *(ROOT / "templates" / "runtime").glob("*.j2")]


def entries(nav: object) -> Iterator[str]:
    """The files in the navigation of the site, in order."""
    match nav:
        case str():
            yield nav
        case list() | dict():
            for part in nav.values() if isinstance(nav, dict) else nav:
                yield from entries(part)


def test_the_navigation_has_every_page_once() -> None:
    listed = [*entries(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])]
    assert len(listed) == len(set(listed))
    ours = {name for name in listed if not name.startswith("project/")}
    assert ours == {p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md")}
    for name in set(listed) - ours:
        assert (ROOT / name.removeprefix("project/")).is_file()


def test_the_index_names_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert [p.name for p in DOCS.glob("*.md") if p.name != "README.md" and f"({p.name})" not in index] == []


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```$|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(page: Path) -> set[str]:
    """What links may name on a page, as GitHub and mkdocs make it of headings."""
    found = []
    for title in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        found.append(re.sub(r"[^\w\- ]", "", shown.lower()).strip().replace(" ", "-"))
    return {*found, *re.findall(r'<a (?:id|name)="([^"]+)"', page.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("page", PAGES, ids=[p.relative_to(ROOT).as_posix() for p in PAGES])
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`(?!\])", "", prose(page))
    for target, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
        there = page.parent / target if target else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there.resolve()), f"{target}#{anchor}"


def test_headings_of_a_page_are_told_apart() -> None:
    for page in PAGES:
        titles = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
        assert len(anchors(page)) >= len(titles), page.name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_every_option_of_a_command(name: str) -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    section = re.search(rf"^## opgen {name}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert section is not None
    command = group.get_command(click.Context(group), name)
    assert command is not None
    options = [o for p in command.params if isinstance(p, click.Option) for o in p.opts if o.startswith("--")]
    assert [o for o in options if f"`{o}" not in section[1]] == []


def test_the_reference_has_no_other_options() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## opgen (\w+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert [name for name, _ in sections] == sorted(COMMANDS, key=[n for n, _ in sections].index)
    for name, text in sections:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        known = {o for p in command.params for o in p.opts}
        assert set(re.findall(r"`(--[\w-]+)", text)) <= known, name


def test_the_reference_has_every_setting_and_variable() -> None:
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    assert [key for key in _KEYS if f"| `{key}` |" not in page] == []
    named = r'environ(?:\.get\(|\[)"(\w+)"|^(?:VARIABLE|ARCHITECTURES|CACHE_VARIABLE|_EPOCH) = "(\w+)"'
    found = [m for p in WITH_VARIABLES for m in re.findall(named, p.read_text(encoding="utf-8"), re.MULTILINE)]
    variables = {a or b for a, b in found}
    assert {"OPGEN_BACKEND", "OPGEN_CACHE_DIR", "OPGEN_ISA", "CXX"} <= variables
    assert [name for name in sorted(variables) if f"`{name}`" not in page] == []
