"""Data sets are fetched whole or not at all, verified, and explained when they cannot be."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import huggingface_hub
import huggingface_hub.errors
import pandas as pd
import pytest

from litsynth import datasets
from litsynth.datasets import hub
from litsynth.datasets.catalogue import source_of, sources
from litsynth.datasets.fetched import read_fetched
from litsynth.errors import DataError, ParameterError
from litsynth.files import sha256_file

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A small data set in the hub's layout."""
    folder = tmp_path / "remote"
    for split, review_id in (("train", 1), ("test", 2)):
        path = folder / "reviews" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame([{"ID": review_id, "Research_Question": "Q?", "matched_corpus_ids": [11]}]).to_parquet(path)
    (folder / "corpus").mkdir()
    pd.DataFrame([{"ID": 11, "title": "T", "abstract": "A"}]).to_parquet(
        folder / "corpus" / "train-00000-of-00001.parquet"
    )
    (folder / "README.md").write_text("A data set.")
    return folder


def _serve(monkeypatch: pytest.MonkeyPatch, folder: Path, *, wrong_sum: bool = False) -> list[dict[str, Any]]:
    """Let the hub client copy from a local folder instead; returns the calls it got."""
    calls: list[dict[str, Any]] = []

    def dataset_info(self: object, repo_id: str, *, revision: str, files_metadata: bool) -> Any:
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        siblings = [SimpleNamespace(rfilename=name, lfs=None if name == "README.md" else SimpleNamespace(
            sha256="0" * 64 if wrong_sum else sha256_file(folder / name))) for name in names]  # fmt: skip
        return SimpleNamespace(sha=COMMIT, siblings=siblings)

    def snapshot_download(repo_id: str, *, local_dir: Path, **options: Any) -> str:
        calls.append({"repo_id": repo_id, **options})
        shutil.copytree(folder, local_dir, dirs_exist_ok=True)
        (Path(local_dir) / ".cache").mkdir(exist_ok=True)
        return str(local_dir)

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    return calls


