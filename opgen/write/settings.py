"""What a project says of the code generated for it: the table `[tool.opgen]` of its `pyproject.toml`.

    [tool.opgen]
    namespace = "mylib"    # the operators are torch.ops.mylib.*

The project is that of the output folder: the nearest folder upwards that holds `pyproject.toml` or `.git`. A key that
nobody reads is refused, so that a misspelt one does not go unnoticed. Where no namespace is stated, it follows from
where the package lies, by names that are the same on every machine.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from opgen.diagnostics.model import Bag, Source, Span
from opgen.write.paths import project_folder

_PLACE = "pyproject.toml"
_KEYS = ("namespace",)
_NAMESPACE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SOURCE_FOLDERS = ("src", "lib", "python")  # of packages: their names are no part of those
# whose operators are not ours to define, or what `torch.ops` itself has
_OTHERS = """
aten prim prims prepacked c10 c10d _c10d_functional c10d_functional cuda debugprims export fsdp higher_order image
inductor mkl mkldnn mkldnn_prepacked onednn profiler quantization quantized quantized_decomposed rngprims sparse
static_runtime symm_mem torch torchaudio torchvision xnnpack fbgemm import_module load_library loaded_libraries
"""
_TAKEN = frozenset(_OTHERS.split())
_HINT = "a name of letters, digits and _ that no library has for its operators; such as that of your package"


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project states; None for what it leaves to opgen. `name` is what the project itself is called."""

    namespace: str | None = None
    name: str = ""


def namespace_of(out: Path, given: str | None, bag: Bag) -> tuple[str, bool]:
    """The namespace of the operators in an output folder, and whether it is `given` and nowhere else to be found."""
    stated = _settings(out, bag)
    own = stated.namespace or _derived(out, stated.name)
    if given is not None and not usable(given):
        bag.error("OPG508", f"'{given}' cannot be the namespace of operators", None, hints=[_HINT])
    return (own, False) if given is None else (given, given != own)


def usable(namespace: str) -> bool:
    """Whether operators can be registered with torch under a name."""
    return _NAMESPACE.fullmatch(namespace) is not None and namespace not in _TAKEN


def _derived(out: Path, project: str) -> str:
    """The name by which a package is imported, with that of its project where it lies in no package itself."""
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
    if len(parts) == 1 and project and _word(project) != _word(parts[0]):
        parts.insert(0, project)
    found = "_".join(map(_word, parts))
    found = f"_{found}" if not found or found[0].isdigit() else found
    return f"{found}_ops" if found in _TAKEN else found


def _word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


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
        bag.error("OPG508", f"{_shown(path)} cannot be read: {e}", None, hints=["it has to be TOML in UTF-8"])
        return Settings()
    source = Source(_shown(path), text)
    name = _table(content.get("project")).get("name")
    table = _table(content).get("tool", {})
    stated = _table(table).get("opgen", {})
    for key in _table(stated):
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"there is: {', '.join(_KEYS)}"
            bag.error("OPG508", f"[tool.opgen] has no key '{key}'", _place(source, key), hints=[hint])
    namespace = _table(stated).get("namespace")
    if namespace is not None and not (isinstance(namespace, str) and usable(namespace)):
        message = f"{namespace!r} cannot be the namespace of operators"
        bag.error("OPG508", message, _place(source, "namespace"), hints=[_HINT])
        namespace = None
    return Settings(namespace, name if isinstance(name, str) else "")


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _shown(path: Path) -> str:
    """A path as short as a person would write it from here."""
    shown = os.path.relpath(path)
    return str(path) if shown.startswith("..") else shown


def _place(source: Source, key: str) -> Span | None:
    """Where a key of the table stands."""
    table = re.search(r"(?m)^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*opgen[ \t]*\]", source.text)
    start = table.end() if table else 0
    found = re.compile(rf"(?m)^[ \t]*[\"']?({re.escape(key)})[\"']?[ \t]*=.*$").search(source.text, start)
    return Span(source, found.start(1), found.end()) if found else None
