"""From an answer's text to a menu or a recipe, or a named reason why not.

::

    text -> reader -> regions    where the one object lies
              `-----> strict     its value, or the first fault from the left
    answers <- reader            a menu, a recipe, or the paths of what is wrong

>>> from pipeline.kitchen.parse.reader import read_object
>>> read_object(b'Here you are: {"a": 1}').value
{'a': 1}
>>> read_object(b'{"a": 1,}').fault.value
'trailing_comma'
"""
