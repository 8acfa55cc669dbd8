"""What `[tool.opgen]` says, the namespace of operators where it says nothing, and the command in generated files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from opgen.cli import run
from opgen.diagnostics.model import Bag
from opgen.project import build
from opgen.toolchain import library
from opgen.toolchain.compiler import _FEATURES, _SETS, instruction_sets, toolchain
from opgen.toolchain.cuda_toolchain import architectures
from opgen.toolchain.stated import stated
from opgen.write.paths import build_line
from opgen.write.settings import ISA, command, namespace_of, settings_here, settings_of, usable
from opgen.write.user_cache import CACHE_VARIABLE


def project(folder: Path, text: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return folder


def namespace(out: Path, given: str | None = None) -> str:
    bag = Bag()
    found, _ = namespace_of(out, given, bag)
    assert not bag.items, bag.items
    return found


@pytest.mark.parametrize(
    ("out", "packages", "expected"),
    [
        ("generated", (), "shop_generated"),
        ("mylib/ops", ("mylib",), "mylib_ops"),
        ("src/mylib/ops", ("src/mylib",), "mylib_ops"),
        ("src/mylib/ops", (), "mylib_ops"),
        ("src/my-lib/nn/ops", ("src/my-lib", "src/my-lib/nn"), "my_lib_nn_ops"),
        ("work/packages/a/src/mylib/ops", (), "mylib_ops"),
        ("shop", (), "shop"),
        ("src/2d", (), "shop_2d"),
    ],
)
def test_a_namespace_follows_from_where_the_package_lies(
    tmp_path: Path, out: str, packages: tuple[str, ...], expected: str
) -> None:
    root = project(tmp_path / "anywhere", '[project]\nname = "shop"\n')
    for package in packages:
        (root / package).mkdir(parents=True)
        (root / package / "__init__.py").touch()
    assert namespace(root / out) == expected
    (root / out).mkdir(parents=True)
    (root / out / "__init__.py").touch()  # as after a build
    assert namespace(root / out) == expected


def test_names_that_torch_has_are_not_derived(tmp_path: Path) -> None:
    assert namespace(project(tmp_path) / "aten") == "aten_ops"
    assert not usable("aten")
    assert not usable("my.lib")
    assert not usable("2d")


def test_a_namespace_is_stated_in_the_settings_or_in_the_call(tmp_path: Path) -> None:
    root = project(tmp_path, '[tool.opgen]\nnamespace = "mine"\n')
    assert namespace(root / "generated") == "mine"
    assert namespace(root / "generated", "other") == "other"
    assert namespace(project(tmp_path / "inner") / "generated") == "generated"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[tool.ruff]\nx = 1\n[tool.opgen]\nnamspace = "a"\n', 4, ("no key 'namspace'", "did you mean `namespace`?")),
        ("[tool.opgen]\ncolour = 1\n", 2, ("no key 'colour'", "there is: specs, out, namespace, jobs")),
        ('[tool.opgen]\nnamespace = "aten"\n', 2, ("'aten' cannot be the namespace",)),
        ("[tool.opgen]\nnamespace = 3\n", 2, ("3 cannot be the namespace",)),
        ('[tool.opgen]\nout = "/tmp"\n', 2, ("'/tmp' cannot be the output folder", "relative to pyproject.toml")),
        ("[tool.opgen]\nspecs = []\n", 2, ("[] cannot be the specs",)),
        ("[tool.opgen]\njobs = true\n", 2, ("True cannot be the number of jobs",)),
        ('[tool.opgen]\nisa = "avx3"\n', 2, ("'avx3' cannot be the instruction sets", "one or a list of baseline")),
        ("[tool.opgen]\nisa = []\n", 2, ("[] cannot be the instruction sets",)),
        ('[tool.opgen]\ncuda = ["8.6+PTX", "hopper"]\n', 2, ("cannot be the compute capabilities", '"9.0+PTX"')),
        ("[tool.opgen]\ncuda = []\n", 2, ("[] cannot be the compute capabilities", "one or a list")),
        ("[tool.opgen\n", 1, ("cannot be read",)),
        ('[tool.opgen]\nout = "gen\n', 2, ("cannot be read: Illegal character",)),
        ("[tool.opgen]\nout = src/ops\n", 2, ("cannot be read", 'write `out = "src/ops"`')),
        ('[tool.opgen]\nnamespace = "my-ns"\n', 2, ('write `namespace = "my_ns"`',)),
        ("tool = 3\n", None, ()),
        ('[tool.opgen]\nout = "my-ops"\n', 2, ("'my-ops' cannot be the output folder", 'write `out = "my_ops"`')),
        ('[tool.opgen]\nout = "src/2ops"\n', 2, ('write `out = "src/_2ops"`',)),
        ('[tool.opgen]\nout = "lib/class"\n', 2, ('write `out = "lib/class_ops"`',)),
        ('[tool.opgen]\nout = "my ops"\n', 2, ('write `out = "my_ops"`',)),
        ('[tool.opgen]\nout = "mylib.ops"\n', 2, ('write `out = "mylib/ops"`',)),
        ('[tool.opgen]\nout = "src/mylib.class"\n', 2, ('write `out = "src/mylib/class_ops"`',)),
        ('[tool.opgen]\nout = "ops.v1.2"\n', 2, ('write `out = "ops_v1_2"`',)),
        ('[tool.opgen]\nout = "ops.v2"\n', 2, ('write `out = "ops/v2"`',)),
        ('[tool.opgen]\nout = "src/torch"\n', 2, ('write `out = "src/torch_ops"`',)),
        ('[tool.opgen]\nout = "my-lib/torch"\n', None, ()),
        ('[tool.opgen]\nout = "src/../größe"\n', None, ()),
        ('[tool.opgen]\nout = "specs"\n', 2, ("it is that of the specs", 'write `out = "generated"`')),
        ('[tool.opgen]\nspecs = ["a", "b/"]\nout = "./b"\n', 3, ("it is that of the specs",)),
        ('x = 1\n[opgen]\nout = "ops"\n', 2, ("read from `opgen`", "the table is called `[tool.opgen]`")),
        ('[tools.opgen]\nspecs = "specs"\n', 1, ("read from `tools.opgen`", "the table is called `[tool.opgen]`")),
        ("[tool.ruff]\n[tool.Opgen]\njobs = 2\n", 2, ("`tool.Opgen`", "the table is called `[tool.opgen]`")),
        ("[project]\nname = 'opgen'\n[project.opgen]\njobs = 2\n", 3, ("`project.opgen`", "`[tool.opgen]`")),
        ("[[tool.opgen]]\njobs = 2\n", 1, ("`tool.opgen`", "the table is called `[tool.opgen]`")),
        ("[tool]\nop-gen = {jobs = 2}\n", 2, ("`tool.op-gen`", "the table is called `[tool.opgen]`")),
        ("opgen.jobs = 2\n", 1, ("`opgen`", "the table is called `[tool.opgen]`")),
        ("[opgen]\ncolour = 1\n[a]\nopgen = ['out']\n[b.c.opgen]\nout = 'x'\n", None, ()),
    ],
)
def test_what_is_no_setting_is_refused_where_it_stands(
    tmp_path: Path, text: str, line: int | None, words: tuple[str, ...]
) -> None:
    (tmp_path / "scale.yaml").write_text("op: scale\ninputs: [x]\nforward: y = 2*x\n")
    result = build(tmp_path / "scale.yaml", project(tmp_path, text) / "generated")
    assert result.failed == bool(words)
    for diagnostic in result.diagnostics:
        assert diagnostic.code == "OPG508"
        assert all(word in f"{diagnostic.message} {diagnostic.hints}" for word in words)
        assert (diagnostic.span and diagnostic.span.source.line_col(diagnostic.span.start)[0]) == line
    assert (tmp_path / "generated").exists() == (not words)


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        ('["sm_90"]', '["9.0"]'),
        ('"90"', '["9.0"]'),
        ('"sm90"', '["9.0"]'),
        ('["compute_90"]', '["9.0"]'),
        ("90", '["9.0"]'),
        ("9.0", '["9.0"]'),
        ("[8.6, 9]", '["8.6", "9.0"]'),
        ('["8.0", "SM_120"]', '["8.0", "12.0"]'),
        ('"sm_90a"', '["9.0a"]'),
        ('"8.0;9.0 ptx"', '["8.0", "9.0+PTX"]'),
    ],
)
def test_what_capabilities_are_called_elsewhere_is_told(tmp_path: Path, stated: str, meant: str) -> None:
    (told,) = build("scale.yaml", project(tmp_path, f"[tool.opgen]\ncuda = {stated}\n") / "generated").diagnostics
    assert told.hints == (f"write `cuda = {meant}`",)
    project(tmp_path, f"[tool.opgen]\ncuda = {meant}\n")
    assert list(settings_of(tmp_path / "generated").cuda) == json.loads(meant)


@pytest.mark.parametrize(
    ("stated", "hint"),
    [
        ('specs = "src/**/*.yaml"', 'write `specs = ["src"]`: a folder stands for all specs below it'),
        ('specs = ["ops/a/*", "ops/a/*.yml", "b"]', 'write `specs = ["ops/a", "b"]`: a folder stands for all specs'),
        ('specs = "src/{a,b}/x.yaml*"', 'write `specs = ["src"]`'),
        ('specs = "ROOT/formulas"', 'write `specs = ["formulas"]`'),
        ('specs = "*.yaml"', 'no patterns: specs = ["specs"]'),
        ('out = ["a"]', 'write `out = "a"`'),
        ('out = "mylib/ops/*"', 'write `out = "mylib/ops"`'),
        ('out = "ROOT/mylib/ops"', 'write `out = "mylib/ops"`'),
        ('out = ["a", "b"]', "a folder, relative to pyproject.toml"),
        ('isa = "AVX-512"', 'write `isa = ["avx512"]`'),
        ('isa = "AVX2, avx512f"', 'write `isa = ["avx2", "avx512"]`'),
        ('isa = "x86-64-v3"', 'write `isa = ["avx2"]`'),
        ('isa = ["sse4.2"]', 'write `isa = ["baseline"]`'),
        ('isa = "native"', "leave it out: without it kernels are for the best of this machine"),
        ('cuda = "H100"', 'write `cuda = ["9.0"]`'),
        ('cuda = "Ampere;Hopper"', 'write `cuda = ["8.0", "8.6+PTX", "9.0+PTX"]`'),
        ('cuda = "native"', "leave it out: without it kernels are for the devices here"),
        ('jobs = "4"', "write `jobs = 4`"),
        ("jobs = 4.0", "write `jobs = 4`"),
        ("jobs = -1", "leave it out: without it there are as many as there are cores"),
        ("jobs = 2.5", "a whole number from 1"),
        ('namespace = ["mine"]', 'write `namespace = "mine"`'),
        ('namespace = "torch.ops.mine"', 'write `namespace = "mine"`'),
        ("second_order = true", "names of operators"),
        ("specs = 3", "files and folders"),
        ('second_order = "well, deep-well"', 'write `second_order = ["well", "deep_well"]`'),
    ],
)
def test_a_value_that_does_not_fit_is_written_as_it_fits(tmp_path: Path, stated: str, hint: str) -> None:
    root = project(tmp_path, f"[tool.opgen]\n{stated.replace('ROOT', str(tmp_path))}\n")
    (told,) = build("scale.yaml", root / "generated").diagnostics
    assert hint in told.hints[0]
    if (line := told.hints[0].partition("`")[2].partition("`")[0]) and told.hints[0].startswith("write"):
        project(tmp_path, f"[tool.opgen]\n{line}\n")
        settings_of(tmp_path / "generated")


def test_commands_need_no_flags_in_a_project_with_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text = '[tool.opgen]\nspecs = ["formulas", "more/twice.yaml"]\nout = "src/mylib/ops"\njobs = 2\n'
    root = project(tmp_path, text)
    for place, op in (("formulas", "scale"), ("more", "twice"), ("more", "thrice")):
        (root / place).mkdir(exist_ok=True)
        (root / place / f"{op}.yaml").write_text(f"op: {op}\ninputs: [x]\nforward: y = 2*x\n")
    monkeypatch.chdir(root / "more")
    assert settings_here().jobs == 2
    assert run(["build"]) == 0
    assert sorted(p.parent.name for p in (root / "src/mylib/ops").glob("*/manifest.json")) == ["scale", "twice"]
    assert run(["build", "--check"]) == 0
    assert run(["lint"]) == 0
    (root / "pyproject.toml").write_text("[tool.opgen]\nspecs = 'formula'\n")
    assert run(["build"]) == 1
    assert "did you mean ../formulas?" in capfd.readouterr().err
    (root / "pyproject.toml").write_text("[tool.opgen]\nspec = 'formulas'\n")
    capfd.readouterr()
    assert run(["compile"]) == 1
    said = capfd.readouterr().err
    assert "did you mean `specs`?" in said
    assert "pyproject.toml:2:1" in said


def test_the_operators_of_a_folder_stay_in_one_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path))
    for op in ("scale", "zoom"):
        (tmp_path / f"{op}.yaml").write_text(f"op: {op}\ninputs: [x]\nforward: y = 2*x\n")
    assert not build(["scale.yaml", "zoom.yaml"]).failed
    before = Path("generated/scale/ops.py").read_text()
    refused = build("scale.yaml", namespace="mine")
    assert [d.code for d in refused.diagnostics] == ["OPG509"]
    assert "zoom.yaml" in refused.diagnostics[0].hints[0]
    assert refused.ops == ()
    assert Path("generated/scale/ops.py").read_text() == before
    assert not build(["scale.yaml", "zoom.yaml"], namespace="mine").failed
    assert "opgen build scale.yaml --namespace mine\n" in Path("generated/scale/ops.py").read_text()
    assert not build(["scale.yaml", "zoom.yaml"], namespace="mine", check=True).drift
    Path("zoom.yaml").unlink()
    Path("shift.yaml").write_text("op: zoom\ninputs: [x]\nforward: y = 1 + x\n")
    assert not build(["scale.yaml", "shift.yaml"]).failed


def test_the_command_in_a_file_generates_that_very_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path / "a project")
    spec = root / "my specs/scale.yaml"
    spec.parent.mkdir()
    spec.write_text("op: scale\ninputs: [x]\nforward: y = 2*x\n")
    monkeypatch.chdir(spec.parent)
    assert not build("scale.yaml", "../src/mylib/ops").failed
    line = "opgen build 'my specs/scale.yaml' --out src/mylib/ops"
    assert f"# Regenerate with: {line}\n" in (root / "src/mylib/ops/scale/ops.py").read_text()
    monkeypatch.chdir(root)
    assert not build("my specs/scale.yaml", "src/mylib/ops", check=True).drift


def test_the_command_is_the_same_in_every_checkout(tmp_path: Path) -> None:
    for name in ("here", "over/there"):
        root = project(tmp_path / name)
        assert build_line(root / "specs/x.yaml", root / "generated") == "opgen build specs/x.yaml"
        assert build_line(root / "specs/x.yaml", root / "sub/gen", "n") == (
            "opgen build specs/x.yaml --out sub/gen --namespace n"
        )
        assert build_line(root / "specs/x.yaml", tmp_path / "elsewhere/gen") == "opgen build specs/x.yaml --out gen"
    assert build_line(tmp_path / "x.yaml", tmp_path / "deep/gen") == "opgen build x.yaml --out deep/gen"
    assert build_line(tmp_path / "specs/x.yaml", tmp_path / "generated") == "opgen build specs/x.yaml"


def test_instruction_sets_and_capabilities_hold_where_the_environment_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '[tool.opgen]\nisa = ["baseline", "avx2"]\ncuda = "9.0+PTX"\n'
    settings = settings_of(project(tmp_path, text) / "generated")
    assert (settings.isa, settings.cuda) == (("baseline", "avx2"), ("9.0+PTX",))
    for name in ("OPGEN_ISA", "TORCH_CUDA_ARCH_LIST"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with stated(settings):
        assert instruction_sets() == ("baseline", "avx2")
        assert architectures() == ("9.0+PTX",)
        monkeypatch.setenv("OPGEN_ISA", "avx512")
        with stated(settings):
            assert instruction_sets() == ("baseline", "avx512")
    assert not os.environ.get("TORCH_CUDA_ARCH_LIST")


def test_the_names_of_instruction_sets_are_those_of_the_compiler() -> None:
    assert {*ISA} == {"baseline", "all", *_SETS}


def test_a_project_is_compiled_for_what_it_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(tmp_path, '[tool.opgen]\nisa = "avx512"\n'))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setenv("OPGEN_ISA", "")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(library, "cuda_toolchain", lambda: None)
    ran: list[str] = []

    def compiler(command: list[str]) -> None:
        ran.extend(command)
        Path(command[command.index("-o") + 1]).touch()

    monkeypatch.setattr(library, "_run", compiler)
    toolchain.cache_clear()
    (tmp_path / "scale.yaml").write_text("op: scale\ninputs: [x]\nforward: y = 2*x\n")
    assert run(["build", "-q", "scale.yaml"]) == 0
    assert run(["compile", "-q"]) == 0
    assert "-DOPGEN_ISA=avx512" in ran
    assert "-DOPGEN_ISA=avx2" not in ran
    toolchain.cache_clear()


@pytest.mark.parametrize(
    ("wanted", "machine", "features", "sets"),
    [
        ("", "x86_64", _FEATURES["avx2"], ("avx2",)),
        ("", "x86_64", (), ("baseline",)),
        ("", "aarch64", (), ("baseline",)),
        ("all", "aarch64", (), ("baseline",)),
        ("baseline", "x86_64", _FEATURES["avx2"], ("baseline",)),
        ("avx2", "x86_64", (), ("baseline", "avx2")),
        ("all", "x86_64", (), ("baseline", "avx2", "avx512")),
    ],
)
def test_kernels_are_for_this_machine_alone_unless_more_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, wanted: str, machine: str, features: tuple[str, ...], sets: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPGEN_ISA", wanted)
    monkeypatch.setenv("CXX", "true")
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("opgen.toolchain.compiler._features", lambda: frozenset(features))
    monkeypatch.setattr("opgen.toolchain.compiler.told_version", lambda _: ["any"])
    toolchain.cache_clear()
    tools = toolchain()
    toolchain.cache_clear()
    assert tools.sets == sets
    assert ("-DOPGEN_ONLY=avx2" in tools.binding(Path("a.cpp"), [], Path("a.o"))) == (sets == ("avx2",))


def test_commands_name_no_folder_that_the_project_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("compile", out=Path("generated")) == "opgen compile"
    assert command("compile", out=Path("lib/ops")) == "opgen compile --out lib/ops"
    Path("pyproject.toml").write_text('[tool.opgen]\nout = "lib/ops"\n')
    assert command("compile", out=Path("lib/ops")) == "opgen compile"
    assert command("compile", out=Path("generated")) == "opgen compile --out generated"


def test_a_misspelt_operator_is_refused_where_second_order_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project(tmp_path, '[tool.opgen]\nsecond_order = ["wel", "elsewhere"]\n'))
    Path("specs").mkdir()
    Path("specs/well.yaml").write_text("op: well\ninputs: [x]\nforward: y = x**3\n")
    assert run(["build"]) == 1
    told = capsys.readouterr().err
    assert "no operator is called 'wel'" in told
    assert "did you mean `well`?" in told
    assert "pyproject.toml:2:1" in told
    assert not Path("generated/well").exists()
    Path("pyproject.toml").write_text('[tool.opgen]\nsecond_order = ["well", "elsewhere"]\n')
    assert run(["build"]) == 0
    assert Path("generated/well/csrc/second/well.cpp").exists()
