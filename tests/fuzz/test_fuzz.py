"""Whatever a spec file holds, opgen builds it or says what is wrong and where: no traceback, no hang."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.fuzzing import MEMORY, alarm, outcome

ROOT = Path(__file__).resolve().parents[2]
FIELDS = (
    "op", "summary", "inputs", "params", "dims", "functions", "forward", "outputs", "backward", "inplace", "save",
    "once_differentiable", "compute_dtype", "exact", "module", "tests", "reference", "shape", "dtype", "default",
    "domain", "optional", "type", "choices", "x", "w", "K", "cases", "sizes", "parameters", "extern", "value",
    "derivative",
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.dates(), st.binary(max_size=4),
    st.sampled_from(("my_op", "x", "[..., K]", "y = 2*x", "y[i] = sum[j](x[i, j])", "float", "int", "auto", "f(x)",
                     "x*K", "{{ x }}", "a if b", "y = x if mode == 'a'", "...", "1e-5", "-inf",
                     "torch.nn.functional.silu")),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)),
    max_leaves=12,
)
SPECS = st.fixed_dictionaries(
    {"op": st.one_of(st.just("my_op"), VALUES), "forward": st.one_of(st.just("y = 2*x"), VALUES)},
    optional={name: VALUES for name in FIELDS[2:17] if name != "forward"},
)


def fuzzed(seed: int, count: int) -> None:
    command = [sys.executable, "-m", "tests.fuzz.fuzzing", str(seed), str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    print(found["counts"], f"{found['peak'] / 2**20:.0f} MiB, the slowest in {found['slowest']:.2f} s")
    assert not found["failures"], found["failures"][0]["spec"] + found["failures"][0]["what"]
    assert found["peak"] < MEMORY
    assert sum(found["counts"].values()) == count
    assert 0 < found["counts"]["built"] < count


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [1])
def test_mutated_specs(seed: int) -> None:
    fuzzed(seed, 260)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_twenty_thousand_mutated_specs(seed: int) -> None:
    fuzzed(seed, 1000)


@pytest.fixture
def timed() -> Iterator[None]:
    before = signal.signal(signal.SIGPROF, alarm)
    yield
    signal.signal(signal.SIGPROF, before)


@pytest.mark.usefixtures("timed")
@settings(
    max_examples=150, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)  # fmt: skip
@given(spec=SPECS)
def test_specs_from_nothing(tmp_path_factory: pytest.TempPathFactory, spec: object) -> None:
    outcome(yaml.safe_dump(spec, allow_unicode=True).encode(), tmp_path_factory.mktemp("spec"))


FOUND = {  # by fuzzing
    "a computed position below 0": "op: a\ninputs: {x: {shape: [3]}}\nforward: y[] = x[1 - 3]\n",
    "a parameter without a shape": "op: a\ninputs: {x: {}, w: {}}\nmodule: {parameters: {w: ones}}\nforward: y = w*x\n",
    "a long name": f"op: a{'b' * 99}\ninputs: [x]\nforward: y = 2*x\n",
    "a name that no file can have": f"op: a{'b' * 400}\ninputs: [x]\nforward: y = 2*x\n",
    "many open parentheses": "op: a\ninputs: {" + "sin(x, " * 5000 + "}\nforward: y = 2*x\n",
    "a default that is no number": "op: a\ninputs: [x]\nparams: {p: {type: float, default: nan}}\nforward: y = p*x\n",
    "a case beyond all floats": "op: a\ninputs: [x]\nforward: y = 2*x\ntests: {cases: [{x: 1" + "0" * 400 + "}]}\n",
}


@pytest.mark.usefixtures("timed")
@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(tmp_path: Path, name: str) -> None:
    outcome(FOUND[name].encode(), tmp_path)
