"""Files that are whole or absent, strict JSON, paths and texts from outside."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litsynth import paths
from litsynth.errors import DataError, RunError
from litsynth.files import ItemLog, _owner, atomic_path, parse_json, read_json, write_json, write_text
from litsynth.text import printable


def test_a_pipe_or_device_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="is a device or pipe"):
        write_text(pipe, "x")
    assert pipe.is_fifo()


@pytest.mark.parametrize("target", ["", "/"])
def test_a_path_without_a_name_is_refused(target: str) -> None:
    with pytest.raises(DataError, match="names no file"):
        write_text(Path(target), "x")


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "real.json").write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "elsewhere" / "real.json")
    write_json(link, {"a": 1})
    assert link.is_symlink()
    assert json.loads((tmp_path / "elsewhere" / "real.json").read_text()) == {"a": 1}


def test_an_error_names_the_target_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    for target in (tmp_path / "folder", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match=r"Is a directory|File exists|Not a directory") as caught:
            write_text(target, "x")
        assert Path(caught.value.filename).name in (target.name, target.parent.name)
        assert not str(caught.value.filename).count("/.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True,
                          check=True).stdout.strip()
    here = _owner(int(dead))
    elsewhere = ("0" if here[0] != "0" else "1") + here[1:]
    left = {f".index.{here}.abc": False, f".index.{_owner(os.getpid())}.abc": True, f".index.{elsewhere}.abc": True,
            f".other.{here}.abc": True, ".index.notes": True}
    for name in left:
        (tmp_path / name / "index").mkdir(parents=True)
    write_text(tmp_path / "index", "x")
    assert {name: (tmp_path / name).exists() for name in left} == left


def test_two_writers_of_one_folder_leave_one_whole_folder(tmp_path: Path) -> None:
    failures = []

    def write(name: str) -> None:
        try:
            for _ in range(30):
                with atomic_path(tmp_path / "index") as folder:
                    folder.mkdir()
                    (folder / name).write_text(name)
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert len(list((tmp_path / "index").iterdir())) == 1


@pytest.mark.parametrize(("text", "says"), [
    ('{"a": 1, "b": {"c": 1, "c": 2}}', "'c' occurs twice"), ("[" * 100_000, "nested too deeply"),
    ('{"a": NaN}', "NaN is not JSON"), ("", "Expecting value"), ("1" * 5000, "digits")])
def test_json_is_strict(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=says):
        read_json(tmp_path / "x.json")


def test_nan_is_null_where_it_is_allowed() -> None:
    assert parse_json('{"a": NaN, "b": [Infinity, 1]}', nan_as_null=True) == {"a": None, "b": [None, 1]}


def test_a_full_disk_leaves_no_half_line_in_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ItemLog(tmp_path / "items.jsonl")
    log.append({"key": "a"})
    real_open = Path.open

    def cut_off(self: Path, *arguments: object, **options: object) -> object:
        handle = real_open(self, *arguments, **options)

        class Full:
            def __enter__(self) -> Full:
                return self

            def __exit__(self, *_: object) -> None:
                handle.close()

            def __getattr__(self, name: str) -> object:
                return getattr(handle, name)

            def write(self, line: bytes) -> int:
                if len(line) > 5:
                    return handle.write(line[:5])
                raise OSError(errno.ENOSPC, "No space left on device")
        return Full()

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", cut_off)
        with pytest.raises(OSError, match="No space"):
            log.append({"key": "b", "x": "yyy"[:2]})
    log.append({"key": "c"})
    assert [item["key"] for item in ItemLog(tmp_path / "items.jsonl").items()] == ["a", "c"]


def test_a_home_that_is_no_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITSYNTH_HOME", str(tmp_path / "nothing"))
    with pytest.raises(RunError, match=r"LITSYNTH_HOME is .* no folder"):
        paths.project_root()


@pytest.mark.parametrize("text", ["", " ", "a\0b", "x" * 5000, "~nobody-of-this-name/x"])
def test_odd_texts_are_no_paths(text: str) -> None:
    assert paths.existing(text) is None


def test_home_of_nobody_stays_as_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LITSYNTH_DATA", "~nobody-of-this-name/x")
    monkeypatch.chdir(tmp_path)
    assert paths.data_dir("runs") == tmp_path / "~nobody-of-this-name" / "x" / "runs"


@given(st.text())
def test_printable_text_cannot_steer_a_terminal_and_stays_the_same_json(text: str) -> None:
    shown = printable(text)
    assert all(mark in "\n\t" or mark.isprintable() or mark.isspace() for mark in shown)
    encoded = json.dumps(text, ensure_ascii=False)
    assert json.loads(printable(encoded)) == text
    shown.encode("utf-8")


def test_printable_escapes_what_hides_and_keeps_what_reads() -> None:
    # ESC colours, U+202E turns the reading direction round, U+009B is an ESC [ of its own, U+00A0 is a space.
    assert printable("a\x1b[31m\u202eb\x9b\x7f\r\n\tM\u00e9ni\u00e8re\u00a0x") == (
        "a\\u001b[31m\\u202eb\\u009b\\u007f\\r\n\tM\u00e9ni\u00e8re\u00a0x")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_names_the_file_that_had_no_room(tmp_path, code):
    """A failed write has no file name of its own, only a failed opening has."""
    with pytest.raises(OSError, match=r"out\.json") as caught, atomic_path(tmp_path / "out.json"):
        raise OSError(code, "no room")
    assert caught.value.filename == str(tmp_path / "out.json")
    with pytest.raises(OSError, match="refused") as other, atomic_path(tmp_path / "out.json"):
        raise OSError(errno.ECONNREFUSED, "refused")
    assert other.value.filename is None
