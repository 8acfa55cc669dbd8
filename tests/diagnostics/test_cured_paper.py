"""What is written as on paper, or cut by YAML, and the cure that its one message says."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, whole

ROWS = "inputs: {x: {shape: [N, K]}}"
PRODUCTS = [
    ("y[n] = 0.5 a sum[k](x[n, k]**2)", "y[n] = 0.5*a*sum[k](x[n, k]**2)"),
    ("y[n] = a (1 - a) sum[k](x[n, k] x[n, k])", "y[n] = a*(1 - a)*sum[k](x[n, k]*x[n, k])"),
    ("y[n] = sum[k](2(a*x[n, k] - 1))", "y[n] = sum[k](2*(a*x[n, k] - 1))"),
    ("y[n] = a*sum[k](2 k exp(x[n, k]))", "y[n] = a*sum[k](2*k*exp(x[n, k]))"),
]
PARAM = "params: {a: float}"


@pytest.mark.parametrize(("written", "meant"), PRODUCTS)
def test_factors_side_by_side_are_told_with_the_whole_statement(written: str, meant: str) -> None:
    assert list(follow(whole(f"{ROWS}\n{PARAM}", written), {written: meant}).outputs) == ["y"]


@pytest.mark.parametrize("line", ["y[n] = a*sum[k](x[n, k]) the weighted sum", "y[n] = a*sum[k] exp x[n, k]"])
def test_prose_is_no_product(line: str) -> None:
    (found,) = diagnosed(whole(f"{ROWS}\n{PARAM}", line))
    assert "the*" not in " ".join(found.hints)
    assert "exp*" not in " ".join(found.hints)


TEXTS = [
    ("{shape: [N, K], doc: features, one row: each sample}", "features, one row: each sample"),
    ("{shape: [N, K], doc: features, per sample, and centred}", "features, per sample, and centred"),
    ("{doc: rows, each: one, shape: [N, K]}", "rows, each: one"),
]


@pytest.mark.parametrize(("fields", "text"), TEXTS)
def test_a_text_that_a_comma_cuts_is_told_to_want_quotes(fields: str, text: str) -> None:
    spec = whole(f"inputs:\n  x: {fields}", "y[n] = sum[k](x[n, k])")
    assert list(follow(spec, {f"doc: {text}": f'doc: "{text}"'}).outputs) == ["y"]


def test_a_field_behind_a_text_that_is_a_slip_stays_one() -> None:
    (found,) = diagnosed(
        whole("inputs: {x: {shape: [N]}, b: {shape: [N], doc: rows, optinal: true}}", "y[n] = x[n] + b[n]")
    )
    assert found.hints == ("did you mean `optional`?",)


@pytest.mark.parametrize("default", ["avg", "average_all"])
def test_what_is_no_reduction_is_not_added_to_those_that_a_param_stands_for(default: str) -> None:
    param = f"params: {{reduction: {{choices: [mean, sum, none], default: {default}}}}}"
    spec = whole(f"inputs: [x]\n{param}", "y = reduction[...](x)")
    assert list(follow(spec, {f"default: {default}": "default: mean"}).outputs) == ["y"]
    assert "add it" not in " ".join(h for d in diagnosed(spec) for h in d.hints)


@pytest.mark.parametrize("name", ["prod", "none"])
def test_a_reduction_that_is_missing_among_the_choices_is_added(name: str) -> None:
    spec = whole(f"inputs: [x]\nparams: {{how: {{choices: [mean, sum], default: {name}}}}}", "y = how[...](x)")
    assert list(follow(spec, {"choices: [mean, sum]": f"choices: [mean, sum, {name}]"}).outputs) == ["y"]


def test_the_largest_at_an_index_of_their_own_are_read_where_they_stand() -> None:
    spec = whole("inputs: {x: {shape: [U, I]}}\nparams: {n: int}", "y[u] = mean[j < n](topk[i](x[u, i], n))")
    (found,) = diagnosed(spec)
    first, read = "order[u, i] = argsort[i](x[u, i])", "x[u, order[u, I - 1 - j]]"
    assert found.hints == (f"read it through its order: `{first}`, and `{read}` here, over `j < n`",)
    meant = spec.replace("topk[i](x[u, i], n)", read).replace("  y[u]", f"  {first}\n  y[u]")
    assert list(built(meant).outputs) == ["y"]


PAIRS = [
    ("inputs: {x: {shape: [..., K]}, w: {shape: [N, K]}}", "y = x @ w", "y[..., n] = sum[k](x[..., k] * w[n, k])"),
    (
        "inputs: {q: {shape: [B, L, D]}, c: {shape: [B, S, D]}}",
        "y = torch.bmm(q, c)",
        "y[b, l, s] = sum[d](q[b, l, d] * c[b, s, d])",
    ),
]


@pytest.mark.parametrize(("inputs", "written", "meant"), PAIRS)
def test_a_product_of_rows_is_told_although_the_transposition_is_missing(inputs: str, written: str, meant: str) -> None:
    assert list(follow(whole(inputs, written), {written: meant}).outputs) == ["y"]
