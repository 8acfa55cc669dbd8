"""Reading YAML: values are what they look like, places are exact, and nothing crashes."""

from __future__ import annotations

import random

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from opgen.diagnostics.model import Bag, Source
from opgen.diagnostics.text import render_all
from opgen.schema import yaml_nodes
from opgen.schema.load import load
from opgen.schema.nodes import Mapping, Node, Scalar, Sequence, typed, walk
from opgen.schema.offsets import formula_of
from opgen.schema.yaml_nodes import parse

from .test_load import FULL


@pytest.fixture(params=["libyaml", "python"])
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setattr(yaml_nodes, "_LOADER", yaml.SafeLoader)


def scalars(text: str) -> list[Scalar]:
    bag = Bag()
    root = parse(Source("a.yaml", text), bag)
    assert root is not None
    assert not bag.items, render_all(bag.items)
    return [node for node in walk(root) if isinstance(node, Scalar)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("Yes", "Yes"), ("n", "n"), ("true", True), ("False", False), ("null", None),
        ("~", None), ("", None), ("none", "none"), ("010", 10), ("0x10", 16), ("0o10", 8), ("-3", -3),
            ("1_000", "1_000"),
        ("1e-5", 1e-5), ("1.", 1.0), (".5", 0.5), ("-.inf", float("-inf")), ("-inf", "-inf"), ("12:30:45", "12:30:45"),
        ("...", "..."), ("2026-01-01", "2026-01-01"), ("1e999", float("inf")), ("=", "="), ("9" * 5000, "9" * 5000),
    ],
)  # fmt: skip
def test_typing_is_as_it_looks(text: str, value: object) -> None:
    found = typed(text)
    assert found == value
    assert type(found) is type(value)


def test_quoted_text_is_text() -> None:
    assert [node.value for node in scalars("['1', \"true\", 1]")] == ["1", "true", 1]


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("a: x + é*漢", "x + é*漢"),
        ("a: 'it''s'", "it's"),
        ('a: "x \\u00e9 \\\\ \\t\\x41"', "x é \\ \tA"),
        ("a: |\n  y = x\n\n    z = y\n", "y = x\n\n  z = y"),
        ("a: |2-\n    y = x\n", "  y = x"),
        ("a: |+\n  y = x\n\n", "y = x"),
        ("a:\n  y = x\n  z = y\n", "y = x\nz = y"),
        ("a: 'y = x\n\n   z = y'", "y = x\nz = y"),
        ("a: &b   y = x   # comment", "y = x"),
        ("\ufeffa: y", "y"),
        ("a: .inf", "inf"),
        ("a: 0x10", "16"),
        ("a: TRUE", "true"),
    ],
)
def test_formulas_point_into_the_file(text: str, formula: str) -> None:
    found = formula_of(scalars(text)[0])
    assert found.text == formula
    plain = [(c, text[at]) for c, at in zip(found.text, found.offsets, strict=False) if text[at] != "\\"]
    if found.text[0] in "xyi":
        assert all(c == there for c, there in plain)
    assert found.offsets == tuple(sorted(found.offsets))
    assert found.offsets[-1] <= len(text)


def test_a_span_within_an_escaped_formula() -> None:
    text = 'a: "x \\u00e9 + \\"y\\" z"'
    found = formula_of(scalars(text)[0])
    start = found.text.index('"y"')
    assert found.span(start, start + 3).text == '\\"y\\"'
    assert found.whole.text == text[4:-1]


def test_anchors_are_bounded() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    bag = Bag()
    assert parse(Source("a.yaml", text), bag) is None
    assert [d.code for d in bag.items] == ["OPG108"]


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("text", ["[" * 5000, "a: " * 5000, "- " * 5000, "{a: " * 5000, "x" * 2_000_000])
def test_large_and_deep_documents_are_refused(text: str) -> None:
    bag = Bag()
    assert load(Source("a.yaml", text), bag) is None
    assert bag.has_errors
    assert len(render_all(bag.items)) < 3000


JUNK = [*"[]{}()|>&*!%@`'\"#:,- \t\n\\", "\r\n", "\r", "\x85", "\u2028", "é", "漢", "\x00", "\ud800", "1e999", "...",
        "? ", "<<: *a", "&a ", "!!int ", "---\n", "...\n", "%YAML 1.1\n", "null"]  # fmt: skip


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(4):
            case 0:
                text = text[:at] + rng.choice(JUNK) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 8) :]
            case 2:
                text = text[:at] + text[at : at + rng.randint(1, 20)] * 2 + text[at:]
            case _:
                lines = text.split("\n")
                a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[a], lines[b] = lines[b], lines[a]
                text = "\n".join(lines)
    return text


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("seed", range(4))
def test_damaged_specs_give_diagnostics_only(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        check(mutated(FULL, rng))


@example("&0:0")
@given(st.text(alphabet="ab:{}[],'\"|>&*!#- \n\t\\0.", max_size=80))
def test_any_text_gives_diagnostics_only(text: str) -> None:
    check(text)


def check(text: str) -> None:
    source, bag = Source("a.yaml", text), Bag()
    spec = load(source, bag)
    assert spec is not None or bag.has_errors
    render_all(bag.items)
    root = parse(source, Bag())
    for node in walk(root) if root is not None else ():
        placed(node)


def placed(node: Node) -> None:
    match node:
        case Scalar() if node.style != ">":
            formula = formula_of(node)
            one_line = "\n" not in node.span.text
            if one_line and (node.style or isinstance(node.value, str)):
                assert formula.text == node.text
        case Scalar() | Sequence() | Mapping():
            assert node.span.start <= node.span.end
