"""The order of the stages, in one place: read → load → lower → derive → plan → render.

In: a spec file. Out: every intermediate artefact on the way to the rendered files. Nothing is written here. The stages
are imported when they run, so that a build with nothing to do starts without them.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from opgen.diagnostics.crash import crash
from opgen.diagnostics.model import Bag, Diagnostic, Source, UserError
from opgen.diagnostics.suggest import closest
from opgen.lang.depth import deep_trees, few_collections
from opgen.write.manifest import sha256
from opgen.write.paths import spec_label

if TYPE_CHECKING:
    from opgen.ir.operator import Operator, Variant
    from opgen.opt.derive import Applied, Derived
    from opgen.package.files import RenderedFile
    from opgen.schema.model import OpSpec

    Rendered = tuple[str, tuple[RenderedFile, ...]]
    Passes = tuple[tuple[Variant, tuple[Applied, ...]], ...]  # of each variant, in order


@dataclass(frozen=True, slots=True)
class Target:
    """What generated text depends on beside the spec: the operators' namespace, and the command that writes it.

    `second_order`: the operators whose gradients of gradients have kernels.
    """

    namespace: str = "opgen"
    command: str = ""
    second_order: tuple[str, ...] = ()

    @property
    def recorded(self) -> dict[str, str]:
        """What manifests tell of it."""
        return {"namespace": self.namespace}

    @property
    def everything(self) -> dict[str, str]:
        return {"namespace": self.namespace, "command": self.command, "second order": " ".join(self.second_order)}


class Stage(IntEnum):
    """How far to go; `PASSES` is a way of its own, to what each pass makes of the program and of its gradient."""

    SPEC = 1
    PROGRAM = 2
    PASSES = 3
    DERIVED = 4
    FILES = 5


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A spec as it was read: its bytes, and the name it has in everything generated from it.

    `shown` is what mistakes call it where that is not its path, and `command` what generates from it where that is not
    `opgen build`.
    """

    path: Path
    data: bytes = field(repr=False)
    label: str
    shown: str = ""
    command: str = ""

    @property
    def sha256(self) -> str:
        return sha256(self.data)


@dataclass(frozen=True, slots=True)
class Artefacts:
    """What the stages made; a stage that was not asked for, or not possible for a spec with mistakes, left None."""

    diagnostics: tuple[Diagnostic, ...] = ()
    spec: OpSpec | None = None
    operator: Operator | None = None
    passes: Passes | None = None
    derived: tuple[Derived, ...] | None = None
    files: tuple[RenderedFile, ...] | None = None


def read(path: Path, bag: Bag) -> SpecFile | None:
    """Read a spec; one that cannot be read is a diagnostic."""
    try:
        return SpecFile(path, path.read_bytes(), spec_label(path))
    except OSError as e:
        bag.error("OPG501", f"cannot read '{path}': {e.strerror or e}", None, hints=likely_path(path))
        return None


_FEW = 8  # specs that are named where none is near


def lying_elsewhere(path: Path) -> tuple[Path, ...]:
    """Specs of the name of one that is not there: below its folder, in `specs`, and in the folders beside that."""
    root = path.parent if path.parent.is_dir() else Path()
    found = [
        p for folder in dict.fromkeys((root, Path())) for each in ("*", "*/*") for p in folder.glob(f"{each}.y*ml")
    ]
    kept = (p for p in found if p.stem == path.stem and not any(part.startswith(".") for part in p.parts))
    return tuple(sorted(dict.fromkeys(kept)))


def likely_path(path: Path) -> tuple[str, ...]:
    """What is meant by a path that is none: a spec or a folder of specs beside it, or a spec of the usual folder."""
    if path.exists():
        return ()
    told = "" if path.suffix else "specs are named by their files: "
    if named := lying_elsewhere(path):
        return (f"{told}did you mean {' or '.join(map(str, named))}?",)
    folders = [path.parent, *([Path("specs")] if len(path.parts) == 1 else [])]
    found = [p for folder in reversed(folders) for p in sorted(folder.glob("*.y*ml")) if not p.name.startswith(".")]
    near = {p.stem: p for p in found if p.parent != Path() or _operator(p)}  # other files lie in the root of a project
    if defining := [p for p in near.values() if not path.suffix and _operator(p) == path.name]:
        return (f"{told}did you mean {defining[0]}?",)
    folders = [] if path.suffix else [p for p in sorted(path.parent.glob("*")) if p.is_dir() and any(p.glob("*.y*ml"))]
    known = {p.name: p for p in folders} | near
    if meant := path.stem if path.stem in known else closest(path.stem, known):
        return (f"{told if known[meant].suffix else ''}did you mean {known[meant]}?",)
    if near:
        folder = next(iter(near.values())).parent
        others = [str(p) for p in near.values() if p.parent == folder]
        if len(others) > _FEW:
            return (f"{told}{folder} holds {len(others)} specs, none of which is called so",)
        return (f"{told}there {'is' if len(others) == 1 else 'are'} {', '.join(others)}",)
    return (f"`opgen new {path.stem}` writes a first spec of it",) if path.stem.isidentifier() else ()


