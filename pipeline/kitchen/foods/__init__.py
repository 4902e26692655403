"""The food table: facts per 100 g from USDA FoodData Central, and names of ours for them.

::

    a table of the source, names.csv -> rebuild -> foods.csv    by __main__; what checks read

`names.csv` holds the aliases (English, Turkish, French) and why a food of the source is left out.
`python -m pipeline.kitchen.foods SOURCE` makes the table again.

>>> from pipeline.kitchen.check.foods import read_foods
>>> from pipeline.kitchen.foods import FOODS
>>> len(read_foods(FOODS).foods)
397
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["FOODS", "NAMES"]

FOODS = Path(__file__).with_name("foods.csv")
"""The table: quantities in integer hundredths, a blank where the source has none."""

NAMES = Path(__file__).with_name("names.csv")
"""Aliases of ours by food, split by a bar, and reasons for foods left out."""
