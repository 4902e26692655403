"""What the resolved pairs say about ranks and groups: rank sets and letters.

The rank set of a route goes from one more than the routes resolved better to the number of routes
less those resolved worse. All sets hold their routes' true ranks at once with the confidence of
the tests (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91, 2024). Routes share
a letter exactly where no pair of a set of routes is resolved (Piepho, JCGS 13(2), 2004).
"""

from __future__ import annotations

import itertools
import string
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.inference.panels import shared_ranks
from pipeline.inference.results import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from pipeline.inference.matrix import IntArray

__all__ = ["RankPlace", "letters", "places", "rank_sets", "resolved_better"]


class RankPlace(NamedTuple):
    """Where a route stands, as far as the resolved pairs say.

    Attributes
    ----------
    rank
        1 is best; equal scores share a rank.
    tied
        Another route has this rank too.
    rank_set
        The ranks that the resolved pairs leave open.
    letters
        Routes that share a letter are not told apart, those that share none are; None where there
        would be more than 26 letters.
    """

    rank: int
    tied: bool
    rank_set: Interval
    letters: str | None


def places(scores: Sequence[Fraction], better: NDArray[np.bool_]) -> tuple[RankPlace, ...]:
    """RankPlace of each of M routes.

    Parameters
    ----------
    scores
        Exact scores.
    better
        Whether the row's route is resolved better than the column's, shape (M, M).
    """
    ranks = np.array(shared_ranks(scores), dtype=np.int64)
    named = letters(ranks, better | better.T)
    return tuple(
        RankPlace(
            rank=int(rank),
            tied=int((ranks == rank).sum()) > 1,
            rank_set=rank_set,
            letters=None if named is None else named[route],
        )
        for route, (rank, rank_set) in enumerate(zip(ranks, rank_sets(better), strict=True))
    )


def resolved_better(
    left: IntArray, right: IntArray, found: IntArray, routes: int
) -> NDArray[np.bool_]:
    """Whether the row's route is resolved better than the column's, shape (M, M).

    Parameters
    ----------
    left, right
        Routes of each pair, shape (P,).
    found
        Left minus right in any unit, 0 where the pair is not resolved, shape (P,).
    """
    better = np.zeros((routes, routes), dtype=np.bool_)
    better[left[found > 0], right[found > 0]] = True
    better[right[found < 0], left[found < 0]] = True
    return better


def rank_sets(better: NDArray[np.bool_]) -> tuple[Interval, ...]:
    """Rank set of each route from what is resolved better, shape (M, M)."""
    lower = (1 + better.sum(axis=0)).tolist()
    upper = (len(better) - better.sum(axis=1)).tolist()
    return tuple(Interval(low, high) for low, high in zip(lower, upper, strict=True))


def letters(ranks: IntArray, differs: NDArray[np.bool_]) -> tuple[str, ...] | None:
    """Letters of each route, or None where more than 26 sets are needed.

    Parameters
    ----------
    ranks
        Ranks; sets are lettered in the order of their members' ranks, best first.
    differs
        Whether two routes are resolved, symmetric, shape (M, M).
    """
    from networkx import Graph, find_cliques

    # Routes that are told apart from the same others always stand in the same sets.
    _, first, kind = np.unique(differs, axis=0, return_index=True, return_inverse=True)
    graph = Graph()
    graph.add_nodes_from(range(len(first)))
    graph.add_edges_from(np.argwhere(np.triu(~differs[np.ix_(first, first)], 1)).tolist())
    limit = len(string.ascii_lowercase)
    cliques = list(itertools.islice(find_cliques(graph), limit + 1))
    if len(cliques) > limit:
        return None
    members = [np.flatnonzero(np.isin(kind.ravel(), clique)) for clique in cliques]
    members.sort(key=lambda routes: (np.sort(ranks[routes]).tolist(), routes.tolist()))
    named = [""] * len(ranks)
    for letter, routes in zip(string.ascii_lowercase, members, strict=False):
        for route in routes.tolist():
            named[route] += letter
    return tuple(named)
