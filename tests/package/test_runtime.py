"""The shared runtime of generated operators: transforms, fall-back, errors, back ends."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

Build = Callable[[str], ModuleType]
AFFINE = """
op: {name}
inputs: {{x: {{shape: [..., K]}}, w: {{shape: [N, K]}}, b: {{shape: [N], optional: true}}}}
params: {{scale: {{type: float, default: 1.0}}}}
forward: |
  y[..., n] = tanh(scale * sum[k](x[..., k] * w[n, k]) + b[n])
"""


def reference(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor | None = None) -> torch.Tensor:
    return torch.tanh(torch.nn.functional.linear(x, w, b))


def doubles(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@pytest.fixture
def affine(build_operator: Build) -> Any:
    torch.manual_seed(0)
    module = build_operator(AFFINE.format(name="affine_tanh"))
    before = torch._C._functorch._is_vmap_fallback_enabled()
    torch._C._functorch._set_vmap_fallback_enabled(False)
    yield module.affine_tanh
    torch._C._functorch._set_vmap_fallback_enabled(before)


def test_every_batching_of_every_operand(affine: Any) -> None:
    shapes = ((2, 3), (4, 3), (4,))
    for dims in itertools.product(*[(None, 0, len(s)) for s in shapes]):
        if all(d is None for d in dims):
            continue
        sizes = [s if d is None else (*s[:d], 5, *s[d:]) for s, d in zip(shapes, dims, strict=True)]
        x = tuple(doubles(*s) for s in sizes)

        def total(f: Any, *y: torch.Tensor, in_dims: Any = dims) -> torch.Tensor:
            return vmap(f, in_dims)(*y).sin().sum()

        torch.testing.assert_close(vmap(affine, dims)(*x), vmap(reference, dims)(*x))
        for transform in (lambda f: grad(f, (0, 1, 2)), lambda f: lambda *y: jvp(f, y, y)):
            ours = transform(lambda *y: total(affine, *y))(*x)
            torch.testing.assert_close(ours, transform(lambda *y: total(reference, *y))(*x))


def test_towers_of_transforms(affine: Any) -> None:
    x = (doubles(3), doubles(2, 3), doubles(2))
    towers: tuple[Callable[..., Any], ...] = (
        lambda f: jacfwd(jacfwd(f, 0), 1),
        lambda f: jacrev(jacfwd(f, 1), 0),
        lambda f: jacfwd(jacrev(jacfwd(f, 0), 1), 2),
        lambda f: jacrev(jacrev(jacrev(f, 0), 1), 0),
        lambda f: hessian(lambda *y: vmap(f, (0, None, None))(torch.stack([y[0], 2 * y[0]]), *y[1:]).sum(), (0, 1)),
        lambda f: vmap(vmap(grad(lambda *y: f(*y).sum()), (None, 0, None)), (0, None, None)),
    )
    for tower in towers[:-1]:
        torch.testing.assert_close(tower(affine)(*x), tower(reference)(*x))
    y = (doubles(4, 3), doubles(5, 2, 3), doubles(2))
    torch.testing.assert_close(towers[-1](affine)(*y), towers[-1](reference)(*y))


@pytest.mark.parametrize(
    ("formula", "torch_form"),
    [
        ("y[k, n] = sin(x[n, k])", lambda x: x.mT.sin()),
        ("h[n, k] = exp(-h[n, k - 1])*x[n, k]\n  y[n] = h[n, K - 1]", lambda x: torch.exp(-x[:, 0]) * x[:, 1]),
    ],
)
def test_tangents_that_are_copied_have_tangents(
    build_operator: Any, formula: str, torch_form: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    spec = f"op: twice_pushed\ninputs: {{x: {{shape: [N, K]}}}}\noutputs: [y]\nforward: |\n  {formula}\n"
    made = build_operator(spec).twice_pushed
    x, v = doubles(3, 2), doubles(3, 2)
    for f in (lambda f: lambda x: jvp(f, (x,), (v,))[1], jacfwd):
        torch.testing.assert_close(f(f(made))(x), f(f(torch_form))(x))


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        ("y[at[n], d] *= x[n, d]", "rows"),
        ("y[at[n] + d, d] *= x[n, d]", "elements"),
        ("pad(y[at[n] - 1, d]) *= x[n, d]", ""),
    ],
)
def test_scattered_products_have_tangents_of_every_order(build_operator: Any, statement: str, index: str) -> None:
    """`scatter_reduce` with `prod` has none in torch."""
    spec = "op: multiplied\ninputs: {x: {shape: [N, D]}, at: {shape: [N], dtype: int}}\noutputs: [y]\n"
    made = build_operator(f"{spec}forward: |\n  y[s < 4, d < D] = 2\n  {statement}\n").multiplied
    at, x, v = torch.tensor([0, 2, 2, 0, 1, 0]), doubles(6, 2), doubles(6, 2)

    def plainly(x: torch.Tensor) -> torch.Tensor:
        rows = [[torch.full((), 2.0, dtype=x.dtype) for _ in range(2)] for _ in range(4)]
        for n, d in itertools.product(range(6), range(2)):
            place = int(at[n]) + (d if index == "elements" else 0 if index else -1)
            if place >= 0:
                rows[place][d] = rows[place][d] * x[n, d]
        return torch.stack([torch.stack(r) for r in rows])

    def pushed(f: Any) -> Any:
        return lambda x: jvp(f, (x,), (v,))[1]

    for tower in (pushed, lambda f: pushed(pushed(f)), lambda f: pushed(pushed(pushed(f)))):
        torch.testing.assert_close(tower(lambda x: made(x, at))(x), tower(plainly)(x))
    none = jvp(lambda x: made(x, at[:0]), (x[:0],), (v[:0],))
    torch.testing.assert_close(none, (torch.full((4, 2), 2.0, dtype=x.dtype), torch.zeros(4, 2, dtype=x.dtype)))


def test_errors_name_operator_operand_and_sizes(affine: Any) -> None:
    x, w = doubles(2, 3), doubles(4, 3)
    for call, words in (
        (lambda: affine(x, doubles(4, 5)), ("affine_tanh", "w[N, K]", "size 5 along K", "3")),
        (lambda: affine(x, w, doubles(7)), ("b[N]", "size 7 along N", "4")),
        (lambda: affine(x, w[0]), ("w must have shape [N, K]", "[3]")),
        (lambda: affine(x.long(), w), ("x must have a floating-point dtype", "int64")),
        (lambda: affine(x, w.to("meta")), ("w is on meta", "cpu")),
        (lambda: affine(x, [1.0]), ("w must be a Tensor", "list")),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert all(word in str(caught.value) for word in words), caught.value
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            getattr(torch.ops, affine.__module__.partition(".")[0]).affine_tanh(x, doubles(4, 5))


MOVED = """
op: moved_rows
inputs: {at: {shape: [N], dtype: int}, x: {shape: [V, D]}}
params: {by: {type: int, default: 1}}
forward: y[n, d] = x[at[n] + by, d]
"""
DOUBLED = """
op: doubled_rows
inputs: {at: {shape: [N], dtype: int}, x: {shape: [V, D]}}
forward: |
  z[v, d] = exp(x[v, d])
  t[n] = 2*at[n]
  y[n, d] = z[t[n], d]*z[t[n] + 1, d]
