"""What a run records about itself: code, packages, time, and the state it is in."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from litsynth import files, paths
from litsynth.errors import DataError, RunError
from litsynth.experiments import locks
from litsynth.records.models import Usage

STATUSES = ("running", "finished", "failed", "interrupted", "partial")


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@cache
def commit(root: Path) -> dict[str, Any]:
    """Return the commit of the checkout and whether it holds uncommitted changes; None for both outside git.

    Promoted results and their figures are no change: they are what runs make, one after the other.
    """
    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=30,
                                  check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    head = git("rev-parse", "HEAD")
    changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!data/results", ":!figures"
                  ) if head else None
    return {"commit": head, "dirty": None if changes is None else bool(changes)}


@cache
def package_versions() -> dict[str, str]:
    """Return the installed version of each package that this one depends on, and of Python."""
    try:
        required = metadata.requires("litsynth") or []
    except metadata.PackageNotFoundError:
        required = []
    versions = {"python": platform.python_version()}
    for requirement in required:
        if "extra ==" not in requirement:
            name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
            try:
                versions[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                continue
    return versions


def usage_facts(usage: Usage | Mapping[str, Any] | None) -> dict[str, Any]:
    """Return token counts and cost with how sure they are: none (no calls), known, estimated or unknown."""
    if usage is None:
        return {"prompt_tokens": 0, "completion_tokens": 0, "cost": None, "cost_status": "none"}
    get = usage.get if isinstance(usage, Mapping) else lambda name, default=None: getattr(usage, name, default)
    prompt, completion, cost = get("prompt_tokens") or 0, get("completion_tokens") or 0, get("cost")
    sure = "unknown" if cost is None else "estimated" if get("estimated") else "known"
    status = sure if prompt + completion else "none"
    return {"prompt_tokens": prompt, "completion_tokens": completion, "tokens_estimated": bool(get("estimated")),
            "cost": cost, "cost_status": status}


def read(directory: Path) -> dict[str, Any] | None:
    """Return the manifest of a run directory, with the status as it is now, or None when there is none.

    A run that says `running` although no process writes it was interrupted.
    """
    path = Path(directory) / "manifest.json"
    if not path.exists():
        return None
    manifest = _whole(path)
    if manifest["status"] == "running" and not locks.is_held(Path(directory) / "run.lock"):
        manifest["status"] = "interrupted"
    return manifest


_NEEDED = {"experiment", "id", "status", "started", "ended", "code", "dataset", "synthetic", "tables", "sessions",
           "items", "usage", "reason"}


def _whole(path: Path) -> dict[str, Any]:
    """Return a manifest with everything that is read of one; raises `RunError` when it is damaged."""
    try:
        manifest = files.read_json(path)
        problem = "" if isinstance(manifest, dict) and manifest.keys() >= _NEEDED else "it lacks what a manifest has"
    except DataError as error:
        problem = error.problem
    if problem:
        raise RunError(f"the manifest {path} is damaged ({problem})", expected="the manifest that the run wrote",
                       remedy="delete it; the same command makes it anew and reuses the finished items")
    return manifest


def altered_table(directory: Path, facts: Mapping[str, Any]) -> Path | None:
    """Return a table of the run that is missing or not the one that the manifest records, or None."""
    for name, recorded in facts["tables"].items():
        path = Path(directory) / "tables" / f"{name}.parquet"
        if not path.is_file() or files.sha256_file(path) != recorded["sha256"]:
            return path
    return None


def set_status(directory: Path, status: str, reason: str = "") -> None:
    """Change the recorded status of a run; no manifest, no change."""
    path = Path(directory) / "manifest.json"
    if path.exists():
        manifest = _whole(path)
        files.write_json(path, {**manifest, "status": status, "reason": reason})


def all_runs() -> list[dict[str, Any]]:
    """Return the manifests of all runs with their directories, newest first; damaged ones are named on stderr."""
    found = []
    for path in sorted(paths.runs_dir().glob("*/*/manifest.json")):
        try:
            manifest = read(path.parent)
        except RunError as error:
            sys.stderr.write(f"passed over: {error}\n")
            continue
        if manifest and not path.parent.name.endswith(".previous"):
            found.append({**manifest, "directory": path.parent})
    return sorted(found, key=lambda run: (run.get("started", ""), run["id"]), reverse=True)


def summary(facts: Mapping[str, Any], directory: Path) -> str:
    """Say what a run did, what it reused, how long it took, what it cost and where its results lie."""
    session, usage = facts["sessions"][-1], facts["usage"]
    tokens = f"{usage['prompt_tokens']:,} + {usage['completion_tokens']:,} tokens"
    costs = {"none": "no model calls", "unknown": f"{tokens}, cost unknown", "known": f"{tokens}, cost {usage['cost']}",
             "estimated": f"{tokens} (estimated), cost about {usage['cost']}"}
    data = facts["dataset"]
    reason = f" ({facts['reason']})" if facts["reason"] else ""
    lines = [f"{facts['experiment']} {facts['id']}: {facts['status']}{reason}"]
    if data:
        lines.append(f"data: {data['name']}" + (" (synthetic)" if data["synthetic"] else ""))
    total = sum(entry["seconds"] or 0 for entry in facts["sessions"])
    lines.append(f"items: {session['computed']} computed, {session['reused']} reused; "
                 f"{session['seconds']:.1f} s now, {total:.1f} s in {len(facts['sessions'])} session(s)")
    lines.append(f"use: {costs[usage['cost_status']]}")
    lines.append(f"results: {shown_path(directory)} in the workspace")
    return "\n".join(lines)


def shown_path(directory: Path) -> str:
    """Return the path as seen from the workspace, so that executed notebooks show nobody's home folder."""
    root = paths.project_root()
    return str(directory.relative_to(root)) if directory.is_relative_to(root) else str(directory)


