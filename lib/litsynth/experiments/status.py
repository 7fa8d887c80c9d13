"""The book's status page: every promoted result with its run, data, code and versions, and what has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from litsynth import paths
from litsynth.errors import LitsynthError
from litsynth.experiments import fingerprint, notebooks
from litsynth.experiments.markdown import Ready, escaped, markdown_table
from litsynth.experiments.parameters import EXPERIMENTS

SAME, OLDER, GONE = "as now", "**made with older code**", "**experiment is gone**"


def code_state(facts: Mapping[str, Any]) -> str:
    """Say whether the code that decides a result's numbers is still what it was: `SAME`, `OLDER` or `GONE`.

    Compares the fingerprint in the manifest with that of the package and notebook as they are.
    """
    experiment = EXPERIMENTS.get(facts["experiment"])
    if experiment is None:
        return GONE
    try:
        source = notebooks.read(paths.notebooks_dir() / experiment.notebook_file)
        now = fingerprint.result_fingerprint(experiment.module_name, notebooks.code(source))
    except LitsynthError:
        return GONE
    return SAME if facts["code"].get("fingerprint") == now else OLDER


def status_page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the Markdown of the status page for these manifests by name."""
    if not results:
        return "No results yet: `litsynth run EXPERIMENT` and `litsynth promote RUN` make them.\n"
    states = {name: code_state(facts) for name, facts in results.items()}
    return "\n".join([_summary(states), _result_list(results, states),
                      "## Versions that these results were made with\n", _versions(results)])


def _summary(states: Mapping[str, str]) -> str:
    older = [name for name, state in states.items() if state != SAME]
    if not older:
        return f"All {len(states)} results were made with the code as it is now.\n"
    return (f"Of {len(states)} results, {len(older)} were made with code that has changed since: "
            + ", ".join(map(escaped, older)) + ". Their numbers stand as they were computed; "
            "`litsynth run` with the same parameters makes a new run.\n")


def _result_list(results: Mapping[str, Mapping[str, Any]], states: Mapping[str, str]) -> str:
    header = ["result", "data", "code", "items", "finished", "run"]
    rows = []
    for name, facts in results.items():
        data, code = facts["dataset"] or {}, facts["code"]
        commit = (code.get("commit") or "no commit")[:7] + (" with changes" if code.get("dirty") else "")
        marks = ["synthetic" if facts["synthetic"] else "real"]
        marks += ["label-informed"] if facts["uses_gold"] else []
        marks += ["weak demonstration model"] if facts.get("facts", {}).get("weak_model") else []
        named = f"{data.get('name', 'none')} {data.get('checksum', '')[:12]}".strip()
        rows.append([name, f"{named}: {', '.join(marks)}", Ready(f"{states[name]}, commit {escaped(commit)}"),
                     facts["items"], str(facts["ended"])[:10], facts["id"]])
    return markdown_table(header, rows)


def _versions(results: Mapping[str, Mapping[str, Any]]) -> str:
    packages: dict[str, set[str]] = {}
    for facts in results.values():
        for package, version in facts["packages"].items():
            packages.setdefault(package, set()).add(version)
    return markdown_table(["package", "version"],
                          [[package, ", ".join(sorted(versions))] for package, versions in sorted(packages.items())])
