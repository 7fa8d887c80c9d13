import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner, Result

from litsynth.cli import retrieval
from litsynth.errors import DataError, IndexMismatchError, LitsynthError, ParameterError

TEXTS = {11: "aspirin for pain", 12: "placebo for pain", 13: "aspirin in trials", 14: "a review of aspirin for pain",
         15: "beta blockers", 16: "statins", 17: "insulin", 18: "opium"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set in the benchmark's layout: one review, eight articles, the review's own record among them."""
    place = tmp_path / "reviews"
    place.mkdir()
    pd.DataFrame([{"ID": 1, "Title": "Aspirin", "Research_Question": "Does aspirin help against pain?",
                   "Population": "Adults", "Intervention": "Aspirin", "Exposure": None, "Comparison": "Placebo",
                   "Outcome": "Pain", "search_start_date": None, "search_end_date": None,
                   "inclusion_criteria": "trials", "exclusion_criteria": "", "source_review_corpus_ids": [14],
                   "matched_corpus_ids": [11, 13], "Effect_Direction": "NR", "Key_Insights": "",
                   "split": "test"}]).to_parquet(place / "reviews.parquet")
    pd.DataFrame([{"ID": number, "title": text.title(), "abstract": text, "pmid": None, "pmc_id": None, "doi": None,
                   "authors": [], "journal": None, "year": 1990 + number, "sections": []}
                  for number, text in TEXTS.items()]).to_parquet(place / "corpus.parquet")
    return place


def call(*arguments: object) -> Result:
    app = typer.Typer()
    retrieval.register(app)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, (LitsynthError, SystemExit)):
        raise result.exception
    return result


def test_an_index_is_built_and_used(folder: Path, tmp_path: Path) -> None:
    made = call("index", "--dataset", folder, "--retriever", "bm25", "--output", tmp_path / "index")
    assert made.exit_code == 0, made.output
    assert "bm25 index of 8 articles" in made.stderr
    for output in (tmp_path / "found.json", "-"):
        found = call("retrieve", "--dataset", folder, "--retriever", "bm25", "--review-id", 1, "--top-k", 3,
                     "--index", tmp_path / "index", "--output", output)
        assert found.exit_code == 0, found.output
        result = json.loads(found.stdout if output == "-" else output.read_text())
        assert result["query"].startswith("Research Question: Does aspirin help against pain?. Population: Adults.")
        # Of the query's words, "placebo" stands in one article only, "pain" in two that may be found.
        assert [(row["rank"], row["corpus_id"]) for row in result["articles"]] == [(1, 12), (2, 11), (3, 13)]
        assert result["articles"][0]["year"] == 2002
        assert (result["excluded_ids"], result["retrieved"], result["note"]) == ([14], 3, "")
        assert result["index"]["identity"]["corpus"]["articles"] == 8
        assert len(result["dataset"]["checksum"]) == 64


def test_a_depth_beyond_the_corpus_is_cut_and_said(folder: Path) -> None:
    found = call("retrieve", "--dataset", folder, "--retriever", "bm25", "--review-id", 1, "--output", "-")
    assert "3 instead of 200 articles: the other 4 that the corpus has" in json.loads(found.stdout)["note"]


@pytest.mark.parametrize(("changes", "error", "problem"), [
    ({"--top-k": 0}, ParameterError, "k is 0"),
    ({"--review-id": 7}, ParameterError, "reviews has no review 7.*one of its 1 reviews, the nearest being 1"),
    ({"--retriever": "bm52"}, ParameterError, "did you mean 'bm25'"),
    ({"--dataset": "nowhere-at-all"}, LitsynthError, "nowhere-at-all"),
    ({"--index": "nowhere"}, DataError, "the index nowhere does not exist"),
    ({"--output": "/dev/null/found.json"}, DataError, "could not be written"),
])
def test_bad_input_is_named(folder: Path, changes: dict[str, object], error: type, problem: str) -> None:
    options = {"--dataset": folder, "--retriever": "bm25", "--review-id": 1, "--output": "-", **changes}
    result = call("retrieve", *(part for pair in options.items() for part in pair))
    assert isinstance(result.exception, error)
    with pytest.raises(error, match=problem):
        raise result.exception


def test_an_index_of_another_corpus_is_refused(folder: Path, tmp_path: Path) -> None:
    call("index", "--dataset", folder, "--retriever", "bm25", "--output", tmp_path / "index")
    corpus = pd.read_parquet(folder / "corpus.parquet")
    corpus.head(7).to_parquet(folder / "corpus.parquet")
    result = call("retrieve", "--dataset", folder, "--retriever", "bm25", "--review-id", 1, "--output", "-",
                  "--index", tmp_path / "index")
    assert isinstance(result.exception, IndexMismatchError)
    assert "8 in the index and 7 here" in str(result.exception)


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_a_hybrid_of_bm25_and_the_embedded_encoder_is_indexed_and_searched(
        folder: Path, tmp_path: Path, workspace: Path, kind: str) -> None:
    made = call("index", "--dataset", folder, "--retriever", "hybrid", "--output", tmp_path / "index", "--kind", kind)
    assert made.exit_code == 0, made.output
    assert f"minilm: {kind} index of 8 articles" in made.stderr
    assert "0.0% of the documents were longer than 256 tokens and were cut" in made.stderr
    assert {path.name for path in (tmp_path / "index").iterdir()} == {"bm25", "minilm", "index.json"}
    found = call("retrieve", "--dataset", folder, "--retriever", "hybrid", "--review-id", 1, "--output", "-",
                 "--index", tmp_path / "index")
    assert found.exit_code == 0, found.output
    result = json.loads(found.stdout)
    assert {row["corpus_id"] for row in result["articles"]} == set(TEXTS) - {14}
    assert {row["corpus_id"] for row in result["articles"][:3]} == {11, 12, 13}
    assert (workspace / "data" / "indexes" / "embeddings" / "minilm").is_dir()


def test_help_shows_examples() -> None:
    for command in ("index", "retrieve"):
        assert "Example: litsynth" in call(command, "--help").stdout
