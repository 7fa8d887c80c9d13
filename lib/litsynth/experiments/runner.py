"""Runs an experiment's notebook with papermill, from anywhere, and keeps what was executed whatever happens."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litsynth import files, paths
from litsynth.errors import RunError
from litsynth.experiments import locks, manifest
from litsynth.experiments.parameters import Experiment, get_experiment
from litsynth.experiments.store import Plan, plan_run

KERNEL_STARTS = 3


@dataclass(frozen=True)
class Outcome:
    """How `run_experiment` ended: the run's directory and manifest, and whether its notebook was executed now."""

    directory: Path
    manifest: Mapping[str, Any]
    executed: bool


def run_experiment(name: str, raw: Mapping[str, Any], *, force: bool = False) -> Outcome:
    """Execute `notebooks/<name>.ipynb` with these parameters unless that run is finished already.

    Strings are parsed by declared type. `force` puts a finished run aside (as `<id>.previous`) and repeats it. The
    executed notebook is kept in the run directory also when a cell fails; then `RunError` says which and why.
    A finished run whose plots or prose have changed since, or whose tables are gone or altered, is executed again on
    its finished items.
    """
    experiment = get_experiment(name)
    plan = plan_run(experiment, _with_absolute_folders(experiment, raw))
    directory = plan.directory
    finished = manifest.read(directory)
    if finished and not force and _stands(finished, plan):
        return Outcome(directory, finished, executed=False)
    lock = directory / "runner.lock"
    locks.acquire(lock, what=f"run {name}/{plan.id}")
    try:
        locks.acquire(directory / "run.lock", what=f"run {name}/{plan.id}")
        locks.release(directory / "run.lock")
        if force and finished:
            _put_aside(directory)
        _execute(plan)
    finally:
        locks.release(lock)
    after = manifest.read(directory)
    if not after or after["status"] not in ("finished", "partial"):
        raise RunError(
            f"the notebook of {name} ran to its end but run {plan.id} is {after['status'] if after else 'absent'}",
            expected="a notebook that opens its run with its own parameters and finishes it",
            remedy=f"look at {directory / 'notebook.ipynb'}",
        )
    return Outcome(directory, after, executed=True)


def _stands(finished: Mapping[str, Any], plan: Plan) -> bool:
    return (finished["status"] == "finished" and finished["code"]["drawing"] == plan.drawing
            and manifest.altered_table(plan.directory, finished) is None)


def _with_absolute_folders(experiment: Experiment, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Make folders and paths absolute as seen from here, because the notebook runs in `notebooks/`."""
    made = dict(raw)
    fields = experiment.parameters.model_fields
    for name, value in raw.items():
        is_folder = name == "dataset" and isinstance(value, str) and paths.existing(value) is not None
        if value and (is_folder or (name in fields and fields[name].annotation in (Path, Path | None))):
            made[name] = str(paths.resolved(value))
    return made


def _put_aside(directory: Path) -> None:
    """Move what a run holds to `<id>.previous`, except the locks that are held."""
    with files.atomic_path(directory.with_name(directory.name + ".previous")) as target:
        target.mkdir()
        for entry in directory.iterdir():
            if entry.suffix != ".lock":
                entry.rename(target / entry.name)


def _execute(plan: Plan) -> None:
    from papermill import execute_notebook
    from papermill.exceptions import PapermillExecutionError

    notebook = paths.notebooks_dir() / plan.experiment.notebook_file
    output = plan.directory / "notebook.ipynb"
    values = plan.parameters.model_dump(mode="json")
    defaults = type(plan.parameters)().model_dump(mode="json")
    changed = {name: value for name, value in values.items() if value != defaults[name]}
    try:
        with _kernel_environment():
            _with_a_kernel(plan.directory / "kernel.log", lambda kernel: execute_notebook(
                str(notebook), str(output), parameters=changed, kernel_name="python3", language="python",
                kernel_manager_class=kernel, cwd=str(notebook.parent), progress_bar=sys.stderr.isatty(),
                log_output=False, stderr_file=sys.stderr,
            ))
    except PapermillExecutionError as error:
        status = (manifest.read(plan.directory) or {}).get("status")
        reason = f"{error.ename}: {error.evalue}".strip()
        if status not in ("partial", "failed"):
            manifest.set_status(plan.directory, "failed", reason)
        raise RunError(
            f"cell {error.cell_index + 1} of {plan.experiment.notebook_file} failed: {_last_line(reason)}",
            remedy=f"the executed notebook shows where: {output}; the same command resumes",
        ) from None
    except KeyboardInterrupt:
        # The notebook client's own task finds its kernel gone, which is what was asked for.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        manifest.set_status(plan.directory, "interrupted", "interrupted from the keyboard")
        sys.stderr.write(f"\nInterrupted; finished items are kept. The same command resumes run {plan.id}.\n")
        raise


def _with_a_kernel(log: Path, execute: Callable[[type], Any]) -> None:
    """Execute with a kernel of this interpreter; one that died before its first word is started again, twice.

    Kernels that start at the same moment can be given the same port, of which one then dies. Raises `RunError`.
    """
    for attempt in range(KERNEL_STARTS):
        try:
            execute(_own_interpreter(log))
            return
        except RuntimeError as error:
            if "before replying" not in str(error):
                raise
            words = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
            if attempt == KERNEL_STARTS - 1:
                raise RunError(f"the notebook's kernel did not start in {KERNEL_STARTS} attempts: {_last_line(words)}",
                               expected="a kernel of this Python", remedy=f"see {log}; the same command tries again"
                               ) from None


def _last_line(reason: str) -> str:
    lines = [line for line in reason.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "without a message"


def _own_interpreter(log: Path) -> type:
    """Return a kernel manager whose kernel is this interpreter, whatever kernels are installed or named.

    What the kernel process itself prints (crashes of native code, its last words when interrupted) goes to `log`.
    """
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager

    class OwnInterpreter(AsyncKernelManager):
        @property
        def kernel_spec(self) -> KernelSpec:
            return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                              display_name="Python 3 (litsynth)", language="python")

        async def start_kernel(self, **options: Any) -> None:
            with log.open("wb") as handle:
                await super().start_kernel(**{**options, "stdout": handle, "stderr": handle})

    return OwnInterpreter


@contextmanager
def _kernel_environment() -> Iterator[None]:
    """Tell the kernel where the workspace is, and keep third-party start-up chatter off the terminal."""
    before = {name: os.environ.get(name) for name in ("LITSYNTH_HOME", "PYDEVD_DISABLE_FILE_VALIDATION")}
    os.environ.update(LITSYNTH_HOME=str(paths.project_root()), PYDEVD_DISABLE_FILE_VALIDATION="1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
