"""The released baselines: an invented release in the public layout, its errors, and the real one where it is there."""

import json

import pytest
from evaluation_data import dataset, write_folder
from typer.testing import CliRunner

from litsynth.cli import app
from litsynth.errors import DataError, ScoringError
from litsynth.scoring.evaluation import METRICS, Evaluator
from litsynth.scoring.evaluation_set import evaluate_all
from litsynth.scoring.identifiers import id_metrics
from litsynth.scoring.release import import_release
from litsynth.scoring.release_tables import configuration_table, difference_table, join_evaluation, read_published

NAMES = ("rag__one__bm25", "rag__two__bm25")
INCLUDED = {NAMES[0]: [101, 102], NAMES[1]: [101]}


def make_release(folder, reviews=(63, 64, 65)):
    """Write an invented release: G = {101, 104}, P = {101, 102, 103}."""
    for name in NAMES:
        for review in reviews:
            place = folder / "generation_results" / name / f"review_{review}"
            place.mkdir(parents=True)
            included = INCLUDED[name]
            (place / "report.md").write_text("## Included studies\n" + "".join(f"- Corpus ID: {i}\n" for i in included))
            (place / "results.json").write_text(
                json.dumps(
                    {
                        "review_id": review,
                        "system": "rag",
                        "model": name[5:8],
                        "retriever": "bm25",
                        "token_usage": {},
                        "behavior_counts": {},
                        "retrieved_article_ids": [101, 102, 103],
                        "included_article_ids": included,
                        "unmatched_included_article_ids": [],
                        "unmatched_included_entries": [],
                    }
                )
            )
            metrics = id_metrics({101, 104}, included, [101, 102, 103]) | {
                "inclusion_consistency": 0.5,
                "inclusion_consistency_skipped": False,
                "exclusion_consistency": 0.0,
                "exclusion_consistency_skipped": review == 63,
                "conclusion_direction_accuracy": 1,
                "insights_consistency": 0.25,
                "structure_quality": 3.0,
            }
            evaluation = folder / "evaluation_results" / name / f"review_{review}.json"
            evaluation.parent.mkdir(parents=True, exist_ok=True)
            evaluation.write_text(json.dumps({"status": "succeeded", "review_id": review, "metrics": metrics}))
    return folder


@pytest.fixture
def release(tmp_path):
    return make_release(tmp_path / "release")


def test_rows_and_checks(release):
    tables = import_release(release)
    assert len(tables.items) == 2 * 3 * len(METRICS)
    assert tables.reviews == (63, 64, 65)
    assert tables.checks["metrics_equal"].all()
    assert tables.checks["selection_equal"].all()
    skipped = tables.items[(tables.items.metric == "exclusion_consistency") & (tables.items.review == 63)]
    assert skipped.value.isna().all()
    assert (skipped.reason != "").all()


def test_table_has_means_intervals_ranks_denominators_and_published_means(release, tmp_path):
    published = tmp_path / "published.csv"
    published.write_text(
        "system,model,retriever,metric,macro_mean,reviews_counted\nrag,one,bm25,inclusion_precision,0.6,86\n"
    )
    table = configuration_table(import_release(release).items, published=published).set_index(
        ["metric", "configuration"]
    )
    first, second = table.loc[("inclusion_precision", NAMES[0])], table.loc[("inclusion_precision", NAMES[1])]
    # {101, 102} against {101, 104}: precision ½; {101}: 1.
    assert (first["mean"], second["mean"], first["n"]) == (0.5, 1.0, 3)
    assert (first["rank"], second["rank"], second["first"]) == (2.0, 1.0, 1.0)
    assert first["difference"] == pytest.approx(-0.1)
    assert first["published_n"] == 86
    assert table.loc[("exclusion_consistency", NAMES[0])]["n"] == 2
    # P∩G = {101}, kept by both: equal losses share the rank.
    assert table.loc[("post_retrieval_loss", NAMES[0])]["rank"] == 1.5


def test_every_two_configurations_are_compared_on_the_reviews_that_both_have(release):
    items = import_release(release).items
    table = difference_table(items)
    names = sorted(set(items["configuration"]))
    assert len(table) == len(METRICS) * len(names) * (len(names) - 1) // 2
    row = table[table["metric"] == "inclusion_recall"].iloc[0]
    grid = items[items["metric"] == "inclusion_recall"].pivot(index="review", columns="configuration", values="value")
    both = grid[[row["a"], row["b"]]].astype(float).dropna()
    assert row["n"] == len(both)
    assert row["value"] == pytest.approx((both[row["a"]] - both[row["b"]]).mean(), abs=1e-12)


