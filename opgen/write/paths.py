"""Where files may go, and what a spec is called in them.

Paths in generated text must be the same on every machine and in every checkout, so a spec is named relative to its
project (the nearest folder upwards that holds `pyproject.toml` or `.git`), never absolutely. Names that come from a
spec are only ever joined to the output folder through `inside`.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

CACHE = ".opgen_cache"
LOCK = "build.lock"  # in the cache folder, held by the process that writes
MANIFEST = "manifest.json"
_PROJECT_MARKS = ("pyproject.toml", ".git")


def spec_label(spec: Path) -> str:
    """The name of a spec that is the same in every checkout."""
    full = spec.absolute()
    for folder in full.parents:
        if any((folder / mark).exists() for mark in _PROJECT_MARKS):
            return full.relative_to(folder).as_posix()
    return full.name


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
