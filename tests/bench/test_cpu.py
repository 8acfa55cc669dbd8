"""What is measured on one kind of machine never takes the place of what was measured on another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks import cpu


def test_some_operators_alone_do_not_replace_the_rows_of_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "cpu.json"
    kept.write_text(text := json.dumps({**cpu.about(), "vectors": "others", "rows": []}))
    monkeypatch.setattr(cpu, "RESULT", kept)
    monkeypatch.setattr("sys.argv", ["cpu.py", "--write", "silu"])
    monkeypatch.setattr(cpu, "measured", lambda *_, **__: pytest.fail("measured"))
    with pytest.raises(SystemExit, match="another machine"):
        cpu.main()
    assert kept.read_text() == text


def test_those_of_this_machine_stay_beside_new_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = json.loads(cpu.RESULT.read_text())["rows"][:3]
    kept = tmp_path / "cpu.json"
    kept.write_text(json.dumps({**cpu.about(), "rows": rows}))
    monkeypatch.setattr(cpu, "RESULT", kept)
    found, here = cpu.known()
    assert (len(found), here) == (3, True)
