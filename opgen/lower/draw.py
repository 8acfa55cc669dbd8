"""Random numbers: `uniform(seed)`, `normal(seed)` and `integer(seed, n)` as functions of where they stand.

A draw becomes integer arithmetic of the seed, of which call of the spec it is, and of the place of the point in the
loops of its statement: those of the target, then those of the reductions around the call. How far these run is known
only when the statement is complete; until then `philox` has the indices themselves behind its other arguments, and
`placed` puts the row-major place there. All that comes after takes it for any other function of integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opgen.diagnostics.model import Bag, Source
from opgen.diagnostics.suggest import counted
from opgen.ir.program import Axis, Compute, Kind, Loop, Recurrence, Scatter, Statement
from opgen.ir.scalar import BATCH, PLACE, ZERO, Apply, Batch, Dim, Index, Lit, Read, Scalar, add, mul, transform, walk
from opgen.lang.densities import draw_of
from opgen.lang.habits import RANDOM
from opgen.lang.nodes import Access, Binder, Call, Compare, Dots, Expr, Name, Number, Reduction, Unary
from opgen.lang.parser import parse_expression
from opgen.lang.unparse import unparse, unparse_assign
from opgen.lang.vocabulary import letters, other_letters
from opgen.lang.walk import names_read, nodes, statement_at
from opgen.lang.walk import transform as transformed
from opgen.lower.along import size_of
from opgen.lower.declare import DRAWS, Declarations
from opgen.lower.digits import alone_at
from opgen.lower.extent import of_namesakes
from opgen.lower.scope import BAD, Frame, Known, Typed
from opgen.lower.whole import integer
from opgen.schema.formula import Formula

_THREE = "`uniform(seed)`, `normal(seed)`, `integer(seed, n)`"  # all that draw
_NUMBERS = {"uniform": "uniform_of", "normal": "normal_of"}


def seeds(d: Declarations) -> tuple[str, ...]:
    """The inputs that random numbers are drawn from."""
    return tuple(n for n, t in d.inputs.items() if t.dtype == "seed")


def is_drawn(e: Expr) -> bool:
    """Whether random numbers are drawn in an expression, others at each place where it stands."""
    return any(isinstance(n, Call) and n.name in DRAWS for n in nodes(e))


_LIKE = {"rand_like": "uniform", "randn_like": "normal"}
_ALONE = {"rand": "uniform", "randn": "normal"}


def drawn_like(f: Frame, e: Call) -> str | None:
    """The statement of `u[..., k] = rand_like(x[..., k])`, with how far its indices run: a draw does not say it."""
    of = e.args[0] if len(e.args) == 1 and e.name in _LIKE else None
    own = [s for s in f.decl.forward if s.target.name == f.target and e in nodes(s.value)]
    shape = f.decl.shapes.get(of.name, ()) if isinstance(of, Access) else ()
    if not isinstance(of, Access) or len(of.items) != len(shape) or len(own) != 1 or not own[0].target.items:
        return None
    sizes = {i.name: d.name for i, d in zip(of.items, shape, strict=True) if isinstance(i, Name) and isinstance(d, Dim)}
    if any(isinstance(b, Binder) and b.name not in sizes for b in own[0].target.items):
        return None
    seed = Name(next(iter(seeds(f.decl)), "seed"), e.span)

    def bounded(b: Binder | Dots | Expr) -> Binder | Dots | Expr:
        return replace(b, extent=b.extent or Name(sizes[b.name], b.span)) if isinstance(b, Binder) else b

    value = transformed(own[0].value, lambda n: replace(e, name=_LIKE[e.name], args=(seed,)) if n == e else None)
    target = replace(own[0].target, items=tuple(map(bounded, own[0].target.items)))
    return unparse_assign(replace(own[0], target=target, value=value))


def drawn_beside(f: Frame, e: Call) -> str | None:
    """The statement of `z = mu + s*randn_like(mu)`, where what stands beside a draw says how far it goes."""
    bare = isinstance(e.args[0], Name) if len(e.args) == 1 and e.name in _LIKE else not e.args and e.name in _ALONE
    own = [s for s in f.decl.forward if s.target.name == f.target and e in nodes(s.value)]
    if not bare or len(own) != 1:
        return None
    name = {**_LIKE, **_ALONE}[e.name]
    value = replace(e, name=name, args=(Name(next(iter(seeds(f.decl)), "seed"), e.span),))
    if own[0].target.items:
        return drawn(f, e, value)
    made = replace(own[0], value=transformed(own[0].value, lambda n: value if n == e else None))
    read = [n for n in nodes(made.value) if isinstance(n, Name | Access) and n.name in f.decl.shapes]
    of = f.decl.shapes.get(e.args[0].name, ()) if e.args and isinstance(e.args[0], Name) else ()
    if any(BATCH in f.decl.shapes[n.name] for n in read):
        return unparse_assign(made)
    whole = replace(made, target=replace(made.target, items=(Dots(e.span),)))
    return unparse_assign(whole) if not read and of == (BATCH,) else None


def drawn(f: Frame, e: Call, value: Expr) -> str | None:
    """The statement with this in place of a draw, and with the extents that nothing on its right says any more.

    None where all of them are said, or one is not known.
    """
    own = [s for s in f.decl.forward if s.target.name == f.target and e in nodes(s.value)]
    if len(own) != 1 or not own[0].target.items:
        return None
    made = replace(own[0], value=transformed(own[0].value, lambda n: value if n == e else None))
    loose = [b for b in own[0].target.items if isinstance(b, Binder) and b.extent is None]
    dims = f.decl.known_dims()
    sizes = {
        b.name: of_namesakes(f, b.name) or (b.name.upper() if b.name.upper() in dims else "")
        for b in loose
        if alone_at(f, made, b.name) is None
    }
    if not all(sizes.values()) or (not sizes and value == e):
        return None

    def bounded(b: Binder | Dots | Expr) -> Binder | Dots | Expr:
        return replace(b, extent=Name(sizes[b.name], b.span)) if isinstance(b, Binder) and b.name in sizes else b

    return unparse_assign(replace(made, target=replace(made.target, items=tuple(map(bounded, own[0].target.items)))))


def bernoulli(f: Frame, e: Call) -> str | None:
    """`m[n] = bernoulli(p)` as what it is: a number below `p`."""
    args = _unseeded(f, e)
    if e.name != "bernoulli" or len(args) != 1 or (isinstance(args[0], Name) and args[0].name in f.state.tensors):
        return None
    seed = Name(next(iter(seeds(f.decl)), "seed"), e.span)
    below = Compare((replace(e, name="uniform", args=(seed,)), args[0]), ("<",), e.span)
    return drawn(f, e, below)


def drawn_by_name(f: Frame, e: Call) -> str | None:
    """`rnorm(n, mu, s)` and `normal_rng(mu, s)` as what they draw, with how far indices run where it stands alone."""
    shown = [a.span.text if isinstance(a, Name | Access | Number) else f"({unparse(a)})" for a in _unseeded(f, e)]
    line = draw_of(e.name, shown, {})
    if line is None:
        return None
    value = parse_expression(Formula(line, Source("", line), tuple(range(len(line) + 1))), Bag())
    return line if value is None else drawn(f, e, value) or line


def _unseeded(f: Frame, e: Call) -> list[Expr]:
    """The arguments without the seed."""
    return [a for a in e.args if not (isinstance(a, Name) and a.name in (*seeds(f.decl), "seed"))]


def unknown(f: Frame, e: Call) -> str:
    """What is said of a draw by the name of another library, which a seed makes of any name; empty for no draw."""
    given = _unseeded(f, e)
    if e.name in RANDOM:
        line = bernoulli(f, e) or drawn_like(f, e) or drawn_beside(f, e) or drawn_by_name(f, e)
        hint = f"random numbers are drawn from a seed: {f'`{line}`' if line else _THREE}"
    elif len(given) < len(e.args) or (not e.args and drawn_by_name(f, e)):
        line = drawn_by_name(f, e)
        made = f"write `{line}`" if line else "make it of these, or pass the numbers as an input"
        hint = f"only {_THREE} draw: {made}"
    else:
        return ""
    return hint if seeds(f.decl) else f"{hint}, with `{f.decl.words.seeded()}`"


def draw(f: Frame, e: Call) -> Typed:
    """One call, at the point where it stands."""
    if e.name in f.decl.broken:
        return BAD
    wanted = 2 if e.name == "integer" else 1
    if not seeds(f.decl):
        first = e.args[0] if e.args else None
        named = first.name if isinstance(first, Name) and first.name not in f.state.tensors else "seed"
        declared = f.decl.words.seeded(named)
        last = ", behind the other inputs" if f.decl.inputs else ""
        hint = f"declare one{last}: `{declared}`; a call of the operator may leave it out"
        if named in f.decl.params:
            hint = f"a seed is no param, but stands under `inputs`: `{declared}`"
        elif named in f.decl.inputs:
            hint = f"`{named}` is an input of another kind: write `{named}: {{dtype: seed}}`"
        hints = _hints(f, e, named, wanted) if len(e.args) != wanted or not isinstance(first, Name) else ()
        line = None if hints else drawn(f, e, e)
        hints = hints if line is None else (f"a draw does not say how far an index runs: write `{line}`",)
        return f.error("OPG206", f"`{e.name}` draws from a seed, and this spec has none", e.span, hint, *hints)
    if len(e.args) != wanted:
        message = f"`{e.name}` takes {counted(wanted, 'argument')}, not {len(e.args)}"
        return f.error("OPG210", message, e.span, *_hints(f, e, seeds(f.decl)[0], wanted))
    if f.scope is None:
        hint = "pass the number as an argument"
        return f.error("OPG206", f"{f.place} cannot draw a random number", e.span, hint)
    seed = _seed(f, e.args[0], e.name)
    if seed is None:
        return BAD
    places: list[Scalar] = []
    for loop in f.scope.visible():
        if not isinstance(loop, Batch):
            places.append(Index(loop.unique))
        elif PLACE not in places and any(BATCH in s for s in f.decl.shapes.values()) and f.scope.use_batch():
            places.append(PLACE)
    bits = Apply("philox", (seed, Lit(_numbers(f.decl)[e.span.start]), *places))
    if e.name != "integer":
        return Typed(Apply(_NUMBERS[e.name], (bits,)), Kind.FLOAT)
    count = integer(f, f.lower(e.args[1]), e.args[1], "the number of values of `integer`")
    if count.kind is None:
        return BAD
    if isinstance(count.scalar, Lit) and count.scalar.value < 1:
        message = f"`{e.name}` draws one of {unparse(e.args[1])} values, and that must be 1 at least"
        return f.error("OPG223", message, e.args[1].span, "`integer(seed, n)` is one of 0 … n - 1")
    if isinstance(count.scalar, Index) and not f.path:
        index, drawn_from = unparse(e.args[1]), unparse(e.args[0])
        own = statement_at((*f.decl.forward, *f.decl.backward), e.span)
        size = "" if own is None else size_of(f.decl, own, index)
        message = f"`{index}` begins at 0, and `{e.name}` draws one of at least 1 value"
        ways = [f"up to `{index}` itself it is `{e.name}({drawn_from}, {index} + 1)`"]
        ways += [f"over all that `{index}` counts it is `{e.name}({drawn_from}, {size})`"] if size else []
        return f.error("OPG223", message, e.args[1].span, *ways, label="an index")
    return Typed(Apply("mod", (bits, count.scalar)), Kind.INT)


def _hints(f: Frame, e: Call, seed: str, wanted: int) -> tuple[str, ...]:
    """How a draw with other arguments is written, and what other libraries take as further ones."""
    shown = f"{e.name}({seed}{', n' if wanted == 2 else ''})"
    if not e.args and wanted == 1 and (line := drawn(f, e, replace(e, args=(Name(seed, e.span),)))) is not None:
        return (f"it is written `{shown}`: `{line}`",)
    if any(isinstance(a, Name) and f.scope is not None and f.scope.find(a.name) is not None for a in e.args):
        return f"it is written `{shown}`", "every element draws a number of its own: no index is named"
    given = [a for a in e.args if not (isinstance(a, Name) and a.name == seed)]
    if len(given) >= wanted and all(_is_size(f, a) for a in given[wanted - 1 :]):
        line = _without_sizes(f, replace(e, args=(Name(seed, e.span), *given[: wanted - 1])), e, given[wanted - 1 :])
        return (f"a number is drawn for each place of the statement: leave the sizes out: `{line}`",)
    if len(given) != 2 or e.name == "integer":
        return (f"it is written `{shown}`",)
    if e.name == "uniform":
        low, high = given
        lower = f" + {unparse(low.operand)}" if isinstance(low, Unary) and low.op == "-" else f" - {_inside(low)}"
        width = _inside(high) if unparse(low) == "0" else f"({unparse(high)}{lower})"
        return (f"between two numbers it is written `{_moved(low)}{_times(width)}{shown}`",)
    mean, deviation = given
    return (f"with this mean and deviation it is written `{_moved(mean)}{_times(_inside(deviation))}{shown}`",)


def _is_size(f: Frame, e: Expr) -> bool:
    """Whether this says how far an index runs: a dim, or an int param that some other size is made of."""
    if not isinstance(e, Name) or e.name in f.decl.known_dims():
        return isinstance(e, Name)
    own = [i for s in f.decl.forward for i in s.target.items or ()]
    own += [i for s in f.decl.forward for n in nodes(s.value) if isinstance(n, Reduction) for i in n.binders]
    sizes = [b.extent for b in own if isinstance(b, Binder) and b.extent is not None]
    is_param = e.name in f.decl.params and f.decl.params[e.name].type == "int"
    return is_param and any(e.name in names_read(size) for size in (*sizes, *f.decl.derived.values()))


def _without_sizes(f: Frame, meant: Call, e: Call, sizes: list[Expr]) -> str:
    """A draw without sizes; the statement, where indices of its left side have to say them."""
    own = [s for s in f.decl.forward if s.target.name == f.target and e in nodes(s.value)]
    if len(own) == 1 and own[0].value == e and not own[0].target.items:
        names = [unparse(size) for size in sizes]
        taken = other_letters(names, (*f.decl.params, *f.decl.inputs, *f.decl.targets()))
        items = (f"{i} < {n}" for i, n in zip(letters(names, taken), names, strict=True))
        return f"{f.target}[{', '.join(items)}] = {unparse(meant)}"
    line = drawn(f, e, meant)
    return line if line is not None and "<" in line.partition("=")[0] else unparse(meant)


def _moved(by: Expr) -> str:
    return "" if unparse(by) == "0" else f"{unparse(by)} + "


def _times(factor: str) -> str:
    return "" if factor == "1" else f"{factor}*"


def _inside(e: Expr) -> str:
    """An operand of a product."""
    return unparse(e) if isinstance(e, Name | Number | Access | Call) else f"({unparse(e)})"


def _seed(f: Frame, e: Expr, name: str) -> Scalar | None:
    found = seeds(f.decl)
    if isinstance(e, Name) and e.name in found and e.name not in f.args:
        return Read(e.name, ())
    hint = f"write `{name}({found[0]}{', …' if name == 'integer' else ''})`"
    f.error("OPG206", f"`{name}` draws from a seed, and `{unparse(e)}` is none", e.span, hint)
    return None


def refused(f: Frame, name: str, e: Expr, known: Known) -> bool:
    """Is this a seed that is used as a number? Says so."""
    if not known.declared or name not in f.decl.inputs or f.decl.inputs[name].dtype != "seed":
        return False
    hint = f"draw from it: `uniform({name})`, `normal({name})` or `integer({name}, n)`"
    f.error("OPG223", f"`{name}` is a seed, and no number", e.span, hint)
    return True


def _numbers(d: Declarations) -> dict[int, int]:
    """Which call of the spec each is, by the place of its first character: in the order of the text, from 0."""
    formulas: list[Expr] = []
    for s in (*d.forward, *d.backward):
        formulas += [s.value, *(i for i in s.target.items or () if not isinstance(i, Binder | Dots))]
    calls = {n.span.start for e in formulas for n in nodes(e) if isinstance(n, Call) and n.name in DRAWS}
    return {start: k for k, start in enumerate(sorted(calls))}


# --- complete statements ---------------------------------------------------------------------------------------------


def placed(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """The statements with the places of their draws as numbers."""
    return tuple(map(_placed, statements))


def placed_step(c: Compute) -> Compute:
    """A step of a recurrence with its places, before its loops become others."""
    return replace(c, body=_at(c.body, c.loops))


def _placed(s: Statement) -> Statement:
    match s:
        case Compute():
            return placed_step(s)
        case Scatter():
            at = tuple(p if isinstance(p, Batch) else _at(p, s.loops) for p in s.at)
            return replace(s, at=at, body=_at(s.body, s.loops), base=_at(s.base, s.axes))
        case Recurrence():
            return replace(s, steps=tuple(map(placed_step, s.steps)))


def _at(e: Scalar, loops: tuple[Loop, ...]) -> Scalar:
    if not draws(e):
        return e
    sizes: dict[Scalar, Scalar] = {Index(a.name): a.extent for a in loops if isinstance(a, Axis)}
    sizes[PLACE] = Dim("...")

    def step(node: Scalar) -> Scalar:
        match node:
            case Apply("philox", (seed, number, *at)) if all(i in sizes for i in at):  # not a place already
                place: Scalar = ZERO
                for i in at:
                    place = add(mul(place, sizes[i]), i)
                return Apply("philox", (seed, number, place))
            case _:
                return node

    return transform(e, step)


def draws(e: Scalar) -> bool:
    """Does an expression draw random numbers?"""
    return any(isinstance(n, Apply) and n.fn == "philox" for n in walk(e))