def _operator(path: Path) -> str:
    """What a spec says under `op`; empty where it says nothing."""
    lines = (line.partition("#")[0].partition(":") for line in path.read_text(errors="replace").splitlines())
    return next((value.strip().strip("\"'") for key, _, value in lines if key.strip() == "op"), "")


def run(
    spec: SpecFile,
    until: Stage = Stage.FILES,
    target: Target = Target(),
    doing: Callable[[str], None] = lambda _: None,
) -> Artefacts:
    """Take a spec through the stages. A spec with mistakes goes as far as it can, so that all of them are found.

    An error of opgen itself is a diagnostic as well: it ends the way of this spec, not that of the others. `doing` is
    told what begins to be done with the spec, in one word or a few: "differentiated".
    """
    bag = Bag()
    made = Artefacts()
    stages: list[str] = []

    def entered(stage: str) -> None:
        stages.append(stage)
        doing(stage)

    try:
        with deep_trees(), few_collections():
            made = _stages(spec, until, target, bag, entered)
    except UserError as e:
        for diagnostic in e.diagnostics:
            bag.add(diagnostic)
    except Exception as e:
        bag.add(crash(e, f"{spec.label} could not be {stages[-1]}", spec.data.decode(errors="replace")))
    return replace(made, diagnostics=bag.items)


def rendered(spec: SpecFile, target: Target) -> Rendered | None:
    """The name of an operator and its files; None where there is anything to tell of the spec."""
    made = run(spec, Stage.FILES, target)
    if made.diagnostics or made.operator is None or made.files is None:
        return None
    return made.operator.name, made.files


def at_once(specs: Sequence[tuple[SpecFile, Target]], jobs: int) -> Iterator[Rendered | None]:
    """What `rendered` gives for specs, in their order, several at a time in processes of their own.

    None as well for what a process that died had left to do.
    """
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # what interrupts a build is this process's to handle
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
    try:
        with suppress(BrokenProcessPool):
            yield from pool.map(rendered, *zip(*specs, strict=True))
        yield from repeat(None)
    finally:
        pool.shutdown(cancel_futures=True)


def _stages(file: SpecFile, until: Stage, target: Target, bag: Bag, enter: Callable[[str], None]) -> Artefacts:
    enter("read")
    from opgen.schema.load import load

    made = Artefacts()
    source = _source(file, bag)
    spec = load(source, bag) if source else None
    if spec is None:
        return made
    made = replace(made, spec=spec)
    if until is Stage.SPEC:
        return made

    enter("turned into a program")
    from opgen.diff.flat import untrained
    from opgen.lower.operator import lower
    from opgen.lower.unused import unused

    operator = lower(spec, bag)
    if operator is None or bag.has_errors:
        return made
    for warning in (*unused(spec), *untrained(operator, spec.parameter_places)):
        bag.add(warning)
    made = replace(made, operator=operator)
    if until is Stage.PROGRAM:
        return made

    enter("differentiated")
    from opgen.code.names import named_inside
    from opgen.opt.derive import applied, derive

    operator = named_inside(operator)
    if until is Stage.PASSES:
        return replace(made, passes=applied(operator))
    made = replace(made, derived=derive(operator))
    if until is Stage.DERIVED or bag.has_errors:
        return made

    from opgen.package.limits import too_many_arguments
    from opgen.package.view import Surface

    surface = Surface(operator, tuple(made.derived or ()), target.namespace)
    for error in too_many_arguments(surface, spec.op.span):
        bag.add(error)
    if bag.has_errors:
        return made

    enter("given samples")
    from opgen.package.sample_cases import sample_cases, untested

    cases = sample_cases(operator, made.derived or ())
    for warning in untested(operator, made.derived or (), cases, spec.op.span):
        bag.add(warning)

    enter("printed as code")
    from opgen.package.files import SpecInfo, render

    info = SpecInfo(file.label, file.sha256, target.command or f"opgen build {file.label}")
    files = render(surface, cases, info, second_order=operator.name in target.second_order)
    return replace(made, files=files)


def shared_files(namespace: str) -> tuple[RenderedFile, ...]:
    """The files that all operators of an output folder share."""
    from opgen.package.files import render_shared

    return render_shared(namespace)


def _source(file: SpecFile, bag: Bag) -> Source | None:
    """The text of a spec, with the line ends of every system read as one."""
    shown = file.shown or str(file.path)
    try:
        text = file.data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = file.data[: e.start].count(b"\n") + 1
        bag.error("OPG502", f"{shown} is not UTF-8: byte {e.object[e.start]:#04x} in line {line}", None)
        return None
    return Source(shown, text.replace("\r\n", "\n"))
