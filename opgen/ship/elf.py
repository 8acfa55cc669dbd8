"""Which versions of the system's libraries a compiled library asks for, as its ELF sections tell.

Of the many symbols that a library takes from others, most name a version: `memcpy@GLIBC_2.14`. The highest of each
family is what a machine has to have, which decides for which machines a wheel is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct

Version = tuple[int, ...]
_HEAD = Struct("<4sBB34xQ10xHH")  # magic, class, byte order, place, size and number of section headers
_SECTION = Struct("<4xI16xQQI20x")  # type, place, size, section that it refers to
_NEED = Struct("<2xHIII")  # number of versions, name of the library, place of the first, of the next library
_VERSION = Struct("<8xII")  # name, place of the next
_VERNEED = 0x6FFFFFFE
_NAME = re.compile(rb"([A-Z]+)_(\d+(?:\.\d+)*)")


def needed_versions(library: bytes) -> dict[str, Version] | None:
    """The highest version of each family of symbols; None for what is no little-endian ELF file of 64 bits."""
    if len(library) < _HEAD.size + 2 or library[:6] != b"\x7fELF\x02\x01":
        return None
    *_, start, size, count = _HEAD.unpack_from(library)
    sections = [_SECTION.unpack_from(library, start + k * size) for k in range(count)]
    found: dict[str, Version] = {}
    for kind, place, _, strings in sections:
        if kind == _VERNEED:
            for name in _names(library, place, sections[strings][1]):
                if match := _NAME.fullmatch(name):
                    version = tuple(map(int, match[2].split(b".")))
                    family = match[1].decode()
                    found[family] = max(found.get(family, ()), version)
    return found


def _names(library: bytes, place: int, strings: int) -> Iterator[bytes]:
    """The versions that a section lists: libraries, each with its own list; places are relative to the one before."""
    while True:
        _, _, first, step = _NEED.unpack_from(library, place)
        inner = place + first
        while True:
            name, following = _VERSION.unpack_from(library, inner)
            yield library[strings + name : library.index(b"\0", strings + name)]
            if not following:
                break
            inner += following
        if not step:
            return
        place += step
