"""The cache: what is in its key, what is kept, and what happens with many writers and broken files."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litsynth.errors import DataError, ParameterError
from litsynth.llm.archive import export_completions, import_completions, parse_filters
from litsynth.llm.cache import CompletionCache
from litsynth.llm.profiles import Profile
from litsynth.llm.requests import canonical, key_of, material
from litsynth.records import Completion, ModelRequest, ToolCall, Usage

PROFILE = Profile("p", base_url="http://host.example/v1", model="m")
texts = st.text(max_size=20)
schemas = st.sampled_from([None, {"type": "object"}, {"type": "object", "required": ["a"]}, {"type": "array"}])
tools = st.sampled_from([(), ({"type": "function", "function": {"name": "f"}},)])
made_requests = st.builds(
    ModelRequest,
    messages=st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "system"]), "content": texts}),
                      min_size=1, max_size=3),
    prompt_version=texts, schema=schemas, tools=tools, max_tokens=st.none() | st.integers(1, 5000),
    temperature=st.none() | st.floats(0, 2), seed=st.none() | st.integers(0, 9), repeat=st.integers(0, 9),
)
FIELDS = ("messages", "prompt_version", "schema", "tools", "max_tokens", "temperature", "seed", "repeat")


def key(request: ModelRequest, profile: Profile = PROFILE, endpoint: str = "e", model: str = "m") -> str:
    return key_of(canonical(material(request, profile, endpoint, model)))


def sample(number: int = 0, **fields: Any) -> tuple[dict[str, Any], Completion]:
    """Return a request's material and an answer to it."""
    request = ModelRequest(messages=[{"role": "user", "content": f"question {number}"}], prompt_version="v1")
    what = material(request, PROFILE, "http://host.example/v1", "m")
    fields = {"status": "ok", "text": f"answer {number}", "usage": Usage(3, 4, cost=0.5), "model": "m",
              "sent": {"model": "m", "messages": what["messages"]}, **fields}
    return what, Completion(**fields)


@settings(max_examples=200, deadline=None)
@given(made_requests, made_requests, st.sampled_from(FIELDS))
def test_changing_any_field_gives_another_key(one: ModelRequest, other: ModelRequest, name: str) -> None:
    changed = replace(one, **{name: getattr(other, name)})
    before, after = getattr(one, name), getattr(other, name)
    if name == "max_tokens":  # None means the profile's limit
        before, after = before or PROFILE.max_tokens, after or PROFILE.max_tokens
    same = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    assert (key(one) == key(changed)) == same


def test_endpoint_model_and_extra_are_in_the_key() -> None:
    request = ModelRequest(messages=[{"role": "user", "content": "q"}], prompt_version="v")
    keys = {
        key(request), key(request, endpoint="other"), key(request, model="other"),
        key(request, replace(PROFILE, extra={"top_p": 0.5})), key(request, replace(PROFILE, max_tokens=7)),
    }
    assert len(keys) == 5


def test_order_of_fields_and_transport_are_not_in_the_key() -> None:
    one = ModelRequest(messages=[{"role": "user", "content": "q"}], prompt_version="v")
    two = ModelRequest(messages=({"content": "q", "role": "user"},), prompt_version="v")
    assert key(one) == key(two) == key(one, replace(PROFILE, timeout=1.0, concurrency=9, rejects=("seed",)))


def test_answer_comes_back_whole(tmp_path: Path) -> None:
    cache = CompletionCache(tmp_path / "c.sqlite")
    what, answer = sample(
        text="caf\u00e9 \u4e2d\U0001f600", parsed={"a": [1, None, 2.5]}, reasoning="hm", finish_reason="stop",
        reason="r", tool_calls=(ToolCall("1", "f", {"x": 1}, '{"x": 1}'), ToolCall("2", "f", None, "{")), seconds=1.25,
    )
    assert cache.get(what) is None
    assert cache.put(what, answer)
    assert cache.get(what) == replace(answer, cached=True)
    assert not cache.put(what, replace(answer, text="other"))  # evidence is not overwritten
    assert cache.get(what).text == answer.text
    assert cache.put(what, replace(answer, text="other"), replace=True)
    assert cache.get(what).text == "other"


def test_failures_are_not_stored(tmp_path: Path) -> None:
    cache = CompletionCache(tmp_path / "c.sqlite")
    what, answer = sample(status="failed")
    with pytest.raises(ValueError, match="failed is not stored"):
        cache.put(what, answer)
    assert len(cache) == 0


def test_reading_makes_no_file(tmp_path: Path) -> None:
    cache = CompletionCache(tmp_path / "folder" / "c.sqlite")
    assert cache.get(sample()[0]) is None
    assert cache.info()["answers"] == len(cache) == len(list(cache.entries())) == 0
    assert not cache.path.parent.exists()


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from test_completion_cache import sample
from litsynth.llm.cache import CompletionCache
cache = CompletionCache(sys.argv[1])
for number in range(int(sys.argv[3]), int(sys.argv[4])):
    cache.put(*sample(number))
