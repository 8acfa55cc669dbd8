"""The view of the functional of an operator: its parameters, and what it does before it calls the dispatcher op.

In goes a `Surface`; out come finished lines.
"""

from __future__ import annotations

from opgen.code.layout import WIDTH, bracketed, quoted, tupled
from opgen.code.signature import LETTERS, OUT, is_computed, parameter_texts, parameters, takes_out
from opgen.package.shapes import Sizes
from opgen.package.view import Surface

WRITE = "write_out"
REFUSE, NEVER = "keyword_error", "Never"
_MISPLACED, _UNKNOWN = "misplaced", "unknown"


def results_type(count: int) -> str:
    """The type of so many results in Python."""
    return "Tensor" if count == 1 else "tuple[Tensor, ...]"


def aside(s: Surface, name: str) -> str:
    """A name that the functional uses, out of the way of an argument that is called the same."""
    return f"_{name}" if name in s.arguments else name


def handle(s: Surface, name: str) -> str:
    head = f"return {aside(s, 'handle_torch_function')}("
    return bracketed(head, [name, aside(s, "given"), *s.operands, *_keywords(s)], ")", 8)


def _keywords(s: Surface) -> list[str]:
    return [f"{s.operator.shown(p)}={p}" for p in s.stated]


def own_parameters(s: Surface) -> list[str]:
    """The parameters that the spec tells, and more for what a call passes otherwise."""
    texts, never = parameter_texts(parameters(s.operator)), aside(s, NEVER)
    star = f"*{aside(s, _MISPLACED)}: {never}"
    made = [star if text == "*" else text for text in texts]
    return [*made, *([] if star in made else [star]), f"**{aside(s, _UNKNOWN)}: {never}"]


def functional_parameters(s: Surface) -> list[str]:
    """The parameters of the functional."""
    texts = own_parameters(s)
    if not takes_out(s.operator):
        return texts
    return [*texts[:-1], f"{OUT}: {results_type(len(s.results))} | None = None", texts[-1]]


def into_out(s: Surface) -> tuple[str, ...]:
    """What the functional does where it is to write into a tensor that it is given."""
    if not takes_out(s.operator):
        return ()
    call = [s.function, OUT, aside(s, "given"), *_keywords(s)]
    return (f"if {OUT} is not None:", f"    {bracketed(f'return {aside(s, WRITE)}(', call, ')', 8)}")


def given_lines(s: Surface, function: str) -> tuple[str, ...]:
    """The first lines of a function: what is refused, arguments by the names inside, and the operands together."""
    extra, unknown = aside(s, _MISPLACED), aside(s, _UNKNOWN)
    passed = tupled([p.name for p in parameters(s.operator) if p.name != "*"])
    call = bracketed(f"raise {aside(s, REFUSE)}(", [function, passed, extra, unknown], ")", 8)
    refused = (f"if {extra} or {unknown}:", f"    {call}")
    inside = [n for n in (*s.operands, *s.stated) if s.operator.shown(n) != n]
    names = f"{', '.join(inside)} = {', '.join(map(s.operator.shown, inside))}"
    return (*refused, *((names,) if inside else ()), f"{aside(s, 'given')} = {tupled(s.operands)}")


def prelude(s: Surface) -> tuple[str, ...]:
    """Defaults that are computed from sizes and other params."""
    lines: list[str] = []
    for a in s.operator.params:
        if is_computed(a) and not a.null:
            sizes = Sizes(s.operator.variants[0].program)
            text = sizes.number(a.default)  # type: ignore[arg-type]
            lines += [f"if {a.name} is None:", *(f"    {x}" for x in sizes.lines), f"    {a.name} = {text}"]
    return tuple(lines)


def call_lines(s: Surface) -> tuple[str, ...]:
    kinds = "".join(LETTERS[o.kind] for o in s.results)
    keep = ("[0]" if len(s.outputs) == 1 else f"[:{len(s.outputs)}]") if s.residuals else ""
    results, last = aside(s, "results"), []
    given = (aside(s, "given"), *s.stated)
    whole = f"    return OP({', '.join(given)}){keep}"
    if "c" in kinds:
        last = [f"return {aside(s, 'joined')}({results}{keep}, {quoted(kinds)})"]
    elif keep and len(whole) > WIDTH:  # formatters would break the subscript
        last = [f"return {results}{keep}"]
    text = bracketed(f"{results} = OP(" if last else "return OP(", given, ")", 4)
    text += "" if last else keep
    first, *rest = text.split("\n")
    return (first, *(line.removeprefix("    ") for line in rest), *last)


def inplace_lines(s: Surface, target: str) -> tuple[str, ...]:
    overridden = handle(s, f"{s.name}_")
    differentiated = f"{aside(s, 'torch')}.is_grad_enabled() and {target}.requires_grad"
    values = {n: n for n in (*s.operands, *s.stated)} | {target: aside(s, "source")}
    call = [f"{s.operator.shown(n)}={value}" for n, value in values.items()]
    return (
        *given_lines(s, f"{s.name}_"),
        f"if {aside(s, 'has_torch_function')}({aside(s, 'given')}):",
        f"    {overridden}",
        f"{aside(s, 'source')} = {target}.clone() if {differentiated} else {target}",
        bracketed(f"return {target}.copy_({s.function}(", call, "))", 4),
    )


def imported_as(s: Surface, name: str) -> str:
    """How a name that the functional uses is imported."""
    return name if aside(s, name) == name else f"{name} as {aside(s, name)}"
