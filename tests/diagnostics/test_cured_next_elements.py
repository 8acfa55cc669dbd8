"""Recurrences that are written to their next elements, several names together: what is said builds, and is as meant."""

from __future__ import annotations

import re

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

T = 4
X0, V0 = torch.tensor([0.5, -1.0]), torch.tensor([0.25, 2.0])
F = torch.tensor([[1.0, 0.5, -2.0, 3.0], [0.0, 1.5, 1.0, -0.5]])
FIELDS = (
    "inputs: {x0: {shape: [...]}, v0: {shape: [...]}, f: {shape: [..., T]}}\nparams: {dt: {type: float, default: 0.5}}"
)
OUT = "outputs: [x, v]"
Steps = dict[str, torch.Tensor]


def followed(fields: str, *statements: str) -> Steps:
    """The results of a spec with every line that is said of it in the place of the one it is said of."""
    lines: dict[str, str] = {}
    for found in diagnosed(whole(fields, *statements)):
        for hint in (*found.hints, *(label.text for label in found.related)):
            for line in re.findall(r"`(\w+\[[^`]+ = [^`]+)`", hint):
                begins = re.match(r"\w+\[[^\]]*(?<![\w)])(-1|0)\]", line) is not None
                lines[f"{line.partition('[')[0]} {begins}"] = line
    own: dict[str, str] = {}
    for s in statements:
        begins = re.match(r"\w+\[[^\]]*(?<![\w)])(-1|0)\]", s) is not None
        own[f"{s.partition('[')[0]} {begins}"] = s
    both = {key: line for key in own if "where(t == 0" in (line := lines.get(f"{key.partition(' ')[0]} False", ""))}
    new = [lines.get(key, s) for key, s in own.items() if not (key in both and key.endswith("True"))]
    program = built(whole(fields, *new)).variants[0].program
    given = {"x0": X0, "v0": V0, "f": F}
    made = run(program, {t.name: array(given[t.name].tolist()) for t in program.inputs}, {"dt": 0.5, "steps": T})
    return {n: torch.tensor(a.data).reshape(a.shape).float() for n, a in made.items()}


def leapt(*, steps: int = T, first: bool = False, ahead: bool = False, driven: bool = True) -> Steps:
    """A leapfrog from `x0` and `v0`, `first`: with the start as its first element, `ahead`: by what drives the next."""
    x, v = X0, V0
    found: list[tuple[torch.Tensor, torch.Tensor]] = [(x, v)] if first else []
    for t in range(steps):
        force = F[:, t + 1 if ahead else t] if driven else torch.zeros(2)
        v = v - 0.5 * x + 0.5 * force
        x = x + 0.5 * v
        found.append((x, v))
    return {"x": torch.stack([x for x, _ in found], -1), "v": torch.stack([v for _, v in found], -1)}


STARTS = ["x[..., 0] = x0[...]", "v[..., 0] = v0[...]"]
OUTSIDE = ["x[..., -1] = x0[...]", "v[..., -1] = v0[...]"]
KICK, DRIFT = "v[..., t + 1] = v[..., t] - dt*x[..., t] + dt*f[..., t]", "x[..., t + 1] = x[..., t] + dt*v[..., t + 1]"


@pytest.mark.parametrize("starts", [STARTS, OUTSIDE])
@pytest.mark.parametrize(
    "drift", [DRIFT, "x[..., n + 1] = x[..., n] + dt*v[..., n + 1]", "x[..., 1 + t] = dt*v[..., 1 + t] + x[..., t]"]
)
def test_one_reads_the_next_of_the_other(starts: list[str], drift: str) -> None:
    made = followed(f"{FIELDS}\n{OUT}", *starts, KICK, drift)
    torch.testing.assert_close(made, leapt())


def test_one_is_written_to_the_next_and_the_other_without_a_start() -> None:
    lines = [KICK, DRIFT]
    found = diagnosed(whole(f"{FIELDS}\n{OUT}", *lines))
    assert [d.code for d in found] == ["OPG241", "OPG241"]
    assert "`x[..., t] = x[..., t - 1] + dt * v[..., t]`" in found[1].hints[0]


@pytest.mark.parametrize("sizes", ["dims: {T: steps}", "dims: {Steps: steps}", ""])
def test_where_no_input_says_how_far_they_run(sizes: str) -> None:
    fields = (
        "inputs: {x0: {shape: [...]}, v0: {shape: [...]}}\n"
        f"params: {{dt: {{type: float, default: 0.5}}, steps: {{type: int, default: 4}}}}\n{sizes}\n{OUT}"
    )
    for drift in (DRIFT, "x[..., t + 1] = x[..., t] + dt*v[..., t]"):
        made = followed(fields, *STARTS, "v[..., t + 1] = v[..., t] - dt*x[..., t]", drift)
        assert made["x"].shape == (2, T)
        if drift == DRIFT:
            torch.testing.assert_close(made, leapt(driven=False))


def test_what_reads_others_at_the_next_place_keeps_its_elements() -> None:
    kick = KICK.replace("f[..., t]", "f[..., t + 1]")
    made = followed(f"{FIELDS}\n{OUT}", *STARTS, kick, DRIFT)
    torch.testing.assert_close(made, leapt(steps=T - 1, first=True, ahead=True))
    made = followed(f"{FIELDS}\n{OUT}", *OUTSIDE, kick, DRIFT)
    torch.testing.assert_close(made, leapt())


def test_what_reads_others_at_both_places_keeps_its_elements() -> None:
    lines = [*STARTS, "v[..., t + 1] = v[..., t] - dt*x[..., t] + (f[..., t] + f[..., t + 1])/2", DRIFT]
    made = followed(f"{FIELDS}\n{OUT}", *lines)
    x, v, steps = X0, V0, [X0]
    for t in range(T - 1):
        v = v - 0.5 * x + (F[:, t] + F[:, t + 1]) / 2
        x = x + 0.5 * v
        steps.append(x)
    torch.testing.assert_close(made["x"], torch.stack(steps, -1))


def test_a_start_that_stands_outside_is_no_component() -> None:
    for read in ("t", "t + 1"):
        (found,) = diagnosed(whole(FIELDS, OUTSIDE[0], f"x[..., t + 1] = x[..., t] + f[..., {read}]"))
        assert found.hints[0] == "an element is written from the one before: `x[..., t] = x[..., t - 1] + f[..., t]`"
