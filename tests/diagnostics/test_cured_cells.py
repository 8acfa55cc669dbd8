"""What a module starts from, signs of other languages and words in their places: what is said of them builds."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import built, diagnosed, said, whole


def filled(initialiser: str, rank: int) -> str:
    shape, at = ", ".join("A" * rank), ", ".join("abcde"[:rank])
    fields = f"inputs: {{x: {{shape: [...]}}, w: {{shape: [{shape}]}}}}\n"
    fields += f"module: {{dims: {{A: a_size}}, parameters: {{w: {initialiser}}}}}"
    return whole(fields, f"y = x*sum[{at}](w[{at}])")


RANKS = {
    "xavier_uniform": (2, 5), "xavier_normal": (2, 5), "kaiming_uniform(a=2)": (2, 5), "kaiming_normal": (2, 5),
    "eye": (2, 2), "orthogonal": (2, 5),
    "dirac": (3, 5), "'sparse(0.1, 0.2)'": (2, 2), "normal": (1, 5), "ones": (1, 5),
}  # fmt: skip


@pytest.mark.parametrize("initialiser", RANKS)
def test_an_initialiser_is_told_the_dims_that_it_needs(initialiser: str) -> None:
    least, most = RANKS[initialiser]
    for rank in range(1, 6):
        text = filled(initialiser, rank)
        if least <= rank <= most:
            built(text)
        else:
            (found,) = diagnosed(text)
            needs = {(2, 5): "at least 2", (2, 2): "2", (3, 5): "3 to 5"}[least, most]
            assert (found.code, found.message.partition(", ")[0]) == (
                "OPG121",
                f"`{initialiser.partition('(')[0].strip(chr(39))}` needs {needs} dims",
            )


LOGITS = """inputs:
  logp: {shape: [..., K]}
  target: {shape: [...], dtype: int}
  w: {shape: [K]}
  u: {shape: [K]}"""


@pytest.mark.parametrize(
    ("line", "old", "new"),
    [
        ("y[...] = -w*logp[..., target[...]]", "-w*", "w[target[...]]"),
        ("y[...] = sum[k](w*logp[..., k])", "w*", "w[k]"),
        ("y[k] = w - u[min(k + 1, K - 1)]", "w -", "w[k]"),
    ],
)
def test_a_bare_tensor_is_read_where_its_dim_is_read_beside_it(line: str, old: str, new: str) -> None:
    text = whole(LOGITS, line)
    (line,) = said(text)
    built(text.replace(old, old.replace("w", new)), warned=True)
    assert line in (new, text.partition("|")[2].strip().replace(old, old.replace("w", new)).replace("]*l", "] * l"))


QUANTISED = """inputs:
  x: {shape: [..., K]}
  w: {shape: [N, K]}
  zero: {shape: [N]}
  b: {shape: [N]}"""


@pytest.mark.parametrize(
    ("second", "meant"),
    [("w[n, k] - zero[n]", "(w[n, k] - zero[n])"), ("w[n, k]*exp(zero[n])", "(w[n, k] * exp(zero[n]))")],
)
def test_a_product_of_matrices_with_an_operand_that_has_its_indices(second: str, meant: str) -> None:
    line = said(whole(QUANTISED, f"y[..., n] = b[n]*(x[..., k] @ ({second})) + b[n]"))[-1]
    assert line == f"y[..., n] = b[n] * sum[k](x[..., k] * {meant}) + b[n]"
    built(whole(QUANTISED, line))


def test_an_operator_that_is_not_understood_has_no_attributes() -> None:
    (found,) = diagnosed(whole(QUANTISED, "y[..., n] = b[n]*(x[..., k] @ (w[n, k] - (zero[n] if k > 1 else 0)))"))
    assert found.message == "`@` is not an operator of the formula language"
    assert "attributes" not in " ".join(found.hints)


def test_functions_in_a_list_are_told_as_a_mapping_that_yaml_reads() -> None:
    text = """op: cured
inputs: {x: {shape: [N]}, d: {shape: [N]}}
functions:
  - disc(x, d): where(d > 0, 0, 0.9*x)
  - twice(x): 2*x
