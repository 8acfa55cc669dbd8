"""Which machines a library is for, by the versions of symbols that it asks for."""

from __future__ import annotations

import platform
import struct
import sys
from pathlib import Path

import pytest

from opgen.ship.elf import needed_versions
from opgen.ship.tags import ANYWHERE, tag_of


def library(*names: str) -> bytes:
    """An ELF file with nothing in it but the versions that it needs, each of a library of its own but the first two."""
    strings = b"\0" + b"".join(n.encode() + b"\0" for n in names)
    offsets = [strings.index(n.encode() + b"\0") for n in names]
    groups = [offsets[:2], *([o] for o in offsets[2:])]
    needed = b""
    for k, group in enumerate(groups):
        step = 16 + 16 * len(group) if k + 1 < len(groups) else 0
        needed += struct.pack("<HHIII", 1, len(group), 0, 16, step)
        for j, offset in enumerate(group):
            needed += struct.pack("<IHHII", 0, 0, 2, offset, 16 if j + 1 < len(group) else 0)
    sections = [
        struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, place, size, link, 0, 0, 0)
        for kind, place, size, link in (
            (0, 0, 0, 0),
            (0x6FFFFFFE, 64 + len(strings), len(needed), 2),
            (3, 64, len(strings), 0),
        )
    ]
    table = 64 + len(strings) + len(needed)
    head = (
        b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 0)
    )
    return head + strings + needed + b"".join(sections)


@pytest.fixture(autouse=True)
def _on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def test_the_highest_version_of_each_family_counts() -> None:
    found = needed_versions(library("GLIBC_2.2.5", "GLIBC_2.14", "GLIBC_PRIVATE", "CXXABI_1.3.9", "CXXABI_FLOAT128"))
    assert found == {"GLIBC": (2, 14), "CXXABI": (1, 3, 9)}


@pytest.mark.parametrize(
    ("names", "system"),
    [
        (("GLIBC_2.2.5",), "manylinux_2_28"),  # torch's own wheels are for no older ones
        (("GLIBC_2.32", "GLIBCXX_3.4.21"), "manylinux_2_32"),
        (("GLIBC_2.17", "GLIBCXX_3.4.29"), "manylinux_2_34"),
        (("GLIBC_2.17", "GCC_12.0.0"), "manylinux_2_35"),
        (("GLIBC_2.41", "CXXABI_1.3.15"), "manylinux_2_41"),
        (("GLIBCXX_3.4.99",), "linux"),
    ],
)
def test_the_oldest_system_that_has_all_of_it_is_named(names: tuple[str, ...], system: str) -> None:
    assert tag_of([library("GLIBC_2.2.5"), library(*names)]) == f"py3-none-{system}_x86_64"


def test_a_wheel_without_libraries_runs_anywhere() -> None:
    assert tag_of([]) == ANYWHERE
    assert tag_of([b"of another format"]) == "py3-none-linux_x86_64"


def test_real_libraries_are_read() -> None:
    import torch

    found = needed_versions(Path(torch._C.__file__ or "").read_bytes())
    assert found is None or found.get("GLIBC", (0,)) >= (2, 2)
