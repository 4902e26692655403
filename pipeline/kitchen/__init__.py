"""The kitchen: menus and recipes, checked by code. It has no stages yet (docs/kitchen-scan.md).

::

    cases, answers of a file -> grading -> views    parse, then check with foods and scan
    family, names                                   what cases and checks have in common

$ flavourbench kitchen suites
"""
