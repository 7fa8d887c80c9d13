"""Runs on disk, in this process: items, retries, threads, stages, facts and the promise to finish."""

from __future__ import annotations

import threading
import time

import pandas as pd
import pytest

from litsynth import files
from litsynth.errors import ParameterError, RunError
from litsynth.experiments import locks, manifest, open_run
from litsynth.experiments.estimates import side_by_side
from litsynth.experiments.store import read_table
from litsynth.records.models import Usage


@pytest.fixture
def run(house):
    import tiny  # noqa: F401 - registers the experiment

    opened = open_run("tiny", numbers=[3, 1, 2])
    yield opened
    locks.release(opened.directory / "run.lock")


def test_same_parameters_same_run_and_presentation_is_no_part_of_it(run):
    again = open_run("tiny", numbers=[3, 1, 2], pause=0.5)
    assert again.id == run.id
    assert open_run("tiny", numbers=[1, 2, 3]).id != run.id
    with pytest.raises(ParameterError, match="did you mean 'numbers'"):
        open_run("tiny", number=[1])


def test_items_come_back_by_key_whatever_finished_first(run):
    def slow(number: int) -> dict:
        time.sleep(0.02 * number)
        return {"value": number, "thread": threading.current_thread().name != "MainThread"}

    work = [(f"key-{number}", lambda number=number: slow(number)) for number in (3, 1, 2)]
    items = run.compute(work, stage="one", workers=3)
    assert [item["key"] for item in items] == ["key-1", "key-2", "key-3"]
    assert all(item["thread"] for item in items)
    assert run.compute(work, stage="one") == items  # nothing is computed again


def test_nothing_to_do_is_normal(run):
    assert run.compute([], stage="empty") == []


def test_a_key_belongs_to_one_stage(run):
    run.compute([("a", dict)], stage="one")
    with pytest.raises(RunError, match="appears twice"):
        run.compute([("a", dict)], stage="two")
    with pytest.raises(RunError, match="appears twice"):
        run.compute([("b", dict), ("b", dict)], stage="one")


def test_an_item_without_an_answer_is_asked_again(run):
    replies = iter([{"retry": True, "reason": "no answer"}, {"value": 1}])
    first = run.compute([("a", lambda: next(replies))], stage="ask")
    assert first[0]["reason"] == "no answer"
    run.save_table("squares", pd.DataFrame({"number": [1]}))
    run.finish()
    assert manifest.read(run.directory)["status"] == "partial"
    again = open_run("tiny", numbers=[3, 1, 2])
    assert again.compute([("a", lambda: next(replies))], stage="ask")[0]["value"] == 1
    again.save_table("squares", pd.DataFrame({"number": [1]}))
    again.finish()
    assert manifest.read(run.directory)["status"] == "finished"


def test_an_error_may_say_how_the_run_ended(run):
    class CapReachedError(RunError):
        run_status = "partial"

    def stop() -> dict:
        raise CapReachedError("the spending cap is reached")

    with pytest.raises(CapReachedError):
        run.compute([("a", dict), ("b", stop)], stage="ask")
    stopped = manifest.read(run.directory)
    assert stopped["status"] == "partial"
    assert "spending cap" in stopped["reason"]
    assert stopped["items"] == 1


def test_finishing_needs_what_was_promised(run):
    with pytest.raises(RunError, match="lacks the tables squares"):
        run.finish()
    assert manifest.read(run.directory)["status"] == "failed"


def test_facts_and_cost_are_recorded(run, capsys):
    run.record(encoders={"minilm": "abc"}, usage=Usage(100, 20, estimated=True))
    run.record(encoders={"other": "def"}, uses_gold=True)
    run.save_table("squares", pd.DataFrame({"number": [1]}))
    run.finish()
    recorded = files.read_json(run.directory / "manifest.json")
    assert recorded["facts"]["encoders"] == {"minilm": "abc", "other": "def"}
    assert recorded["usage"]["cost_status"] == "unknown"
    assert recorded["usage"]["cost"] is None
    assert recorded["usage"]["tokens_estimated"] is True
    assert recorded["uses_gold"] is True
    assert "cost unknown" in capsys.readouterr().out


@pytest.mark.parametrize(("usage", "status"), [
    (None, "none"), (Usage(), "none"), (Usage(1, 1), "unknown"), (Usage(1, 1, cost=0.5), "known"),
    (Usage(1, 1, estimated=True, cost=0.5), "estimated"),
])
def test_cost_says_how_sure_it_is(usage, status):
    assert manifest.usage_facts(usage)["cost_status"] == status


def test_tables_are_read_back_or_missed_by_name(run):
    run.save_table("squares", pd.DataFrame({"number": [1, 2]}))
    assert list(run.table("squares")["number"]) == [1, 2]
    with pytest.raises(RunError, match=r"no table 'cubes'.*one of squares"):
        run.table("cubes")
    with pytest.raises(RunError, match="no name for a table"):
        run.save_table("../cubes", pd.DataFrame())
    (run.directory / "tables" / "squares.parquet").write_bytes(b"PAR1 cut off")
    with pytest.raises(RunError, match="cannot be read"):
        read_table(run.directory, "squares")


def test_a_run_nobody_writes_was_interrupted(run):
    assert manifest.read(run.directory)["status"] == "running"
    locks.release(run.directory / "run.lock")
    assert manifest.read(run.directory)["status"] == "interrupted"


def test_figures_are_exported_with_their_data(run):
    from litsynth.plots.style import figure

    shown, (ax,) = figure()
    ax.plot([1, 2])
    path = run.save_figure("line", shown, pd.DataFrame({"y": [1, 2]}), alt="A line from 1 to 2.")
    assert path.parent == run.directory / "figures"
    assert path.with_suffix(".csv").exists()


def test_estimates_stand_side_by_side_with_their_denominators():
    rows = [({"measure": "recall@5"}, "bm25", "0.5", "8 of 8"), ({"measure": "recall@5"}, "hybrid", "0.6", "8 of 8"),
            ({"measure": "recall@9"}, "bm25", "0.7", "8 of 8"), ({"measure": "recall@9"}, "hybrid", "–", "0 of 8"),
            ({"measure": "wss"}, "bm25", "0.1", "8 of 8")]
    table = side_by_side(rows)
    assert table.columns.tolist() == ["measure", "bm25", "hybrid", "reviews"]
    assert table.values.tolist() == [["recall@5", "0.5", "0.6", "8 of 8"],
                                     ["recall@9", "0.7", "–", "bm25: 8 of 8; hybrid: 0 of 8"],
                                     ["wss", "0.1", "–", "8 of 8"]]
    unnamed = side_by_side([({"m": "a"}, "x", "1", "5"), ({"m": "a"}, "y", "2", "7")], counted="n", named=False)
    assert unnamed.values.tolist() == [["a", "1", "2", "5 or 7"]]
    assert side_by_side([]).empty
