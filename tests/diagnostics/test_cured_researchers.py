"""What people bring from papers and from Python: primes, keywords, `not` in a product, loops that return a value."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole

MDP = "inputs: {r: {shape: [S, A]}, p: {shape: [S, A, S]}, v: {shape: [S]}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("q[s, a] = r[s, a] + sum[s'](p[s, a, s']*v[s'])", "q[s, a] = r[s, a] + sum[s2](p[s, a, s2] * v[s2])"),
        ("q[s] = max[a'](r[s, a'])", "q[s] = max[a2](r[s, a2])"),
        ("q = sum[s, s'](abs(v[s] - v[s']))", "q = sum[s, s2](abs(v[s] - v[s2]))"),
        (
            "q[s] = sum[s', s''](where(s' < s'', v[s']*v[s''], 0)) + v[s]",
            "q[s] = sum[s2, s3](where(s2 < s3, v[s2] * v[s3], 0)) + v[s]",
        ),
        ("v'[s] = max[a](r[s, a])*v[s]", "v2[s] = max[a](r[s, a]) * v[s]"),
    ],
)
def test_a_prime_belongs_to_a_name(line: str, meant: str) -> None:
    assert said(whole(MDP, line))[-1] == meant
    assert len(diagnosed(whole(MDP, line))) == 1
    built(whole(MDP, meant))


def test_a_prime_behind_a_matrix_still_turns_it_round() -> None:
    fields = "inputs: {a: {shape: [N, K]}, b: {shape: [N, K]}}"
    assert said(whole(fields, "y[i, j] = a'[i, j] + b[j, i]"))[-1] == "y[i, j] = a[j, i] + b[j, i]"
    assert "sum[" in said(whole(fields, "y = a*b'"))[-1]


def test_a_name_that_is_declared_with_a_prime_is_told_once() -> None:
    text = whole("inputs: {r: {shape: [B]}, v: {shape: [B]}, v': {shape: [B]}}", "y[b] = r[b] + v'[b] - v[b]")
    assert said(text) == ["v2"]
    assert len(diagnosed(text)) == 1
    built(text.replace("v'", "v2"))


@pytest.mark.parametrize(
    ("fields", "line", "word"),
    [
        ("inputs: {x: {shape: [T]}}\nparams: {lambda: {type: float, default: 0.9}}", "y[t] = x[t]*lambda", "lambda"),
        ("inputs: {x: {shape: [N]}, lambda: {shape: []}}", "y[n] = relu(abs(x[n]) - lambda)", "lambda"),
        ("inputs: {x: {shape: [V]}, from: {shape: [E], dtype: int}}", "y[e] = x[from[e]]", "from"),
    ],
)
def test_a_keyword_of_python_gets_another_name_wherever_it_stands(fields: str, line: str, word: str) -> None:
    meant = line.replace(word, f"{word}_")
    assert said(whole(fields, line)) == [f"{word}_", meant]
    assert len(diagnosed(whole(fields, line))) == 1
    built(whole(fields.replace(word, f"{word}_"), meant))


def test_names_that_are_keywords_are_all_replaced_in_a_line() -> None:
    fields = "inputs: {x: {shape: [N]}, lambda: {shape: []}, global: {shape: []}}"
    lines = {said(whole(fields, "y[n] = x[n]*lambda + global"))[1]}
    assert lines == {"y[n] = x[n]*lambda_ + global_"}


NOT = "inputs: {r: {shape: [T]}, done: {shape: [T], dtype: bool}, w: {shape: [T], dtype: int}}"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("g[t] = r[t] + 2*not done[t]*g[t + 1]", "g[t] = r[t] + 2*(not done[t])*g[t + 1]"),
        ("g[t] = r[t] + 2*!done[t]*g[t + 1]", "g[t] = r[t] + 2*(not done[t])*g[t + 1]"),
        ("g[t] = r[t] + 2*~done[t]*g[t + 1]", "g[t] = r[t] + 2*(not done[t])*g[t + 1]"),
        ("g[t] = r[t]*not (done[t])*r[t]", "g[t] = r[t]*(not done[t])*r[t]"),
        ("g[t] = r[t]*not w[t] + 1", "g[t] = r[t]*(w[t] == 0) + 1"),
    ],
)
def test_a_negation_within_a_product_is_put_in_parentheses(line: str, meant: str) -> None:
    assert said(whole(NOT, line)) == [meant]
    (found,) = diagnosed(whole(NOT, line))
    assert found.edit is not None
    built(whole(NOT, meant), warned=True)


@pytest.mark.parametrize(
    "line", ["g[t] = 1 - not done[t]", "g[t] = 2*not r[t] + 1 > 0", "g[t] = where(not r[t]*r[t] > 0, 1, 0)"]
)
def test_a_negation_that_means_what_it_says_stays(line: str) -> None:
    built(whole(NOT, line), warned=True)


ATTENTION = "inputs: {q: {shape: [L, E]}, k: {shape: [S, E]}, v: {shape: [S, D]}, p: {shape: [L, S]}}"


@pytest.mark.parametrize("name", ["p", "w"])
def test_two_indices_that_are_exchanged_are_put_back(name: str) -> None:
    first = "w[i, j] = softmax[j](sum[e](q[i, e]*k[j, e]))"
    text = whole(ATTENTION, first, f"y[i, d] = sum[j]({name}[j, i]*v[j, d])")
    assert f"did you mean `{name}[i, j]`?" in diagnosed(text)[0].hints
    assert not any("v[i, d]" in h for d in diagnosed(text) for h in d.hints)


def test_a_loop_that_returns_what_it_ends_with_is_told_as_a_whole() -> None:
    fields = "inputs: {x: {shape: [T, D]}, w: {shape: [D]}}"
    text = whole(fields, "h = 0", "for t in range(T):", "  h = w*h + x[t]", "return h")
    (found,) = diagnosed(text)
    start, step, last, leave, listing = said(text)
    assert (start, last) == ("h[-1, d] = 0", "last[d] = h[T - 1, d]")
    assert (leave, listing) == ("return", "outputs: [last]")
    built(whole(f"{fields}\n{listing}", start, step, last))
    assert found.message.startswith("`for`")


def test_a_recurrence_over_intervals_is_said_to_be_none() -> None:
    text = whole(
        "inputs: {p: {shape: [N]}}\noutputs: [c]", "c[i, i] = 0", "c[i, j] = min[k](c[i, k] + c[k + 1, j] + p[k])"
    )
    hints = [h for d in diagnosed(text) for h in d.hints]
    assert any("at fixed distances" in h and "`c[i, k]` is read at `k`" in h for h in hints)
    assert not any("c1" in h for h in hints)


def test_a_value_that_is_normalised_is_still_a_new_name() -> None:
    text = whole("inputs: {x: {shape: [N]}}", "w[i] = exp(x[i])", "w[i] = w[i]/sum[k](w[k])")
    assert "w1[i] = exp(x[i])" in said(text)
