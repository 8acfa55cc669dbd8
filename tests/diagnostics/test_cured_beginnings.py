"""First specs of somebody new: one message for one mistake, which says all that the spec lacks."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, follow, whole

GRAPH = "inputs:\n  x: {shape: [V, D]}\n  src: {shape: [E], dtype: int}\n  w: {shape: [E]}"
MODES = "inputs: [x]\nparams: {mode: {choices: [relu, tanh, none], default: relu}, fast: {type: bool, default: true}}"

# A spec with a mistake, what takes the place of what in it, each as a hint says it, and the outputs it has then.
SPECS = [
    # a string in a formula, where a guard is meant
    (
        whole(MODES, 'y = where(mode == "relu", relu(x), tanh(x))'),
        {
            'y = where(mode == "relu", relu(x), tanh(x))': 'y = relu(x) if mode == "relu"\n'
            '  y = tanh(x) if mode != "relu"'
        },
        ["y"],
    ),
    (
        whole(MODES, 'y = 2*where(mode == "relu", relu(x), where("tanh" == mode, tanh(x), x))'),
        {
            'y = 2*where(mode == "relu", relu(x), where("tanh" == mode, tanh(x), x))': "\n  ".join(
                (
                    'y = 2 * relu(x) if mode == "relu"',
                    'y = 2 * tanh(x) if mode == "tanh"',
                    'y = 2 * x if mode == "none"',
                )
            )
        },
        ["y"],
    ),
    (
        whole(MODES, 'y = where(mode != "relu", x, relu(x)) if fast', "y = x if not fast"),
        {
            'y = where(mode != "relu", x, relu(x)) if fast': 'y = relu(x) if fast and mode == "relu"\n'
            '  y = x if fast and mode != "relu"'
        },
        ["y"],
    ),
    # signs and functions as on paper, and elements that are read several times
    (whole("inputs: [x]", "y = where(x =< 1, x, 1)"), {"=<": "<="}, ["y"]),
    (whole("inputs: [x]", "y = where(x => 1, x, 1)"), {"=>": ">="}, ["y"]),
    (whole("inputs: {x: {shape: [N]}}", "y[n] = 2*(log x[n] + 1)"), {"log x[n]": "log(x[n])"}, ["y"]),
    (whole("inputs: {x: {shape: [N, T]}}", "y[n, t] = x[n, t//2]"), {"y[n, t": "y[n, t < 2*T"}, ["y"]),
    (
        whole("inputs: {x: {shape: [T]}}\nparams: {s: {type: int, domain: s > 0}}", "y[t] = x[t//s]"),
        {"y[t": "y[t < s*T"},
        ["y"],
    ),
    # a gather along edges that go nowhere
    (
        whole(GRAPH, "y[v, d] = w[e]*x[src[e], d]"),
        {
            "y[v, d] = w[e]*x[src[e], d]": "y[dst[e], d] += w[e] * x[src[e], d]",
            "\n  w:": "\n  dst: {shape: [E], dtype: int}\n  w:",
            "forward:": "outputs: {y: {shape: [V, D]}}\nforward:",
        },
        ["y"],
    ),
    (
        whole(GRAPH + "\n  to: {shape: [E], dtype: int}", "m[v, d] = w[e]*x[src[e], d]", "y[v, d] = x[v, d] + m[v, d]"),
        {"m[v, d] = w[e]*x[src[e], d]": "m[v < V, d < D] = 0\n  m[to[e], d] += w[e] * x[src[e], d]"},
        ["y"],
    ),
]


@pytest.mark.parametrize(("text", "cure", "outputs"), SPECS)
def test_a_spec_with_what_the_one_message_says_is_what_was_meant(
    text: str, cure: dict[str, str], outputs: list[str]
) -> None:
    assert list(follow(text, cure).outputs) == outputs


def test_an_index_that_has_the_name_of_a_tensor_gets_a_letter_of_its_own() -> None:
    fields = "inputs: {a: {shape: [B, M, K]}, b: {shape: [B, K, N]}}"
    (found,) = diagnosed(whole(fields, "y[m, n] = sum[k](a[b, m, k]*b[b, k, n])"))
    assert (found.code, found.hints) == ("OPG207", ("use another letter, such as `i`",))


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        (whole("inputs:\n  x: {shape: [K]}\nb: {shape: [K]}", "y[k] = x[k] + b[k]"), "below `x`, as far to the right"),
        (
            whole("inputs: [x]\nparams:\n  a: {type: float, default: 1}\nb: float", "y = a*x + b"),
            "below `a`, as far to the right",
        ),
    ],
)
def test_what_belongs_to_a_section_is_told_where_it_stands(spec: str, hint: str) -> None:
    (found,) = diagnosed(spec)
    assert (found.code, found.span.text, found.hints) == ("OPG110", "b", (f"write it {hint}",))
    assert list(built(spec.replace("\nb: ", "\n  b: ")).outputs) == ["y"]


def test_what_belongs_into_braces_is_told_so() -> None:
    spec = whole("inputs: {x: {shape: [K]}}\nb: {shape: [K]}", "y[k] = x[k] + b[k]")
    (found,) = diagnosed(spec)
    assert found.hints == ("write it before the `}` of `inputs`",)


def test_the_largest_elements_within_a_reduction_are_read_through_their_order() -> None:
    spec = whole("inputs: {x: {shape: [N, K]}}\nparams: {k: int}", "y[n] = mean[j](topk[j](x[n, j], k))")
    (found,) = diagnosed(spec)
    first, read = "order[n, j] = argsort[j](x[n, j])", "x[n, order[n, K - 1 - i]]"
    assert found.hints == (f"read it through its order: `{first}`, and `{read}` here, over `i < k` for `j`",)
    meant = spec.replace("topk[j](x[n, j], k)", read).replace("mean[j]", "mean[i < k]")
    assert list(built(meant.replace("  y[n]", f"  {first}\n  y[n]")).outputs) == ["y"]
