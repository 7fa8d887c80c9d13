"""Judge concordance: its notebook by papermill, published numbers, corrections with known truth, degenerate input."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from litsynth.errors import DataError, ParameterError
from litsynth.experiments.judge_concordance import comparing, correction, published, rated, reading, verdict_files
from litsynth.experiments.judge_concordance.sampling import draw_sample
from litsynth.experiments.judge_concordance.verdicts import Verdicts, load_verdicts, locate
from litsynth.experiments.parameters import get_experiment
from litsynth.experiments.runner import run_experiment
from litsynth.records import Dataset

JUDGES = ("a", "b", "c")


def planted(number: int = 240, seed: int = 7) -> pd.DataFrame:
    """A verdict table whose truth is known: three judges who err independently, one of whom often does not vote."""
    rng = np.random.default_rng(seed)
    truth = rng.random(number) < 0.5
    condition = np.array(["T1", "T2", "T4"])[np.arange(number) % 3]
    table = pd.DataFrame({
        "item": [f"cell/{i:04d}" for i in range(number)], "condition": condition,
        "domain": np.array(["results stated", "methods stated"])[np.arange(number) % 2], "system": "sys",
        "paper": [f"P{i // 4}" for i in range(number)], "reference": truth.astype(int),
        "question": [f"Question {i}?" for i in range(number)], "reference_fact": "A fact.", "quote": "A quote.",
        "response": [f"Answer {i} <script>alert({i})</script>" for i in range(number)]})
    for name, error in zip(JUDGES, (0.05, 0.1, 0.2), strict=True):
        votes = np.where(rng.random(number) < error, ~truth, truth).astype(float)
        votes[(rng.random(number) < 0.15) & (name == "c")] = np.nan
        table[f"judge_{name}"] = votes
    return table


@pytest.fixture
def verdict_file(tmp_path: Path) -> Path:
    path = tmp_path / "verdicts.csv"
    planted().to_csv(path, index=False)
    return path


class Fake:
    """A run that keeps tables in memory."""

    def __init__(self, **parameters) -> None:
        defaults = get_experiment("judge_concordance").parse({"resamples": 200, **parameters})
        self.parameters, self.tables, self.facts, self.dataset = defaults, {}, {}, None

    def save_table(self, name, frame):
        self.tables[name] = frame

    def record(self, **facts):
        self.facts |= facts

    def compute(self, work, stage):
        return [{**task(), "key": key} for key, task in work]


def verdicts_of(table: pd.DataFrame, tmp_path: Path) -> Verdicts:
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    return load_verdicts(str(path), None)


def rated_by(made: Verdicts, human: pd.Series) -> pd.DataFrame:
    """All decided cells, rated by a human as given by item."""
    cells = made.cells[made.cells["panel"].notna()]
    drawn = draw_sample(cells, strata=[], size=10_000, allocation="equal", seed=0)
    said = pd.array(human.reindex(drawn["item"]), dtype="Int64")
    return drawn.assign(human=said, status=np.where(said.isna(), "unrated", "rated"), comment="")


@pytest.mark.slow
def test_the_notebook_runs_on_a_verdict_file(verdict_file, workspace):
    done = run_experiment("judge_concordance", {"dataset": "null", "verdicts": str(verdict_file), "sample_size": "60",
                                                "resamples": "200"})
    assert done.manifest["status"] == "finished"
    tables = {path.stem: pd.read_parquet(path) for path in (done.directory / "tables").glob("*.parquet")}
    assert set(tables) == set(get_experiment("judge_concordance").tables)
    assert len(tables["sample"]) == 60
    assert tables["strata"]["drawn"].sum() == 60
    pair = tables["agreement"].query("source == 'this run' and measure == 'agreement'").iloc[0]
    sample = tables["sample"].dropna(subset=["panel", "human"])
    assert pair["value"] == pytest.approx((sample["panel"] == sample["human"]).mean(), abs=1e-12)
    assert pair["comparison"] == "panel against simulated human"
    differ = tables["disagreements"]
    assert len(differ) == (sample["panel"] != sample["human"]).sum()
    assert "response" not in differ.columns, "promoted tables hold no text of answers"
    written = (done.directory / "disagreements.html").read_text()
    assert "<script>" not in written
    assert "&lt;script&gt;" in written
    notebook = (done.directory / "notebook.ipynb").read_text()
    assert "SIMULATED human ratings" in notebook
    assert "show_texts" in notebook
    assert "alert(" not in notebook, "answers of real data stay out of the notebook unless asked for"
    for path in (done.directory / "figures").glob("*.alt.txt"):
        assert len(path.read_text()) > 40
    folder = next((workspace / "data" / "ratings").iterdir())
    text = (folder / "sample.csv").read_text(encoding="utf-8-sig")
    assert "T4" not in text
    # A human's file for the same sample is another run, and is read back whole.
    ids = pd.read_csv(folder / "sample.csv", encoding="utf-8-sig")["blinded_id"]
    ratings = workspace / "ratings.csv"
    pd.DataFrame({"blinded_id": ids, "rating": ["1", "0", "?"] * 20}).to_csv(ratings, index=False)
    run = Fake(dataset="null", verdicts=str(verdict_file), ratings=str(ratings), sample_size=60)
    made = rated.read_verdicts(run)
    read = rated.rate(run, made, rated.draw(run, made))
    assert rated.account(run, read) == (
        "Ratings of ratings.csv. 60 cells drawn: 40 rated, 20 where the rater could not tell, 0 left blank, 0 absent "
        "from the file.")
    assert run.facts["human"] == "human"


class TestPublished:
    def test_numbers_are_derived_again_from_their_public_inputs(self):
        run = Fake()
        table = published.published_rederived(run).set_index("quantity")
        single = table.loc["correct refusals, single paper, N = 50"]
        # Wilson's interval of 574 of 605 as statsmodels 0.14 prints it (proportion_confint, method="wilson").
        wanted = (0.948760, 0.928188, 0.963670)
        assert (single["value"], single["low"], single["high"]) == pytest.approx(wanted, abs=1e-6)
        pairs = table.loc["correct refusals, two papers, N = 1, 10 and 50"]
        assert (pairs["value"], pairs["high"], pairs["n"]) == (1.0, 1.0, 390)
        assert pairs["low"] == pytest.approx(390 / (390 + 1.959964**2), abs=1e-6)  # Wilson's bound at n of n
        kappa = table.loc["Cohen's κ of panel and clinician"]
        # By hand: 137/154 agree; margins 93, 61 and 86, 68; chance (93·86 + 61·68)/154²; κ = 0.7737.
        chance = (93 * 86 + 61 * 68) / 154**2
        assert kappa["value"] == pytest.approx((137 / 154 - chance) / (1 - chance), abs=1e-12)
        assert (round(kappa["value"], 3), round(kappa["low"], 2), round(kappa["high"], 2)) == (0.774, 0.67, 0.87)
        assert table["agrees"].dropna().all()
        assert table["agrees"].isna().sum() == 1

    def test_the_published_table_has_the_published_margins(self):
        panel, human = published.published_ratings()
        assert (len(panel), sum(panel), sum(human)) == (154, 93, 86)


class TestVerdictFiles:
    def test_wide_and_long_tables_are_the_same(self, tmp_path):
        wide = planted(30)
        wide.to_csv(tmp_path / "wide.csv", index=False)
        names = [f"judge_{name}" for name in JUDGES]
        long = wide.melt([name for name in wide.columns if name not in names], names, "judge", "verdict")
        long["judge"] = long["judge"].str.removeprefix("judge_")
        long.sample(frac=1, random_state=1).to_csv(tmp_path / "long.csv", index=False, sep=";", encoding="utf-8-sig")
        one, other = (load_verdicts(str(tmp_path / f"{name}.csv"), None) for name in ("wide", "long"))
        pd.testing.assert_frame_equal(one.cells, other.cells)
        pd.testing.assert_frame_equal(one.votes[list(JUDGES)], other.votes[list(JUDGES)])

    def test_the_panel_is_the_strict_majority_of_all_judges(self, tmp_path):
        table = planted(4).assign(judge_a=[1, 1, 0, 1], judge_b=[1, None, None, 0], judge_c=[None, None, 0, 1])
        assert verdicts_of(table, tmp_path).cells["panel"].tolist() == [1, pd.NA, 0, 1]

    def test_a_panel_column_is_used_and_differences_are_told(self, tmp_path):
        table = planted(4).assign(judge_a=1, judge_b=1, judge_c=1, panel=[1, 1, 0, 1])
        made = verdicts_of(table, tmp_path)
        assert made.cells["panel"].tolist() == [1, 1, 0, 1]
        assert "On 1 cells" in made.notes[0]

    @pytest.mark.parametrize(("change", "words"), [
        ({"judge_a": "perhaps"}, "row 1: judge_a is 'perhaps'"), ({"item": "same"}, "was in row 1 already"),
        ({"item": ""}, "no item")])
    def test_bad_rows_are_named(self, tmp_path, change, words):
        table = planted(3).assign(**change)
        table["judge_a"] = table["judge_a"].astype(str)
        table.to_parquet(tmp_path / "bad.parquet")
        with pytest.raises(DataError, match=words):
            load_verdicts(str(tmp_path / "bad.parquet"), None)

    def test_a_table_without_judges_lists_its_columns(self, tmp_path):
        planted(3)[["item", "condition", "system"]].to_csv(tmp_path / "none.csv", index=False)
        with pytest.raises(DataError, match=r"no judges; columns found: item, condition, system"):
            load_verdicts(str(tmp_path / "none.csv"), None)

    @pytest.mark.parametrize(("value", "wanted"), [(True, 1), ("No", 0), (1.0, 1), ("", None), (None, None)])
    def test_values(self, value, wanted):
        assert verdict_files.verdict(value, Path("f"), 1, "judge") == wanted

    def test_a_file_beside_a_data_set_and_unknown_names_are_refused(self, verdict_file, workspace):
        made = Dataset("made", "0", True)
        with pytest.raises(ParameterError, match="dataset=null"):
            locate(str(verdict_file), made)
        with pytest.raises(ParameterError, match="litsynth runs"):
            locate("no-such-run", made)
        with pytest.raises(ParameterError, match="litsynth run litbench_conditions"):
            locate("lexical", made)
        with pytest.raises(ParameterError, match="dataset is null"):
            locate("lexical", None)


class TestSimulation:
    def test_error_rates_are_those_stated(self):
        drawn = pd.DataFrame({"blinded_id": [f"c{i:05d}" for i in range(6000)],
                              "reference": pd.array([i % 2 for i in range(6000)], dtype="Int64")})
        made = rated.simulate(drawn, missed=0.1, credited=0.3, unsure=0.2, seed=0)
        known = made.assign(reference=drawn["reference"]).dropna(subset=["human"])
        # Three standard errors of 6,000 and 2,400 draws: 0.016 and 0.028.
        assert len(known) / 6000 == pytest.approx(0.8, abs=0.016)
        assert (known.loc[known["reference"] == 1, "human"] == 0).mean() == pytest.approx(0.1, abs=0.02)
        assert (known.loc[known["reference"] == 0, "human"] == 1).mean() == pytest.approx(0.3, abs=0.028)

    def test_a_cell_is_rated_alike_in_any_sample(self):
        drawn = pd.DataFrame({"blinded_id": list("abcdef"), "reference": pd.array([1, 0] * 3, dtype="Int64")})
        options = {"missed": 0.5, "credited": 0.5, "unsure": 0.3, "seed": 3}
        whole = rated.simulate(drawn, **options).set_index("blinded_id")
        part = rated.simulate(drawn.iloc[[4, 1]], **options).set_index("blinded_id")
        pd.testing.assert_frame_equal(part, whole.loc[part.index])

    def test_without_a_reference_nothing_is_made_up(self, tmp_path):
        run = Fake(dataset="null")
        made = verdicts_of(planted(20).assign(reference=None), tmp_path)
        decided = made.cells.dropna(subset=["panel"])
        drawn = draw_sample(decided, strata=[], size=5, allocation="equal", seed=0)
        with pytest.raises(DataError, match="no reference"):
            rated.rate(run, made, drawn)


class TestCorrection:
    def test_both_corrections_recover_a_planted_truth_that_the_raw_share_misses(self, tmp_path):
        # Judges who credit a third of what is wrong: the panel overstates; the sampled human is right.
        rng = np.random.default_rng(0)
        table = planted(3000)
        truth = table["reference"].to_numpy() == 1
        lenient = (truth | (rng.random(3000) < 1 / 3)).astype(int)
        table = table.assign(judge_a=lenient, judge_b=lenient, judge_c=lenient, paper=table["item"])
        made = verdicts_of(table, tmp_path)
        decided = made.cells
        drawn = draw_sample(decided, strata=["condition"], size=600, allocation="equal", seed=1)
        both = drawn.assign(human=drawn["reference"], status="rated", comment="")
        run = Fake(dataset="null")
        result = correction.corrected(run, made, both).query("group == 'all'").set_index("method_name")
        assert result.loc[correction.RAW, "low"] > truth.mean() + 0.1
        for method in (correction.ROGAN_GLADEN, correction.POWERED):
            row = result.loc[method]
            assert row["low"] <= truth.mean() <= row["high"]
            assert row["high"] - row["low"] > result.loc[correction.RAW, "high"] - result.loc[correction.RAW, "low"]

    def test_strata_are_weighted_by_their_cells_not_by_the_sample(self):
        # 90 cells of T1, all credited by panel and human; 10 of T2, none: half of the sample is from each.
        part = pd.DataFrame({"item": [f"i{i}" for i in range(100)], "condition": ["T1"] * 90 + ["T2"] * 10,
                             "panel": [1] * 90 + [0] * 10})
        own = part.iloc[[0, 1, 2, 3, 90, 91, 92, 93]].assign(human=lambda t: t["panel"])
        made = correction.powered(part, own, ["condition"])
        assert made.value == pytest.approx(0.9)
        assert made.low is None
        assert "no variation" in made.reason

    def test_a_stratum_without_ratings_is_named(self):
        part = pd.DataFrame({"item": list("abcdef"), "condition": ["T1"] * 3 + ["T2"] * 3, "panel": [1, 0, 1] * 2})
        made = correction.powered(part, part.iloc[:2].assign(human=[1, 0]), ["condition"])
        assert made.value is None
        assert "stratum T1" in made.reason

    def test_a_stratum_rated_whole_has_its_mean(self):
        part = pd.DataFrame({"item": list("abcd"), "condition": "T1", "panel": [1, 1, 1, 0]})
        assert correction.powered(part, part.assign(human=[1, 0, 0, 0]), ["condition"]).value == 0.25


class TestDegenerate:
    """A stated answer in words instead of a number that would be none."""

    def run(self, tmp_path, table, human):
        run, made = Fake(dataset="null"), verdicts_of(table, tmp_path)
        both = rated_by(made, pd.Series(human, index=table["item"]))
        return run, made, both

    def test_one_label_only(self, tmp_path):
        table = planted(12).assign(judge_a=1, judge_b=1, judge_c=1)
        run, made, both = self.run(tmp_path, table, [1] * 12)
        agreement = comparing.agreement(run, made, both)
        pair = agreement[agreement["comparison"] == "panel against simulated human"].set_index("measure")
        assert pd.isna(pair.loc["cohen_kappa", "value"])
        assert "one label only" in pair.loc["cohen_kappa", "reason"]
        assert pair.loc["agreement", "value"] == 1.0
        assert pd.isna(pair.loc["specificity", "value"])
        shown = reading.coefficients(agreement)
        assert not shown.astype(str).apply(lambda column: column.str.contains("nan")).to_numpy().any()
        assert "undefined" in shown.loc["Cohen's κ", "panel against simulated human"]
        words = reading.verdict(run, agreement, comparing.direction(run, both))
        assert "undefined: both raters use one label only" in words
        assert "nan" not in words
        corrections = correction.corrected(run, made, both)
        assert "nan" not in reading.corrected_shown(corrections).to_string()

    def test_a_panel_of_one_judge(self, tmp_path):
        table = planted(40).drop(columns=["judge_b", "judge_c"])
        run, made, both = self.run(tmp_path, table, table["reference"].tolist())
        judges = comparing.judge_table(run, made, both)
        alone = judges[judges["kind"] == "judge and the others"].iloc[0]
        assert alone["reason"] == "a panel of one judge has no others"
        agreement = comparing.agreement(run, made, both)
        among = agreement[agreement["comparison"] == "judges among themselves"]
        assert set(among["reason"]) == {"one judge alone agrees with nobody"}

    def test_missing_votes_are_counted_not_imputed(self, tmp_path):
        table = planted(120)
        run, made, both = self.run(tmp_path, table, table["reference"].tolist())
        judges = comparing.judge_table(run, made, both).set_index(["kind", "a"])
        missing = int(table["judge_c"].isna().sum())
        assert judges.loc[("two judges", "a"), "left_out"].max() == missing
        among = run.tables.get("agreement", comparing.agreement(run, made, both))
        fleiss = among.query("comparison == 'judges among themselves' and measure == 'fleiss_kappa'").iloc[0]
        assert fleiss["n"] == 120 - missing

    def test_nothing_rated_is_an_error_that_says_so(self, tmp_path):
        table = planted(6)
        run, made, both = self.run(tmp_path, table, [None] * 6)
        with pytest.raises(DataError, match="rate some of the sample first"):
            comparing.agreement(run, made, both)

    def test_no_disagreement_is_a_sentence(self, tmp_path):
        table = planted(12)
        run, made, _ = self.run(tmp_path, table, [1] * 12)
        both = rated_by(made, made.cells.set_index("item")["panel"])
        shown = reading.side_by_side(run, made, reading.disagreements(run, made, both))
        assert "agree on every rated cell" in shown.data


def test_who_credits_more_by_hand(tmp_path):
    # Eight cells: both 3, panel alone 3, human alone 1, neither 1: difference 2/8; exact McNemar 2·(1 + 4)/16.
    table = planted(8).assign(**{f"judge_{name}": [1, 1, 1, 1, 1, 1, 0, 0] for name in JUDGES})
    made = verdicts_of(table, tmp_path)
    both = rated_by(made, pd.Series([1, 1, 1, 0, 0, 0, 1, 0], index=table["item"]))
    row = comparing.direction(Fake(dataset="null"), both).iloc[0]
    assert [row[name] for name in ("both", "panel_only", "human_only", "neither")] == [3, 3, 1, 1]
    assert row["value"] == 0.25
    assert row["p_value"] == pytest.approx(0.625)


@pytest.mark.parametrize(("raw", "words"), [
    ({"strata": "condition,colour"}, "condition, domain, system"), ({"strata": "domain,domain"}, "once"),
    ({"ratings": "/no/such/file.csv"}, "is no file"), ({"sample_size": "0"}, "greater than 0"),
    ({"simulated_missed": "1.5"}, "less than or equal to 1"), ({"allocation": "even"}, "'proportional' or 'equal'")])
def test_bad_parameters_are_refused_before_anything_is_read(verdict_file, raw, words):
    given = {"dataset": "null", "verdicts": str(verdict_file), **raw}
    with pytest.raises(ParameterError) as caught:
        rated.identities(get_experiment("judge_concordance").parse(given), None)
    assert words in str(caught.value)


def test_the_run_follows_the_content_of_its_inputs(verdict_file):
    first = rated.identities(SimpleNamespace(strata=[], verdicts=str(verdict_file), ratings=None), None)
    verdict_file.write_text(verdict_file.read_text().replace("Question 1?", "Question one?"))
    second = rated.identities(SimpleNamespace(strata=[], verdicts=str(verdict_file), ratings=None), None)
    assert first["ratings"] == second["ratings"] == "simulated"
    assert first["verdicts"] != second["verdicts"]
    assert json.dumps(first)
