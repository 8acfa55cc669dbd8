"""`opgen lint --fix`: exact replacements are made, nothing else is touched, and what is not certain stays."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.diagnostics.codes import CATALOGUE
from opgen.diagnostics.model import Diagnostic, Hint, Source, Span
from opgen.diagnostics.suggest import did_you_mean
from opgen.fixes import fix
from opgen.pipeline import SpecFile
from opgen.project import looked_at

Opgen = Callable[..., tuple[int, str, str]]

# what is mended: a line of a spec, and what it becomes
HEAD = """op: mended
inputs:
  signal: {shape: [..., K]}
  weight: {shape: [K]}
  level:  {shape: [...]}
forward: |
  y[..., k] = signal[..., k]*weight[k]*level[...]
"""
KINDS = {
    "a field": ("summery: of words", "summary: of words"),
    "a field in another case": ("Summary: of words", "summary: of words"),
    "a truth value": ("params: {flip: {type: bool, default: yes}}", "params: {flip: {type: bool, default: true}}"),
    "a type": ("params: {slope: {type: flaot, default: 1.5}}", "params: {slope: {type: float, default: 1.5}}"),
    "a type with a default": ("params: {slope: float = 1.5}", "params: {slope: {type: float, default: 1.5}}"),
    "a choice": ("params: {m: {choices: [mean, total], default: totl}}",
                 "params: {m: {choices: [mean, total], default: total}}"),
    "a list in parentheses": ("  mask: {shape: (K, 2)}", "  mask: {shape: [K, 2]}"),
    "dims turned round": ("module: {dims: {size: K}, parameters: {weight: ones}}",
                          "module: {dims: {K: size}, parameters: {weight: ones}}"),
    "an initialiser": ("module: {dims: {K: size}, parameters: {weight: xavier_unifrom}}",
                       "module: {dims: {K: size}, parameters: {weight: xavier_uniform}}"),
    "an initialiser of torch": ("module: {dims: {K: size}, parameters: {weight: nn.init.ones_}}",
                                "module: {dims: {K: size}, parameters: {weight: ones}}"),
    "a tensor": ("  z = sigmoid(leevl)", "  z = sigmoid(level)"),
    "a function": ("  z = sigmiod(level)", "  z = sigmoid(level)"),
    "a reduction": ("  z[...] = logsumxep[k](signal[..., k])", "  z[...] = logsumexp[k](signal[..., k])"),
    "a subscript": ("  z[...] = sum_k(signal[..., k])", "  z[...] = sum[k](signal[..., k])"),
    "a power": ("  z = level^2", "  z = level**2"),
    "a sign": ("  z = 2 × level − 1", "  z = 2 * level - 1"),
    "a word": ("  z = where(level > 0&&level < 1, 1, 0)", "  z = where(level > 0 and level < 1, 1, 0)"),
    "a product": ("  z = 2level", "  z = 2*level"),
    "a number": ("  z = 2.5f*level", "  z = 2.5*level"),
    "digits in groups": ("  z = 1_000*level", "  z = 1000*level"),
    "an imaginary number": ("  z = real(level*2j)", "  z = real(level*complex(0, 2))"),
    "a method": ("  z[...] = (signal + 1).sum(-1)", "  z[...] = sum[k](signal[..., k] + 1)"),
    "a call of torch": ("  z = torch.exp(signal)", "  z[..., k] = exp(signal[..., k])"),
    "a choice of Python": ("  z = signal if signal > 0 else 0",
                           "  z[..., k] = where(signal[..., k] > 0, signal[..., k], 0)"),
    "a product of matrices": ("  z = signal @ weight", "  z = sum[k](signal[..., k] * weight[k])"),
}  # fmt: skip


def placed(line: str) -> str:
    """The spec with a line where it belongs."""
    if line.startswith("  mask"):
        return HEAD.replace("forward:", f"{line}\nforward:")
    return HEAD + f"{line}\n" + ("" if line.startswith("  ") else "# the end\n")


def mended(folder: Path, text: str) -> str:
    """What becomes of a spec."""
    path = folder / "mended.yaml"
    path.write_bytes(text.encode())
    fix([path], looked_at)
    return path.read_bytes().decode()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_certain_is_mended_and_nothing_else(tmp_path: Path, kind: str) -> None:
    wrong, right = KINDS[kind]
    assert mended(tmp_path, placed(wrong)) == placed(right)


UNCLEAR = {
    "two names are as near": ("params: {alpha1: {type: float}, alpha2: {type: float}}\n", "  z = alpha3*level"),
    "another name is only alike": ("params: {learning_rate: {type: float}}\n", "  z = rate*level"),
    "nothing is near": ("", "  z = qqqq*level"),
    "an index may be summed over": ("", "  z[...] = signal[..., kk]"),
    "one sign for two things": ("", "  z = where(level > 0 & level < 1, 1, 0)"),
    "torch computes another value": ("", "  z[...] = signal.std(-1)"),
    "a comment would go": ("", "  z = (level.exp()  # the top\n    + 1)"),
    "an unused name": ("params: {spare: {type: float}}\n", "  z = level"),
}


@pytest.mark.parametrize("reason", UNCLEAR)
def test_what_is_not_certain_stays(tmp_path: Path, reason: str) -> None:
    fields, line = UNCLEAR[reason]
    text = fields + HEAD + f"{line}\n"
    assert mended(tmp_path, text) == text
    assert looked_at_again(tmp_path)


def looked_at_again(folder: Path) -> bool:
    """Whether there is still something to tell."""
    from opgen.project import lint

    return bool(lint([folder]))


def test_no_example_of_the_catalogue_gets_worse(tmp_path: Path) -> None:
    rows = [row for row in CATALOGUE.values() if row.in_spec and "…" not in row.bad]
    changed = 0
    for row in rows:
        before = row.spec(row.bad)
        after = mended(tmp_path, before)
        assert mended(tmp_path, after) == after
        changed += after != before
        assert len(told(after)) <= len(told(before)), (row.code, after)
    assert changed > 5


def told(text: str) -> tuple[Diagnostic, ...]:
    return looked_at(SpecFile(Path("a.yaml"), text.encode(), "a.yaml")).diagnostics


def test_two_in_a_line_and_what_comes_to_light_after_them(tmp_path: Path) -> None:
    text = placed("  z = sigmiod(leevl)^2 + sigmoid(level)^leevl  # leevl")
    assert mended(tmp_path, text) == placed("  z = sigmoid(level)**2 + sigmoid(level)**level  # leevl")


def test_line_ends_marks_and_letters_stay(tmp_path: Path) -> None:
    text = "\ufeff" + placed("  z = sigmiod(level) × 2  # Größe: 大きさ 𝛼").replace("words", "Wörter").replace(
        "\n", "\r\n"
    )
    assert mended(tmp_path, text) == text.replace("sigmiod", "sigmoid").replace("×", "*")


def test_quotes_and_lists_in_braces(tmp_path: Path) -> None:
    text = "op: mended\ninputs: {x: {shape: [N, K]}, w: {shape: [K]}}\nforward: {y: 1}\n"
    assert mended(tmp_path, text) == text  # nothing is known of it
    text = "op: mended\ninputs: [x]\nfunctions: {f(a): max(a, 1)}\nforward: y = f(x)\n"
    assert mended(tmp_path, text) == text.replace("max(a, 1)", '"max(a, 1)"')


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/mended.yaml").write_text(placed("  z = sigmiod(leevl)"))
    return tmp_path


def test_the_command_says_what_it_changed(project: Path, opgen: Opgen) -> None:
    code, out, err = opgen("lint", "--fix")
    assert code == 0
    assert out.splitlines() == [
        "fixed     specs/mended.yaml:8:7: `sigmiod` is `sigmoid` now (OPG209)",
        "fixed     specs/mended.yaml:8:15: `leevl` is `level` now (OPG205)",
    ]
    assert err == "2 mistakes mended\nno findings\n"
    assert opgen("lint", "--fix") == (0, "", "nothing to mend for certain\nno findings\n")


def test_what_is_left_is_told_and_is_the_verdict(project: Path, opgen: Opgen) -> None:
    (project / "specs/other.yaml").write_text("op: other\ninputs: [x]\nforward: y = qqqq*x^2\n")
    code, out, err = opgen("lint", "--fix", "--format", "json")
    assert code == 1
    assert [d["code"] for d in json.loads(out)["diagnostics"]] == ["OPG205"]
    assert "fixed     specs/other.yaml" in err
    assert (project / "specs/other.yaml").read_text().endswith("y = qqqq*x**2\n")


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_programs_are_told_the_replacement(project: Path, opgen: Opgen, form: str) -> None:
    _, out, _ = opgen("lint", "--format", form)
    if form == "json":
        first = json.loads(out)["diagnostics"][0]["edit"]
        place = {"file": "specs/mended.yaml", "line": 8, "column": 7, "end_line": 8, "end_column": 14}
        assert first == {**place, "text": "sigmoid"}
    else:
        (first, *_) = json.loads(out)["runs"][0]["results"][0]["fixes"]
        (change,) = first["artifactChanges"][0]["replacements"]
        assert first["description"]["text"] == "did you mean `sigmoid`?"
        assert change["deletedRegion"] == {"startLine": 8, "startColumn": 7, "endLine": 8, "endColumn": 14}
        assert change["insertedContent"] == {"text": "sigmoid"}


def test_links_stay_links_and_the_mode_stays(project: Path, opgen: Opgen) -> None:
    real = project / "real.yaml"
    (project / "specs/mended.yaml").rename(real)
    real.chmod(0o640)
    (project / "specs/mended.yaml").symlink_to(real)
    assert opgen("lint", "--fix")[0] == 0
    assert (project / "specs/mended.yaml").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert "sigmoid(level)" in real.read_text()


def test_a_spec_that_cannot_be_written_stays_and_is_told(
    project: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(target: Path, data: bytes) -> None:
        raise PermissionError(13, "Permission denied", str(target))

    monkeypatch.setattr("opgen.fixes.replace_file", refuse)
    before = (project / "specs/mended.yaml").read_text()
    code, out, err = opgen("lint", "--fix")
    assert (code, out) == (1, "")
    assert "OPG506" in err
    assert (project / "specs/mended.yaml").read_text() == before


def test_a_spec_that_somebody_wrote_meanwhile_stays(project: Path) -> None:
    path = project / "specs/mended.yaml"

    def find(spec):  # type: ignore[no-untyped-def]
        path.write_text("op: theirs\n")
        return looked_at(spec)

    assert fix([path], find) == ((), ())
    assert path.read_text() == "op: theirs\n"


def test_what_makes_a_spec_worse_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(spec):  # type: ignore[no-untyped-def]
        made = looked_at(spec)
        text = spec.data.decode()
        at = text.find("signal[")
        hint = Hint("write that", "signal", "{signal")
        found = Diagnostic("OPG205", "not this", Span(Source("a", text), at, at + 6), hints=(hint,))
        from dataclasses import replace

        return replace(made, diagnostics=(*made.diagnostics, found))

    path = tmp_path / "a.yaml"
    path.write_text(HEAD)
    assert fix([path], wrong) == ((), ())
    assert path.read_text() == HEAD


def test_a_name_is_certain_where_no_other_is_as_near() -> None:
    def edit(name: str, *known: str) -> str | None:
        source = Source("a", f"({name})")
        found = Diagnostic("OPG205", "", Span(source, 0, len(name) + 2), hints=did_you_mean(name, known)).edit
        return None if found is None else found.text

    assert edit("weigth", "weight", "bias") == "weight"
    assert edit("Weight", "weight", "weights") == "weight"
    assert edit("alpha3", "alpha1", "alpha2") is None
    assert edit("xy", "x", "y") is None
    assert edit("rate", "learning_rate") is None


def test_hints_are_copied_with_what_they_replace() -> None:
    hint = Hint("did you mean `b`?", "a", "b")
    for again in (copy.deepcopy(hint), pickle.loads(pickle.dumps(hint))):
        assert (again, again.old, again.new, again.at) == ("did you mean `b`?", "a", "b", None)
