"""Mistakes in what stands beside the formula (types, initialisers, cases, a transform by its name), and their cures."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import diagnosed, follow, whole

TWO = "[float, float]"
FIELDS = [
    *(
        (
            whole("inputs: {x: {shape: [..., K]}, seed: {dtype: seed}}", f"y[..., k] = x[..., k] + {like}(x[..., k])"),
            {f"y[..., k] = x[..., k] + {like}(x[..., k])": f"y[..., k < K] = x[..., k] + {draw}(seed)"},
            ["y"],
        )
        for like, draw in (("rand_like", "uniform"), ("randn_like", "normal"))
    ),
    *(
        (
            whole(f"inputs: [x]\nparams: {{b: {{type: {wrong}}}}}", "y = b[0]*x + b[1]"),
            {f"type: {wrong}": f"type: {TWO}"},
            ["y"],
        )
        for wrong in (
            "float[2]",
            '"float[2]"',
            "float*2",
            "[float]*2",
            "2*[float]",
            "tuple[float, float]",
            "List[float, 2]",
            "float",
        )
    ),
    *(
        (
            whole(f"inputs: [x]\nparams: {{b: {{type: {TWO}, default: {wrong}}}}}", "y = b[0]*x + b[1]"),
            {wrong: "[0.9, 0.999]"},
            ["y"],
        )
        for wrong in ("(0.9, 0.999)", '"(0.9, 0.999)"', "0.9, 0.999", '"0.9, 0.999"', '"[0.9, 0.999]"')
    ),
    *(
        (
            whole(f"inputs: {{x: {{shape: [N], dtype: int, domain: {wrong}}}, z: {{shape: [N]}}}}", "y[n] = z[x[n]]"),
            {wrong: right},
            ["y"],
        )
        for wrong, right in (("[0, N)", "0 <= x < N"), ("(-1, N - 1]", "-1 < x <= N - 1"))
    ),
    (
        whole(
            "inputs: {x: {shape: [..., K]}, tau: {shape: []}}\nmodule: {parameters: {tau: 1.0}}",
            "y[..., k] = softmax[k](x[..., k]/tau)",
        ),
        {"1.0": "constant(1.0)"},
        ["y"],
    ),
    (
        whole("inputs: {x: {}, g: {shape: []}}\nmodule: {parameters: {g: {normal: {mean: 0, std: 0.02}}}}", "y = x*g"),
        {"{normal: {mean: 0, std: 0.02}}": '"normal(mean=0, std=0.02)"'},
        ["y"],
    ),
    *(
        (
            whole(f"inputs: [x]\nparams: {{a: {{type: {wrong}}}}}", "y = where(given(a), x, 2*x)"),
            {f"type: {wrong}": "type: float, default: null"},
            ["y"],
        )
        for wrong in ("Optional[float]", "Union[None, float]", "typing.Optional[float]", '"float | None"')
    ),
    (
        whole("inputs: {x: {}, b: Optional[Tensor]}", "y = x + b"),
        {"Optional[Tensor]": "{optional: true}"},
        ["y"],
    ),
    *(
        (
            whole(f"inputs: [x]\nparams: {{p: {{type: float, {wrong}}}}}", "y = p*x"),
            {wrong: "domain: 0 <= p < 1"},
            ["y"],
        )
        for wrong in ("min: 0, lt: 1", "lt: 1, ge: 0", "domain: 0 <= p, domain: p < 1", "domain: p < 1, min: 0")
    ),
    (
        whole("inputs: [x]\nparams: {how: {type: Literal[mean, sum], default: sum}}", "y = how[...](x)"),
        {"type: Literal[mean, sum]": "choices: [mean, sum]"},
        ["y"],
    ),
    *(
        (
            whole(f"inputs: [x]\nparams: {{b: {{type: float}}}}\ntests: {{cases: [{wrong}]}}", "y = b*x"),
            {wrong: "{x: [1.0, -2.0], b: 2.0}"},
            ["y"],
        )
        for wrong in ("{inputs: {x: [1.0, -2.0]}, params: {b: 2.0}}", "{args: {x: [1.0, -2.0], b: 2.0}}")
    ),
    *(
        (whole(f"inputs: [x]\ntests: {{tolerances: {{{wrong}: 1e-2}}}}", "y = x*x"), {wrong: "float16"}, ["y"])
        for wrong in ("fp16", "half", "torch.half", "f16")
    ),
    (
        whole("inputs: {x: {shape: [..., N]}}", "z[..., k] = rfft(x)[..., k]"),
        {"z[..., k] = rfft(x)[..., k]": ("z[..., k < N//2 + 1] = sum[n](x[..., n]*exp(complex(0, -2*pi*k*n/N)))")},
        ["z_real", "z_imag"],
    ),
    (
        whole(
            "inputs: {x: {shape: [N, C]}, w: {shape: [C]}}\nmodule: {dims: {C: channels}, parameters: {w: ones}}\n"
            "tests: {sizes: {channels: 4}}",
            "y[n, c] = x[n, c]*w[c]",
        ),
        {"sizes: {channels: 4}": "sizes: {C: 4}"},
        ["y"],
    ),
    *(
        (
            whole(
                "inputs: {x: {shape: [N]}}\nparams: {size: {type: int, default: 3, domain: size > 0}}\n"
                f"dims: {{S: size}}\ntests: {{sizes: {{{wrong}: 4}}}}",
                "y[n, s < S] = x[n]*s",
            ),
            {f"sizes: {{{wrong}: 4}}": "cases: [{size: 4}]"},
            ["y"],
        )
        for wrong in ("size", "S")
    ),
]


@pytest.mark.parametrize(("text", "cure", "outputs"), FIELDS)
def test_a_field_with_what_the_one_message_says_is_what_was_meant(
    text: str, cure: dict[str, str], outputs: list[str]
) -> None:
    assert list(follow(text, cure).outputs) == outputs


def test_a_dim_in_small_letters_is_told_where_there_is_one() -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [N]}}\ntests: {sizes: {n: 4}}", "y[n] = x[n]"))
    assert (found.code, found.hints) == ("OPG113", ("write `N`",))
    (found,) = diagnosed(whole("inputs: {x: {shape: [N]}}\ntests: {sizes: {batch: 4}}", "y[n] = x[n]"))
    assert (found.code, found.hints, found.notes) == ("OPG116", (), ("known here: `N`",))
