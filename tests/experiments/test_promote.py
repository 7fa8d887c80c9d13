"""Promotion copies a finished run whole, without the paths of this machine, and changes nothing the second time."""

from __future__ import annotations

import gzip
import json
import subprocess

import pytest

from litsynth import files
from litsynth.errors import RunError
from litsynth.experiments import locks, manifest, open_run, promote


@pytest.fixture
def finished(house):
    import pandas as pd
    import tiny

    from litsynth.plots.style import figure

    run = open_run("tiny")
    tiny.squares(run)
    shown, (ax,) = figure(width=2, height=2)
    ax.plot([1, 2])
    run.save_figure("line", shown, pd.DataFrame({"y": [1, 2]}), alt="A line.")
    run.finish()
    text = (house.folder / "notebooks" / "tiny.ipynb").read_text()
    notebook = json.loads(text)
    notebook["metadata"]["papermill"] = {"output_path": str(house.folder / "out.ipynb")}
    notebook["cells"][0]["source"] = f"# Squares\n\nmade in {house.folder}"
    files.write_json(run.directory / "notebook.ipynb", notebook)
    return run


def _snapshot(folder):
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


def test_promotes_everything_once(house, finished):
    target, changed = promote.promote(finished.id[:6])
    assert changed
    assert target == house.folder / "data" / "results" / "tiny"
    facts = files.read_json(target / "manifest.json")
    assert facts["promoted_as"] == "tiny"
    assert (target / "tables" / "squares.parquet").exists()
    items = gzip.decompress((target / "items.jsonl.gz").read_bytes())
    assert items == (finished.directory / "items.jsonl").read_bytes()
    assert (house.folder / "figures" / "tiny" / "line.svg").exists()
    text = (target / "notebook.ipynb").read_text()
    assert str(house.folder) not in text
    assert "papermill" not in json.loads(text)["metadata"]
    assert not list(target.rglob("*.lock"))

    before = _snapshot(house.folder / "data" / "results") | _snapshot(house.folder / "figures")
    assert promote.promote(str(finished.directory)) == (target, False)
    assert _snapshot(house.folder / "data" / "results") | _snapshot(house.folder / "figures") == before


def test_another_name_and_large_items(house, finished, monkeypatch):
    monkeypatch.setattr(promote, "ITEMS_LIMIT", 10)
    target, _ = promote.promote(f"tiny/{finished.id}", "squares-of-three")
    assert not (target / "items.jsonl.gz").exists()
    assert files.read_json(target / "manifest.json")["items_file"].startswith("left out")
    with pytest.raises(RunError, match="no name for a result"):
        promote.promote(finished.id, "../elsewhere")


def test_refuses_what_is_not_finished_unknown_or_altered(house, finished):
    with pytest.raises(RunError, match="no run matches"):
        promote.promote("zzz")
    with pytest.raises(RunError, match="no run matches"):
        promote.promote("")
    table = finished.directory / "tables" / "squares.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:-1])
    with pytest.raises(RunError, match="not the table that the run recorded"):
        promote.promote(finished.id)
    table.write_bytes(whole)
    manifest.set_status(finished.directory, "partial", "cap")
    with pytest.raises(RunError, match="is partial"):
        promote.promote(finished.id)
    open_run("tiny")
    with pytest.raises(RunError, match="is running"):
        promote.promote(finished.id)
    locks.release(finished.directory / "run.lock")


@pytest.mark.parametrize("text", ["{nope", "[]", "null", "{}", '{"status": "finished"}'])
def test_one_damaged_manifest_hides_no_other_run(house, finished, text, capsys):
    other = open_run("tiny", numbers=[7])
    locks.release(other.directory / "run.lock")
    (other.directory / "manifest.json").write_text(text)
    assert [run["id"] for run in manifest.all_runs()] == [finished.id]
    assert f"passed over: the manifest {other.directory / 'manifest.json'} is damaged" in capsys.readouterr().err
    assert promote.promote(finished.id)[1]
    with pytest.raises(RunError, match="is damaged"):
        promote.promote(str(other.directory))
    with pytest.raises(RunError, match=r"is damaged.*delete it"):
        open_run("tiny", numbers=[7])


def test_an_empty_name_is_none(house, finished):
    with pytest.raises(RunError, match="'' is no name for a result"):
        promote.promote(finished.id, "")


def test_promoted_results_are_no_change_of_the_code(tmp_path):
    def git(*arguments):
        subprocess.run(["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments],
                       check=True, capture_output=True)

    for name in ("code.py", "data/results/a/manifest.json", "figures/a.svg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "m")
    for name, dirty in (("data/results/a/manifest.json", False), ("figures/a.svg", False), ("code.py", True)):
        (tmp_path / name).write_text("2")
        manifest.commit.cache_clear()
        assert manifest.commit(tmp_path)["dirty"] is dirty, name
    manifest.commit.cache_clear()
