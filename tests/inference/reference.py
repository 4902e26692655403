"""The algorithms once more, in plain loops and fractions: slow, short, and easy to check by eye."""

import itertools
import json
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
