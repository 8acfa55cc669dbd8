"""A spec with a mistake: where it is, what to do, exit code 1, and nothing written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Opgen = Callable[..., tuple[int, str, str]]

HEAD = """\
op: affine
inputs:
  x: {shape: [..., K]}
  w: {shape: [N, K]}
"""
GOOD = "forward: y[..., n] = sum[k](x[..., k] * w[n, k])\n"
MISTAKES = {
    "unknown field": (HEAD + GOOD.replace("forward", "foward"), "5:1", "did you mean `forward`?"),
    "unknown name": (HEAD + GOOD.replace("w[n", "v[n"), "5:41", "`v`"),
    "unbound index": (HEAD + "forward: y[..., n] = x[..., k] * w[n, k]\n", "5:29", "sum[k]"),
    "shape clash": (HEAD + GOOD.replace("w[n, k]", "w[k, n]"), "5:41", "did you mean `w[n, k]`?"),
    "cyclic let": (HEAD + "forward: |\n  a = b\n  b = a\n  y = a\n", "6:7", "circle"),
    "wrong type": (HEAD + "params: {eps: {type: flaot}}\n" + GOOD, "5:22", "did you mean `float`?"),
    "YAML syntax": (HEAD + "forward: {y: [\n", "5:15", "quotes"),
    "power": (HEAD + GOOD.replace("x[..., k]", "x[..., k]^2"), "5:38", "**"),
    "out of range": (HEAD + GOOD.replace("x[..., k]", "x[..., k + 1]"), "5:36", "pad("),
}


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_mistake_is_shown_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen, name: str
) -> None:
    text, place, hint = MISTAKES[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "affine.yaml").write_text(text)
    code, out, err = opgen("build", "affine.yaml")
    assert (code, out) == (1, "")
    assert f"--> affine.yaml:{place}\n" in err
    assert "^" in err
    assert hint in err
    assert "Traceback" not in err
    assert not (tmp_path / "generated").exists()


def test_all_mistakes_of_a_run_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> None:
    monkeypatch.chdir(tmp_path)
    for number, (text, _, _) in enumerate(MISTAKES.values()):
        (tmp_path / f"spec_{number}.yaml").write_text(text)
    code, _, err = opgen("build", ".")
    assert code == 1
    for number, (_, place, _) in enumerate(MISTAKES.values()):
        assert f"spec_{number}.yaml:{place}" in err


def test_spec_that_is_not_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "binary.yaml").write_bytes(b"op: a\nforward: \xff\n")
    code, _, err = opgen("build", "binary.yaml")
    assert code == 1
    assert "OPG502" in err
    assert "line 2" in err


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_line_ends_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen, ends: str) -> None:
    monkeypatch.chdir(tmp_path)
    text = MISTAKES["unknown name"][0].replace("\n", ends)
    (tmp_path / "affine.yaml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert "affine.yaml:5:41" in opgen("build", "affine.yaml")[2]


def test_show_prints_programs_and_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "affine.yaml").write_text(HEAD + GOOD)
    code, out, err = opgen("show", "affine.yaml")
    assert (code, err) == (0, "")
    assert out.startswith("program affine\n")
    assert "forward: y[..., n]" in opgen("show", "affine.yaml", "--stage", "spec")[1]
    (tmp_path / "affine.yaml").write_text(MISTAKES["shape clash"][0])
    assert opgen("show", "affine.yaml")[0] == 1


GOLDEN = sorted((Path(__file__).resolve().parent.parent / "diagnostics/golden").glob("*.md"))


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_every_recorded_mistake_is_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    seen = 0
    for path in GOLDEN:
        _, fence, rest = path.read_text(encoding="utf-8").partition("```yaml\n")
        if fence:
            (tmp_path / "spec.yaml").write_text(rest.partition("```")[0])
            code, out, _ = opgen("build", "spec.yaml", "--format", form)
            document = json.loads(out)
            found = document["diagnostics"] if form == "json" else document["runs"][0]["results"]
            assert code == bool([d for d in found if d.get("severity", d.get("level")) == "error"]), path.name
            seen += 1
    assert seen > 30


@pytest.mark.parametrize(
    ("command", "what"), [("build", "processes"), ("compile", "compilers"), ("test", "operators"), ("bench", "threads")]
)
@pytest.mark.parametrize("value", ["many", "-1", "0", "1.5", ""])
def test_how_many_is_a_number_from_1(opgen: Opgen, command: str, what: str, value: str) -> None:
    option, example = ("--threads", "--threads 8") if what == "threads" else ("--jobs", "--jobs 4")
    code, _, err = opgen(command, option, value)
    assert code == 2
    assert err.rstrip().endswith(f"'{option}': '{value}' is no number of {what} from 1 on: write '{example}'")
