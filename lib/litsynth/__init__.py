"""litsynth: measures whether literature search and evidence synthesis by machines can be trusted."""

__version__ = "0.1.0"
