"""Systems under test: a task and a searcher go in, a response or report comes out, and no system ever sees gold."""

from litsynth.systems.registry import open_system, system_class, system_names

__all__ = ["open_system", "system_class", "system_names"]
