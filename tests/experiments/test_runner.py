"""The runner, through real processes: what it refuses, keeps, resumes and never repeats."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from litsynth import files
from litsynth.errors import ParameterError, RunError
from litsynth.experiments import locks, open_run, runner
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.runner import run_experiment
from litsynth.experiments.store import plan_run

pytestmark = pytest.mark.slow


def _table_bytes(directory: Path) -> bytes:
    return (directory / "tables" / "squares.parquet").read_bytes()


def test_run_finishes_says_so_and_is_not_repeated(house, tmp_path):
    first = house.litsynth("run", "tiny", "-p", "numbers=4,5", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "2 computed, 0 reused" in first.stdout
    assert "no model calls" in first.stdout
    (directory,) = house.run_directories()
    manifest = files.read_json(directory / "manifest.json")
    assert manifest["status"] == "finished"
    assert manifest["parameters"]["numbers"] == [4, 5]
    assert manifest["parameters_given"] == {"numbers": [4, 5]}
    assert manifest["tables"]["squares"]["rows"] == 2
    assert manifest["packages"]["python"]
    assert json.loads((directory / "notebook.ipynb").read_text())["cells"][-1]["outputs"]

    again = house.litsynth("run", "tiny", "-p", "numbers=[4, 5]", cwd=Path("/"))
    assert again.returncode == 0
    assert "finished already" in again.stdout
    assert house.marked() == [4, 5]

    whole = _table_bytes(directory)
    (directory / "tables" / "squares.parquet").unlink()  # what is gone is made anew, from the finished items
    mended = run_experiment("tiny", {"numbers": "4,5"})
    assert mended.manifest["sessions"][-1] | {"computed": 0, "reused": 2} == mended.manifest["sessions"][-1]
    assert _table_bytes(directory) == whole

    run_experiment("tiny", {"numbers": "4,5"}, force=True)
    assert house.marked() == [4, 5, 4, 5]
    assert _table_bytes(directory) == _table_bytes(directory.with_name(directory.name + ".previous"))


@pytest.mark.parametrize(("given", "words"), [
    ("numbr=1", ["unknown parameter", "'numbr'", "did you mean 'numbers'"]),
    ("numbers=abc", ["'numbers'", "'abc'", "whole number"]),
    ("scale=nan", ["'scale'", "finite number"]),
    ("exact=maybe", ["'exact'", "true or false"]),
    ("scale=-1", ["'scale'", "greater than 0"]),
])
def test_bad_parameters_stop_before_anything_starts(house, given, words):
    with pytest.raises(ParameterError) as caught:
        run_experiment("tiny", dict([given.split("=")]))
    for word in words:
        assert word in str(caught.value)
    assert not house.run_directories()
    with pytest.raises(ParameterError, match="did you mean 'tiny'"):
        run_experiment("tinny", {})


def test_bad_parameters_are_one_line_and_status_2(house):
    for given, words in (("numbr=1", "did you mean 'numbers'"), ("numbers", "-p name=value")):
        result = house.litsynth("run", "tiny", "-p", given)
        assert result.returncode == 2
        assert result.stderr.startswith("error: ")
        assert len(result.stderr.splitlines()) == 1
        assert words in result.stderr


def test_failing_cell_keeps_the_notebook_and_the_finished_items(house):
    failed = house.litsynth("run", "tiny", "-p", "break_at=3")
    assert failed.returncode == 1
    assert "Traceback" not in failed.stderr
    assert "cell 5 of tiny.ipynb failed" in failed.stderr  # papermill's injected parameters are a cell too
    assert "the number 3 cannot be squared today" in failed.stderr
    (directory,) = house.run_directories()
    assert str(directory / "notebook.ipynb") in failed.stderr
    assert "cannot be squared today" in (directory / "notebook.ipynb").read_text()
    assert files.read_json(directory / "manifest.json")["status"] == "failed"

    mended = run_experiment("tiny", {})
    assert mended.manifest["status"] == "finished"
    assert (mended.manifest["sessions"][-1]["computed"], mended.manifest["sessions"][-1]["reused"]) == (1, 2)
    assert house.marked() == [1, 2, 3]


def test_killed_half_way_resumes_to_the_same_bytes(house, tmp_path, monkeypatch):
    import tiny

    numbers = "numbers=" + ",".join(map(str, range(1, 21)))
    process = house.start("run", "tiny", "-p", numbers, "-p", "pause=0.25")
    deadline = time.monotonic() + 60
    while len(house.marked()) < 8 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    (directory,) = house.run_directories()

    listed = house.litsynth("runs")
    resumed = house.litsynth("run", "tiny", "-p", numbers)
    assert resumed.returncode == 0, resumed.stderr
    assert "tiny" in listed.stdout
    # The item being worked on when the kernel went down may be marked and not kept; no finished one is repeated.
    kept_before = 20 - int(resumed.stdout.split("items: ")[1].split()[0])
    assert 7 <= kept_before < 20
    marked = house.marked()
    assert sorted(set(marked)) == list(range(1, 21))
    assert len(marked) <= 21

    monkeypatch.setenv("LITSYNTH_DATA", str(tmp_path / "elsewhere"))
    uninterrupted = open_run("tiny", numbers=list(range(1, 21)))
    tiny.squares(uninterrupted)
    assert uninterrupted.id == directory.name
    assert _table_bytes(uninterrupted.directory) == _table_bytes(directory)


def test_second_process_is_refused_while_one_writes(house):
    process = house.start("run", "tiny", "-p", "pause=3")
    deadline = time.monotonic() + 60
    while not house.run_directories() and time.monotonic() < deadline:
        time.sleep(0.05)
    refused = house.litsynth("run", "tiny")
    assert refused.returncode == 1
    assert "is being written by another process (process " in refused.stderr
    assert "running" in house.litsynth("runs").stdout
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "3 computed" in out


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_a_request_to_end_keep_the_items_and_say_how_to_go_on(house, sent, status):
    process = house.start("run", "tiny", "-p", "pause=0.5")
    deadline = time.monotonic() + 60
    while not house.marked() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(sent)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "same command resumes" in err
    assert "Traceback" not in err
    (directory,) = house.run_directories()
    assert files.read_json(directory / "manifest.json")["status"] == "interrupted"
    assert not locks.is_held(directory / "run.lock"), "the kernel has ended too"


def test_a_kernel_that_dies_at_its_start_is_started_again(tmp_path):
    log, started = tmp_path / "kernel.log", []

    def execute(kernel):
        started.append(kernel)
        log.write_text("zmq.error.ZMQError: Address already in use\n")
        if len(started) <= deaths:
            raise RuntimeError("Kernel died before replying to kernel_info")

    deaths = 2
    runner._with_a_kernel(log, execute)
    assert len(started) == 3
    deaths = 9
    with pytest.raises(RunError, match=r"did not start in 3 attempts: zmq\.error\.ZMQError: Address already in use"):
        runner._with_a_kernel(log, execute)


def test_another_model_and_another_notebook_are_another_run(house, monkeypatch):
    plan = plan_run(get_experiment("tiny"), {})
    assert plan_run(get_experiment("tiny"), {"numbers": "1,2,3", "pause": "1"}).id == plan.id
    with monkeypatch.context() as other:
        other.setenv("TINY_ENCODER", "another")
        assert plan_run(get_experiment("tiny"), {}).id != plan.id
    notebook = house.folder / "notebooks" / "tiny.ipynb"
    notebook.write_text(notebook.read_text().replace("# Squares", "# Squares, explained"))
    retold = plan_run(get_experiment("tiny"), {})
    assert retold.id == plan.id
    assert retold.drawing != plan.drawing
    notebook.write_text(notebook.read_text().replace("[:2]", "[:1]"))
    assert plan_run(get_experiment("tiny"), {}).id != plan.id


@pytest.mark.parametrize("folder", ["", "notebooks"])
def test_plain_papermill_runs_and_refuses_unknown_names(house, folder):
    def papermill(*arguments: str) -> subprocess.CompletedProcess[str]:
        prefix = "notebooks/" if not folder else ""
        command = [sys.executable, "-m", "papermill", f"{prefix}tiny.ipynb", str(house.folder / "out.ipynb"),
                   "-k", "python3", "--no-progress-bar", *arguments]
        environment = {name: value for name, value in house.environment.items() if name != "LITSYNTH_HOME"}
        return subprocess.run(command, cwd=house.folder / folder, text=True, capture_output=True, timeout=120,
                              env=environment)

    good = papermill("-p", "scale", "2", "-p", "exact", "false", "-p", "numbers", "[7]")
    assert good.returncode == 0, good.stderr
    (directory,) = house.run_directories()
    parameters = files.read_json(directory / "manifest.json")["parameters"]
    assert parameters["scale"] == 2.0
    assert parameters["exact"] is False
    assert parameters["numbers"] == [7]

    if folder:
        return
    unknown = papermill("-p", "numbrs", "[7]")
    assert unknown.returncode != 0
    assert "did you mean 'numbers'" in unknown.stderr
    guessed = papermill("-p", "label", "007")
    assert guessed.returncode != 0
    assert "'label'" in guessed.stderr


def test_progress_is_quiet_and_new_prose_is_drawn_from_finished_items(house):
    numbers = "numbers=" + ",".join(map(str, range(200)))
    result = house.litsynth("run", "tiny", "-p", numbers)
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) <= 20
    assert len(result.stdout.splitlines()) < 8

    notebook = house.folder / "notebooks" / "tiny.ipynb"
    notebook.write_text(notebook.read_text().replace("# Squares", "# Squares, explained"))
    redrawn = run_experiment("tiny", {"numbers": numbers.partition("=")[2]})
    assert redrawn.manifest["sessions"][-1]["computed"] == 0
    assert redrawn.manifest["sessions"][-1]["reused"] == 200
    assert "explained" in (house.run_directories()[0] / "notebook.ipynb").read_text()
    assert len(house.marked()) == 200
