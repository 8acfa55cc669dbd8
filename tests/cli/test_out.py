"""An output folder that Python cannot import is refused before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Opgen = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("out", "meant"),
    [
        ("my-ops", "my_ops"),
        ("lib/2ops", "lib/_2ops"),
        ("mylib.ops", "mylib/ops"),
        ("class", "class_ops"),
        ("torch", "torch_ops"),
    ],
)
def test_a_folder_that_python_cannot_import_is_refused(project: Path, opgen: Opgen, out: str, meant: str) -> None:
    code, _, err = opgen("build", "--out", out)
    assert code == 1
    assert f"'{out}' cannot be the output folder" in err
    assert f"write --out {meant}\n" in err
    assert not (project / out).exists()
    assert opgen("build", "--out", meant)[0] == 0
