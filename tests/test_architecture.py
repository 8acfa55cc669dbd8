"""The shape of the code base: who may import whom, and what must never appear."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "opgen"
TEMPLATES = ROOT / "templates"

# Each layer may import the ones before it, and itself. Layers of one row do not know one another.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("version",),
    ("diagnostics",),
    ("schema",),
    ("lang",),
    ("ir",),
    ("lower",),
    ("diff",),
    ("opt",),
    ("plan",),
    ("kernel",),
    ("code",),
    ("torch",),
    ("package",),
    ("write",),
    ("pipeline",),
    ("project",),
    ("fixes",),
    ("report",),
    ("toolchain", "verify"),
    ("ship", "bench"),
    ("api",),
    ("cli",),
    ("opgen",),
)
RANK = {name: rank for rank, row in enumerate(LAYERS) for name in row}

# Third-party packages, and the layers that may know them.
THIRD_PARTY = {
    "click": {"cli"},
    "hatchling": {"ship"},
    "jinja2": {"code"},
    "mpmath": {"ir", "verify"},
    "pydantic": {"schema"},
    "pydantic_core": {"schema"},
    "pytest": {"cli"},
    "sympy": {"diff", "opt"},
    "torch": {"bench", "cli", "toolchain", "verify"},
    "yaml": {"schema"},
}
# What functions of torch mean.
FROM_ELSEWHERE = {f"opgen/lang/{name}.py" for name in ("foreign", "formulas", "habits", "orders")}
READERS = ("pipeline", "cli")  # they run the stages, and print what a spec may hold
ONE_MODULE = {"hatchling", "jinja2", "yaml"}  # known to a single module
FORBIDDEN_CALLS = {"eval", "exec", "sympify", "parse_expr", "compile", "__import__"}
ORDER_FREE = {"all", "any", "frozenset", "len", "max", "min", "set", "sorted"}
DIRECTIVES = "include|define|if|el|end|pragma|error|undef"
COMMENT = re.compile(rf"(?s:/\*.*?\*/|\{{#.*?#\}})|//.*|#(?!{DIRECTIVES}).*|(?s:\"\"\".*?\"\"\")")
PASSES = ROOT / "tests" / "passes"
WITH_PASSES = ("opt", "plan", "kernel")
PUBLIC_NAMES = {"opgen/__init__.py"}  # resolves the public functions by name, from every layer

MODULES = sorted(PACKAGE.rglob("*.py"))
PLACES = [p.relative_to(ROOT).as_posix() for p in MODULES]
OPERATORS = sorted(p.stem for p in (ROOT / "specs").rglob("*.yaml"))


def layer(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return {"__init__.py": "opgen", "__main__.py": "cli"}.get(first, first.removesuffix(".py"))


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every module that is imported anywhere, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            module = node.module or ""
            if module == "opgen":  # `from opgen import pipeline` imports a layer
                yield from ((f"opgen.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield module, node.lineno


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def test_every_module_has_a_layer() -> None:
    assert {layer(p) for p in MODULES} <= set(RANK)


@pytest.mark.parametrize("path", MODULES, ids=PLACES)
def test_imports_point_one_way(path: Path) -> None:
    if path.relative_to(ROOT).as_posix() in PUBLIC_NAMES:
        return
    own = layer(path)
    for module, line in imported(parse(path)):
        parts = module.split(".")
        if parts[0] != "opgen":
            continue
        other = parts[1] if len(parts) > 1 and parts[1] in RANK else "opgen"
        allowed = other == own or RANK[other] < RANK[own]
        assert allowed, f"{path.name}:{line}: {own} must not import {other}"


@pytest.mark.parametrize("path", [p for p in MODULES if RANK[layer(p)] > RANK["lower"]], ids=lambda p: p.stem)
def test_nothing_behind_an_operator_looks_at_its_spec(path: Path) -> None:
    """What is said of an operator is part of it; only who runs the stages, or writes specs, knows how they are read."""
    known = {m for m, _ in imported(parse(path)) if m.split(".")[1:2] in (["schema"], ["lang"])}
    assert not known or layer(path) in READERS, f"{path.name}: {', '.join(sorted(known))}"


BACK_ENDS = {"cpp": "cuda", "cuda": "cpp"}


@pytest.mark.parametrize("one", BACK_ENDS)
def test_back_ends_do_not_know_one_another(one: str) -> None:
    found = [p for p in MODULES if p.parent.name == "code" and p.name.startswith(f"{one}_")]
    known = [(p.name, name) for p in found for name, _ in imported(ast.parse(p.read_text()))]
    assert found
    assert not [pair for pair in known if pair[1].startswith(f"opgen.code.{BACK_ENDS[one]}_")]


@pytest.mark.parametrize("path", MODULES, ids=PLACES)
def test_third_party_packages_stay_in_their_layer(path: Path) -> None:
    for module, line in imported(parse(path)):
        name = module.split(".")[0]
        if name == "opgen" or name in sys.stdlib_module_names:
            continue
        assert layer(path) in THIRD_PARTY.get(name, set()), f"{path.name}:{line}: {name} in {layer(path)}"


@pytest.mark.parametrize("name", sorted(ONE_MODULE))
def test_some_packages_are_known_to_one_module_only(name: str) -> None:
    users = [p.name for p in MODULES if any(m.split(".")[0] == name for m, _ in imported(parse(p)))]
    assert len(users) == 1, users


@pytest.mark.parametrize("path", MODULES, ids=PLACES)
def test_modules_say_what_they_are_and_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, f"{path.name} has {text.count(chr(10))} lines"
    if text.strip():
        assert ast.get_docstring(parse(path)), f"{path.name} has no docstring"


@pytest.mark.parametrize("path", MODULES, ids=PLACES)
def test_text_is_never_executed(path: Path) -> None:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else ""
            attribute = called.attr if isinstance(called, ast.Attribute) else ""
            harmless = attribute == "compile" and isinstance(called, ast.Attribute) and _is_name(called.value, "re")
            assert name not in FORBIDDEN_CALLS, f"{path.name}:{node.lineno}: {name}"
            assert harmless or attribute not in FORBIDDEN_CALLS - {"compile"}, f"{path.name}:{node.lineno}: {attribute}"
            for keyword in node.keywords:
                shell = keyword.arg == "shell" and getattr(keyword.value, "value", True)
                assert not shell, f"{path.name}:{node.lineno}: shell=True"


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


@pytest.mark.parametrize("path", MODULES, ids=PLACES)
def test_only_the_command_line_prints(path: Path) -> None:
    if layer(path) == "cli":
        return
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and _is_name(node.func, "print"):
            pytest.fail(f"{path.name}:{node.lineno}: print")


@pytest.mark.parametrize("path", MODULES, ids=PLACES)
def test_sets_are_not_iterated(path: Path) -> None:
    """The order of a set changes with the hash seed; generated text must not."""
    tree = parse(path)
    harmless = _order_free(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension) and node.iter not in harmless:
            assert not _is_set(node.iter), f"{path.name}:{node.iter.lineno}: iterates a set"


def _order_free(tree: ast.AST) -> list[ast.expr]:
    """What is iterated inside a call whose result does not depend on the order."""
    return [
        generator.iter
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ORDER_FREE
        for argument in call.args
        if isinstance(argument, ast.GeneratorExp | ast.ListComp | ast.SetComp)
        for generator in argument.generators
    ]


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "free_symbols"
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
    return made or isinstance(node, ast.Set | ast.SetComp)


def test_no_operator_is_known_by_name() -> None:
    """The generator has no special cases: an operator's name stands in its spec alone.

    Operators that share their name with a row of the language's own function or reduction tables are that row.
    """
    words = [op for op in OPERATORS if op not in _table_names()]
    assert words
    pattern = re.compile(rf"(?<![\w.])(?<!aten::)(?:{'|'.join(map(re.escape, words))})(?!\w)")
    texts = _code_texts({word for op in words for word in re.findall(r"\w+", op)})
    found = [f"{place}: {m}" for place, text in texts if place not in FROM_ELSEWHERE for m in pattern.findall(text)]
    assert not found, found


def _code_texts(words: set[str]) -> Iterator[tuple[str, str]]:
    """Every source that has some word, without comments and docstrings (examples there are documentation)."""
    for path in (*MODULES, *sorted(p for p in TEMPLATES.rglob("*") if p.is_file())):
        text = path.read_text(encoding="utf-8")
        if words.isdisjoint(re.findall(r"\w+", text)):
            continue
        plain = ast.unparse(_without_docstrings(ast.parse(text))) if path in MODULES else COMMENT.sub("", text)
        yield path.relative_to(ROOT).as_posix(), plain


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node)
        if documented:
            node.body[0] = ast.Pass()
    return tree


def _table_names() -> set[str]:
    """The words of the language itself."""
    from opgen.ir.functions import FUNCTIONS
    from opgen.ir.reductions import REDUCTIONS

    return {*FUNCTIONS, *REDUCTIONS}


@pytest.mark.parametrize("path", [p for p in MODULES if layer(p) in WITH_PASSES], ids=lambda p: p.stem)
def test_every_pass_has_a_page_of_examples(path: Path) -> None:
    """A module with a function from programs, statements, plans or kernels to such is a pass; see tests/passes."""
    module = import_module(f"opgen.{layer(path)}.{path.stem}")
    functions = [f for n, f in vars(module).items() if inspect.isfunction(f) and not n.startswith("_")]
    found = [f.__name__ for f in functions if f.__module__ == module.__name__ and _is_pass(f)]
    page = PASSES / f"{layer(path)}_{path.stem}.md"
    assert page.exists() or not found, f"{', '.join(found)}: no tests/passes/{page.name}"


def _is_pass(function: Callable[..., object]) -> bool:
    given = get_type_hints(function)
    made = given.pop("return")
    return _holds_programs(made) and any(map(_holds_programs, given.values()))


@cache
def _representations() -> tuple[object, ...]:
    from opgen.ir.program import Program, Statement
    from opgen.kernel.model import Kernel
    from opgen.plan.model import KernelPlan, Step

    return (Program, KernelPlan, Kernel, *get_args(Statement), *get_args(Step))


def _holds_programs(hint: object, inside: tuple[object, ...] = ()) -> bool:
    """Whether a value of a type is, or has parts that are, what passes work on."""
    if hint in inside:
        return False
    if hint in _representations():
        return True
    if isinstance(hint, list):  # the parameters of a callable
        return any(_holds_programs(part, inside) for part in hint)
    named = get_type_hints(hint) if isinstance(hint, type) and is_dataclass(hint) else {}
    return any(_holds_programs(part, (*inside, hint)) for part in (*get_args(hint), *named.values()))
