"""The book's tables of systems and retrievers, made from the code: what each is, what it needs, how it is named."""

from __future__ import annotations

from litsynth.experiments.markdown import Ready, markdown_table
from litsynth.experiments.system_names import SHORT, WITHOUT_MODEL
from litsynth.retrieval.encoder_files import ENCODERS
from litsynth.systems import system_class, system_names

_NO_MODEL = (*WITHOUT_MODEL, "extractive")
# Where each is run besides the experiment of its benchmark, and where it is from.
_ORIGIN = {
    "extractive": "ours, a floor", "extractive_review": "ours, a floor", "trained_screener": "ours, a floor",
    "ircot": "LitBench, after IRCoT", "tool_agent": "LitBench", "one_pass": "MetaSyn",
    "screening": "MetaSyn, after its explicit screening pipeline", "agent": "ours, by MetaSyn's rules for agents"}
_ALONE = {"one_pass": "litsynth rag", "extractive_review": "litsynth rag", "trained_screener": "litsynth rag",
          "screening": "litsynth rag", "agent": "litsynth agent"}
_RUN = {"litbench": "litbench_conditions", "metasyn": "oracle_rag"}


def _first_sentence(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split()).rstrip(".")


def systems_table() -> str:
    """Return a Markdown table of all systems: the name that `systems` takes, benchmark, what it does, where it runs."""
    short = {system: name for name, system in SHORT.items()}
    rows = []
    for benchmark, title in (("metasyn", "MetaSyn"), ("litbench", "LitBench")):
        for system in system_names(benchmark):
            name = short.get(system, system) if benchmark == "metasyn" else system
            named = f"`{name}`" if system in _NO_MODEL else f"`{name}:PROFILE`"
            places = [f"`litsynth run {_RUN[benchmark]}`"] + [f"`{command}`" for command in [_ALONE.get(system)]
                                                               if command]
            if system in ("trained_screener", "screening"):
                places.append("`litsynth run screening`")
            rows.append([Ready(named), title, _first_sentence(system_class(system).__doc__),
                         _ORIGIN[system], Ready(", ".join(places))])
    return markdown_table(["name in `systems`", "benchmark", "what it does", "from", "run it with"], rows)


def retrievers_table() -> str:
    """Return a Markdown table of all retrievers: name, what it is, and the prefix that its queries get."""
    rows = [[Ready("`bm25`"), "Okapi's BM25 over title and abstract (k1 1.5, b 0.75), nothing to load", ""]]
    for name, settings in ENCODERS.items():
        prefix = settings.query_prefix
        rows.append([Ready(f"`{name}`"), f"embeddings of {settings.model}, cosine similarity",
                     prefix or "none"])
    rows += [[Ready("`hybrid`, `hybrid:A+B`"), "reciprocal rank fusion of bm25 and minilm, or of those named", ""],
             [Ready("a folder or `owner/model`"), "any sentence-transformers model, such as one that was trained here",
              "its own"]]
    return markdown_table(["name", "what it is", "query prefix"], rows)
