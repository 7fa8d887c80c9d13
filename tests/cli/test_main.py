"""The command line as a whole: quick help, plain errors, exit statuses."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

COMMAND = [sys.executable, "-c", "from litsynth.cli import main; main()"]


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})


def test_help_is_quick_because_nothing_heavy_is_imported():
    code = ("import sys, litsynth.cli; heavy = {'torch', 'sentence_transformers', 'faiss', 'datasets', 'sklearn', "
            "'openai', 'xllamacpp', 'pandas', 'matplotlib', 'scipy', 'papermill'} & set(sys.modules); "
            "assert not heavy, heavy")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    seconds = []
    for _ in range(3):
        start = time.monotonic()
        assert _run("--help").returncode == 0
        seconds.append(time.monotonic() - start)
    assert min(seconds) < 3  # one second on an idle machine; tests share theirs


def test_an_error_is_one_line_and_a_status():
    result = _run("run", "retrieval_swep")
    assert result.returncode == 2
    assert result.stderr.startswith("error: unknown experiment 'retrieval_swep'")
    assert "did you mean 'retrieval_sweep'" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in _run("run", "retrieval_swep", LITSYNTH_DEBUG="1").stderr


def test_unknown_commands_and_options_are_usage_errors():
    assert _run("rum").returncode == 2
    assert _run("run", "--fast").returncode == 2


def test_a_closed_pipe_ends_quietly():
    process = subprocess.Popen([*COMMAND, "experiments", "--markdown"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=60)
    assert b"Traceback" not in err
    assert b"BrokenPipe" not in err


def test_no_runs_yet_is_said(workspace):
    result = _run("runs", LITSYNTH_DATA=str(workspace / "data"))
    assert result.returncode == 0
    assert "no runs yet" in result.stdout


@pytest.mark.parametrize("markdown", [False, True])
def test_experiments_are_listed_with_types_and_defaults(markdown):
    text = _run("experiments", *(["--markdown"] if markdown else [])).stdout
    assert "retrieval_sweep" in text
    assert "list of whole number" in text
    assert "5, 10, 20, 50, 100, 200" in text


def test_paths_that_cannot_be_used_are_errors_in_every_command(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "records.csv").write_text("title,abstract,label\nA,b,1\n")
    result = _run("data", "import", str(tmp_path / "records.csv"), "--output", str(tmp_path / "file" / "below"),
                  "--labels", "label", "--question", "Does it work")
    assert result.returncode == 1
    assert result.stderr.startswith(f"error: {tmp_path / 'file'}: File exists")
    assert "To mend it" in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