forward: y[n] = disc(x[n], d[n]) + twice(x[n])
"""
    (line,) = said(text)
    start, end = text.index("  - disc"), text.index("forward")
    built(f"{text[:start]}  {line}\n{text[end:]}")


FLAG = "inputs: {x: {shape: [...]}}\nparams: {training: {type: bool, default: true}}"


@pytest.mark.parametrize(
    ("guard", "other", "hint"),
    [
        ("eval", "training", "not training"),
        ("not eval", "not training", "training"),
        ("inference", "training", "not training"),
    ],
)
def test_a_flag_that_is_another_ones_opposite(guard: str, other: str, hint: str) -> None:
    assert said(whole(FLAG, f"y = 2*x if {other}", f"y = x if {guard}"))[0] == hint
    built(whole(FLAG, f"y = 2*x if {other}", f"y = x if {hint}"))


@pytest.mark.parametrize(
    ("extern", "meant"),
    [
        ("scipy: special.erfcx", "numpy: scipy.special.erfcx"),
        ("scipy: scipy.special.erfcx", "numpy: scipy.special.erfcx"),
        ("scipy.special: erfcx", "numpy: scipy.special.erfcx"),
        ("np: np.exp", "numpy: numpy.exp"),
        ("F: relu", "torch: torch.nn.functional.relu"),
    ],
)
def test_a_package_stands_for_the_back_end_that_it_runs_on(extern: str, meant: str) -> None:
    fields = "inputs: {{x: {{shape: [N]}}}}\nfunctions:\n  f(x): {{extern: {{{}}}, derivative: 2*x}}"
    assert said(whole(fields.format(extern), "y[n] = f(x[n])")) == [meant]
    built(whole(fields.format(meant), "y[n] = f(x[n])"))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("2*~m[n]*x[n]", "2*(not m[n])*x[n]"),
        ("~m[n]*x[n]", "(not m[n])*x[n]"),
        ("1 - ~(x[n] > 0)", "1 - (not x[n] > 0)"),
        ("where(~m[n] and x[n] > 0, 1, 0)", "where(not m[n] and x[n] > 0, 1, 0)"),
    ],
)
def test_a_tilde_within_a_product_is_not_in_parentheses(value: str, meant: str) -> None:
    fields = "inputs: {x: {shape: [N]}, m: {shape: [N], dtype: bool}}"
    (found,) = diagnosed(whole(fields, f"y[n] = {value}"))
    assert found.edit is not None
    at = found.edit.span
    text = at.source.text
    changed = text[: at.start] + found.edit.text + text[at.end :]
    assert changed == whole(fields, f"y[n] = {meant}")
    built(changed, warned=True)


@pytest.mark.parametrize(
    ("word", "sign"),
    [("maximum", "max="), ("amin", "min="), ("add", "+="), ("sum", "+="), ("mul", "*="), ("prod", "*=")],
)
def test_an_update_that_is_spelt_out(word: str, sign: str) -> None:
    fields = "inputs: {x: {shape: [N, K]}, ids: {shape: [N], dtype: int}}\nparams: {size: {type: int}}\n"
    fields += "dims: {M: size}\noutputs: {top: {shape: [M, K]}}"
    meant = f"top[ids[n], k] {sign} x[n, k]"
    assert said(whole(fields, f"top[ids[n], k] {word}= x[n, k]")) == [f"{word}=", sign, meant]
    built(whole(fields, meant), warned=True)


def test_batch_dims_that_are_written_as_indices_are_reduced_as_such() -> None:
    fields = "inputs: {prob: {shape: [N, C, ...]}, label: {shape: [N, C, ...]}}"
    text = whole(fields, "y[n, c] = sum[h, w](prob[n, c, h, w]*label[n, c, ...])")
    (line,) = said(text)
    assert line == "sum[...](prob[n, c, ...] * label[n, c, ...])"
    built(text.replace("sum[h, w](prob[n, c, h, w]*label[n, c, ...])", line))


def test_nothing_is_no_value_of_what_is_not_passed() -> None:
    fields = "inputs: {x: {shape: [N]}, w: {shape: [N], optional: true, default: None}}"
    assert [d.hints for d in diagnosed(whole(fields, "y[n] = x[n] + w[n]"))] == [
        ("what is not passed reads as 0; for a factor write `absent: 1` in its place",)
    ]
