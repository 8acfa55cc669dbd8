"""`opgen.use_backend`: which back end the generated operators of all packages run, for the thread that asks.

Generated packages do not know opgen. What they share with it and with one another lies with torch: the choice of a
thread, which torch hands on to the threads of a backward pass, and whom to tell of it (`_runtime/choice.py` of a
package has the other half). Of a choice for one package and one for all, the later one counts.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from typing import Any

BACKENDS = ("auto", "native", "torch")
_KEY = "opgen_backend"


class use_backend:  # noqa: N801
    """Choose what all generated operators run: `torch`, `native` (an error where no kernel is there) or `auto`.

    The choice holds for this thread from now on, or with `with`, until the end of the block; also for packages that are
    imported later. `OPGEN_BACKEND` is the choice where nobody makes one.
    """

    def __init__(self, backend: str) -> None:
        if backend not in BACKENDS:
            raise ValueError(f"the back end is auto, native or torch, not {backend!r}")
        self._shared = _shared()
        self._before = _kept()
        self._choose((next(self._shared["numbers"]), backend))

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        self._choose(self._before)

    def _choose(self, choice: tuple[int, str] | None) -> None:
        _keep(choice)
        self._shared["asked"] = True
        for listener in self._shared["listeners"]:
            listener()


def _shared() -> dict[str, Any]:
    import torch

    fresh = {"asked": False, "listeners": [], "numbers": itertools.count()}
    shared: dict[str, Any] = vars(torch.ops).setdefault("__opgen_backend__", fresh)
    return shared


def _kept() -> tuple[int, str] | None:
    import torch

    if not hasattr(torch._C, "_stash_obj_in_tls"):
        found: tuple[int, str] | None = vars(_of_threads()).get(_KEY)
        return found
    return torch._C._get_obj_in_tls(_KEY) if torch._C._is_key_in_tls(_KEY) else None


def _keep(choice: tuple[int, str] | None) -> None:
    import torch

    if not hasattr(torch._C, "_stash_obj_in_tls"):
        vars(_of_threads())[_KEY] = choice
        return
    count = sys.getrefcount(choice)
    torch._C._stash_obj_in_tls(_KEY, choice)
    if sys.getrefcount(choice) <= count:  # torch 2.11 lets go of what it has not taken hold of
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(choice))


def _of_threads() -> threading.local:
    import torch

    found: threading.local = vars(torch.ops).setdefault("__opgen_threads__", threading.local())
    return found
