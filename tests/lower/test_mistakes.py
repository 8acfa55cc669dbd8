"""What the lowering refuses, with code and place (language page, 3 to 7)."""

from __future__ import annotations

import pytest

from .specs import attempt, elementwise, mistakes

MANY = "{x: {shape: [..., K]}, w: {shape: [N, K]}, i: {dtype: int}, ids: {shape: [B], dtype: int}, u: {}}"
MODE = "params: {mode: {choices: [ab, b]}, flag: {type: bool, default: true}, size: {type: int, default: 1}}"


@pytest.mark.parametrize(
    ("formula", "code", "marked"),
    [
        # names
        ("y = u + foo", "OPG205", "foo"),
        ("y[n] = sum[k](wieght[n, k])", "OPG205", "wieght"),
        ("y = u*Q", "OPG238", "Q"),
        ("y = sigmod(u)", "OPG209", "sigmod"),
        ("y = exp(u, 2)", "OPG210", "exp(u, 2)"),
        ("y = where(u > 0, u)", "OPG210", "where(u > 0, u)"),
        ("y = u(2)", "OPG206", "u"),
        ("y = exp + u", "OPG206", "exp"),
        ("y = sum(u)", "OPG206", "sum"),
        ("y = sum[...] + u", "OPG206", "sum"),
        ("y = cast(u, i)", "OPG223", "i"),
        ("y = u*rand(u)", "OPG209", "rand"),
        # left side
        ("u = 2*u", "OPG236", "u"),
        ("Y = u", "OPG241", "Y"),
        ("lambda = u", "OPG241", "lambda"),
        ("y[2*k] = u", "OPG241", "2*k"),
        ("y[k, k] = sum[...](u)", "OPG208", "k"),
        ("y[u] = w[u, u]", "OPG207", "u"),
        ("y = u\ny = 2*u", "OPG217", "y"),
        # order
        ("a = b + u\nb = a*u", "OPG219", "b"),
        ("a = a + u", "OPG219", "a"),
        # indices and shapes
        ("y[..., n] = x[..., k]*w[n, k]", "OPG204", "k"),
        ("y[..., n] = softmax[k](x[..., k])*w[n, k]", "OPG204", "k"),
        ("y[..., n] = sum[k](x[..., k]*w[k, n])", "OPG213", "w[k, n]"),
        ("y = sum[k](x[k])", "OPG212", "x[k]"),
        ("y[n] = sum[k](w[n, k, k])", "OPG212", "w[n, k, k]"),
        ("y[n] = sum[k](w[..., k])", "OPG216", "..."),
        ("y[k] = x[..., k]", "OPG216", "..."),
        ("y = x", "OPG242", "x"),
        ("y[n] = sum[...](u)", "OPG214", "n"),
        ("y = sum[k](u)", "OPG214", "k"),
        ("y = sum[k, k](x[..., k])", "OPG208", "k"),
        ("y = sum[..., ...](u)", "OPG215", "..."),
        ("y = sum[K](u)", "OPG241", "K"),
        ("y = argmax[...](u)", "OPG246", "argmax[...](u)"),
        ("y = total[k](x[..., k])", "OPG211", "total"),
        ("y = sigmoid[k](x[..., k])", "OPG211", "sigmoid"),
        ("y[j < i] = u", "OPG226", "i"),
        ("y[j < -1] = u", "OPG232", "-1"),
        ("y = x[..., -1]", "OPG232", "-1"),
        ("y = x[..., K/2]", "OPG223", "K/2"),
        ("y = x[..., u]", "OPG223", "u"),
        # kinds
        ("y = where(u, 1, 0)", "OPG223", "u"),
        ("y = not u", "OPG223", "u"),
        ("y = any[...](u)", "OPG223", "u"),
        ("y = bitand(u, 1)", "OPG223", "bitand(u, 1)"),
        ("y = i//0", "OPG223", "0"),
        # params and guards
        ("y = u*mode", "OPG231", "mode"),
        ("y = where(mode == 'ab', u, 1)", "OPG231", "mode == 'ab'"),
        ("y = u if u > 0", "OPG222", "u > 0"),
        ("y = u if size == 1", "OPG222", "size == 1"),
        ("y = u if mode", "OPG222", "mode"),
        ("y = u if flg", "OPG222", "flg"),
        ("y = u if mode == 'a'\ny = u if mode == 'b'", "OPG231", "'a'"),
        ("y = u if mode == 'ab'", "OPG220", "y"),
        ("y = u if flag\ny = 2*u if mode == b", "OPG221", "mode == b"),
        ("y = u if given(u)", "OPG229", "u"),
        ("y = u if given(size)", "OPG229", "size"),
        ("y = size[0]*u", "OPG206", "size[0]"),
        ("y = mode[...](u)", "OPG211", "mode"),
        # for later
        ("h[..., k] = h[..., k - 2] + h[..., k + 1] + x[..., k]", "OPG250", "h[..., k + 1]"),
        ("h[..., -1] = 0\nh[..., k] = x[..., k]", "OPG250", "x[..., k]"),
    ],
)
def test_the_mistake_and_no_other(formula: str, code: str, marked: str) -> None:
    found = mistakes(elementwise(formula, MANY, MODE))
    assert found[0] == (code, marked)
    assert {other for other, _ in found} == {code}


