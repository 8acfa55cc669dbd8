"""Bring the generated folder up to date with specs: the function behind `opgen build`.

In: spec files or folders of them, and the output folder. Out: a `BuildResult` with one change per generated file and
every diagnostic of the run. Specs are independent: a mistake in one, or one of opgen's own, leaves its earlier output
untouched and does not keep the others from being built. What is up to date is recognised without importing any stage.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from opgen import pipeline
from opgen.diagnostics.crash import crash
from opgen.diagnostics.model import Bag, Diagnostic, Severity
from opgen.diagnostics.suggest import listed
from opgen.pipeline import SpecFile, Stage, Target
from opgen.version import __version__
from opgen.write.cache import build_key, is_fresh, origins, remember
from opgen.write.compare import Change, Status, Unit, compare, done, read_manifest, record_changes, removal
from opgen.write.manifest import Manifest
from opgen.write.paths import MANIFEST, OutsideError, build_line, spec_label
from opgen.write.refused import edited, foreign_files
from opgen.write.settings import are_operators, command, namespace_of, second_order_of
from opgen.write.writer import clear_away, commit, exclusive

if TYPE_CHECKING:
    from opgen.ir.operator import Operator
    from opgen.pipeline import Rendered

PathLike = str | os.PathLike[str]
SHARED = ""
_FEW = 8  # specs that a command in a hint lists
_MANY = 6  # specs that are worth the start of other processes


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did, or with `check` would do.

    `ops` are the operators that are as their specs give them now; `fresh` are those of them that needed no look.
    """

    out: Path
    changes: tuple[Change, ...]
    diagnostics: tuple[Diagnostic, ...]
    ops: tuple[str, ...]
    fresh: tuple[str, ...]

    @property
    def drift(self) -> tuple[Change, ...]:
        """The files that are not as the specs give them."""
        return tuple(c for c in self.changes if c.status is not Status.UNCHANGED)

    @property
    def failed(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self.diagnostics)


@dataclass(slots=True)
class _Run:
    """The state of one build."""

    out: Path
    check: bool
    force: bool
    paths: Sequence[Path] = ()  # as they were given
    namespace: str = ""
    given: str | None = None  # the namespace, where only the call of `build` tells it
    second_order: tuple[str, ...] = ()
    bag: Bag = field(default_factory=Bag)
    changes: list[Change] = field(default_factory=list)
    ops: dict[str, SpecFile] = field(default_factory=dict)  # operator → its spec
    fresh: list[str] = field(default_factory=list)
    unwritten: list[str] = field(default_factory=list)  # operators that could not be brought up to date