"""


@pytest.mark.slow
def test_two_processes_write_ten_thousand_entries(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    # 1,000 of the questions are written by both.
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(Path(__file__).parent), *map(str, numbers)])
        for numbers in ((0, 5000), (4000, 10_000))
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    cache = CompletionCache(path)
    assert len(cache) == 10_000
    assert all(cache.get(sample(number)[0]).text == f"answer {number}" for number in range(0, 10_000, 7))
    assert cache.info()["answers"] == 10_000


def test_a_forked_child_opens_its_own_connection(tmp_path: Path) -> None:
    cache = CompletionCache(tmp_path / "c.sqlite")
    cache.put(*sample(0))
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system does not fork")
    child = multiprocessing.get_context("fork").Process(target=lambda: cache.put(*sample(1)))
    child.start()
    child.join(timeout=30)
    cache.put(*sample(2))
    assert child.exitcode == 0
    assert len(cache) == 3


def read_all(path: Path) -> None:
    for number in range(400):
        CompletionCache(path).get(sample(number)[0])


@pytest.mark.parametrize("damage", ["header", "pages", "cut", "entry"])
def test_damaged_file_gives_a_message_and_loses_nothing(tmp_path: Path, damage: str) -> None:
    cache = CompletionCache(tmp_path / "c.sqlite")
    for number in range(400):
        cache.put(*sample(number))
    exported = tmp_path / "kept.jsonl"
    assert export_completions(cache, exported) == 400
    cache.close()
    raw = cache.path.read_bytes()
    if damage == "header":
        broken = b"this is no database" + raw[19:]
    elif damage == "pages":
        broken = raw[:4096] + os.urandom(len(raw) - 4096)
    elif damage == "cut":
        broken = raw[: len(raw) // 2]
    else:
        with sqlite3.connect(cache.path) as connection:
            connection.execute("update completions set completion = '{'")
        connection.close()
        broken = cache.path.read_bytes()
    cache.path.write_bytes(broken)
    with pytest.raises(DataError, match="is damaged") as caught:
        read_all(cache.path)
    assert "cache import" in str(caught.value)
    assert cache.path.read_bytes() == broken  # nothing was thrown away

    cache.path.rename(tmp_path / "c.sqlite.damaged")
    anew = CompletionCache(cache.path)
    assert import_completions(anew, exported) == (400, 0, [])
    assert anew.get(sample(399)[0]).text == "answer 399"


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("create table other (x)")
    connection.close()
    with pytest.raises(DataError, match="another program's database"):
        CompletionCache(path).put(*sample())


def test_export_is_sorted_filtered_and_the_same_twice(tmp_path: Path) -> None:
    cache = CompletionCache(tmp_path / "c.sqlite")
    for number in range(1200):
        cache.put(*sample(number, status="ok" if number % 3 else "truncated"))
    first, second, some = tmp_path / "1.jsonl", tmp_path / "2.jsonl", tmp_path / "3.jsonl"
    assert export_completions(cache, first) == 1200
    export_completions(cache, second)
    assert first.read_bytes() == second.read_bytes()
    keys = [json.loads(line)["key"] for line in first.read_text(encoding="utf-8").splitlines()]
    assert keys == sorted(set(keys))
    assert export_completions(cache, some, parse_filters(["status=trunc*", "model=m"])) == 400
    with pytest.raises(ParameterError, match="did you mean 'model'"):
        parse_filters(["modl=x"])
    with pytest.raises(ParameterError, match="has no `=`"):
        parse_filters(["model"])


def test_import_is_idempotent_and_reports_conflicts(tmp_path: Path) -> None:
    here, there = CompletionCache(tmp_path / "a.sqlite"), CompletionCache(tmp_path / "b.sqlite")
    for number in range(5):
        here.put(*sample(number))
    there.put(*sample(2, text="another answer"))
    exported = tmp_path / "e.jsonl"
    export_completions(here, exported)
    added, known, conflicts = import_completions(there, exported)
    assert (added, known, conflicts) == (4, 1, [key_of(canonical(sample(2)[0]))])
    assert there.get(sample(2)[0]).text == "another answer"
    assert import_completions(here, exported) == (0, 5, [])


@pytest.mark.parametrize(("change", "words"), [
    (lambda row: row["request"].update(model="gpt-9"), "the key is not that of the request"),
    (lambda row: row["completion"].update(status="failed"), "no status of a stored completion"),
    (lambda row: row.pop("completion"), "KeyError"),
    (lambda row: row["completion"].pop("usage"), "KeyError"),
])
def test_altered_export_is_refused_as_a_whole(tmp_path: Path, change: Any, words: str) -> None:
    here, there = CompletionCache(tmp_path / "a.sqlite"), CompletionCache(tmp_path / "b.sqlite")
    for number in range(3):
        here.put(*sample(number))
    exported = tmp_path / "e.jsonl"
    export_completions(here, exported)
    rows = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]
    change(rows[1])
    exported.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(DataError, match="line 2") as caught:
        import_completions(there, exported)
    assert words in str(caught.value)
    assert len(there) == 0


def test_missing_export_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        import_completions(CompletionCache(tmp_path / "a.sqlite"), tmp_path / "none.jsonl")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"key": "a", "key": "b"}', "[]", "null"])
def test_import_names_the_line_of_what_is_no_answer(tmp_path: Path, line: str) -> None:
    (tmp_path / "odd.jsonl").write_text(f"\n{line}\n")
    with pytest.raises(DataError, match=r"odd\.jsonl, line 2: no exported answer"):
        import_completions(CompletionCache(tmp_path / "a.sqlite"), tmp_path / "odd.jsonl")
    with pytest.raises(DataError, match="is no file"):
        import_completions(CompletionCache(tmp_path / "a.sqlite"), tmp_path)
