"""The last of several cases, written with a word of Python, has the guard that its message says."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, whole

MODES = "inputs: [x]\nparams: {mode: {choices: [soft, hard, off]}, deep: {type: bool}, wide: {type: bool}}"


@pytest.mark.parametrize(
    ("above", "written", "meant"),
    [
        (["y = x if deep"], "y = 2*x else", "y = 2 * x if not deep"),
        (["y = x if not deep"], "y = 2*x else:", "y = 2 * x if deep"),
        (["y = x if not deep"], "y = 2*x otherwise", "y = 2 * x if deep"),
        (['y = x if mode == "soft"'], "y = 2*x else", 'y = 2 * x if mode != "soft"'),
        (['y = x if mode == "soft"', 'y = -x if mode == "off"'], "y = 2*x else", 'y = 2 * x if mode == "hard"'),
        (['y = x if mode == "soft"', 'y = 3*x if mode == "off"'], 'y = 2*x elif mode == "hard"', "if mode"),
        (["y = x if deep and wide"], "y = 2*x else", "y = 2 * x if not (deep and wide)"),
        (
            ["y = x if deep", "y = -x if wide and not deep"],
            "y = 2*x else",
            "y = 2 * x if not deep and not (wide and not deep)",
        ),
        (["y = x if deep", "y = -x if not deep and not wide"], "y = 2*x elif wide", "y = 2 * x if not deep and"),
    ],
)
def test_a_case_behind_others_is_guarded_against_them(above: list[str], written: str, meant: str) -> None:
    text = whole(MODES, *above, written)
    hint = next(h for d in diagnosed(text) for h in d.hints if h.startswith("write `"))
    assert meant in hint
    if " elif wide" not in written:
        assert list(follow(text, {written: hint.removeprefix("write `").removesuffix("`")}).outputs) == ["y"]


def test_a_chain_of_cases_is_said_line_by_line() -> None:
    lines = ["y = x if deep", "y = 2*x elif wide", "y = 3*x else"]
    hints = [h for d in diagnosed(whole(MODES, *lines)) for h in d.hints if h.startswith("write `")]
    written = [h.removeprefix("write `").removesuffix("`") for h in hints]
    assert written == ["y = 2 * x if not deep and wide", "y = 3 * x if not deep and not wide"]
    built(whole(MODES, lines[0], *written), warned=True)


@pytest.mark.parametrize("above", [(), ("y = x",), ("y = x if (deep",)])
def test_what_is_not_known_is_not_proposed(above: tuple[str, ...]) -> None:
    said = [h for d in diagnosed(whole(MODES, *above, "y = 2*x else")) for h in d.hints]
    assert not [h for h in said if h.startswith("write `y = 2")]
    assert any(h.startswith("the last case has a guard") for h in said)
