"""What is proposed for groups, for elements that a mask picks, and for updates in place computes what PyTorch does."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch

from opgen.ir.interp import array, run
from tests.diagnostics.cures import built, diagnosed, whole

E, V, H = 5, 3, 2
VALUES = {
    "s": torch.randn(E, H, generator=torch.Generator().manual_seed(0)),
    "c": torch.randn(E, generator=torch.Generator().manual_seed(1)),
    "dst": torch.tensor([0, 2, 2, 0, 2]),
    "x": torch.randn(V, generator=torch.Generator().manual_seed(2)),
}
FIELDS = {
    "s": "{shape: [E, H]}", "c": "{shape: [E]}", "dst": "{shape: [E], dtype: int, domain: 0 <= dst < V}",
    "x": "{shape: [V]}",
}  # fmt: skip
MEMBERS = VALUES["dst"] == torch.arange(V)[:, None]  # of a group, each in a row


def per_group(of: Callable[[torch.Tensor], torch.Tensor], empty: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def reduced(s: torch.Tensor) -> torch.Tensor:
        shape = s.shape[1:]
        return torch.stack([of(s[rows]) if rows.any() else torch.full(shape, empty) for rows in MEMBERS])

    return reduced


def per_element(of: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    def reduced(s: torch.Tensor) -> torch.Tensor:
        made = torch.empty_like(s)
        for rows in MEMBERS:
            made[rows] = of(s[rows])
        return made

    return reduced


SOFTMAX = per_element(lambda s: s.softmax(0))
GROUPS = {
    "y[e, h] = softmax[dst[e]](s[e, h])": SOFTMAX,
    "y[e, h] = softmax[dst](2*s[e, h])": lambda s: SOFTMAX(2 * s),
    "y[e, h] = 2*softmax(s, dst)": lambda s: 2 * SOFTMAX(s),
    "y = softmax(s, dst)": SOFTMAX,
    "y[n, k] = softmax(s, dst)": SOFTMAX,
    "y[e, h] = softmax[e](s[e, h], dst)": SOFTMAX,
    "y[h, e] = scatter_softmax(s, dst, dim=0)": lambda s: SOFTMAX(s).T,
    "y[e, h] = log_softmax[dst[e]](3*s[e, h])": per_element(lambda s: (3 * s).log_softmax(0)),
    "y[e, h] = s[e, h] - mean[dst[e]](s[e, h])": per_element(lambda s: s - s.mean(0)),
    "y[v, h] = logsumexp[dst[e]](s[e, h])": per_group(lambda s: s.logsumexp(0), -torch.inf),
    "y[v, h] = sum[dst[e]](s[e, h]**2)": per_group(lambda s: (s**2).sum(0), 0),
    "y[v, h] = segment_sum(s, dst)": per_group(lambda s: s.sum(0), 0),
    "y[v, h] = global_mean_pool(s, dst)": per_group(lambda s: s.mean(0), 0),
    "y[v, h] = norm[dst[e]](s[e, h])": per_group(lambda s: s.norm(dim=0), 0),
    "y[v, h] = max[dst[e]](s[e, h])": per_group(lambda s: s.amax(0), -torch.inf),
    "y[h, v] = prod[dst](s[e, h])": lambda s: per_group(lambda s: s.prod(0), 1)(s).T,
    "y[v < V, h] = mean[e if dst[e] == v](s[e, h])": per_group(lambda s: s.mean(0), 0),
    "y[v < V, h] = 2*max[e if dst[e] == v](s[e, h])": per_group(lambda s: 2 * s.amax(0), -torch.inf),
    "y[v, h] = count[dst[e]](s[e, h] > 0)": per_group(lambda s: (s > 0).sum(0).float(), 0),
}
MASKS = {
    "y[v] = x[v]\n  y[x < 0.5] = 0.5": lambda x: x.clamp(min=0.5),
    "y[v] = 2*x[v]\n  y[y < 0] = 0.1*y[y < 0]": lambda x: torch.nn.functional.leaky_relu(2 * x, 0.1),
    "y[v] = x[v]\n  y[x < -0.1] = -0.1\n  y[x < -1] = x[x < -1]**2": (
        lambda x: torch.where(x < -1, x**2, x.clamp(min=-0.1))
    ),
}
UPDATES = [  # the last one is what is looked at
    ("s += 2*s/3", "s = s + 2*s/3"),
    ("c -= c**2\ns += c[:, None]", "c = c - c**2\ns = s + c[:, None]"),
    ("c *= 2\nc += c\ns += s*c[:, None]", "c = c*2\nc = c + c\ns = s + s*c[:, None]"),
    ("s[e, h] += c[e]\ns max= 0.3", "s = s + c[:, None]\ns = s.clamp(min=0.3)"),
    ("c /= 3\ns *= c[:, None]", "c = c/3\ns = s*c[:, None]"),
]


def computed(text: str, name: str = "y") -> torch.Tensor:
    operator = built(text)
    (variant,) = operator.variants
    read = [t.name for t in operator.inputs]
    found = run(variant.program, {n: array(VALUES[n].tolist()) for n in read})[name]
    return torch.tensor(found.data).reshape(found.shape).float()


def spec_of(names: str, statements: str) -> str:
    return whole("inputs:\n" + "\n".join(f"  {n}: {FIELDS[n]}" for n in names.split()), statements)


@pytest.mark.parametrize("statement", GROUPS)
def test_the_statements_for_groups_compute_them(statement: str) -> None:
    (found,) = diagnosed(spec_of("s x dst", statement))
    lines = re.findall(r"`([^`]+)`", " ".join(found.hints))
    torch.testing.assert_close(computed(spec_of("s x dst", "\n  ".join(lines))), GROUPS[statement](VALUES["s"]))


@pytest.mark.parametrize("statements", MASKS)
def test_the_statement_for_masks_computes_the_choice(statements: str) -> None:
    (found,) = diagnosed(spec_of("x", statements))
    (line,) = re.findall(r"`([^`]+)`", " ".join(found.hints))
    torch.testing.assert_close(computed(spec_of("x", line)), MASKS[statements](VALUES["x"]))


def test_the_number_of_groups_is_declared_where_nothing_says_it() -> None:
    fields = "inputs: {s: {shape: [E]}, k: {shape: [E], dtype: int}}"
    (found,) = diagnosed(whole(fields, "y[g] = sum(s, k)"))
    *lines, dims, params = re.findall(r"`([^`]+)`", " ".join(found.hints))
    assert diagnosed(whole(f"{fields}\n{dims}\n{params}", *lines)) == ()


@pytest.mark.parametrize(("statements", "meant"), UPDATES)
def test_the_statements_for_updates_of_inputs_compute_them(statements: str, meant: str) -> None:
    found = sorted(
        diagnosed(spec_of("s c", statements.replace("\n", "\n  "))), key=lambda d: d.span.start if d.span else 0
    )
    said = [re.findall(r"`([^`]+)`", hint) for d in found for hint in d.hints]
    lines = [quoted[-1] for quoted in said if quoted and " = " in quoted[-1]]
    assert len(lines) == statements.count("\n") + 1
    fields = "".join(f"\n{quoted[-1]}" for quoted in said if quoted and quoted[-1].startswith("outputs"))
    names = {"s": VALUES["s"], "c": VALUES["c"]}
    exec(meant, {}, names)
    last = lines[-1].partition("[")[0]
    text = spec_of("s c", "\n  ".join(lines)).replace("\nforward", f"{fields}\nforward")
    torch.testing.assert_close(computed(text, last), names["s"])


def test_what_positions_pick_is_scattered_into_a_copy() -> None:
    (found,) = diagnosed(spec_of("x c dst", "x[dst[e]] += c[e]"))
    first, then = re.findall(r"`([^`]+)`", " ".join(found.hints))
    added = VALUES["x"].index_add(0, VALUES["dst"], VALUES["c"])
    torch.testing.assert_close(computed(spec_of("x c dst", f"{first}\n  {then}"), "x2"), added)