def test_a_hub_data_set_is_fetched_recorded_and_loaded(
    workspace: Path, snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _serve(monkeypatch, snapshot)
    folder = hub.fetch("metasyn", revision="v1")
    assert folder == workspace / "data" / "raw" / "metasyn"
    assert calls[0]["revision"] == COMMIT
    assert calls[0]["repo_type"] == "dataset"
    record = read_fetched(folder)
    assert record is not None
    assert record.revision == COMMIT
    assert set(record.files) == {
        "README.md", "corpus/train-00000-of-00001.parquet", "reviews/test-00000-of-00001.parquet",
        "reviews/train-00000-of-00001.parquet",
    }  # fmt: skip
    data = datasets.load("metasyn")
    assert (data.name, data.revision) == ("metasyn", COMMIT)
    assert data.reviews[2].split == "test"
    assert [path.name for path in folder.parent.iterdir()] == ["metasyn"]
    hub.fetch("metasyn")
    assert len(calls) == 1, "what is here already is checked, not fetched again"
    hub.fetch("metasyn", force=True)
    assert len(calls) == 2


def test_any_hub_id_works(workspace: Path, snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _serve(monkeypatch, snapshot)
    folder = hub.fetch("someone/reviews@v2")
    assert folder.name == "someone--reviews"
    assert datasets.load("someone/reviews").gold[1].included_ids == {11}


def test_another_format_is_converted(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote = tmp_path / "csv"
    remote.mkdir()
    (remote / "tasks.csv").write_text('ID,Research_Question,matched_corpus_ids,split\n1,Q?,"[11, 12]",test\n')
    (remote / "pool.csv").write_text("ID,title,abstract\n11,T,A\n12,U,\n")
    (remote / "README.md").write_text(
        "---\nconfigs:\n- config_name: reviews\n  data_files: tasks.csv\n"
        "- config_name: corpus\n  data_files: pool.csv\n---\n"
    )
    _serve(monkeypatch, remote)
    hub.fetch("someone/csv")
    assert datasets.load("someone/csv").gold[1].included_ids == {11, 12}


@pytest.mark.parametrize("damage", ["altered", "emptied", "removed"])
def test_a_damaged_file_is_named_with_the_expected_sum(
    damage: str, workspace: Path, snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _serve(monkeypatch, snapshot)
    path = hub.fetch("metasyn") / "corpus" / "train-00000-of-00001.parquet"
    expected = sha256_file(path)
    if damage == "altered":
        path.write_bytes(path.read_bytes() + b"x")
    elif damage == "emptied":
        path.write_bytes(b"")
    else:
        path.unlink()
    message = rf"{path.name} .*{ {'altered': 'was altered', 'emptied': 'is empty', 'removed': 'is missing'}[damage] }"
    for action in (lambda: datasets.load("metasyn"), lambda: hub.fetch("metasyn")):
        with pytest.raises(DataError, match=message.replace(" .*", " ")) as caught:
            action()
        assert expected in str(caught.value)
        assert "litsynth data fetch metasyn --force" in str(caught.value)
    hub.fetch("metasyn", force=True)
    assert datasets.load("metasyn").corpus


def test_a_download_with_a_wrong_sum_never_appears(
    workspace: Path, snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _serve(monkeypatch, snapshot, wrong_sum=True)
    with pytest.raises(DataError, match="was altered"):
        hub.fetch("metasyn")
    assert not (workspace / "data" / "raw" / "metasyn").exists()


def test_an_interrupted_download_goes_on_and_old_files_do_not_stay(
    workspace: Path, snapshot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _serve(monkeypatch, snapshot)
    staging = workspace / "data" / "raw" / ".metasyn.partial"
    (staging / "reviews").mkdir(parents=True)
    (staging / "reviews" / "old-00000-of-00001.parquet").write_text("from another revision")
    assert sorted(path.name for path in (hub.fetch("metasyn") / "reviews").iterdir()) == [
        "test-00000-of-00001.parquet", "train-00000-of-00001.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize("error", [
    OSError("no route"), httpx.ConnectError("no route"), huggingface_hub.errors.OfflineModeIsEnabled("no route"),
])  # fmt: skip
def test_offline_says_what_to_do(workspace: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", fail)
    with pytest.raises(
        DataError, match=r"THUIR/MetaSyn at revision 'main' could not be fetched \(no route\).*go online"
    ):
        hub.fetch("metasyn")


def test_a_data_set_that_is_not_here_says_how_to_fetch_it(workspace: Path) -> None:
    with pytest.raises(DataError, match=r"'metasyn' is not on this machine .*raw/metasyn.*litsynth data fetch metasyn"):
        datasets.load("metasyn")
    with pytest.raises(DataError, match=r"there is no folder 'someone/reviews', .*litsynth data fetch someone/reviews"):
        datasets.load("someone/reviews")


def _repository(folder: Path) -> str:
    """Make a repository with one commit and return the commit."""

    def git(*arguments: str) -> str:
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    for name, text in (("README.md", "r"), ("generation_results/a/review_1/report.md", "x"), ("src/code.py", "c")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git("init", "--quiet", "--initial-branch=main")
    git("add", ".")
    git("commit", "--quiet", "-m", "release")
    git("tag", "v1")
    return git("rev-parse", "HEAD")


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    """A local repository that stands for the release of the catalogue."""
    folder = tmp_path / "repository"
    folder.mkdir()
    commit = _repository(folder)
    entry = source_of("metasyn-release")
    monkeypatch.setattr(hub, "source_of", lambda name: type(entry)(**{**vars(entry), "location": str(folder)}))
    return folder, commit


@pytest.mark.parametrize("revision", ["main", "v1", None, "commit"])
def test_a_git_release_is_fetched_at_a_revision(
    revision: str | None, workspace: Path, release: tuple[Path, str]
) -> None:
    repository, commit = release
    subprocess.run(["git", "-C", str(repository), "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
    folder = hub.fetch("metasyn-release", revision=commit if revision == "commit" else revision)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert names == ["README.md", "fetched.json", "generation_results/a/review_1/report.md"]
    record = read_fetched(folder)
    assert record is not None
    assert record.revision == commit


def test_a_revision_that_does_not_exist(workspace: Path, release: tuple[Path, str]) -> None:
    with pytest.raises(DataError, match=r"at revision 'v9' could not be fetched"):
        hub.fetch("metasyn-release", revision="v9")
    with pytest.raises(DataError, match="is no revision"):
        hub.fetch("metasyn-release", revision="--upload-pack=x")
    assert not (workspace / "data" / "raw" / "metasyn-release").exists()


def test_outputs_are_no_data_set(workspace: Path, release: tuple[Path, str]) -> None:
    hub.fetch("metasyn-release")
    with pytest.raises(DataError, match="holds released outputs, no reviews"):
        datasets.load("metasyn-release")


def test_the_sample_needs_no_fetching(workspace: Path) -> None:
    with pytest.raises(DataError, match="part of the repository"):
        hub.fetch("sample")


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(ParameterError, match="did you mean 'metasyn'"):
        datasets.load("metasin")


def test_the_catalogue_is_complete() -> None:
    known = sources()
    assert {"sample", "metasyn", "metasyn-release", "litbench"} <= known.keys()
    for source in known.values():
        assert source.licence
        assert source.description
        assert source.citation
        assert source.kind == "folder" or source.revision


@pytest.mark.parametrize(("text", "message"), [
    ("[a]\nkind = 'hub'", r"\[a\] lacks location, shape, licence, description"),
    ("[a]\nkind = 'ftp'\nlocation = 'x'\nshape = 'reviews'\nlicence = 'x'\ndescription = 'x'",
     r"kind is 'ftp'.*folder or hub or git"),
    ("[a]\nsiz = 3", r"\[a\] has unknown keys: siz"), ("a = 3", r"\[a\] has unknown keys: 3"),
    ("[", "not a readable catalogue"),
])  # fmt: skip
def test_a_broken_catalogue_names_the_entry(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "SOURCES.toml").write_text(text)
    with pytest.raises(DataError, match=message):
        sources(tmp_path / "SOURCES.toml")
