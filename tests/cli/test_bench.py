"""`opgen bench`: which rows there are and what is said; how long anything takes is no matter here."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from opgen.write.user_cache import CACHE_VARIABLE

Opgen = Callable[..., tuple[int, str, str]]
SPEC = """\
op: bench_{0}
reference: torch.square
inputs: {{input: {{shape: [..., D]}}}}
forward: output[..., d] = input[..., d]*input[..., d]
"""
SMALL = ("--sizes", "6,60", "--quick")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> Iterator[Path]:
    """An operator that is generated and not compiled."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "pyproject.toml").write_text('[tool.opgen]\nspecs = ["specs"]\nout = "ops_of_bench"\n')
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/square.yaml").write_text(SPEC.format("square"))
    assert opgen("build")[0] == 0
    before = [*sys.path]
    yield tmp_path
    sys.path[:] = before
    for loaded in [m for m in sys.modules if m.split(".")[0] == "ops_of_bench"]:
        del sys.modules[loaded]


def records(opgen: Opgen, *arguments: str) -> list[dict[str, Any]]:
    code, out, _ = opgen("bench", *arguments, "--format", "json")
    assert code == 0
    found = json.loads(out)
    assert found["torch"]
    rows: list[dict[str, Any]] = found["rows"]
    return rows


def test_every_size_dtype_and_direction_has_a_row(project: Path, opgen: Opgen) -> None:
    rows = records(opgen, "bench_square", *SMALL)
    told = {(r["dtype"], r["direction"], r["elements"]) for r in rows}
    directions = ("forward", "backward", "both")
    assert told == {(d, w, n) for d in ("float32", "bfloat16") for w in directions for n in (6, 60)}
    for r in rows:
        assert r["subject"] == "plain"
        assert set(r["us"]) == {"plain", "reference", "copy"}
        assert set(r["ratios"]) == {"reference"}
        assert r["shapes"]["input"][-1] * r["shapes"]["input"][0] == r["elements"]
        width = 4 if r["dtype"] == "float32" else 2
        assert r["bytes"] == width * r["elements"] * {"forward": 2, "backward": 3, "both": 5}[r["direction"]]
        low, middle, high = (r["ratios"]["reference"][k] for k in ("low", "median", "high"))
        assert 0 < low <= middle <= high


def test_a_person_gets_a_table_and_is_told_what_is_not_compiled(project: Path, opgen: Opgen) -> None:
    code, out, err = opgen("bench", "bench_square", "--sizes", "60", "--quick", "--dtype", "float32")
    assert code == 0
    head, *rows = out.splitlines()
    assert head.split()[:3] == ["operator", "dtype", "direction"]
    assert [line.split()[:4] for line in rows] == [
        ["bench_square", "float32", direction, "60"] for direction in ("forward", "backward", "both")
    ]
    assert "bench_square is not compiled, and measured in plain torch: opgen compile bench_square" in err


def test_an_operator_that_is_not_there_is_named(project: Path, opgen: Opgen) -> None:
    code, out, err = opgen("bench", "bench_squares")
    assert (code, out) == (2, "")
    assert "there is no operator 'bench_squares' in ops_of_bench; did you mean 'bench_square'?" in err
    code, _, err = opgen("test", "specs/bench_square.yaml")  # takes operators, not specs
    assert code == 2
    assert "there is no operator 'specs/bench_square.yaml' in ops_of_bench; did you mean 'bench_square'?" in err


def test_sizes_are_numbers_of_elements(project: Path, opgen: Opgen) -> None:
    code, _, err = opgen("bench", "bench_square", "--sizes", "1k,many")
    assert code == 2
    assert "'many' is no number of elements, such as 32, 100k or 10M" in err


def test_an_operator_of_another_spec_is_not_measured(project: Path, opgen: Opgen) -> None:
    with (project / "specs/square.yaml").open("a") as f:
        f.write("exact: true\n")
    code, _, err = opgen("bench", "bench_square")
    assert code == 2
    assert "its spec was changed" in err


def test_mistakes_in_a_spec_are_diagnostics(project: Path, opgen: Opgen) -> None:
    (project / "specs/wrong.yaml").write_text("op: wrong\ninputs: [x]\nforward: y = z\n")
    code, _, err = opgen("bench", "specs/wrong.yaml", *SMALL)
    assert code == 1
    assert "specs/wrong.yaml:3" in err


@pytest.mark.thorough
def test_a_spec_by_its_path_is_compiled_and_its_kernels_are_measured(project: Path, opgen: Opgen) -> None:
    from tests.compilers import available

    if not available():
        pytest.skip("no C++ compiler")
    rows = records(opgen, "specs/square.yaml", *SMALL, "--dtype", "float32", "--peer", "reference")
    assert len(rows) == 6
    for r in rows:
        assert (r["subject"], r["auto"]) == ("kernel", "native")
        assert set(r["us"]) == {"kernel", "plain", "reference", "copy"}
        assert set(r["ratios"]) == {"plain", "reference"}
