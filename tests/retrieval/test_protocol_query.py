import pytest

from litsynth.errors import DataError
from litsynth.records import Review
from litsynth.retrieval import protocol_query


def test_fields_come_in_the_benchmarks_order_with_their_names() -> None:
    review = Review(1, "test", "Does A help?", population="Adults", intervention="A", exposure="E", comparison="B",
                    outcome="Pain")
    assert protocol_query(review) == (
        "Research Question: Does A help?. Population: Adults. Intervention: A. Comparison: B. Outcome: Pain")


@pytest.mark.parametrize("missing", [None, "", "  ", "NR", "nr "])
def test_exposure_takes_the_place_of_an_intervention_that_is_not_reported(missing: str | None) -> None:
    review = Review(1, "test", "Q", population=missing, intervention=missing, exposure=" smoke ", comparison=missing)
    assert protocol_query(review) == "Research Question: Q. Exposure: smoke"


def test_a_review_without_any_protocol_field_is_an_error() -> None:
    with pytest.raises(DataError, match="review 7 reports no research question"):
        protocol_query(Review(7, "test", "NR", outcome=""))
