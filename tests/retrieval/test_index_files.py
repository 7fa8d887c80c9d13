import errno
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from retrieval_helpers import dataset_of, every_retriever

from litsynth.errors import DataError, IndexMismatchError
from litsynth.files import read_json, write_json
from litsynth.retrieval import SearchCorpus
from litsynth.retrieval.bm25 import Bm25Retriever
from litsynth.retrieval.hybrid import HybridRetriever
from litsynth.retrieval.index_files import MANIFEST, check_identity, read_manifest, write_index

CONTENT = {"kind": "test", "identity": {"a": 1}, "details": {}}


def write_number(folder: Path) -> None:
    (folder / "number").write_text("1")


def fail_full(folder: Path) -> None:
    (folder / "half").write_text("half")
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"No space left.*free some space.*nothing half-written"):
        write_index(tmp_path / "index", CONTENT, fail_full)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_keeps_the_older_index(tmp_path: Path) -> None:
    write_index(tmp_path / "index", CONTENT, write_number)
    with pytest.raises(DataError, match="could not be written"):
        write_index(tmp_path / "index", CONTENT, fail_full)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    assert read_manifest(tmp_path / "index", ["test"])["files"] == {"number": 1}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to mount a small disk")
def test_a_really_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("small disks cannot be mounted here")
    try:
        words = np.random.default_rng(1).integers(0, 10**9, size=(300, 40))
        texts = {row + 1: " ".join(f"word{number}" for number in line) for row, line in enumerate(words.tolist())}
        with pytest.raises(DataError, match=r"free some space"):
            Bm25Retriever(SearchCorpus(dataset_of(texts))).save(disk / "index")
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_folder_with_other_content_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(DataError, match="other content, which would be lost"):
        write_index(tmp_path, CONTENT, write_number)
    with pytest.raises(DataError, match="is a file"):
        write_index(tmp_path / "thesis.txt", CONTENT, write_number)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_what_is_no_whole_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"does not exist.*litsynth index"):
        read_manifest(tmp_path / "nowhere", ["test"])
    with pytest.raises(DataError, match=r"has no index\.json"):
        read_manifest(tmp_path, ["test"])
    write_index(tmp_path / "index", CONTENT, write_number)
    with pytest.raises(IndexMismatchError, match="of kind test, this retriever needs flat or hnsw"):
        read_manifest(tmp_path / "index", ["flat", "hnsw"])
    (tmp_path / "index" / "number").unlink()
    with pytest.raises(DataError, match="number is missing"):
        read_manifest(tmp_path / "index", ["test"])
    write_json(tmp_path / "index" / MANIFEST, {**read_json(tmp_path / "index" / MANIFEST), "format": 99})
    with pytest.raises(IndexMismatchError, match="format 99"):
        read_manifest(tmp_path / "index", ["test"])


def test_every_difference_is_named_with_both_sides(tmp_path: Path) -> None:
    check_identity(tmp_path, {"a": {"b": 1}}, {"a": {"b": 1}})
    both = r"a\.b is 1 in the index and 2 here; c is None in the index and 3 here"
    with pytest.raises(IndexMismatchError, match=both):
        check_identity(tmp_path, {"a": {"b": 1}}, {"a": {"b": 2}, "c": 3})


def test_a_hybrid_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bm25, flat = every_retriever({1: "aspirin", 2: "pain"}, tmp_path / "cache")[:2]
    hybrid = HybridRetriever("hybrid:bm25+flat", [bm25, flat])
    manifest = hybrid.save(tmp_path / "out" / "index")
    assert set(manifest["details"]["parts"]) == {"bm25", "flat"}
    assert "flat/vectors.npy" in read_manifest(tmp_path / "out" / "index", ["hybrid"])["files"]

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("numpy.save", full)
    with pytest.raises(DataError, match="free some space"):
        hybrid.save(tmp_path / "out" / "second")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["index"]


@pytest.mark.parametrize("broken", [{"files": []}, {"files": {"number": "1"}}, {"identity": 3}, {"details": None}])
def test_a_manifest_of_another_shape_is_damage(tmp_path: Path, broken: dict) -> None:
    write_index(tmp_path / "index", CONTENT, write_number)
    manifest = read_json(tmp_path / "index" / MANIFEST)
    write_json(tmp_path / "index" / MANIFEST, {**manifest, **broken})
    with pytest.raises(DataError, match="damaged or unreadable"):
        read_manifest(tmp_path / "index", ["test"])


def test_any_damage_within_a_file_of_the_same_size_is_an_error(tmp_path: Path) -> None:
    data = dataset_of({1: "alpha beta", 2: "beta gamma", 3: "delta"})
    Bm25Retriever(SearchCorpus(data)).save(tmp_path / "index")
    path = tmp_path / "index" / "params.index.json"
    path.write_text(path.read_text().replace('"k1"', '"kk"'))
    with pytest.raises(DataError, match="damaged or unreadable"):
        Bm25Retriever.load(tmp_path / "index", SearchCorpus(data))
