"""What is kept for the backward pass grows no faster than what an operator is given."""

from __future__ import annotations

from opgen.ir.operator import Flags, Variant
from opgen.ir.program import Role, statement_reads
from opgen.opt.derive import Derived, derive_variant
from tests.lower.specs import elementwise, program

KERNEL = (
    "a[i, e] = sum[j](exp(-sum[d]((x[i, d] - y[j, d])**2)/(2*g**2))*b[j, e])",
    "{x: {shape: [M, D]}, y: {shape: [N, D]}, b: {shape: [N, E]}}",
    "params: {g: {type: float, default: 1.0}}",
)
ATTENTION = (
    "o[..., i, e] = sum[j](softmax[j](where(j <= i, sum[d](q[..., i, d]*k[..., j, d])/sqrt(D), -inf))*v[..., j, e])",
    "{q: {shape: [..., N, D]}, k: {shape: [..., N, D]}, v: {shape: [..., N, E]}}",
    "",
)


def derived(formula: str, inputs: str, more: str, save: tuple[str, ...] | None = None) -> Derived:
    return derive_variant(Variant((), program(elementwise(formula, inputs, more))), Flags(save=save))


def kept(d: Derived) -> dict[str, int]:
    """What backward takes from the forward pass, with its rank."""
    assert d.backward is not None
    return {t.name: len(t.shape) for t in d.backward.inputs if t.role is not Role.COTANGENT}


def test_a_kernel_sum_keeps_its_inputs_only() -> None:
    assert kept(derived(*KERNEL)) == {"x": 2, "y": 2, "b": 2}


def test_attention_keeps_its_output_and_two_numbers_per_row() -> None:
    assert kept(derived(*ATTENTION)) == {"q": 3, "k": 3, "v": 3, "o": 3, "softmax_j_max": 2, "softmax_j_scale": 2}


def test_log_probabilities_are_computed_again_from_statistics_of_rows() -> None:
    formula = "p[n, c] = log_softmax[c](x[n, c])\ny[n] = -p[n, t[n]]"
    d = derived(formula, "{x: {shape: [N, C]}, t: {shape: [N], dtype: int}}", "outputs: [y]")
    assert kept(d) == {"x": 2, "t": 1, "p_max": 1, "p_log": 1}


def test_what_the_spec_says_is_kept() -> None:
    assert kept(derived(*ATTENTION, save=("softmax_j",))) == {"q": 3, "k": 3, "v": 3, "softmax_j": 3}


def test_the_hidden_values_of_two_layers_are_no_more_than_their_input() -> None:
    formula = "h[n, k] = tanh(sum[d](x[n, d]*w[k, d]))\ny[n, o] = sum[k](h[n, k]*v[o, k])"
    inputs = "{x: {shape: [N, D]}, w: {shape: [H, D]}, v: {shape: [O, H]}}"
    assert kept(derived(formula, inputs, "outputs: [y]"))["h"] == 2


def leaves(formula: str, inputs: str, more: str = "") -> dict[str, str]:
    """What second order is taken with respect to, beside cotangents, with its kind."""
    d = derived(formula, inputs, more)
    assert d.source is not None
    read = {r.tensor for s in d.source.statements for r in statement_reads(s)}
    return {t.name: t.kind.value for t in d.source.inputs if t.role is not Role.COTANGENT and t.name in read}


def test_a_result_that_says_it_all_is_kept_in_place_of_the_input() -> None:
    assert leaves("y[..., n] = softmax[n](x[..., n])", "{x: {shape: [..., N]}}") == {"y": "float"}
    assert leaves(
        "h[...] = a[...] + b[...]\ny[...] = h[...]**3", "{a: {shape: [...]}, b: {shape: [...]}}", "outputs: [y, h]"
    ) == {"h": "float"}


def test_of_a_choice_the_condition_is_kept() -> None:
    assert leaves("y = clamp(3*x, -1, 1)", "[x]") == {"condition": "bool"}
    assert leaves("condition = 2*y\nx = where(y > 0, condition, y)", "[y]", "outputs: [x]") == {"condition_2": "bool"}


def test_of_inputs_that_matter_as_a_sum_alone_the_sum_is_kept() -> None:
    assert leaves("y = (a - b)**2", "[a, b]") == {"difference": "float"}
    assert leaves("y = sin(b - a)*(1 + (a - b)**2)", "[a, b]") == {"difference": "float"}
    scale = "params: {scale: {type: float, default: 2.0}}"
    assert leaves("y = exp(a/2 + scale*b - c)", "[a, b, c]", scale) == {"y": "float"}
    assert leaves("y = (a/2 + scale*b - c)**2", "[a, b, c]", scale) == {"difference": "float"}
    assert leaves("e = a + b\ny = where(e > 0, e**3, 2*e)", "[a, b]", "outputs: [y]") == {"e": "float"}


def test_a_sum_is_not_kept_where_that_is_no_less_or_leads_nowhere() -> None:
    assert leaves("y = (a - b)**2*a", "[a, b]") == {"a": "float", "b": "float"}
    assert leaves("y = (a - 1)**2", "[a]") == {"a": "float"}
    pairs = "y[n] = sum[m]((a[n] - b[m])**3)"
    assert leaves(pairs, "{a: {shape: [N]}, b: {shape: [M]}}") == {"a": "float", "b": "float"}
    stated = "backward: |\n  grad_a = grad_y*(a - b)\n  grad_b = grad_y*(b - a)"
    assert leaves("y = (a - b)**2", "[a, b]", stated) == {"a": "float", "b": "float"}


def test_kept_conditions_are_counted_again() -> None:
    largest = derived("y[...] = max[n](x[..., n])", "{x: {shape: [..., N]}}", "")
    assert largest.residuals == ("condition",)
    formula = "top[k < K, ...] = 0.5\ntop[t[n], ...] max= x[n, ...]\ny[k, ...] = 2*top[k, ...]"
    inputs = "{x: {shape: [N, ...]}, t: {shape: [N], dtype: int}}"
    scattered = derived(formula, inputs, "dims: {K: 3}\noutputs: [y]")
    assert scattered.backward is not None
    kept = {t.name: t.kind.value for t in scattered.backward.inputs if t.role is Role.SAVED}
    assert list(kept.values()) == ["bool", "bool"]  # of the rows, and of what stood there before


def test_a_softmax_over_segments_is_kept_as_it_is() -> None:
    formula = "t[k < K] = 0\nt[s[e]] += exp(x[e])\ny[f] = exp(x[f])/t[s[f]]"
    inputs = "{x: {shape: [E]}, s: {shape: [E], dtype: int}}"
    assert leaves(formula, inputs, "dims: {K: 3}\noutputs: [y]") == {"s": "int", "y": "float"}


def test_an_input_that_is_read_anyway_is_kept_as_it_is() -> None:
    assert leaves("y = where(x > 0, x**3, x)", "[x]") == {"x": "float"}


def test_a_condition_that_holds_only_where_it_is_looked_at_is_not_kept() -> None:
    formula = "y[n] = where(t[n] < K, where(w[t[n]] > 0, x[n]**2, 0), x[n])"
    inputs = "{x: {shape: [N]}, w: {shape: [K]}, t: {shape: [N], dtype: int}}"
    assert "w" in leaves(formula, inputs)
