"""`opgen doctor` and `opgen clean`: what is found, and what is removed and what never."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.toolchain import inspect
from opgen.toolchain.compiler import toolchain
from opgen.write.user_cache import CACHE_VARIABLE, cache_folder

Opgen = Callable[..., tuple[int, str, str]]
BUILD = "0123456789abcdef0123"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opgen: Opgen) -> Path:
    """A generated operator with libraries, and a cache in a folder that holds something else too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    (tmp_path / "scale.yaml").write_text("op: scale\ninputs: [x]\nforward: y = 2*x\n")
    assert opgen("build", "scale.yaml")[0] == 0
    for name in ("_native.so", "_native.stamp", "_native_cuda.so"):
        (tmp_path / "generated/scale" / name).write_text("made")
    (tmp_path / "cache/libraries/scale" / BUILD / "build-x").mkdir(parents=True)
    (tmp_path / "cache/libraries/scale" / BUILD / "scale.so").write_bytes(b"0" * 2**20)
    (tmp_path / "cache/letters").mkdir()
    (tmp_path / "cache/letters/to_keep").write_text("dear")
    return tmp_path


def test_clean_removes_what_can_be_made_again_and_no_source(built: Path, opgen: Opgen) -> None:
    sources = {p for p in (built / "generated").rglob("*") if p.suffix in (".py", ".cpp", ".cu", ".json")}
    sources = {p for p in sources if ".opgen_cache" not in p.parts}
    code, out, _ = opgen("clean")
    assert code == 0
    assert "removed   generated/scale/_native.so\n" in out
    left = {p for p in built.rglob("*") if p.is_file()}
    assert sources <= left
    assert not [p for p in left if p.suffix in (".so", ".stamp") or ".opgen_cache" in p.parts]
    assert (built / "cache/letters/to_keep").read_text() == "dear"
    assert not (built / "cache/libraries/scale").exists()
    assert opgen("clean") == (0, "", "nothing to remove\n")
    assert opgen("build", "scale.yaml", "--check")[0] == 0


def test_a_build_under_way_is_left_alone(built: Path, opgen: Opgen) -> None:
    lock = built / "cache/libraries/scale" / BUILD / "lock"
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert "1 build under way" in opgen("doctor")[1]
        opgen("clean")
        assert lock.exists()
    opgen("clean")
    assert not lock.exists()


def test_doctor_reports_and_advises(built: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = opgen("doctor")
    assert code == 0
    for what in ("opgen", "python", "torch", "C++ compiler", "ninja", "nvcc", "cache"):
        assert f"\n{what} " in f"\n{out}"
    assert "1 build, 1.0 MiB" in out
    assert "opgen clean --all removes them" in err
    monkeypatch.setenv("CXX", "no-such-compiler")
    toolchain.cache_clear()
    assert "install g++" in opgen("doctor")[2]
    toolchain.cache_clear()


def test_nvcc_of_another_release_than_torch_has(built: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    program = built / "nvcc"
    program.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 11.8, V11.8.89'\n")
    program.chmod(0o755)
    monkeypatch.setattr(inspect, "nvcc", lambda: str(program))
    monkeypatch.setattr(inspect, "version_of", lambda _, name: "12.8" if name == "cuda" else "2.13.0")
    assert "torch was built for CUDA 12.8" in opgen("doctor")[2]


def test_without_torch_nothing_runs(built: Path, opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect, "_torch_folder", lambda: None)
    code, out, err = opgen("doctor")
    assert code == 1
    assert "not installed" in out
    assert "pip install torch" in err


def test_the_cache_of_other_projects_is_emptied_on_demand_only(built: Path, opgen: Opgen) -> None:
    other, loaded = built / "cache/libraries/other" / BUILD, built / "cache/loaded/opgen_loaded_0123456789abcdef"
    for folder in (other, loaded):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    assert opgen("build", "scale.yaml", "--out", "another")[0] == 0
    opgen("clean")
    assert len(list((built / "cache/outputs").iterdir())) == 1
    assert other.exists()
    assert loaded.exists()
    assert f"removed   {other}\n" in opgen("clean", "--all")[1]
    assert not other.exists()
    assert not loaded.exists()
    assert not (built / "cache/outputs").exists()
    assert (built / "cache/letters/to_keep").read_text() == "dear"


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {}, "~/.cache"),
        ("linux", {"XDG_CACHE_HOME": "/var/caches"}, "/var/caches"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "~/.cache"),
        ("darwin", {}, "~/Library/Caches"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local"),
        ("win32", {}, "~/AppData/Local"),
    ],
)
def test_the_cache_lies_where_the_system_wants_it(
    monkeypatch: pytest.MonkeyPatch, system: str, variables: dict[str, str], expected: str
) -> None:
    for name in (CACHE_VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", system)
    assert cache_folder() == Path(expected).expanduser() / "opgen"
    monkeypatch.setenv(CACHE_VARIABLE, "/elsewhere")
    assert cache_folder() == Path("/elsewhere")


def test_doctor_tells_programs(built: Path, opgen: Opgen) -> None:
    code, out, _ = opgen("doctor", "--format", "json")
    told = json.loads(out)
    assert code == 0
    assert {"python", "torch", "C++ compiler"} <= {finding["what"] for finding in told["findings"]}
    assert [known["op"] for known in told["operators"]] == ["scale"]
