"""Random conditions and integer formulas."""

from __future__ import annotations

from math import inf

from tests.random_programs import draws, expressions
from tests.random_programs.forms import call, literal, new_indices, written
from tests.random_programs.positions import access, int_param
from tests.random_programs.scope import AND, ATOM, COMPARE, NOT, OR, PLUS, TIMES, UNARY, Expr, Scope, World


def conditions(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    make = c.weighted(((6, _compared), (4, _of_indices), (3, _bools), (2, _joined), (2, _quantified), (1, _tested)))
    return make(w, scope, depth)


def _compared(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    a = expressions.floats(w, scope, depth - 1)
    op = c.pick((">", "<", ">=", "<="))
    if c.chance(20):
        w.mark("chained comparison")
        return Expr(f"-0.6 {op[0]} {a.at(PLUS)} {op[0]} 0.7", COMPARE) if op[0] == "<" else Expr(
            f"0.7 > {a.at(PLUS)} > -0.6", COMPARE
        )  # fmt: skip
    b = expressions.floats(w, scope, 0)
    return Expr(f"{a.at(PLUS)} {op} {b.at(PLUS)} + 0.11", COMPARE)


def _of_indices(w: World, scope: Scope, depth: int) -> Expr:
    if not scope.indices:
        return _compared(w, scope, depth)
    c = w.choose
    w.mark("condition over indices")
    i = c.pick(scope.indices)
    other = c.pick([x.name for x in scope.indices if x is not i] or ["1"])
    forms = ("{0} <= {1}", "{0} == 0", "{0} % 2 == 1", "{0} < {2} - 1", "{0} != {1}")
    return Expr(c.pick(forms).format(i.name, other, i.size.text), COMPARE)


def _bools(w: World, scope: Scope, depth: int) -> Expr:
    fits = [t for t in w.tensors if t.kind == "bool" and (scope.batch or not t.batched)]
    if not fits:
        return _of_indices(w, scope, depth)
    w.mark("bool tensor")
    found = access(w, scope, w.choose.pick(fits))
    assert found is not None
    return found if not found.text.startswith("pad") else Expr(f"{found.text} == 1", COMPARE)


def _joined(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    a = conditions(w, scope, depth - 1) if depth > 0 else _of_indices(w, scope, depth)
    if c.chance(30):
        w.mark("not")
        return Expr(f"not {a.at(COMPARE)}", NOT)
    b = _of_indices(w, scope, depth)
    w.mark("and, or")
    return Expr(f"{a.at(NOT)} and {b.at(NOT)}", AND) if c.chance(50) else Expr(f"{a.at(AND)} or {b.at(AND)}", OR)


def _quantified(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    name = c.pick(("any", "all"))
    w.mark(f"reduction {name}")
    bound = new_indices(w, scope, 1)
    body = conditions(w, scope.inside(bound, False), 1)
    return Expr(f"{name}[{written(w, bound[0])}]({body.text})", ATOM)


def _tested(w: World, scope: Scope, depth: int) -> Expr:
    w.mark("isnan, isfinite")
    name = w.choose.pick(("isfinite", "isnan"))
    return Expr(f"{name}({expressions.floats(w, scope, depth - 1).text})", ATOM)


def integers(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    make = c.weighted(((5, _int_leaf), (3, _int_arithmetic), (2, _counted), (2, _arg), (1, _bits), (2, _rounded),
                       (1, draws.drawn_integer)))  # fmt: skip
    return make(w, scope, depth)


def _int_leaf(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    fits = [t for t in w.tensors if t.kind == "int" and (scope.batch or not t.batched)]
    if fits and c.chance(60):
        found = access(w, scope, c.pick(fits))
        assert found is not None
        return found
    if scope.indices and c.chance(60):
        i = c.pick(scope.indices)
        return Expr(i.name, ATOM, 0, max(i.size.value - 1, 0))
    if c.chance(30):
        w.mark("int param")
        return Expr(int_param(w), ATOM, 0, 2)
    return literal(c.pick((1, 2, 0)))


def _int_arithmetic(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    w.mark("integer arithmetic")
    a = _int_leaf(w, scope, depth)
    if c.chance(50):
        return Expr(f"{a.at(UNARY)}{c.pick(('//2', ' % 3', '//(-2)'))}", TIMES, -a.width - 1, a.width + 3)
    b = _int_leaf(w, scope, depth)
    wide = (1 + a.width) * (1 + b.width)
    op = c.pick(("+", "-", "*"))
    if op == "*":
        return Expr(f"{a.at(UNARY)}*{b.at(UNARY)}", TIMES, -wide, wide)
    return Expr(f"{a.at(PLUS)} {op} {b.at(TIMES)}", PLUS, -wide, wide)


def _counted(w: World, scope: Scope, depth: int) -> Expr:
    w.mark("reduction count")
    bound = new_indices(w, scope, 1)
    body = conditions(w, scope.inside(bound, False), 1)
    return Expr(f"count[{written(w, bound[0])}]({body.text})", ATOM, 0, bound[0].size.value)


def _arg(w: World, scope: Scope, depth: int) -> Expr:
    c = w.choose
    bound = new_indices(w, scope, 1)
    name = c.pick(("argmax", "argmin", "argsort"))
    if name == "argsort" and scope.indices:
        w.mark("argsort")
        i = c.pick(scope.indices)
        return Expr(f"argsort[{i.name}]({expressions.floats(w, scope, 1).text})", ATOM, 0, max(i.size.value - 1, 0))
    if name == "argsort" or bound[0].size.value == 0:
        return _int_leaf(w, scope, depth)
    w.mark(f"reduction {name}")
    body = expressions.floats(w, scope.inside(bound, False), 1)
    return Expr(f"{name}[{written(w, bound[0])}]({body.text})", ATOM, 0, bound[0].size.value - 1)


def _bits(w: World, scope: Scope, depth: int) -> Expr:
    w.mark("bit functions")
    a, b = _int_leaf(w, scope, depth), _int_leaf(w, scope, depth)
    return call(w.choose.pick(("bitand", "bitor", "bitxor")), a, b, low=-8, high=8)


def _rounded(w: World, scope: Scope, depth: int) -> Expr:
    if w.infinite:
        return _int_leaf(w, scope, depth)
    w.mark("int of a float")
    e = expressions.floats(w, scope, 1)
    inner = w.choose.pick(("int({0})", "int(floor({0}))", "int(round({0}))")).format(e.text)
    return Expr(inner, ATOM, -min(e.width, inf) - 1, e.width + 1)
