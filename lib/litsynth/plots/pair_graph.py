"""The graph of papers that share two-paper questions, drawn."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from matplotlib.axes import Axes

from litsynth.plots.style import HIGHLIGHT, PALETTE
from litsynth.stats.graph import HUB_DEGREE, Pair, pair_graph

_GAP = 0.6  # between components, in units of the layout


def draw_pair_graph(ax: Axes, pairs: Iterable[Pair], *, seed: int = 0, hub_degree: int = HUB_DEGREE) -> Axes:
    """Draw papers as dots and two-paper questions as lines; hubs are squares and carry their number of questions.

    The area of a dot grows with its number of questions. Components are laid out one by one and stand in order of size.
    """
    pairs = [tuple(pair) for pair in pairs]
    graph = pair_graph(pairs, hub_degree=hub_degree)
    places = _layout(pairs, seed)
    for first, second in pairs:
        ax.plot(*zip(places[first], places[second], strict=True), color="0.65", linewidth=0.7, zorder=1)
    hubs = set(graph.hubs)
    for chosen, marker, colour in ((False, "o", PALETTE[0]), (True, "s", HIGHLIGHT)):
        names = [name for name in graph.degrees if (name in hubs) is chosen]
        if names:
            at = np.array([places[name] for name in names])
            words = f"hub ({hub_degree} questions or more)" if chosen else "paper"
            ax.scatter(at[:, 0], at[:, 1], s=[12 + 10 * graph.degrees[name] for name in names], marker=marker,
                       color=colour, edgecolor="white", linewidth=0.5, zorder=2, label=words)
    for name in hubs:
        ax.annotate(str(graph.degrees[name]), places[name], ha="center", va="center", fontsize=6, color="white")
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2, markerscale=0.6)
    return ax


def _layout(pairs: list[tuple[Hashable, ...]], seed: int) -> dict[Hashable, tuple[float, float]]:
    """Return a place for every paper: components in rows, the largest first and largest drawn."""
    import networkx as nx

    whole = nx.Graph()
    for pair in sorted(pairs, key=str):  # the order decides the layout, so it must not be chance
        whole.add_edge(*pair)
    parts = sorted(nx.connected_components(whole), key=lambda names: (-len(names), sorted(map(str, names))))
    places: dict[Hashable, tuple[float, float]] = {}
    left = top = height = 0.0
    sizes = [float(len(names) ** 0.7) for names in parts]
    widest = 1.3 * np.sqrt(sum((size + _GAP) ** 2 for size in sizes))
    for names, size in zip(parts, sizes, strict=True):
        part = nx.Graph()
        part.add_nodes_from(sorted(names, key=str))
        part.add_edges_from(sorted(whole.subgraph(names).edges, key=str))
        if left and left + size > widest:
            left, top, height = 0.0, top - height - _GAP, 0.0
        laid = nx.spring_layout(part, seed=seed, iterations=300, k=2.0 / np.sqrt(len(names))) if len(names) > 2 else {
            name: np.array([0.0, 1.0 - 2.0 * place]) for place, name in enumerate(part)}
        for name, at in laid.items():
            places[name] = (left + size * (0.5 + 0.45 * float(at[0])), top - size * (0.5 - 0.45 * float(at[1])))
        left, height = left + size + _GAP, max(height, size)
    return places
