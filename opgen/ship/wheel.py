"""A wheel: a zip file with the files of a package and what installers ask of it, the same bytes from the same files.

In: a `Release` (name, version, what is needed) and the files by their place in the wheel. Out: the bytes. All files
have one date, `SOURCE_DATE_EPOCH` or the first that zip files know, and one of two modes, and they lie in order.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field

from opgen.version import __version__

_FIRST = 315532800  # 1980-01-01, before which zip files have no dates
_EPOCH = "SOURCE_DATE_EPOCH"
_NAME = re.compile(r"[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")
_VERSION = re.compile(
    r"(\d+!)?\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[a-z0-9]+([._-][a-z0-9]+)*)?"
)  # as PEP 440 spells them


@dataclass(frozen=True, slots=True)
class Release:
    """What a wheel is called and says of itself; `licenses` are files by their names in the project."""

    name: str
    version: str
    requires: tuple[str, ...]
    python: str
    summary: str = ""
    license: str = ""
    licenses: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """Name and version as files and folders have them."""
        return f"{re.sub(r'[-_.]+', '_', self.name).lower()}-{self.version.replace('-', '_')}"

    def file_name(self, tag: str) -> str:
        return f"{self.stem}-{tag}.whl"


def is_name(text: str) -> bool:
    """Whether a distribution may have this name."""
    return _NAME.fullmatch(text) is not None


def is_version(text: str) -> bool:
    """Whether this is a version as installers order them, spelt the one way that needs no change."""
    return _VERSION.fullmatch(text) is not None


def packed(release: Release, files: Mapping[str, bytes], tag: str) -> bytes:
    """The wheel with these files; what installers read lies at its end, where they look first."""
    info = f"{release.stem}.dist-info"
    told = {
        f"{info}/METADATA": _metadata(release).encode(),
        f"{info}/WHEEL": _wheel(tag).encode(),
        **{f"{info}/licenses/{name}": data for name, data in sorted(release.licenses.items())},
    }
    entries = {**dict(sorted(files.items())), **told}
    record = f"{info}/RECORD"
    lines = [f"{_quoted(name)},sha256={_digest(data)},{len(data)}\n" for name, data in entries.items()]
    entries[record] = "".join((*lines, f"{record},,\n")).encode()
    stated = os.environ.get(_EPOCH, "")
    date = time.gmtime(max(_FIRST, int(stated) if stated.isdecimal() else 0))[:6]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name, date)
            entry.create_system = 3  # where the mode of a file means something, whatever this machine is
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()


def _metadata(release: Release) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {release.name}", f"Version: {release.version}"]
    lines += [f"Summary: {' '.join(release.summary.split())}"] if release.summary.strip() else []
    lines += [f"License-Expression: {release.license}"] if release.license else []
    lines += [f"License-File: {name}" for name in sorted(release.licenses)]
    lines += [f"Requires-Python: {release.python}"]
    lines += [f"Requires-Dist: {' '.join(need.split())}" for need in release.requires]
    return "\n".join((*lines, ""))


def _wheel(tag: str) -> str:
    pure = str(tag.endswith("-any")).lower()
    return f"Wheel-Version: 1.0\nGenerator: opgen {__version__}\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name
