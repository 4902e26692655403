"""Two documents of results compared figure by figure.

Whole numbers, names and truth values must be equal, and figures in floating point within 1e-9, when
both sides draw from the same stream. Where the draws are others, what depends on them may differ by
Monte Carlo error, and the bound below is what that leaves open at several standard errors:

* an end of an interval: a tenth of the standard error that its width implies. The standard error
  of a 2.5% quantile of B draws is sqrt(0.025 * 0.975 / B) / density, 0.012 of a standard deviation
  at 50,000;
* a standard error: 2%; the critical value: 2%; an end of a rank interval: 1;
* a count behind a p value: five binomial standard errors, times Holm's factor where it is Holm's.

Conclusions (ranks, groups, what is resolved) must be equal in either case; only a contrast whose
Holm p lies within that bound of 0.05 may be resolved on one side alone, and is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pipeline.inference.exact import ALPHA

__all__ = ["Agreement", "ComparedFigure", "Draws"]

CLOSE = 1e-9
_WIDTH_IN_ERRORS = 3.92
_TENTH = 0.1
_RELATIVE = 0.02
_BINOMIAL_ERRORS = 5.0
_P_VALUES = ("sign_flip_p", "holm_p")
_RESOLVED = "holm_significant"


class Draws(NamedTuple):
    """What the compared figures were drawn with.

    Attributes
    ----------
    same
        Whether both sides draw from the same stream.
    counts
        What a p value is a count over.
    """

    same: bool
    counts: int


@dataclass
class ComparedFigure:
    """One kind of figure: how many were compared, and how far they are apart.

    `largest` is the largest difference, `where` its place; `differ` counts those beyond what is
    allowed, and `first` says what stood at the first of them.
    """

    name: str
    compared: int = 0
    differ: int = 0
    largest: float = 0.0
    where: str = ""
    first: str = ""


@dataclass
class Agreement:
    """Figures by name, and fields of the published side that are no figures of ours.

    `borderline` counts contrasts that draws alone resolve on one side and not on the other.
    """

    figures: dict[str, ComparedFigure] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    borderline: int = 0

    @property
    def agrees(self) -> bool:
        """Whether no figure differs beyond what is allowed."""
        return not any(figure.differ for figure in self.figures.values())

    def note(self, name: str, place: str, ours: Any, published: Any, allowed: float = 0.0) -> None:
        """Take one figure in; numbers may differ by `allowed`, anything else not at all."""
        figure = self.figures.setdefault(name, ComparedFigure(name))
        figure.compared += 1
        numbers = _number(ours) and _number(published)
        apart = abs(ours - published) if numbers else 0.0
        if apart > figure.largest:
            figure.largest, figure.where = apart, place
        equal = apart <= allowed if numbers else _same(ours, published)
        if not equal:
            figure.differ += 1
            figure.first = figure.first or f"{place}: ours {ours!r}, published {published!r}"

    def rows(
        self, prefix: str, key: str, ours: list[Any], published: list[Any], draws: Draws
    ) -> None:
        """Compare lists of objects place by place; `key` names an object where it stands."""
        self.note(f"{prefix}: rows", prefix, len(ours), len(published))
        for number, (mine, theirs) in enumerate(zip(ours, published, strict=False)):
            name = theirs.get(key, number) if isinstance(theirs, dict) else number
            self.tree(prefix, f"{prefix}, {name}", mine, theirs, draws)

    def tree(self, name: str, place: str, ours: Any, published: Any, draws: Draws) -> None:
        """Compare two documents field by field."""
        if isinstance(ours, dict) and isinstance(published, dict):
            self.unread |= {f"{name}: {key}" for key in published.keys() - ours.keys()}
            for key in ours:
                self._field(f"{name}: {key}", f"{place}, {key}", (ours, published), key, draws)
        elif isinstance(ours, list) and isinstance(published, list):
            self.note(name, place, len(ours), len(published))
            allowed = _interval_bound(name, published, draws)
            for mine, theirs in zip(ours, published, strict=False):
                if isinstance(mine, dict):
                    self.tree(name, place, mine, theirs, draws)
                else:
                    self.note(name, place, mine, theirs, allowed)
        else:
            self.note(name, place, ours, published, _bound(name, published, draws))

    def _field(self, name: str, place: str, both: tuple[Any, Any], key: str, draws: Draws) -> None:
        ours, published = both
        mine = ours[key]
        if key not in published:
            self.note(name, place, mine, None)
        elif key in _P_VALUES:
            self._p_value(name, place, both, key, draws)
        elif key.startswith(_RESOLVED) and mine != published[key] and _near(published, draws):
            self.borderline += 1
            self.note(name, place, mine, mine)
        else:
            self.tree(name, place, mine, published[key], draws)

    def _p_value(
        self, name: str, place: str, both: tuple[Any, Any], key: str, draws: Draws
    ) -> None:
        """Compare the counts behind two p values."""
        ours, published = both
        whole = draws.counts
        count = published[key] * whole if _number(published[key]) else None
        if count is None or abs(count - round(count)) > CLOSE * whole:
            self.note(name, place, ours[key] / whole, published[key])
            return
        allowed = 0.0 if draws.same else _p_bound(published, key, whole)
        self.note(f"{name} (count)", place, ours[key], round(count), allowed)


def _p_bound(row: dict[str, Any], key: str, whole: int) -> float:
    """How far the count behind a p value of a row may be from the published one."""
    share = float(row["sign_flip_p"])
    bound = 1 + _BINOMIAL_ERRORS * (2 * share * (1 - share) * whole) ** 0.5
    factor = max(1.0, float(row["holm_p"]) / share) if key == "holm_p" else 1.0
    return float(bound * factor)


def _near(row: dict[str, Any], draws: Draws) -> bool:
    """Whether other draws alone may move a contrast across the level of significance."""
    if draws.same:
        return False
    whole = draws.counts
    return bool(abs(row["holm_p"] - float(ALPHA)) * whole <= _p_bound(row, "holm_p", whole))


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(ours: Any, published: Any) -> bool:
    return type(ours) is type(published) and bool(ours == published)


def _interval_bound(name: str, published: list[Any], draws: Draws) -> float:
    """How far the ends of a list that is an interval may be apart."""
    if name.endswith("rank_95_interval"):
        return 0.0 if draws.same else 1.0
    if not name.endswith("_ci") or not all(map(_number, published)) or not published:
        return 0.0
    if draws.same:
        return CLOSE
    return float(_TENTH * (max(published) - min(published)) / _WIDTH_IN_ERRORS)


def _bound(name: str, published: Any, draws: Draws) -> float:
    if not isinstance(published, float):
        return 0.0
    drawn = name.endswith(("score_standard_error", "max_t_critical_value"))
    return CLOSE if draws.same or not drawn else _RELATIVE * abs(published)
