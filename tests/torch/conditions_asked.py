"""How often generated Python asks one condition: `python -m tests.torch.conditions_asked [FOLDER]`.

A function asks a condition in `if`, in `a if c else b` and in `torch.where`; one and its opposite are the same. The
rule is about `if`, whose conditions tell variants apart (`if reduction == "none":`). The others are printed beside it:
a mask that chooses between several pairs of tensors is computed once, and a number decides where it stands.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

MOST = 2
ROOT = Path(__file__).resolve().parents[2]
_OPPOSITE = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}
KINDS = ("if", "else", "where")


def often(folder: Path, kind: str) -> dict[str, dict[str, int]]:
    """The functions of a folder that ask a condition too often, with such conditions."""
    found: dict[str, dict[str, int]] = {}
    for path, function in functions(folder):
        asked = Counter(_plain(test) for k, test in _tests(function) if k == kind)
        if many := {text: n for text, n in asked.items() if n > MOST}:
            found[f"{path.relative_to(folder)}: {function.name}"] = many
    return found


def functions(folder: Path) -> Iterator[tuple[Path, ast.FunctionDef]]:
    """Those of operators; the runtime is written by hand."""
    for path in sorted(folder.glob("[!_]*/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def _tests(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        match node:
            case ast.If(test=test):
                yield "if", test
            case ast.IfExp(test=test):
                yield "else", test
            case ast.Call(func=ast.Attribute(attr="where"), args=[test, *_]):
                yield "where", test


def _plain(test: ast.expr) -> str:
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not | ast.Invert):
        test = test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        test = ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    return ast.unparse(test)


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "generated"
    count = sum(1 for _ in functions(folder))
    for kind in reversed(KINDS):
        found = often(folder, kind)
        for place, asked in found.items():
            print(f"{kind}  {place}: " + ", ".join(f"{text} ({n})" for text, n in asked.items()))
        print(f"{len(found)} of {count} functions ask one condition of `{kind}` more than {MOST} times\n")


if __name__ == "__main__":
    main()
