"""Tensors that a formula reads and nothing declares: what is meant by them."""

from __future__ import annotations

import re

from opgen.diagnostics.model import Span
from opgen.diagnostics.suggest import listed
from opgen.ir.complex_functions import PARTS
from opgen.ir.scalar import BATCH
from opgen.lang.habits import NAMES
from opgen.lang.layout import CONSTANTS
from opgen.lang.nodes import Access, Binder, Call, Compare, Dots, Expr, Name, Number, Product, Reduction, Sum
from opgen.lang.unparse import respelled, unparse
from opgen.lang.walk import names_read, nodes, statement_names
from opgen.lower.capital_tensors import in_small_letters, is_told
from opgen.lower.declare import Declarations
from opgen.lower.gradient_names import is_stated
from opgen.lower.proposals import shape_read
from opgen.lower.scope import Frame

_IDENTITY = ("eye", "delta", "kronecker", "kronecker_delta", "identity", "kd", "kron")
_IMAGINARY = "for the imaginary unit write `complex(0, 1)`"
_VALUES = ("y", "out", "output", "result", "value", "val")  # what people call the value of a function
_ONE_HOT = re.compile(r"(\w*_)?one_?hot(_?\w+)?")


def undeclared(f: Frame, e: Access) -> tuple[str, ...]:
    """Where a tensor of this name may come from: a gradient reads no new inputs."""
    if small := in_small_letters(f, e):
        return small
    own = in_gradient(f, unparse(e))
    integers = ", dtype: int" if _is_position(f, e.name) else ""
    return (own or f"declare it: `inputs: {{{e.name}: {{shape: {shape_read(e)}{integers}}}}}`",)


def _is_position(f: Frame, name: str) -> bool:
    """Whether a tensor is read as a position, or as a part of one, on either side of `=`."""
    statements = (*f.decl.forward, *f.decl.backward)
    places = [i for s in statements for i in s.target.items or () if not isinstance(i, Binder | Dots)]
    reads = (a for s in statements for a in nodes(s.value) if isinstance(a, Access))
    places += [i for a in reads for i in a.items if not isinstance(i, Dots)]
    return any(isinstance(n, Access) and n.name == name for i in places for n in nodes(i))


def known_word(f: Frame, name: str) -> str:
    """What is said of a word of other languages, or of a size whose dim has the capital."""
    if f.scope is None and name.islower() and name.upper() in f.decl.known_dims():
        return f"did you mean the size of the dim, `{name.upper()}`?"
    if name in ("i", "j", "I") and _is_complex(f, name):
        return _IMAGINARY
    if _is_comment(f, name):
        return "a comment begins with `#`"
    told = NAMES.get("None" if name == "none" else name, "")
    found = [(p, e) for p, es in f.decl.defaults.items() for e in es if isinstance(e, Name) and e.name == name]
    own = [p for p, _ in found]
    if told and f.place == "a default" and any(f"given({p})" in e.span.source.text for p, e in found):
        return "write `default: null`"  # what holds without it is said
    return told.replace("given(p), a*p", f"given({own[0]}), a*{own[0]}") if own and f.place == "a default" else told


def _is_comment(f: Frame, name: str) -> bool:
    """Whether a name stands alone behind a `//` that is apart from the formula."""
    own = (n for s in f.decl.forward if s.target.name == f.target for n in nodes(s.value) if isinstance(n, Product))
    for p in own:
        (_, before), (op, last) = p.factors[-2:]
        if op == "//" and last == Name(name, p.span):
            return p.span.source.text[before.span.end : last.span.start].startswith("  ")
    return False


def _is_complex(f: Frame, name: str) -> bool:
    """Is there a complex input or a function of complex numbers, or the name in an exponent?"""
    values = [e for s in f.decl.forward for e in nodes(s.value) if isinstance(e, Call)]
    exponents = (n for e in values if e.name == "exp" for n in nodes(e))
    return (
        any(t.kind == "complex" for t in f.decl.inputs.values())
        or any(e.name in ("complex", *PARTS) for e in values)
        or any(isinstance(n, Name) and n.name == name for n in exponents)
    )


def one_number(f: Frame, name: str) -> tuple[str, ...]:
    """What is meant by an input without a shape, which has batch dims, where no others are."""
    plain = name in f.decl.inputs and f.decl.inputs[name].shape is None
    return (f"if it is one number, it says so: `{name}: {{shape: []}}`",) if plain else ()


def only_float(f: Frame, e: Expr) -> str:
    """The one input or param of floats in a sum: with integers in it the sum would be one."""
    whole = all(isinstance(n, Access | Name | Number | Sum) for n in nodes(e))
    known = {n for n, t in f.decl.inputs.items() if t.kind == "float"}
    known |= {n for n, p in f.decl.params.items() if p.type == "float"}
    found = [n for n in names_read(e) if n in known]
    others = any(n in f.state.tensors and n not in f.decl.inputs for n in names_read(e))
    return found[0] if whole and not others and len(found) == 1 else ""


def is_respelt(f: Frame, name: str) -> bool:
    """Whether a name is that of a declaration that has to be spelt otherwise, which is told there."""
    declared = ((n, t.span) for named in (f.decl.inputs, f.decl.params) for n, t in named.items())
    return is_told(f, name) or any(
        name in (span.text, *span.text.split("-")) and n != span.text for n, span in declared
    )


