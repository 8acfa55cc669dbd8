"""Lines that are proposed with all that the spec says: in place of what is written, they build."""

from __future__ import annotations

import pytest

from tests.diagnostics.cures import follow, whole

SLOTS = (
    "inputs: {slot: {shape: [R, N], dtype: int, domain: slot >= 0}, count: {shape: [N]}}\n"
    "params: {width: {type: int, default: 64, domain: width > 0}}"
)
READ = (
    "inputs: {a: {shape: [N, M]}, b: {shape: [6]}, t: {shape: [N], dtype: int, domain: 0 <= t < M}}\n"
    "params: {w: {type: [float, float]}}"
)
SKETCH = "sketch[r, slot[r, n]] += count[n]"

SPECS = [
    (
        whole(SLOTS, SKETCH),
        {"forward": "outputs: {sketch: {shape: [R, W]}}\ndims: {W: width}\nforward"},
    ),
    *(
        (whole(READ, f"y[n] = {wrong}"), {wrong: right})
        for wrong, right in (
            ("sum[m](a(n, m))", "sum[m](a[n, m])"),
            ("b(..., 3)*sum[m](a(n, :))", "b[3] * sum[m](a[n, m])"),
            ("w(1)*a(n, t(n)) + b(2)", "w[1] * a[n, t[n]] + b[2]"),
        )
    ),
    *(
        (whole(f"inputs: {{x: {{shape: [N]}}}}\nparams: {{red: {wrong}}}", *lines), {f"red: {wrong}": f"red: {right}"})
        for lines, wrong, right in (
            (["y = red[n](x[n])/N"], "{type: str, default: mean}", "{choices: [mean, sum, none], default: mean}"),
            (["h = red[n](x[n])", "y = 2*h"], "str", "{choices: [mean, sum]}"),
            (["y = red[n](x[n])"], "max", "{choices: [max, mean, sum, none], default: max}"),
            (["y = red[n](x[n])"], "{default: sum}", "{choices: [mean, sum, none], default: sum}"),
            (
                ["y = red[n](x[n])"],
                "{type: str, default: batchmean}",
                "{choices: [mean, sum, none], default: mean}",
            ),
        )
    ),
    (whole(SLOTS, SKETCH), {SKETCH: f"sketch[r < R, w < width] = 0\n  {SKETCH}"}),
]


@pytest.mark.parametrize(("text", "cure"), SPECS)
def test_what_is_proposed_builds(text: str, cure: dict[str, str]) -> None:
    follow(text, cure)
