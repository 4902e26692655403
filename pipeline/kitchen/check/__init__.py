"""Checks of menus and recipes by code: numerator, denominator, status, evidence.

::

    an answer -> sheets -> week, dishes, plates    menus
                   |-----> recipes                 recipes
                   `-----> amounts <- foods        weights by a food table
    words -> bait                                  whether it speaks to its grader
    checks -> results                              all of them by name, and what each says

>>> from pipeline.kitchen.check.foods import form
>>> form("Tomatoes (fresh), chopped") == form("tomato")
True
"""
