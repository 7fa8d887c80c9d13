"""`litsynth index` and `litsynth retrieve`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from litsynth import datasets
from litsynth.cli.reviews import chosen_review
from litsynth.errors import DataError
from litsynth.files import dumps, write_json
from litsynth.records import Dataset, Ranking, Review
from litsynth.retrieval import build_index, open_retriever, parts_of, protocol_query
from litsynth.retrieval.exclusion import check_depth
from litsynth.text import printable

_DATASET = typer.Option(..., help="A data set's name (see `litsynth data list`) or a folder with one.")
_RETRIEVER = typer.Option(..., help="bm25, minilm (no network), dense_raw, ma_retriever, hybrid (bm25 and minilm), "
                                    "hybrid:A+B, a sentence-transformers folder or a hub id (owner/model).")
_DEVICE = typer.Option("auto", help="Where encoders run: auto, cpu, cuda or mps.")
_BATCH = typer.Option(None, help="Texts in a batch on an accelerator (a CPU encodes each text alone).")
_MODEL = typer.Option(None, help="A folder or hub id to load the retriever's encoder from, with the settings kept: a "
                                 "copy of dense_raw's or ma_retriever's model on a machine without a network.")
_REVISION = typer.Option(None, help="The hub revision (commit, tag or branch) of the encoder.")
_KIND_RETRIEVE = typer.Option(None, help="flat (exact) or hnsw, for encoders; by default what the index is, or flat.")


def _index(
    dataset: str = _DATASET,
    retriever: str = _RETRIEVER,
    output: Path = typer.Option(..., help="The folder to write the index to; an older index there is replaced."),
    kind: str = typer.Option("flat", help="flat (exact search) or hnsw (approximate, as published), for encoders."),
    device: str = _DEVICE,
    batch_size: int | None = _BATCH,
    model: str | None = _MODEL,
    revision: str | None = _REVISION,
) -> None:
    """Build a retriever's index over a data set's corpus and save it.

    The folder is written whole or not at all. It records encoder, revision, document template, corpus size and corpus
    hash, and is refused later with anything else. Embeddings are also kept under data/indexes/embeddings: an
    interrupted run continues where it stopped.

    Example: litsynth index --dataset sample --retriever minilm --output data/indexes/sample-minilm
    """
    parts_of(retriever)  # a mistyped name is refused before anything is loaded
    manifest = build_index(retriever, datasets.load(dataset), output, kind=kind, device=device, batch_size=batch_size,
                           model=model, revision=revision)
    for name, part in manifest["details"].get("parts", {retriever: manifest}).items():
        typer.echo(f"{name}: {part['kind']} index of {part['identity']['corpus']['articles']} articles", err=True)
        if "share_cut" in part["details"]:
            typer.echo(f"{name}: {part['details']['share_cut']:.1%} of the documents were longer than "
                       f"{part['details']['max_tokens']} tokens and were cut", err=True)
    typer.echo(str(output))


def _retrieve(
    dataset: str = _DATASET,
    retriever: str = _RETRIEVER,
    review_id: int = typer.Option(..., help="The review whose protocol is the query."),
    output: str = typer.Option(..., help="The JSON file to write, or - for the standard output."),
    top_k: int = typer.Option(200, help="How many articles to retrieve, at least 1; cut to the size of the corpus."),
    index: Path | None = typer.Option(None, help="A folder made by `litsynth index`; without it the index is made in "
                                                 "memory, from kept embeddings where there are some."),
    kind: str | None = _KIND_RETRIEVE,
    device: str = _DEVICE,
    batch_size: int | None = _BATCH,
    model: str | None = _MODEL,
    revision: str | None = _REVISION,
) -> None:
    """Retrieve the best articles for one review's protocol and write them as JSON.

    The review's own records are excluded before the ranking is cut, so they never take a place.

    Example: litsynth retrieve --dataset sample --retriever bm25 --review-id 1 --top-k 20 --output -
    """
    parts_of(retriever)
    check_depth(top_k)
    data = datasets.load(dataset)
    review = chosen_review(data, review_id)
    opened: Any = open_retriever(retriever, data, index, kind=kind, device=device, batch_size=batch_size, model=model,
                                 revision=revision)
    ranking = opened.search(protocol_query(review), top_k, exclude=review.source_ids)
    result = _result(data, review, opened, ranking, top_k, index)
    if output == "-":
        typer.echo(printable(dumps(result, indent=2)))
    else:
        try:
            write_json(Path(output), result)
        except OSError as error:
            raise DataError(f"{output} could not be written ({error})", expected="a writable path with room left",
                            remedy="choose another --output; nothing half-written was left behind") from error
    if result["note"]:
        typer.echo(result["note"], err=True)


def _result(data: Dataset, review: Review, retriever: Any, ranking: Ranking, top_k: int, index: Path | None) -> dict:
    """Return the strict JSON of one retrieval: what was asked, of what, with what, and the ranked articles."""
    available = len(retriever.corpus_ids) - len(set(review.source_ids) & set(retriever.corpus_ids.tolist()))
    note = ""
    if len(ranking) < top_k:
        cut = f"the corpus has no more than {available} for this review" if len(ranking) == available else \
            f"the other {available - len(ranking)} that the corpus has for this review score zero (no word in common, "\
            "or only words that most articles have)"
        note = f"{len(ranking)} instead of {top_k} articles: {cut}"
    found = zip(ranking.ids.tolist(), ranking.scores.tolist(), strict=True)
    articles = [{"rank": rank, "corpus_id": number, "score": score, "title": data.corpus[number].title,
                 "year": data.corpus[number].year} for rank, (number, score) in enumerate(found, start=1)]
    return {"review_id": review.id, "retriever": retriever.name, "query": protocol_query(review), "top_k": top_k,
            "retrieved": len(articles), "note": note, "excluded_ids": sorted(review.source_ids),
            "dataset": {"name": data.name, "checksum": data.checksum, "synthetic": data.synthetic},
            "index": {"directory": None if index is None else str(index), "identity": retriever.identity},
            "articles": articles}


def register(app: typer.Typer) -> None:
    """Add the commands of this room."""
    app.command("index")(_index)
    app.command("retrieve")(_retrieve)