def build(
    paths: PathLike | Sequence[PathLike] = "specs",
    out: PathLike = "generated",
    *,
    check: bool = False,
    force: bool = False,
    namespace: str | None = None,
    jobs: int = 1,
    progress: Callable[[str, int], None] = lambda *_: None,
    doing: Callable[[str, str], None] = lambda *_: None,
) -> BuildResult:
    """Generate the operators of specs and folders of specs into `out`.

    `check` writes nothing; `force` overwrites files that were edited by hand; `namespace` is that of the operators in
    `torch.ops` (default: what the project's settings say, or where `out` lies); `jobs` processes share many specs;
    `progress` is told the name of each spec that has to be generated and how many these are, and `doing` beside the
    name each stage that begins (none when it is done).
    """
    given = [Path(p) for p in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    run = _Run(Path(out), check, force, given)
    run.namespace, alone = namespace_of(run.out, namespace, run.bag)
    run.given = run.namespace if alone else None
    run.second_order = second_order_of(run.out)
    if run.bag.has_errors:
        return BuildResult(run.out, (), run.bag.items, (), ())
    found = (pipeline.read(path, run.bag) for path in specs_of(given, run.bag))
    return _built(run, [spec for spec in found if spec is not None], jobs, progress, doing)


def generate(spec: SpecFile, out: PathLike, namespace: str) -> BuildResult:
    """Generate the operator of a spec that was read already, into a folder that holds no other."""
    run = _Run(Path(out), check=False, force=False, namespace=namespace, given=namespace)
    return _built(run, (spec,))


def _built(
    run: _Run,
    specs: Sequence[SpecFile],
    jobs: int = 1,
    progress: Callable[[str, int], None] = lambda *_: None,
    doing: Callable[[str, str], None] = lambda *_: None,
) -> BuildResult:
    """Bring the operators of specs up to date."""
    rendered: list[tuple[SpecFile, Unit]] = []
    if not run.check:
        clear_away(run.out)
    found = [(spec, is_fresh(run.out, spec.path, _key(run, spec))) for spec in specs]
    stale = [(spec, _target(run, spec)) for spec, op in found if op is None]
    with closing(_ahead(stale, jobs)) as ahead:
        for spec, op in found:
            if op is None:
                progress(spec.label, len(stale))
                unit = _render(spec, run, doing, ahead)
                if unit is not None and _claim(run, spec, unit.folder):
                    rendered.append((spec, unit))
            elif _claim(run, spec, op):
                run.fresh.append(op)
    if _in_one_namespace(run, run.paths) and _named_rightly(run):
        _write_all(run, [r for r in rendered if r[1].folder not in run.unwritten])
    else:
        run.unwritten += [unit.folder for _, unit in rendered]
    _write_stub(run, {unit.folder: unit for _, unit in rendered}, _remove_orphans(run, run.paths))
    ops = tuple(op for op in run.ops if op not in run.unwritten)
    return BuildResult(run.out, tuple(run.changes), run.bag.items, ops, tuple(run.fresh))


def lint(paths: Sequence[PathLike], *looks: Callable[[Operator], tuple[Diagnostic, ...]]) -> tuple[Diagnostic, ...]:
    """Every mistake in specs and folders of specs, and what looks like one; nothing is written.

    `looks` see the operator of each spec that is right, and say what else they find in it.
    """
    run = _Run(Path(), check=True, force=False)
    for path in specs_of([Path(p) for p in paths], run.bag):
        file = pipeline.read(path, run.bag)
        made = looked_at(file, *looks) if file else pipeline.Artefacts()
        for diagnostic in made.diagnostics:
            run.bag.add(diagnostic)
        if file and made.operator is not None:
            _claim(run, file, made.operator.name)
    return run.bag.items


def looked_at(spec: SpecFile, *looks: Callable[[Operator], tuple[Diagnostic, ...]]) -> pipeline.Artefacts:
    """A spec as far as its program, with every mistake in it and what looks like one; `looks` as for `lint`."""
    from opgen.diff.flat import flat

    made = pipeline.run(spec, Stage.PROGRAM)
    if made.spec is None or made.operator is None:
        return made
    try:
        more = (d for look in looks for d in look(made.operator))
        warnings = (*flat(made.operator, made.spec.described_outputs), *more)
    except Exception as e:
        warnings = (crash(e, f"{spec.path} could not be searched for gradients that are 0"),)
    return replace(made, diagnostics=(*made.diagnostics, *warnings))


def operator_of(path: Path) -> str | None:
    """The operator that a spec defines; None where it cannot be read."""
    file = pipeline.read(path, Bag())
    spec = None if file is None else pipeline.run(file, Stage.SPEC).spec
    return None if spec is None else str(spec.op)


def specs_of(paths: Sequence[Path], bag: Bag) -> Iterator[Path]:
    """The spec files that are meant, each once, in order."""
    seen: dict[Path, None] = {}
    for path in paths:
        if not path.is_dir():
            seen.setdefault(path)
            continue
        found = sorted(p for p in path.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())
        if not found:
            named = pipeline.lying_elsewhere(Path(path.name))  # of the operator that lies in the folder
            hints = [f"did you mean {' or '.join(map(str, named))}?"] if named else []
            bag.error("OPG507", f"no spec in {path}", None, hints=[*hints, "a spec is a file that ends in .yaml"])
        seen.update(dict.fromkeys(found))
    return iter(seen)


def _target(run: _Run, spec: SpecFile) -> Target:
    return Target(run.namespace, spec.command or build_line(spec.path, run.out, run.given), run.second_order)


def _key(run: _Run, spec: SpecFile) -> str:
    return build_key(spec.label, spec.data, _target(run, spec).everything)


def _ahead(stale: Sequence[tuple[SpecFile, Target]], jobs: int) -> Generator[Rendered | None]:
    """What other processes make of specs, one by one; nothing where they are too few for that."""
    shared = jobs > 1 and len(stale) >= _MANY
    yield from pipeline.at_once(stale, min(jobs, len(stale))) if shared else repeat(None)


def _render(
    spec: SpecFile, run: _Run, doing: Callable[[str, str], None], ahead: Iterator[Rendered | None]
) -> Unit | None:
    target = _target(run, spec)
    doing(spec.label, "generated")
    found = next(ahead)
    if found is None:
        made = pipeline.run(spec, Stage.FILES, target, partial(doing, spec.label))
        for diagnostic in made.diagnostics:
            run.bag.add(diagnostic)
        found = None if made.files is None or made.operator is None else (made.operator.name, made.files)
    doing(spec.label, "")
    if found is None:
        return None
    op, files = found
    return Unit(op, {f.path: f.text for f in files}, spec.label, spec.sha256, target.recorded)


def _claim(run: _Run, spec: SpecFile, op: str) -> bool:
    """Give the name of an operator to its spec; of two with one name, none is written."""
    if op in run.ops:
        message = f"{spec.label} and {run.ops[op].label} both define the operator '{op}'"
        run.bag.error("OPG505", message, None, hints=["give one of them another `op:` name"])
        run.unwritten.append(op)
        return False
    base, _, word = op.rpartition("_")
    gradient = op if word == "backward" and base in run.ops else f"{op}_backward"
    if gradient == op or gradient in run.ops:
        message = f"{spec.label}: '{gradient}' is what torch calls the gradient of '{gradient.rpartition('_')[0]}'"
        run.bag.error("OPG505", message, None, hints=["choose another `op:` name than that of a gradient"])
        return False
    run.ops[op] = spec
    return True


def _in_one_namespace(run: _Run, paths: Sequence[Path]) -> bool:
    """Refuse to leave operators of another namespace behind: their kernels would be looked for under the wrong name."""
    others = [
        (op, manifest)
        for op, manifest in _generated(run.out)
        if op not in run.ops
        and manifest.options.get("namespace", run.namespace) != run.namespace
        and not _is_orphan(run, op, manifest, paths)
    ]
    if others:
        specs = [os.path.relpath(next(origins(run.out, op), manifest.spec)) for op, manifest in others]
        words = ("build", *map(str, paths), *specs, *(("--namespace", run.given) if run.given else ()))
        line = command(*words, out=run.out)
        former = others[0][1].options["namespace"]
        run.bag.error(
            "OPG509",
            f"{listed(op for op, _ in others[:3])}{' and others' if len(others) > 3 else ''} in {run.out} would stay in"
            f" the namespace '{former}', and the operators of one folder share theirs: it would be '{run.namespace}'",
            None,
            hints=[
                f"build all of them in one run{'' if len(others) > _FEW else f': {line}'}",
                f'or keep the namespace: --namespace {former}, or `namespace = "{former}"` below [tool.opgen] in'
                " pyproject.toml",
            ],
        )
    return not others


def _named_rightly(run: _Run) -> bool:
    """Refuse settings that name an operator almost; where a spec has mistakes, its name is not known."""
    if not run.second_order or run.bag.has_errors:
        return True
    return are_operators(run.out, [*run.ops, *(op for op, _ in _generated(run.out))], run.bag)


def _write_all(run: _Run, rendered: Sequence[tuple[SpecFile, Unit]]) -> None:
    """Write the files all operators share, then the operators."""
    if not rendered:
        return
    shared = Unit(SHARED, {f.path: f.text for f in pipeline.shared_files(run.namespace)})
    taken = {name.split("/")[0] for name in shared.files}
    if not _write(run, shared):
        run.unwritten += [unit.folder for _, unit in rendered]
        return
    for spec, unit in rendered:
        if unit.folder in taken:
            run.unwritten.append(unit.folder)
            message = f"{spec.label}: '{unit.folder}' is a folder that all operators share"
            run.bag.error("OPG505", message, None, hints=["choose another `op:` name"])
        elif not _write(run, unit):
            run.unwritten.append(unit.folder)
        elif not run.check:
            remember(run.out, spec.path, _key(run, spec), unit.folder)


def _write_stub(run: _Run, rendered: Mapping[str, Unit], gone: Sequence[str]) -> None:
    """Tell type checkers of the operators in the folder, those that are new and without those that go."""
    from opgen.package.exports import STUB, listed, stub

    texts = {op: unit.files["__init__.py"] for op, unit in rendered.items() if op not in run.unwritten}
    for op, _ in _generated(run.out):
        path = run.out / op / "__init__.py"
        if op not in texts and op not in gone and path.is_file():
            texts[op] = path.read_text(encoding="utf-8")
    if texts:
        unit = Unit(SHARED, {}, records={STUB: stub({op: listed(text) for op, text in texts.items()})})
        _carry_out(run, unit, partial(record_changes, run.out, unit))


def _write(run: _Run, unit: Unit) -> bool:
    """Bring one folder up to date, all of it or nothing."""
    return _carry_out(run, unit, partial(compare, run.out, unit, __version__))


def _carry_out(run: _Run, unit: Unit, find: Callable[[], tuple[Change, ...]]) -> bool:
    """Find the changes of one folder and make all of them or none, beside no other process that writes."""
    try:
        with nullcontext() if run.check else exclusive(run.out):
            changes = find()
            foreign = tuple(c for c in changes if c.status is Status.FOREIGN)
            edits = () if run.force else tuple(c for c in changes if c.status is Status.EDITED)
            if foreign or edits:
                run.changes += changes if run.check else (*foreign, *edits)
                namespace = ("--namespace", run.given) if run.given else ()
                build = ("build", *map(str, run.paths), *namespace)
                for told in (*foreign_files(run.out, foreign), *edited(run.out, edits, build)):
                    run.bag.add(told)
                return False
            if not run.check:
                commit(run.out, changes, folder=unit.folder, pending=unit.pending, force=run.force)
            run.changes += changes if run.check else map(done, changes)
    except OutsideError as e:
        run.bag.error("OPG504", f"'{e}' would leave the output folder {run.out}", None)
        return False
    except OSError as e:
        where = e.filename or run.out
        run.bag.error("OPG506", f"cannot write {where}: {e.strerror or e}", None)
        return False
    except Exception as e:
        run.bag.add(crash(e, f"{run.out / unit.folder} could not be written"))
        return False
    return True


def _remove_orphans(run: _Run, paths: Sequence[Path]) -> list[str]:
    """Remove the folders of operators whose spec is gone from a folder that was built, or has another `op:` now."""
    gone = [op for op, found in _generated(run.out) if op not in run.ops and _is_orphan(run, op, found, paths)]
    for op in gone:
        _carry_out(run, Unit(op, {}), partial(removal, run.out, op))
    return gone


def _is_orphan(run: _Run, op: str, manifest: Manifest, paths: Sequence[Path]) -> bool:
    """Whether the spec of an operator that no spec of this run has is gone, or has another `op:` now.

    Where its spec was is remembered; in a fresh checkout the label tells, if it names a folder.
    """
    folders = [p for p in paths if p.is_dir()]
    built = {os.path.abspath(spec.path): spec.label for spec in run.ops.values()}
    specs = tuple(origins(run.out, op))
    if specs:
        ours = (str(s) in built or any(s.is_relative_to(os.path.abspath(f)) for f in folders) for s in specs)
        return any(ours) and not any(s.exists() and str(s) not in built for s in specs)
    if manifest.spec in built.values():
        return True
    labels = [spec_label(f / "_").removesuffix("_") for f in folders]
    return any(f and manifest.spec.startswith(f) for f in labels) and _is_gone(manifest.spec, paths)


def _generated(out: Path) -> Iterator[tuple[str, Manifest]]:
    """The folders of operators in the output folder."""
    for path in sorted(out.glob(f"*/{MANIFEST}")):
        manifest = None if path.parent.is_symlink() else read_manifest(out, path.parent.name)
        if manifest is not None and manifest.spec:
            yield path.parent.name, manifest


def _is_gone(label: str, paths: Sequence[Path]) -> bool:
    """True where no file of the folders that were built has this label."""
    name = Path(label).name
    return not any(spec_label(p) == label for folder in paths if folder.is_dir() for p in folder.rglob(name))
