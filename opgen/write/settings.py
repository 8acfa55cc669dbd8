"""What a project says of the code generated for it: the table `[tool.opgen]` of its `pyproject.toml`.

    [tool.opgen]
    specs = "specs"        # or a list: files and folders
    out = "mylib/ops"      # of the generated operators
    namespace = "mylib"    # the operators are torch.ops.mylib.*
    jobs = 4               # compilers, or processes that generate, at a time
    isa = ["avx2"]         # instruction sets that CPU kernels are compiled for, beside the baseline
    cuda = ["9.0+PTX"]     # compute capabilities that CUDA kernels are compiled for
    second_order = ["well"]  # operators whose gradients of gradients have kernels for the CPU

Paths are relative to the file. The project of a command is that of the folder it is called in, the project of an output
folder the nearest one upwards that holds `pyproject.toml` or `.git`. A key that nobody reads is refused, so that a
misspelt one does not go unnoticed; so is a table of such keys with another name, `[opgen]` or `[tools.opgen]`. Where no
namespace is stated, it follows from where the package lies, by names that are the same on every machine.
"""

from __future__ import annotations

import keyword
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from opgen.diagnostics.model import Bag, Source, Span, UserError
from opgen.diagnostics.suggest import closest
from opgen.write.meant import as_word, hint_of
from opgen.write.paths import GENERATED, project_folder

T = TypeVar("T")
_PLACE = "pyproject.toml"
_KEYS = ("specs", "out", "namespace", "jobs", "isa", "cuda", "second_order")
ISA = ("baseline", "avx2", "avx512", "all")
_CAPABILITY = re.compile(r"\d+\.\d[af]?(\+PTX)?")
_NAMESPACE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SOURCE_FOLDERS = ("src", "lib", "python")  # of packages: their names are no part of those
# whose operators are not ours to define, or what `torch.ops` itself has
_OTHERS = """
aten prim prims prepacked c10 c10d _c10d_functional c10d_functional cuda debugprims export fsdp higher_order image
inductor mkl mkldnn mkldnn_prepacked onednn profiler quantization quantized quantized_decomposed rngprims sparse
static_runtime symm_mem torch torchaudio torchvision xnnpack fbgemm import_module load_library loaded_libraries
"""
_TAKEN = frozenset(_OTHERS.split())
_NAME_HINT = "a name of letters, digits and _ that no library has for its operators; such as that of your package"


