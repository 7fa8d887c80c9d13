"""Raw files become records here, with gold kept apart from what systems are given."""

from litsynth.datasets.catalogue import Source, load, source_of, sources
from litsynth.datasets.describe import describe

__all__ = ["Source", "describe", "load", "source_of", "sources"]
