"""A number where a tensor stands, or behind all tensors, is told the params that would take it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")

FOCAL = """op: weighed
inputs: {x: {shape: [N]}, weight: {shape: [N], optional: true, absent: 1}}
params: {gamma: {type: float, default: 2.0}, order: {type: int, default: 1}, shown: {type: bool, default: true}}
forward: "y[n] = weight[n]*x[n]**order*where(shown, gamma, 1)"
"""


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (2.5, "; as weight write torch.full((3,), 2.5), as a param gamma=2.5"),
        (3, "; as weight write torch.full((3,), 3.0), as a param gamma=3 or order=3"),
        (True, "; params are keywords: shown=True"),
        ("sum", None),
    ],
)
def test_params_are_named(build_operator: Callable[[str], ModuleType], given: object, named: str | None) -> None:
    weighed = build_operator(FOCAL).weighed
    with pytest.raises(TypeError) as told:
        weighed(torch.ones(3), given)
    message = str(told.value)
    assert message.startswith("weighed: weight must be a Tensor")
    assert (";" in message) is (named is not None)
    assert named is None or message.endswith(named)
    with pytest.raises(TypeError) as by_keyword:
        weighed(torch.ones(3), weight=given)
    assert str(by_keyword.value) == message


SEEDED = """op: dropped
inputs:
  x: {shape: [N, D]}
  at: {shape: [], dtype: int}
  kept: {shape: [], dtype: bool}
  ids: {shape: [N], dtype: int}
  bias: {shape: [D], optional: true}
params: {p: {type: float, default: 0.1}, by: {type: int, default: 1}}
forward: y[n, d] = bias[d] + where(kept and at > by, x[n, d]*p, x[ids[n], d])
"""
AT, KEPT, IDS = torch.tensor(1), torch.tensor(True), torch.tensor([0, 1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((42, KEPT, IDS), "at must be a Tensor, not int; as at write torch.tensor(42), as a param by=42"),
        ((AT, True, IDS), "kept must be a Tensor, not bool; write torch.tensor(True)"),
        ((4.5, KEPT, IDS), "at must be a Tensor, not float; params are keywords: p=4.5"),
        ((AT, KEPT, 3), "ids must be a Tensor, not int; params are keywords: p=3 or by=3"),
    ],
)
def test_a_number_for_integers_of_no_dims_is_a_tensor(
    build_operator: Callable[[str], ModuleType], given: tuple[object, ...], said: str
) -> None:
    with pytest.raises(TypeError) as told:
        build_operator(SEEDED).dropped(torch.ones(2, 3), *given)
    assert str(told.value) == f"dropped: {said}"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((3.0,), "not 3; params are keywords, as in weighed(x, weight, gamma=3.0)"),
        ((3.0, 2, False), "not 5; params are keywords, as in weighed(x, weight, gamma=3.0, order=2, shown=False)"),
        (("sum",), "not 3; params are keywords: gamma, order, shown"),
        ((3.0, 2, False, None), "not 6; params are keywords: gamma, order, shown"),
    ],
)
def test_params_by_position_are_told_as_keywords(
    build_operator: Callable[[str], ModuleType], given: tuple[object, ...], said: str
) -> None:
    weighed = build_operator(FOCAL).weighed
    with pytest.raises(TypeError) as told:
        weighed(torch.ones(3), None, *given)
    assert str(told.value) == f"weighed: takes 2 by position (x, weight), {said}"


def test_a_word_behind_the_tensors_is_of_the_one_param_that_takes_words(
    build_operator: Callable[[str], ModuleType],
) -> None:
    told = CHOSEN.replace("  way: {choices: [plain, doubled], default: plain}\n", "")
    told = "\n".join(line for line in told.split("\n") if "2*" not in line).replace(' if way == "plain"', "")
    judged = build_operator(told).judged
    with pytest.raises(TypeError, match=r"not 3; params are keywords, as in judged\(x, weight, reduction='mean'\)$"):
        judged(torch.ones(3, 2), None, "mean")


@pytest.mark.parametrize(
    ("keyword", "said"),
    [("gama", "did you mean gamma? "), ("epsilon", ""), ("show", "did you mean shown? ")],
)
def test_a_keyword_that_a_function_has_not_is_told(
    build_operator: Callable[[str], ModuleType], keyword: str, said: str
) -> None:
    weighed = build_operator(FOCAL).weighed
    with pytest.raises(TypeError) as told:
        weighed(torch.ones(3), **{keyword: 2})
    taken = "x, weight, gamma, order, shown, out"
    assert str(told.value) == f"weighed has no argument {keyword}; {said}it takes {taken}"


def test_the_op_behind_a_call_gets_its_arguments(build_operator: Callable[[str], ModuleType]) -> None:
    module = build_operator(FOCAL)
    runtime = import_module(f"{module.__package__.rpartition('.')[0]}._runtime")
    op, args, _ = runtime.overload_call(module.weighed, torch.ones(3), None, gamma=3.0)
    assert op(*args).tolist() == module.weighed(torch.ones(3), gamma=3.0).tolist() == [3.0] * 3
    with pytest.raises(TypeError, match="too many positional arguments"):
        runtime.overload_call(module.weighed, torch.ones(3), None, 3.0)


HIDING = """op: weighed
inputs: {misplaced: {shape: [N]}, keyword_error: {shape: [N], optional: true, absent: 1}}
params: {gain: {type: float, default: 2.0}}
inplace: misplaced
forward: "y[n] = misplaced[n]*keyword_error[n]*gain"
"""


def test_names_that_functions_use_are_those_of_arguments_too(build_operator: Callable[[str], ModuleType]) -> None:
    module = build_operator(HIDING)
    assert module.weighed(torch.ones(2), None, gain=3.0).tolist() == [3.0, 3.0]
    for function in (module.weighed, module.weighed_):
        with pytest.raises(TypeError, match=r"keywords, as in weighed_?\(misplaced, keyword_error, gain=3.0\)"):
            function(torch.ones(2), None, 3.0)


CHOSEN = """op: judged
inputs: {x: {shape: [N, D]}, weight: {shape: [N], optional: true, absent: 1}}
params:
  size: {type: [int, int], default: [1, 2]}
  by: {type: [int, int, int], default: [1, 2, 3]}
  way: {choices: [plain, doubled], default: plain}
  reduction: {choices: [mean, sum, none], default: mean}
