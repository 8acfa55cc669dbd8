"""What a wheel is called and what its package is imported as: what the command says, else what the project says.

In: the settings of a project and what was given beside them. Out: a `Release` and the parts of the import name, or the
diagnostics that say what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from opgen.diagnostics.model import Bag
from opgen.ship.wheel import Release, is_name, is_version
from opgen.write.paths import GENERATED
from opgen.write.settings import Settings, import_path, namespace_of

_TORCH = "torch>=2.11"  # the stable ABI that libraries are compiled for
_PYTHON = ">=3.11"
_LICENSES = ("LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*")  # what is looked for where nothing is stated
_REQUIREMENT = re.compile(r"[A-Za-z0-9._-]+")


def release_of(settings: Settings, name: str | None, version: str | None, bag: Bag) -> Release:
    """Name, version and what else the project says of itself; what is missing is told to the bag."""
    project = settings.project
    found = name or settings.name
    number = version or _text(project.get("version"))
    hint = "pyproject.toml"
    if not is_name(found):
        message = f"'{found}' cannot be the name of a wheel" if found else "the wheel has no name"
        bag.error("OPG512", message, None, hints=[f"--name NAME, or `name` below [project] in {hint}"])
    if not is_version(number):
        message = f"'{number}' cannot be the version of a wheel" if number else "the wheel has no version"
        stated = f"`version` below [project] in {hint}"
        if "version" in _list(project.get("dynamic")):
            message = f"the version in {hint} is dynamic: what builds the project computes it, and opgen does not"
            stated += ', in place of "version" in `dynamic`'
        bag.error("OPG512", message, None, hints=[f"--version 1.0.0 says it for this wheel, or {stated}"])
    needs = [need for need in _list(project.get("dependencies")) if isinstance(need, str)]
    if not any(_names_torch(need) for need in needs):
        needs.insert(0, _TORCH)
    return Release(
        name=found,
        version=number,
        requires=tuple(needs),
        python=_text(project.get("requires-python")) or _PYTHON,
        summary=_text(project.get("description")),
        license=_text(project.get("license")),
        licenses=dict(_licenses(settings.root, project.get("license-files"))) if settings.root else {},
    )


def import_name(out: Path, given: str | None, bag: Bag) -> tuple[str, ...]:
    """The parts of the name that the package will be imported by: those of its folder, where somebody chose it."""
    found = tuple(given.split(".")) if given else import_path(out)
    if found == (GENERATED,):
        found = (namespace_of(out, None, bag)[0],)
    name = ".".join(found)
    if not all(part.isidentifier() for part in found):
        hints = ["--import-name mylib.ops states another one"]
        bag.error("OPG512", f"'{name}' cannot be the name that a package is imported by", None, hints=hints)
    elif not given and (around := _package_around(out)) is not None:
        bag.error(
            "OPG512",
            f"{out} is part of the package {around}, which has code of its own that the wheel would lack",
            None,
            hints=[
                "--import-name mylib_ops ships the operators by themselves, under a name of their own",
                "in the wheel of the whole package, opgen's build hook ships them: docs/shipping.md",
            ],
        )
    return found


def _package_around(out: Path) -> Path | None:
    """The regular package that a folder is part of."""
    around = out.absolute().parent
    return out.parent if (around / "__init__.py").is_file() else None


def _names_torch(need: str) -> bool:
    match = _REQUIREMENT.match(need.strip())
    return match is not None and match[0].lower() == "torch"


def _licenses(root: Path, stated: object) -> Iterator[tuple[str, bytes]]:
    """The texts of the license that the project names, or that lie where everybody looks."""
    patterns = [str(p) for p in (stated if isinstance(stated, list) else _LICENSES)]
    inside = [p for p in patterns if p and not PurePath(p).is_absolute() and ".." not in PurePath(p).parts]
    for path in (path for p in inside for path in sorted(root.glob(p)) if path.is_file()):
        yield path.relative_to(root).as_posix(), path.read_bytes()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
