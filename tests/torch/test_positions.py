"""Positions of every kind in torch code: affine, padded, computed, nested; scatters of every operator; scans."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from opgen.diff.adjoint import adjoint  # noqa: E402
from opgen.ir import interp  # noqa: E402
from opgen.ir.operator import Operator, Variant  # noqa: E402
from opgen.ir.program import Axis, Compute, Scatter, Statement  # noqa: E402
from opgen.ir.scalar import (  # noqa: E402
    BATCH,
    ONE,
    ZERO,
    Lit,
    Param,
    Read,
    Scalar,
    transform,
)
from opgen.torch.functions import torch_function  # noqa: E402
from tests.diff.random_maps import noise, random_case  # noqa: E402
from tests.torch.cases import compare, to_array, to_tensor  # noqa: E402
from tests.torch.execute import function  # noqa: E402
from tests.torch.position_forms import FORMS as ACCESSES  # noqa: E402
from tests.torch.programs import (  # noqa: E402
    I_,
    J_,
    PARAMS,
    SIZES,
    A,
    B,
    C,
    K,
    add,
    arguments,
    call,
    check,
    i,
    j,
    map_of,
    mul,
    program,
    read,
    sub,
)
from tests.torch.scatter_forms import LOOPS, SCATTERS  # noqa: E402

FORMS = {**ACCESSES, **SCATTERS}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str) -> None:
    check(program(*FORMS[form]))


RAISES: dict[str, tuple[Statement, ...]] = {
    "beyond": (map_of(read("x", BATCH, add(i, K)), BATCH, I_),),
    "before": (map_of(read("x", BATCH, sub(i, ONE)), BATCH, I_),),
    "negative": (map_of(read("x", BATCH, Param("shift")), BATCH),),
    "wide": (map_of(read("x", BATCH, j), BATCH, J_),),
    "computed": (map_of(read("v", sub(read("ids", BATCH, j), Lit(9))), BATCH, J_),),
    "joined": (map_of(read("w", call("floordiv", i, Lit(4)), add(i, mul(read("row", i), ZERO), Lit(4))), I_),),
    "scattered": (Scatter("y", (Axis("p", C),), (I_,), (sub(i, ONE),), read("w", i, ZERO)),),
    "scattered_joined": (
        Scatter("y", (Axis("p", A), Axis("q", B)), (I_,), (ZERO, mul(i, Lit(2))), read("w", i, ZERO)),
    ),
    "maximum": (Scatter("y", (Axis("p", Lit(2)),), (I_,), (i,), read("w", i, ZERO), "max", base=ZERO),),
    "extent": (map_of(ONE, Axis("i", Param("shift"))),),
}


@pytest.mark.parametrize("form", RAISES)
def test_out_of_range_is_an_error(form: str) -> None:
    p = program(*RAISES[form])
    variant = Variant((), p)
    operator = Operator("f", p.inputs, (), p.params, ("y",), (variant,))
    made = torch_function("f", [(variant, p)], operator)
    given = arguments(p, (2,), SIZES)
    with pytest.raises((IndexError, RuntimeError, ValueError)):
        function(made)(*({**given, **PARAMS}[n] for n in made.arguments))
    if form != "extent":
        with pytest.raises(IndexError):
            interp.run(p, {n: to_array(t) for n, t in given.items()}, PARAMS)


def _never(position: Scalar, taken: Scalar) -> Scalar:
    """What is read where a position is negative, which none is."""
    return call("where", call("lt", position, ZERO), taken, ZERO)


EMPTY: dict[str, tuple[Statement, ...]] = {
    "rows": (map_of(_never(read("ids", BATCH, j), read("v", read("ids", BATCH, j))), BATCH, J_),),
    "columns": (map_of(_never(read("row", i), read("m", BATCH, j, read("row", i))), BATCH, J_, I_),),
    "elements": (map_of(_never(read("ids", BATCH, j), read("m", BATCH, j, read("ids", BATCH, j))), BATCH, J_),),
    "joined": (map_of(_never(read("row", i), read("m", BATCH, read("row", i), read("row", i))), BATCH, I_),),
}


@pytest.mark.parametrize("form", EMPTY)
def test_a_condition_keeps_an_empty_tensor_from_being_read(form: str) -> None:
    check(program(*EMPTY[form]), {**SIZES, "C": 0})


TEXTS = {
    "shift": "y = x[..., 1:]",
    "narrow": "y = window(x, -1, 0, (count, 1))",
    "reverse": "y = x.flip(-1)",
    "pool": "x_view = window(x, -1, -1, (B, 1), (count, 1), fill=-math.inf)\n    y = amax(x_view, -1)",
    "stencil": "y = window(x, -1, -1, (A, 1), fill=0) + window(x, -1, 1, (A, 1), fill=0) - 2 * x",
    "cumsum": "y = m.cumsum(-2)",
    "argsort": "y = ids.argsort(dim=-1, stable=True)",
}


@pytest.mark.parametrize("form", TEXTS)
def test_text(form: str) -> None:
    assert TEXTS[form] in check(program(*FORMS[form]))


@pytest.mark.parametrize("form", LOOPS)
def test_recurrences(form: str) -> None:
    check(program(*LOOPS[form], outputs=("y",)))


def test_a_recurrence_reads_as_a_loop() -> None:
    assert check(program(*LOOPS["linear"])).splitlines()[6:-2] == [
        "    steps = []",
        "    y_before = torch.broadcast_to(z, batch)",
        "    for t in range(A):",
        "        x_t = x_each[t]",
        "        y_t = x_t * y_before + x_t",
        "        steps.append(y_t)",
        "        y_before = y_t",
        "    y = torch.stack(steps, -1) if steps else x.new_zeros(*batch, A)",
    ]


@pytest.mark.parametrize("form", [*FORMS, *LOOPS])
def test_under_vmap(form: str) -> None:
    p = program(*{**FORMS, **LOOPS}[form], outputs=("y",))
    variant = Variant((), p)
    made = torch_function("f", [(variant, p)], Operator("f", p.inputs, (), p.params, ("y",), (variant,)))
    f, given = function(made), arguments(p, (2,), SIZES)
    names = [n for n in made.arguments if n in given]
    rest = {n: PARAMS[n] for n in made.arguments if n not in given}
    several = [torch.stack((given[n], given[n].flip(-1) if given[n].ndim else given[n])) for n in names]
    mapped = torch.func.vmap(lambda *a: f(**dict(zip(names, a, strict=True)), **rest))(*several)
    for k in range(2):
        torch.testing.assert_close(mapped[k], f(**{n: a[k] for n, a in zip(names, several, strict=True)}, **rest))


@pytest.mark.parametrize("seed", range(60))
def test_random_maps(seed: int) -> None:
    """Random accesses and their derivatives of both orders; without a fill, out of range is an error."""
    rng = random.Random(seed)
    case = random_case(rng, symbolic=seed % 2 == 0)
    given = {**case.arrays, "grad_y": noise(rng, case.sizes), "grad_grad_w": noise(rng, case.sizes)}
    given["grad_grad_x"] = noise(rng, case.arrays["x"].shape)
    backward = adjoint(case.program)
    (s,) = case.program.statements
    assert isinstance(s, Compute)
    bare = replace(s, body=transform(s.body, lambda e: replace(e, fill=None) if isinstance(e, Read) else e))
    for p in (case.program, backward, adjoint(backward), replace(case.program, statements=(bare,))):
        variant = Variant((), p)
        operator = Operator("f", p.inputs, (), p.params, tuple(o.name for o in p.outputs), (variant,))
        tensors = {t.name: to_tensor(given[t.name], t.kind) for t in p.inputs}
        try:
            interp.run(p, given, case.params)
        except IndexError:
            made = torch_function("f", [(variant, p)], operator)
            with pytest.raises((IndexError, RuntimeError)):
                function(made)(*({**tensors, **case.params}[n] for n in made.arguments))
        else:
            compare([(variant, p)], operator, [tensors], [dict(case.params)])
