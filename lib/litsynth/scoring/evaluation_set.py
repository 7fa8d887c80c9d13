"""A whole split evaluated: every review's record, and macro averages with intervals unless anything failed."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from litsynth.errors import ScoringError
from litsynth.files import ItemLog, read_json, write_json
from litsynth.progress import progress
from litsynth.records import Estimate
from litsynth.scoring.evaluation import METRICS, Evaluator, evaluate_review, fingerprint
from litsynth.scoring.evaluation_judge import JUDGE_METRICS
from litsynth.scoring.identifiers import ID_METRICS
from litsynth.scoring.submission import Submission, read_folder

DEFAULT_SEED = 718
_PROVENANCE = {"dataset_id", "dataset_checksum", "judge_identity", "prompt_version", "encoder_identity", "id_only"}
_RECORD = {"review_id", "status", "metrics", "strict_metrics", "judge_usage", "error"}


def evaluate_all(
    results_dir: Path,
    evaluator: Evaluator,
    output: Path,
    *,
    split: str = "test",
    seed: int = DEFAULT_SEED,
) -> dict[str, Any]:
    """Evaluate the submission of a whole split, write `output` and return what was written.

    The folder is checked first: every review of the split exactly once, with its report where one is needed; otherwise
    `ScoringError` and no judge is asked. Succeeded records are appended to `OUTPUT.records.jsonl` as they come, and a
    repeated call takes them from there. Any failed record gives status `failed` and no averages.
    """
    reviews = evaluator.dataset.split(split)
    if not reviews:
        raise ScoringError(
            f"split {split!r} of {evaluator.dataset.name} has no reviews",
            expected="a split with reviews",
            remedy="see `litsynth data info` for the splits",
        )
    submissions = read_folder(
        results_dir, reviews, need_report=evaluator.needs_report, dataset=evaluator.dataset.name, split=split
    )
    output = Path(output)
    log = ItemLog(output.with_name(output.name + ".records.jsonl"))
    shown = progress(submissions, total=len(submissions), stage="evaluate-all")
    records = [_resumed(submission, evaluator, log) for submission in shown]
    result = summarise(records, evaluator.provenance(), split=split, seed=seed)
    write_json(output, result)
    return result


def _resumed(submission: Submission, evaluator: Evaluator, log: ItemLog) -> dict[str, Any]:
    key = f"{submission.review_id}:{fingerprint(submission, evaluator)}"
    finished = log.get(key)
    if finished is None:
        record = evaluate_review(submission, evaluator)
        if record["status"] != "succeeded":  # a failure is asked again next time
            return record
        log.append({"key": key, "record": record})
        return record
    record = finished.get("record")
    if not _is_record(record) or record["review_id"] != submission.review_id:
        raise ScoringError(
            f"{log.path}: the record {key[:24]}… is broken",
            expected="the records that evaluate-all kept",
            remedy="delete the file; its reviews will be evaluated again",
        )
    return record


def estimate_dict(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as JSON-ready values; `n` is the valid denominator."""
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "method": estimate.method,
        "confidence": estimate.confidence,
        "reason": estimate.reason,
    }


def averages(
    rows: Sequence[Mapping[str, float | None]], names: Iterable[str], *, seed: int
) -> dict[str, dict[str, Any]]:
    """Return the macro mean of each metric over the reviews where it is defined, with its bootstrap interval."""
    from litsynth.stats import mean_bootstrap

    return {
        name: estimate_dict(mean_bootstrap([row[name] for row in rows if row[name] is not None], seed=seed))
        for name in names
    }


def summarise(
    records: Sequence[dict[str, Any]], provenance: Mapping[str, Any], *, split: str, seed: int
) -> dict[str, Any]:
    """Return the evaluation of a split from its records; averages are None when any record failed.

    `averages` follow the benchmark's reading of the lists, `strict_averages` the dedicated lists without the entries
    that the reports call excluded; reviews without a dedicated list leave the strict denominators.
    """
    failures = [{"review_id": r["review_id"], **r["error"]} for r in records if r["status"] != "succeeded"]
    result = {
        "status": "failed" if failures else "succeeded",
        "evaluated_at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "evaluator": dict(provenance),
        "split": split,
        "seed": seed,
        "reviews": len(records),
        "failures": failures,
        "averages": None,
        "strict_averages": None,
        "judge_usage": _usage(records),
        "records": list(records),
    }
    if not failures:
        names = ID_METRICS if provenance["id_only"] else METRICS
        result["averages"] = averages([r["metrics"] for r in records], names, seed=seed)
        strict = [r["strict_metrics"] for r in records if r["strict_metrics"] is not None]
        result["strict_averages"] = averages(strict, ID_METRICS, seed=seed)
    return result


