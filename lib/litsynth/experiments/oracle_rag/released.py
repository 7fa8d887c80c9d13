"""The released twelve configurations as rows like the run's own: from an import of the release, else as published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from litsynth import paths
from litsynth.errors import DataError
from litsynth.experiments.store import Run
from litsynth.files import sha256_file, sha256_of
from litsynth.scoring.identifiers import ID_METRICS
from litsynth.scoring.release_tables import read_published

PUBLISHED = "metasyn_main_table.csv"
IMPORTED = "metasyn-release"  # under data/results/: what `litsynth import-release` wrote, promoted
COLUMNS = ["configuration", "metric", "value", "low", "high", "n", "published_mean", "published_n", "source"]


def release_folder(given: str | Path | None) -> Path | None:
    """Return the folder of an imported release: the given one, else `data/results/metasyn-release`, else None.

    Raises `DataError` when the given folder holds no import.
    """
    for folder in (Path(given).expanduser(),) if given else (paths.results_dir() / IMPORTED,):
        for place in (folder, folder / "tables"):
            if (place / "configurations.parquet").is_file():
                return place
    if given:
        raise DataError(f"{given} holds no imported release", expected="a folder with configurations.parquet",
                        remedy=f"litsynth import-release FOLDER --output {given}")
    return None


def published_file() -> Path:
    """Return the table of published means that comes with the workspace."""
    return paths.project_root() / "data" / "published" / PUBLISHED


def release_checksum(given: str | Path | None) -> str:
    """Return what identifies the released numbers that stand beside a run's."""
    folder = release_folder(given)
    found = [published_file(), *([folder / "configurations.parquet"] if folder else [])]
    return sha256_of([sha256_file(path) for path in found if path.is_file()])[:12]


def released_table(run: Run | None = None, given: str | Path | None = None) -> pd.DataFrame:
    """Return a row a released configuration and ID metric, saved as `released` when a run is given.

    value, low, high, n: macro mean and interval of the imported release's reviews; where there is no import, `value` is
    the published mean and has no interval. `source` says which.
    """
    folder = release_folder(run.parameters.release if run else given)
    published = read_published(published_file())
    names = published[["system", "model", "retriever"]].astype(str).agg(" ".join, axis="columns")
    published = published.assign(configuration=names)
    published = published[published["metric"].isin(ID_METRICS)]
    frame = published[["configuration", "metric", "published_mean", "published_n"]]
    if folder is None:
        frame = frame.assign(value=frame["published_mean"], low=None, high=None, n=frame["published_n"],
                             source="published mean")
    else:
        own = pd.read_parquet(folder / "configurations.parquet")
        labels = own[["system", "model", "retriever"]].astype(str).agg(" ".join, axis="columns").str.strip()
        own = own.assign(configuration=labels).rename(columns={"mean": "value"})
        own = own[own["metric"].isin(ID_METRICS)][["configuration", "metric", "value", "low", "high", "n"]]
        frame = own.merge(frame, on=["configuration", "metric"], how="left").assign(source="imported release")
    frame = frame[COLUMNS].astype({"value": "float64", "low": "float64", "high": "float64"})
    frame = frame.sort_values(["configuration", "metric"], kind="stable", ignore_index=True)
    if run:
        run.save_table("released", frame)
    return frame


def all_stages(given: Any) -> pd.DataFrame:
    """Return a row a released configuration and stage metric, those of a judge too: the import's, else as published.

    Columns: configuration, metric, value, low, high, n, asked (reviews of the import, or as published), source.
    """
    folder = release_folder(given)
    if folder is None:
        frame = read_published(published_file()).rename(columns={"published_mean": "value", "published_n": "n"})
        frame = frame.assign(low=None, high=None, asked=frame["n"], source="published mean")
    else:
        frame = pd.read_parquet(folder / "configurations.parquet").rename(columns={"mean": "value"})
        frame = frame.assign(asked=frame["n"].max(), source="imported release")
    names = frame[["system", "model", "retriever"]].astype(str).agg(" ".join, axis="columns").str.strip()
    frame = frame.assign(configuration=names + " · MetaSyn (released)")
    frame = frame[["configuration", "metric", "value", "low", "high", "n", "asked", "source"]]
    frame = frame.astype({"value": "float64", "low": "float64", "high": "float64"})
    return frame.sort_values(["configuration", "metric"], kind="stable", ignore_index=True)


def released_funnel(released: pd.DataFrame) -> pd.DataFrame:
    """Return the mean shares of the reference set by configuration: not retrieved, dropped, kept.

    The mean of retrieval recall minus post-retrieval loss is the mean share kept, because both have one denominator.
    What was wrongly added cannot be known from means.
    """
    wide = released.pivot(index="configuration", columns="metric", values="value")
    rows: list[dict[str, Any]] = []
    for name, row in wide.iterrows():
        found, lost = row["retrieval_recall"], row["post_retrieval_loss"]
        rows.append({"label": name, "not_retrieved": 1 - found, "dropped": lost, "kept": found - lost})
    return pd.DataFrame(rows, columns=["label", "not_retrieved", "dropped", "kept"])
