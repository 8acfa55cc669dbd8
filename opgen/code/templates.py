"""The Jinja environment: the only module that knows Jinja.

In goes the name of a template and prepared values; out comes text. Templates only lay out: an undefined name is an
error, and nothing is escaped because nothing but generated code comes out.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@cache
def root() -> Path:
    """The folder of templates: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    packed = package / "_templates"
    return packed if packed.is_dir() else package.parent / "templates"


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(root(), encoding="utf-8"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def fill(template: str, **values: object) -> str:
    """A template with its values."""
    return _environment().get_template(template).render(**values)


def verbatim(template: str) -> str:
    """A template that has nothing to fill in."""
    return (root() / template).read_text(encoding="utf-8")


def names(folder: str, suffix: str = "") -> tuple[str, ...]:
    """The templates of a folder, in order."""
    found = (p.relative_to(root()).as_posix() for p in (root() / folder).iterdir() if p.is_file())
    return tuple(sorted(n for n in found if n.endswith(suffix) and not n.rsplit("/", 1)[-1].startswith(".")))
