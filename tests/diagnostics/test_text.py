"""The renderer: carets under what is meant, whatever the line looks like."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.diagnostics.model import Diagnostic, Label, Severity, Source, Span
from opgen.diagnostics.suggest import closest, did_you_mean, listed
from opgen.diagnostics.text import render, render_all, summary

SOURCE = Source("dir/a.yaml", "one two three\nfour five\n  six\nseven\n\n\n\n\n\n\tx 漢字 y\n")


def at(text: str, source: Source = SOURCE) -> Span:
    start = source.text.index(text)
    return Span(source, start, start + len(text))


def test_labels_on_one_line_hang_below_their_marks() -> None:
    related = (Label(at("one"), "first"), Label(at("three"), "last"))
    found = render(Diagnostic("OPG213", "clash", at("two"), "here", related, ("a fact",), ("do this",)))
    assert found == (
        "error[OPG213]: clash\n"
        " --> dir/a.yaml:1:5\n"
        "  |\n"
        "1 | one two three\n"
        "  | --- ^^^ ----- last\n"
        "  | |   |\n"
        "  | |   here\n"
        "  | first\n"
        "  |\n"
        "  = note: a fact\n"
        "  = help: do this\n"
        "  = help: opgen explain OPG213\n"
    )


def test_far_lines_are_elided_and_numbers_line_up() -> None:
    found = render(Diagnostic("OPG204", "unbound", at("y"), "here", (Label(at("two"), "there"),)))
    assert found == (
        "error[OPG204]: unbound\n"
        "  --> dir/a.yaml:10:7\n"
        "   |\n"
        " 1 | one two three\n"
        "   |     --- there\n"
        "...\n"
        "10 |     x 漢字 y\n"
        "   |            ^ here\n"
        "   |\n"
        "   = help: opgen explain OPG204\n"
    )


def test_a_span_over_lines_shows_both_ends() -> None:
    span = at("five").to(at("six"))
    found = render(Diagnostic("OPG101", "m", span, "all this"))
    assert found.split("\n")[3:7] == ["2 | four five", "  |      ^^^^", "3 |   six", "  |   ^^^ all this"]


def test_labels_in_another_file_get_their_own_snippet() -> None:
    other = Source("b.yaml", "op: b\n")
    found = render(Diagnostic("OPG505", "two specs", at("one"), related=(Label(at("b", other), "also here"),)))
    assert " ::: b.yaml:1:5\n" in found
    assert "1 | op: b\n  |     - also here\n" in found


def test_without_a_place_only_the_words_are_shown() -> None:
    found = render(Diagnostic("OPG601", "no compiler", None, notes=("n\nm",), hints=("install one",)))
    notes = "  = note: n\n          m\n"
    assert found == f"error[OPG601]: no compiler\n{notes}  = help: install one\n  = help: opgen explain OPG601\n"


def test_the_end_of_the_file_can_be_pointed_at() -> None:
    end = len(SOURCE.text)
    assert "10 |     x 漢字 y\n   |             ^ here\n" in render(
        Diagnostic("OPG101", "m", Span(SOURCE, end, end), "here")
    )


def test_long_lines_are_shown_around_the_mark() -> None:
    source = Source("a.yaml", "x" * 500 + " here " + "y" * 500)
    shown, marks = render(Diagnostic("OPG101", "m", at("here", source))).split("\n")[3:5]
    assert len(shown) < 200
    assert shown[marks.index("^") :].startswith("here")


def test_control_characters_do_not_reach_the_terminal() -> None:
    source = Source("a.yaml", "a \x1b[31m b\x07")
    found = render(Diagnostic("OPG107", "bad \x1b[0m", at("b", source), "\x1b", notes=("\x9b",)))
    assert "\x1b" not in found
    assert "\x07" not in found
    assert "\x9b" not in found


def test_colour_changes_nothing_but_colour() -> None:
    diagnostic = Diagnostic("OPG101", "m", at("two"), "here", (Label(at("one"), "l"),), ("n",), ("h",))
    coloured = render(diagnostic, color=True)
    for code in ("0", "1", "1;31", "1;34", "1;36"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == render(diagnostic)


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(-5, 70), st.integers(-5, 70)), min_size=1, max_size=4))
def test_any_span_of_any_text_can_be_shown(text: str, ends: list[tuple[int, int]]) -> None:
    source = Source("a.yaml", text)
    spans = [Span(source, start, end) for start, end in ends]
    related = tuple(Label(span, f"l{i}") for i, span in enumerate(spans[1:]))
    found = render(Diagnostic("OPG101", "m", spans[0], "here", related))
    assert "^" in found
    assert "here" in found


def test_a_mistake_at_several_places_is_one_message() -> None:
    source = Source("spec.yaml", "a ^ b ^ c | d")
    first, second, other = (Diagnostic("OPG202", "no `^`", Span(source, k, k + 1), hints=("h",)) for k in (2, 6, 10))
    other = replace(other, message="no `|`")
    text = render_all((first, second, other))
    assert text.count("error[") == 2
    assert "|   ^   - this too" in text
    assert summary((first, second, other)) == "2 errors"
    assert render_all((first, replace(second, hints=("another",)))).count("error[") == 2


def test_a_mistake_at_very_many_places_shows_the_first_of_them() -> None:
    source = Source("spec.yaml", ";" * 100)
    text = render_all([Diagnostic("OPG201", "no `;`", Span(source, k, k + 1)) for k in range(100)])
    assert text.count("this too") == 20
    assert "= note: and at 79 more places" in text


def test_the_same_mistake_at_other_names_is_one_message_with_the_hint_of_each() -> None:
    source = Source("spec.yaml", "inputs: [Q, K]")
    first, second = (
        Diagnostic("OPG113", f"`{n}` is no name", Span(source, k, k + 1), "no", hints=(f"write `{n.lower()}`",))
        for n, k in (("Q", 9), ("K", 12))
    )
    text = render_all((first, second))
    assert text.count("error[") == 1
    assert "- this too: write `k`" in text
    unknown = [replace(d, code="OPG205") for d in (first, second)]  # in formulas they are two
    assert render_all(unknown).count("error[") == 2


def test_summary_counts() -> None:
    error = Diagnostic("OPG101", "m", None)
    warning = replace(error, severity=Severity.WARNING)
    assert summary(()) == ""
    assert render_all(()) == ""
    assert summary((error, warning, error)) == "2 errors, 1 warning"


@pytest.mark.parametrize(
    ("name", "meant"), [("optinal", "optional"), ("Shape", "shape"), ("zzz", None), ("shape", None)]
)
def test_closest(name: str, meant: str | None) -> None:
    assert closest(name, ("shape", "optional")) == meant
    assert did_you_mean(name, ("shape", "optional")) == ((f"did you mean `{meant}`?",) if meant else ())


def test_listed() -> None:
    assert [listed(names) for names in ((), ("a",), ("a", "b", "c"))] == ["", "`a`", "`a`, `b` or `c`"]
