"""`topk` and others that pick by order, with an axis, `largest=False` or of what has the other sign."""

from __future__ import annotations

import pytest

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, said, whole

TABLE = "inputs: {d: {shape: [N, M]}}\nparams: {k: {type: int, default: 2}}"
ROWS = [[3.0, 1.0, 2.0, 5.0], [0.0, 7.0, -1.0, 4.0], [2.0, 2.5, 9.0, 8.0]]
ORDER = "order[n, j] = argsort[j](d[n, j])"
BY_M = "order[n, m] = argsort[m](d[n, m])"
SMALLEST, LARGEST = [1.0, 2.0, -1.0, 0.0, 2.0, 2.5], [5.0, 3.0, 7.0, 4.0, 9.0, 8.0]


def means(values: list[float]) -> list[float]:
    return [sum(pair) / 2 for pair in zip(values[::2], values[1::2], strict=True)]


def negated(values: list[float]) -> list[float]:
    return [-v for v in values]


@pytest.mark.parametrize(
    ("line", "order", "meant", "value"),
    [
        ("y[n, i < k] = topk[j](d[n, j], k, largest=False)", ORDER, "y[n, i < k] = d[n, order[n, i]]", SMALLEST),
        ("y[n, i < k] = topk[j](d[n, j], k, sorted=False, largest=False)", ORDER,
         "y[n, i < k] = d[n, order[n, i]]", SMALLEST),
        ("y[n, i < k] = topk[j](d[n, j], k, largest=True)", ORDER, "y[n, i < k] = d[n, order[n, M - 1 - i]]", LARGEST),
        ("y[n, i < k] = topk[j](d[n, j], k, sorted=False)", ORDER, "y[n, i < k] = d[n, order[n, M - 1 - i]]", LARGEST),
        ("y[n, i < k] = topk[j](-d[n, j], k)", ORDER, "y[n, i < k] = (-d[n, order[n, i]])", negated(SMALLEST)),
        ("y[n, i < k] = topk[j](-d[n, j], k, largest=False)", ORDER,
         "y[n, i < k] = (-d[n, order[n, M - 1 - i]])", negated(LARGEST)),
        ("y[n, i < k] = -torch.topk(-d, k)", BY_M, "y[n, i < k] = -(-d[n, order[n, i]])", SMALLEST),
        ("y = torch.topk(-d, k)", BY_M, "y[n, j < k] = -d[n, order[n, j]]", negated(SMALLEST)),
        ("y = torch.topk(d, k, dim=1, largest=False)", BY_M, "y[n, j < k] = d[n, order[n, j]]", SMALLEST),
        ("y = d.topk(k, largest=False).values", BY_M, "y[n, j < k] = d[n, order[n, j]]", SMALLEST),
        ("y = torch.topk(d, k=2, dim=-1, largest=False)", BY_M, "y[n, j < 2] = d[n, order[n, j]]", SMALLEST),
        ("y = torch.topk(d, k, 0, False)", "order[n, m] = argsort[n](d[n, m])", "y[j < k, m] = d[order[j, m], m]",
         [0.0, 1.0, -1.0, 4.0, 2.0, 2.5, 2.0, 5.0]),
        ("y[n] = mean(topk(d[n, j], k, largest=False))", ORDER, "y[n] = mean[i < k](d[n, order[n, i]])",
         means(SMALLEST)),
        ("y[n] = mean(topk(-d[n, j], k))", ORDER, "y[n] = mean[i < k](-d[n, order[n, i]])", negated(means(SMALLEST))),
        ("y[n] = mean(torch.topk(d, k, dim=1, largest=False))", BY_M, "y[n] = mean[j < k](d[n, order[n, j]])",
         means(SMALLEST)),
        ("y[n] = mean[i < k](topk[j](d[n, j], k, largest=False))", ORDER, "y[n] = mean[i < k](d[n, order[n, i]])",
         means(SMALLEST)),
    ],
)  # fmt: skip
def test_the_smallest_are_the_first_of_the_order(line: str, order: str, meant: str, value: list[float]) -> None:
    lines = said(whole(TABLE, line))
    read = lines[lines.index(order) + 1]
    call = line[line.index("topk") : line.rindex(")") + 1] if "torch" not in line else line[line.index("torch") :]
    if line.startswith("y[n] = mean[i") and "mean[" in line:
        call = call.removesuffix(")")
    made = read if " = " in read else line.replace(call, read)
    assert made == meant
    fields = TABLE if "k" in f"{order}{meant}" else TABLE.partition("\n")[0]
    program = built(whole(fields, order, meant), warned=True).variants[0].program
    params = {"k": 2} if "params" in fields else {}
    assert list(run(program, {"d": array(ROWS)}, params)["y"].data) == value


def test_a_mask_of_the_smallest() -> None:
    for line in ("y[n, m] = topk[m](d[n, m], k, largest=False)", "y[n, m] = topk[m](-d[n, m], k)"):
        (meant,) = [told for told in said(whole(TABLE, line)) if "=" in told]
        assert meant == "y[n, m] = d[n, m] <= kth[j](d[n, j], k)"
        program = built(whole(TABLE, meant)).variants[0].program
        found = run(program, {"d": array(ROWS)}, {"k": 2})["y"].data
        assert list(found) == [v in SMALLEST[2 * n : 2 * n + 2] for n, row in enumerate(ROWS) for v in row]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("y[n] = kthvalue[j](d[n, j], k)", "y[n] = kth[j](d[n, j], k)"),
        ("y[n] = kthvalue[j](-d[n, j], k)", "y[n] = kth[j](-d[n, j], k)"),
        ("y = torch.kthvalue(d, k, dim=0)", "y[m] = kth[n](d[n, m], k)"),
        ("y = torch.kthvalue(d, k, 0)", "y[m] = kth[n](d[n, m], k)"),
    ],
)
def test_a_value_by_its_place_is_of_the_axis_that_is_asked_for(line: str, meant: str) -> None:
    assert [told for told in said(whole(TABLE, line)) if "=" in told] == [meant]
    built(whole(TABLE, meant))


@pytest.mark.parametrize(
    "line",
    [
        "y[n, i < k] = topk[j](d[n, j], k, largest=flag)",
        "y[n, i < k] = topk[j](2*d[n, j] + 1, k, largest=False)",
        "y = torch.topk(d, k, dim=k, largest=False)",
    ],
)
def test_nothing_is_proposed_where_an_argument_is_not_written_out(line: str) -> None:
    assert not [told for told in said(whole(TABLE, line)) if "d[n, order" in told]
