"""Paths of functions of torch that are in none of its files: looked up as text, since a build imports no torch."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from opgen.diagnostics.model import Bag, Diagnostic, Hint, Severity
from opgen.diagnostics.suggest import did_you_mean_part
from opgen.schema.formula import Word

_OWN = ("__init__.py", "functional.py", "_torch_docs.py", "_C/_VariableFunctions.pyi")  # where torch has its own names
_ASSIGNED = re.compile(r"^(?:def |class )?([A-Za-z]\w*) *(?:=|\()", re.MULTILINE)


def not_in_torch(path: Word, bag: Bag) -> None:
    """Warn of a path into torch whose last name no file of its module mentions."""
    module, _, name = path.rpartition(".")
    text = _text(module) if module.split(".")[0] == "torch" else ""
    if not text or re.search(rf"\b{re.escape(name)}\b", text):
        return
    hints = []
    for hint in did_you_mean_part(name, dict.fromkeys(_ASSIGNED.findall(text))):
        words = hint.replace("`", f"`{module}.", 1)
        hints.append(Hint(words, str(path), f"{module}.{hint.new}") if isinstance(hint, Hint) else words)
    message = f"`{module}` has no `{name}`"
    bag.add(Diagnostic("OPG122", message, path.span, "not found", hints=tuple(hints), severity=Severity.WARNING))


@lru_cache(maxsize=64)
def _text(module: str) -> str:
    """All text of a module of torch; empty where it is not known to be all."""
    found = find_spec("torch")
    folders = [Path(p) for p in (found.submodule_search_locations or ())] if found is not None else []
    if len(folders) != 1:
        return ""
    inside = module.split(".")[1:]
    own = folders[0].joinpath(*inside)
    files = [folders[0] / name for name in _OWN] if not inside else [own.with_suffix(".py")]
    if inside and (own / "__init__.py").is_file():
        files = [own / "__init__.py"]
    if not all(file.is_file() for file in files):
        return ""
    return "\n".join(file.read_text(encoding="utf-8", errors="replace") for file in files)
