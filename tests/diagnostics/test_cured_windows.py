"""How far an index runs that only windows or other dims say, as the message says it: what is computed then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, follow, whole

VALUES = {
    "x": torch.arange(14.0).reshape(2, 7).cos(),
    "w": torch.arange(55.0).reshape(5, 11).sin(),
    "z": torch.ones(2, 4),
}
PARAMS = {"k": 3, "s": 2, "p": 1, "d": 2}
INTS = "params: {k: {type: int}, s: {type: int}, p: {type: int}, d: {type: int}}"

POSITIVE = "params: {s: {type: int, domain: s > 0}, d: {type: int, domain: d > 0}}"


def pooled(x: torch.Tensor) -> torch.Tensor:
    return 3 * torch.nn.functional.avg_pool1d(x, 3, 2, 1)


def unpadded(x: torch.Tensor) -> torch.Tensor:
    return 3 * torch.nn.functional.avg_pool1d(x, 3, 2)


def apart(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.conv1d(x[:, None], torch.ones(1, 1, 3), stride=2, padding=1, dilation=2)[:, 0]


def joined(x: torch.Tensor, z: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.cat((x, z), 1) @ w.T


def bordered(x: torch.Tensor, z: torch.Tensor, *, mode: str) -> torch.Tensor:
    wide = torch.nn.functional.pad(x[:, None], (1, 1), mode=mode)[:, 0]
    return wide.unfold(1, 3, 1) @ torch.tensor([1.0, 2.0, 3.0]) + z.sum(1, keepdim=True)


def slid(
    x: torch.Tensor, z: torch.Tensor, *, weighted: bool, width: int, step: int, apart: int, at: int
) -> torch.Tensor:
    weight = z if weighted else torch.ones(2, width)
    places = range(0, x.shape[1] - at - apart * (width - 1), step)
    rows = [sum(weight[:, r] * x[:, at + p + apart * r] for r in range(width)) for p in places]
    return torch.stack([torch.as_tensor(row) for row in rows], 1)


CASES: list[tuple[str, dict[str, str], Callable[..., torch.Tensor]]] = [
    *(
        (
            whole(
                f"inputs: {{x: {{shape: [N, H]}}}}\n{INTS}\ndims: {{P: {windows}}}\noutputs: {{y: {{shape: [N, P]}}}}",
                f"y[n, i] = sum[r]({read}) + 0*(k + p + s + d)",
            ),
            {"sum[r": "sum[r < k"},
            meant,
        )
        for windows, read, meant in (
            ("(H + 2*p - k)//s + 1", "pad(x[n, i*s + r - p], 0)", pooled),
            ("(H - k)//s + 1", "x[n, s*i + r]", unpadded),
            ("1 + (H + 2*p - d*(k - 1) - 1)//s", "pad(x[n, i*s + d*r - p], 0)", apart),
        )
    ),
    (
        whole(
            "inputs: {x: {shape: [..., K]}, z: {shape: [..., M]}, w: {shape: [N, J]}}",
            "c[..., i < K + M] = where(i < K, x[..., i], z[..., i - K])",
            "y[..., n] = sum[j](c[..., j]*w[n, j])",
        ),
        {"\nforward:": "\ndims: {J: K + M}\nforward:"},
        joined,
    ),
    *(
        (
            whole(
                "inputs: {x: {shape: [N, H]}, z: {shape: [N, L]}}",
                f"y[n, i < H] = sum[r < 3](pad(x[n, i + r - 1], {how})*(r + 1)) + sum[l](z[n, l])",
            ),
            {f"pad(x[n, i + r - 1], {how})": f"x[n, {place}]"},
            partial(bordered, mode=mode),
        )
        for mode, how, place in (
            ("replicate", '"edge"', "clamp(i + r - 1, 0, H - 1)"),
            ("replicate", 'mode="replicate"', "clamp(i + r - 1, 0, H - 1)"),
            ("circular", '"wrap"', "(i + r - 1) % H"),
            ("circular", '0, "circular"', "(i + r - 1) % H"),
            ("reflect", 'mode="reflect"', "H - 1 - abs(H - 1 - abs(i + r - 1))"),
        )
    ),
    *(
        (
            whole(f"inputs: {{x: {{shape: [N, H]}}, z: {{shape: [N, L]}}}}\n{POSITIVE}", f"y[n, i] = {formula}"),
            {"y[n, i": f"y[n, i < {extent}"},
            partial(slid, weighted=True, width=4, step=step, apart=apart_by, at=0),
        )
        for formula, extent, step, apart_by in (
            ("sum[l](x[n, i + l*d]*z[n, l]) + 0*s", "H - (L - 1)*d", 1, 2),
            ("sum[l](x[n, 2*i + l*d]*z[n, l]) + 0*s", "(H + 1 - (L - 1)*d)//2", 2, 2),
        )
    ),
    *(
        (
            whole(f"inputs: {{x: {{shape: [N, H]}}, z: {{shape: [N, L]}}}}\n{POSITIVE}", f"y[n, p < P] = {formula}"),
            {"\nforward:": f"\ndims: {{P: {count}}}\nforward:"},
            partial(slid, weighted=weighted, width=width, step=step, apart=apart_by, at=at),
        )
        for formula, count, weighted, width, step, apart_by, at in (
            ("sum[l](x[n, p + l]*z[n, l])", "H - L + 1", True, 4, 1, 1, 0),
            ("sum[l](x[n, 2*p + l]*z[n, l])", "(H - L)//2 + 1", True, 4, 2, 1, 0),
            ("sum[l](x[n, p*s + l]*z[n, l]) + 0*d", "(H - L)//s + 1", True, 4, 2, 1, 0),
            ("sum[r < 2](x[n, r + 2*p]) + 0*z[n, 0]", "(H - 2)//2 + 1", False, 2, 2, 1, 0),
            ("sum[r < 3](x[n, p + d*r]) + 0*(z[n, 0] + s)", "H - 2*d", False, 3, 1, 2, 0),
            ("sum[r < 2](x[n, p + 2*r + 1]) + 0*z[n, 0]", "H - 3", False, 2, 1, 2, 1),
        )
    ),
]


@pytest.mark.parametrize(("text", "cure", "meant"), CASES)
def test_with_its_extent_a_formula_computes_what_was_meant(
    text: str, cure: dict[str, str], meant: Callable[..., torch.Tensor]
) -> None:
    operator = follow(text, cure)
    (variant,) = operator.variants
    given = {t.name: VALUES[t.name] for t in operator.inputs}
    found = run(variant.program, {name: array(t.tolist()) for name, t in given.items()}, PARAMS)["y"]
    torch.testing.assert_close(torch.tensor(found.data).reshape(found.shape).float(), meant(**given))


@pytest.mark.parametrize(
    "formula",
    [
        "sum[l](pad(x[n, p + l], 0)*z[n, l])",  # which goes on outside
        "sum[l](where(p + l < H, x[n, p + l], 0)*z[n, l])",
        "sum[l](x[n, p - l]*z[n, l])",
        "sum[l](x[n, p + l]*z[n, l]) + x[n, p]",
        "sum[l](x[n, p*s + l]*z[n, l])",  # of any sign
    ],
)
def test_windows_of_which_there_may_be_any_number_are_not_counted(formula: str) -> None:
    fields = "inputs: {x: {shape: [N, H]}, z: {shape: [N, L]}}\nparams: {s: {type: int, default: 1}}"
    (found,) = (d for d in diagnosed(whole(fields, f"y[n, p < P] = {formula} + 0*s")) if d.code == "OPG238")
    assert not any("windows" in hint for hint in found.hints)


@pytest.mark.parametrize(
    ("formula", "meant"),
    [
        ("pad(square(x[n, i - 1]), 0)", "square(pad(x[n, i - 1], 0))"),
        ("pad(2*abs(x[n, i - 1])**2/3, 0.0)", "2*abs(pad(x[n, i - 1], 0.0))**2/3"),
        ("pad(-x[n, i - 1], 0)", "-pad(x[n, i - 1], 0)"),
    ],
)
def test_what_of_0_is_0_is_taken_of_what_is_padded(formula: str, meant: str) -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [N, H]}}", f"y[n, i < H] = {formula}"))
    assert found.hints == (f"it covers one access: write `{meant}`",)
    built(whole("inputs: {x: {shape: [N, H]}}", f"y[n, i < H] = {meant}"))


@pytest.mark.parametrize(
    "of", ["exp(x[n, i - 1]), 0", "1/x[n, i - 1], 0", "square(x[n, i - 1]), 1", "x[n, i - 1] + 1, 0"]
)
def test_what_of_0_is_another_number_is_not(of: str) -> None:
    (found,) = diagnosed(whole("inputs: {x: {shape: [N, H]}}", f"y[n, i < H] = pad({of})"))
    assert found.hints == ("it covers one access: `pad(x[i - 1], 0)`",)


@pytest.mark.parametrize(("more", "goes"), [("", True), (" + delay", False)])
def test_a_param_goes_that_says_nothing_but_how_far_back(more: str, goes: bool) -> None:
    fields = "inputs: {x: {shape: [T]}}\nparams: {delay: {type: int, default: 4}}"
    (found,) = diagnosed(whole(fields, f"y[t] = x[t] + y[t - delay]/2{more}"))
    assert ("the param `delay` is left out then" in found.hints[0]) is goes
    built(whole(fields.partition("\n")[0], "y[t] = x[t] + y[t - 4]/2"))


@pytest.mark.parametrize(
    ("left", "extent"),
    [("[n, p, r < k]", "H - (k - 1)*d"), ("[n, p]", "d"), ("[n, r < k, p]", "d"), ("[n, r, p]", "d")],
)
def test_the_last_of_two_digits_runs_to_its_base_and_a_window_as_far_as_it_fits(left: str, extent: str) -> None:
    fields = "inputs: {x: {shape: [N, H]}}\nparams: {k: {type: int}, d: {type: int}}"
    value = "sum[r](x[n, p + r*d])" if "r" not in left else "x[n, p + r*d]"
    (found,) = (d for d in diagnosed(whole(fields, f"y{left} = {value} + 0*k")) if "`p`" in d.message)
    assert found.hints == (f"state its extent: `p < {extent}`",)


def test_what_stands_ahead_of_steps_is_outside() -> None:
    fields = f"inputs: {{x: {{shape: [N, H]}}, w: {{shape: [R]}}}}\n{POSITIVE}"
    (found,) = diagnosed(whole(fields, "y[n, p] = sum[r](x[n, p*s + r*d - 1]*w[r])"))
    assert found.hints[0].startswith("`x` is read from -1 on: write `pad(x[n, p*s + r*d - 1], 0)`")


@pytest.mark.parametrize(
    ("part", "line", "width", "step"),
    [
        ("2*p:2*p+2", "y[n, p < (H - 2)//2 + 1] = max[h < 2](x[n, h + 2*p]) + 0*s", 2, 2),
        ("2*p:2*(p + 1)", "y[n, p < (H - 2)//2 + 1] = max[h < 2](x[n, h + 2*p]) + 0*s", 2, 2),
        ("p*s:p*s + k", "y[n, p < (H - k)//s + 1] = max[h < k](x[n, h + p*s]) + 0*s", 3, 2),
        ("p*s:(p + 1)*s", "y[n, p < (H - s)//s + 1] = max[h < s](x[n, h + p*s]) + 0*s", 2, 2),
        ("s*p:s*(p + 1)", "y[n, p < (H - s)//s + 1] = max[h < s](x[n, h + s*p]) + 0*s", 2, 2),
    ],
)
def test_a_slice_that_moves_by_a_step_is_a_window(part: str, line: str, width: int, step: int) -> None:
    params = "params: {s: {type: int, domain: s > 0}, k: {type: int, default: 3, domain: k > 0}}"
    fields = f"inputs: {{x: {{shape: [N, H]}}}}\n{params}"
    (found,) = diagnosed(whole(fields, f"y[n, p] = max(x[n, {part}]) + 0*s"))
    assert [hint.replace(" ", "") for hint in found.hints] == [f"write`{line}`".replace(" ", "")]
    program = built(whole(fields, line), warned=True).variants[0].program
    got = run(program, {"x": array(VALUES["x"].tolist())}, {"s": 2, "k": 3})["y"]
    meant = torch.nn.functional.max_pool1d(VALUES["x"], width, step)
    torch.testing.assert_close(torch.tensor(got.data).reshape(got.shape).float(), meant)


@pytest.mark.parametrize(("count", "step", "extent"), [("H//2", "2", "2"), ("H//s", "s", "s"), ("H//2 - 1", "2", "4")])
def test_windows_that_share_a_dim_are_as_wide_as_they_are_apart(count: str, step: str, extent: str) -> None:
    fields = f"inputs: {{x: {{shape: [N, H]}}}}\n{POSITIVE}\ndims: {{P: {count}}}"
    (found,) = diagnosed(whole(fields, f"y[n, p < P] = max[k](x[n, {step}*p + k]) + 0*(s + d)"))
    assert found.hints == (f"state its extent: `k < {extent}`",)
