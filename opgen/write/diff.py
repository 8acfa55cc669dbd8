"""Changes as unified diffs."""

from __future__ import annotations

from opgen.write.compare import Change


def unified(change: Change, out: str) -> str:
    """The difference between the file on disk and the generated one, in `diff -u` form."""
    from difflib import unified_diff

    name = f"{out}/{change.path}"
    before, after = _lines(change.before), _lines(change.after)
    old = "/dev/null" if change.before is None else f"{name} (on disk)"
    new = "/dev/null" if change.after is None else f"{name} (generated)"
    return "".join(unified_diff(before, after, old, new))


def shortened(diff: str, lines: int, whole: str) -> str:
    """The first lines of a diff, and how many more there are; `whole` is the command that shows all of them."""
    found = diff.rstrip("\n").split("\n")
    if len(found) <= lines + 1:
        return "\n".join(found)
    return "\n".join([*found[:lines], f"… {len(found) - lines} more lines; {whole} shows all of them"])


def _lines(text: str | None) -> list[str]:
    lines = (text or "").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines
