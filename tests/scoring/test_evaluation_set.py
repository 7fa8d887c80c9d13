"""A whole split: coverage before any judge call, resumption, suppressed averages, intervals and paired differences."""

import json

import pytest
from evaluation_data import EXAMPLE, dataset, good_judge, judged_evaluator, with_checksum, write_folder, write_review
from typer.testing import CliRunner

from litsynth.cli import app
from litsynth.errors import DataError, ScoringError
from litsynth.records import Completion
from litsynth.scoring.evaluation import METRICS, Evaluator
from litsynth.scoring.evaluation_set import compare, evaluate_all, read_evaluation
from litsynth.scoring.identifiers import ID_METRICS


def test_complete_submission_gives_records_averages_and_denominators(tmp_path):
    output = tmp_path / "evaluation.json"
    result = evaluate_all(write_folder(tmp_path / "mine"), judged_evaluator(good_judge()), output)
    assert json.loads(output.read_text()) == result
    assert [record["review_id"] for record in result["records"]] == [63, 64, 65]
    assert list(result["averages"]) == list(METRICS)
    # G = {101, 104}, L = {101}: precision 1, recall 1/2, in all three reviews.
    assert result["averages"]["inclusion_precision"]["value"] == 1.0
    recall = result["averages"]["inclusion_recall"]
    assert (recall["value"], recall["n"]) == (0.5, 3)
    assert (recall["low"], recall["high"]) == (None, None)  # equal values leave no interval, never one of zero width
    assert recall["reason"] != ""
    assert result["strict_averages"]["inclusion_recall"]["n"] == 3
    assert result["judge_usage"]["calls"] == 15


def test_undefined_values_leave_the_denominator(tmp_path):
    folder = write_folder(tmp_path / "mine", report=None)
    write_review(folder / "review_63", {**EXAMPLE, "retrieved_article_ids": [102], "included_article_ids": []}, None)
    result = evaluate_all(folder, Evaluator(dataset(), "json"), tmp_path / "out.json")
    assert result["averages"]["conditional_retention"]["n"] == 2
    assert result["averages"]["inclusion_recall"]["n"] == 3
    assert list(result["averages"]) == list(ID_METRICS)


def test_missing_duplicate_extra_and_reportless_reviews_are_named_before_any_judge_call(tmp_path):
    folder = write_folder(tmp_path / "mine", (63, 1))
    write_review(folder / "copy of 63", {**EXAMPLE, "review_id": 63}, "# R\n")
    write_review(folder / "review_65", {**EXAMPLE, "review_id": 65}, None)
    judge = good_judge()
    with pytest.raises(ScoringError) as caught:
        evaluate_all(folder, judged_evaluator(judge), tmp_path / "out.json")
    message = str(caught.value)
    assert "missing reviews: 64" in message
    assert "review 63 is there 2 times" in message
    assert "extra reviews, not in split 'test' of tiny: 1" in message
    assert "report.md does not exist" in message
    assert judge.requests == []
    assert list(tmp_path.glob("out*")) == []


@pytest.mark.parametrize("report", ["", "  \n"])
def test_empty_report_and_broken_results_are_named(report, tmp_path):
    folder = write_folder(tmp_path / "mine")
    (folder / "review_64" / "report.md").write_text(report)
    (folder / "review_65" / "results.json").write_text("{")
    with pytest.raises(ScoringError, match=r"review_64/report\.md is empty.*review_65/results\.json is not readable"):
        evaluate_all(folder, Evaluator(dataset(), "report"), tmp_path / "out.json")


def test_id_only_json_needs_no_report(tmp_path):
    result = evaluate_all(
        write_folder(tmp_path / "mine", report=None), Evaluator(dataset(), "json"), tmp_path / "out.json"
    )
    assert result["status"] == "succeeded"


def test_unknown_folder_and_empty_split_are_errors(tmp_path):
    with pytest.raises(ScoringError, match="is no folder"):
        evaluate_all(tmp_path / "nowhere", Evaluator(dataset(), "json"), tmp_path / "out.json")
    with pytest.raises(ScoringError, match="split 'tset' of tiny has no reviews"):
        evaluate_all(tmp_path, Evaluator(dataset(), "json"), tmp_path / "out.json", split="tset")


