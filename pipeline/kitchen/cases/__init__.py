"""The kitchen's cases: 23 templates that each manipulate one condition, and their variants.

::

    dishes, lists -> templates -> variants -> build    cases with their digests
                                  brief, prompts --^   what they ask, in words

>>> from pipeline.kitchen.cases.build import named_case
>>> named_case("recipe_fish-v02").parameters.format
'recipe'
"""
