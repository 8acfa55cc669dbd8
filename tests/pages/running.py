"""Run a page: its blocks in order, in an empty folder, as somebody would who types them."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

import opgen
from opgen.diagnostics.text import render_all

from . import shell
from .blocks import COMPILES, COMPLETED, LONG, NOT_RUN, ROOT, Block

LANGUAGES = {"console", "cpp", "python", "sh", "text", "toml", "yaml"}


def unclassified(block: Block) -> str:
    """Why nobody knows what to do with a block; empty if that is known."""
    if block.language not in LANGUAGES:
        return f"no language of {', '.join(sorted(LANGUAGES))}"
    if block.mark == NOT_RUN and not block.said:
        return "a block that is not run says why"
    if block.language == "cpp" and block.mark != NOT_RUN:
        return "a program in C++ says which test compiles it"
    if block.language in ("sh", "console"):
        for command in shell.commands(block):
            wrong = shell.misused(command)
            if wrong:
                return f"opgen {' '.join(command.arguments)}: {wrong}"
            if block.mark != NOT_RUN and command.program not in (*shell.HERE, *shell.OTHERS):
                return f"{command.program or command.words}: not among those that are run, nor among those that are not"
    return ""


def run(found: Sequence[Block], folder: Path, thorough: bool, compiles: bool) -> int:
    """Run the blocks of a page that belong to a tier, and say how many did."""
    names: dict[str, object] = {"__name__": "__main__"}
    count = 0
    name = re.sub(r"\W", "_", found[0].page).lower()  # operators of several pages may be called alike
    (folder / "pyproject.toml").write_text(f'[tool.opgen]\nnamespace = "{name}"\n', encoding="utf-8")
    with _apart(folder):
        for block in found:
            if runs(block, thorough, compiles):
                _run(block, folder, names)
                count += 1
    return count


def runs(block: Block, thorough: bool, compiles: bool) -> bool:
    """Whether a block is run in a tier, with or without a compiler."""
    left_out = {NOT_RUN} | (set() if compiles else {COMPILES}) | (set() if thorough else {LONG, COMPILES})
    return block.mark not in left_out and block.language not in ("text", "cpp")


def _run(block: Block, folder: Path, names: dict[str, object]) -> None:
    if block.path:
        path = folder / block.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return
    match block.language:
        case "python":
            _provide(set(re.findall(r"from generated\.(\w+) import", block.text)), folder, build=True)
            code = "\n" * block.line + block.text  # so that an error names the line of the page
            exec(compile(code, block.page, "exec"), names)
        case "yaml":
            _yaml(block, folder)
        case "toml":
            tomllib.loads(block.text)
            (folder / "pyproject.toml").write_text(block.text, encoding="utf-8")
        case "sh" | "console":
            for command in shell.commands(block):
                _provide({re.sub(r"specs/|\.yaml", "", word) for word in command.arguments[1:]}, folder)
                if command.program in shell.HERE:
                    _command(command, block, folder)


def _provide(names: set[str], folder: Path, build: bool = False) -> None:
    """Operators that opgen brings are there for a page that names them, as they are in a checkout."""
    for name in sorted(names):
        shipped, spec = ROOT / "specs" / f"{name}.yaml", folder / "specs" / f"{name}.yaml"
        if shipped.is_file() and not spec.exists():
            spec.parent.mkdir(exist_ok=True)
            shutil.copy(shipped, spec)
        if spec.is_file() and build:
            assert not opgen.build(spec).failed
            importlib.invalidate_caches()


def _yaml(block: Block, folder: Path) -> None:
    """Build a spec, with what completes it; other YAML is for other programs, and is read."""
    text = block.text if block.mark != COMPLETED else f"{block.said}\n{block.text}"
    if not text.startswith(("op:", "# yaml-language-server")) and "\nop:" not in text:
        _for_others(yaml.safe_load(text), block)
        return
    name = yaml.safe_load(text)["op"]
    path = folder / "specs" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    made = opgen.build(path)
    assert not made.diagnostics, f"{block.place}\n{render_all(made.diagnostics)}"
    importlib.invalidate_caches()


def _for_others(found: dict[str, Any], block: Block) -> None:
    """What a page says to other programs: steps of a workflow and hooks are there."""
    for job in found.get("jobs", {}).values():
        for step in job["steps"]:
            for command in shell.split(step.get("run", "")):
                assert command.program in (*shell.HERE, *shell.OTHERS), f"{block.place}: {command.program}"
                assert not shell.misused(command), f"{block.place}: {shell.misused(command)}"
    known = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    used = {hook["id"] for repository in found.get("repos", ()) for hook in repository["hooks"]}
    assert used <= known, f"{block.place}: {used - known}"
    assert found.keys() <= {"name", "on", True, "jobs", "repos"}, (
        f"{block.place}: a part of a spec says what completes it"
    )


# Of a thread of torch's collectives that still lets go of tensors where Python has come to its end.
_LEFT_BEHIND = "terminate called without an active exception"


def _command(command: shell.Command, block: Block, folder: Path) -> None:
    code, printed = shell.run(command, folder)
    if _LEFT_BEHIND in printed:  # what `tests/distributed/processes.py` leaves out, and a page should not
        code, printed = shell.run(command, folder)
    importlib.invalidate_caches()
    what = f"{block.place}: {' '.join(command.words)}\n{printed}"
    findings = any(word in command.shown for word in ("error[", "warning[", "differ from"))
    assert code == (1 if findings else 0), f"{what}\nexit code {code}"
    assert not command.shown.strip() or shell.agrees(command.shown, printed), f"{what}\nis shown as\n{command.shown}"


@contextmanager
def _apart(folder: Path) -> Iterator[None]:
    """Generated packages of other pages, and those of this repository, are not seen by a page."""
    kept = _forget("generated")
    before = list(sys.path)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before
        for path in folder.iterdir():
            _forget(path.stem)
        sys.modules.update(kept)


def _forget(package: str) -> dict[str, ModuleType]:
    """Take a package and all that it holds out of what is imported, and return it.

    Dynamo keeps the modules that it saw by their names; it would guard those of the page before.
    """
    symbolic_convert = sys.modules.get("torch._dynamo.symbolic_convert")
    if symbolic_convert is not None:
        symbolic_convert._import_module.cache_clear()
    return {name: sys.modules.pop(name) for name in [*sys.modules] if name.split(".")[0] == package}