@pytest.mark.parametrize(
    ("more", "code", "marked"),
    [
        ("outputs: [z]", "OPG218", "z"),
        ("outputs: []", "OPG235", "y = x"),
        ("outputs: {y: {shape: [N]}}", "OPG238", "N"),
        ("outputs: {y: {dtype: int}}", "OPG243", "x"),
        ("backward: gradx = grad_y", "OPG228", "gradx"),
        ("backward: grad_z = grad_y", "OPG228", "grad_z"),
        ("backward: y = grad_y", "OPG228", "y"),
        ("backward: grad_x = grad_z", "OPG205", "grad_z"),
        ("save: [q]", "OPG205", "q"),
        ("functions: {f(v): v*x}", "OPG206", "x"),
        ("functions: {'f(v)': 'sum[k](v)'}", "OPG206", "sum[k](v)"),
        ("functions: {f(v): g(v), g(v): f(v)}", "OPG239", "f(v)"),
        ("functions: {sigmoid(v): v}", "OPG206", "sigmoid(v)"),
        ("functions: {'f(u, v)': {value: u*v, derivative: v}}", "OPG234", "v"),
        ("functions: {'f(u, v)': {value: u*v, derivative: {u: v}}}", "OPG234", "'f(u, v)'"),
        ("functions: {'f(u)': {value: u, derivative: {v: 1}}}", "OPG234", "v"),
        ("dims: {P: Q, Q: P}", "OPG237", "Q"),
        ("dims: {P: 1/2}", "OPG223", "1/2"),
        ("dims: {P: x}", "OPG206", "x"),
        ("params: {a: {type: int, default: 1/2}}", "OPG119", "1/2"),
        ("params: {a: {type: float, domain: b > 0}}", "OPG233", "b > 0"),
        ("params: {a: {type: float, domain: 0 < a < Q}}", "OPG238", "Q"),
    ],
)
def test_declarations(more: str, code: str, marked: str) -> None:
    assert (code, marked) in mistakes(elementwise("y = x", "[x]", more))


def test_shapes() -> None:
    assert mistakes(elementwise("y = x", "{x: {shape: [..., k]}}"))[0] == ("OPG224", "k")
    assert mistakes(elementwise("y = x", "{x: {shape: [..., N, ...]}}"))[0] == ("OPG215", "...")
    unknown = mistakes(elementwise("y[n] = b[n]", "{x: {}, b: {shape: [N], optional: true}}"))
    assert unknown == [("OPG238", "y[n] = b[n]")]


def test_missing_param() -> None:
    text = elementwise("y = x*s", "[x]", "params: {s: {type: float, default: null}}")
    assert mistakes(text) == [("OPG230", "s")]


def test_clash_shows_the_equation() -> None:
    _, (found,) = attempt(elementwise("y[..., n] = sum[k](x[..., k]*w[k, n])", MANY))
    assert "`k` would need K = N" in found.notes
    assert found.hints == ("did you mean `w[n, k]`?",)
    assert [label.span.text for label in found.related] == ["x[..., k]", "x", "w"]


def test_circle_is_named() -> None:
    _, (found,) = attempt(elementwise("a = c + x\nb = a\nc = b", "[x]"))
    assert found.notes == ("they depend on each other in a circle: a → c → b → a",)


