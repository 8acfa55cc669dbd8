"""Files are created, kept, updated, removed and protected as the manifest says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opgen.write.compare import Change, Status, Unit, compare, removal
from opgen.write.paths import OutsideError, inside, spec_label
from opgen.write.writer import commit, exclusive

UNIT = Unit("op", {"a.py": "a = 1\n", "csrc/a.cpp": "// a\n"}, "specs/op.yaml", "00", {"namespace": "opgen"})


def write(out: Path, unit: Unit, *, force: bool = False) -> dict[str, Status]:
    changes = compare(out, unit, "1")
    with exclusive(out):
        commit(out, changes, folder=unit.folder, pending=unit.pending, force=force)
    return statuses(changes)


def statuses(changes: tuple[Change, ...]) -> dict[str, Status]:
    return {c.path: c.status for c in changes}


def snapshot(out: Path) -> dict[str, tuple[int, int]]:
    return {p.name: (p.stat().st_mtime_ns, p.stat().st_ino) for p in out.rglob("*") if p.is_file()}


def test_first_write_creates_everything(tmp_path: Path) -> None:
    assert set(write(tmp_path, UNIT).values()) == {Status.CREATED}
    assert (tmp_path / "op/a.py").read_text() == "a = 1\n"
    assert (tmp_path / "op/csrc/a.cpp").read_text() == "// a\n"
    manifest = json.loads((tmp_path / "op/manifest.json").read_text())
    assert manifest["schema"] == 1
    assert manifest["spec"] == "specs/op.yaml"
    assert set(manifest["files"]) == {"a.py", "csrc/a.cpp"}


def test_second_write_touches_nothing(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    before = snapshot(tmp_path)
    assert set(write(tmp_path, UNIT).values()) == {Status.UNCHANGED}
    assert snapshot(tmp_path) == before


def test_no_temporary_file_and_no_journal_stay(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["op"]


def test_unmodified_files_are_updated_and_orphans_removed(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    assert write(tmp_path, Unit("op", {"a.py": "a = 2\n"})) == {
        "op/a.py": Status.UPDATED,
        "op/csrc/a.cpp": Status.REMOVED,
        "op/manifest.json": Status.UPDATED,
    }
    assert (tmp_path / "op/a.py").read_text() == "a = 2\n"
    assert not (tmp_path / "op/csrc").exists()


def test_hand_edit_is_found_and_force_overwrites(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    (tmp_path / "op/a.py").write_text("a = 99\n")
    new = Unit("op", {"a.py": "a = 2\n", "csrc/a.cpp": "// a\n"})
    assert write(tmp_path, new)["op/a.py"] is Status.EDITED
    assert (tmp_path / "op/a.py").read_text() == "a = 99\n"
    write(tmp_path, new, force=True)
    assert (tmp_path / "op/a.py").read_text() == "a = 2\n"


def test_edited_orphan_is_kept(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    (tmp_path / "op/csrc/a.cpp").write_text("// mine\n")
    assert statuses(compare(tmp_path, Unit("op", {"a.py": "a = 1\n"}), "1"))["op/csrc/a.cpp"] is Status.EDITED


def test_files_without_manifest_belong_to_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "op").mkdir()
    (tmp_path / "op/a.py").write_text("precious = True\n")
    assert statuses(compare(tmp_path, UNIT, "1"))["op/a.py"] is Status.EDITED


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 99}', '{"schema": 1, "files": []}'])
def test_damaged_manifest_is_repaired_when_files_are_right(tmp_path: Path, text: str) -> None:
    write(tmp_path, UNIT)
    (tmp_path / "op/manifest.json").write_text(text)
    assert write(tmp_path, UNIT)["op/manifest.json"] is Status.UPDATED
    assert set(write(tmp_path, UNIT).values()) == {Status.UNCHANGED}


def test_other_version_alone_is_no_drift(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    assert set(statuses(compare(tmp_path, UNIT, "2")).values()) == {Status.UNCHANGED}


def test_failed_staging_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, UNIT)
    real = Path.write_bytes

    def full_disk(path: Path, data: bytes) -> int:
        if path.name == "manifest.json":
            raise OSError(28, "No space left on device")
        return real(path, data)

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space"):
        write(tmp_path, Unit("op", {"a.py": "a = 2\n"}))
    assert (tmp_path / "op/a.py").read_text() == "a = 1\n"
    assert not list(tmp_path.glob(".opgen_cache/staged/*"))


def test_removal_of_an_operator(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    (tmp_path / "op/__pycache__").mkdir()
    (tmp_path / "op/__pycache__/a.pyc").write_bytes(b"")
    commit(tmp_path, removal(tmp_path, "op"), folder="op", pending=UNIT.pending)
    assert not (tmp_path / "op").exists()


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "..", "", ".", "a\\..\\x", "C:/x", "a\0b"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutsideError):
        inside(tmp_path, name)


def test_symbolic_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    out = tmp_path / "out"
    out.mkdir()
    (out / "op").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutsideError):
        compare(out, UNIT, "1")


def test_spec_label_is_relative_to_the_project(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    assert spec_label(tmp_path / "specs/a.yaml") == "a.yaml"
    (tmp_path / "pyproject.toml").touch()
    assert spec_label(tmp_path / "specs/a.yaml") == "specs/a.yaml"


LONG = "value = function(first_argument, second_argument)  # why\n"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (LONG.replace("\n", "\r\n"), Status.UNCHANGED),  # a checkout on Windows
        ("value = function(\n    first_argument,\n    second_argument,\n)  # why\n", Status.UPDATED),  # a formatter
        (LONG.replace("# why", "# why not"), Status.EDITED),
        (LONG.replace("second", "third"), Status.EDITED),
        (LONG.replace(")", ""), Status.EDITED),
    ],
)
def test_what_a_formatter_does_is_no_hand_edit(tmp_path: Path, text: str, status: Status) -> None:
    unit = Unit("op", {"a.py": LONG})
    write(tmp_path, unit)
    (tmp_path / "op/a.py").write_bytes(text.encode())
    assert statuses(compare(tmp_path, unit, "1"))["op/a.py"] is status


def test_line_ends_do_not_hide_whose_a_file_is(tmp_path: Path) -> None:
    write(tmp_path, UNIT)
    (tmp_path / "op/csrc/a.cpp").write_bytes(b"// a\r\n")
    assert write(tmp_path, Unit("op", {"csrc/a.cpp": "// b\n"}))["op/csrc/a.cpp"] is Status.UPDATED
