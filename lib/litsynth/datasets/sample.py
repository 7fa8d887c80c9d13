"""Writes the synthetic sample: reviews with a corpus, and a question bank, both from one seed.

`python -m litsynth.datasets.sample [FOLDER] [--seed N]` writes it anew; the committed one has seed 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from litsynth.datasets import sample_litbench, sample_metasyn
from litsynth.files import atomic_path, write_json, write_text
from litsynth.paths import data_dir

SEED = 0
_SECTIONS = "sections"


def write_sample(folder: Path, seed: int = SEED) -> None:
    """Write all tables of the sample, its card and its README into `folder`; the same seed gives the same bytes."""
    folder = Path(folder)
    for name, rows in sample_metasyn.generate(seed).items():
        _write_table(folder / f"{name}.parquet", _table(name, rows))
    sample_litbench.write_part(folder, seed)
    write_json(
        folder / "dataset.json", {"name": "sample", "synthetic": True, "licence": "CC0-1.0", "revision": f"seed {seed}"}
    )
    write_text(folder / "README.md", _README.format(seed=seed))


def _schema(name: str) -> Any:
    import pyarrow as pa

    text, number, numbers, real = pa.string(), pa.int64(), pa.list_(pa.int64()), pa.float64()
    if name == "corpus":
        section = pa.struct([("heading", text), ("text", text)])
        return pa.schema(
            [
                ("ID", number),
                ("pmid", text),
                ("pmc_id", text),
                ("doi", text),
                ("title", text),
                ("abstract", text),
                ("authors", pa.list_(text)),
                ("journal", text),
                ("year", pa.int32()),
                (_SECTIONS, pa.list_(section)),
            ]
        )
    if name == "notes":
        return pa.schema(
            [("corpus_ID", number), ("review_ID", number), ("kind", text), ("fails", text), ("duplicate_of", number)]
        )
    texts = (
        "Title",
        "Research_Question",
        "Population",
        "Intervention",
        "Exposure",
        "Comparison",
        "Outcome",
        "search_start_date",
        "search_end_date",
        "inclusion_criteria",
        "exclusion_criteria",
    )
    return pa.schema(
        [
            ("ID", number),
            *((column, text) for column in texts),
            ("source_review_corpus_ids", numbers),
            ("matched_corpus_ids", numbers),
            ("Effect_Direction", text),
            ("Key_Insights", text),
            ("Effect_Size_Type", text),
            *((column, real) for column in ("Effect_Size_Value", "CI_Lower", "CI_Upper", "I2_Value")),
            ("study_count", number),
            ("split", text),
        ]
    )


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    import pyarrow as pa

    return pa.Table.from_pylist(list(rows), schema=_schema(name))


def _write_table(target: Path, table: Any) -> None:
    """Write an Arrow table without anything that changes between runs."""
    import pyarrow.parquet as pq

    with atomic_path(target) as temporary:
        pq.write_table(table, temporary, compression="zstd", compression_level=9)


_README = """# Synthetic sample

Everything in this folder is made up: reviews, articles, authors, journals, drugs, devices, questions and answers.
It was generated from seed {seed} and describes no real study; every number made from it is about the software, not
about medicine.

Write it anew: `python -m litsynth.datasets.sample` (the same seed gives the same bytes with the same version of
pyarrow, and the same content checksum with any).

| file | content |
|---|---|
| `reviews.parquet` | 24 reviews (16 train, 8 test) of interventions (PI) or exposures (E); two are updates of others |
| `corpus.parquet` | articles of all reviews, near misses and unrelated ones; IDs are hashes and tell nothing |
| `notes.parquet` | what is known of an article for error analysis; gold, never shown to a system |
| `papers.parquet`, `facts.parquet`, `questions.parquet` | a question bank in the LitBench shape |
| `dataset.json` | name, licence, and that this is synthetic |
| `completions.jsonl` | answers of the embedded model about the sample; the runs of the book replay them |

`notes.parquet`: `kind` is `hard_negative` (fails exactly one criterion of review `review_ID`, named in `fails`:
population, intervention, comparison, outcome, design or date), `near_duplicate` (a conference abstract or a correction
of the included article `duplicate_of`), or `source_review` (the review's own record).

`Effect_Direction` is Positive where the intervention prevents the outcome or the exposure goes with more of it,
Negative for the reverse, Mixed where the pooled interval holds 1, NR where the review reports no synthesis.

Licence: CC0 1.0.
"""


def _main() -> None:
    parser = argparse.ArgumentParser(description="Write the synthetic sample anew.")
    parser.add_argument("folder", nargs="?", type=Path, default=None, help="where to write; data/sample by default")
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    write_sample(arguments.folder or data_dir("sample"), arguments.seed)


if __name__ == "__main__":
    _main()
