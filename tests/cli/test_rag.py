"""`litsynth rag`: what it writes is what `litsynth evaluate` reads, and nothing half-written stays."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from litsynth.cli import app
from litsynth.errors import LitsynthError, ModelError
from litsynth.experiments.oracle_rag import single
from litsynth.files import read_json
from litsynth.llm.scripted import ScriptedModel
from litsynth.records import Completion


class Door(ScriptedModel):
    """A scripted model that opens and closes like the real door."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def call(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    if isinstance(done.exception, LitsynthError):
        raise done.exception
    return done.exit_code, done.output


def rag(folder: Path, *more: str) -> tuple[int, str]:
    return call("rag", "--dataset", "sample", "--retriever", "bm25", "--review-id", "1", "--top-k", "10",
                "--output", str(folder), *more)


def evaluate(folder: Path, source: str) -> dict:
    target = folder / f"{source}.json"
    call("evaluate", "--dataset", "sample", "--result", str(folder / "results.json"), "--selection-source", source,
         "--id-only", "--output", str(target))
    return read_json(target)


@pytest.fixture
def use_model(monkeypatch):
    """Let the command find this model behind every profile."""
    def use(answers, **options):
        model = Door(answers, **options)
        monkeypatch.setattr(single, "open_model", lambda profile: model)
        return model
    return use


def lists_two(request) -> str:
    """Answer with a report that includes the first two candidates of the prompt and an identifier out of thin air."""
    ids = re.findall(r"^\d+\. Corpus ID: (\d+)", request.messages[1]["content"], re.MULTILINE)[:2]
    entries = "".join(f"- Some title (Corpus ID: {number})\n" for number in [*ids, "5"])
    return f"# Report\n\n## Final included studies\n\n{entries}"


def test_a_models_report_is_evaluated_alike_from_report_and_json(tmp_path, use_model):
    model = use_model(lists_two)
    code, said = rag(tmp_path)
    assert code == 0
    assert "2 of 10 candidates included, 1 unmatched" in said
    results = read_json(tmp_path / "results.json")
    shown = [article["corpus_id"] for article in results["retrieved_articles"]]
    assert results["included_article_ids"] == shown[:2]
    assert results["unmatched_included_article_ids"] == [5]
    assert results["retrieved_article_ids"] == shown
    assert [article["rank"] for article in results["retrieved_articles"]] == list(range(1, 11))
    assert (results["mode"], results["uses_gold"], results["model"]) == ("actual", False, "scripted")
    assert results["query"].startswith("Research Question: ")
    assert results["token_usage"]["total_tokens"] > 0
    assert results["prompt_version"] == "metasyn-one-pass/1"
    assert results["truncated"]["mode"] == "none"
    assert len(model.requests) == 1
    assert (tmp_path / "report.md").read_text() == lists_two(model.requests[0])
    one, other = evaluate(tmp_path, "report"), evaluate(tmp_path, "json")
    assert one["metrics"] == other["metrics"]
    assert one["status"] == other["status"] == "succeeded"


def test_the_extractive_system_needs_no_model_and_says_where_its_numbers_are_from(tmp_path):
    code, said = rag(tmp_path, "--system", "extractive", "--mode", "oracle")
    assert code == 0
    assert "label-informed" in said
    results = read_json(tmp_path / "results.json")
    assert results["uses_gold"] is True
    assert results["token_usage"] is None
    assert len(results["details"]["calibration"]["reviews"]) == 16, "all train reviews of the sample, no other"
    assert evaluate(tmp_path, "report")["metrics"] == evaluate(tmp_path, "json")["metrics"]
    assert evaluate(tmp_path, "json")["metrics"]["retrieval_recall"] == 1.0, "review 1 has 8 studies, 10 are shown"


@pytest.mark.parametrize("answer", ["I cannot write that.", Completion("truncated", text="# Report", reason="cut off")])
def test_a_report_without_a_list_is_kept_and_is_no_empty_selection(tmp_path, use_model, answer):
    use_model([answer])
    code, said = rag(tmp_path)
    assert code == 1
    assert "unparsed" in said
    results = read_json(tmp_path / "results.json")
    assert results["status"] == "unparsed"
    assert "included_article_ids" not in results
    assert (tmp_path / "report.md").exists()
    for source in ("report", "json"):
        record = evaluate(tmp_path, source)
        assert record["status"] == "failed"
        assert record["metrics"]["inclusion_recall"] is None


def test_a_model_that_gives_no_answer_leaves_nothing(tmp_path, use_model):
    use_model([Completion("failed", reason="the connection failed")])
    with pytest.raises(ModelError, match="the connection failed"):
        rag(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_does_not_fit_is_an_error_or_a_recorded_cut(tmp_path, use_model):
    use_model(lists_two, context_window=7000)
    with pytest.raises(ModelError, match="does not fit the context window of 7000"):
        rag(tmp_path / "none")
    code, said = rag(tmp_path / "cut", "--truncate", "abstracts")
    assert code == 0
    record = read_json(tmp_path / "cut" / "results.json")["truncated"]
    assert record["characters_cut"] > 0
    assert f"cut to fit: {record['characters_cut']} characters of {record['abstracts_cut']} abstracts" in said


@pytest.mark.parametrize(("more", "words"), [
    (("--mode", "orcale"), "did you mean 'oracle'"), (("--system", "extractiv"), "did you mean 'extractive'"),
    (("--truncate", "abstract"), "did you mean 'abstracts'"),
    (("--system", "extractive", "--model", "local"), "uses none"),
    (("--review-id", "999"), "has no review 999"), (("--model", "lokal"), "did you mean 'local'"),
    (("--retriever", "bm52"), "did you mean 'bm25'"),
])
def test_bad_options_are_named(tmp_path, more, words):
    with pytest.raises(LitsynthError) as caught:
        rag(tmp_path / "out", *more)
    assert words in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_results_are_strict_json(tmp_path, use_model):
    use_model(lists_two)
    rag(tmp_path)
    results = json.loads((tmp_path / "results.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert (results["review_id"], results["status"]) == (1, "scored")
    assert results["retrieved_article_ids"]
