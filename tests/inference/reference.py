"""The algorithms once more, in plain loops and fractions: slow, short, and easy to check by eye."""

import itertools
import json
import math
from fractions import Fraction

from blake3 import blake3


def page_bytes(seed, page, purpose, length):
    text = json.dumps({"draw": page, "purpose": purpose, "seed": seed}, separators=(",", ":"))
    hasher = blake3(text.encode(), derive_key_context="flavourbench v1 stream")
    return hasher.digest(length=length)


def bootstrap_counts(seed, families_of_cluster, draws):
    """Counts of each replicate, read word by word from the bytes of the contract."""
    clusters, families = len(families_of_cluster), set().union(*families_of_cluster)
    width = 2 if clusters <= 65_536 else 4
    modulus = 256**width
    replicates = []
    for page in range(-(-draws // 500)):
        data = page_bytes(seed, page, "bootstrap", 40 * 500 * clusters * width)
        words = (int.from_bytes(data[i : i + width], "little") for i in range(0, len(data), width))
        indices = (
            x * clusters // modulus for x in words if x * clusters % modulus >= modulus % clusters
        )
        kept = 0
        while kept < min(500, draws - 500 * page):
            drawn = list(itertools.islice(indices, clusters))
            if set().union(*(families_of_cluster[c] for c in drawn)) == families:
                replicates.append([drawn.count(c) for c in range(clusters)])
                kept += 1
    return replicates


def sign_rows(seed, clusters, draws):
    """Signs of each draw, read bit by bit."""
    width = -(-clusters // 8)
    rows = []
    for page in range(-(-draws // 2000)):
        data = page_bytes(seed, page, "signs", 2000 * width)
        for row in range(min(2000, draws - 2000 * page)):
            part = data[row * width : (row + 1) * width]
            rows.append([1 if part[c // 8] >> (c % 8) & 1 else -1 for c in range(clusters)])
    return rows


def weighted_mean(values, family, counts):
    """Mean over families of sum(count * value) / sum(count); counts are per task."""
    means = []
    for f in sorted(set(family)):
        places = [t for t in range(len(family)) if family[t] == f]
        total = sum(counts[t] for t in places)
        means.append(Fraction(sum(counts[t] * int(values[t]) for t in places), total))
    return sum(means) / len(means)


def resampled_scores(rows, family, cluster, replicates):
    """Score of each row in each replicate, as fractions of basis points."""
    return [
        [weighted_mean(row, family, [counts[c] for c in cluster]) for counts in replicates]
        for row in rows
    ]


def extreme_count(differences, family, cluster, signs):
    """How many sign rows give a difference at least as large as the observed one."""
    ones = [1] * len(family)
    observed = abs(weighted_mean(differences, family, ones))
    flipped = ([s[c] * int(d) for c, d in zip(cluster, differences, strict=True)] for s in signs)
    return sum(abs(weighted_mean(row, family, ones)) >= observed for row in flipped)


def quantile(values, level):
    ordered = sorted(values)
    place = level * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def variance(values):
    mean = Fraction(sum(values)) / len(values)
    return sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def holm(p_values):
    """Holm's procedure as it is stated: step down from the smallest p."""
    adjusted = [None] * len(p_values)
    left = sorted(range(len(p_values)), key=lambda i: p_values[i])
    worst = 0
    while left:
        worst = min(1, max(worst, len(left) * p_values[left[0]]))
        adjusted[left.pop(0)] = worst
    return adjusted


def groups(order, differs):
    """Groups of models walking down the ranking; `differs` holds unordered pairs."""
    found = []
    for model in order:
        if found and not any(frozenset((model, other)) in differs for other in found[-1]):
            found[-1].append(model)
        else:
            found.append([model])
    return {model: number for number, group in enumerate(found, start=1) for model in group}


def ranks(scores):
    """Rank of each model in one replicate, ties by model order."""
    order = sorted(range(len(scores)), key=lambda m: -scores[m])
    return [order.index(m) + 1 for m in range(len(scores))]


def step_down(differences, family, cluster, signs):
    """Counts of Westfall and Young's step-down maxima, pair by pair and draw by draw.

    `differences` are the pairs' task differences. Pairs without any difference give None.
    """
    sizes = {f: list(family).count(f) for f in set(family)}
    common = math.lcm(*sizes.values())
    sums = []
    for row in differences:
        sums.append([0] * (max(cluster) + 1))
        for task, value in enumerate(row):
            sums[-1][cluster[task]] += common // sizes[family[task]] * int(value)
    roots = [math.sqrt(float(sum(x * x for x in row))) for row in sums]

    def statistic(pair, row):
        flipped = abs(sum(e * x for e, x in zip(row, sums[pair], strict=True)))
        return float(flipped) / roots[pair]

    observed = [r and statistic(p, [1] * len(sums[p])) for p, r in enumerate(roots)]
    order = sorted((p for p, r in enumerate(roots) if r), key=lambda p: -observed[p])
    counts = [0] * len(order)
    for row in signs:
        largest = -1.0
        for place in reversed(range(len(order))):
            largest = max(largest, statistic(order[place], row))
            counts[place] += largest >= observed[order[place]]
    found = [None] * len(sums)
    for place, pair in enumerate(order):
        found[pair] = max(counts[: place + 1])
    return found


def studentized(rows, family, cluster, counts):
    """Largest studentized deviation of a replicate, in fractions but for the root."""
    families = sorted(set(family))
    clusters = range(max(cluster) + 1)
    sizes = {f: [sum(family[t] == f and cluster[t] == k for t in range(len(family)))
                 for k in clusters] for f in families}  # fmt: skip
    largest = 0.0
    for row in rows:
        sums = {f: [sum(int(row[t]) for t in range(len(family))
                        if family[t] == f and cluster[t] == k) for k in clusters]
                for f in families}  # fmt: skip
        drawn = _score_and_variance(sums, sizes, counts)
        plain = _score_and_variance(sums, sizes, [1] * len(clusters))
        gap = abs(drawn[0] - plain[0])
        if gap:
            largest = max(largest, float(gap) / math.sqrt(drawn[1]) if drawn[1] else math.inf)
    return largest


def _score_and_variance(sums, sizes, counts):
    total = {f: sum(c * n for c, n in zip(counts, sizes[f], strict=True)) for f in sizes}
    means = {f: Fraction(sum(c * s for c, s in zip(counts, sums[f], strict=True)), total[f])
             for f in sizes}  # fmt: skip
    residuals = [
        sum((sums[f][k] - means[f] * sizes[f][k]) / (len(sizes) * total[f]) for f in sizes)
        for k in range(len(counts))
    ]
    spread = sum(c * r * r for c, r in zip(counts, residuals, strict=True))
    return sum(means.values()) / len(means), Fraction(len(counts), len(counts) - 1) * spread


def guesser_scores(seed, maps, weights, draws):
    """Weighted score of each guesser, read word by word."""
    tasks, choices = len(maps), len(maps[0])
    scores = []
    for page in range(-(-draws // 2000)):
        data = page_bytes(seed, page, "guesses", 2 * 2 * 2000 * tasks)
        words = (int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2))
        picks = (x * choices >> 16 for x in words if x * choices % 65_536 >= 65_536 % choices)
        scores += [
            sum(w * m[next(picks)] for w, m in zip(weights, maps, strict=True))
            for _ in range(min(2000, draws - 2000 * page))
        ]
    return scores