def test_an_index_that_is_only_read_beside_itself_runs_along_that_dim() -> None:
    spec = "op: a\ninputs: {x: {shape: [..., N]}}\nforward: y[..., i] = pad(x[..., i - 1], 0) + pad(x[..., i + 1], 0)\n"
    _, (found,) = attempt(spec)
    assert (found.code, found.hints) == ("OPG214", ("state its extent: `i < N`",))


@pytest.mark.parametrize(
    "turned",
    [
        "where(i % 2 == 0, -x[..., i + 1], x[..., i - 1])",
        "where(i < H, -x[..., i + H], x[..., i - H])",
        "x[..., (i + H) % N]",
    ],
)
def test_an_index_that_picks_partners_runs_along_all_of_them(turned: str) -> None:
    spec = f"op: a\ninputs: {{x: {{shape: [..., N]}}}}\ndims: {{H: N//2}}\nforward: y[..., i] = {turned}\n"
    _, (found,) = attempt(spec)
    assert (found.code, found.hints) == ("OPG214", ("state its extent: `i < N`",))


def test_an_index_without_accesses_is_likely_that_of_the_other_statements() -> None:
    inputs = "{query: {shape: [..., H, L, E]}, key: {shape: [..., H, L, E]}}"
    more = "params: {plain: {type: bool, default: true}}"
    formula = """
        score[..., h, i] = sum[e](query[..., h, i, e]*key[..., h, i, e])
        total[..., h, i] = abs(score[..., h, i]) if plain
        total[..., h, i] = 1 if not plain
        y[..., h, i] = score[..., h, i]/total[..., h, i]
    """
    _, found = attempt(elementwise(formula, inputs, more))
    assert [d.hints for d in found] == [("state its extent: `h < H`",), ("state its extent: `i < L`",)]


def test_no_dim_is_proposed_where_several_would_do() -> None:
    _, (found,) = attempt(elementwise("y[i] = 1\nz = sum[n, k](x[n, k])", "{x: {shape: [N, K]}}"))
    length = "`i < length`, with `params: {length: {type: int, default: 64, domain: length >= 1}}`"
    other = "`i < …`: a dim, or an expression of dims and int params"
    assert found.hints == (f"state its extent: {length}, or {other}",)


def test_an_update_that_is_read_where_it_has_no_statement() -> None:
    spec = (
        "op: a\ninputs: {x: {shape: [K]}, m: {shape: [K], differentiable: false}}\n"
        "params: {training: {type: bool, default: false}}\noutputs: [y, next_m]\n"
        "module: {buffers: {m: zeros}, updates: {m: next_m}, training: training}\nforward: |\n"
    )
    first, last = "  next_m[k] = m[k] + x[k] if training\n", "  y[k] = x[k] - next_m[k]\n"
    _, (found,) = attempt(spec + first + last)
    missing = "next_m[k] = m[k] if not training"
    assert (found.code, found.hints) == ("OPG220", (f"say what it is there: `{missing}`",))
    assert not attempt(f"{spec}{first}  {missing}\n{last}")[1]


def test_suggestions() -> None:
    hints = {
        "y = inptu": "did you mean `input`?",
        "y = ln(input)": "the natural logarithm is `log`",
        "y = men[...](input)": "did you mean `mean`?",
    }
    for formula, hint in hints.items():
        _, found = attempt(elementwise(formula, "[input]"))
        assert hint in found[0].hints


@pytest.mark.parametrize("slip", ["dy", "gy", "d_y", "gradY", "y_grad", "bar_y", "dL_dy", "dy[...]", "y_bar[...]"])
def test_a_gradient_by_the_name_that_others_give_it(slip: str) -> None:
    _, (found,) = attempt(elementwise("y = x**2", "[x]", f"backward: grad_x[...] = {slip}*2*x[...]"))
    assert found.hints == ("did you mean `grad_y`?",)


@pytest.mark.parametrize(
    ("slip", "hint"),
    [
        ("dx", "the gradient with respect to an output is `grad_first` or `grad_y`"),
        ("g", "the gradient with respect to an output is `grad_first` or `grad_y`"),
        ("dfir", "did you mean `grad_first`?"),
        ("firts", "did you mean `first`?"),
    ],
)
def test_a_gradient_by_a_name_that_may_be_any(slip: str, hint: str) -> None:
    text = elementwise("first = x**2\ny = x**3", "[x]", f"backward: grad_x[...] = {slip}*grad_y[...]*grad_first[...]")
    assert hint in attempt(text)[1][0].hints


