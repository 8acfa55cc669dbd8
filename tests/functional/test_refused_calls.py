"""What is said of calls with something else than what an argument is: the first message says what to write."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

Build = Callable[[str], ModuleType]
SPEC = """op: bent
inputs: {x: {shape: [..., K]}, w: {shape: [K]}}
params:
  slope: {type: float, default: 0.1}
  size: {type: int, default: 1}
  reduction: {choices: [mean, sum, none], default: none}
forward: |
  each[..., k] = where(x[..., k] > 0, w[k], slope)*x[..., k]*size
  y = reduction[..., k](each[..., k])
module: {name: Bent, dims: {K: width}, parameters: {w: ones}}
"""
DEVICE = "device must be a device such as 'cpu' or 'cuda'"
ARRAY = "must be a Tensor, not ndarray; torch.as_tensor(…) makes one of it"
X, W = torch.ones(2, 3), torch.ones(3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: f(np.ones((2, 3)), W), f"x {ARRAY}"),
        (lambda f: f(X, [1.0, 2.0, 3.0]), "w must be a Tensor, not list; write torch.tensor([1.0, 2.0, 3.0])"),
        (
            lambda f: f(np.ones((2, 3)), np.ones(3)),
            "x must be a Tensor, not ndarray; torch.as_tensor(…) makes one of it",
        ),
        (lambda f: f(X, 1.0), "w must be a Tensor, not float; write torch.full((3,), 1.0)"),
        (lambda f: f(X, w=1), "w must be a Tensor, not int; write torch.full((3,), 1.0)"),
        (lambda f: f(X, [1.0]), "w must be a Tensor, not list"),
        (lambda f: f("x", W), "x must be a Tensor, not str"),
        (lambda f: f(X, W, slope=np.ones(3)), "slope must be a float, not array([1., 1., 1.]) of type ndarray"),
        (lambda f: f(X, W, slope=np.eye(2)), "slope must be a float, not array([[1., 0.], [0., 1.]]) of type ndarray"),
        (lambda f: f(X, W, size=2.0), "size must be an int, not 2.0 of type float; write 2"),
        (lambda f: f(X, W, size="2"), "size must be an int, not '2' of type str; write 2"),
        (lambda f: f(X, W, slope=[0.5]), "slope must be a float, not [0.5] of type list; write 0.5"),
        (lambda f: f(X, W, slope="1e-3"), "slope must be a float, not '1e-3' of type str; write 0.001"),
        (lambda f: f(X.int(), W), "x must have a floating-point dtype, not torch.int32; write x.float()"),
        (lambda f: f(X, W, size=2.5), "size must be an int, not 2.5 of type float"),
        (lambda f: f(X, W, size=np.ones(1, dtype=int)), "size must be an int, not array([1]) of type ndarray"),
        (lambda f: f(X, W, "sum"), "slope must be a float, not 'sum' of type str; did you mean reduction='sum'?"),
        (lambda f: f(X, W, "zork"), "slope must be a float, not 'zork' of type str"),
        (
            lambda f: f(X, W, reduction="MEAN"),
            "reduction must be one of 'mean', 'sum', 'none', not 'MEAN' (did you mean 'mean'?)",
        ),
    ],
)
def test_a_call(build_operator: Build, call: Callable[[Callable[..., object]], object], said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as told:
        call(build_operator(SPEC).bent)
    assert str(told.value) == f"bent: {said}"


def test_matrices_that_are_turned_round_and_numbers_for_conditions(build_operator: Build) -> None:
    chosen = build_operator(
        "op: chosen_rows\ninputs: {x: {shape: [..., K]}, w: {shape: [N, K]}, m: {shape: [N], dtype: bool}}\n"
        "forward: y[..., n] = where(m[n], sum[k](x[..., k]*w[n, k]), 0)\n"
    ).chosen_rows
    w, m = torch.ones(4, 3), torch.ones(4, dtype=torch.bool)
    with pytest.raises(ValueError, match=r"has 3; did you mean w\.T\?$"):
        chosen(X, w.T, m)
    chosen(X, w, m)
    with pytest.raises(TypeError, match=r"^chosen_rows: m must be bool, not torch.int64; write m != 0$"):
        chosen(X, w, m.long())
    both = r"m != 0 if it holds 0 and 1, m == 0 if it is an additive one \(0 keeps, -inf drops\)"
    for dtype in (torch.float32, torch.bfloat16):
        with pytest.raises(TypeError, match=rf"^chosen_rows: m must be bool, not {dtype}; write {both}$"):
            chosen(X, w, m.to(dtype))


@pytest.mark.parametrize("value", [np.int64(2), np.array(2), torch.tensor(2), True])
def test_numbers_of_other_libraries_are_numbers(build_operator: Build, value: object) -> None:
    bent = build_operator(SPEC).bent
    assert torch.equal(bent(X, W, size=value), bent(X, W, size=int(value)))  # type: ignore[call-overload]


def test_a_number_where_one_is_enough(build_operator: Build) -> None:
    halved = build_operator("op: halved_of\ninputs: [x]\nforward: y = x/2\n").halved_of
    with pytest.raises(TypeError, match=r"^halved_of: x must be a Tensor, not float; write torch.tensor\(1.5\)$"):
        halved(1.5)
    with pytest.raises(TypeError, match=r"^halved_of: x must be a Tensor, not int; write torch.tensor\(1.0\)$"):
        halved(1)
    taken = "it takes x, out"
    with pytest.raises(TypeError, match=f"^halved_of has no argument zork; {taken}$"):
        halved(torch.ones(2), zork=2)
    with pytest.raises(TypeError, match=r"^halved_of: takes 1 by position \(x\), not 2$"):
        halved(torch.ones(2), torch.ones(2))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda c: c(3, 0.1, 1, "none", None, None, 7),
            " takes 6 arguments (width, slope, size, reduction, device, dtype), not 7",
        ),
        (lambda c: c(3, device="gpu"), f": {DEVICE}, not 'gpu'; did you mean 'cuda'?"),
        (lambda c: c(3, device="gpu:1"), f": {DEVICE}, not 'gpu:1'; did you mean 'cuda:1'?"),
        (lambda c: c(3, device="CPU"), f": {DEVICE}, not 'CPU'; did you mean 'cpu'?"),
        (lambda c: c(3, device="zork"), f": {DEVICE}, not 'zork'"),
        (lambda c: c(3, device=torch.float32), ": device must be a torch.device, not torch.float32"),
        (lambda c: c(3, dtype="float32"), ": dtype must be a torch.dtype, not 'float32'; write torch.float32"),
        (lambda c: c(3, dtype=np.float64), f": dtype must be a torch.dtype, not {np.float64}; write torch.float64"),
        (
            lambda c: c(3, dtype=torch.int64),
            ": dtype must be one of floating-point numbers, as parameters are, not torch.int64",
        ),
        (lambda c: c(3.0), ": width must be an int, not 3.0 of type float; write 3"),
        (lambda c: c(3, "sum"), ": slope must be a float, not 'sum' of type str; did you mean reduction='sum'?"),
        (lambda c: c("mean"), ": width must be an int, not 'mean' of type str; did you mean reduction='mean'?"),
        (lambda c: c(3, "zork"), ": slope must be a float, not 'zork' of type str"),
    ],
)
def test_a_module(build_operator: Build, call: Callable[[type], object], said: str) -> None:
    with pytest.raises(TypeError) as told:
        call(build_operator(SPEC).Bent)
    assert str(told.value) == f"Bent{said}"


@pytest.mark.parametrize("device", ["cpu", "meta", torch.device("cpu"), None])
def test_a_module_that_is_right(build_operator: Build, device: object) -> None:
    module = build_operator(SPEC).Bent(3, device=device, dtype=torch.float64)
    assert module.w.dtype == torch.float64
    assert module.w.device.type == ("meta" if device == "meta" else "cpu")


STARTED = """op: well
inputs: {r: {shape: [N]}, sigma: {shape: []}, bias: {shape: [], optional: true}, seen: {shape: []}}
forward: y[n] = sigma*r[n] + bias + seen
module: {name: Well, parameters: {sigma: ones, bias: "uniform(-1, 1)"}, buffers: {seen: zeros}}
"""
SIGMA, LATER = "; sigma is a parameter of the module, which starts as `ones`", "; to start it elsewhere, "


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda c: c(sigma=3.4),
            f" has no argument sigma; it takes bias, device, dtype{SIGMA}{LATER}torch.nn.init.constant_(layer.sigma,"
            " 3.4) once it is made, or `parameters: {sigma: constant(3.4)}` in the spec",
        ),
        (lambda c: c(sigma="ones"), f" has no argument sigma; it takes bias, device, dtype{SIGMA}"),
        (
            lambda c: c(sigm=torch.tensor(3.4)),
            f" has no argument sigm; it takes bias, device, dtype{SIGMA}{LATER}layer.sigma.data.copy_(…) once the"
            " module is made",
        ),
        (
            lambda c: c(seen=2),
            " has no argument seen; it takes bias, device, dtype; seen is a buffer of the module, which starts as"
            f" `zeros`{LATER}torch.nn.init.constant_(layer.seen, 2) once it is made, or"
            " `buffers: {seen: constant(2)}` in the spec",
        ),
        (
            lambda c: c(bias=0.5),
            ": bias must be a bool, not 0.5 of type float; bias is a parameter of the module, which starts as"
            f" `uniform(-1, 1)`{LATER}torch.nn.init.constant_(layer.bias, 0.5) once it is made, or"
            " `parameters: {bias: constant(0.5)}` in the spec",
        ),
        (
            lambda c: c(True, 3.4),
            f": {DEVICE}, not 3.4{SIGMA}{LATER}torch.nn.init.constant_(layer.sigma, 3.4) once it is made, or"
            " `parameters: {sigma: constant(3.4)}` in the spec",
        ),
        (lambda c: c(divice="cpu"), " has no argument divice; did you mean device? it takes bias, device, dtype"),
        (lambda c: c(epsilon=1), " has no argument epsilon; it takes bias, device, dtype"),
    ],
)
def test_what_a_module_makes_itself(build_operator: Build, call: Callable[[type], object], said: str) -> None:
    with pytest.raises(TypeError) as told:
        call(build_operator(STARTED).Well)
    assert str(told.value) == f"Well{said}"


PICKED = """op: picked
inputs: {x: {shape: [..., N]}, z: {shape: [M]}}
forward: |
  at[...] = argmax[n](x[..., n])
  low = argmin[m](z[m])
