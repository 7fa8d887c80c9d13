"""A run on disk: its identity, its items, tables and figures, and how it resumes."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litsynth import files, paths
from litsynth.errors import RunError
from litsynth.experiments import fingerprint, locks, manifest, notebooks
from litsynth.experiments.parameters import Experiment, Parameters, deciding_names, get_experiment
from litsynth.progress import progress
from litsynth.records.tasks import Dataset

_NAME = re.compile(r"[a-z][a-z0-9_]*")
Work = Iterable[tuple[str, Callable[[], Mapping[str, Any]]]]


@dataclass(frozen=True)
class Plan:
    """What a run will be, before anything is computed: same plan, same id, same directory."""

    experiment: Experiment
    parameters: Parameters
    id: str
    drawing: str
    identities: Mapping[str, Any] = field(default_factory=dict)
    dataset: Dataset | None = None
    code: str = ""

    @property
    def directory(self) -> Path:
        """Where the run lies."""
        return paths.runs_dir() / self.experiment.name / self.id


def _load_dataset(parameters: Parameters) -> Dataset | None:
    name = getattr(parameters, "dataset", None)
    if name is None:
        return None
    from litsynth import datasets

    return datasets.load(name)


def plan_run(experiment: Experiment, raw: Mapping[str, Any]) -> Plan:
    """Validate parameters and work out which run they belong to; raises what a bad parameter or data set raises.

    The id is the start of a SHA-256 over experiment, parameters that decide results, data set checksum,
    identities of models and encoders, and the code's fingerprint. The data set's name or folder is no
    part of it: the same content is the same run wherever it lies.
    """
    parameters = experiment.parse(raw)
    dataset = _load_dataset(parameters)
    identify = experiment.hook("identities")
    identities = dict(identify(parameters, dataset)) if identify else {}
    source = notebooks.read(paths.notebooks_dir() / experiment.notebook_file)
    code = fingerprint.result_fingerprint(experiment.module_name, notebooks.code(source))
    values = parameters.model_dump(mode="json")
    decisive = {name: values[name] for name in deciding_names(experiment.parameters) if name != "dataset"}
    identity = {"experiment": experiment.name, "parameters": decisive, "identities": identities, "code": code,
                "dataset": dataset.checksum if dataset else None}
    return Plan(experiment, parameters, files.sha256_of(identity)[:12],
                fingerprint.drawing_fingerprint(notebooks.prose(source)), identities, dataset, code)


def open_run(experiment: str, **parameters: Any) -> Run:
    """Open the run that these parameters belong to: a new one, or the one that was started before.

    Raises `ParameterError` for unknown names (also those that papermill injected beside the declared ones)
    and impossible values, `RunError` when another process writes the same run.
    """
    known = get_experiment(experiment)
    return Run(plan_run(known, {**notebooks.injected_parameters(), **parameters}))


class Run:
    """One run: a directory with manifest, items, tables, figures and the executed notebook.

    `id`, `directory`, `parameters` (validated), `dataset` (loaded, None without one) and `log` (finished items)
    are for reading. Several stages may compute; each item has a key that no other item of the run has.
    """

    def __init__(self, plan: Plan) -> None:
        self.id, self.directory, self.parameters, self.dataset = plan.id, plan.directory, plan.parameters, plan.dataset
        self.experiment = plan.experiment
        locks.acquire(self.directory / "run.lock", what=f"run {plan.experiment.name}/{plan.id}")
        self.log = files.ItemLog(self.directory / "items.jsonl")
        self._start, self._computed, self._reused, self._unfinished = time.monotonic(), 0, 0, 0
        earlier = manifest.read(self.directory) or {}
        self._manifest = self._new_manifest(plan, earlier)
        self._write("running")

    def __repr__(self) -> str:
        data = self._manifest["dataset"]
        about = f" on {data['name']}" + (" (SYNTHETIC data)" if data["synthetic"] else "") if data else ""
        return f"run {self.experiment.name}/{self.id}{about}: {len(self.log)} finished items"

    def _new_manifest(self, plan: Plan, earlier: Mapping[str, Any]) -> dict[str, Any]:
        dataset, model = plan.dataset, plan.parameters
        session = {"started": manifest.now(), "ended": None, "seconds": None, "computed": 0, "reused": 0}
        values = model.model_dump(mode="json")
        defaults = type(model)().model_dump(mode="json")
        return {
            "experiment": plan.experiment.name, "id": plan.id, "description": plan.experiment.description,
            "parameters": values, "parameters_given": {n: v for n, v in values.items() if v != defaults[n]},
            "dataset": {"name": dataset.name, "checksum": dataset.checksum, "revision": dataset.revision,
                        "licence": dataset.licence, "synthetic": dataset.synthetic} if dataset else None,
            "synthetic": bool(dataset and dataset.synthetic), "uses_gold": plan.experiment.uses_gold,
            "identities": dict(plan.identities), "seed": values.get("seed"),
            "code": {"fingerprint": plan.code, "drawing": plan.drawing, **manifest.commit(paths.project_root())},
            "packages": manifest.package_versions(),
            "started": earlier.get("started", session["started"]), "ended": None,
            "sessions": [*earlier.get("sessions", []), session], "tables": {}, "figures": {}, "facts": {},
            "usage": earlier.get("usage", manifest.usage_facts(None)), "items": len(self.log), "reason": "",
        }

    def _write(self, status: str, reason: str = "") -> None:
        ended = None if status == "running" else manifest.now()
        self._manifest["sessions"][-1].update(ended=ended, seconds=round(time.monotonic() - self._start, 3),
                                              computed=self._computed, reused=self._reused)
        self._manifest.update(status=status, reason=reason, ended=ended, items=len(self.log))
        files.write_json(self.directory / "manifest.json", self._manifest)

    def compute(self, work: Work, stage: str, workers: int = 1) -> list[dict[str, Any]]:
        """Compute what is not finished yet and return the items of all `work`, ordered by key.

        Each finished item is on disk before the next is counted, so a killed run repeats nothing. `workers` threads may
        work at once; the result is the same with any number. An item that carries a true `retry` (an endpoint
        gave no answer) is returned but not kept: the run then ends as `partial` and asks again next time.
        Ctrl-C and errors leave a run that resumes. An error's attribute `run_status` (such as "partial" for a
        spending cap) is the status that the run then gets.
        """
        tasks = dict(self._checked(work, stage))
        pending = {key: task for key, task in tasks.items() if key not in self.log}
        self._reused += len(tasks) - len(pending)
        passing: dict[str, dict[str, Any]] = {}
        try:
            for key, result in progress(_results(pending, workers), total=len(pending), stage=stage):
                item = {**result, "key": key, "stage": stage}
                if item.get("retry"):
                    passing[key] = item
                else:
                    self.log.append(item)
                    self._computed += 1
        except KeyboardInterrupt:
            self._write("interrupted", f"interrupted during {stage}")
            sys.stderr.write(f"Interrupted: {len(self.log)} items are kept. "
                             f"The same command or notebook resumes run {self.id}.\n")
            raise
        except BaseException as error:
            self._write(getattr(error, "run_status", "failed"), f"{type(error).__name__} during {stage}: {error}")
            raise
        self._unfinished += len(passing)
        self._write("running")
        return [passing.get(key) or self.log.get(key) or {} for key in sorted(tasks)]

    def _checked(self, work: Work, stage: str) -> Iterator[tuple[str, Callable[[], Mapping[str, Any]]]]:
        seen: set[str] = set()
        for key, task in work:
            kept = self.log.get(key)
            if key in seen or (kept is not None and kept.get("stage", stage) != stage):
                raise RunError(f"item {key!r} of stage {stage!r} appears twice in run {self.id}",
                               expected="a key of its own for each item of the run",
                               remedy="put the stage into the key")
            seen.add(key)
            yield key, task

    def save_table(self, name: str, frame: Any) -> Path:
        """Write a data frame to `tables/<name>.parquet`; equal frames give equal bytes.

        Order the rows by what identifies them, and put times into `record`, not here.
        """
        path = self.directory / "tables" / f"{_checked_name(name)}.parquet"
        files.write_parquet(path, frame)
        self._manifest["tables"][name] = {"rows": len(frame), "columns": list(map(str, frame.columns)),
                                          "sha256": files.sha256_file(path)}
        return path

    def table(self, name: str) -> Any:
        """Return a table of this run as a data frame."""
        return read_table(self.directory, name)

    def save_figure(self, name: str, figure: Any, data: Any, *, alt: str) -> Path:
        """Write a figure as SVG, PNG and PDF with its plotted data (CSV) and its description in words."""
        from litsynth.plots.style import export, stamp

        labels = [words for words, holds in (("synthetic data", self._manifest["synthetic"]),
                                             ("weak demonstration model", self._manifest["facts"].get("weak_model")))
                  if holds]
        if labels:
            stamp(figure, f"{', '.join(labels)} · run {self.id}")
        path = export(figure, self.directory / "figures", _checked_name(name), data, alt)
        self._manifest["figures"][name] = {"alt": alt}
        return path

    def record(self, **facts: Any) -> None:
        """Put facts into the manifest: models, encoders, prompts, measured times; mappings are merged.

        `usage` (a `Usage`, or a mapping with its fields) stands for the whole run's token use and cost;
        `uses_gold=True` marks a run whose systems saw reference labels.
        """
        for name, value in facts.items():
            if name == "usage":
                self._manifest["usage"] = manifest.usage_facts(value)
            elif name == "uses_gold":
                self._manifest["uses_gold"] = bool(value)
            else:
                old = self._manifest["facts"].get(name)
                merged = {**old, **value} if isinstance(old, Mapping) and isinstance(value, Mapping) else value
                self._manifest["facts"][name] = merged
        self._write("running")

    def finish(self) -> None:
        """Check that everything promised exists, mark the run finished and say what it did.

        Raises `RunError` when a table that the experiment declares is missing.
        """
        missing = [name for name in self.experiment.tables if name not in self._manifest["tables"]]
        if missing:
            reason = f"run {self.id} of {self.experiment.name} lacks the tables " + ", ".join(missing)
            self._write("failed", reason)
            raise RunError(reason, expected="every table that the experiment declares",
                           remedy="run all cells of the notebook in order")
        if self._unfinished:
            self._write("partial", f"{self._unfinished} items got no answer; run again to ask for them")
        else:
            self._write("finished")
        locks.release(self.directory / "run.lock")
        sys.stdout.write(manifest.summary(self._manifest, self.directory) + "\n")


def _results(pending: Mapping[str, Callable[[], Mapping[str, Any]]],
             workers: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if workers <= 1:
        for key, task in pending.items():
            yield key, task()
        return
    pool = ThreadPoolExecutor(max_workers=workers)
    try:
        futures = {pool.submit(task): key for key, task in pending.items()}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise RunError(f"{name!r} is no name for a table or figure",
                       expected="lower-case letters, digits and underscores")
    return name


def read_table(directory: Path, name: str) -> Any:
    """Return a table of a run or promoted result as a data frame; raises `RunError` naming the tables that exist."""
    import pandas as pd

    path = Path(directory) / "tables" / f"{name}.parquet"
    if not path.exists():
        there = sorted(other.stem for other in path.parent.glob("*.parquet"))
        raise RunError(f"{directory} has no table {name!r}", remedy="run the experiment to its end",
                       expected="one of " + (", ".join(there) or "(no tables yet)"))
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read ({error})", expected="a Parquet table written by a run",
                       remedy="run the experiment again") from None