def _usage(records: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    used = [r["judge_usage"] for r in records if r["judge_usage"]]
    if not used:
        return None
    total = {name: sum(u[name] for u in used) for name in ("calls", "prompt_tokens", "completion_tokens")}
    costs = [u["cost"] for u in used]
    cost = None if any(c is None for c in costs) else math.fsum(costs)
    return total | {"estimated": any(u["estimated"] for u in used), "cost": cost}


def read_evaluation(path: Path) -> dict[str, Any]:
    """Read a file written by `evaluate_all`; raises `ScoringError` for anything else."""
    value = read_json(path)
    records = value.get("records") if isinstance(value, dict) else None
    evaluator = value.get("evaluator") if isinstance(value, dict) else None
    if not isinstance(records, list) or not isinstance(evaluator, dict) or not evaluator.keys() >= _PROVENANCE:
        problem = "is no evaluation of a split"
    elif bad := [number for number, record in enumerate(records, start=1) if not _is_record(record)]:
        problem = f"has a broken record, number {bad[0]}"
    elif len({record["review_id"] for record in records}) < len(records):
        problem = "has two records of one review"
    else:
        return value
    raise ScoringError(
        f"{path} {problem}",
        expected="a file written by `litsynth evaluate-all`",
        remedy="give evaluate-all's --output file, or write it again",
    )


def _is_record(value: Any) -> bool:
    """Return whether this has what summaries and comparisons read of a record, each of its type."""
    if not isinstance(value, dict) or not value.keys() >= _RECORD or not isinstance(value["metrics"], dict):
        return False
    scores = [value["metrics"].get(name, "absent") for name in METRICS]
    return (
        type(value["review_id"]) is int
        and value["status"] in ("succeeded", "failed")
        and all(score is None or type(score) in (int, float) for score in scores)
    )


def compare(a: Mapping[str, Any], b: Mapping[str, Any], *, seed: int = DEFAULT_SEED) -> list[dict[str, Any]]:
    """Return the paired difference a − b of every metric over the reviews where both are defined.

    `a` and `b` are evaluations as `evaluate_all` writes them. Each row has metric, mean_a, mean_b, difference, low,
    high, n,
    `only_a` and `only_b` (reviews defined on one side alone) and reason. Judge metrics of different judges,
    prompts or encoders are not compared. Raises `ScoringError` when data sets differ.
    """
    from litsynth.stats import paired_bootstrap

    left, right = a["evaluator"], b["evaluator"]
    if left["dataset_checksum"] != right["dataset_checksum"]:
        raise ScoringError(
            f"the evaluations are of different data: {left['dataset_id']} ({left['dataset_checksum'][:12]}) "
            f"and {right['dataset_id']} ({right['dataset_checksum'][:12]})",
            expected="two evaluations of the same data set",
            remedy="evaluate both on the same data",
        )
    same_judge = all(left[key] == right[key] for key in ("judge_identity", "prompt_version", "encoder_identity"))
    first, second = ({r["review_id"]: r["metrics"] for r in side["records"]} for side in (a, b))
    rows = []
    for name in METRICS:
        with_a, with_b = ({i for i, m in side.items() if m[name] is not None} for side in (first, second))
        comparable = name not in JUDGE_METRICS or same_judge
        both = sorted(with_a & with_b) if comparable else []
        estimate = paired_bootstrap([first[i][name] for i in both], [second[i][name] for i in both], seed=seed)
        reason = estimate.reason if comparable else "the judges, prompts or encoders differ"
        rows.append(
            {
                "metric": name,
                "mean_a": estimate.details.get("mean_a"),
                "mean_b": estimate.details.get("mean_b"),
                "difference": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "n": estimate.n,
                "only_a": len(with_a - with_b),
                "only_b": len(with_b - with_a),
                "reason": reason,
            }
        )
    return rows
