"""An operator that was loaded from a spec, as Python has it in its hands: what `opgen.load` and `opgen.op` return.

It is called like the function of the operator, knows all that was made of its spec, and is pickled by the spec alone:
whoever unpickles it has the same operator, generated anew where that is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import update_wrapper
from html import escape
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree.ElementTree import tostring

from opgen.diagnostics.suggest import listed
from opgen.pipeline import SpecFile, Stage, run

_FILES = {
    "torch": "function.py",
    "ops": "ops.py",
    "module": "module.py",
    "cpp": "csrc/{}.cpp",
    "cuda": "csrc/{}.cu",
    "test": "test_{}.py",
}


@dataclass(frozen=True, slots=True)
class Text:
    """A spec as it was read or written: its bytes, what mistakes call it, and its file where there is one."""

    data: bytes = field(repr=False)
    shown: str
    path: Path | None = None


class Operator:
    """The function of an operator, with all that belongs to it.

    It takes tensors and params, and returns a tensor or a tuple of them.
    """

    __name__: str
    spec: Text
    folder: Path  # of the generated package
    package: ModuleType  # the same, imported: `Function`, in-place variants, `test_…`
    compiled: bool | None  # as it was asked for

    def __init__(self, spec: Text, folder: Path, package: ModuleType, compiled: bool | None) -> None:
        self.spec, self.folder, self.package, self.compiled = spec, folder, package, compiled
        name = package.__name__.rpartition(".")[2]
        self._function: Callable[..., Any] = getattr(package, name)
        update_wrapper(self, self._function, updated=())

    def __call__(self, *operands: Any, **params: Any) -> Any:
        return self._function(*operands, **params)

    @property
    def function(self) -> Callable[..., Any]:
        """The generated function itself."""
        return self._function

    @property
    def Module(self) -> Callable[..., Any]:  # noqa: N802
        """The class of the operator as a `torch.nn.Module`."""
        name = f"{self.package.__name__}.module"
        classes = (getattr(self.package, n) for n in self.package.__all__)
        found: Callable[..., Any] = next(c for c in classes if isinstance(c, type) and c.__module__ == name)
        return found

    @property
    def backend(self) -> str:
        """What this thread runs, forward and backward: docs/backends.md."""
        runtime = import_module(f"{self.package.__name__.rpartition('.')[0]}._runtime.native")
        return str(runtime.described(self.__name__))

    def source(self, part: str = "torch") -> str:
        """The text of the spec (`part` is `spec`), or what was generated: torch, ops, module, cpp, cuda or test."""
        if part == "spec":
            return self.spec.data.decode("utf-8-sig")
        if part not in _FILES:
            raise ValueError(f"a source is {listed(('spec', *_FILES), 'or')}, not {part!r}")
        path = self.folder / self.__name__ / _FILES[part].format(self.__name__)
        if not path.is_file():
            raise ValueError(f"{self.__name__} has no kernels in {'CUDA' if part == 'cuda' else 'C++'}")
        return path.read_text(encoding="utf-8")

    def report(self, to: str | Path = "report") -> Path:
        """Write the page that `opgen report` writes into a folder, and return its path: docs/report.md."""
        from opgen.report.write import report_of

        path = self.spec.path or Path(f"{self.__name__}.yaml")
        result = report_of(SpecFile(path, self.spec.data, path.name), Path(to))
        if result.failed:
            raise OSError(result.diagnostics[0].message)
        return Path(to) / f"{self.__name__}.html"

    def become(self, other: Operator) -> None:
        """Be another operator from now on, wherever this one is held."""
        vars(self).update(vars(other))

    def __reduce__(self) -> tuple[Callable[..., Operator], tuple[Text, bool | None]]:
        from opgen.toolchain.load import restored

        return restored, (self.spec, self.compiled)

    def __repr__(self) -> str:
        return f"<operator {self.__name__} of {self.spec.shown}: {self.backend}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        told = (self.__doc__ or "").partition("\n")[0]
        rows = {
            "formula": self._typeset(),
            "spec": f"<pre style='margin:0'>{escape(self.source('spec').strip())}</pre>",
            "back end": escape(self.backend),
        }
        cells = "".join(f"<tr><th>{k}</th><td style='text-align:left'>{v}</td></tr>" for k, v in rows.items() if v)
        return f"<b>{escape(self.__name__)}</b> {escape(told)}<table>{cells}</table>"

    def _typeset(self) -> str:
        """The statements in MathML; empty where another library computes the operator."""
        from opgen.report.mathml import formula

        made = run(SpecFile(self.folder, self.spec.data, self.__name__), Stage.PROGRAM)
        statements = made.operator.variants[0].program.statements if made.operator is not None else ()
        return tostring(formula(statements), encoding="unicode") if statements else ""