"""

LOOKED_UP = """
op: looked_up
inputs: {x: {shape: [N, M]}, table: {shape: [K]}}
forward: y[n] = table[2*argmax[m](x[n, m])]
"""


def test_a_position_out_of_range_is_told_as_it_is_written(build_operator: Build) -> None:
    module = build_operator(LOOKED_UP)
    with pytest.raises(IndexError, match=r"where it is read, 0 <= 2\*argmax\[m\]\(x\[n, m\]\) < K, with K = 2$"):
        module.looked_up(torch.eye(3), torch.randn(2))


KNAPSACK = """
op: knapsack
inputs: {value: {shape: [N]}, weight: {shape: [N], dtype: int}}
params: {cap: {type: int, default: 4}}
forward: |
  best[n, w < cap + 1] = max(best[n - 1, w], best[n - 1, w - weight[n]] + value[n])
  total = best[N - 1, cap]
"""


def test_a_position_of_a_recurrence_that_integers_decide_is_told(build_operator: Build) -> None:
    module = build_operator(KNAPSACK)
    with pytest.raises(IndexError) as caught:
        module.knapsack(torch.ones(3), torch.tensor([0, 2, 1]))
    start, _, end = str(caught.value).partition(" is out of range")
    assert start == "knapsack: a position of weight"
    assert end.endswith("; where it is read, 0 <= w - weight[n] < cap + 1 for w < cap + 1, with cap = 4")
    assert "in self" not in end


@pytest.mark.parametrize(
    ("text", "blamed", "condition"),
    [
        (MOVED, "x", "0 <= at[n] + by < V, with V = 5 and by = 1"),
        (DOUBLED, "at", "0 <= t[n] < V and 0 <= t[n] + 1 < V, with V = 5"),
    ],
)
def test_a_computed_position_out_of_range_names_the_operand(
    build_operator: Build, text: str, blamed: str, condition: str
) -> None:
    module = build_operator(text)
    function = getattr(module, module.__name__.rpartition(".")[2])
    assert function(torch.tensor([0, 1]), torch.randn(5, 2)).shape == (2, 2)
    for at in (4, -4):
        with pytest.raises(IndexError) as caught:
            function(torch.tensor([0, at]), torch.randn(5, 2))
        start, _, end = str(caught.value).partition(" is out of range")
        assert start == f"{function.__name__}: a position of {blamed}"
        assert end.endswith(f"; where it is read, {condition}")


GROUPED = """
op: grouped_rows
inputs: {x: {shape: [N, C]}}
params: {groups: {type: int}}
dims: {S: C//groups}
outputs: {y: {shape: [N, C]}}
forward: |
  ms[n, g < groups] = mean[s < S](square(x[n, g*S + s]))
  y[n, c] = x[n, c]*rsqrt(ms[n, c//S])
"""
SCALED = GROUPED.replace("grouped_rows", "scaled_groups").replace(
    "y[n, c] = x[n, c]*rsqrt(ms[n, c//S])",
    "mu[n, g < groups] = mean[s < S](x[n, g*S + s])\n  y[n, c] = (x[n, c] - mu[n, c//S])*rsqrt(ms[n, c//S])",
)
HALVED = """
op: halved_rows
inputs: {x: {shape: [T, D]}}
dims: {H: D//2}
outputs: {y: {shape: [T, D]}}
forward: |
  angle[t < T, h < H] = t*exp(-h)
  y[t, d] = where(d < H, x[t, d + H]*angle[t, d], x[t, d - H]*angle[t, d - H])
"""
BY_GROUPS = "0 <= c//S < groups for c < C, with C = 30, groups = 4 and S = C//groups = 7"
CHOSEN = """
op: chosen_rows
inputs: {x: {shape: [T, E]}}
params: {top: {type: int}}
forward: |
  order[t, e] = argsort[e](-x[t, e])
  chosen[t, j < top] = order[t, j]
  y[t, j < top] = x[t, chosen[t, j]]
"""


@pytest.mark.parametrize(
    ("text", "shape", "param", "blamed", "condition"),
    [
        (GROUPED, (2, 30), {"groups": 4}, "C = 30 is not a multiple of groups = 4; a position of ms", BY_GROUPS),
        (SCALED, (2, 30), {"groups": 4}, "C = 30 is not a multiple of groups = 4; a position of mu or ms", BY_GROUPS),
        (
            HALVED,
            (3, 5),
            {},
            "D = 5 is not a multiple of 2; a position of angle",
            "0 <= d - H < H for d < D, with D = 5 and H = D//2 = 2",
        ),
        (CHOSEN, (2, 3), {"top": 5}, "a position of order", "0 <= j < E for j < top, with E = 3 and top = 5"),
    ],
)
def test_an_intermediate_that_sizes_lead_out_of_is_named(
    build_operator: Build, text: str, shape: tuple[int, ...], param: dict[str, int], blamed: str, condition: str
) -> None:
    module = build_operator(text)
    function = getattr(module, module.__name__.rpartition(".")[2])
    with pytest.raises(IndexError) as caught:
        function(torch.randn(shape), **param)
    assert str(caught.value).startswith(f"{function.__name__}: {blamed} is out of range")
    assert str(caught.value).endswith(f"; where it is read, {condition}")
    assert "in self" not in str(caught.value)


@pytest.mark.parametrize(("sign", "expected"), [("//", [3, -4]), ("%", [1, -1])])
def test_whole_numbers_divided_by_0_are_no_position(build_operator: Build, sign: str, expected: list[int]) -> None:
    inputs = "{x: {shape: [N]}, n: {shape: [N], dtype: int}}"
    share = build_operator(f"op: share\ninputs: {inputs}\nforward: y[i] = x[i] * (7 {sign} n[i])\n").share
    assert share(torch.ones(2), torch.tensor([2, -2])).tolist() == expected
    with pytest.raises(ZeroDivisionError, match=r"^share: a whole number is divided by 0, which has no value$"):
        share(torch.ones(2), torch.tensor([2, 0]))


SHARED = """
op: shared_rows
inputs: {x: {shape: [N]}, table: {shape: [K]}}
params: {by: {type: int, default: 2}}
forward: y[n] = x[n] * table[n // (by - 1)]
"""


def test_sizes_and_params_that_divide_by_0_are_told(build_operator: Build) -> None:
    grouped, x = build_operator(GROUPED).grouped_rows, torch.randn(2, 4)
    with pytest.raises(ZeroDivisionError) as caught:
        grouped(x, groups=5)
    why = "S = C//groups is 0, and a whole number is divided by it, with C = 4 and groups = 5"
    assert str(caught.value) == f"grouped_rows: C = 4 is not a multiple of groups = 5; {why}"
    with pytest.raises(ZeroDivisionError, match=r"^grouped_rows: C = 4 is not a multiple of groups = 5; S = C//groups"):
        grouped(x[:0], groups=5)
    shared = build_operator(SHARED).shared_rows
    with pytest.raises(ZeroDivisionError, match=r": by - 1 is 0, and a whole number is divided by it, with .*by = 1"):
        shared(torch.ones(2), torch.ones(2), by=1)


def test_floats_are_promoted(affine: Any) -> None:
    assert affine(doubles(2, 3), doubles(4, 3).float()).dtype == torch.float64


def test_back_ends(affine: Any) -> None:
    runtime = sys.modules[affine.__module__.rsplit(".", 2)[0] + "._runtime"]
    assert affine.backend == "torch"
    with runtime.use_backend("native"), pytest.raises(RuntimeError, match="opgen compile"):
        affine(doubles(2, 3), doubles(4, 3))
    assert affine(doubles(2, 3), doubles(4, 3)).shape == (2, 4)
    with pytest.raises(ValueError, match="back end"), runtime.use_backend("gpu"):
        pass


@pytest.mark.thorough
def test_without_the_private_names_the_public_route_is_taken(build_alone: Build) -> None:
    module = build_alone(AFFINE.format(name="affine_public"))
    code = f"""
import torch, torch.autograd.function as f
kept = f._SingleLevelFunction
del f._SingleLevelFunction
from {module.__name__} import affine_public
from {module.__name__.rsplit(".", 1)[0]}._runtime import private
assert not private.AVAILABLE
f._SingleLevelFunction = kept
x, w = (torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((2, 3), (4, 3)))
assert torch.autograd.gradcheck(affine_public, (x, w))
torch.compile(affine_public, fullgraph=True, backend="aot_eager")(x, w).sum().backward()
"""
    root = str(Path(str(module.__file__)).parents[2])
    environment = os.environ | {"PYTHONPATH": root}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_two_copies_of_a_package_live_side_by_side(build_alone: Build, tmp_path: Path) -> None:
    module = build_alone(AFFINE.format(name="affine_twice"))
    folder = Path(str(module.__file__)).parents[1]
    (tmp_path / "second_copy").symlink_to(folder)
    import importlib

    again = importlib.import_module("second_copy.affine_twice")
    x, w = doubles(2, 3), doubles(4, 3)
    torch.testing.assert_close(again.affine_twice(x, w), module.affine_twice(x, w))


def test_the_first_vmap_in_a_thread_that_does_not_count_its_levels(
    build_operator: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backward pass on a GPU runs in a thread of its own, and torch counts the levels of its first vmap by thread."""
    module = build_operator("op: third\ninputs: [x]\nforward: y = x**3\n")
    private = sys.modules[f"{module.__name__.partition('.')[0]}._runtime.private"]
    monkeypatch.setattr(private, "_deeper", lambda: 1)
    monkeypatch.setattr(private, "_shallower", lambda: 0)
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(module.third(x).sum(), x, create_graph=True)
    (rows,) = torch.autograd.grad(grad, x, torch.eye(4, dtype=torch.float64), is_grads_batched=True)
    torch.testing.assert_close(rows, torch.diag(6 * x.detach()))
