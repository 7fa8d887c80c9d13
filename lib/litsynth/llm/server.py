"""Serves a GGUF file with an OpenAI-compatible address on this machine; runs as a process of its own.

    python -m litsynth.llm.server '{"gguf": "model.gguf", "port": 0, "slots": 2, "context": 8192}'

It prints one line when it is ready and ends when its standard input closes or its parent is gone.
"""

from __future__ import annotations

import json
import os
import select
import sys
import threading
from typing import Any

_MOST_THREADS = 4

READY = "litsynth-model-ready "

# The packaged file is a base model without a chat template: it goes on with a text, and goes on better with a plain
# one than with the marks of a chat it has never seen. Its profile stops at the next heading.
CHAT_TEMPLATE = (
    "{{ bos_token }}"
    "{%- for message in messages -%}"
    "{%- if message.role == 'assistant' -%}{{ '### Answer\n' }}{%- endif -%}"
    "{{ (message.content or '') + '\n\n' }}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{ '### Answer\n' }}{%- endif -%}"
)


def start_server(
    gguf: str, *, port: int = 0, slots: int = 2, context: int = 8192, template: str = "", name: str = "gguf",
    quiet: bool = True,
) -> Any:
    """Load a model file and serve it on a loopback port (0: any free one); the server lives as long as the result.

    `context` is the tokens of each slot. Prompts are computed anew every time, because a prefix taken from an
    earlier request changes the last digits of what follows and so, now and then, the answer.
    """
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = gguf
    settings.model_alias = {name}
    settings.hostnames, settings.port = ["127.0.0.1"], port
    settings.n_parallel, settings.n_ctx = slots, context * slots
    settings.cache_prompt, settings.cache_ram_mib = False, 0
    settings.fit_params = False
    settings.endpoint_slots, settings.ui = False, False
    # Threads that wait for each other by spinning are many times slower than one as soon as anything else runs: one
    # core stays free, and nobody spins.
    for threads in (settings.cpuparams, settings.cpuparams_batch):
        threads.n_threads, threads.poll = max(1, min(_MOST_THREADS, (os.cpu_count() or 2) - 1)), 0
    if template:
        settings.chat_template = template
    if quiet:
        settings.verbosity = -1
    return xllamacpp.Server(settings)


def main(arguments: list[str]) -> None:
    """Serve until the parent is gone; see the module's text."""
    settings = json.loads(arguments[0])
    parent = settings.pop("parent")
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    server = start_server(**settings)
    sys.stdout.write(f"{READY}{server.listening_address}/v1\n")
    sys.stdout.flush()
    threading.Event().wait()


def _end_with(parent: int) -> None:
    """End this process at once when standard input closes, or when the parent's death has changed whose child it is."""
    while os.getppid() == parent:
        ready, _, _ = select.select([sys.stdin], [], [], 1.0)
        if ready and not os.read(sys.stdin.fileno(), 1024):
            break
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
