"""The check of an operator's params by themselves, which a call makes, and the constructor of the module too.

In goes a `Surface`; out come the params that the check takes, and lines of Python that raise where one has not as many
elements as it must have, is none of its choices, or is out of a domain that depends on no size.
"""

from __future__ import annotations

from opgen.code.layout import quoted, strings
from opgen.code.python_text import python_text
from opgen.code.signature import is_computed
from opgen.ir.declared import Domain
from opgen.ir.program import Argument
from opgen.ir.scalar import Dim, Param, Scalar, transform, walk
from opgen.ir.text import scalar as scalar_text
from opgen.package.shapes import Sizes, dims_in
from opgen.package.view import Surface

CHECK = "check_params"


def checked_params(s: Surface) -> tuple[Argument, ...]:
    """The params that are checked by themselves; a module has all of them when it is made."""
    limited = {n.name for d in _limits(s).values() for n in walk(d.holds) if isinstance(n, Param)}
    return tuple(a for a in s.operator.stated if a.choices or a.length is not None or a.name in limited)


def needs_a_call(s: Surface, a: Argument) -> bool:
    """Whether a param has a domain that a call alone can tell of: one of sizes, or of the mode of a module."""
    domain = s.operator.domain(a.name)
    return domain is not None and a.name not in _limits(s)


def param_checks(s: Surface) -> tuple[str, ...]:
    """The lines of the check."""
    lines: list[str] = []
    limits = _limits(s)
    for a in checked_params(s):
        if a.length is not None:
            lines += _raised(s, a, f"len({a.name}) != {a.length}", "length_error", str(a.length))
        if a.choices:
            lines += _raised(s, a, f"{a.name} not in {strings(a.choices)}", "choice_error", strings(a.choices))
    for a in checked_params(s):
        if a.name in limits and (text := holds(a, limits[a.name].holds, None)) is not None:
            lines += domain_lines(s, a, limits[a.name], text)
    return tuple(lines)


def told_numbers(s: Surface, e: Scalar, sizes: Sizes | None, *without: str, always: bool = False) -> str:
    """A further argument of an error: the dims and params that a condition stands on, by name."""
    words = {a.name for a in s.operator.params if a.type == "str"}.union(without)
    leaves = [n for n in walk(e) if isinstance(n, Dim) or (isinstance(n, Param) and n.name not in words)]
    pairs = [f"{quoted(size_text(s, n))}: {spelled(n, sizes)}" for n in leaves if n.name != "..."]
    return f", {{{', '.join(pairs)}}}" if pairs or always else ""


def size_text(s: Surface, e: Scalar) -> str:
    """A size as the spec writes it."""
    names = dict(s.operator.spelled)
    return scalar_text(transform(e, lambda n: Param(names.get(n.name, n.name), n.item) if isinstance(n, Param) else n))


def domain_lines(s: Surface, a: Argument, domain: Domain, text: str, sizes: Sizes | None = None) -> list[str]:
    """Lines that raise where a param is out of its domain; `text` says in Python that it is in it."""
    asked = f"not {text}" if _binds(text) else f"not ({text})"
    return _raised(s, a, asked, "domain_error", f"{quoted(domain.text)}{told_numbers(s, domain.holds, sizes, a.name)}")


def holds(a: Argument, domain: Scalar, sizes: Sizes | None) -> str | None:
    """Whether a param is in its domain; a list is where each of its elements is."""
    if a.length is None:
        return python_text(domain, lambda n: spelled(n, sizes))
    each = f"{a.name}_element"
    text = python_text(domain, lambda n: each if n == Param(a.name) else spelled(n, sizes))
    return None if text is None else f"all({text} for {each} in {a.name})"


def _limits(s: Surface) -> dict[str, Domain]:
    """The domains that are made of params alone, of which none follows the mode of a module."""
    found = ((a.name, d) for a in s.operator.stated if (d := s.operator.domain(a.name)) is not None)
    mode = Param(s.operator.module.training)
    return {n: d for n, d in found if not dims_in(d.holds) and mode not in walk(d.holds)}


def _raised(s: Surface, a: Argument, wrong: str, error: str, must: str) -> list[str]:
    maybe = f"{a.name} is not None and " if not a.choices and (a.null or is_computed(a)) else ""
    told = f"{error}({quoted(s.name)}, {quoted(s.operator.shown(a.name))}, {a.name}, {must})"
    return [f"if {maybe}{wrong}:", f"    raise {told}"]


def spelled(n: Param | Dim, sizes: Sizes | None) -> str:
    """A name of a domain in Python: a dim goes by the local name of its size."""
    if isinstance(n, Dim):
        assert sizes is not None, "no size is known of params alone"
        return sizes.size(n.name)
    return n.name if n.item is None else f"{n.name}[{n.item}]"


def _binds(text: str) -> bool:
    """A comparison or a call needs no parentheses after `not`."""
    return text.startswith("all(") or (" and " not in text and " or " not in text)
