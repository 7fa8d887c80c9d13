"""Measure the model door: a warm call, and what a cold call costs beyond the bare `openai` client, in one run.

    python tests/benchmarks/llm_overhead.py [--calls 1000] [--local]

`--local` measures the embedded model too: tokens a second and memory.
"""

# ruff: noqa: T201
from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "llm"))
from stub_server import StubServer, answer, ask

from litsynth.llm import profiles
from litsynth.llm.cache import CompletionCache
from litsynth.llm.door import ModelDoor
from litsynth.llm.profiles import Profile
from litsynth.records import ModelRequest

SCHEMA = {"type": "object", "properties": {"item": {"type": "integer"}}, "required": ["item"]}
PROMPT = "An abstract of a usual length has some two hundred words, and a screening prompt holds one or two. " * 20


def requests(calls: int) -> list[ModelRequest]:
    """Return different requests of a usual size."""
    return [ask(f"{PROMPT} item {number}", schema=SCHEMA) for number in range(calls)]


def seconds_each(work: Any, items: list[Any]) -> list[float]:
    """Return the seconds of every single call."""
    taken = []
    for item in items:
        started = time.perf_counter()
        work(item)
        taken.append(time.perf_counter() - started)
    return taken


def measure_door(calls: int, folder: Path) -> None:
    """Time bare client and door in turn against the same server, then the same calls warm."""
    import openai

    stub = StubServer(answer('{"item": 1}'))
    profile = Profile("stub", base_url=stub.url, model="m", max_tokens=100)
    door = ModelDoor(profile, cache=CompletionCache(folder / "cache.sqlite"))
    client = openai.OpenAI(api_key="none", base_url=stub.url, max_retries=0,
                           http_client=openai.DefaultHttpxClient(trust_env=False))
    asked = requests(calls)

    def bare(request: ModelRequest) -> None:
        client.chat.completions.create(
            model="m", messages=list(request.messages), temperature=0.0, seed=0, max_tokens=100
        )

    bare(asked[0])
    door.complete(ask("warm up", schema=SCHEMA))
    raw, cold = [], []
    for request in asked:
        raw += seconds_each(bare, [request])
        cold += seconds_each(door.complete, [request])
    warm = seconds_each(door.complete, asked)
    started = time.perf_counter()
    door.complete_many(asked)
    many = (time.perf_counter() - started) / calls
    print(f"bare client      median {median(raw) * 1e3:.3f} ms a call, mean {sum(raw) / calls * 1e3:.3f}")
    print(f"door, cold       median {median(cold) * 1e3:.3f} ms a call, mean {sum(cold) / calls * 1e3:.3f}")
    print(f"own overhead     median {(median(cold) - median(raw)) * 1e3:.3f} ms a call, "
          f"mean {(sum(cold) - sum(raw)) / calls * 1e3:.3f}   (target under 5)")
    print(f"door, warm       median {median(warm) * 1e3:.3f} ms a call; a batch {many * 1e3:.3f}   (target under 1)")
    stub.stop()


def measure_local(folder: Path) -> None:
    """Time the embedded model on a prompt of an abstract's length and a fixed number of answer tokens."""
    os.environ["LITSYNTH_DATA"] = str(folder)
    started = time.perf_counter()
    door = ModelDoor(profiles()["local"], cache=CompletionCache(folder / "local.sqlite"))
    door.complete(ask("Hello", max_tokens=1))
    print(f"embedded model   {time.perf_counter() - started:.1f} s to assemble, verify, start and answer one token")
    short = [door.complete(ask(f"{PROMPT} {number}", max_tokens=1)) for number in range(3)]
    long = [door.complete(ask(f"{PROMPT} {number}", max_tokens=65)) for number in range(3)]
    prompt = sum(a.usage.prompt_tokens for a in short) / sum(a.seconds for a in short)
    extra_tokens = sum(b.usage.completion_tokens - a.usage.completion_tokens for a, b in zip(short, long, strict=True))
    extra_seconds = sum(b.seconds - a.seconds for a, b in zip(short, long, strict=True))
    print(f"                 {prompt:.0f} prompt and {extra_tokens / extra_seconds:.1f} answer tokens a second")
    process = door._endpoint._server.process_id  # type: ignore[union-attr]
    status = Path(f"/proc/{process}/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        print(f"                 {int(line.split()[1]) / 1024:.0f} MiB of memory at most")
    door.close()


def main() -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--local", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure_door(chosen.calls, Path(folder))
        if chosen.local:
            measure_local(Path(folder))
    if hasattr(os, "getloadavg"):
        print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