def test_metric_that_does_not_follow_from_the_record_is_found(release):
    path = release / "evaluation_results" / NAMES[0] / "review_64.json"
    value = json.loads(path.read_text())
    value["metrics"]["screening_accuracy"] = 0.9
    path.write_text(json.dumps(value))
    checks = import_release(release).checks
    assert checks[~checks.metrics_equal][["review", "metrics_unequal"]].values.tolist() == [[64, "screening_accuracy"]]


def test_report_that_says_otherwise_is_found(release):
    (release / "generation_results" / NAMES[0] / "review_64" / "report.md").write_text(
        "## Included studies\n- Corpus ID: 103\n"
    )
    row = import_release(release).checks.query("review == 64").iloc[0]
    assert (row.selection_equal, row.only_ours, row.only_published) == (False, [103], [101, 102])


def test_own_system_joins_the_table(release, tmp_path):
    own = evaluate_all(write_folder(tmp_path / "mine"), Evaluator(dataset(), "report"), tmp_path / "own.json")
    items = join_evaluation(import_release(release).items, own, "mine")
    table = configuration_table(items).set_index(["metric", "configuration"])
    assert table.loc[("inclusion_precision", "mine")]["mean"] == 1.0
    assert table.loc[("structure_quality", "mine")]["n"] == 0
    assert (
        table.loc[("structure_quality", NAMES[0])]["rank_n"] == 3
    )  # a system without the metric does not empty the comparison
    with pytest.raises(ScoringError, match="in the table already"):
        join_evaluation(items, own, "mine")
    with pytest.raises(ScoringError, match="shares no review"):
        join_evaluation(items, {"records": []}, "none")


def _break(release, name):
    generated = release / "generation_results" / NAMES[0] / "review_64"
    evaluated = release / "evaluation_results" / NAMES[0] / "review_64.json"
    if name == "unreadable":
        (generated / "results.json").write_text("{")
    elif name == "another review":
        (generated / "results.json").write_text((generated.parent / "review_65" / "results.json").read_text())
    elif name == "no report":
        (generated / "report.md").unlink()
    elif name == "empty report":
        (generated / "report.md").write_text("\n")
    elif name == "one side":
        evaluated.unlink()
    elif name == "no metrics":
        evaluated.write_text("[]")
    elif name == "text metric":
        value = json.loads(evaluated.read_text())
        value["metrics"]["inclusion_f1"] = "high"
        evaluated.write_text(json.dumps(value))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("unreadable", r"review_64/results\.json is not readable JSON"),
        ("another review", r"review_64/results\.json is of review 65"),
        ("no report", r"review_64/report\.md does not exist"),
        ("empty report", r"review_64/report\.md is empty"),
        ("one side", "review_64 is on one side only"),
        ("no metrics", r"review_64\.json has no metrics"),
        ("text metric", "inclusion_f1 is 'high'"),
    ],
)
def test_broken_release_is_a_clear_error(release, name, message):
    _break(release, name)
    with pytest.raises(DataError, match=message):
        import_release(release)


def test_folder_that_is_no_release(tmp_path):
    with pytest.raises(DataError, match="has no generation_results"):
        import_release(tmp_path)


def test_bad_published_table(tmp_path):
    (tmp_path / "p.csv").write_text("system,model\nx,y\n")
    with pytest.raises(DataError, match="lacks the columns retriever, metric, macro_mean, reviews_counted"):
        read_published(tmp_path / "p.csv")
    with pytest.raises(DataError, match="does not exist"):
        read_published(tmp_path / "q.csv")


def test_command_writes_tables_whole_and_replaces_only_its_own(release, tmp_path):
    import pandas

    output = tmp_path / "out"
    arguments = ["import-release", str(release), "--output", str(output)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert sorted(p.name for p in output.iterdir()) == [
        "checks.parquet",
        "configurations.parquet",
        "differences.parquet",
        "items.parquet",
        "manifest.json",
    ]
    assert len(pandas.read_parquet(output / "items.parquet")) == 78
    (output / "notes.txt").write_text("mine")
    assert "holds other files: notes.txt" in str(CliRunner().invoke(app, arguments).exception)


@pytest.mark.shared
def test_real_release(shared_data):
    folder = shared_data / "metasyn_release"
    if not folder.is_dir():
        pytest.skip(f"the release is not at {folder}")
    tables = import_release(folder)
    assert len(tables.items) == 720 * 13
    assert tables.checks["metrics_equal"].all()
    # Agents that list titles only cannot be resolved without titles; the bars are for the other ten configurations.
    plain = tables.checks[~tables.checks.configuration.str.startswith(("gptresearcher", "opendeepresearch"))]
    assert plain.selection_equal.mean() >= 0.985
    assert plain.unmatched_equal.mean() >= 0.98
