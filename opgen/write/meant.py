"""What is meant by a value in `[tool.opgen]` that does not fit: the same as opgen takes it, or that it is left out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType

_NAMED = re.compile(r"(?:(?:sm|compute)[_-]?)?(\d+?)(?:\.?(\d))?([af]?)\s*(\+?\s*ptx)?", re.IGNORECASE)  # as elsewhere
_BETWEEN = re.compile(r"[\s;,]+(?!\+?ptx)", re.IGNORECASE)  # the words of a list in one string
_PATTERN = frozenset("*?[]{}")
_LISTS = ("specs", "isa", "cuda", "second_order")
_EVERYTHING = ("native", "auto", "default", "max", "all", "host", "None", "none", "-1", "0", "True")
_WITHOUT: Mapping[str, str] = MappingProxyType({
    "jobs": "leave it out: without it there are as many as there are cores",
    "isa": "leave it out: without it kernels are for the best of this machine",
    "cuda": "leave it out: without it kernels are for the devices here",
})  # fmt: skip
_SETS: tuple[tuple[str, str], ...] = (  # what instruction sets are called elsewhere
    (r"m?avx512.*|x8664v4|(skylake|cascadelake|icelake|sapphirerapids).*", "avx512"),
    (r"m?avx2|m?fma|haswell|broadwell|znver\d?|x8664v3", "avx2"),
    (r"m?sse[\d.]*|generic|none|x8664(v[12])?|amd64", "baseline"),
)
_FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType({  # of GPUs, as torch names them, and some of their members
    "volta": ("7.0+PTX",), "turing": ("7.5+PTX",), "ampere": ("8.0", "8.6+PTX"), "ada": ("8.9+PTX",),
    "hopper": ("9.0+PTX",), "v100": ("7.0",), "t4": ("7.5",), "a100": ("8.0",), "a10": ("8.6",), "l4": ("8.9",),
    "l40": ("8.9",), "h100": ("9.0",), "h200": ("9.0",), "b200": ("10.0",),
})  # fmt: skip


def hint_of(key: str, value: object, root: Path, fits: Callable[[object], bool]) -> str:
    """What to do about a value that does not fit; empty where it is not clear."""
    if key in _WITHOUT and str(value) in _EVERYTHING:
        return _WITHOUT[key]
    words = _words(key, value)
    meant = _meant(key, words, root)
    if not words or not fits(meant):
        return ""
    line = f"write `{key} = {json.dumps(meant, ensure_ascii=False)}`"
    patterns = key == "specs" and any(set(word) & _PATTERN for word in words)
    return f"{line}: a folder stands for all specs below it" if patterns else line


def capability(word: str) -> str:
    """A compute capability as torch writes it, 9.0 for what is sm_90 elsewhere; empty where it is none."""
    named = _NAMED.fullmatch(word.strip())
    return f"{named[1]}.{named[2] or 0}{named[3].lower()}{'+PTX' if named[4] else ''}" if named else ""


def as_word(name: str) -> str:
    """A name of letters, digits and `_`."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _meant(key: str, words: Sequence[str], root: Path) -> object:
    """The value as it may be meant; whether it fits, others say."""
    if key in _LISTS:
        return [*dict.fromkeys(each for word in words for each in _each(key, word, root))]
    (word,) = words if len(words) == 1 else ("",)
    match key:
        case "out":
            return _folder(word, root)
        case "namespace":
            return as_word(word.removeprefix("torch.ops."))
        case _:
            return int(word.removesuffix(".0")) if re.fullmatch(r"\d{1,9}(\.0)?", word) else None


def _words(key: str, value: object) -> list[str]:
    """The words of a value; numbers are some where numbers are meant."""
    if isinstance(value, list):
        return [word for each in value for word in _words(key, each)]
    if isinstance(value, str):
        return [word for word in _BETWEEN.split(value) if word] if key in _LISTS and key != "specs" else [value]
    return [str(value)] if key in _WITHOUT and isinstance(value, int | float) else []


def _each(key: str, word: str, root: Path) -> tuple[str, ...]:
    """What a word of a list stands for."""
    match key:
        case "specs":
            return (_folder(word, root),)
        case "isa":
            plain = re.sub(r"[^a-z0-9]", "", word.lower())
            return (next((name for form, name in _SETS if re.fullmatch(form, plain)), plain),)
        case "cuda":
            plain = re.sub(r"^(nvidia|geforce|tesla)[\s_-]*", "", word.strip().lower())
            return _FAMILIES.get(plain, (capability(word),))
        case _:
            return (as_word(word),)


def _folder(word: str, root: Path) -> str:
    """A path without what is a pattern, relative to the project where it lies there; empty where none is left."""
    parts = PurePosixPath(word.replace("\\", "/")).parts
    fixed = PurePosixPath(*parts[: next((k for k, part in enumerate(parts) if set(part) & _PATTERN), len(parts))])
    if fixed.is_absolute():
        fixed = PurePosixPath(os.path.relpath(fixed, root)) if fixed.is_relative_to(root) else PurePosixPath()
    return "" if str(fixed) == "." else str(fixed)
