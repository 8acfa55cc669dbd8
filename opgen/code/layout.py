"""Python source laid out as the formatter would: calls, signatures, tuples, imports; broken only where they must be."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

from opgen.code.names import DRAWS

WIDTH = 120
NUMBERS = "numbers"  # the module of the runtime with functions of Python numbers


def bracketed(head: str, items: Sequence[str], tail: str, indent: int = 0) -> str:
    """`head` + items + `tail` on one line, with the items on a line of their own, or one item per line.

    `head` ends with an opening bracket and `tail` starts with the closing one. Lines after the first are indented by
    `indent` too. Where `head` alone is too long, breaking these brackets is not enough: all stays on one line.
    """
    one = f"{head}{', '.join(items)}{tail}"
    if indent + len(one) <= WIDTH or not items or indent + len(head) > WIDTH:
        return one
    pad = " " * indent
    inner = f"{pad}    {', '.join(items)}"
    if len(inner) <= WIDTH:
        return f"{head}\n{inner}\n{pad}{tail}"
    lines = "".join(f"{pad}    {item},\n" for item in items)
    return f"{head}\n{lines}{pad}{tail}"


def tupled(items: Sequence[str]) -> str:
    """A tuple display."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def quoted(text: str) -> str:
    """A string literal in double quotes; single ones where that saves escapes, as the formatter has it."""
    body = text.replace("\\", "\\\\")
    if '"' in body and "'" not in body:
        return f"'{body}'"
    return '"' + body.replace('"', '\\"') + '"'


def strings(items: Iterable[str]) -> str:
    """A tuple of string literals."""
    return tupled([quoted(i) for i in items])


def runtime_imports(runtime: Iterable[str], helpers: Iterable[str]) -> list[str]:
    """What comes from the runtime beside an operator, and which of its tensor functions; `numbers` is a module."""
    every = tuple(helpers)
    shared = (*runtime, *(h for h in every if h == NUMBERS))
    drawn = [h for h in every if h in DRAWS]
    functions = [h for h in every if h not in (NUMBERS, *DRAWS)]
    out = [imported(".._runtime", shared)] if shared else []
    out += [imported(".._runtime.draws", drawn)] if drawn else []
    return out + ([imported(".._runtime.functions", functions)] if functions else [])


def imported(module: str, found: Iterable[str]) -> str:
    """`from` imports with names in the order of import sorters: constants, classes, functions.

    A name that is imported under another one has a line of its own.
    """
    wanted = sorted(dict.fromkeys(found), key=_order)
    plain = [n for n in wanted if " as " not in n]
    lines = [(n, f"from {module} import {n}") for n in wanted if " as " in n]
    if plain:
        one = f"from {module} import {', '.join(plain)}"
        many = f"from {module} import (\n" + "".join(f"    {n},\n" for n in plain) + ")"
        lines.append((plain[0], one if len(one) <= WIDTH else many))
    return "\n".join(line for _, line in sorted(lines, key=lambda x: _order(x[0])))


def _order(name: str) -> tuple[int, str, str]:
    own = name.split(" as ", maxsplit=1)[0]
    return _rank(own), own.lower(), own


def _rank(name: str) -> int:
    if name.isupper():
        return 0
    return 1 if name[:1].isupper() else 2


def unpacked(names: Sequence[str], used: Iterable[str], value: str, indent: int = 0) -> list[str]:
    """An assignment that takes a tuple apart; what is not used is called `_`. No line where nothing is."""
    wanted = frozenset(used)
    targets = [n if n in wanted else "_" for n in names]
    if all(t == "_" for t in targets):
        return []
    if len(targets) == 1:
        return [f"({targets[0]},) = {value}"]
    return listed_lines("", targets, f" = {value}", indent)


def listed_lines(head: str, items: Sequence[str], tail: str, indent: int) -> list[str]:
    """Items separated by commas on one line, or in parentheses with a line for each."""
    one = f"{head}{', '.join(items)}{tail}"
    if indent + len(one) <= WIDTH or len(items) < 2:
        return [one]
    return [f"{head}(", *(f"    {item}," for item in items), f"){tail}"]


def sliced(start: str, stop: str, step: str = "") -> str:
    """A slice: blanks around the colons where a part is more than a name or a number."""
    plain = all(re.fullmatch(r"-?\w*", part) for part in (start, stop, step))
    parts = (start, stop, step) if step else (start, stop)
    if plain:
        return ":".join(parts)
    text = start
    for part in parts[1:]:
        text += f"{' ' if text and not text.endswith(':') else ''}:{' ' if part else ''}{part}"
    return text


def wrapped_code(line: str, width: int) -> tuple[str, ...]:
    """A line of a formula, broken at blanks or after signs; what follows is indented further."""
    if len(line) <= width:
        return (line,)
    indent = line[: len(line) - len(line.lstrip())]
    found, now = [], indent
    for piece in re.findall(r"\s*[^\s,+*/-]*[,+*/-]*", line.lstrip()):
        if len(now) + len(piece) > width and now.strip():
            found.append(now)
            now = f"{indent}    {piece.lstrip()}"
        else:
            now += piece
    return (*found, now)


def wrapped(text: str, width: int = WIDTH) -> tuple[str, ...]:
    """Prose broken into lines."""
    return tuple(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def line_of_docstring(text: str) -> str:
    """A line among others of a docstring, which it cannot end."""
    return text.replace("\\", "\\\\").replace('"""', "'''")


def in_docstring(text: str) -> str:
    """Text that cannot end or escape from a docstring, wherever in it that stands."""
    return re.sub(r'^"|"$', r'\\"', line_of_docstring(text))


def camel(name: str) -> str:
    """A snake_case name as a class name."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