def test_one_failure_suppresses_the_averages_and_keeps_the_id_metrics_and_the_rest_is_not_asked_again(tmp_path):
    folder, output = write_folder(tmp_path / "mine"), tmp_path / "out.json"
    good = {"score": 3.5, "reason": "Plain."}
    answers = iter([good, Completion(status="failed", reason="server down"), good])
    failing = good_judge()
    plain = failing._answers
    failing._answers = lambda request: (
        next(answers) if "built as a systematic" in request.messages[1]["content"] else plain(request)
    )
    result = evaluate_all(folder, judged_evaluator(failing), output)
    assert result["status"] == "failed"
    assert result["averages"] is None
    assert result["strict_averages"] is None
    assert [(f["review_id"], f["type"]) for f in result["failures"]] == [(64, "JudgeError")]
    assert result["records"][1]["metrics"]["inclusion_recall"] == 0.5
    assert result["records"][1]["metrics"]["structure_quality"] is None
    again = good_judge()
    repeated = evaluate_all(folder, judged_evaluator(again), output)
    assert repeated["status"] == "succeeded"
    assert len(again.requests) == 5  # review 64 alone
    assert repeated["records"][0] == result["records"][0]
    assert len(evaluate_all(folder, judged_evaluator(again), output)["records"]) == 3
    assert len(again.requests) == 5


def test_changed_report_is_evaluated_anew(tmp_path):
    folder, output, judge = write_folder(tmp_path / "mine"), tmp_path / "out.json", good_judge()
    evaluate_all(folder, judged_evaluator(judge), output)
    (folder / "review_64" / "report.md").write_text("# Other\n\n## Final included studies\n- Corpus ID: 102\n")
    evaluate_all(folder, judged_evaluator(judge), output)
    assert len(judge.requests) == 20


def _two(tmp_path):
    a = evaluate_all(write_folder(tmp_path / "a"), Evaluator(dataset(), "report"), tmp_path / "a.json")
    folder = write_folder(tmp_path / "b")
    (folder / "review_64" / "report.md").write_text("# R\n\n## Final included studies\n- Corpus ID: 102\n")
    write_review(
        folder / "review_65",
        {**EXAMPLE, "review_id": 65, "retrieved_article_ids": [102]},
        "# R\n\n## Final included studies\n- Corpus ID: 102\n",
    )
    return a, evaluate_all(folder, Evaluator(dataset(), "report"), tmp_path / "b.json")


def test_paired_differences_use_the_reviews_where_both_are_defined(tmp_path):
    rows = {row["metric"]: row for row in compare(*_two(tmp_path))}
    # Recall of a: ½ everywhere; of b: ½, 0, 0. Differences 0, ½, ½, mean ⅓.
    assert rows["inclusion_recall"]["difference"] == pytest.approx(1 / 3)
    assert rows["inclusion_recall"]["n"] == 3
    assert 0 <= rows["inclusion_recall"]["low"] <= 1 / 3 <= rows["inclusion_recall"]["high"] <= 0.5
    assert (rows["conditional_retention"]["n"], rows["conditional_retention"]["only_a"]) == (2, 1)
    assert rows["structure_quality"]["difference"] is None


def test_different_data_are_not_compared_and_different_judges_leave_judge_metrics_out(tmp_path):
    a, b = _two(tmp_path)
    other = evaluate_all(tmp_path / "a", Evaluator(with_checksum(dataset(), "d" * 64), "report"), tmp_path / "c.json")
    with pytest.raises(ScoringError, match="different data"):
        compare(a, other)
    judged = evaluate_all(tmp_path / "a", judged_evaluator(good_judge()), tmp_path / "d.json")
    rows = {row["metric"]: row for row in compare(judged, b)}
    assert rows["structure_quality"]["reason"] == "the judges, prompts or encoders differ"
    assert rows["inclusion_recall"]["n"] == 3


