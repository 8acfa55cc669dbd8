"""For which machines a wheel is: `py3-none-manylinux_2_34_x86_64`.

The libraries know no Python, so the tag names none but its language. On Linux it is the oldest `manylinux` whose
systems have everything that the libraries ask for; the versions that belong together are those of auditwheel. Torch's
own libraries are asked for as well; its wheels bring them, and are themselves for `manylinux_2_28` and later.
"""

from __future__ import annotations

import platform
import sys
import sysconfig
from collections.abc import Iterable

from opgen.ship.elf import Version, needed_versions

ANYWHERE = "py3-none-any"
_SYSTEMS: tuple[tuple[int, dict[str, Version]], ...] = (  # of glibc 2.N and later, what else there is
    (28, {"GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}),
    (31, {"GLIBCXX": (3, 4, 28), "CXXABI": (1, 3, 12), "GCC": (7, 0, 0)}),
    (34, {"GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)}),
    (35, {"GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}),
    (39, {"GLIBCXX": (3, 4, 33), "CXXABI": (1, 3, 15), "GCC": (14, 0, 0)}),
)


def tag_of(libraries: Iterable[bytes]) -> str:
    """The tag of a wheel with these libraries: of one without any, it runs anywhere."""
    given = tuple(libraries)
    if not given:
        return ANYWHERE
    if sys.platform != "linux":
        return f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    minors = [_minor(needed_versions(data)) for data in given]
    known = [minor for minor in minors if minor is not None]
    system = f"manylinux_2_{max(known)}" if len(known) == len(minors) else "linux"  # which indices of packages refuse
    return f"py3-none-{system}_{platform.machine()}"


def _minor(needed: dict[str, Version] | None) -> int | None:
    """The least N so that systems with glibc 2.N have what a library asks for; None where that is not known."""
    if needed is None:
        return None
    major, minor = needed.get("GLIBC", (2, 0))[:2]
    fitting = (n for n, has in _SYSTEMS if all(needed.get(family, ()) <= version for family, version in has.items()))
    least = next(fitting, None)
    return None if least is None or major != 2 else max(least, minor)
