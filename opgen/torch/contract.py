"""Sums of products as matrix products, where the product itself need not be made.

In goes a `sum` statement; out comes its value as `a @ b` where it is a matrix product of two tensors, as
`torch.einsum` where it is a larger contraction, or nothing where multiplying and summing is just as well. Factors
that do not vary along the summed loops are multiplied afterwards, constants too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from opgen.code.printer import Infix, Text, join
from opgen.ir.program import Axis, Kind, Loop
from opgen.ir.scalar import BATCH, Apply, Scalar, mul
from opgen.torch.body import body_value, expanded, packed
from opgen.torch.dialect import ATOM, MUL, UNARY
from opgen.torch.scope import Scope, loops_of
from opgen.torch.values import Value, aligned, permuted


@dataclass(frozen=True, slots=True)
class _Product:
    """Factors of a body: `inner` vary along the summed loops, one scalar per operand; `outer` do not."""

    negative: bool
    inner: tuple[Scalar, ...]
    outer: tuple[Scalar, ...]


def contraction(scope: Scope, body: Scalar, kept: tuple[Loop, ...], over: tuple[Loop, ...]) -> Value | None:
    """The sum over `over` as a matrix product or einsum, over loops in the order of `kept`."""
    product = _factored(body, (*kept, *over), over)
    operands = [packed(scope, e, (*kept, *over)) for e in product.inner]
    if not _worth_it(operands, over):
        operands = [packed(scope, e, (*kept, *over)) for e in _merged(product.inner, (*kept, *over))]
        if not _worth_it(operands, over):
            return None
        value = None
    else:
        value = _matmul(scope, operands, kept, over)
    if value is None:
        operands = [packed(scope, e, (*kept, *over)) for e in _merged(product.inner, (*kept, *over))]
        if len(operands) < 2:
            return None
        value = _matmul(scope, operands, kept, over) or _einsum(scope, operands, kept, over)
    return _finished(scope, value, product, kept)


def is_contracted(body: Scalar, kept: tuple[Loop, ...], over: tuple[Loop, ...]) -> bool:
    """Whether a sum is one of products that are never made: no factor has the loops of all others."""
    space = (*kept, *over)
    return len(_merged(_factored(body, space, over).inner, space)) > 1


def _factored(body: Scalar, space: tuple[Loop, ...], over: tuple[Loop, ...]) -> _Product:
    negative = isinstance(body, Apply) and body.fn == "neg"
    if isinstance(body, Apply) and body.fn == "neg":
        body = body.args[0]
    factors = body.args if isinstance(body, Apply) and body.fn == "mul" else (body,)
    inner = tuple(f for f in factors if any(loop in over for loop in loops_of(f, space)))
    return _Product(negative, inner, tuple(f for f in factors if f not in inner))


def _merged(factors: tuple[Scalar, ...], space: tuple[Loop, ...]) -> list[Scalar]:
    """Factors that vary along no loop another does not, multiplied into that one."""
    groups: list[tuple[tuple[Loop, ...], list[Scalar]]] = []
    for f in sorted(factors, key=lambda f: -len(loops_of(f, space))):
        loops = loops_of(f, space)
        home = next((g for g in groups if all(loop in g[0] for loop in loops)), None)
        if home is None:
            groups.append((loops, [f]))
        else:
            home[1].append(f)
    return [mul(*(f for f in factors if f in members)) for _, members in groups]


def _worth_it(operands: list[Value], over: tuple[Loop, ...]) -> bool:
    return (
        len(operands) > 1
        and all(o.text.kind is Kind.FLOAT and not o.text.number for o in operands)
        and all(any(loop in o.loops for o in operands) for loop in over)
    )


def _finished(scope: Scope, value: Value, product: _Product, kept: tuple[Loop, ...]) -> Value:
    """The contraction times the factors left out of it, which may vary along loops that it does not."""
    if any(loop not in value.loops for f in product.outer for loop in loops_of(f, kept)):
        known = {*value.loops, *(loop for f in product.outer for loop in packed(scope, f, kept).loops)}
        loops = tuple(loop for loop in kept if loop in known)
        value = replace(aligned(value, loops), loops=loops)
    texts, loops, batch = [value.text], value.loops, value.batch
    numbers: list[Text] = []
    for factor in product.outer:
        outer = body_value(scope, factor, loops)
        (numbers if outer.text.number else texts).append(outer.text)
        batch |= outer.batch
    text = join(Infix.of("*", MUL), (*numbers, *texts), Kind.FLOAT)
    if product.negative:
        text = Text(f"-{text.at(UNARY)}", UNARY)
    return Value(text, loops, batch)


# --- matrix products -------------------------------------------------------------------------------------------------


def _matmul(scope: Scope, operands: list[Value], kept: tuple[Loop, ...], over: tuple[Loop, ...]) -> Value | None:
    if len(operands) != 2 or len(over) != 1:
        return None
    a, b = operands
    rule = _rows_product if over[0] == BATCH else _product
    for left, right in ((a, b), (b, a)):
        value = rule(scope, left, right, over[0])
        if value is not None and value.loops == tuple(loop for loop in kept if loop in value.loops):
            return value
    return None


def _named(v: Value) -> tuple[Axis, ...]:
    return tuple(loop for loop in v.loops if isinstance(loop, Axis))


def _product(scope: Scope, a: Value, b: Value, r: Loop) -> Value | None:
    """`a[..., m, r] @ b[r, n]`, `b` with a batch only if `a` is a matrix too; `b.mT @ a` for a vector `a`.

    torch's vector times matrix squeezes in place, which DTensors do not see.
    """
    lead, free = tuple(x for x in a.loops if x != r), tuple(x for x in _named(b) if x != r)
    if r not in a.loops or r not in b.loops or len(free) != 1 or free[0] in lead:
        return None
    if BATCH in b.loops and len(_named(a)) != 2 and a.loops != (r,):
        return None
    outer = (BATCH,) if BATCH in b.loops else ()
    if a.loops == (r,):
        b = permuted(b, (*outer, free[0], r))
        return Value(_times(b.text, a.text), (*outer, free[0]), b.batch)
    a, b = permuted(a, (*lead, r)), permuted(b, (*outer, r, free[0]))
    loops = (*(loop for loop in outer if loop not in a.loops), *lead, free[0])
    return Value(_times(a.text, b.text), loops, a.batch | b.batch)


def _rows_product(scope: Scope, a: Value, b: Value, _: Loop) -> Value | None:
    """`sum[...](a[..., m] * b[..., n])`: the batch flattened into rows, `a.mT @ b`."""
    if len(_named(a)) != 1 or len(_named(b)) != 1 or _named(a) == _named(b):
        return None
    if not (BATCH in a.loops and BATCH in b.loops and scope.whole_batch(a.batch) and scope.whole_batch(b.batch)):
        return None
    left, right = (Text(f"as_rows({v.text.text})", ATOM) for v in (a, b))
    return Value(_times(Text(f"{left.text}.mT", ATOM), right), (*_named(a), *_named(b)))


def _times(a: Text, b: Text) -> Text:
    return join(Infix.of("@", MUL), (a, b), Kind.FLOAT)


# --- the rest --------------------------------------------------------------------------------------------------------


def _einsum(scope: Scope, operands: list[Value], kept: tuple[Loop, ...], over: tuple[Loop, ...]) -> Value:
    batch = frozenset[str]().union(*(o.batch for o in operands))
    if BATCH in over and not scope.whole_batch(batch):
        i = next(i for i, o in enumerate(operands) if BATCH in o.loops)
        operands[i] = expanded(scope, operands[i], operands[i].loops)
    result = tuple(loop for loop in kept if any(loop in o.loops for o in operands))
    letters = _letters(tuple(dict.fromkeys(loop for o in operands for loop in o.loops)))
    sides = ["".join(letters[loop] for loop in o.loops) for o in operands]
    equation = f"{','.join(sides)}->{''.join(letters[loop] for loop in result)}"
    code = f'torch.einsum("{equation}", {", ".join(o.text.text for o in operands)})'
    return Value(Text(code, ATOM), result, batch if BATCH in result else frozenset())


def _letters(loops: tuple[Loop, ...]) -> dict[Loop, str]:
    """A letter per loop: that of its name where it is free."""
    letters: dict[Loop, str] = {}
    for loop in loops:
        if not isinstance(loop, Axis):
            letters[loop] = "..."
            continue
        wanted = [c for c in loop.name.lower() if c.isalpha() and c.isascii()]
        taken = tuple(letters.values())
        letters[loop] = next(c for c in (*wanted, *"abcdefghijklmnopqrstuvwxyz") if c not in taken)
    return letters
