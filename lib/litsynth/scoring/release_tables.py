"""The table of configurations: macro means, intervals, ranks and their uncertainty, beside the published means."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from litsynth.errors import DataError, ScoringError
from litsynth.files import atomic_path, write_json, write_parquet
from litsynth.scoring.evaluation import METRICS
from litsynth.scoring.release import ReleaseTables

LOWER_IS_BETTER = frozenset({"post_retrieval_loss"})
_KEYS = ["system", "model", "retriever", "metric"]
_WRITTEN = ("items.parquet", "configurations.parquet", "differences.parquet", "checks.parquet", "manifest.json")


def evaluation_rows(evaluation: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the item rows of one's own system from an evaluation that `evaluate-all` wrote, as configuration
    `name`.
    """
    rows = []
    for record in evaluation["records"]:
        for metric in METRICS:
            value = record["metrics"][metric]
            failed = record["status"] != "succeeded" and value is None
            reason = record["error"]["message"] if failed else "undefined for this review" if value is None else ""
            rows.append(
                {
                    "configuration": name,
                    "system": name,
                    "model": "",
                    "retriever": "",
                    "review": record["review_id"],
                    "metric": metric,
                    "value": value,
                    "status": "failed" if failed else "scored",
                    "reason": reason,
                }
            )
    return rows


def join_evaluation(items: Any, evaluation: Mapping[str, Any], name: str) -> Any:
    """Return `items` with one's own system added; raises `ScoringError` for a taken name or when no review is
    shared.
    """
    import pandas

    if name in set(items["configuration"]):
        raise ScoringError(
            f"configuration {name!r} is in the table already",
            expected="a name of its own",
            remedy="choose another name",
        )
    own = pandas.DataFrame(evaluation_rows(evaluation, name))
    if own.empty or not set(own["review"]) & set(items["review"]):
        raise ScoringError(
            f"{name!r} shares no review with the release",
            expected="an evaluation of the same reviews",
            remedy="evaluate on the data set of the release",
        )
    return pandas.concat([items, own], ignore_index=True)


def configuration_table(items: Any, *, published: Path | None = None, seed: int = 718) -> Any:
    """Return one row for each configuration and metric.

    mean, low, high: macro mean with bootstrap interval over the reviews where it is defined; `n`: that
    denominator. rank (1 is best; a smaller loss is better), rank_low, rank_high, first: over the `rank_n` reviews
    where every configuration that has the metric at all has a value. With `published` (a CSV of the published
    means): published_mean, published_n, and difference = mean − published_mean; the two
    cover different reviews where `n` and `published_n` differ.
    """
    import pandas

    rows = [row for metric in METRICS for row in _metric_rows(items[items["metric"] == metric], metric, seed)]
    table = pandas.DataFrame(rows)
    if published is None:
        return table
    reference = read_published(published)
    table = table.merge(reference, on=_KEYS, how="left", validate="many_to_one")
    table["difference"] = table["mean"] - table["published_mean"]
    return table


def _metric_rows(part: Any, metric: str, seed: int) -> list[dict[str, Any]]:
    from litsynth.stats import mean_bootstrap, rank_bootstrap

    names = part[["configuration", "system", "model", "retriever"]].drop_duplicates().to_dict("records")
    grid = part.pivot(index="review", columns="configuration", values="value").astype(float).sort_index()
    scored = [name["configuration"] for name in names if grid[name["configuration"]].notna().any()]
    common = grid[scored].dropna() if scored else grid.iloc[:0]
    ranks = dict(
        zip(
            scored,
            rank_bootstrap(
                [common[name].to_numpy() for name in scored],
                seed=seed,
                names=scored,
                higher_is_better=metric not in LOWER_IS_BETTER,
            ),
            strict=True,
        )
    )
    rows = []
    for name in names:
        values = grid[name["configuration"]].dropna().to_numpy()
        estimate, rank = mean_bootstrap(values, seed=seed), ranks.get(name["configuration"])
        rows.append(
            name
            | {
                "metric": metric,
                "mean": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "n": estimate.n,
                "rank": rank.value if rank else None,
                "rank_low": rank.low if rank else None,
                "rank_high": rank.high if rank else None,
                "first": rank.details.get("first") if rank else None,
                "rank_n": rank.n if rank else 0,
            }
        )
    return rows


def difference_table(items: Any, *, seed: int = 718) -> Any:
    """Return the paired difference a − b of every two configurations in every metric, one row each.

    value, low, high: mean difference with a bootstrap interval over the `n` reviews where both are defined;
    low and high are null where there is no interval, and `reason` says why.
    """
    import pandas

    from litsynth.stats import paired_bootstrap

    rows = []
    for metric in METRICS:
        part = items[items["metric"] == metric]
        grid = part.pivot(index="review", columns="configuration", values="value").astype(float).sort_index()
        for a, b in combinations(sorted(grid.columns), 2):
            both = grid[[a, b]].dropna()
            estimate = paired_bootstrap(both[a], both[b], seed=seed)
            rows.append({"metric": metric, "a": a, "b": b, "value": estimate.value, "low": estimate.low,
                         "high": estimate.high, "n": estimate.n, "reason": estimate.reason})
    return pandas.DataFrame(rows)


def read_published(path: Path) -> Any:
    """Read published means: columns system, model, retriever, metric, macro_mean, reviews_counted."""
    import pandas

    path = Path(path)
    wanted = [*_KEYS, "macro_mean", "reviews_counted"]
    try:
        table = pandas.read_csv(path)
    except FileNotFoundError:
        raise DataError(
            f"{path} does not exist", expected="the CSV of published means", remedy="check the path"
        ) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not readable ({error})", expected="a CSV", remedy="write it again") from None
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise DataError(
            f"{path} lacks the columns {', '.join(missing)}; it has {', '.join(map(str, table.columns))}",
            expected=", ".join(wanted),
            remedy="rename or add them",
        )
    if table.duplicated(_KEYS).any():
        raise DataError(f"{path} has a configuration and metric twice", expected="one row each", remedy="remove one")
    return table[wanted].rename(columns={"macro_mean": "published_mean", "reviews_counted": "published_n"})


def write_release(
    output: Path, tables: ReleaseTables, configurations: Any, differences: Any, facts: Mapping[str, Any]
) -> None:
    """Write items, configurations, differences and checks as Parquet with a manifest: the whole folder or nothing.

    Raises `DataError` when `output` holds other files, which would be lost.
    """
    output = Path(output)
    strangers = sorted(p.name for p in output.iterdir() if p.name not in _WRITTEN) if output.is_dir() else []
    if strangers:
        raise DataError(
            f"{output} holds other files: {', '.join(strangers[:5])}",
            expected="a new folder or an earlier import",
            remedy="choose another --output",
        )
    with atomic_path(output) as temporary:
        temporary.mkdir()
        write_parquet(temporary / "items.parquet", tables.items)
        write_parquet(temporary / "configurations.parquet", configurations)
        write_parquet(temporary / "differences.parquet", differences)
        write_parquet(temporary / "checks.parquet", tables.checks)
        write_json(temporary / "manifest.json", dict(facts))
