"""What a model reads: one template a family (docs/tasks.md).

A template shows the question and eight labelled names, and names the answer's last line by its
marker. It gives no example of a valid answer, which would anchor models and collide with theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.release import CORE_CATEGORIES
from schemas.taskset import LABELS, Family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.freeze.families import Variant

__all__ = ["MARKER", "TEMPLATES", "prompt"]

MARKER = "FINAL_SELECTION:"
"""Opens the last line of an answer."""

_ANSWER = (
    "\n\n{candidates}\n\n"
    "Think as much as you need, but use no tools and look nothing up. Other choices than the best "
    f"one earn part of the score. End your answer with one line that opens with `{MARKER}` and "
    "goes on with exactly three different labels from the list, separated by commas."
)

_CATEGORIES = ", ".join(CORE_CATEGORIES[:-1]) + f" and {CORE_CATEGORIES[-1]}"

TEMPLATES: dict[Family, str] = {
    Family.SUBSTITUTION: (
        "You want to replace {anchor} in a dish. Which three of these eight ingredients are the "
        "closest substitutes for it? Closeness to {anchor} counts most; how well the three go with "
        "one another counts a little."
    )
    + _ANSWER,
    Family.PAIRING: (
        "You build a dish on {anchor}. Which three of these eight ingredients pair with it best? "
        "How well each one goes with {anchor} counts most; how well the three go with one another "
        "counts too."
    )
    + _ANSWER,
    Family.CONSTRAINT: (
        "You build a dish on {anchor}. What you add has to be {diet} and of NOVA group "
        "{maximum_nova} or lower (NOVA groups foods by processing, from 1, unprocessed, to 4, "
        "ultra-processed). Which three of these eight ingredients keep both limits and pair best "
        "with {anchor} and with one another? If any of the three breaks a limit, the whole choice "
        "scores zero."
    )
    + _ANSWER,
    Family.CULTURAL: (
        "Target cuisine label: {cuisine}. Which three of these eight ingredients fit it best? How "
        "typical of it each one is counts most; how well the three go with one another counts a "
        "little. The three have to be of three different categories, or the whole choice scores "
        f"zero. The categories are {_CATEGORIES}."
    )
    + _ANSWER,
}
"""The templates by family, in the format of `str.format`."""


def prompt(
    family: Family,
    anchor: str,
    names: Sequence[str],
    variant: Variant | None = None,
    cuisine: str | None = None,
) -> str:
    """Fill a family's template; underscores become blanks.

    Parameters
    ----------
    family
        The task's family.
    anchor
        Its anchor; the cultural family does not show it.
    names
        The eight names in the order of their labels.
    variant
        Diet and NOVA limit of a constraint task.
    cuisine
        Target cuisine of a cultural task.
    """
    return TEMPLATES[family].format(
        anchor=_plain(anchor),
        candidates="\n".join(
            f"{label}. {_plain(name)}" for label, name in zip(LABELS, names, strict=True)
        ),
        cuisine=_plain(cuisine or ""),
        diet=variant.diet if variant else "",
        maximum_nova=variant.maximum_nova if variant else "",
    )


def _plain(name: str) -> str:
    return name.replace("_", " ")