def never_read(f: Frame, name: str, rank: int | None) -> tuple[str, ...]:
    """A tensor that is meant: one that is there for nothing, with a part of the name or the only one of its rank."""
    read = {n for s in f.decl.forward for n in statement_names(s)}
    listed = () if f.decl.spec.outputs is None else f.decl.outputs
    free = [n for n in (*f.decl.inputs, *f.decl.targets()) if n not in read and n not in listed and n != f.target]
    known = {n: shape for n in free if (t := f.state.tensors.get(n)) is not None and (shape := t.shape) is not None}
    fitting = [n for n, shape in known.items() if rank is None or BATCH in shape or len(shape) == rank]
    alike = [n for n in fitting if not {*n.split("_")}.isdisjoint(name.split("_"))]
    meant = alike or [n for n in fitting if n not in f.decl.inputs]
    return (f"is `{meant[0]}` meant, which nothing reads?",) if len(meant) == 1 else ()


def number(f: Frame, name: str) -> tuple[str, ...]:
    """Where a number comes from that nothing declares."""
    if own := in_gradient(f, name):
        return (own,)
    before = "…, " if f.decl.params else ""
    if f.args:
        return (f"declare it: `params: {{{before}{name}: float}}`, or pass it as an argument",)
    if any(name in names_read(e) for e in (*f.decl.derived.values(), *extents_of(f.decl))):
        return (f"declare it: `params: {{{before}{name}: int}}`",)
    return (f"declare it: `params: {{{before}{name}: float}}`, or under `inputs` if it is a tensor",)


def of_function(f: Frame, name: str, span: Span) -> tuple[str, ...]:
    """What the one unknown name in a formula of a local function means: its argument, or in a derivative its value.

    The argument is meant where the formula does not read it; of several, nothing in a derivative says which.
    """
    for g in f.decl.functions.values():
        for e in (e for e in (g.value, *(g.partials or ())) if e is not None and _is_within(span, e)):
            known = (*g.params, *f.decl.params, *f.decl.known_dims(), *CONSTANTS)
            unread = [p for p in g.params if p not in names_read(e)]
            places = [n for n in nodes(e) if n == Name(name, span)]
            if any(n not in known and n != name for n in names_read(e)):
                return ()
            if e is not g.value and name in _VALUES:
                value = f"{g.name}({', '.join(g.params)})"
                return (f"the value of `{g.name}` is `{value}`: write `{respelled(e, *((n, value) for n in places))}`",)
            if len(unread) == 1 and (e is g.value or len(g.params) == 1):
                are = "argument of `{}` is" if len(g.params) == 1 else "arguments of `{}` are"
                told = f"the {are.format(g.name)} {listed(g.params, 'and')}"
                return (f"{told}: write `{respelled(e, *((n, unread[0]) for n in places))}`",)
    return ()


def _is_within(span: Span, e: Expr) -> bool:
    return e.span.start <= span.start and span.end <= e.span.end


def extents_of(d: Declarations) -> list[Expr]:
    """The extents that are written out left of `=` and in reductions."""
    binders = [i for s in d.forward for i in s.target.items or ()]
    binders += [b for s in d.forward for n in nodes(s.value) if isinstance(n, Reduction) for b in n.binders]
    return [b.extent for b in binders if isinstance(b, Binder) and b.extent is not None]


def in_gradient(f: Frame, shown: str) -> str:
    """What is said of a name in a stated gradient; nothing elsewhere."""
    if not is_stated(f):
        return ""
    line = f"assign it above, or in `forward`: `{shown} = …`"
    return line if shown.endswith("]") else f"{line}; a number is declared under `params`"


def identity(e: Access | Call) -> tuple[str, ...]:
    """The identity, `eye[i, j]` or `delta(i, j)`, which is a condition on its indices."""
    places = [i for i in (e.args if isinstance(e, Call) else e.items) if not isinstance(i, Dots)]
    if e.name not in _IDENTITY or len(places) != 2:
        return ()
    first, second = places
    return (f"the identity is a condition on its indices: `{unparse(_one_where(first, second, e))}`",)


def conditions(f: Frame, e: Access) -> tuple[str, ...]:
    """Tensors of zeros and ones that are conditions: the identity, and a row with a single one."""
    return identity(e) or _one_hot(f, e)


def _one_where(a: Expr, b: Expr, e: Access | Call) -> Expr:
    return Call("where", (Compare((a, b), ("==",), e.span), Number(1, e.span), Number(0, e.span)), e.span, e.span)


def _one_hot(f: Frame, e: Access) -> tuple[str, ...]:
    """A row of zeros and a one: by the input of integers that says where that stands."""
    if not _ONE_HOT.fullmatch(e.name) or not all(isinstance(i, Name) for i in e.items[-1:]):
        return ()
    words, (*rest, last), at = f.decl.words, e.items, e.span
    fitting = [n for n in f.decl.inputs if n in words.ends and len(words.letters.get(n, ())) == len(rest)]
    whole = [n for n, t in f.decl.inputs.items() if t.kind == "int" and len(words.letters.get(n, ())) == len(rest)]
    if len(fitting or whole) != 1 or isinstance(last, Dots):
        return ()
    (name,) = fitting or whole
    place = Access(name, tuple(rest), at, at) if rest else Name(name, at)
    return (f"a row with a single one is a condition: `{unparse(_one_where(last, place, e))}`",)
