"""Structured answers: any prose around them, thinking apart, and never an object that the model did not finish."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import ParameterError
from litsynth.llm.structured import check_schema, is_strict, read_answer, split_thinking

ANY = {"type": "object"}
values = st.recursive(
    st.none() | st.booleans() | st.integers(-10**6, 10**6) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3), max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=6), values, min_size=1, max_size=4)
prose = st.text(alphabet=st.characters(blacklist_characters='{}[]"<>', blacklist_categories=("Cs",)), max_size=40)


@settings(max_examples=150, deadline=None)
@given(objects, prose, prose, st.booleans(), st.sampled_from([None, 1]))
def test_object_is_found_whatever_is_around_it(
    value: dict[str, Any], before: str, after: str, fenced: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    text = f"{before}\n```json\n{text}\n```\n{after}" if fenced else f"{before}\n{text}\n{after}"
    assert read_answer(text, ANY) == (value, "")


@settings(max_examples=150, deadline=None)
@given(objects, prose, st.data())
def test_cut_off_object_is_never_read(value: dict[str, Any], before: str, data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(1, len(text) - 1))
    parsed, problem = read_answer(before + text[:end], ANY)
    assert parsed is None
    assert problem


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_a_value_or_a_problem(text: str) -> None:
    parsed, problem = read_answer(text, ANY)
    assert (parsed is None) == bool(problem)


@settings(max_examples=100, deadline=None)
@given(prose, prose, st.sampled_from(["think", "thinking", "Thought", "reasoning"]))
def test_thinking_is_split_off(thinking: str, answer: str, tag: str) -> None:
    assert split_thinking(f"<{tag}>{thinking}</{tag}>{answer}") == (thinking.strip(), answer.lstrip())


@pytest.mark.parametrize(("text", "thinking", "answer"), [
    ("plain", "", "plain"),
    ("<think>a", "a", ""),
    ("a</think>b", "a", "b"),
    ("<think>a</think><think>b</think>c", "a\nb", "c"),
    ('{"x": "</think>"}', "", '{"x": "</think>"}'),  # a string of an object is no tag
    ("They <think> so", "", "They <think> so"),
])
def test_thinking_cases(text: str, thinking: str, answer: str) -> None:
    assert split_thinking(text) == (thinking, answer)


REFUSED = [
    ("", "empty"), ("yes", "no JSON object"), ("[1]", "not of type 'object'"), ('"yes"', "not of type 'object'"),
    ('{"a": 1} and {"a": 2}', "two different"), ('{"a": 1, "a": 1}', "stands twice"),
    ('{"a": Infinity}', "is not JSON"), ('{"a": "\\ud83d"}', "half of a character"), ("{" * 50_000, ""),
    ('{"a": ' * 50_000, ""), ("{'a': 1}", "no JSON object"), ('{"a": 1', "cut off"),
    ('So {"b": {"a": 1}, "c": [', "cut off"), ('{"a": ' + "9" * 5000 + "}", ""),
]


@pytest.mark.parametrize(("text", "problem"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(text: str, problem: str) -> None:
    parsed, said = read_answer(text, ANY)
    assert parsed is None
    assert said
    assert problem in said


def test_inner_object_of_a_broken_one_is_not_used() -> None:
    parsed, problem = read_answer("""{"outer": {"a": 1}, 'bad': 2}""", {"type": "object", "required": ["a"]})
    assert parsed is None
    assert problem


def test_a_list_beside_the_object_does_not_disturb() -> None:
    assert read_answer('As [1] and [2] say: {"a": 1}', ANY) == ({"a": 1}, "")


def test_schemas_are_checked_and_nothing_is_fetched() -> None:
    with pytest.raises(ParameterError, match="no JSON schema"):
        check_schema({"type": "objekt"})
    with pytest.raises(ParameterError, match="not JSON"):
        check_schema({"enum": [float("inf")]})
    with pytest.raises(ParameterError, match="refers to 'https"):
        check_schema({"properties": {"a": {"items": [{"$ref": "https://host.example/schema.json"}]}}})
    # Nor would it be followed: the network guard of these tests would raise something else.
    with pytest.raises(Exception, match=r"(?i)unresolvable|unretrievable"):
        read_answer("{}", {"$ref": "https://host.example/schema.json"})
    check_schema({"$defs": {"a": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/a"}}})


@pytest.mark.parametrize(("schema", "strict"), [
    ({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}, True),
    ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, False),
    ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
    ({"type": "array", "items": {"type": "object"}}, False),
])
def test_strict_mode_is_claimed_only_where_it_holds(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict
