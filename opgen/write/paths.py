"""Where files may go, and what a spec is called in them.

Paths in generated text must be the same on every machine and in every checkout, so a spec is named relative to its
project (the nearest folder upwards that holds `pyproject.toml` or `.git`), never absolutely. Names that come from a
spec are only ever joined to the output folder through `inside`.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path, PurePosixPath, PureWindowsPath

CACHE = ".opgen_cache"
LOCK = "build.lock"  # in the cache folder, held by the process that writes
MANIFEST = "manifest.json"
GENERATED = "generated"  # the output folder where none is named
_PROJECT_MARKS = ("pyproject.toml", ".git")


def spec_label(spec: Path) -> str:
    """The name of a spec that is the same in every checkout."""
    folder = project_folder(spec)
    return Path(os.path.abspath(spec)).relative_to(folder).as_posix() if folder is not None else spec.name


def project_folder(path: Path) -> Path | None:
    """The folder of the project that a path lies in."""
    marked = (f for f in Path(os.path.abspath(path)).parents if any((f / mark).exists() for mark in _PROJECT_MARKS))
    return next(marked, None)


def build_line(spec: Path, out: Path, namespace: str | None = None) -> str:
    """The command that generates an operator anew, from the root of its project; the same in every checkout.

    `namespace` is one that has to be given. Without a project, it is called in the nearest folder that holds spec and
    operators. Where these are not in one project, their paths are from the roots of two.
    """
    whole, folder = Path(os.path.abspath(spec)), Path(os.path.abspath(out))
    if project_folder(whole) is None and project_folder(folder / "_") is None:  # the nearest folder that holds both
        root = Path(os.path.commonpath((whole.parent, folder.parent)))
        label, where = whole.relative_to(root).as_posix(), folder.relative_to(root).as_posix()
    else:
        label, where = spec_label(spec), _out_label(whole, folder)
    words = ["opgen", "build", label]
    words += ["--out", where] if where != GENERATED else []
    words += ["--namespace", namespace] if namespace else []
    return shlex.join(words)


def _out_label(spec: Path, out: Path) -> str:
    """The name of an output folder that is the same in every checkout."""
    root = project_folder(spec) or spec.parent
    if not out.is_relative_to(root):
        root = project_folder(out) or out.parent
    return out.relative_to(root).as_posix()


class OutsideError(ValueError):
    """A file name would leave the output folder."""


def inside(out: Path, relative: str) -> Path:
    """`out / relative`, refused where the name or a symbolic link leads out of `out`."""
    pure = PurePosixPath(relative)
    unsafe = pure.is_absolute() or not pure.parts or ".." in pure.parts
    if unsafe or "\\" in relative or "\0" in relative or PureWindowsPath(relative).drive:
        raise OutsideError(relative)
    target = out.joinpath(*pure.parts)
    if not target.parent.resolve().is_relative_to(out.resolve()):
        raise OutsideError(relative)
    return target