forward: |
  each[n] = weight[n]*sum[d](x[n, d])*size[0]*by[0] if way == "plain"
  each[n] = 2*weight[n]*sum[d](x[n, d])*size[0]*by[0] if way == "doubled"
  loss = reduction[n](each[n])
module: {name: Judged, parameters: {x: zeros}, dims: {N: rows, D: columns}}
"""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("sum",), "str; params are keywords: reduction='sum'"),
        (("plain",), "str; params are keywords: way='plain'"),
        (("other",), "str"),
        (
            ("smu",),
            "str; params are keywords: reduction must be one of 'mean', 'sum', 'none', not 'smu' (did you mean 'sum'?)",
        ),
        (((2, 1),), "tuple; params are keywords: size=(2, 1)"),
        (([2, 1, 3],), "list; params are keywords: by=[2, 1, 3]"),
        (((0.5, 1.5),), "tuple"),
    ],
)
def test_a_word_and_numbers_in_brackets_are_params(
    build_operator: Callable[[str], ModuleType], given: tuple[object, ...], said: str
) -> None:
    judged = build_operator(CHOSEN).judged
    with pytest.raises(TypeError) as told:
        judged(torch.ones(3, 2), *given)
    assert str(told.value) == f"judged: weight must be a Tensor, not {said}"
    with pytest.raises(TypeError, match=r"^judged: x must be a Tensor, not list$"):
        judged([2, 1])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": 2}, "size must be 2 ints; write size=(2, 2)"),
        ({"by": 4}, "by must be 3 ints; write by=(4, 4, 4)"),
        ({"size": 0.5}, "size must be a sequence of ints, not 0.5"),
    ],
)
def test_a_number_for_several_is_told_how_many(
    build_operator: Callable[[str], ModuleType], given: dict[str, object], said: str
) -> None:
    with pytest.raises(TypeError) as told:
        build_operator(CHOSEN).judged(torch.ones(3, 2), **given)
    assert str(told.value) == f"judged: {said}"


def test_a_module_is_told_how_many(build_operator: Callable[[str], ModuleType]) -> None:
    made = build_operator(CHOSEN).Judged
    with pytest.raises(TypeError, match=r"^Judged: size must be 2 ints; write size=\(3, 3\)$"):
        made(4, 3, size=3)


DENSE = """op: dense
inputs: {input: {shape: [..., K]}, weight: {shape: [N, K]}, bias: {shape: [N], optional: true}}
params: {gain: {type: float, default: 1.0}}
forward: y[..., n] = gain*sum[k](input[..., k]*weight[n, k]) + bias[n]
module: {parameters: {weight: ones, bias: zeros}, dims: {K: in_features, N: out_features}}
"""


def test_a_number_for_a_flag_of_a_module_is_told_with_the_param_that_takes_it(
    build_operator: Callable[[str], ModuleType],
) -> None:
    made = build_operator(DENSE).Dense
    with pytest.raises(TypeError, match=r"^Dense: bias must be a bool, not 0.5 .*; did you mean gain=0.5\?$"):
        made(4, 7, 0.5)
    with pytest.raises(TypeError, match=r"^Dense is missing input; it takes input$"):
        made(4, 7)()


@pytest.mark.parametrize(("sizes", "said"), [((-4, 3), "rows >= 0, but is -4"), ((4, -3), "columns >= 0, but is -3")])
def test_a_size_of_a_module_is_not_negative(
    build_operator: Callable[[str], ModuleType], sizes: tuple[int, int], said: str
) -> None:
    package = build_operator(CHOSEN)
    for device in ("cpu", "meta"):
        with pytest.raises(ValueError, match=f"^Judged: {said.split(' ', 1)[0]} must satisfy {said}$"):
            package.Judged(*sizes, device=device)
    with pytest.raises(ValueError, match=r"^Judged: columns must satisfy"):
        package.Judged(3, columns=-1)
    assert package.Judged(0, 3).x.shape == (0, 3)
