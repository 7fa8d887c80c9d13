"""The eight identifier metrics of one review: what retrieval found, what selection kept, what was added wrongly."""

from __future__ import annotations

from collections.abc import Collection, Iterable

RETRIEVAL_METRICS = ("retrieval_recall", "retrieval_precision", "conditional_retention", "post_retrieval_loss")
INCLUSION_METRICS = ("inclusion_recall", "inclusion_precision", "inclusion_f1", "screening_accuracy")
ID_METRICS = RETRIEVAL_METRICS + INCLUSION_METRICS


def fold_entry(entry: str) -> str:
    """Return the identity of an unmatched entry: case folded, runs of spaces made one."""
    return " ".join(entry.split()).casefold()


def unmatched_count(unmatched_ids: Iterable[int], unmatched_entries: Iterable[str]) -> int:
    """Return the number of distinct unmatched IDs and entries; entries that differ in case or spacing only are one."""
    entries = {fold_entry(entry) for entry in unmatched_entries}
    return len(set(unmatched_ids)) + len(entries - {""})


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def id_metrics(
    reference: Collection[int] | None,
    included: Collection[int],
    retrieved: Collection[int],
    unmatched_ids: Collection[int] = (),
    unmatched_entries: Collection[str] = (),
) -> dict[str, float | None]:
    """Return the eight identifier metrics of one review, unrounded, each in [0, 1] or None where undefined.

    `reference` is the set G of the review's linked articles (None or empty: there is no reference set and every
    metric is None), `retrieved` the pool P, `included` the list L; all are deduplicated here. With
    U the number of distinct unmatched IDs and entries:

    * retrieval_recall |P∩G|/|G|, retrieval_precision |P∩G|/|P| (0 when nothing was retrieved);
    * conditional_retention |P∩G∩L|/|P∩G| (None when P∩G is empty), post_retrieval_loss |(P∩G)\\L|/|G|;
    * inclusion_recall |L∩G|/|G|, inclusion_precision |L∩G|/(|L|+U), inclusion_f1 their harmonic mean
      (all 0 when nothing was predicted or nothing predicted is right);
    * screening_accuracy, the share of P whose decision (in L or not) agrees with membership in G (None when P is
    empty).
    """
    gold, pool, chosen = frozenset(reference or ()), frozenset(retrieved), frozenset(included)
    if not gold:
        return dict.fromkeys(ID_METRICS)
    found = pool & gold
    kept = found & chosen
    hits = len(chosen & gold)
    predicted = len(chosen) + unmatched_count(unmatched_ids, unmatched_entries)
    agreeing = sum((article in chosen) == (article in gold) for article in pool)
    return {
        "retrieval_recall": len(found) / len(gold),
        "retrieval_precision": len(found) / len(pool) if pool else 0.0,
        "conditional_retention": _share(len(kept), len(found)),
        "post_retrieval_loss": (len(found) - len(kept)) / len(gold),
        "inclusion_recall": hits / len(gold),
        "inclusion_precision": hits / predicted if predicted else 0.0,
        # 2PR/(P+R) with P = hits/predicted and R = hits/|G| is 2·hits/(predicted+|G|).
        "inclusion_f1": 2 * hits / (predicted + len(gold)),
        "screening_accuracy": _share(agreeing, len(pool)),
    }
