"""`out=`: what torch's own functions do with it, and with whom it works."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad

Operator = Callable[..., Any]
SPEC = """
op: logistic
inputs: [x]
reference: torch.sigmoid
forward: y = sigmoid(x)
"""


@pytest.fixture
def logistic(build_operator: Callable[[str], ModuleType]) -> Operator:
    return build_operator(SPEC).logistic  # type: ignore[no-any-return]


def namespace(operator: Operator) -> str:
    """Where in `torch.ops` the operators of a package are that lies in no other: under its own name."""
    return operator.__module__.partition(".")[0]


def outcome(call: Callable[[], torch.Tensor], name: str) -> tuple[Any, ...]:
    """What happens: the result with its form, or the error, and warnings."""
    found: list[Any] = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result = call()
            found += [result.tolist(), result.dtype, result.stride(), result._version > 0]
        except (RuntimeError, TypeError, NotImplementedError) as e:
            found += [type(e), str(e).replace(name, "NAME")]
    return (*found, *[(w.category, str(w.message).partition(" (Triggered")[0]) for w in told])


def alike(ours: object, torchs: object) -> bool:
    """The same; a text of ours may say more than torch's does."""
    if isinstance(torchs, tuple | list) and isinstance(ours, tuple | list):
        return len(ours) == len(torchs) and all(map(alike, ours, torchs))
    return torchs.removesuffix(".") in ours if isinstance(torchs, str) and isinstance(ours, str) else ours == torchs


@pytest.mark.parametrize(
    "out",
    [
        lambda: torch.empty(3),
        lambda: torch.empty(0),
        lambda: torch.empty(2),
        lambda: torch.empty(6)[::2],
        lambda: torch.empty(1).expand(3),
        lambda: torch.empty(3, dtype=torch.float16),
        lambda: torch.empty(3, dtype=torch.complex128),
        lambda: torch.empty(3, dtype=torch.int64),
        lambda: torch.empty(3, dtype=torch.bool),
        lambda: torch.empty(3, requires_grad=True),
        lambda: 3,
    ],
)
@pytest.mark.parametrize("grad", [False, True])
def test_torchs_own_functions_do_the_same(logistic: Operator, out: Callable[[], Any], grad: bool) -> None:
    def run(f: Operator, name: str) -> tuple[Any, ...]:
        return outcome(lambda: f(torch.tensor([-1.0, 0.0, 2.0], requires_grad=grad), out=out()), name)

    assert alike(run(logistic, "logistic"), run(torch.sigmoid, "sigmoid"))


@pytest.mark.parametrize("overload", [False, True])
def test_operator_and_argument_are_named(logistic: Operator, overload: bool) -> None:
    op = getattr(torch.ops, namespace(logistic)).logistic.out if overload else logistic
    x = torch.zeros(3)
    with pytest.raises(RuntimeError, match=r"logistic: out must hold torch.float32, not torch.int64: result type"):
        op(x, out=torch.empty(3, dtype=torch.int64))
    with pytest.raises(RuntimeError, match=r"logistic: out must be on cpu, as the result is: .* got meta instead"):
        op(x, out=torch.empty(3, device="meta"))
    with pytest.warns(UserWarning, match=r"logistic: out: .* shape \[2\], .* shape \[3\]"):
        op(x, out=torch.empty(2))
    grad = r"requires grad: x; call logistic without out, or within torch.no_grad\(\)"
    with pytest.raises(RuntimeError, match=grad):
        op(x.requires_grad_(), out=torch.empty(3))
    with pytest.raises(RuntimeError, match=r"requires grad: x, out; call"):
        op(x, out=torch.empty(3, requires_grad=True))


def test_one_of_several_is_named(build_operator: Callable[[str], ModuleType]) -> None:
    both = build_operator("op: two_of\ninputs: [x]\nforward: |\n  y = x + 1\n  z = 2*x\n").two_of
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"two_of: out\[1\] must hold torch.float32, not torch.bool"):
        both(x, out=(torch.empty(3), torch.empty(3, dtype=torch.bool)))
    with pytest.raises(RuntimeError, match=r"requires grad: out\[0\]; call two_of without"):
        both(x, out=(torch.empty(3, requires_grad=True), torch.empty(3)))
    with pytest.raises(TypeError, match=r"two_of\(\): argument 'out': expected tuple of 2 elements but got 1"):
        both(x, out=(torch.empty(3),))


def test_one_result_goes_into_one_tensor(logistic: Operator) -> None:
    for f in (logistic, torch.sigmoid):
        with pytest.raises(TypeError, match="argument 'out' must be Tensor, not list"):
            f(torch.zeros(3), out=[torch.empty(3)])


def test_without_grad_mode_a_leaf_may_be_written_into(logistic: Operator) -> None:
    out = torch.empty(3, requires_grad=True)
    with torch.no_grad():
        assert logistic(torch.zeros(3, requires_grad=True), out=out) is out
    assert out.tolist() == [0.5] * 3


