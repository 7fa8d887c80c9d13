"""Drawing, blinding, rating and reading back: nothing gives the panel away, and every row is accounted for."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import DataError, ParameterError
from litsynth.experiments.judge_concordance.csv_files import inert, original
from litsynth.experiments.judge_concordance.rating_page import RatingPage, case_html
from litsynth.experiments.judge_concordance.rating_store import LOG, TABLE, Case, RatingStore, find_sample
from litsynth.experiments.judge_concordance.ratings import parse_rating, read_ratings
from litsynth.experiments.judge_concordance.sampling import (
    SAMPLE_HEADER,
    allocate,
    blinded_id,
    draw_sample,
    sample_id,
    write_sample,
)

IDS = ["c1", "c2", "c3", "c4"]


def cells(number: int = 60) -> pd.DataFrame:
    """Cells of three conditions, half of them in the first."""
    condition = ["T1" if i % 2 else "T2" if i % 4 else "T5" for i in range(number)]
    return pd.DataFrame({
        "item": [f"cell/sys/{c}/{i:03d}" for i, c in enumerate(condition)], "condition": condition,
        "domain": "results stated", "system": "secret-system", "panel": [i % 2 for i in range(number)],
        "question": [f"Question {i}?" for i in range(number)], "reference_fact": "Fact.", "quote": "Quote.",
        "response": [f"Answer {i}." for i in range(number)]})


class TestAllocation:
    def test_proportional_by_largest_remainder(self):
        # 154 of 300, 150 and 50: quotas 92.4, 46.2 and 15.4; the cell left goes to a remainder of .4, the first.
        assert allocate({("a",): 300, ("b",): 150, ("c",): 50}, 154, "proportional") == {
            ("a",): 93, ("b",): 46, ("c",): 15}

    def test_a_rare_stratum_still_gives_one(self):
        assert allocate({("a",): 990, ("b",): 5, ("c",): 5}, 10, "proportional") == {("a",): 8, ("b",): 1, ("c",): 1}

    def test_equal_takes_small_strata_whole(self):
        assert allocate({("a",): 100, ("b",): 3, ("c",): 50}, 43, "equal") == {("a",): 20, ("b",): 3, ("c",): 20}

    @given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 200),
           st.sampled_from(["proportional", "equal"]))
    def test_never_more_than_there_is_and_always_what_was_asked(self, sizes, total, how):
        named = {(str(i),): size for i, size in enumerate(sizes)}
        taken = allocate(named, total, how)
        assert sum(taken.values()) == min(total, sum(sizes))
        assert all(0 <= taken[name] <= named[name] for name in named)
        if total >= len(sizes):
            assert all(count >= 1 for count in taken.values())


class TestSample:
    def test_the_order_of_rows_changes_nothing_and_the_seed_everything(self):
        table = cells()
        one = draw_sample(table, strata=["condition"], size=20, allocation="proportional", seed=1)
        other = draw_sample(table.sample(frac=1, random_state=3), strata=["condition"], size=20,
                            allocation="proportional", seed=1)
        pd.testing.assert_frame_equal(one, other)
        assert Counter(one["condition"]) == {"T1": 10, "T2": 5, "T5": 5}
        again = draw_sample(table, strata=["condition"], size=20, allocation="proportional", seed=2)
        assert set(again["item"]) != set(one["item"])

    def test_a_larger_sample_holds_the_smaller_one(self):
        small, large = (set(draw_sample(cells(), strata=["condition"], size=size, allocation="equal", seed=0)["item"])
                        for size in (9, 30))
        assert small < large

    def test_new_cells_in_one_stratum_leave_the_others_alone(self):
        table = cells()
        more = pd.concat([table, table[table["condition"] == "T5"].assign(item=lambda t: t["item"] + "x")])
        first, second = (draw_sample(frame, strata=["condition"], size=12, allocation="equal", seed=0)
                         for frame in (table, more))
        ones, others = (set(drawn.loc[drawn["condition"] == "T1", "item"]) for drawn in (first, second))
        assert ones == others

    def test_without_strata_everything_is_one(self):
        assert len(draw_sample(cells(), strata=[], size=7, allocation="proportional", seed=0)) == 7

    def test_more_than_there_is_takes_everything(self):
        assert len(draw_sample(cells(10), strata=["condition"], size=99, allocation="equal", seed=0)) == 10

    def test_blinded_ids_give_nothing_away_and_are_text_to_a_spreadsheet(self):
        drawn = draw_sample(cells(), strata=["condition"], size=60, allocation="proportional", seed=0)
        ranks = pd.Series(range(60)).corr(drawn["item"].rank(), method="spearman")
        assert abs(ranks) < 0.35  # by order of id, not of item; 0.33 is the 1 % point for 60 random ranks
        assert drawn["blinded_id"].is_monotonic_increasing
        assert all(name[0] == "c" and len(name) == 13 for name in drawn["blinded_id"])
        assert blinded_id(0, "a") != blinded_id(1, "a")

    def test_the_humans_file_has_no_verdict_system_or_condition(self, tmp_path):
        drawn = draw_sample(cells(), strata=["condition"], size=8, allocation="equal", seed=0)
        folder = write_sample(tmp_path / sample_id(drawn), drawn)
        text = (folder / "sample.csv").read_text(encoding="utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text)))
        assert list(rows[0]) == list(SAMPLE_HEADER)
        assert len(rows) == 8
        for hidden in ("secret-system", "T1", "T5", "cell/", "results stated"):
            assert hidden not in text
        key = list(csv.DictReader(io.StringIO((folder / "key" / "key.csv").read_text(encoding="utf-8-sig"))))
        assert {row["blinded_id"] for row in key} == {row["blinded_id"] for row in rows}
        assert key[0]["system"] == "secret-system"

    @pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "-2.5 to 3", "+4", "plain", "", "'quoted'", " =x"])
    def test_nothing_is_computed_by_a_spreadsheet_and_nothing_is_lost(self, text):
        assert inert(text)[:1] not in ("=", "+", "-", "@")
        assert original(inert(text)) == text


class TestReadingBack:
    def write(self, tmp_path, text, encoding="utf-8"):
        path = tmp_path / "ratings.csv"
        path.write_bytes(text.encode(encoding))
        return path

    def test_every_row_has_a_status(self, tmp_path):
        path = self.write(tmp_path, "blinded_id,rating,comment\nc1,credit,\nc2,No Credit,why\nc3,,\n")
        read = read_ratings(path, IDS)
        assert read["status"].tolist() == ["rated", "rated", "unrated", "absent"]
        assert read["human"].tolist() == [1, 0, pd.NA, pd.NA]
        assert read["comment"].tolist() == ["", "why", "", ""]

    @pytest.mark.parametrize("text", [
        "\ufeffBlinded ID;Question;Rating\r\nc1;\"What; exactly?\";1\r\nc2;x;0\r\nc3;y;?\r\n",
        "sep=;\r\nblinded_id;rating\r\nc1;1\r\nc2;0\r\nc3;?\r\n",
        "blinded_id\trating\nc1\tyes\n\nc2\tno\nc3\tcannot tell\n",
    ])
    def test_excel_files(self, tmp_path, text):
        path = self.write(tmp_path, text)
        assert read_ratings(path, IDS)["human"].tolist() == [1, 0, pd.NA, pd.NA]
        assert read_ratings(path, IDS)["status"].tolist() == ["rated", "rated", "cannot tell", "absent"]

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
    def test_encodings(self, tmp_path, encoding):
        path = self.write(tmp_path, "blinded_id,rating,comment\nc1,credit,naïve – dose\n", encoding)
        assert read_ratings(path, IDS)["comment"][0] == "naïve – dose"

    def test_an_unquoted_delimiter_is_named_by_its_line(self, tmp_path):
        path = self.write(tmp_path, "blinded_id;question;rating\nc1;x;1\nc2;What; exactly?;1\n")
        with pytest.raises(DataError, match="line 3: 4 cells where the header has 3"):
            read_ratings(path, IDS)

    def test_one_error_names_everything_wrong_with_its_lines(self, tmp_path):
        path = self.write(tmp_path, "blinded_id,rating\nc1,credit\nc9,credit\nc1,no credit\nc2,perhaps\n")
        with pytest.raises(DataError) as caught:
            read_ratings(path, IDS)
        for words in ("line 3: 'c9'", "lines 2 and 4: c1", "line 5 (c2): 'perhaps'", "none of the sample's 4", "seed"):
            assert words in str(caught.value)

    @pytest.mark.parametrize("text", ["", "blinded_id,comment\nc1,x\n"])
    def test_no_ratings_at_all(self, tmp_path, text):
        with pytest.raises(DataError, match=r"empty|no column rating"):
            read_ratings(self.write(tmp_path, text), IDS)

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(DataError, match=r"gone\.csv"):
            read_ratings(tmp_path / "gone.csv", IDS)

    @pytest.mark.parametrize(("text", "rating"), [
        ("1", "credit"), ("TRUE", "credit"), (" Yes ", "credit"), ("0.0", "no credit"), ("no_credit", "no credit"),
        ("Can’t tell", "cannot tell"), ("", None)])
    def test_values(self, text, rating):
        assert parse_rating(text) == rating


@pytest.fixture
def sample(workspace):
    drawn = draw_sample(cells(), strata=["condition"], size=4, allocation="equal", seed=0)
    return write_sample(workspace / "data" / "ratings" / "four", drawn)


class TestStore:
    def test_each_rating_is_on_disk_at_once_and_survives_a_torn_line(self, sample):
        store = RatingStore(sample)
        first, second = (case.blinded_id for case in store.cases[:2])
        store.save(first, "credit")
        store.save(second, "no credit", "low dose")
        with (sample / LOG).open("ab") as handle:
            handle.write(b'{"key": "half')  # what a killed process leaves
        again = RatingStore(sample)
        assert (again.rating(first), again.rating(second), again.comment(second)) == ("credit", "no credit", "low dose")
        assert again.next_unrated() == 2
        assert read_ratings(sample / TABLE, [case.blinded_id for case in store.cases])["status"].tolist() == [
            "rated", "rated", "unrated", "unrated"]

    def test_the_last_word_holds_and_the_first_is_kept_in_the_log(self, sample):
        store = RatingStore(sample)
        name = store.cases[0].blinded_id
        store.save(name, "credit")
        store.save(name, "cannot tell")
        assert store.rating(name) == "cannot tell"
        assert [json.loads(line)["rating"] for line in (sample / LOG).read_text().splitlines()] == [
            "credit", "cannot tell"]

    def test_two_open_pages_lose_nothing(self, sample):
        one, other = RatingStore(sample), RatingStore(sample)
        one.save(one.cases[0].blinded_id, "credit")
        other.save(other.cases[1].blinded_id, "no credit")
        assert RatingStore(sample).rated() == 2
        assert other.rated() == 2

    @pytest.mark.parametrize(("name", "rating"), [("nobody", "credit"), (None, "maybe")])
    def test_what_is_no_cell_or_no_rating_is_refused(self, sample, name, rating):
        store = RatingStore(sample)
        with pytest.raises(ParameterError):
            store.save(name or store.cases[0].blinded_id, rating)
        assert not (sample / LOG).exists()

    def test_the_newest_sample_is_found_by_default_and_others_by_name(self, sample):
        assert find_sample() == sample
        assert find_sample("four") == sample
        with pytest.raises(ParameterError, match="one of four"):
            find_sample("five")


class TestPage:
    def test_clicks_save_and_move_on(self, sample):
        page = RatingPage(RatingStore(sample))
        page.buttons["credit"].click()
        assert page.place == 1
        page.comment.value = "unclear dose"
        page.buttons["no credit"].click()
        page.previous.click()
        assert "this cell: no credit" in page.status.value
        assert page.comment.value == "unclear dose"
        page.resume.click()
        assert page.place == 2
        again = RatingPage(RatingStore(sample))
        assert again.place == 2
        assert "2 of 4 rated" in again.status.value
        for _ in range(2):
            again.buttons["cannot tell"].click()
        assert "All 4 cells are rated" in again.status.value
        assert "4 of 4" in again.account()

    def test_it_shows_nothing_that_would_give_the_panel_away(self, sample):
        (sample / "key" / "key.csv").unlink()  # the page never needs it
        page = RatingPage(RatingStore(sample))
        shown = page.title.value + page.body.value + page.status.value
        assert "secret-system" not in shown
        assert "T1" not in shown
        assert page.previous.disabled
        assert not page.following.disabled

    @settings(max_examples=50, deadline=None)
    @given(st.text())
    def test_whatever_the_text_it_is_no_markup(self, text):
        plain = case_html(Case("c", "", "", "", ""))
        shown = case_html(Case("c", text, text, text, text))
        allowed = plain.count("<") - plain.count("<em>") * 2 + 2 * 4 * (not text.strip())
        assert shown.count("<") == allowed