def test_other_files_are_no_evaluation(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ScoringError, match="is no evaluation of a split"):
        read_evaluation(tmp_path / "x.json")
    with pytest.raises(DataError):
        read_evaluation(tmp_path / "y.json")


def _command(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr("litsynth.datasets.load", lambda name: dataset())


def test_commands_write_files_and_exit_with_1_on_failure(tmp_path, tiny):
    folder, output = write_folder(tmp_path / "mine"), tmp_path / "all.json"
    done = _command("evaluate-all", "--dataset", "tiny", "--results-dir", folder, "--id-only", "--output", output)
    assert done.exit_code == 0, done.output
    assert "inclusion_recall" in done.output
    assert json.loads(output.read_text())["reviews"] == 3
    same = _command("compare", output, output, "--output", tmp_path / "difference.json")
    assert same.exit_code == 0
    assert json.loads((tmp_path / "difference.json").read_text())["rows"][0]["difference"] == 0.0
    one = _command(
        "evaluate",
        "--dataset",
        "tiny",
        "--result",
        folder / "review_63" / "results.json",
        "--id-only",
        "--output",
        tmp_path / "one.json",
    )
    assert one.exit_code == 0
    (folder / "review_63" / "report.md").write_text("# Nothing here\n")
    one = _command(
        "evaluate",
        "--dataset",
        "tiny",
        "--result",
        folder / "review_63" / "results.json",
        "--id-only",
        "--output",
        tmp_path / "one.json",
    )
    assert one.exit_code == 1
    assert json.loads((tmp_path / "one.json").read_text())["status"] == "failed"
    failed = _command("evaluate-all", "--dataset", "tiny", "--results-dir", folder, "--id-only", "--output", output)
    assert failed.exit_code == 1
    assert json.loads(output.read_text())["averages"] is None
    compared = _command("compare", output, output)
    assert compared.exit_code == 0
    assert "1 of 3 reviews failed (63): what they lack is in no difference" in compared.stderr


def test_command_refuses_contradictions(tmp_path, tiny):
    common = [
        "evaluate-all",
        "--dataset",
        "tiny",
        "--results-dir",
        tmp_path,
        "--output",
        tmp_path / "o.json",
        "--id-only",
    ]
    assert "contradict" in str(_command(*common, "--judge-model", "x").exception)
    assert "unknown selection source" in str(_command(*common, "--selection-source", "xml").exception)


@pytest.mark.parametrize("change", [
    {"records": [1]}, {"records": [{}]}, {"evaluator": 1}, {"evaluator": {}}, {"records": "twice"},
    {"records": [{"review_id": 63, "metrics": {}}]}, {"records": {"metrics": {"inclusion_f1": "0.5"}}}])
def test_a_damaged_evaluation_is_named_and_not_compared(tmp_path, change):
    a, _ = _two(tmp_path)
    first = a["records"][0]
    if change.get("records") == "twice":
        change = {"records": [first, first]}
    elif isinstance(change.get("records"), dict):
        change = {"records": [{**first, "metrics": {**first["metrics"], **change["records"]["metrics"]}}]}
    (tmp_path / "damaged.json").write_text(json.dumps({**a, **change}))
    with pytest.raises(ScoringError, match=r"damaged\.json (is no evaluation|has a broken record|has two records)"):
        read_evaluation(tmp_path / "damaged.json")


@pytest.mark.parametrize("record", ["x", {"status": "succeeded"}, None])
def test_a_damaged_record_that_was_kept_is_named(tmp_path, record):
    folder, output = write_folder(tmp_path / "mine", report=None), tmp_path / "out.json"
    evaluate_all(folder, Evaluator(dataset(), "json"), output)
    log = tmp_path / "out.json.records.jsonl"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    log.write_text(json.dumps({**lines[0], "record": record}) + "\n")
    with pytest.raises(ScoringError, match=r"out\.json\.records\.jsonl: the record .* is broken"):
        evaluate_all(folder, Evaluator(dataset(), "json"), output)