def _is_path(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not os.path.isabs(value) and not set(value) & set("*?")


def _are_words(value: object, fits: Callable[[str], bool]) -> bool:
    words = value if isinstance(value, list) else [value]
    return bool(words) and all(isinstance(word, str) and fits(word) for word in words)


_FORMS: tuple[tuple[str, str, Callable[[object], bool], str], ...] = (  # what a value is, what fits, what would
    ("namespace", "the namespace of operators", lambda v: isinstance(v, str) and usable(v), _NAME_HINT),
    ("out", "the output folder", _is_path, 'a folder, relative to pyproject.toml: out = "mylib/ops"'),
    (
        "specs",
        "the specs",
        lambda v: _is_path(v) or (isinstance(v, list) and bool(v) and all(map(_is_path, v))),
        'files and folders, relative to pyproject.toml, no patterns: specs = ["specs"]',
    ),
    ("jobs", "the number of jobs", lambda v: type(v) is int and v > 0, "a whole number from 1: jobs = 4"),
    (
        "isa",
        "the instruction sets",
        lambda v: _are_words(v, lambda word: word in ISA),
        f"one or a list of {', '.join(ISA)}",
    ),
    (
        "cuda",
        "the compute capabilities",
        lambda v: _are_words(v, lambda word: _CAPABILITY.fullmatch(word) is not None),
        'one or a list: cuda = ["8.0", "9.0+PTX"]',
    ),
    (
        "second_order",
        "the operators whose second order has kernels",
        lambda v: v == [] or _are_words(v, str.isidentifier),
        'names of operators: second_order = ["well"]',
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project states; None for what it leaves to opgen.

    Paths are as they would be written from the current folder; `specs_place` is where the file names them, and
    `second_order_place` where it names operators; `project` is the table `[project]`, and `root` its folder, where
    there is one.
    """

    namespace: str | None = None
    project: Mapping[str, object] = field(default_factory=dict)
    root: Path | None = None
    specs: tuple[Path, ...] = ()
    specs_place: Span | None = None
    out: Path | None = None
    jobs: int | None = None
    isa: tuple[str, ...] = ()
    cuda: tuple[str, ...] = ()
    second_order: tuple[str, ...] = ()
    second_order_place: Span | None = None

    @property
    def name(self) -> str:
        """What the project itself is called."""
        stated = self.project.get("name")
        return stated if isinstance(stated, str) else ""


def settings_here() -> Settings:
    """What the project of the current folder states; a `UserError` where that cannot be."""
    return settings_of(Path("_"))


def settings_of(out: Path) -> Settings:
    """What the project of an output folder states; a `UserError` where that cannot be."""
    bag = Bag()
    found = _settings(out, bag)
    if bag.items:
        raise UserError(bag.items)
    return found


def command(*words: str, out: Path) -> str:
    """A command about an output folder that works as it stands from where this process runs."""
    usual = _settings(Path("_"), Bag()).out or Path(GENERATED)
    where = [] if out == usual else ["--out", str(out)]
    return shlex.join(["opgen", *words, *where])


def namespace_of(out: Path, given: str | None, bag: Bag) -> tuple[str, bool]:
    """The namespace of the operators in an output folder, and whether it is `given` and nowhere else to be found."""
    stated = _settings(out, bag)
    own = stated.namespace or _derived(out, stated.name)
    if given is not None and not usable(given):
        bag.error("OPG508", f"'{given}' cannot be the namespace of operators", None, hints=[_NAME_HINT])
    return (own, False) if given is None else (given, given != own)


def second_order_of(out: Path) -> tuple[str, ...]:
    """The operators whose second order has kernels; what is wrong with the settings is told of the namespace."""
    return _settings(out, Bag()).second_order


def are_operators(out: Path, known: Sequence[str], bag: Bag) -> bool:
    """Whether no name under `second_order` is nearly that of an operator, and none's; a mistake where one is."""
    stated = _settings(out, Bag())
    others = [op for op in known if op not in stated.second_order]
    slips = [(n, near) for n in stated.second_order if n not in known and (near := closest(n, others)) is not None]
    for name, near in slips:
        hints = [f"did you mean `{near}`?"]
        bag.error("OPG508", f"no operator is called '{name}'", stated.second_order_place, hints=hints)
    return not slips


def usable(namespace: str) -> bool:
    """Whether operators can be registered with torch under a name."""
    return _NAMESPACE.fullmatch(namespace) is not None and namespace not in _TAKEN


def import_path(out: Path) -> tuple[str, ...]:
    """The name by which a package is imported in its project, part by part."""
    folder = Path(os.path.abspath(out))
    parts = [folder.name]
    for parent in folder.parents:
        if not (parent / "__init__.py").is_file():
            break
        parts.insert(0, parent.name)
    root = project_folder(folder / "_")
    if len(parts) == 1 and root is not None and root != folder:
        parts = list(folder.relative_to(root).parts)
        last = max((k for k, part in enumerate(parts[:-1]) if part in _SOURCE_FOLDERS), default=-1)
        parts = parts[last + 1 :]
    return tuple(parts)


def importable(out: Path) -> Path:
    """An output folder, or the one beside it that Python can import where it cannot import this one.

    Names with dots between, as Python writes a package in a package, are folders in one another.
    """
    whole = Path(os.path.normpath(out))
    parts = whole.name.split(".")
    if len(parts) > 1 and all(map(str.isidentifier, parts)):
        return importable(whole.parent.joinpath(*parts))
    name, known = whole.name, ("torch", "opgen", *sys.stdlib_module_names)
    if not name.isidentifier():
        name = f"_{as_word(name)}" if name[:1].isdigit() else as_word(name)
    name = f"{name}_ops" if keyword.iskeyword(name) or (name in known and import_path(out) == (name,)) else name
    return out if whole.name in ("", "..", name) else whole.with_name(name)


def _derived(out: Path, project: str) -> str:
    """The name by which a package is imported, with that of its project where it lies in no package itself."""
    parts = list(import_path(out))
    if len(parts) == 1 and project and as_word(project) != as_word(parts[0]):
        parts.insert(0, project)
    found = "_".join(map(as_word, parts))
    found = f"_{found}" if not found or found[0].isdigit() else found
    return f"{found}_ops" if found in _TAKEN else found


def _settings(out: Path, bag: Bag) -> Settings:
    import tomllib

    root = project_folder(Path(os.path.abspath(out)) / "_")
    path = (root or out) / _PLACE
    if root is None or not path.is_file():
        return Settings()
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except (OSError, ValueError) as e:
        at = re.search(r" \(at line (\d+), column (\d+)\)$", str(e))
        told, span = (
            (str(e), None) if at is None else (str(e)[: at.start()], _at(Source(_shown(path), text), *at.groups()))
        )
        line = text.split("\n")[int(at[1]) - 1] if at else ""
        bare = re.fullmatch(r"\s*([\w-]+)\s*=\s*([A-Za-z_.][\w./-]*)\s*", line)
        hint = f'write `{bare[1]} = "{bare[2]}"`' if bare else "it has to be TOML in UTF-8"
        bag.error("OPG508", f"{_shown(path)} cannot be read: {told}", span, hints=[hint])
        return Settings()
    source = Source(_shown(path), text)
    table = _table(content).get("tool", {})
    stated = _table(table).get("opgen", {})
    for names in _misnamed(content):
        hints = ["the table is called `[tool.opgen]`"]
        bag.error("OPG508", f"no settings are read from `{'.'.join(names)}`", _header(source, names), hints=hints)
    for key in _table(stated):
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"there is: {', '.join(_KEYS)}"
            bag.error("OPG508", f"[tool.opgen] has no key '{key}'", _place(source, key), hints=[hint])
    values = dict(_table(stated))
    for key, what, fits, hint in _FORMS:
        if key in values and not fits(values[key]):
            value = values.pop(key)
            hints = [hint_of(key, value, root, fits) or hint]
            bag.error("OPG508", f"{value!r} cannot be {what}", _place(source, key), hints=hints)
    specs = values.get("specs", [])
    if "out" in values:
        _judge_out(root, str(values["out"]), specs, _place(source, "out"), bag)
    return Settings(
        namespace=_as(str, values.get("namespace")),
        project=_table(content.get("project")),
        root=root,
        specs=tuple(_from_here(path, s) for s in (specs if isinstance(specs, list) else [specs])),
        specs_place=_place(source, "specs"),
        out=_from_here(path, values["out"]) if "out" in values else None,
        jobs=_as(int, values.get("jobs")),
        isa=_words(values.get("isa")),
        cuda=_words(values.get("cuda")),
        second_order=_words(values.get("second_order")),
        second_order_place=_place(source, "second_order"),
    )


def _judge_out(root: Path, out: str, specs: object, place: Span | None, bag: Bag) -> None:
    """Report an output folder that no Python can import, or that holds the specs."""
    fit = os.path.relpath(importable(root / out), root)
    read = [os.path.normpath(str(path)) for path in (specs if isinstance(specs, list) else [specs])] or ["specs"]
    if fit != os.path.normpath(out):
        told = f"{out!r} cannot be the output folder: Python imports no package of that name as this one"
        bag.error("OPG508", told, place, hints=[f'write `out = "{Path(fit).as_posix()}"`'])
    elif fit in read:
        told = f"{out!r} cannot be the output folder: it is that of the specs"
        bag.error("OPG508", told, place, hints=[f'a folder of its own: write `out = "{GENERATED}"`'])


def _as(kind: type[T], value: object) -> T | None:
    return value if isinstance(value, kind) else None


def _words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else () if value is None else (str(value),)


def _from_here(settings: Path, path: object) -> Path:
    """A path that stands in a file, as it is written from the current folder."""
    return Path(os.path.relpath(settings.parent / str(path)))


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _shown(path: Path) -> str:
    """A path as short as a person would write it from here."""
    shown = os.path.relpath(path)
    return str(path) if shown.startswith("..") else shown


def _at(source: Source, line: str, column: str) -> Span:
    """The rest of a line from a column on."""
    lines = source.text.split("\n")
    start = sum(len(before) + 1 for before in lines[: int(line) - 1]) + int(column) - 1
    return Span(source, start, max(start + 1, source.text.find("\n", start)))


def _misnamed(content: Mapping[str, object]) -> list[tuple[str, ...]]:
    """The names of what holds keys of the table and is not it: another name, or one of several tables."""
    below = [((one, two), value) for one, table in content.items() for two, value in _table(table).items()]
    found: list[tuple[str, ...]] = []
    for names, value in [*(((name,), value) for name, value in content.items()), *below]:
        keys = [key for each in (value if isinstance(value, list) else [value]) for key in _table(each)]
        read = names == ("tool", "opgen") and isinstance(value, dict)
        if re.sub("[-_]", "", names[-1]).lower() == "opgen" and not read and any(key in _KEYS for key in keys):
            found.append(names)
    return found


def _header(source: Source, names: tuple[str, ...]) -> Span | None:
    """Where a table begins: by all of its names, or by the last one below the others."""
    for words in (names, names[-1:]):
        dotted = r"[ \t]*\.[ \t]*".join(rf"[\"']?{re.escape(word)}[\"']?" for word in words)
        if found := re.search(rf"(?m)^[ \t]*(\[*[ \t]*{dotted}(?![\w-])[ \t]*\]*)", source.text):
            return Span(source, found.start(1), found.start(1) + len(found[1].rstrip()))
    return None


def _place(source: Source, key: str) -> Span | None:
    """Where a key of the table stands."""
    table = re.search(r"(?m)^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*opgen[ \t]*\]", source.text)
    start = table.end() if table else 0
    found = re.compile(rf"(?m)^[ \t]*[\"']?({re.escape(key)})[\"']?[ \t]*=.*$").search(source.text, start)
    return Span(source, found.start(1), found.end()) if found else None