def test_forward_mode_is_refused(logistic: Operator) -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.zeros(3), torch.ones(3))
        for f, name in ((logistic, "logistic"), (torch.sigmoid, "sigmoid")):
            with pytest.raises(NotImplementedError, match=f"forward AD with {name}_out"):
                f(dual, out=torch.empty(3))


def test_transforms_are_refused(logistic: Operator) -> None:
    out = torch.empty(())
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        torch.func.grad(lambda t: logistic(t, out=out))(torch.tensor(1.0))
    with pytest.raises(RuntimeError, match="vmap"):
        torch.vmap(lambda t: logistic(t, out=out))(torch.zeros(3))


@pytest.mark.parametrize("overload", [False, True])
def test_compilers(logistic: Operator, overload: bool) -> None:
    torch._dynamo.reset()
    op = getattr(torch.ops, namespace(logistic)).logistic.out if overload else logistic

    def step(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        op(x.sin(), out=out)
        return out * 2

    x, out = torch.linspace(-1, 1, 5), torch.empty(5)
    made = torch.compile(step, fullgraph=True, backend="aot_eager")(x, out)
    torch.testing.assert_close(out, x.sin().sigmoid())
    torch.testing.assert_close(made, 2 * out)
    torch.testing.assert_close(torch.func.functionalize(step)(x, torch.empty(5)), made)
    assert torch.compile(step, fullgraph=True, backend="aot_eager")(x.to("meta"), out.to("meta")).is_meta


def test_the_overload_is_an_operator_to_torch(logistic: Operator) -> None:
    overload = getattr(torch.ops, namespace(logistic)).logistic.out
    assert str(overload._schema) == f"{namespace(logistic)}::logistic.out(Tensor x, *, Tensor(a0!) out) -> Tensor(a0!)"
    torch.library.opcheck(overload, (torch.randn(3),), {"out": torch.empty(3)})


def test_subclasses_see_it(logistic: Operator) -> None:
    class Seen(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return (func, args, kwargs)

    x, out = torch.zeros(3), torch.zeros(3).as_subclass(Seen)
    func, args, kwargs = logistic(x, out=out)
    assert func is logistic
    assert args[0] is x
    assert kwargs["out"] is out


def test_autocast_leaves_it_alone(build_operator: Callable[[str], ModuleType]) -> None:
    product = build_operator(
        "op: inner_rows\ninputs: {a: {shape: [N, K]}, b: {shape: [M, K]}}\n"
        'forward: "y[n, m] = sum[k](a[n, k]*b[m, k])"\n'
    ).inner_rows
    a, b = torch.randn(4, 5), torch.randn(3, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert product(a, b).dtype == torch.bfloat16
        made = product(a, b, out=torch.empty(4, 3))
    torch.testing.assert_close(made, a @ b.T)


def test_complex_results_and_several(build_operator: Callable[[str], ModuleType]) -> None:
    turn = build_operator("op: turn\ninputs: {z: {dtype: complex}}\nforward: w = complex(0, 1)*z\n").turn
    z = torch.randn(3, dtype=torch.complex64)
    made = torch.empty(0, dtype=torch.complex64)
    assert turn(z, out=made) is made
    torch.testing.assert_close(made, 1j * z)
    both = build_operator("op: both\ninputs: [x]\nforward: |\n  y = x + 1\n  z = 2*x\n").both
    x = torch.randn(3)
    out = (torch.empty(3), x)
    y, again = both(x, out=out)
    assert y is out[0]
    assert again is x
    torch.testing.assert_close(y, x / 2 + 1)
    for wrong, message in ((torch.empty(3), "tuple of Tensors"), ((x,), "tuple of 2"), ((x, None), "not NoneType")):
        with pytest.raises(TypeError, match=message):
            both(x, out=wrong)


def test_a_call_that_fails_writes_nothing(build_operator: Callable[[str], ModuleType]) -> None:
    both = build_operator("op: pair\ninputs: [x]\nforward: |\n  y = x + 1\n  z = 2*x\n").pair
    first = torch.zeros(3)
    with pytest.raises(RuntimeError, match="can't be cast"):
        both(torch.ones(3), out=(first, torch.zeros(3, dtype=torch.int64)))
    assert first.tolist() == [0.0] * 3


def test_arguments_named_as_in_the_runtime(build_operator: Callable[[str], ModuleType]) -> None:
    params = "{function: {type: float}, params: {type: float, default: 1.0}}"
    op = build_operator(f"op: hiding\ninputs: [given]\nparams: {params}\nforward: y = function*given + params\n").hiding
    assert op(torch.ones(2), function=3.0, out=torch.empty(2)).tolist() == [4.0, 4.0]


def test_an_argument_of_that_name(build_operator: Callable[[str], ModuleType]) -> None:
    op = build_operator("op: outwards\ninputs: [out]\nforward: y = 2*out\n").outwards
    assert op(out=torch.ones(2)).tolist() == [2.0, 2.0]
    made = torch.empty(2)
    assert getattr(torch.ops, namespace(op)).outwards.out(torch.ones(2), out_=made) is made
    assert made.tolist() == [2.0, 2.0]