def test_without_gradients_a_letter_more_is_a_slip() -> None:
    _, (found,) = attempt(elementwise("output = 2*x\noutput_2 = doutput", "[x]"))
    assert found.hints == ("did you mean `output`?",)


def test_all_mistakes_of_a_run() -> None:
    found = mistakes(elementwise("y = foo + bar\nz = sigmod(x)\nw[n] = x[k]", "[x]"))
    assert [code for code, _ in found] == ["OPG205", "OPG205", "OPG209", "OPG212"]


def test_a_slip_in_one_statement_leaves_the_others() -> None:
    found = mistakes(elementwise("a = (x + 1\nb = x^2", "[x]"))
    assert [code for code, _ in found] == ["OPG203", "OPG202"]
    found = mistakes(elementwise("a = x +\nb = x^2 + foo\nc = a[k]*b", "[x]"))
    assert [code for code, _ in found] == ["OPG201", "OPG202", "OPG205"]


def test_a_refused_statement_is_not_reported_again() -> None:
    assert mistakes(elementwise("a = foo\nb = a[k] + a\nc = exp(b)", "[x]")) == [("OPG205", "foo")]


def test_too_many_variants() -> None:
    params = ", ".join(f"r{k}: {{choices: [mean, sum, max]}}" for k in range(4))
    body = " + ".join(f"r{k}[...](x)" for k in range(4))
    assert mistakes(elementwise(f"y = {body}", "[x]", f"params: {{{params}}}"))[0][0] == "OPG247"
    flags = ", ".join(f"p{k}: bool" for k in range(20))
    guard = " and ".join(f"p{k}" for k in range(20))
    guarded = f"y = x if {guard}\ny = 2*x if not ({guard})"
    assert mistakes(elementwise(guarded, "[x]", f"params: {{{flags}}}"))[0][0] == "OPG247"


def test_doubling_functions_end() -> None:
    functions = ", ".join(f"f{k}(v): f{k - 1}(v) + exp(f{k - 1}(v))" for k in range(1, 40))
    found = mistakes(elementwise("y = f39(x)", "[x]", f"functions: {{f0(v): v, {functions}}}"))
    assert found[0][0] == "OPG227"


@pytest.mark.parametrize(
    ("body", "last"),
    [
        ("f{k}(v): f{b}(2*v) + f{b}(v)", 199),  # more terms with every function, of arguments that all differ
        ("f{k}(v): " + "exp(" * 20 + "f{b}(v)" + ")" * 20, 199),
        ("f{k}(v): f{b}(v)", 2999),
    ],
)
@pytest.mark.parametrize("step", [1, -1])
def test_functions_that_are_too_much_written_out_are_told_once(body: str, last: int, step: int) -> None:
    functions = ["f0(v): sin(v)", *(body.format(k=k, b=k - 1) for k in range(1, last + 1))]
    found = mistakes(elementwise(f"y = f{last}(x)", "[x]", f"functions: {{{', '.join(functions[::step])}}}"))
    assert [code for code, _ in found] == ["OPG227"]


@pytest.mark.parametrize("body", ["tanh(f{b}(2*v)*v) + v", "f{b}(2.0) + v", "where(v > 0, f{b}(v*v), v)"])
@pytest.mark.parametrize("step", [1, -1])
def test_functions_that_call_one_another_are_as_large_as_what_is_made(body: str, step: int) -> None:
    functions = ["f0(v): sin(v)", *(f"f{k}(v): {body.format(b=k - 1)}" for k in range(1, 200))]
    assert attempt(elementwise("y = f199(x)", "[x]", f"functions: {{{', '.join(functions[::step])}}}"))[0]


def test_each_function_is_looked_at_for_mistakes_in_it() -> None:
    functions = "f(v): g(v) + h(v), g(v): bad(v), h(v): v*other, k(v): f(v) + more(v)"
    found = mistakes(elementwise("y = f(x)", "[x]", f"functions: {{{functions}}}"))
    assert sorted(found) == [("OPG205", "other"), ("OPG209", "bad"), ("OPG209", "more")]


def test_depth_and_length() -> None:
    assert attempt(elementwise("y = " + "exp(" * 200 + "x" + ")" * 200, "[x]"))[0]
    assert attempt(elementwise("y = " + " + ".join(["x"] * 5000), "[x]"))[0]
    assert mistakes(elementwise("y = " + "exp(" * 700 + "x" + ")" * 700, "[x]"))[0][0] == "OPG227"
