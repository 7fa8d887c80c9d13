"""The graph of papers that share two-paper questions: how far the questions hang together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from litsynth.records import Estimate
from litsynth.stats.inputs import check_count, clean_values, same_length
from litsynth.stats.pairs import Pair, effective_pairs, pair_codes

HUB_DEGREE = 10


@dataclass(frozen=True)
class PairGraph:
    """Counts of a pair graph. Degrees count questions, so a pair of papers with two questions counts twice.

    `degrees` maps each paper to its questions, most first and then by name; `hubs` are the papers with at least
    `hub_degree`; `hub_share` is the share of questions that touch a hub (None without questions); `components` are the
    connected components as (papers, pairs), largest first; `effective` is the number of disjoint pairs that would be as
    concentrated.
    """

    papers: int
    pairs: int
    degrees: Mapping[Hashable, int]
    hub_degree: int
    hubs: tuple[Hashable, ...]
    hub_share: float | None
    components: tuple[tuple[int, int], ...]
    effective: float

    @property
    def largest_component_pairs(self) -> int:
        """Return how many pairs hang together in the component with the most pairs."""
        return max((pairs for _, pairs in self.components), default=0)

    @property
    def degree_counts(self) -> dict[int, int]:
        """Return how many papers have each degree, lowest degree first."""
        return dict(sorted(Counter(self.degrees.values()).items()))


def pair_graph(pairs: Iterable[Pair], *, hub_degree: int = HUB_DEGREE) -> PairGraph:
    """Describe the graph whose nodes are papers and whose edges are two-paper questions."""
    import networkx as nx

    hub_degree = check_count(hub_degree, "hub_degree", least=1)
    first, second, names = pair_codes(pairs)
    edges = list(zip(first.tolist(), second.tolist(), strict=True))
    degrees = Counter(code for edge in edges for code in edge)
    order = sorted(degrees, key=lambda code: (-degrees[code], str(names[code])))
    hubs = {code for code in degrees if degrees[code] >= hub_degree}
    graph = nx.MultiGraph(edges)
    parts = [graph.subgraph(nodes) for nodes in nx.connected_components(graph)]
    components = sorted(((len(part), part.number_of_edges()) for part in parts), key=lambda size: (-size[1], -size[0]))
    touching = sum(1 for edge in edges if hubs & set(edge))
    return PairGraph(
        papers=len(names), pairs=len(edges), degrees={names[code]: degrees[code] for code in order},
        hub_degree=hub_degree, hubs=tuple(names[code] for code in order if code in hubs),
        hub_share=touching / len(edges) if edges else None,
        components=tuple(components), effective=effective_pairs(first, second, len(names)) if edges else 0.0)


def without_hubs(
    estimate: Callable[..., Estimate],
    values: Iterable[Any],
    pairs: Iterable[Pair],
    *,
    hub_degree: int = HUB_DEGREE,
    **options: Any,
) -> Estimate:
    """Apply an estimator such as `pair_bootstrap` to the questions that touch no hub.

    `options` go to the estimator. `details` of the result gain `left_out` (questions that touch a hub) and `hubs`.
    """
    values, pairs = clean_values(values, "values"), [tuple(pair) for pair in pairs]
    same_length(values=values, pairs=pairs)
    hubs = set(pair_graph(pairs, hub_degree=hub_degree).hubs)
    kept = [row for row, pair in enumerate(pairs) if not hubs & set(pair)]
    result = estimate(values[kept], [pairs[row] for row in kept], **options)
    details = {**result.details, "left_out": len(pairs) - len(kept), "hubs": len(hubs)}
    return Estimate(result.value, result.low, result.high, result.n, result.clusters, result.method, result.confidence,
                    result.reason, details)