"""


@pytest.mark.parametrize(
    ("x", "z", "said"),
    [
        ((2, 0), (3,), "argmax has no value, as x[..., N] has size 0 along N"),
        ((2, 3), (0,), "argmin has no value, as z[M] has size 0 along M"),
    ],
)
def test_an_extreme_of_nothing(
    build_operator: Build, monkeypatch: pytest.MonkeyPatch, x: tuple[int, ...], z: tuple[int, ...], said: str
) -> None:
    picked = build_operator(PICKED).picked
    with pytest.raises(IndexError) as told:
        picked(torch.empty(x), torch.empty(z))
    assert str(told.value) == f"picked: {said}"
    assert picked(torch.empty(0, 3), torch.ones(1))[0].shape == (0,)

    def kernel(*_: object) -> None:
        extreme = said.split(maxsplit=1)[0]
        raise RuntimeError(f"picked: {extreme}[n] has no value, as n has size 0\nException raised from fail")

    native = import_module(f"{picked.__module__.partition('.')[0]}._runtime.native")
    monkeypatch.setattr(native, "route", lambda _: SimpleNamespace(native=kernel, devices=("cpu",), small=None))
    with pytest.raises(IndexError) as told:
        picked(torch.empty(x), torch.empty(z))
    assert str(told.value) == f"picked: {said}"


ORDERED = """op: ordered
inputs: {x: {shape: [C, N]}, on: {shape: [C], dtype: bool}}
params: {q: {type: float, default: 0.3}, size: {type: int, default: 1}}
outputs: [y]
forward: y[c] = BODY
"""
ALONG = "as x[C, N] has size 0 along N"
OF_NOTHING = {
    "median[n](x[c, n])": f"median has no value, {ALONG}",
    "quantile[n](x[c, n], 0.5)": f"quantile has no value, {ALONG}",
    "quantile[n](x[c, n], q)": f"quantile has no value, {ALONG}",
    "kth[n](x[c, n], 1)": f"kth has no value, {ALONG}",
    "kth[n](x[c, n], size)": f"kth has no value, {ALONG}",
    "median[n](int(x[c, n]))": f"median has no value, {ALONG}",
    "median[k < 2, n](k*x[c, n])": f"median has no value, {ALONG}",
    "where(on[c], median[n](x[c, n]), 0)": f"median has no value, {ALONG}",
    "median[n](x[c, n]) + kth[n](2*x[c, n], 1)": f"median or kth has no value, {ALONG}",
}


@pytest.mark.parametrize("body", OF_NOTHING)
def test_an_order_of_nothing(build_operator: Build, body: str) -> None:
    ordered = build_operator(ORDERED.replace("BODY", body)).ordered
    x, on = torch.empty(2, 0, requires_grad=True), torch.tensor([True, False])
    with pytest.raises(IndexError) as told:
        ordered(x, on)
    assert str(told.value) == f"ordered: {OF_NOTHING[body]}"
    for shape in ((0, 0), (0, 3)):  # no rows need no value
        x = torch.empty(shape, requires_grad=True)
        y = ordered(x, on[:0])
        assert y.shape == (0,)
        assert not y.requires_grad or torch.autograd.grad(y.sum(), x)[0].shape == shape
    if "where" in body:
        assert ordered(torch.empty(2, 0), torch.zeros_like(on)).tolist() == [0, 0]


def test_a_window_of_nothing(build_operator: Build) -> None:
    ordered = build_operator(ORDERED.replace("BODY", "median[k < size](x[c, k])")).ordered
    with pytest.raises(IndexError, match=r"^ordered: median has no value, as size is 0$"):
        ordered(torch.ones(2, 3), torch.ones(2, dtype=torch.bool), size=0)


def test_an_order_of_nothing_that_nobody_asks_for(build_operator: Build) -> None:
    lazy = build_operator(ORDERED.replace("BODY", "where(N > 0, median[n](x[c, n]), 7)")).ordered
    assert lazy(torch.empty(2, 0), torch.ones(2, dtype=torch.bool)).tolist() == [7, 7]


SIZED = """op: sized_rows
inputs: {ids: {shape: [M], dtype: int, domain: 0 <= ids < V}, table: {shape: [V, D]}, part: {shape: [H]}}
params: {by: {type: int, domain: by > 0}, flag: {type: bool, default: false}}
dims: {H: D//by, P: V - by}
outputs: {y: {shape: [M, D]}, z: {shape: [P]}}
forward: |
  y[m, d] = table[ids[m], d]*sum[h](part[h])
  z[p] = where(flag, 1, table[p, 0])
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ids": torch.tensor([4])}, "ids must satisfy 0 <= ids < V with V = 4, but has values from 4 to 4"),
        ({"by": 3}, "part[H] has size 3 along H = D//by, where 2 is needed with D = 6 and by = 3"),
        ({"by": 6, "part": W[:1]}, "the size P = V - by must not be negative, but is -2 with V = 4 and by = 6"),
        ({"flag": torch.ones(20, 20)}, "flag must be a bool, not Tensor of shape [20, 20]"),
    ],
)
def test_the_numbers_that_a_condition_stands_on(build_operator: Build, given: dict[str, object], said: str) -> None:
    right = {"ids": torch.tensor([1]), "table": torch.ones(4, 6), "part": W, "by": 2}
    with pytest.raises((IndexError, TypeError, ValueError)) as told:
        build_operator(SIZED).sized_rows(**right | given)
    assert str(told.value) == f"sized_rows: {said}"
