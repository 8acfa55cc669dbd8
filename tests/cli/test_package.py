"""What `opgen package` puts into a wheel and what it refuses; the compiler is a stand-in."""

from __future__ import annotations

import base64
import csv
import hashlib
import platform
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opgen.ship import compiled
from opgen.toolchain import library
from opgen.toolchain.compiler import toolchain
from opgen.write.user_cache import CACHE_VARIABLE

Opgen = Callable[..., tuple[int, str, str]]
PROJECT = """[project]
name = "My.Lib"
version = "1.0rc1"
description = "Two operators"
license = "MIT"
dependencies = ["numpy>=2"]

[tool.opgen]
specs = ["specs"]
out = "src/mylib/ops"
"""


@pytest.fixture
def mylib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> Iterator[Path]:
    """A project with two operators that were built."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    monkeypatch.delenv("OPGEN_ISA", raising=False)
    monkeypatch.setattr(compiled, "cuda_toolchain", lambda *_, **__: None)
    monkeypatch.setattr(
        library, "_run", lambda command: Path(command[command.index("-o") + 1]).write_text(" ".join(command[:1]))
    )
    toolchain.cache_clear()
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "LICENSE").write_text("Do as you like.\n")
    (tmp_path / "specs").mkdir()
    for op in ("scale", "shift"):
        Path(f"specs/{op}.yaml").write_text(f"op: {op}\ninputs: [x]\nforward: y = 2*x\n")
    assert opgen("build")[0] == 0
    yield tmp_path
    toolchain.cache_clear()


def wheel(opgen: Opgen, *arguments: str) -> zipfile.ZipFile:
    code, out, err = opgen("package", *arguments)
    assert code == 0, err
    return zipfile.ZipFile(out.strip())


def refusal(opgen: Opgen, *arguments: str) -> str:
    code, out, err = opgen("package", *arguments)
    assert (code, out) == (1, "")
    assert not Path("dist").exists()
    return err


def test_a_wheel_holds_what_runs_and_nothing_else(mylib: Path, opgen: Opgen) -> None:
    (mylib / "src/mylib/ops/scale/notes.txt").touch()
    made = wheel(opgen)
    names = made.namelist()
    generated = [p for p in (mylib / "src/mylib/ops").rglob("*") if p.suffix in (".py", ".pyi", ".json", ".typed")]
    run = {p.relative_to(mylib / "src").as_posix() for p in generated if not p.name.startswith("test_")}
    libraries = {f"mylib/ops/{op}/_native.so" for op in ("scale", "shift")}
    package = {n for n in names if n.startswith("mylib/")}
    assert package == {n for n in run if "/_testing/" not in n} | libraries
    assert set(names) - package == {
        f"my_lib-1.0rc1.dist-info/{n}" for n in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")
    }
    assert names[-1].endswith("RECORD")
    assert not (mylib / "src/mylib/ops/scale/_native.so").exists()


def test_what_installers_read_is_true(mylib: Path, opgen: Opgen) -> None:
    made = wheel(opgen)
    info = "my_lib-1.0rc1.dist-info"
    told = made.read(f"{info}/METADATA").decode().splitlines()
    assert told[:5] == [
        "Metadata-Version: 2.4", "Name: My.Lib", "Version: 1.0rc1", "Summary: Two operators", "License-Expression: MIT",
    ]  # fmt: skip
    assert told[-2:] == ["Requires-Dist: torch>=2.11", "Requires-Dist: numpy>=2"]
    tag = f"py3-none-linux_{platform.machine()}"  # the stand-in makes no ELF files
    assert Path(made.filename or "").name == f"my_lib-1.0rc1-{tag}.whl"
    assert f"Root-Is-Purelib: false\nTag: {tag}\n" in made.read(f"{info}/WHEEL").decode()
    rows = list(csv.reader(made.read(f"{info}/RECORD").decode().splitlines()))
    assert [name for name, *_ in rows] == made.namelist()
    assert rows.pop() == [f"{info}/RECORD", "", ""]
    for name, digest, size in rows:
        data = made.read(name)
        expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert (digest, size) == (f"sha256={expected}", str(len(data)))


def test_the_same_files_give_the_same_bytes(mylib: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Path(wheel(opgen).filename or "").read_bytes()
    for path in (mylib / "src").rglob("*.py"):
        path.touch()
    assert Path(wheel(opgen, "--dist", "again").filename or "").read_bytes() == first
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    assert {entry.date_time[:3] for entry in wheel(opgen).infolist()} == {(2020, 9, 13)}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="of x86-64")
def test_libraries_are_for_all_instruction_sets(mylib: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def compiler(command: list[str]) -> None:
        ran.extend(command)
        Path(command[command.index("-o") + 1]).touch()

    monkeypatch.setattr(library, "_run", compiler)
    monkeypatch.setattr("opgen.toolchain.compiler._features", frozenset)
    assert "kernels for baseline, avx2, avx512; next: pip install dist/" in opgen("package")[2]
    assert {"-DOPGEN_ISA=baseline", "-DOPGEN_ISA=avx2", "-DOPGEN_ISA=avx512"} <= set(ran)
    ran.clear()
    monkeypatch.setenv("OPGEN_ISA", "baseline")
    assert "kernels for baseline; next" in opgen("package")[2]
    assert "-DOPGEN_ISA=avx2" not in ran


def test_without_libraries_it_runs_everywhere(mylib: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    toolchain.cache_clear()
    err = refusal(opgen)
    assert "OPG601" in err
    assert "opgen package --pure" in err
    made = wheel(opgen, "--pure", "--import-name", "other")
    assert (made.filename or "").endswith("my_lib-1.0rc1-py3-none-any.whl")
    assert "other/scale/ops.py" in made.namelist()
    assert not [n for n in made.namelist() if n.endswith(".so")]


def test_what_is_not_as_the_specs_give_it_is_not_shipped(mylib: Path, opgen: Opgen) -> None:
    spec = mylib / "specs/scale.yaml"
    before = spec.read_text()
    spec.write_text(before.replace("2*x", "3*x"))
    err = refusal(opgen)
    assert "OPG511" in err
    assert "in src/mylib/ops not as the specs give them: scale/" in err
    assert "opgen build specs brings it up to date" in err
    spec.write_text("op: scale\n")
    assert "OPG511" not in refusal(opgen)  # what is wrong with the spec is said
    spec.write_text(before)
    (mylib / "specs/zoom.yaml").write_text(before.replace("scale", "zoom"))
    assert "give them: zoom/" in refusal(opgen)
    (mylib / "specs/zoom.yaml").unlink()
    (mylib / "src/mylib/ops/shift/function.py").unlink()
    assert "1 file in src/mylib/ops missing: shift/function.py" in refusal(opgen)
    assert opgen("build")[0] == 0
    wheel(opgen)


def test_operators_whose_specs_are_elsewhere_are_shipped_as_they_are(mylib: Path, opgen: Opgen) -> None:
    (mylib / "specs").rename(mylib / "away")
    wheel(opgen)


def test_only_what_the_folder_was_made_from_is_looked_at(mylib: Path, opgen: Opgen) -> None:
    assert opgen("build", "specs/scale.yaml", "--out", "other")[0] == 0
    assert "other/scale/_native.so" in wheel(opgen, "--out", "other").namelist()
    (mylib / "specs/scale.yaml").write_text("op: scale\ninputs: [x]\nforward: y = 4*x\n")
    assert opgen("package", "--out", "other")[0] == 1


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            'version = "1.0rc1"',
            'dynamic = ["version"]',
            ("pyproject.toml is dynamic", "--version 1.0.0", "in `dynamic`"),
        ),
        ("1.0rc1", "next", ("'next' cannot be the version",)),
        ('name = "My.Lib"\n', "", ("the wheel has no name", "--name NAME")),
        ("My.Lib", "my lib", ("'my lib' cannot be the name",)),
    ],
)
def test_a_wheel_needs_a_name_and_a_version(
    mylib: Path, opgen: Opgen, before: str, after: str, words: tuple[str, ...]
) -> None:
    (mylib / "pyproject.toml").write_text(PROJECT.replace(before, after))
    err = refusal(opgen)
    assert "OPG512" in err
    assert all(word in err for word in words)
    assert (wheel(opgen, "--name", "a", "--version", "2.0").filename or "").startswith("dist/a-2.0-")


def test_operators_inside_of_a_package_need_a_name_of_their_own(mylib: Path, opgen: Opgen) -> None:
    (mylib / "src/mylib/__init__.py").touch()
    err = refusal(opgen)
    assert "src/mylib/ops is part of the package src/mylib" in err
    assert "build hook" in err
    assert "mylib_ops/scale/ops.py" in wheel(opgen, "--import-name", "mylib_ops").namelist()
    assert "'my-ops' cannot be the name" in opgen("package", "--import-name", "my-ops")[2]


def test_the_folder_that_nobody_named_is_imported_by_its_namespace(mylib: Path, opgen: Opgen) -> None:
    assert opgen("build", "specs", "--out", "generated")[0] == 0
    assert "My_Lib_generated/scale/ops.py" in wheel(opgen, "--out", "generated").namelist()


def test_nothing_that_was_generated_is_wrong_usage(mylib: Path, opgen: Opgen) -> None:
    code, _, err = opgen("package", "--out", "none")
    assert code == 2
    assert "no generated operator in none; first: opgen build --out none" in err
