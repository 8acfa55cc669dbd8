"""Mistakes that are in no spec but in files, folders and tools: what a command says of them, under `golden/runs.md`.

`OPGEN_UPDATE=1 pytest tests/diagnostics` writes the file anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen.cli import run
from opgen.diagnostics.codes import CATALOGUE
from opgen.ir.operator import Operator
from opgen.opt.derive import derive
from opgen.toolchain import library
from opgen.toolchain.compiler import toolchain
from opgen.write.user_cache import CACHE_VARIABLE

GOLDEN = Path(__file__).parent / "golden" / "runs.md"
SCALE = "op: scale\ninputs: [x]\nforward: y = 2*x\n"
ELSEWHERE = SCALE.replace("forward: y = 2*x", "outputs: {y: {shape: [...]}}\nforward: {numpy: numpy.cbrt}")


def no_kernels() -> str:
    Path("scale.yaml").write_text(ELSEWHERE)
    quiet("build", "scale.yaml")
    return "opgen compile scale"


def nothing_fits() -> str:
    Path("far.yaml").write_text("op: far\ninputs: {x: {shape: [N]}}\nforward: y = x[N - 20]\n")
    return "opgen build far.yaml"


def too_many() -> str:
    rows = "".join(f"  y{k} = sin({k}*x)\n" for k in range(1, 63))
    Path("many.yaml").write_text(f"op: many\ninputs: [x]\nforward: |\n{rows}")
    return "opgen build many.yaml"


def cannot_be_read() -> str:
    return "opgen build scale.yaml"


def not_utf8() -> str:
    Path("scale.yaml").write_bytes(SCALE.encode().replace(b"y = ", b"\xe4 = "))
    return "opgen build scale.yaml"


def edited() -> str:
    Path("scale.yaml").write_text(SCALE)
    quiet("build", "scale.yaml")
    page = Path("generated/scale/__init__.py")
    page.write_text("# mine\n" + page.read_text())
    return "opgen build scale.yaml"


def leaves() -> str:
    Path("scale.yaml").write_text(SCALE)
    Path("generated").mkdir()
    Path("other").mkdir()
    Path("generated/scale").symlink_to("../other")
    return "opgen build scale.yaml"


def two_specs() -> str:
    for name in ("a.yaml", "b.yaml"):
        Path(name).write_text(SCALE)
    return "opgen build a.yaml b.yaml"


def cannot_be_written() -> str:
    Path("scale.yaml").write_text(SCALE)
    Path("generated").mkdir()
    Path("generated/scale").write_text("a file where the folder belongs")
    return "opgen build scale.yaml"


def no_specs() -> str:
    Path("empty").mkdir()
    return "opgen build empty"


def wrong_setting() -> str:
    Path("scale.yaml").write_text(SCALE)
    Path("pyproject.toml").write_text('[tool.opgen]\nnamspace = "mylib"\n')
    return "opgen build scale.yaml"


def two_namespaces() -> str:
    for op in ("scale", "shift"):
        Path(f"{op}.yaml").write_text(SCALE.replace("scale", op))
    quiet("build", "scale.yaml", "shift.yaml")
    return "opgen build scale.yaml --namespace mylib"


def no_pass() -> str:
    Path("scale.yaml").write_text(SCALE)
    return "opgen show scale.yaml --pass tidi"


def not_ready() -> str:
    Path("scale.yaml").write_text(SCALE)
    quiet("build", "scale.yaml")
    Path("scale.yaml").write_text(SCALE.replace("2*x", "3*x"))
    return "opgen package --name scale --version 1.0"


def no_version() -> str:
    Path("scale.yaml").write_text(SCALE)
    quiet("build", "scale.yaml")
    return "opgen package --name scale"


def no_compiler() -> str:
    Path("scale.yaml").write_text(SCALE)
    quiet("build", "scale.yaml")
    return "CXX=no-such-compiler opgen compile scale"


def refused() -> str:
    Path("scale.yaml").write_text(SCALE)
    quiet("build", "scale.yaml")
    return "opgen compile scale"


def internal() -> str:
    for op in ("scale", "unlucky"):
        Path(f"{op}.yaml").write_text(SCALE.replace("scale", op))
    return "opgen build unlucky.yaml scale.yaml"


SCENES: dict[str, Callable[[], str]] = {
    "OPG401": no_kernels,
    "OPG402": nothing_fits,
    "OPG403": too_many,
    "OPG501": cannot_be_read,
    "OPG502": not_utf8,
    "OPG503": edited,
    "OPG504": leaves,
    "OPG505": two_specs,
    "OPG506": cannot_be_written,
    "OPG507": no_specs,
    "OPG508": wrong_setting,
    "OPG509": two_namespaces,
    "OPG510": no_pass,
    "OPG511": not_ready,
    "OPG512": no_version,
    "OPG601": no_compiler,
    "OPG602": refused,
    "OPG701": internal,
}


CODES = {"OPG402": 0, "OPG701": 2}  # what a command exits with, where that is not 1


def quiet(*arguments: str) -> None:
    assert run(list(arguments)) == 0


def played(code: str, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> str:
    """The command line of a scene, and what it says."""
    line = SCENES[code]()
    capsys.readouterr()
    *variables, command = line.split("opgen ")
    for variable in "".join(variables).split():
        patch.setenv(*variable.split("=", 1))
    patch.setenv(CACHE_VARIABLE, "cache")
    toolchain.cache_clear()
    assert run(command.split()) == CODES.get(code, 1)
    captured = capsys.readouterr()
    told = re.sub(r"\S*(opgen-report-)\w+", r"(a new file) \1…", captured.err.rstrip())
    assert f"[{code}]" in captured.err
    return f"\n## {CATALOGUE[code].title}\n\n```text\n$ {line}\n{told}\n```\n"


def failed(command: list[str]) -> None:
    raise library.CompileError(f"{Path(command[0]).name} -c scale.cpp\nscale.cpp:1:1: error: what is this?\n")


def unlucky(operator: Operator, *arguments: object) -> object:
    """`derive`, with a mistake that one spec comes upon."""
    if operator.name == "unlucky":
        raise KeyError("S")
    return derive(operator, *arguments)


def test_what_commands_say_is_as_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = ["# Mistakes in files, folders and tools\n"]
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for code in SCENES:
        (tmp_path / code).mkdir()
        (tmp_path / code / "pyproject.toml").touch()
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path / code)
            patch.setenv("CXX", "true")
            patch.setattr(library, "_run", failed)
            patch.setattr("opgen.opt.derive.derive", unlucky)
            patch.setattr("tempfile.tempdir", str(tmp_path))
            parts.append(played(code, capsys, patch))
    toolchain.cache_clear()
    fresh = "".join(parts)
    if os.environ.get("OPGEN_UPDATE"):
        GOLDEN.write_text(fresh, encoding="utf-8")
    assert fresh == GOLDEN.read_text(encoding="utf-8")


def test_every_code_that_is_in_no_spec_has_a_scene() -> None:
    assert list(SCENES) == [code for code, row in CATALOGUE.items() if not row.in_spec]
