"""Parameters are read by their declared type; nothing is guessed and nothing passes silently."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from litsynth.errors import ParameterError
from litsynth.experiments import EXPERIMENTS, Experiment, Parameters
from litsynth.experiments.coercion import Unreadable, coerce, type_name
from litsynth.experiments.parameters import deciding_names


# The raw values are those that papermill's `-p` is known to misread: `false` as truthy text, `[1,2]` as text, `007` as
# 7, `nan` as a float (nteract/papermill issues 363 and 806).
@pytest.mark.parametrize(("annotation", "raw", "value"), [
    (bool, "false", False), (bool, "True", True), (bool, "0", False), (bool, True, True),
    (str, "007", "007"), (str, "true", "true"), (str, "[1]", "[1]"), (str, "null", "null"),
    (int, "50", 50), (int, "-3", -3), (int, " 7 ", 7), (int, 50, 50),
    (float, "0.5", 0.5), (float, "1e-3", 0.001), (float, 2, 2.0),
    (list[int], "[1,2]", [1, 2]), (list[int], "1,2", [1, 2]), (list[int], "5", [5]), (list[int], [1, 2], [1, 2]),
    (list[str], "bm25", ["bm25"]), (list[str], "bm25, minilm", ["bm25", "minilm"]),
    (list[str], '["bm25", "a,b"]', ["bm25", "a,b"]), (list[str], "[bm25, 007]", ["bm25", "007"]), (list[str], "", []),
    (list[bool], "[true, no]", [True, False]),
    (int | None, "null", None), (int | None, "3", 3), (str | None, None, None),
    (Literal["flat", "hnsw"], "flat", "flat"), (Literal[1, 2], "2", 2),
    (dict[str, str], "{a: 007}", {"a": "007"}),
    (Path, "/tmp", Path("/tmp")),
])
def test_values_are_read_by_type(annotation, raw, value):
    read = coerce(annotation, raw)
    assert read == value
    assert type(read) is type(value) or isinstance(value, Path)


@pytest.mark.parametrize(("annotation", "raw"), [
    (bool, "maybe"), (bool, 1), (bool, ""), (int, "1.0"), (int, 5.0), (int, True), (int, "1e3"), (int, ""),
    (float, "nan"), (float, "inf"), (float, float("nan")), (float, True), (float, "abc"),
    (str, 7), (str, None), (list[int], "abc"), (list[int], "[1, x]"), (list[int], 5), (list[int], "[1"),
    (list[int], "1,,2"),
    (int | None, "x"), (Literal["flat", "hnsw"], "flatt"), (Literal[1, 2], "3"), (Literal[1, 2], True),
    (dict[str, str], "[1]"),
])
def test_impossible_values_are_refused(annotation, raw):
    with pytest.raises(Unreadable):
        coerce(annotation, raw)


@given(st.lists(st.integers()))
def test_lists_of_numbers_survive_both_spellings(numbers):
    assert coerce(list[int], str(numbers)) == numbers
    assert coerce(list[int], ",".join(map(str, numbers))) == numbers


@settings(max_examples=60)
@given(st.text(), st.sampled_from([bool, int, float, str, list[int], list[str], int | None, Literal["a", "b"]]))
def test_any_text_is_read_or_refused_and_nothing_else(text, annotation):
    try:
        value = coerce(annotation, text)
    except Unreadable:
        return
    assert TypeAdapter(annotation).validate_python(value, strict=True) == value


def test_types_are_named_in_words():
    assert type_name(list[int]) == "list of whole number"
    assert type_name(int | None) == "whole number or nothing"
    assert type_name(Literal["a", "b"]) == "'a' or 'b'"


class Mixed(Parameters):
    """Made for these tests."""

    depth: int = 5
    name: str = "x"


MIXED = Experiment("mixed", "Made for these tests.", Mixed)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ParameterError, match="did you mean 'depth'") as caught:
        MIXED.parse({"deph": "5"})
    assert caught.value.exit_code == 2


def test_refusal_names_parameter_value_and_expectation():
    words = r"parameter 'depth' of mixed cannot be 'deep'.*whole number.*default is 5"
    with pytest.raises(ParameterError, match=words):
        MIXED.parse({"depth": "deep"})


@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_every_experiment_runs_with_its_defaults_and_explains_itself(name):
    experiment = EXPERIMENTS[name]
    assert experiment.parse({}) == experiment.parameters()
    assert all(row["meaning"] for row in experiment.rows())
    assert set(deciding_names(experiment.parameters)) <= set(experiment.parameters.model_fields)
    assert "device" not in deciding_names(experiment.parameters)


@pytest.mark.parametrize(("raw", "words"), [
    ({"depths": "[5, 0]"}, "element 2"), ({"depths": "[]"}, "at least 1 item"), ({"index": "ivf"}, "'flat' or 'hnsw'"),
    ({"retrievers": "[]"}, "at least 1 item"), ({"seed": "-1"}, "greater than or equal to 0"),
])
def test_ranges_are_checked(raw, words):
    with pytest.raises(ParameterError, match=words):
        EXPERIMENTS["retrieval_sweep"].parse(raw)


def test_a_depth_beyond_what_a_table_holds_is_refused_before_anything_is_computed():
    with pytest.raises(ParameterError, match=r"'depths' .* cannot be 99999999999999999999"):
        EXPERIMENTS["retrieval_sweep"].parse({"depths": "99999999999999999999"})
