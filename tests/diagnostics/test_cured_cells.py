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


@pytest.mark.parametrize("second", ["w[n, k] - zero[n]", "w[n, k]*exp(zero[n])"])
def test_a_product_of_matrices_with_an_operand_that_has_its_indices(second: str) -> None:
    line = f"y[..., n] = b[n]*(x[..., k] @ ({second})) + b[n]"
    meant = second if "-" not in second else f"({second})"
    assert said(whole(QUANTISED, line))[-1] == f"y[..., n] = b[n] * sum[k](x[..., k] * {meant}) + b[n]".replace(
        "w[n, k]*exp", "w[n, k] * exp"
    )
    built(whole(QUANTISED, said(whole(QUANTISED, line))[-1]))


def test_an_operator_that_is_not_understood_has_no_attributes() -> None:
    (found,) = diagnosed(whole(QUANTISED, "y[..., n] = b[n]*(x[..., k] @ (w[n, k] - (zero[n] if k > 1 else 0)))"))
    assert found.message == "`@` is not an operator of the formula language"
    assert "attributes" not in " ".join(found.hints)
